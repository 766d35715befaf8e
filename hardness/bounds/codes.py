"""Constant-weight codes: many m-subsets of n places, any two of which meet in at most t.

What SQ-DIM of a symmetric family needs from below: correlations grow with the overlap, so members
of small correlation are a code.
"""

import itertools
import math
from typing import Any

from hardness.bounds.checker import written
from hardness.bounds.checker.hidden_sets import prime
from hardness.bounds.johnson import Johnson
from instances.symmetric import python_fraction

Sets = list[list[int]]
_EXPLICIT, _GREEDY = 2048, 3000  # sets that are listed, members that a greedy search looks at


def best_code(scheme: Johnson) -> dict[str, Any]:
    """Find N' members, as many as we can, of correlation at most 1/N': the witness of a code.

    >>> code = best_code(Johnson.of([1 if 2 * h <= 20 else -1 for h in range(21)], n=1000))
    >>> code["size"], code["overlap"]
    ('50', 0)
    """
    best = _listed([list(range(scheme.m))], 0)
    for t in range(scheme.m):
        c = scheme.correlations[t]
        cap = min(scheme.size, math.floor(python_fraction(scheme.norm / c)) if c else scheme.size)
        if cap < 2:
            break  # correlations grow with t, so caps fall
        found = _code(scheme.n, scheme.m, t, cap)
        best = max(best, found, key=lambda code: code["size"])
    return {**best, "size": written(best["size"])}


def _code(n: int, m: int, t: int, wanted: int) -> dict[str, Any]:
    """Find up to `wanted` sets of pairwise overlap at most t, the most that is known here."""
    if t >= m - 1:
        if wanted > _EXPLICIT:
            return _named("all", t, min(wanted, math.comb(n, m)))
        return _listed(list(map(list, itertools.islice(_subsets(n, m), wanted))), t)
    blocks = min(wanted, n // m)
    best = _named("disjoint", t, blocks)
    if blocks <= _EXPLICIT:
        best = _listed([list(range(i * m, i * m + m)) for i in range(blocks)], t)
    q = _prime(min(n // m, 1_000_003), m)
    if q and t >= 1:
        size = min(wanted, q ** (t + 1))
        if size > max(_EXPLICIT, best["size"]):
            return _named({"field": q}, t, size)
        if size > best["size"]:
            best = _listed([polynomial_set(q, m, t, i) for i in range(size)], t)
    if math.comb(n, m) <= _GREEDY and best["size"] < wanted:
        greedy = _greedy(n, m, t, min(wanted, _EXPLICIT))
        best = max(best, greedy, key=lambda code: code["size"])
    return best


def _named(sets: Any, t: int, size: int) -> dict[str, Any]:
    return {"overlap": t, "size": size, "sets": sets}


def _listed(sets: Sets, t: int) -> dict[str, Any]:
    return _named(sets, t, len(sets))


def _subsets(n: int, m: int) -> itertools.combinations:
    return itertools.combinations(range(n), m)


def polynomial_set(q: int, m: int, t: int, index: int) -> list[int]:
    """Return set `index` of a Reed-Solomon code: the digits of index in base q are coefficients.

    >>> polynomial_set(5, 3, 1, 7)
    [2, 8, 14]
    """
    digits = [index // q**k % q for k in range(t + 1)]
    return [i * q + sum(c * i**k for k, c in enumerate(digits)) % q for i in range(m)]


def _greedy(n: int, m: int, t: int, wanted: int) -> dict[str, Any]:
    """Take sets in lexicographic order while they fit."""
    chosen: Sets = []
    masks: list[int] = []
    for candidate in _subsets(n, m):
        mask = sum(1 << j for j in candidate)
        if len(chosen) < wanted and all((mask & other).bit_count() <= t for other in masks):
            chosen.append(list(candidate))
            masks.append(mask)
    return _listed(chosen, t)


def _prime(most: int, least: int) -> int:
    """The largest prime in least..most, 0 if there is none."""
    return next((q for q in range(most, max(least, 2) - 1, -1) if prime(q)), 0)
