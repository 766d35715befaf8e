"""Whether a graph has a clique of a size: the checker's search, with a limit of nodes."""

import numpy as np
from numpy.typing import NDArray

from instances.errors import Undecided

MOST_NODES = 1_000_000


def has_clique(adjacency: NDArray[np.bool_], size: int, most_nodes: int = MOST_NODES) -> bool:
    """Search for `size` pairwise adjacent vertices; raises Undecided where the search does not end.

    adjacency: (M, M) bool, symmetric; the diagonal does not matter. Vertices are split into classes
    of pairwise non-adjacent ones, of which a clique has at most one each.

    >>> has_clique(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], bool), 3)
    False
    """
    count = len(adjacency)
    order = np.argsort(-adjacency.sum(axis=1), kind="stable")
    graph = adjacency[np.ix_(order, order)] & ~np.eye(count, dtype=bool)
    near = [
        int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in graph
    ]
    stack = [((1 << count) - 1, size)]
    nodes = 0
    while stack:
        left, need = stack.pop()
        if need <= 0:
            return True
        nodes += 1
        if nodes > most_nodes:
            raise Undecided(
                f"not checked: a search for {size} members did not end within {most_nodes} steps, "
                "so that nothing is refuted or confirmed: `certify` with fewer --steps (0 for "
                "none) claims an upper end that needs no such search"
            )
        # Vertices beyond the first need - 1 classes: every clique of `need` has one of them.
        kept, rest = 0, left
        for _ in range(need - 1):
            free, taken = rest, 0
            while free:
                bit = free & -free
                taken |= bit
                free &= ~(near[bit.bit_length() - 1] | bit)
            # `free` lost the neighbours of each that was taken, so the class is independent.
            kept |= taken
            rest &= ~taken
            if not rest:
                break
        branches = []
        while rest:
            bit = rest & -rest
            rest ^= bit
            # A clique whose last vertex of `rest` is this one: the others come before it, or kept.
            branches.append((kept & near[bit.bit_length() - 1], need - 1))
            kept |= bit
        stack.extend(branches)
    return False
