"""Statistical dimension with average correlation of symmetric families, from below and above.

SDA(gamma) over all subsets [FGRVX17]: the largest q up to N such that every set of at least N/q
members has average correlation at most gamma, over all its ordered pairs, equal ones among them.
From below: Delsarte's linear program [Del73] bounds how large a set of average above gamma can be.
From above: the sets that contain a few fixed places and meet a fixed block often [Fra78]. The
kernel checks both.

Correlations are centred and scaled to norm 1. docs/mathematics.md has the proofs.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.check.kernel import Refused
from hardness.check.kernel.hidden_sets import distances
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Proof
from hardness.lower.simplex import maximise
from instances.krawtchouk import log_binomial
from instances.symmetric import to_float
from instances.threshold import Rational

Array = NDArray[np.float64]
_MANY, _FEW = 48, 32


def averages(proof: Proof, members: int, overlaps: int, scheme: Johnson, gamma: Rational) -> int:
    """Take the steps to SDA(gamma) over all subsets, by the best ends that are found.

    0 says that already the set of all members has a larger average.
    """
    below = every_set(scheme, gamma)
    ends = [proof.step("every-set", members, overlaps, **below)]
    for shape, size in _correlated(scheme, gamma):
        try:
            found = {"gamma": gamma, "shape": shape, "size": size}
            ends.append(proof.step("some-set", members, overlaps, **found))
            break
        except Refused:  # rounding may have taken a block too large
            continue
    return proof.step("sda", members, *ends)


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


def _correlated(scheme: Johnson, gamma: Rational) -> Iterator[tuple[list[int], int]]:
    """Find sets of members whose average correlation is above gamma, the largest first.

    a, k, j: those that contain a places and meet a block of k others in at least j; 0, 0, 0: any.
    """
    if gamma >= 1:
        return
    if scheme.average / scheme.norm > gamma:  # the set of all members
        yield [0, scheme.n, scheme.m], scheme.size
        return
    alone = min(_ceiling(1 / gamma) - 1, scheme.size)  # any so many: their equal pairs are enough
    found = [(alone, [0, 0, 0])]
    for a in range(scheme.m if scheme.m <= _MANY else 1):
        block = _Block.of(scheme, a)
        more = _candidates(block, gamma)
        if not more and a > 0:
            break  # containing one place more only makes the sets fewer
        found += [(size, [a, k, j]) for size, k, j in more if size > alone]
    for size, shape in sorted(found, reverse=True):
        yield shape, size


def _candidates(block: "_Block", gamma: Rational) -> list[tuple[int, int, int]]:
    """Size, k and j of the largest blocks whose average is above gamma in float64, for each j."""
    out, level = [], to_float(gamma)
    for j in range(1, block.m + 1):
        low, high = j, block.n + 1
        if not block.estimate(j, j) > level:
            continue
        while high - low > 1:  # the average falls with k, or nearly so
            middle = (low + high) // 2
            if block.estimate(middle, j) > level:
                low = middle
            else:
                high = middle
        out += [(block.size(k, j), k, j) for k in range(low, max(j, low - 2) - 1, -1)]
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class _Block:
    """The members that contain a fixed places: (m-a)-subsets of n-a others, overlaps less a.

    weights: c(a+t)/c(m) = sum_i C(t,i) weights[i].
    """

    a: int
    n: int
    m: int
    weights: list[Rational]

    @staticmethod
    def of(scheme: Johnson, a: int) -> "_Block":
        """Fix a places."""
        column = list(scheme.weights)
        for _ in range(a):
            column = [x + y for x, y in zip(column, [*column[1:], fmpq(0)], strict=True)]
        column = [x / scheme.norm for x in column[: scheme.m - a + 1]]
        return _Block(a=a, n=scheme.n - a, m=scheme.m - a, weights=column)

    def size(self, k: int, j: int) -> int:
        """Count the sets that meet {1..k} in at least j places."""
        return sum(
            math.comb(k, b) * math.comb(self.n - k, self.m - b) for b in range(j, self.m + 1)
        )

    def estimate(self, k: int, j: int) -> float:
        """Compute it in float64, for the search."""
        n, m = self.n, self.m
        i, r, weights, table = self._tables
        b = np.arange(m + 1)
        logs = np.where(b >= j, log_binomial(k, b) + log_binomial(n - k, m - b), -np.inf)
        weight = np.exp(logs - logs.max())
        means = table @ (weight / weight.sum())
        pairs = log_binomial(k, r) + log_binomial(n - k, i - r)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.exp(2 * np.log(means) - pairs)
        return float(np.sum(weights * np.where(np.isfinite(pairs), terms, 0.0)))

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
        from scipy.special import comb

        i, r = np.tril_indices(self.m + 1)
        weights = np.array([to_float(w) for w in self.weights])[i]
        keep = weights > 0
        i, r, b = i[keep], r[keep], np.arange(self.m + 1)
        table = comb(b[None, :], r[:, None]) * comb(self.m - b[None, :], (i - r)[:, None])
        return i, r, weights[keep], table


def _ceiling(value: Rational) -> int:
    return -((-int(value.p)) // int(value.q))
