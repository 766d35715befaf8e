"""Constant-weight codes: many m-subsets of n places, any two of which meet in at most t.

What SQ-DIM of a symmetric family needs: correlations grow with the overlap, so N' members of small
correlation are a code. From below by explicit sets, from above by Johnson's bound [Joh62].
"""

import itertools
import math
from dataclasses import dataclass
from typing import Literal

from hardness.lower.johnson import Johnson

_EXPLICIT, _GREEDY = 2048, 3000  # sets that are listed, members that a greedy search looks at


@dataclass(frozen=True, kw_only=True)
class Code:
    """`size` sets of pairwise overlap at most t.

    kind: `listed`, with its sets; `disjoint`, blocks of m places; `all`, every m-subset;
    `reed-solomon`, the graphs of polynomials of degree at most t over the field of q elements,
    place (i, p(i)) for i < m. [RS60]
    """

    kind: Literal["listed", "disjoint", "all", "reed-solomon"]
    t: int
    size: int
    sets: tuple[tuple[int, ...], ...] = ()
    q: int = 0


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """SQ-DIM lies in [lower, upper]: the code has `lower` sets, Johnson's bound forbids more."""

    lower: int
    upper: int
    code: Code

    @property
    def exact(self) -> bool:
        """Whether both ends meet."""
        return self.lower == self.upper


def sq_dimension(scheme: Johnson) -> Dimension:
    """Bracket the largest N' such that N' members have normalised correlation at most 1/N'.

    >>> found = sq_dimension(Johnson.of([1 if 2 * h <= 20 else -1 for h in range(21)], n=1000))
    >>> found.lower, found.upper, found.code.t
    (50, 50, 0)
    """
    best, upper = Code(kind="listed", t=0, size=1, sets=(tuple(range(scheme.m)),)), 1
    for t in range(scheme.m):
        cap = _cap(scheme, t)
        if cap < 2:
            break  # correlations grow with t, so caps fall
        upper = max(upper, min(cap, johnson_bound(scheme.n, scheme.m, t)))
        code = _code(scheme.n, scheme.m, t, cap)
        if code.size > best.size:
            best = code
    return Dimension(lower=best.size, upper=upper, code=best)


def _cap(scheme: Johnson, t: int) -> int:
    """How many members of pairwise overlap t may count: floor(c(m)/c(t)), N where c(t) = 0."""
    c = scheme.correlations[t]
    if not c:
        return scheme.size
    ratio = scheme.norm / c
    return min(scheme.size, int(ratio.p) // int(ratio.q))


def johnson_bound(n: int, m: int, t: int) -> int:
    """Bound from above how many m-subsets of n places have pairwise overlap at most t. [Joh62]

    >>> johnson_bound(1000, 20, 0), johnson_bound(7, 3, 1), johnson_bound(6, 3, 2)
    (50, 7, 20)
    """
    if t >= m:
        return math.comb(n, m)
    # One place lies in at most A(n-1, m-1, t-1) sets.
    bound = n // m if t == 0 else n * johnson_bound(n - 1, m - 1, t - 1) // m
    # M sets fill the n places M m/n times on average: M m^2/n <= m + (M-1) t.
    if m * m > n * t:
        bound = min(bound, n * (m - t) // (m * m - n * t))
    return max(1, min(bound, math.comb(n, m)))


def _code(n: int, m: int, t: int, wanted: int) -> Code:
    """Find up to `wanted` sets of pairwise overlap at most t, the most that is known here."""
    if t >= m - 1:
        if math.comb(n, m) <= wanted and wanted > _EXPLICIT:
            return Code(kind="all", t=t, size=math.comb(n, m))
        sets = tuple(itertools.islice(itertools.combinations(range(n), m), min(wanted, _EXPLICIT)))
        if wanted > _EXPLICIT:
            return Code(kind="all", t=t, size=min(wanted, math.comb(n, m)))
        return _listed(sets, t)
    blocks = min(wanted, n // m)
    if blocks > _EXPLICIT:
        best = Code(kind="disjoint", t=t, size=blocks)
    else:
        best = _listed(tuple(tuple(range(i * m, i * m + m)) for i in range(blocks)), t)
    q = _prime(min(n // m, 1_000_003), m)
    if q and t >= 1:
        size = min(wanted, q ** (t + 1))
        if size > max(_EXPLICIT, best.size):
            return Code(kind="reed-solomon", t=t, size=size, q=q)
        if size > best.size:
            best = _listed(tuple(polynomial_set(q, m, t, i) for i in range(size)), t)
    if math.comb(n, m) <= _GREEDY and best.size < wanted:
        greedy = _greedy(n, m, t, min(wanted, _EXPLICIT))
        if len(greedy) > best.size:
            best = _listed(greedy, t)
    return best


def polynomial_set(q: int, m: int, t: int, index: int) -> tuple[int, ...]:
    """Return set `index` of a Reed-Solomon code: the digits of index in base q are coefficients.

    >>> polynomial_set(5, 3, 1, 7)
    (2, 8, 14)
    """
    digits = [index // q**k % q for k in range(t + 1)]
    return tuple(i * q + sum(c * i**k for k, c in enumerate(digits)) % q for i in range(m))


def _listed(sets: tuple[tuple[int, ...], ...], t: int) -> Code:
    return Code(kind="listed", t=t, size=len(sets), sets=sets)


def _greedy(n: int, m: int, t: int, wanted: int) -> tuple[tuple[int, ...], ...]:
    """Take sets in lexicographic order while they fit."""
    chosen: list[tuple[int, ...]] = []
    masks: list[int] = []
    for candidate in itertools.combinations(range(n), m):
        mask = sum(1 << j for j in candidate)
        if all((mask & other).bit_count() <= t for other in masks):
            chosen.append(candidate)
            masks.append(mask)
            if len(chosen) == wanted:
                break
    return tuple(chosen)


def _prime(most: int, least: int) -> int:
    """The largest prime in least..most, 0 if there is none."""
    return next((q for q in range(most, max(least, 2) - 1, -1) if is_prime(q)), 0)


def is_prime(q: int) -> bool:
    """Return whether a number of moderate size is prime, by trial division.

    >>> [q for q in range(12) if is_prime(q)]
    [2, 3, 5, 7, 11]
    """
    return q >= 2 and all(q % p for p in range(2, math.isqrt(q) + 1))
