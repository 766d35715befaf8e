"""Members of the two values -1 and +1: every statistical query about a label is correlational.

A query is phi_0(x) + y phi_1(x), and only phi_1 tells members apart. The reference that an
adversary answers by is the mean of all members. docs/finite.md has the proofs.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hardness.lower.bounds import BoundParameters, ruled_out
from hardness.lower.finite.known import Spread
from hardness.lower.finite.spectrum import UNIT, largest_eigenvalue

_EPS = float(np.finfo(np.float64).eps)


def weighted_eigenvalue(signs: NDArray[np.int8]) -> int:
    """Bound the largest eigenvalue of the members less their mean b, weighed by 1/(1 - |b|).

    signs: (M, points) of -1 and +1. Points on which all members agree are left out. In units of
    2^-30, rounded up.

    >>> weighted_eigenvalue(np.array([[1, -1, 1, -1], [1, 1, -1, -1]], np.int8)) / UNIT
    1.0000000009313226
    """
    members, points = signs.shape
    mean = signs.sum(axis=0, dtype=np.int64) / members
    told = np.abs(mean) < 1
    less = (signs[:, told] - mean[told]) / np.sqrt((1 - np.abs(mean[told])) * points)
    gram = less @ less.T
    # A sum is off by as many eps as it has products, of the norms; a matrix by those of its trace.
    rounding = 64 * members * _EPS * float(np.linalg.norm(gram))
    rounding += (points + 64) * _EPS * float(np.trace(gram))
    return math.ceil((largest_eigenvalue(gram) + rounding) * UNIT)


def vstat_cap(spread: Spread, weighted: int | None, terms: BoundParameters) -> int:
    """Bound how many members a query to VSTAT(t) rules out.

    >>> vstat_cap(Spread(eigenvalue=UNIT, least=UNIT, mean=UNIT), UNIT, BoundParameters())
    150
    """
    t = terms.vstat
    square = Fraction(t**2 * spread.eigenvalue, 4 * UNIT)
    if weighted is not None:
        square = min(square, Fraction(3 * t * weighted, 2 * UNIT))
    return ruled_out(square)
