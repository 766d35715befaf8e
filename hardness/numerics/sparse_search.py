"""Searches through all sparse vectors: by their sums mod q, or, over GF(2), by packed bits.

A vector of weight w is its places with a value for each. All but the last place make a head, heads
are numbered in the order of their places and then of their values, and one step of a search tries
all vectors with a head. Compiled at first use, which takes some seconds, and kept on disk.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_NO_COST = np.int64(1) << 62


@dataclass(frozen=True, kw_only=True)
class CheapestVector:
    """The cheapest vector that a search has met: places with the number of a value for each."""

    cost: int
    entries: tuple[tuple[int, int], ...]


class SparseSearch(Protocol):
    """A search through the vectors of length n, entries one of `values` many or 0."""

    n: int
    values: int

    def run(self, weight: int, start: int, count: int) -> tuple[int, CheapestVector | None]:
        """Try the vectors with heads start .. start+count-1: how many, and the cheapest."""


def count_heads(n: int, weight: int, values: int) -> int:
    """Count the heads of vectors of a weight.

    >>> count_heads(5, 3, 1), count_heads(5, 1, 7)
    (6, 1)
    """
    return math.comb(n - 1, weight - 1) * values ** (weight - 1)


def head_at(index: int, n: int, weight: int, values: int) -> tuple[list[int], list[int]]:
    """Return places and values of a head: the index-th, ascending, in 0 .. n-2.

    >>> [head_at(i, 4, 3, 1)[0] for i in range(count_heads(4, 3, 1))]
    [[0, 1], [0, 2], [1, 2]]
    >>> [head_at(i, 3, 2, 2) for i in range(count_heads(3, 2, 2))]
    [([0], [0]), ([0], [1]), ([1], [0]), ([1], [1])]
    """
    index, rest = divmod(index, values ** (weight - 1))
    digits = [rest // values**k % values for k in range(weight - 1)][::-1]
    places: list[int] = []
    place = 0
    while len(places) < weight - 1:
        skipped = math.comb(n - 2 - place, weight - 2 - len(places))
        if index < skipped:
            places.append(place)
        else:
            index -= skipped
        place += 1
    return places, digits


class ModularSearch:
    """Vectors s by sum_i tables[rows[i], (shifts[i] + <a_i, s>) mod q], given up above limits[i].

    columns: (values, n, N), the values times the columns of a, mod q; tables (rows, 2 q) uint16,
    each row twice; rows, shifts, limits (N,), limits of the sums over the first samples.
    """

    def __init__(
        self,
        columns: NDArray[np.int64],
        tables: NDArray[np.uint16],
        rows: NDArray[np.int64],
        shifts: NDArray[np.int64],
        limits: NDArray[np.int64],
    ) -> None:
        """Lay out the first samples for the inner loop; missing ones cost nothing."""
        from hardness.numerics._sparse_search_jit import AHEAD

        self.values, self.n, many = columns.shape
        missing = max(0, AHEAD - many)
        self._q = tables.shape[1] // 2
        self._columns = np.pad(columns, ((0, 0), (0, 0), (0, missing))).astype(np.uint32)
        self._ahead = np.ascontiguousarray(self._columns[:, :, :AHEAD].transpose(2, 0, 1))
        self._tables = np.concatenate([tables, np.zeros_like(tables[:1])])
        self._rows = np.pad(rows, (0, missing), constant_values=len(tables)).astype(np.uint64)
        self._shifts = np.pad(shifts, (0, missing)).astype(np.uint64)
        self._limits = np.pad(limits, (0, missing), mode="edge").astype(np.int64)

    def run(self, weight: int, start: int, count: int) -> tuple[int, CheapestVector | None]:
        """Try the vectors with heads start .. start+count-1: how many, and the cheapest."""
        from hardness.numerics import _sparse_search_jit as compiled

        places, digits = map(_array, head_at(start, self.n, weight, self.values))
        best = np.zeros(1 + 2 * weight, np.int64)
        best[0] = _NO_COST
        _, tried = compiled.search_sums(
            self._columns,
            self._ahead,
            self._tables,
            self._rows,
            self._shifts,
            self._limits,
            np.uint64(self._q),
            places,
            digits,
            count,
            best,
        )
        return int(tried), _cheapest(best[0], best[1 : 1 + weight], best[1 + weight :])


class ParitySearch:
    """Parities by how many codes they differ from, given up above limits[i] after word i.

    columns: (n, words) uint64, a bit for a sample, codes (words,) uint64, limits (words,) int64.
    """

    values = 1

    def __init__(
        self, columns: NDArray[np.uint64], codes: NDArray[np.uint64], limits: NDArray[np.int64]
    ) -> None:
        """Keep the packed samples."""
        self.n = len(columns)
        self._columns, self._codes, self._limits = columns, codes, limits

    def run(self, weight: int, start: int, count: int) -> tuple[int, CheapestVector | None]:
        """Try the parities with heads start .. start+count-1: how many, and the nearest."""
        from hardness.numerics import _sparse_search_jit as compiled

        places = _array(head_at(start, self.n, weight, 1)[0])
        best = np.zeros(1 + weight, np.int64)
        best[0] = _NO_COST
        _, tried = compiled.search_parities(
            self._columns, self._codes, self._limits, places, count, best
        )
        return int(tried), _cheapest(best[0], best[1:], np.zeros_like(best[1:]))


def _cheapest(cost: int, places: Any, digits: Any) -> CheapestVector | None:
    """What a compiled search has left in `best`, if any vector kept to the limits."""
    entries = tuple(sorted(zip(places.tolist(), digits.tolist(), strict=True)))
    return None if cost == _NO_COST else CheapestVector(cost=int(cost), entries=entries)


def _array(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)
