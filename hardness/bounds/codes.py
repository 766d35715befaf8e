"""Constant-weight codes: many m-subsets of n places, any two of which meet in at most t.

What SQ-DIM of a symmetric family needs from below: correlations grow with the overlap, so members
of small correlation are a code.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from hardness.bounds.checker import written
from hardness.bounds.checker.hidden_sets import prime
from hardness.bounds.johnson import Johnson

_LISTED, _GREEDY = 2048, 3000  # sets that are listed, members that a greedy search looks at
_FIELD = 10**6  # the largest field that the checker takes


def best_code(scheme: Johnson) -> dict[str, Any]:
    """Find N' members, as many as we can, of correlation at most 1/N': the witness of a code.

    >>> best_code(Johnson.of([1 if 2 * h <= 20 else -1 for h in range(21)], n=1000))
    {'overlap': 0, 'size': '50', 'sets': 'disjoint'}
    """
    best = _code("disjoint", 0, 1)
    for t in range(scheme.m):
        c = scheme.correlations[t]
        cap = min(scheme.size, math.floor(scheme.norm / c) if c else scheme.size)
        if cap < 2:
            break  # correlations grow with t, so caps fall
        best = max(best, *_codes(scheme.n, scheme.m, t, cap), key=lambda code: code["size"])
    return {**best, "size": written(best["size"])}


def _codes(n: int, m: int, t: int, wanted: int) -> Iterator[dict[str, Any]]:
    """Codes of up to `wanted` sets of pairwise overlap at most t."""
    if t == m - 1:
        yield _code("all", t, min(wanted, math.comb(n, m)))
        return
    found = min(wanted, n // m)
    yield _code("disjoint", t, found)
    field = next((q for q in range(min(n // m, _FIELD), max(m, 2) - 1, -1) if prime(q)), 0)
    if field and t:
        found = max(found, min(wanted, field ** (t + 1)))
        yield _code({"field": field}, t, min(wanted, field ** (t + 1)))
    if found < wanted and math.comb(n, m) <= _GREEDY:
        sets = _greedy(n, m, t, min(wanted, _LISTED))
        yield _code(sets, t, len(sets))


def _code(sets: Any, t: int, size: int) -> dict[str, Any]:
    return {"overlap": t, "size": size, "sets": sets}


def _greedy(n: int, m: int, t: int, wanted: int) -> list[list[int]]:
    """Take sets in lexicographic order while they fit."""
    chosen: list[list[int]] = []
    masks: list[int] = []
    for candidate in itertools.combinations(range(n), m):
        mask = sum(1 << j for j in candidate)
        if len(chosen) < wanted and all((mask & other).bit_count() <= t for other in masks):
            chosen.append(list(candidate))
            masks.append(mask)
    return chosen
