"""Attention heads as threshold units, and the exact solve that makes them any profile.

On two tokens a head with Theta = diag(theta) attends to its own token with probability
sigma(beta (h - t)), h being a count of hidden coordinates. With x_h = e^(beta h), u = e^(beta t)
the head contributes a (x_h - u)/(x_h + u): a Cauchy system, solved here in closed form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from instances.errors import UsageError

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
    counts: bool  # whether the logits depend on the hidden set; if not, the head is a bias

    def response(self, x: Rational) -> Rational:
        """Evaluate the head's contribution where z_r = -1, at x = x_h."""
        at = x if self.counts else fmpq(1)
        return self.a * (at - self.u) / (at + self.u)


def solve(
    profile: Sequence[Rational], x: Sequence[Rational], u: Sequence[Rational]
) -> tuple[list[Rational], Rational]:
    """Solve sum_i a_i (x_h - u_i)/(x_h + u_i) = profile[h] + c0 exactly for (a, c0).

    len(profile) = len(x) = m + 1, len(u) = m; x and u are distinct and positive. The solution is
    unique: partial fractions of N/P, where P = prod (x + u_i) and N interpolates profile * P.

    >>> a, c0 = solve([fmpq(1), fmpq(-1)], [fmpq(1), fmpq(9)], [fmpq(3)])
    >>> a, c0
    ([-2], 0)
    """
    m = len(u)
    if len(profile) != m + 1 or len(x) != m + 1:
        raise UsageError(f"{m} thresholds need {m + 1} values and points, not {len(profile)}")
    if len(set(x)) != m + 1 or len(set(u)) != m or min([*x, *u]) <= 0:
        raise UsageError("points and thresholds must be positive and distinct")
    weights = [
        profile[h]
        * _product(x[h] + v for v in u)
        / _product(x[h] - x[j] for j in range(m + 1) if j != h)
        for h in range(m + 1)
    ]
    a = []
    for i in range(m):
        nodes = _product(u[i] + v for v in x)
        poles = _product(u[j] - u[i] for j in range(m) if j != i)
        residue = nodes * sum((w / (u[i] + v) for w, v in zip(weights, x, strict=True)), fmpq(0))
        sign = 1 if m % 2 else -1
        a.append(sign * residue / (poles * 2 * u[i]))
    return a, sum(a, fmpq(0)) - sum(weights, fmpq(0))


def solve_log(
    profile: NDArray[np.float64], log_x: NDArray[np.float64], log_u: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Solve the same system in float64 from the logarithms of x and u, which may overflow.

    For alternating profiles every sum is of one sign, so the result is accurate to about 1e-13
    relative even where the system's condition number passes 1e18.

    >>> a, c0 = solve_log(np.array([1.0, -1.0]), np.log([1.0, 9.0]), np.log([3.0]))
    >>> round(float(a[0]), 12), abs(c0) < 1e-12
    (-2.0, True)
    """
    m = len(log_u)
    sums = np.logaddexp(log_x[:, None], log_u[None, :])  # ln(x_h + u_i), (m+1, m)
    gap_x, sign_x = _log_gaps(log_x)
    gap_u, sign_u = _log_gaps(log_u)
    with np.errstate(divide="ignore"):
        log_profile = np.log(np.abs(profile))
    sign = np.sign(profile) * sign_x.prod(axis=1)
    off = ~np.eye(m + 1, dtype=bool)
    a = np.empty(m)
    for i in range(m):
        # Factors are paired before they are added up: the logarithms alone reach thousands.
        nodes = ((sums[:, i][None, :] - gap_x) * off).sum(axis=1)
        poles = (np.delete(sums, i, axis=1) - np.delete(gap_u[i], i)).sum(axis=1)
        logs = log_profile + nodes + poles + (sums[:, i] - log_u[i]) - np.log(2.0)
        # A term of the residue is divided by (x_h + u_i); `nodes` leaves that factor out already.
        a[i] = float(np.sum(sign * np.exp(logs))) * sign_u[i].prod()
    # kappa = sum_h g_h prod_k (x_h + u_k) / prod_{j != h} (x_h - x_j), factors paired again
    gaps = gap_x[off].reshape(m + 1, m)
    kappa = float(np.sum(sign * np.exp(log_profile + (sums - gaps).sum(axis=1))))
    return a, float(a.sum()) - kappa


def _product(factors: Any) -> Rational:
    out = fmpq(1)
    for factor in factors:
        out *= factor
    return out


def _log_gaps(
    log_values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """ln|v_h - v_j| and the sign of v_h - v_j, with 0 and +1 on the diagonal."""
    high = np.maximum(log_values[:, None], log_values[None, :])
    spread = np.abs(log_values[:, None] - log_values[None, :])
    np.fill_diagonal(spread, np.inf)
    logs = high + np.log1p(-np.exp(-spread))
    signs = np.sign(log_values[:, None] - log_values[None, :])
    np.fill_diagonal(logs, 0.0)
    np.fill_diagonal(signs, 1.0)
    return logs, signs
