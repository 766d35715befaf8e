"""SQ-DIM of listed members: the largest N' such that N' of them are pairwise within 1/N'.

The cap of a pair is the largest N' for which one set may contain both, floor(1/|correlation|). For
each N' there is a graph on the members, with an edge if the cap is at least N'. SQ-DIM is the
largest N' whose graph has a clique of N' vertices. A colouring of the graph with fewer colours than
N' shows that it has none.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Caps = NDArray[np.int64]
_SEARCHED_MEMBERS = 120  # up to which a largest clique is searched
_MOST_CLIQUES = 10_000  # that are enumerated: some graphs have 3^(members/3)
_DSATUR_MEMBERS = 200  # up to which the better, slower colouring is tried


def pair_caps(products: NDArray[Any]) -> Caps:
    """Compute the caps from integer inner products: (M, M), values 1..M, M on the diagonal.

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
    """Find the witness of SQ-DIM: a large set of nearly orthogonal members, and an upper bound.

    chosen: members, ascending, pairwise within one over their number. classes: at most `upper`
    classes of all members, in each of which any two have a cap of at most `upper`.

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
    """Find a large set of members that fit together, by bisection over its size.

    together: maps a size to members that may be in one set of that size. A set of N' within 1/N'
    contains one of N'-1 within 1/(N'-1), so bisection applies.

    >>> largest_set(9, lambda size: list(range(min(size, 5))))
    [0, 1, 2, 3, 4]
    """
    best, high = [0], members
    while len(best) < high:
        size = (len(best) + high + 1) // 2
        candidate = together(size)[:size]
        best, high = (candidate, high) if len(candidate) == size else (best, size - 1)
    return best


def _graph(near: NDArray[np.bool_]) -> nx.Graph:
    """Make the graph of members, with an edge for each pair in `near`."""
    return nx.from_numpy_array(near & ~np.eye(len(near), dtype=np.bool_))


def _clique(near: NDArray[np.bool_], size: int) -> list[int]:
    """Find a clique of `size` members, or the largest that is found.

    For few members maximal cliques are enumerated, the first `_MOST_CLIQUES` of them.
    """
    best = grown_clique(near, size)
    if len(near) > _SEARCHED_MEMBERS:
        return best
    for clique in itertools.islice(nx.find_cliques(_graph(near)), _MOST_CLIQUES):
        if len(best) >= size:
            break
        best = max(best, clique, key=len)
    return sorted(best)


def grown_clique(near: NDArray[np.bool_], size: int) -> list[int]:
    """Find a large clique greedily: first by degree, then from every member as a start.

    The approximation of networkx takes minutes for a thousand members.

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
    """Colour the graph with few colours, if possible fewer than `size`: the classes of members."""
    best: list[list[int]] = [[v] for v in graph]
    strategies = ["largest_first", "smallest_last"]
    strategies += ["DSATUR"] * (len(graph) <= _DSATUR_MEMBERS)
    for strategy in strategies:
        if len(best) < size:
            break
        colours = nx.greedy_color(graph, strategy)
        classes = [[v for v in graph if colours[v] == c] for c in set(colours.values())]
        best = min(best, classes, key=len)
    return best
