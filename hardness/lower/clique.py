"""Cliques of a size by a branch and bound that stops after a number of steps, not of seconds.

Colour classes of pairwise non-adjacent vertices bound a clique: it has at most one vertex of each.
The search branches only on vertices whose greedy colour leaves room for a larger clique
[TK07, SRJ11]. A set of vertices is one Python integer, bit v for vertex v.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 12  # of recolouring; one of more vertices than _MANY
_MANY = 3000
_NETWORKX = 200  # vertices up to which networkx tries its colourings too: it is slow


@dataclass(frozen=True, kw_only=True)
class Clique:
    """The largest clique found, and whether there is certainly none of the wanted size.

    members: ascending, pairwise adjacent. colouring: all vertices in classes of pairwise
    non-adjacent ones, where it was needed.
    """

    members: tuple[int, ...]
    none: bool = False
    colouring: tuple[tuple[int, ...], ...] = ()


def find_clique(adjacency: NDArray[np.bool_], wanted: int, steps: int) -> Clique:
    """Look for a clique of `wanted` vertices, or a reason why there is none, in so many steps.

    adjacency: (M, M), symmetric; the diagonal does not matter. The reason is a colouring of fewer
    classes, or where there is no such a search that ended.

    >>> cycle = np.eye(5, k=1, dtype=bool) | np.eye(5, k=-4, dtype=bool)
    >>> found = find_clique(cycle | cycle.T, 3, steps=100)
    >>> found.members, found.none, len(found.colouring)
    ((3, 4), True, 3)
    """
    graph = adjacency & ~np.eye(len(adjacency), dtype=np.bool_)
    rows = _rows(graph)
    order = dense_first(graph)
    best = _greedy(rows, order, wanted)
    if len(best) >= wanted:
        return Clique(members=best)
    colouring = _colouring(graph, order, enough=wanted - 1)
    if len(colouring) < wanted:
        return Clique(members=best, none=True, colouring=colouring)
    found, ended = _search(_rows(graph[np.ix_(order, order)]), wanted, steps)
    if found:
        best = tuple(sorted(order[v] for v in found))
    return Clique(members=best, none=ended and not found, colouring=colouring)


def greedy(adjacency: NDArray[np.bool_], wanted: int) -> tuple[int, ...]:
    """Take vertices that fit, from every start, until there are `wanted`: the best that was found.

    >>> cycle = np.eye(5, k=1, dtype=bool) | np.eye(5, k=-4, dtype=bool)
    >>> greedy(cycle | cycle.T, 3)
    (3, 4)
    """
    graph = adjacency & ~np.eye(len(adjacency), dtype=np.bool_)
    return _greedy(_rows(graph), dense_first(graph), wanted)


def _rows(graph: NDArray[np.bool_]) -> list[int]:
    packed = np.packbits(graph, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def dense_first(graph: NDArray[np.bool_]) -> list[int]:
    """Order vertices by removing one of least degree again and again; the last removed is first.

    More than _MANY by their degrees alone.
    """
    degree = graph.sum(axis=1)
    if len(graph) > _MANY:
        return np.argsort(-degree, kind="stable").tolist()
    gone = len(graph) + 1
    order = []
    for _ in range(len(graph)):
        v = int(degree.argmin())
        degree[graph[v]] -= 1
        degree[v] = gone * 2  # never the least again, whatever is subtracted
        order.append(v)
    return order[::-1]


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _greedy(rows: list[int], order: list[int], enough: int) -> tuple[int, ...]:
    """Take the first vertices that fit, from every start: lexicographic codes are good ones."""
    clique, left = [], (1 << len(rows)) - 1
    for v in order:
        if left >> v & 1:
            clique.append(v)
            left &= rows[v]
    best = sorted(clique)
    for start, row in enumerate(rows):
        if len(best) >= enough:
            break
        clique, left = [start], row
        while left:
            v = _lowest(left)
            clique.append(v)
            left &= rows[v]
        if len(clique) > len(best):
            best = sorted(clique)
    return tuple(best)


def _colouring(
    graph: NDArray[np.bool_], order: list[int], enough: int
) -> tuple[tuple[int, ...], ...]:
    """Colour with few classes: several orders, each recoloured class by class.

    Recolouring in an order that keeps classes together never takes more of them [Cul92].
    """
    best: list[list[int]] = []
    apart = ~graph & ~np.eye(len(graph), dtype=np.bool_)
    for first in _orders(graph, order):
        classes = _first_fit(apart, first)
        for turn in range(_ROUNDS if len(graph) <= _MANY else 1):
            if turn:
                by_size = sorted(classes, key=len, reverse=True)
                turned = by_size if turn % 3 == 1 else classes[::-1]
                classes = _first_fit(apart, [v for members in turned for v in members])
            if not best or len(classes) < len(best):
                best = classes
            if len(best) <= enough:
                break
        if len(best) <= enough:
            break
    return tuple(tuple(sorted(members)) for members in best)


def _orders(graph: NDArray[np.bool_], order: list[int]) -> Iterable[list[int]]:
    yield list(range(len(graph)))
    yield order
    if len(graph) <= _NETWORKX:
        import networkx as nx

        built = nx.from_numpy_array(graph)
        for strategy in ("saturation_largest_first", "independent_set"):
            colours = nx.greedy_color(built, strategy)
            yield sorted(colours, key=lambda v: (colours[v], v))


def _first_fit(apart: NDArray[np.bool_], order: list[int]) -> list[list[int]]:
    """Put each vertex into the first class that is apart from it: one class after the other."""
    rows = _rows(apart[np.ix_(order, order)])
    left = (1 << len(rows)) - 1
    classes: list[list[int]] = []
    while left:
        chosen, free = [], left
        while free:
            v = _lowest(free)
            chosen.append(order[v])
            left ^= 1 << v
            free &= rows[v]
        classes.append(chosen)
    return classes


def _search(rows: list[int], wanted: int, steps: int) -> tuple[list[int] | None, bool]:
    """Look for a clique of `wanted` vertices; also return whether the search ended in its steps."""
    clique: list[int] = []
    left = (1 << len(rows)) - 1
    stack = [(left, *_branches(rows, left, wanted - 1))]
    while stack:
        left, vertices, colours = stack.pop()
        if not vertices or len(clique) + colours[-1] < wanted:
            if clique:
                clique.pop()
            continue
        if not steps:
            return None, False
        steps -= 1
        v = vertices.pop()
        colours.pop()
        stack.append((left & ~(1 << v), vertices, colours))
        clique.append(v)
        if len(clique) >= wanted:
            return clique, True
        left &= rows[v]
        stack.append((left, *_branches(rows, left, wanted - len(clique) - 1)))
    return None, True


def _branches(rows: list[int], left: int, free: int) -> tuple[list[int], list[int]]:
    """Colour what is left greedily; return the vertices of colours above `free`, and the colours.

    The others alone cannot hold a clique that is large enough.
    """
    vertices: list[int] = []
    colours: list[int] = []
    colour = 0
    while left:
        colour += 1
        fits = left
        while fits:
            bit = fits & -fits
            v = bit.bit_length() - 1
            left ^= bit
            fits = fits & ~rows[v] & ~bit
            if colour > free:
                vertices.append(v)
                colours.append(colour)
    return vertices, colours
