"""Searches through all sparse vectors: one by one, or by meeting in the middle.

A search one by one uses sums mod q, or packed bits over GF(2). Meeting in the middle compares the
sorted sums of all vectors on some coordinates with those on the other coordinates.

A vector of weight w consists of its places and a value for each. All places but the last are its
head. Heads are numbered in the order of their places and then of their values. One step of a search
tries all vectors with one head. Loops are compiled at first use, which takes some seconds, and
cached on disk.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.unsignedinteger]
_NO_COST = np.int64(1) << 62


@dataclass(frozen=True, kw_only=True)
class CheapestVector:
    """The cheapest vector of a search: its places, each with the index of a value."""

    cost: int
    entries: tuple[tuple[int, int], ...]


class SparseSearch(Protocol):
    """A search through vectors of length n; entries are 0 or one of `values` values."""

    n: int
    values: int

    def run(self, weight: int, start: int, count: int) -> tuple[int, CheapestVector | None]:
        """Try the vectors with heads start .. start+count-1; return how many, and the cheapest."""


def count_heads(n: int, weight: int, values: int) -> int:
    """Count the heads of vectors of a weight.

    >>> count_heads(5, 3, 1), count_heads(5, 1, 7)
    (6, 1)
    """
    return math.comb(n - 1, weight - 1) * values ** (weight - 1)


def head_at(index: int, n: int, weight: int, values: int) -> tuple[list[int], list[int]]:
    """Return places, ascending in 0 .. n-2, and values of the head of this index.

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
    """Tries vectors s; the cost is sum_i tables[rows[i], (shifts[i] + <a_i, s>) mod q].

    A vector is dropped at sample i if its cost is above limits[i]. columns: (values, n, N), the
    values times the columns of a, mod q. tables: (rows, 2 q) uint16, each row twice. rows, shifts,
    limits: (N,).
    """

    def __init__(
        self,
        columns: NDArray[np.int64],
        tables: NDArray[np.uint16],
        rows: NDArray[np.int64],
        shifts: NDArray[np.int64],
        limits: NDArray[np.int64],
    ) -> None:
        """Arrange the first samples for the inner loop; missing samples have cost 0."""
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
        """Try the vectors with heads start .. start+count-1; return how many, and the cheapest."""
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
    """Tries parities; the cost is the number of codes that differ.

    A parity is dropped after word i if its cost is above limits[i]. columns: (n, words) uint64,
    with a bit for each sample. codes: (words,) uint64. limits: (words,) int64.
    """

    values = 1

    def __init__(
        self, columns: NDArray[np.uint64], codes: NDArray[np.uint64], limits: NDArray[np.int64]
    ) -> None:
        """Keep the packed samples."""
        self.n = len(columns)
        self._columns, self._codes, self._limits = columns, codes, limits

    def run(self, weight: int, start: int, count: int) -> tuple[int, CheapestVector | None]:
        """Try the parities with heads start .. start+count-1; return how many, and the nearest."""
        from hardness.numerics import _sparse_search_jit as compiled

        places = _array(head_at(start, self.n, weight, 1)[0])
        best = np.zeros(1 + weight, np.int64)
        best[0] = _NO_COST
        _, tried = compiled.search_parities(
            self._columns, self._codes, self._limits, places, count, best
        )
        return int(tried), _cheapest(best[0], best[1:], np.zeros_like(best[1:]))


def _cheapest(cost: int, places: Any, digits: Any) -> CheapestVector | None:
    """Read the result of a compiled search from `best`; None if all vectors were dropped."""
    entries = tuple(sorted(zip(places.tolist(), digits.tolist(), strict=True)))
    return None if cost == _NO_COST else CheapestVector(cost=int(cost), entries=entries)


def _array(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


# Meeting in the middle


@dataclass(frozen=True, kw_only=True, eq=False)
class HalfSums:
    """The sums mod q, for N samples, of all vectors of given weights on n places.

    columns: (values, n, N) uint32, the values of an entry times the columns, reduced mod q.
    """

    columns: NDArray[np.uint32]
    q: int
    weights: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of vectors of each weight, in the order of `weights`."""
        values, n, _ = self.columns.shape
        return tuple(count_heads(n + 1, w + 1, values) for w in self.weights)

    @property
    def type(self) -> type[np.unsignedinteger]:
        """The narrowest type of sums for q."""
        return np.uint16 if self.q <= 1 << 16 else np.uint32

    def __len__(self) -> int:
        return sum(self.counts)

    def sums(self, start: int, count: int) -> Sums:
        """Return the sums mod q of vectors start .. start+count-1: (count, N)."""
        from hardness.numerics import _sparse_search_jit as compiled

        values, n, many = self.columns.shape
        out = np.empty((min(count, len(self) - start), many), self.type)
        before, done = 0, 0
        for weight, size in zip(self.weights, self.counts, strict=True):
            first = start + done - before
            if done < len(out) and first < size:
                places, digits = head_at(first, n + 1, weight + 1, values)
                part = out[done : done + size - first]
                head = _array(places), _array(digits)
                compiled.fill_sums(self.columns, np.uint64(self.q), *head, part)
                done += len(part)
            before += size
        return out

    def entries(self, index: int) -> tuple[tuple[int, int], ...]:
        """Return the places of vector `index`, each with the index of its value."""
        values, n, _ = self.columns.shape
        for weight, size in zip(self.weights, self.counts, strict=True):
            if index < size:
                places, digits = head_at(index, n + 1, weight + 1, values)
                return tuple(zip(places, digits, strict=True))
            index -= size
        raise IndexError(index)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairFit:
    """The condition for a pair of sums; tables, rows, shifts, limits as in `ModularSearch`.

    A sum can fit sample i if shifts[i] plus the sum is among the width[rows[i]] numbers from
    low[rows[i]] on, mod q. Keys use the first `keyed` samples, and `buckets` parts of Z_q.
    """

    tables: NDArray[np.uint16]
    rows: NDArray[np.int64]
    shifts: NDArray[np.int64]
    limits: NDArray[np.int64]
    low: NDArray[np.int64]
    width: NDArray[np.int64]
    keyed: int
    buckets: int


class SortedSums:
    """Sums (M, N), sorted by keys: the parts of Z_q that contain their first few entries."""

    def __init__(self, sums: Sums, fit: PairFit) -> None:
        """Sort the sums; this takes their memory once more, and 24 bytes for each."""
        q = fit.tables.shape[1] // 2
        keys = np.zeros(len(sums), np.int64)
        for i in range(fit.keyed):
            keys = keys * fit.buckets + sums[:, i].astype(np.int64) * fit.buckets // q
        self._starts = np.zeros(fit.buckets**fit.keyed + 1, np.int64)
        self._starts[1:] = np.cumsum(np.bincount(keys, minlength=len(self._starts) - 1))
        self._order = np.argsort(keys, kind="stable")
        self._sums, self._fit = sums[self._order], fit

    def cheapest_pair(self, left: Sums) -> tuple[int, tuple[int, int] | None]:
        """Try pairs with sums left (L, N) that may fit; return their number and the best pair.

        The pair is two indices, or None if all pairs were dropped. A pair takes up to N steps.
        """
        from hardness.numerics import _sparse_search_jit as compiled

        fit = self._fit
        best = np.array([_NO_COST, 0, 0])
        tried = compiled.join_pairs(
            left,
            self._sums,
            self._starts,
            fit.tables,
            fit.rows.astype(np.uint64),
            fit.shifts.astype(np.uint64),
            fit.limits,
            fit.low.astype(np.uint64),
            fit.width,
            fit.keyed,
            fit.buckets,
            best,
        )
        if best[0] == _NO_COST:
            return int(tried), None
        return int(tried), (int(best[1]), int(self._order[best[2]]))
