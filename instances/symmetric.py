"""Symmetric functions of m signs in exact arithmetic: sums of heads, and Fourier coefficients.

On two tokens a head with Theta = diag(theta) attends to its own token with probability
sigma(beta (h - t)), where h counts hidden coordinates. With x_h = e^(beta h) and u = e^(beta t) the
head contributes a (x_h - u)/(x_h + u). This gives a Cauchy system, solved here in closed form.
Fourier coefficients use Krawtchouk polynomials; counts of subsets in float64 use logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq, fmpz_poly
from numpy.typing import ArrayLike

Rational = Any  # flint.fmpq: the package has no types


def rational(value: Fraction | int) -> Rational:
    """Convert a Python fraction to a flint rational.

    >>> rational(Fraction(1, 3))
    1/3
    """
    value = Fraction(value)
    return fmpq(value.numerator, value.denominator)


def python_fraction(value: Rational) -> Fraction:
    """Convert a flint rational to a Python fraction.

    >>> python_fraction(fmpq(1, 3))
    Fraction(1, 3)
    """
    return Fraction(int(value.p), int(value.q))


@dataclass(frozen=True, kw_only=True)
class Head:
    """An exact threshold head: it contributes a (x - u)/(x + u), x = x_h; x = 1 for a bias."""

    u: Rational  # e^(beta t) > 0
    a: Rational  # the entry of W
    slope: Fraction | int = 1  # on the hidden set, in units of ln rho; 0 for a bias head

    def response(self, x: Rational) -> Rational:
        """Evaluate the contribution of a head of slope 1 or 0 at x = x_h, where z_0 = -1."""
        at = x if self.slope else fmpq(1)
        return self.a * (at - self.u) / (at + self.u)


def solve(
    profile: Sequence[Rational], x: Sequence[Rational], u: Sequence[Rational]
) -> tuple[list[Rational], Rational]:
    """Solve sum_i a_i (x_h - u_i)/(x_h + u_i) = profile[h] + c0 for (a, c0), in rationals or balls.

    len(profile) = len(x) = m + 1, len(u) = m; x and u are distinct and positive. The solution is
    unique: partial fractions of N/P, where P = prod (x + u_i) and N interpolates profile * P.

    >>> a, c0 = solve([fmpq(1), fmpq(-1)], [fmpq(1), fmpq(9)], [fmpq(3)])
    >>> a, c0
    ([-2], 0)
    """
    m = len(u)
    weights = [
        profile[h]
        * math.prod(x[h] + v for v in u)
        / math.prod(x[h] - x[j] for j in range(m + 1) if j != h)
        for h in range(m + 1)
    ]
    a = []
    for i in range(m):
        nodes = math.prod(u[i] + v for v in x)
        poles = math.prod(u[j] - u[i] for j in range(m) if j != i)
        residue = nodes * sum((w / (u[i] + v) for w, v in zip(weights, x, strict=True)), fmpq(0))
        sign = 1 if m % 2 else -1
        a.append(sign * residue / (poles * 2 * u[i]))
    return a, sum(a, fmpq(0)) - sum(weights, fmpq(0))


@lru_cache(maxsize=16)
def exact_heads(values: tuple[Fraction, ...], rho: Fraction) -> tuple[Head, ...]:
    """Build exact heads with B(h) = values[h]: m of them, and a bias head if there is an offset.

    The thresholds are symmetric, u_i = rho^(2i-1), and x_h = rho^(2h).

    >>> [head.a for head in exact_heads((Fraction(1), Fraction(-1)), Fraction(3))]
    [-2]
    """
    m, base = len(values) - 1, rational(rho)
    x = [base ** (2 * h) for h in range(m + 1)]
    u = [base ** (2 * i - 1) for i in range(1, m + 1)]
    a, c0 = solve([rational(v) for v in values], x, u)
    heads = [Head(u=v, a=b) for v, b in zip(u, a, strict=True)]
    if c0:
        bias = base**2
        heads.append(Head(u=bias, a=-c0 * (1 + bias) / (1 - bias), slope=0))
    return tuple(heads)


def to_float(value: Rational) -> float:
    """Round an exact rational to the nearest float64.

    >>> to_float(fmpq(1, 3))
    0.3333333333333333
    """
    return float(python_fraction(value))


def log(value: Rational) -> float:
    """Take the natural logarithm of a positive rational of any size.

    >>> round(log(fmpq(3) ** 2000) / math.log(3), 9)
    2000.0
    """
    return math.log(int(value.p)) - math.log(int(value.q))


@lru_cache(maxsize=4)
def krawtchouk(m: int) -> tuple[tuple[int, ...], ...]:
    """Tabulate K_h(k), the coefficient of y^h in (1-y)^k (1+y)^(m-k): entry [k][h].

    >>> krawtchouk(2)
    ((1, 2, 1), (1, 0, -1), (1, -2, 1))
    """
    less, more = fmpz_poly([1, -1]), fmpz_poly([1, 1])
    return tuple(tuple(map(int, (less**k * more ** (m - k)).coeffs())) for k in range(m + 1))


def coefficients(values: Sequence[Rational]) -> list[Rational]:
    """Compute the Fourier coefficients g^_k = 2^-m sum_h g(h) K_h(k) of a profile.

    f(z) = g(number of -1 in z) = sum_T g^_|T| chi_T(z).

    >>> coefficients([fmpq(1), fmpq(-1), fmpq(1)])
    [0, 0, 1]
    """
    m = len(values) - 1
    total = fmpq(2) ** m
    return [
        sum((v * c for v, c in zip(values, row, strict=True) if c), fmpq(0)) / total
        for row in krawtchouk(m)
    ]


def log_binomial(n: ArrayLike, k: ArrayLike) -> Any:
    """Compute ln C(n, k), minus infinity unless 0 <= k <= n: a float, or an array of floats.

    >>> round(log_binomial(10, 3), 9) == round(math.log(120), 9)
    True
    """
    from scipy.special import gammaln

    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    logs = np.where(inside, logs, -np.inf)
    return logs if logs.ndim else float(logs)
