"""Largest cliques by a branch and bound that stops after a number of steps, not of seconds.

Colour classes of pairwise non-adjacent vertices bound a clique: it has at most one vertex of each.
The search branches only on vertices whose greedy colour leaves room for a larger clique
[TK07, SRJ11]. A set of vertices is one Python integer, bit v for vertex v.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

_ROUNDS = 12  # of recolouring
_NETWORKX = 200  # vertices up to which networkx tries its colourings too: it is slow


@dataclass(frozen=True, kw_only=True)
class Clique:
    """A clique, and how large one can be at most.

    >>> Clique(members=(0, 2), upper=2, colouring=((0, 1), (2,)), steps=0, ended=True).largest
    True
    """

    members: tuple[int, ...]  # ascending, pairwise adjacent
    upper: int  # no clique has more vertices
    colouring: tuple[tuple[int, ...], ...]  # all vertices, in classes of pairwise non-adjacent ones
    steps: int  # vertices branched on
    ended: bool  # False where the limit of steps stopped the search before its answer

    @property
    def largest(self) -> bool:
        """Whether no clique is larger."""
        return len(self.members) == self.upper


def largest_clique(
    adjacency: NDArray[np.bool_], at_least: int | None = None, steps: int = 200_000
) -> Clique:
    """Find a largest clique; with `at_least`, only decide whether there is one of that size.

    adjacency: (M, M) bool, symmetric, the diagonal does not matter. With `at_least` the search
    stops at the first clique of that size, and no colouring is looked for once one is found.
    Raises UsageError where the adjacency is not symmetric.

    >>> cycle = np.eye(5, k=1, dtype=bool) | np.eye(5, k=-4, dtype=bool)
    >>> found = largest_clique(cycle | cycle.T)
    >>> found.members, found.upper, len(found.colouring)
    ((3, 4), 2, 3)
    """
    graph = np.asarray(adjacency)
    if graph.ndim != 2 or graph.dtype != np.bool_ or not np.array_equal(graph, graph.T):
        raise UsageError("an adjacency matrix is needed: (M, M), bool, symmetric")
    if steps < 0:
        raise UsageError(f"steps={steps} given: it must be at least 0")
    if at_least is not None and at_least < 1:
        raise UsageError(f"at_least={at_least} given: it must be at least 1")
    size = len(graph)
    graph = graph & ~np.eye(size, dtype=np.bool_)
    rows = _rows(graph)
    order = _dense_first(graph)
    best = _greedy(rows, order, at_least or size)
    if at_least is not None and len(best) >= at_least:
        singles = tuple((v,) for v in range(size))
        return Clique(members=best, upper=size, colouring=singles, steps=0, ended=True)
    colouring = _colouring(graph, rows, order, enough=at_least - 1 if at_least else len(best))
    target = max(len(best) + 1, at_least or 0)
    if len(colouring) < target:
        upper, used, ended = len(colouring), 0, True
    else:
        ranked = _rows(graph[np.ix_(order, order)])
        found, used, ended = _search(ranked, target, at_least or size, steps)
        if found:
            best = tuple(sorted(order[v] for v in found))
        upper = len(colouring)
        if ended and len(best) < (at_least or size + 1):
            upper = min(upper, max(target - 1, len(best)))
    return Clique(members=best, upper=upper, colouring=colouring, steps=used, ended=ended)


def _rows(graph: NDArray[np.bool_]) -> list[int]:
    packed = np.packbits(graph, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _dense_first(graph: NDArray[np.bool_]) -> list[int]:
    """Order vertices by removing one of least degree again and again; the last removed is first."""
    degree = graph.sum(axis=1)
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
    graph: NDArray[np.bool_], rows: list[int], order: list[int], enough: int
) -> tuple[tuple[int, ...], ...]:
    """Colour with few classes: several orders, each recoloured class by class.

    Recolouring in an order that keeps classes together never takes more of them [Cul92].
    """
    best: list[list[int]] = []
    for first in _orders(graph, order):
        classes = _first_fit(rows, first)
        for turn in range(_ROUNDS):
            if not best or len(classes) < len(best):
                best = classes
            if len(best) <= enough:
                break
            turned = classes[::-1] if turn % 3 else sorted(classes, key=len, reverse=True)
            classes = _first_fit(rows, [v for members in turned for v in members])
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


def _first_fit(rows: list[int], order: list[int]) -> list[list[int]]:
    masks: list[int] = []
    classes: list[list[int]] = []
    for v in order:
        row = rows[v]
        for i, mask in enumerate(masks):
            if not row & mask:
                masks[i] = mask | 1 << v
                classes[i].append(v)
                break
        else:
            masks.append(1 << v)
            classes.append([v])
    return classes


def _search(
    rows: list[int], target: int, enough: int, steps: int
) -> tuple[list[int] | None, int, bool]:
    """Look for cliques of at least `target`, then for larger ones, up to `enough` vertices."""
    best: list[int] | None = None
    clique: list[int] = []
    left = (1 << len(rows)) - 1
    stack = [(left, *_branches(rows, left, target - 1))]
    used = 0
    while stack:
        left, vertices, colours = stack.pop()
        if not vertices or len(clique) + colours[-1] < target:
            if clique:
                clique.pop()
            continue
        if used == steps:
            return best, used, False
        used += 1
        v = vertices.pop()
        colours.pop()
        stack.append((left & ~(1 << v), vertices, colours))
        clique.append(v)
        if len(clique) >= target:
            best = clique.copy()
            target = len(clique) + 1
            if len(clique) >= enough:
                return best, used, True
        left &= rows[v]
        stack.append((left, *_branches(rows, left, target - len(clique) - 1)))
    return best, used, True


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
