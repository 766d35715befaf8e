"""Eigenvalues given as integers in units of 2^-30: are they upper ends, and tight ones?

Makers leave a margin for rounding. Here an end must hold with half of it, and must not have been
raised by more than one and a half of it, so that no other integer would do. LAPACK's eigenvalues
are within a few eps of the norm; they are computed here by another of its algorithms. The largest
one alone is not computed but compared, by Cholesky factors.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check.reading import number, refuse

UNIT = 1 << 30
_MOST = 1 << 80
_EPS = float(np.finfo(np.float64).eps)


def check_upper_ends(
    given: list[Any], correlations: NDArray[np.float64], radius: float
) -> list[int]:
    """Verify upper ends of the largest eigenvalues, falling, of correlations within a radius."""
    found = [number(v, -_MOST, _MOST, "an eigenvalue") for v in given]
    if len(found) > len(correlations) or found != sorted(found, reverse=True):
        refuse("the eigenvalues are not as many as there may be, falling")
    error, rounding = _margin(correlations, radius)
    values = _eigenvalues(correlations)[::-1]
    for end, value in zip(found, values, strict=False):
        _require(end, float(value) + error, 16 * rounding, "an eigenvalue")
    return found


def check_centred_ends(given: list[Any], correlations: NDArray[np.float64]) -> list[int]:
    """Verify upper ends of all eigenvalues, falling, of members less their mean."""
    found = [number(v, -_MOST, _MOST, "an eigenvalue") for v in given]
    if found != sorted(found, reverse=True):
        refuse("the eigenvalues are not falling")
    rounding = 64 * _margin(correlations, 0.0)[1]
    for end, value in zip(found, _eigenvalues(centred(correlations))[::-1], strict=False):
        _require(end, float(value), rounding, "an eigenvalue")
    return found


def centred(correlations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take the mean of the members away, (M, M): one side after the other."""
    less = (correlations + correlations.T) / 2
    less = less - less.mean(axis=0)[None, :]
    return np.asarray(less - less.mean(axis=1)[:, None])


def check_spread(
    given: dict[str, Any], correlations: NDArray[np.float64], radius: float
) -> tuple[int, int, int]:
    """Verify what bounds queries and hypotheses: of the members less their mean.

    Returns upper end of the largest eigenvalue, lower end of the least squared norm, upper end of
    the mean squared norm.
    """
    if set(given) != {"eigenvalue", "least", "mean"}:
        refuse("the spread must be eigenvalue, least and mean")
    found = {k: number(v, -_MOST, _MOST, f"{k} of the spread") for k, v in given.items()}
    less = centred(correlations)
    error, rounding = _margin(correlations, radius)
    check_largest(found["eigenvalue"], less, error, 64 * rounding)
    squares = np.diagonal(less)
    _require(-found["least"], 3 * radius - float(squares.min()), 64 * rounding, "the least norm")
    _require(found["mean"], float(squares.mean()) + radius, 64 * rounding, "the mean norm")
    return found["eigenvalue"], found["least"], found["mean"]


def check_weighted(given: Any, signs: NDArray[np.float64]) -> int:
    """Verify the largest eigenvalue of members -1 and +1 less their mean b, weighed by 1/(1 - |b|).

    signs: (M, points). Where p members are +1 and q are -1, a member less b is 2q/M or -2p/M, and
    1 - |b| is 2 min(p, q)/M.
    """
    members, points = signs.shape
    plus = (signs > 0).sum(axis=0)
    fewer = np.minimum(plus, members - plus)
    told = fewer > 0
    above, below = members - plus[told], -plus[told]
    less = np.where(signs[:, told] > 0, above, below) * np.sqrt(2 / (members * fewer[told]))
    gram = (less @ less.T) / points
    rounding = 64 * members * _EPS * float(np.linalg.norm(gram))
    rounding += (points + 64) * _EPS * float(np.trace(gram))
    end = number(given, -_MOST, _MOST, "the weighted eigenvalue")
    check_largest(end, gram, 0.0, rounding)
    return end


def check_largest(end: int, matrix: NDArray[np.float64], error: float, margin: float) -> None:
    """Verify an upper end of the largest eigenvalue: above it as far as makers leave, no farther.

    A number is above all eigenvalues where it times the identity, less the matrix, has a Cholesky
    factor; rounding moves that by less than half of the margin.
    """
    if end <= 0:
        refuse("lambda is not above 0")
    if not _above_all(end / UNIT - error - margin / 2, matrix):
        refuse("lambda is larger than the one in the evidence")
    if _above_all((end - 1) / UNIT - error - 1.5 * margin, matrix):
        refuse("lambda is smaller than the one in the evidence")


def _above_all(level: float, matrix: NDArray[np.float64]) -> bool:
    from scipy.linalg import LinAlgError, cholesky

    rest = -(matrix + matrix.T) / 2
    rest.flat[:: len(matrix) + 1] += level
    try:
        cholesky(rest, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def check_level(level: Any, ends: list[int]) -> None:
    """Verify that a level w and upper ends of the k largest eigenvalues leave no k members.

    The inequality (*) of docs/finite.md, in integers: sum m (2w - m) < 2wk - k - 1 + 1/k with
    m = min(end, w), everything in units of 2^-30. The level is the one that does best.
    """
    k, w = len(ends), number(level, -_MOST, _MOST, "the level")
    left = sum(min(u, w) * (2 * w - min(u, w)) for u in ends)
    if not k * left < 2 * w * UNIT * k**2 - UNIT**2 * (k * (k + 1) - 1):
        refuse(f"the eigenvalues do not rule out {k} members")
    short = k * UNIT - sum(ends)
    if short > 0:
        wanted = max(Fraction(ends[0]), Fraction((k + 1) * UNIT**2, short)) + UNIT
        fits = abs(w - wanted) < 2
    else:
        levels = [Fraction(k * UNIT - sum(ends[j:]), j) for j in range(1, k + 1)]
        fits = any(w == math.ceil(v) and (j == k or v >= ends[j]) for j, v in enumerate(levels, 1))
    if not fits:
        refuse("the level is not the one that does best")


def _eigenvalues(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.linalg import eigh

    return np.asarray(eigh((matrix + matrix.T) / 2, eigvals_only=True, driver="evr"))


def _margin(correlations: NDArray[np.float64], radius: float) -> tuple[float, float]:
    size = len(correlations)
    return (size - 1) * radius, size * _EPS * float(np.linalg.norm(correlations))


def _require(end: int, value: float, margin: float, what: str) -> None:
    if end < math.ceil((value + margin / 2) * UNIT):
        refuse(f"{what} is larger than the one in the evidence")
    if end > math.ceil((value + 1.5 * margin) * UNIT):
        refuse(f"{what} is smaller than the one in the evidence")
