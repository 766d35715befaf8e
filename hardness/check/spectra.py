"""Eigenvalues given as integers in units of 2^-30: are they upper ends, and tight ones?

Makers leave a margin for rounding. Here an end must hold with half of it, and must not have been
raised by more than one and a half of it, so that no other integer would do. LAPACK's eigenvalues
are within a few eps of the norm; they are computed here by another of its algorithms.
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
    size = len(correlations)
    away = np.eye(size) - 1 / size
    less = away @ ((correlations + correlations.T) / 2) @ away
    error, rounding = _margin(correlations, radius)
    _require(found["eigenvalue"], float(_eigenvalues(less)[-1]) + error, 64 * rounding, "lambda")
    squares = np.diagonal(less)
    _require(-found["least"], 3 * radius - float(squares.min()), 64 * rounding, "the least norm")
    _require(found["mean"], float(squares.mean()) + radius, 64 * rounding, "the mean norm")
    if found["eigenvalue"] <= 0:
        refuse("lambda is not above 0")
    return found["eigenvalue"], found["least"], found["mean"]


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
