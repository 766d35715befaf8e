"""Degrees of regularity of semi-regular systems: how far a Groebner basis has to be computed.

m equations of degree w in n unknowns that each obey one of degree v have the series S(z) (1 -
z^w)^m, S = ((1 - z^v)/(1 - z))^n; the degree is the index of its first coefficient that is not
positive [BFS04].
"""

import math
from math import lgamma

import numpy as np
from flint import fmpz_poly

from hardness.lwe.models import Array

MOST_DEGREE = 2048  # of a Groebner basis
_LN_SMALL = math.log(0.88)  # below ln asinh(1)
_NEAR = 1e-9  # relative: a coefficient that float64 cannot tell from 0
_LARGE = 40.0


def regularity(n: int, values: int, degree: int, count: int) -> int | None:
    """Compute the degree of regularity of m equations of degree w in n unknowns, exactly.

    values: v, of the n equations of degree v that the unknowns obey. None above degree 2048.

    >>> regularity(41, 2, 17, 1), regularity(63, 3, 29, 833)
    (29, 68)
    """
    return _regularity(n, values, degree, count, min(MOST_DEGREE, n * (values - 1) + 1) + 1)


def _regularity(n: int, values: int, degree: int, count: int, length: int) -> int | None:
    factor = [0] * length
    term = 1
    for j in range(min(count, (length - 1) // degree) + 1):
        factor[j * degree] = term
        term = -term * (count - j) // (j + 1)
    product = fmpz_poly(_unknowns(n, values, length)).mul_low(fmpz_poly(factor), length)
    return next((i for i in range(length) if product[i] <= 0), None)


def _unknowns(n: int, values: int, length: int) -> list[int]:
    """Expand F = ((1 - z^v)/(1 - z))^n up to a length.

    Coefficients of (1 - z)(1 - z^v) F' = n (1 - v z^(v-1) + (v - 1) z^v) F are compared.
    """
    v, found = values, [1]
    for i in range(1, length):
        term = (n + i - 1) * found[i - 1]
        if i >= v:
            term += (i - v - n * v) * found[i - v]
        if i > v:
            term += (n * (v - 1) - i + v + 1) * found[i - v - 1]
        found.append(term // i)
    return found


def basis_bits(n: int, regular: int) -> float:
    """Compute log2 of the C(n + D, D) monomials in n unknowns up to degree D.

    >>> round(basis_bits(41, 30), 2)
    66.38
    """
    return (lgamma(n + regular + 1) - lgamma(regular + 1) - lgamma(n + 1)) / math.log(2)


def least_regularity(
    n: int, values: int, degrees: Array, logs: Array
) -> tuple[int, int, int] | None:
    """Find the equations of the least degree of regularity, of the least degree if several.

    None where samples do not lower what the unknowns' own equations have: that tries all values.
    The degree never rises as equations are added, so that as many are taken as allowed.
    """
    own = n * (values - 1) + 1  # where the unknowns' equations end it
    longest = min(MOST_DEGREE, own) + 1
    for length in sorted({min(1 << bits, longest) for bits in range(6, 13)}):
        series = _log_series(n, values, length)
        near = degrees < length
        pairs = zip(degrees[near].astype(int).tolist(), logs[near].tolist(), strict=True)
        regular, degree, log = min(
            ((_first(series, degree, log), degree, log) for degree, log in pairs),
            default=(length, 0, 0.0),
        )
        if regular < length:
            break
    else:
        return None
    enough = _unknowns(n, values, degree + 1)[degree]  # ends it at its own degree
    count = enough if log > math.log(max(1, enough)) else _integer(log)
    exact = _regularity(n, values, degree, count, regular + 1)
    exact = exact or regularity(n, values, degree, count)
    return None if exact is None or exact >= own else (exact, degree, count)


def _integer(log: float) -> int:
    """Return exp(log) as an integer of any size, to 53 bits."""
    shift = max(0, math.floor(log / math.log(2)) - 60)
    return round(math.exp(log - shift * math.log(2))) << shift


def _log_series(n: int, values: int, length: int) -> Array:
    i = np.arange(1, length)
    with np.errstate(divide="ignore"):
        if values >= length:
            return np.concatenate([[0.0], np.cumsum(np.log((n + i - 1) / i))])
        if values == 2:
            return np.concatenate([[0.0], np.cumsum(np.log(np.maximum(n + 1 - i, 0) / i))])
    found = _unknowns(n, values, length)
    return np.array([math.log(c) if c > 0 else -math.inf for c in found])


def _first(series: Array, degree: int, log: float) -> int:
    """Find the first index whose coefficient of S(z) (1 - z^w)^m is not positive; len(S) if none.

    Coefficients are taken over those of S: sum_j (-1)^j C(m, j) S_{i - jw}/S_i. S is log-concave:
    that is at least 1 - sinh(m S_{i - w}/S_i), whose quotient grows with i. Equations for which
    this is positive at the end are passed over.
    """
    first, total, choose, j = len(series), np.ones(len(series)), 0.0, 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if log + series[-1 - degree] - series[-1] < _LN_SMALL:
            return first
        while (j := j + 1) * degree <= first and j * degree < len(series):  # else nothing changes
            left = log if log > _LARGE else math.log(max(math.exp(log) - j + 1, 1e-300))
            choose += left - math.log(j)
            terms = np.exp(choose + series[: -j * degree] - series[j * degree :])
            total[j * degree :] += (-1) ** j * terms
            ended = ~(total > _NEAR)
            first = int(ended.argmax()) if ended.any() else len(series)
    return first
