"""Statistical dimension with average correlation of symmetric families, from below.

SDA(gamma) over all subsets [FGRVX17]: the largest q up to N such that every set of at least N/q
members has average correlation at most gamma, over all its ordered pairs, equal ones among them.
Delsarte's linear program [Del73] bounds how large a set of average above gamma can be; the kernel
checks its multipliers.

Correlations are centred and scaled to norm 1. docs/mathematics.md has the proofs.
"""

from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.check.kernel.hidden_sets import distances
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Proof
from hardness.lower.simplex import maximise
from instances.threshold import Rational

Array = NDArray[np.float64]
_MANY, _FEW = 48, 32


def averages(proof: Proof, members: int, overlaps: int, scheme: Johnson, gamma: Rational) -> int:
    """Take the steps to SDA(gamma) over all subsets, from below.

    0 says that already the set of all members has a larger average.
    """
    below = proof.step("every-set", members, overlaps, **every_set(scheme, gamma))
    return proof.step("sda", members, below)


def every_set(scheme: Johnson, gamma: Rational) -> dict[str, Any]:
    """Bound how large a set of average correlation above gamma is: numbers of `every-set`.

    No set of `enough` members or more has one. inner: multipliers of Delsarte's inequalities;
    average: of the average; caps: of the valencies.
    """
    m, rank = scheme.m, len(scheme.eigenvalues) - 1
    if m > _MANY:  # leaving inequalities out keeps the bound valid, and the rationals short
        rank = min(rank, _FEW)
    none = {"gamma": gamma, "inner": [fmpq(0)] * rank}
    if gamma >= 1:
        return {**none, "average": fmpq(0), "caps": [fmpq(0)] * m, "enough": 1}
    # b_i = a_i/v_i in [0,1], a the inner distribution: its sum over i >= 1 is the size less 1.
    table = distances(scheme.n, m)
    v = [fmpq(row[0]) for row in table]
    c = [value / scheme.norm for value in reversed(scheme.correlations)]
    average = scheme.average / scheme.norm
    if average >= gamma:
        # u = 1 and the caps prove that only smaller sets can have an average above gamma.
        caps = [value * (1 + near - gamma) for value, near in zip(v[1:], c[1:], strict=True)]
        return {**none, "average": fmpq(1), "caps": caps, "enough": scheme.size + (average > gamma)}
    rows = [[-fmpq(table[i][k]) for i in range(1, m + 1)] for k in range(1, rank + 1)]
    rows.append([-v[i] * (c[i] - gamma) for i in range(1, m + 1)])
    found = maximise(v[1:], rows, [*[fmpq(1)] * rank, 1 - gamma])
    # Above gamma the last row has room, so its multiplier makes the bound strict. It is positive:
    # all other rows and caps allow the set of all members, which this row excludes.
    enough = _ceiling(found.value + 1)
    return {
        **none,
        "inner": found.y[:-1],
        "average": found.y[-1],
        "caps": found.w,
        "enough": enough,
    }


def _ceiling(value: Rational) -> int:
    return -((-int(value.p)) // int(value.q))
