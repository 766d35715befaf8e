"""SQ-DIM of listed members: the largest N' such that N' of them are pairwise within 1/N'.

For each pair its cap is the largest N' at which one set may hold both, floor(1/|correlation|). At
N' the members that may be together are a graph: an edge where the cap is at least N'. SQ-DIM is the
largest N' whose graph has a clique of N' vertices; a colouring of the graph by fewer colours than
N' shows that there is none.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Caps = NDArray[np.int64]
_EXACT = 120  # members among which a largest clique is searched for
_CLIQUES = 10_000  # that are looked at: of some graphs there are 3^(members/3)
_SLOW = 200  # members up to which the better, slower colouring is tried


def pair_caps(products: NDArray[Any]) -> Caps:
    """Compute the caps of integer inner products (M, M): 1..M, M on the diagonal.

    >>> pair_caps(np.array([[9, 3, 0], [3, 9, 3], [0, 3, 4]])).tolist()
    [[3, 3, 3], [3, 3, 2], [3, 2, 3]]
    """
    members, norms = len(products), np.diagonal(products)
    if len(set(norms.tolist())) == 1:
        size = np.abs(products)
        caps = np.where(size > 0, norms[0] // np.maximum(size, 1), members)
    else:
        caps = np.full((members, members), members)
        for i, j in np.argwhere(np.triu(products, 1)).tolist():
            square = int(norms[i]) * int(norms[j]) // int(products[i, j]) ** 2
            caps[i, j] = caps[j, i] = math.isqrt(square)
    caps = np.minimum(caps, members)
    np.fill_diagonal(caps, members)
    return caps


def independent_members(products: NDArray[Any]) -> dict[str, Any]:
    """Find many members within one over their number, and few classes of members that are not.

    The witness of SQ-DIM: `chosen`, ascending, and at most `upper` classes of members of which any
    two have a cap of at most `upper`.

    >>> independent_members(np.array([[9, 3, 0], [3, 9, 3], [0, 3, 4]]))
    {'chosen': [0, 1], 'classes': [[0], [1, 2]], 'upper': 2}
    """
    caps = pair_caps(products)
    chosen = largest_set(len(caps), lambda size: _clique(caps >= size, size))
    classes = [[i] for i in range(len(caps))]
    low, high = len(chosen), len(caps)
    while low < high:
        size = (low + high + 1) // 2
        colours = _colouring(_graph(caps >= size), size)
        if len(colours) < size:
            high, classes = size - 1, colours
        else:
            low = size
    return {"chosen": sorted(chosen), "classes": sorted(map(sorted, classes)), "upper": high}


def largest_set(members: int, together: Callable[[int], list[int]]) -> list[int]:
    """Find many members that may be in one set of their number; together: tries a number.

    A set of N' within 1/N' holds one of N'-1 within 1/(N'-1): sizes are bisected.

    >>> largest_set(9, lambda size: list(range(min(size, 5))))
    [0, 1, 2, 3, 4]
    """
    best, high = [0], members
    while len(best) < high:
        size = (len(best) + high + 1) // 2
        tried = together(size)[:size]
        best, high = (tried, high) if len(tried) == size else (best, size - 1)
    return best


def _graph(near: NDArray[np.bool_]) -> nx.Graph:
    """Members, with an edge between two that are near."""
    return nx.from_numpy_array(near & ~np.eye(len(near), dtype=np.bool_))


def _clique(near: NDArray[np.bool_], size: int) -> list[int]:
    """Find members that may all be in one set of a size, or as many as are seen.

    Of few members the largest clique is among the first `_CLIQUES`, where there are no more.
    """
    best = grown_clique(near, size)
    if len(near) > _EXACT:
        return best
    for clique in itertools.islice(nx.find_cliques(_graph(near)), _CLIQUES):
        if len(best) >= size:
            break
        best = max(best, clique, key=len)
    return sorted(best)


def grown_clique(near: NDArray[np.bool_], size: int) -> list[int]:
    """Take members that are near all that were taken before, from every start: the best of these.

    Not by networkx, whose approximation takes minutes of some thousand members.

    >>> grown_clique(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.bool_), 2)
    [0, 1]
    """
    graph = near & ~np.eye(len(near), dtype=np.bool_)
    taken, left = [], np.ones(len(graph), np.bool_)
    for v in np.argsort(-graph.sum(axis=1), kind="stable"):
        if left[v]:
            taken.append(int(v))
            left &= graph[v]
    best = taken
    for start in range(len(graph)):
        if len(best) >= size:
            break
        taken, left = [start], graph[start].copy()
        while left.any():
            taken.append(int(left.argmax()))
            left &= graph[taken[-1]]
        best = max(best, taken, key=len)
    return sorted(best)


def _colouring(graph: nx.Graph, size: int) -> list[list[int]]:
    """Put members into few classes of such as may not be in one set: fewer than a size, or more."""
    best: list[list[int]] = [[v] for v in graph]
    strategies = ["largest_first", "smallest_last", *(["DSATUR"] if len(graph) <= _SLOW else [])]
    for strategy in strategies:
        if len(best) < size:
            break
        colours = nx.greedy_color(graph, strategy)
        classes = [[v for v in graph if colours[v] == c] for c in set(colours.values())]
        best = min(best, classes, key=len)
    return best
