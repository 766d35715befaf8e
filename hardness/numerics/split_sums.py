"""Meeting in the middle: sums of all sparse vectors on some places, and the pairs that fit.

Compiled at first use, which takes some seconds, and kept on disk.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.numerics.sparse_search import count_heads, head_at

Sums = NDArray[np.unsignedinteger]
_NO_COST = np.int64(1) << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class HalfSums:
    """The sums mod q, at N samples, of all vectors of some weights on n places.

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
        """The type of a sum: as narrow as q allows."""
        return np.uint16 if self.q <= 1 << 16 else np.uint32

    def __len__(self) -> int:
        return sum(self.counts)

    def sums(self, start: int, count: int) -> Sums:
        """Return the sums mod q of vectors start .. start+count-1: (count, N)."""
        from hardness.numerics import _split_sums_jit as compiled

        values, n, many = self.columns.shape
        out = np.empty((min(count, len(self) - start), many), self.type)
        before, done = 0, 0
        for weight, size in zip(self.weights, self.counts, strict=True):
            first = start + done - before
            if done < len(out) and first < size:
                places, digits = head_at(first, n + 1, weight + 1, values)
                part = out[done : done + size - first]
                compiled.fill_sums(
                    self.columns,
                    np.uint64(self.q),
                    np.array(places, np.int64),
                    np.array(digits, np.int64),
                    part,
                )
                done += len(part)
            before += size
        return out

    def entries(self, index: int) -> tuple[tuple[int, int], ...]:
        """Return the places of vector `index`, each with the number of its value."""
        values, n, _ = self.columns.shape
        for weight, size in zip(self.weights, self.counts, strict=True):
            if index < size:
                places, digits = head_at(index, n + 1, weight + 1, values)
                return tuple(zip(places, digits, strict=True))
            index -= size
        raise IndexError(index)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairFit:
    """When sums explain samples: tables, rows, shifts, limits as in `ModularSearch`.

    Sample i may be explained where shifts[i] plus the sum lies in width[rows[i]] numbers from
    low[rows[i]] on, mod q; keys are made of the first `keyed` samples, in `buckets` parts of Z_q.
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
    """Sums (M, N), sorted by keys: the parts of Z_q in which the first few sums lie."""

    def __init__(self, sums: Sums, fit: PairFit) -> None:
        """Sort them: takes the memory of the sums once more, and 24 bytes for each."""
        q = fit.tables.shape[1] // 2
        keys = np.zeros(len(sums), np.int64)
        for i in range(fit.keyed):
            keys = keys * fit.buckets + sums[:, i].astype(np.int64) * fit.buckets // q
        self._starts = np.zeros(fit.buckets**fit.keyed + 1, np.int64)
        self._starts[1:] = np.cumsum(np.bincount(keys, minlength=len(self._starts) - 1))
        self._order = np.argsort(keys, kind="stable")
        self._sums, self._fit = sums[self._order], fit

    def cheapest_pair(self, left: Sums) -> tuple[int, tuple[int, int] | None]:
        """Try the pairs with sums left (L, N) that may fit: how many, and the indices of the best.

        The pair is None if no pair keeps to the limits. Takes up to N steps a pair that is tried.
        """
        from hardness.numerics import _split_sums_jit as compiled

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
