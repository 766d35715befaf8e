"""A hidden set by single flips: about as many values as there are places.

f(z) = g(h) for a g that is not constant and h = #{j in S: z_j = -1}. Say z and z' differ in place j
alone, z_j = +1 and z'_j = -1, and f(z) != f(z'). Then j is in S, z has some h with g(h) != g(h+1),
and z' has h + 1. Of another place i ask z with i flipped where z_i = +1: if i is in S the value is
g(h+1), else g(h). Where z_i = -1 ask z' with i flipped: if i is in S the value is g(h), else
g(h+1). Either way one value tells, whatever else g does.

Such a pair is found on a path from all +1 to all -1 that flips one place after the other: h goes
through 0 .. m on it, so values on it differ, and between two that differ bisection finds a step.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int8]
Ask = Callable[[Signs], NDArray[np.float64]]  # (n, places) -> (n,)


def hidden_set(
    f: Ask, places: int, rng: np.random.Generator, *, first: bool = False
) -> tuple[int, ...] | None:
    """Find S, its places counted from 0, by values of f; None where f is constant on the path.

    first: g(0) != g(1) is known, and places + 1 values do. Else it takes some log2(places) more
    and as many again as it takes to meet another value than g(0), about m on a random path:
    2 places + log2(places) + 1 at most.

    >>> asked = lambda z: (z[:, [2, 5]] == -1).sum(axis=1) % 2
    >>> hidden_set(asked, 8, np.random.default_rng(0), first=True)
    (2, 5)
    """
    if first:
        low = np.ones(places, np.int8)
        flipped = np.where(np.eye(places, dtype=np.bool_), -low, low)
        return _listed(f(np.concatenate([low[None], flipped])))
    order = rng.permutation(places)
    start = _step(f, order)
    if start is None:
        return None
    ends = _path(order, np.array([start, start + 1]))
    others = np.delete(np.arange(places), order[start])
    raised = (ends[0, others] == -1).astype(np.intp)  # these are flipped in z'
    asked = ends[raised]
    asked[np.arange(len(others)), others] *= -1
    base = f(ends)
    inside = others[f(asked) != base[raised]]
    return tuple(sorted([int(order[start]), *inside.tolist()]))


def _listed(values: NDArray[np.float64]) -> tuple[int, ...] | None:
    inside = np.flatnonzero(values[1:] != values[0])
    return tuple(inside.tolist()) if len(inside) else None


def _path(order: NDArray[np.intp], lengths: NDArray[np.intp]) -> Signs:
    """The points of the path with so many places flipped: (n,) -> (n, places)."""
    rank = np.argsort(order)
    return np.where(rank[None] < lengths[:, None], -1, 1).astype(np.int8)


def _step(f: Ask, order: NDArray[np.intp]) -> int | None:
    """Find t such that f differs between t and t + 1 places flipped."""

    def at(length: int) -> float:
        return float(f(_path(order, np.array([length])))[0])

    places, base = len(order), at(0)
    same = 0  # the longest stretch that is known to have the value of none below `other`
    seen = [0]
    for length in _spread(places):
        if at(length) != base:
            same, other = max(s for s in seen if s < length), length
            break
        seen.append(length)
    else:
        return None
    while other - same > 1:
        middle = (same + other) // 2
        if at(middle) == base:
            same = middle
        else:
            other = middle
    return same


def _spread(places: int) -> list[int]:
    """1 .. places in an order that is spread out at any time: the whole, halves, quarters, ..."""
    order, step = [places], 1
    while step < places:
        step *= 2
    while step > 1:
        order += range(step // 2, places, step)
        step //= 2
    return order
