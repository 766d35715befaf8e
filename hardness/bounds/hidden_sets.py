"""Witnesses for hidden sets: the spectrum of all members, codes, and multipliers for SDA.

The inner product of two m-subsets of n places depends only on how many places they share, so the
Gram matrix of all members has the eigenspaces of the Johnson scheme. A lower bound on SQ-DIM needs
a code: members of which any two share few places. SDA(gamma) over all subsets [FGRVX17] is the
largest q up to N such that every set of at least N/q members has average correlation at most gamma.
Delsarte's linear program [Del73] bounds the size of sets above gamma. The checker checks both.
Members are taken without the mean of their label. docs/mathematics.md has the proofs.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from hardness.bounds.checker import hidden_sets, written
from hardness.bounds.checker.hidden_sets import HiddenSets, distances, overlaps, prime, subsets
from hardness.bounds.checker.theorem import sda
from hardness.bounds.simplex import maximise
from instances.sets import Symmetric

_MOST_LISTED, _MOST_CANDIDATES = 2048, 3000  # sets in a listed code; members in a greedy search
_LARGEST_FIELD = 10**6  # the largest that the checker accepts
_LARGE_M, _KEPT_INEQUALITIES = 48, 32  # above this m, only so many inequalities are used


@dataclass(frozen=True, kw_only=True)
class Johnson:
    """Inner products of members by overlap t = 0 .. m, and eigenvalues on V_0 .. V_r.

    r = min(m, n-m); V_k are the eigenspaces of the Johnson scheme.

    >>> majority = Johnson.of_values([1, 1, -1, -1], n=7)
    >>> [float(c) for c in majority.correlations], [float(v) for v in majority.eigenvalues]
    ([0.0, 0.25, 0.5, 1.0], [11.5, 2.75, 0.25, 0.25])
    """

    problem: HiddenSets

    @staticmethod
    def of_values(values: Sequence[Fraction | int], n: int) -> "Johnson":
        """Make the scheme of a profile g(0) .. g(m) on n places."""
        g = tuple(map(Fraction, values))
        return Johnson(problem=HiddenSets(n=n, m=len(g) - 1, g=g, noise=Fraction(0)))

    @staticmethod
    def family(family: Symmetric) -> "Johnson":
        """Make the scheme of a family's members, without noise."""
        return Johnson.of_values([Fraction(v) for v in family.values], family.d - 1)

    @cached_property
    def correlations(self) -> list[Fraction]:
        """The inner products of two members, by the number of places they share: m + 1."""
        return overlaps(self.problem)[0]

    @cached_property
    def eigenvalues(self) -> list[Fraction]:
        """The eigenvalues of the Gram matrix; for a single member its squared norm."""
        single = self.problem.m == self.problem.n
        c = self.correlations
        return c[-1:] if single else hidden_sets.eigenvalues(self.problem, c)

    @property
    def size(self) -> int:
        """The number of members, C(n, m)."""
        return subsets(self.problem).count

    @property
    def norm(self) -> Fraction:
        """c(m), the squared norm of a member."""
        return self.correlations[-1]

    @property
    def average(self) -> Fraction:
        """The average of c over all ordered pairs of members, pairs of equal ones included."""
        return self.eigenvalues[0] / self.size

    @property
    def spread(self) -> Fraction:
        """The largest eigenvalue after the mean over all members is subtracted."""
        return max(self.eigenvalues[1:], default=Fraction(0))


def best_code(scheme: Johnson) -> dict[str, Any]:
    """Find many members, N', with pairwise correlation at most 1/N': the witness of a code.

    >>> best_code(Johnson.of_values([1 if 2 * h <= 20 else -1 for h in range(21)], n=1000))
    {'overlap': 0, 'size': '50', 'sets': 'disjoint'}
    """
    best: tuple[int, int, Any] = 1, 0, "disjoint"
    for t, c in enumerate(scheme.correlations[:-1]):
        cap = min(scheme.size, math.floor(scheme.norm / c) if c else scheme.size)
        if cap < 2:
            break  # correlations increase with t, so caps decrease
        codes = _codes(scheme.problem.n, scheme.problem.m, t, cap)
        best = max(best, *((size, t, sets) for size, sets in codes), key=lambda code: code[0])
    size, overlap, sets = best
    return {"overlap": overlap, "size": written(size), "sets": sets}


def _codes(n: int, m: int, t: int, cap: int) -> Iterator[tuple[int, Any]]:
    """List codes of up to `cap` sets of pairwise overlap at most t: their size, and the sets."""
    if t == m - 1:
        yield min(cap, math.comb(n, m)), "all"
        return
    largest = min(cap, n // m)
    yield largest, "disjoint"
    field = next((q for q in range(min(n // m, _LARGEST_FIELD), max(m, 2) - 1, -1) if prime(q)), 0)
    if field and t:
        size = min(cap, field ** (t + 1))
        yield size, {"field": field}
        largest = max(largest, size)
    if largest < cap and math.comb(n, m) <= _MOST_CANDIDATES:
        sets = _greedy(n, m, t, min(cap, _MOST_LISTED))
        yield len(sets), sets


def _greedy(n: int, m: int, t: int, cap: int) -> list[list[int]]:
    """Choose sets in lexicographic order, each if it overlaps all chosen ones by at most t."""
    chosen = list[set[int]]()
    for candidate in map(set, itertools.combinations(range(n), m)):
        if len(chosen) < cap and all(len(candidate & other) <= t for other in chosen):
            chosen.append(candidate)
    return [sorted(places) for places in chosen]


def every_set(scheme: Johnson, gamma: Fraction) -> dict[str, Any]:
    """Find multipliers which show that no set of `enough` members or more is above gamma.

    That is, no such set has an average correlation above gamma. inner: multipliers of Delsarte's
    inequalities. average: of the bound on the average. caps: of the bounds by valencies.
    """
    m, rank = scheme.problem.m, len(scheme.eigenvalues) - 1
    if m > _LARGE_M:  # leaving inequalities out keeps the bound valid, and the rationals short
        rank = min(rank, _KEPT_INEQUALITIES)
    inner, weight, caps = [Fraction(0)] * rank, Fraction(0), [Fraction(0)] * m
    mean, enough = scheme.average / scheme.norm, 1
    if gamma < 1:
        # b_i = a_i/v_i in [0,1], a the inner distribution: its sum over i >= 1 is the size less 1.
        table = distances(scheme.problem.n, m)[1:]
        v = [Fraction(row[0]) for row in table]
        above = [value / scheme.norm - gamma for value in scheme.correlations[-2::-1]]
        if mean >= gamma:
            # u = 1 and the caps prove that only smaller sets can have an average above gamma.
            weight, enough = Fraction(1), scheme.size + (mean > gamma)
            caps = [value * (1 + near) for value, near in zip(v, above, strict=True)]
        else:
            rows = [[-Fraction(row[k]) for row in table] for k in range(1, rank + 1)]
            rows.append([-value * near for value, near in zip(v, above, strict=True)])
            best = maximise(v, rows, [*[Fraction(1)] * rank, 1 - gamma])
            # Above gamma the last row has room, so its multiplier makes the bound strict. It is
            # positive: all other rows and caps allow all members, which this row excludes.
            *inner, weight = best.y
            caps, enough = best.w, math.ceil(best.value + 1)
    return {"inner": list(map(written, inner)), "average": written(weight),
            "caps": list(map(written, caps)), "enough": written(enough)}  # fmt: skip


def dimensions(family: Symmetric, gammas: Sequence[Fraction]) -> list[int]:
    """Return lower bounds on SDA over all subsets, one for each gamma."""
    scheme, values = Johnson.family(family), list[int]()
    for gamma in gammas:
        witness = every_set(scheme, gamma)
        enough = hidden_sets.every_set(scheme.problem, scheme.correlations, gamma, witness)
        values.append(int(sda(subsets(scheme.problem), gamma, enough).value))
    return values
