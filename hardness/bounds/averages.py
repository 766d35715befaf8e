"""Statistical dimension with average correlation of symmetric families, from below.

SDA(gamma) over all subsets [FGRVX17]: the largest q up to N such that every set of at least N/q
members has average correlation at most gamma, over all its ordered pairs, equal ones among them.
Delsarte's linear program [Del73] bounds how large a set of average above gamma can be; the checker
checks its multipliers.

Correlations are centred and scaled to norm 1. docs/mathematics.md has the proofs.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.checker import hidden_sets, read_problem, written
from hardness.bounds.checker.hidden_sets import distances, overlaps, subsets
from hardness.bounds.checker.theorem import sda
from hardness.bounds.johnson import Johnson
from hardness.bounds.problems import in_numbers
from hardness.bounds.simplex import maximise
from instances.sets import Symmetric

Array = NDArray[np.float64]
_MANY, _FEW = 48, 32


def every_set(scheme: Johnson, gamma: Fraction) -> dict[str, Any]:
    """Bound how large a set of average correlation above gamma is: the multipliers that show it.

    No set of `enough` members or more has one. inner: multipliers of Delsarte's inequalities;
    average: of the average; caps: of the valencies.
    """
    m, rank = scheme.m, len(scheme.eigenvalues) - 1
    if m > _MANY:  # leaving inequalities out keeps the bound valid, and the rationals short
        rank = min(rank, _FEW)
    if gamma >= 1:
        return _multipliers([Fraction(0)] * rank, Fraction(0), [Fraction(0)] * m, 1)
    # b_i = a_i/v_i in [0,1], a the inner distribution: its sum over i >= 1 is the size less 1.
    table = distances(scheme.n, m)
    v = [Fraction(row[0]) for row in table]
    c = [value / scheme.norm for value in reversed(scheme.correlations)]
    average = scheme.average / scheme.norm
    if average >= gamma:
        # u = 1 and the caps prove that only smaller sets can have an average above gamma.
        caps = [value * (1 + near - gamma) for value, near in zip(v[1:], c[1:], strict=True)]
        return _multipliers(
            [Fraction(0)] * rank, Fraction(1), caps, scheme.size + (average > gamma)
        )
    rows = [[-Fraction(table[i][k]) for i in range(1, m + 1)] for k in range(1, rank + 1)]
    rows.append([-v[i] * (c[i] - gamma) for i in range(1, m + 1)])
    best = maximise(v[1:], rows, [*[Fraction(1)] * rank, 1 - gamma])
    # Above gamma the last row has room, so its multiplier makes the bound strict. It is positive:
    # all other rows and caps allow the set of all members, which this row excludes.
    return _multipliers(best.y[:-1], best.y[-1], best.w, math.ceil(best.value + 1))


def _multipliers(
    inner: list[Fraction], average: Fraction, caps: list[Fraction], enough: int
) -> dict[str, Any]:
    return {
        "inner": [written(value) for value in inner],
        "average": written(average),
        "caps": [written(value) for value in caps],
        "enough": written(enough),
    }


def dimensions(family: Symmetric, gammas: Sequence[Fraction]) -> list[int]:
    """Bound SDA over all subsets from below, at each gamma."""
    problem, scheme = read_problem(in_numbers(family.problem())), Johnson.family(family)
    members, known = subsets(problem), overlaps(problem)[0]
    values = []
    for gamma in gammas:
        witness = every_set(scheme, gamma)
        enough = hidden_sets.every_set(problem, known, gamma, witness)
        values.append(int(sda(members, gamma, enough).value))
    return values
