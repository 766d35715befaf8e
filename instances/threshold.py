"""Attention heads as threshold units, and the exact solve that makes them any profile.

On two tokens a head with Theta = diag(theta) attends to its own token with probability
sigma(beta (h - t)), h being a count of hidden coordinates. With x_h = e^(beta h), u = e^(beta t)
the head contributes a (x_h - u)/(x_h + u): a Cauchy system, solved here in closed form.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

Rational = Any  # flint.fmpq: the package has no types


def rational(value: Fraction | int) -> Rational:
    """Turn a Python fraction into a flint rational.

    >>> rational(Fraction(1, 3))
    1/3
    """
    value = Fraction(value)
    return fmpq(value.numerator, value.denominator)


def python_fraction(value: Rational) -> Fraction:
    """Turn a flint rational into Python's.

    >>> python_fraction(fmpq(1, 3))
    Fraction(1, 3)
    """
    return Fraction(int(value.p), int(value.q))


@dataclass(frozen=True, kw_only=True)
class Head:
    """One exact threshold head: it contributes a (x - u)/(x + u), x = x_h if it counts, else 1."""

    u: Rational  # e^(beta t) > 0
    a: Rational  # the entry of W
    slope: Fraction | int = 1  # on the hidden set, in units of ln rho; of 0 the head is a bias

    def response(self, x: Rational) -> Rational:
        """Evaluate the contribution of a head of slope 1 or 0 where z_r = -1, at x = x_h."""
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
