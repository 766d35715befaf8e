"""Linear systems over GF(2), packed 64 unknowns to a word, reduced with each new equation."""

import numpy as np
from numpy.typing import NDArray


class LinearSystem:
    """Equations <row, s> = bit over GF(2) in `unknowns` unknowns, kept in reduced echelon form.

    >>> system = LinearSystem(3)
    >>> rows = np.array([[3], [2], [4], [1]], np.uint64)
    >>> system.add_equations(rows, np.array([1, 1, 0, 0], np.uint8))
    0
    >>> system.rank, system.solution().tolist()
    (3, [0, 1, 0])
    """

    def __init__(self, unknowns: int) -> None:
        """Start with no equation."""
        self.unknowns = unknowns
        self._width = unknowns // 64 + 1  # with one more bit for the right-hand side
        self._rows = np.zeros((0, self._width), np.uint64)
        self._pivots: list[int] = []

    @property
    def rank(self) -> int:
        """The number of independent equations."""
        return len(self._pivots)

    def add_equations(self, rows: NDArray[np.uint64], bits: NDArray[np.uint8]) -> int:
        """Add n equations, rows (n, words) and bits (n,); return the number of contradictions.

        Bits of the rows beyond `unknowns` must be 0. An equation that contradicts earlier ones is
        omitted. This takes (rank + n) unknowns / 64 operations on words for each unit of rank,
        before and after.
        """
        fresh = np.zeros((len(rows), self._width), np.uint64)
        fresh[:, : min(rows.shape[1], self._width)] = rows[:, : self._width]
        fresh[:, -1] |= bits.astype(np.uint64) << np.uint64(self.unknowns % 64)
        # Reduce the new rows by the old pivots; the row of a pivot is zero at all other pivots.
        for row, pivot in zip(self._rows, self._pivots, strict=True):
            fresh[_bits_at(fresh, pivot)] ^= row
        conflicts = 0
        start = len(self._pivots)
        system = np.concatenate([self._rows, fresh])
        for i in range(start, len(system)):
            lowest = self._first_unknown(system[i])
            if lowest is None:
                conflicts += bool(system[i].any())
                continue
            hit = _bits_at(system, lowest)
            hit[i] = False
            system[hit] ^= system[i]
            system[[len(self._pivots), i]] = system[[i, len(self._pivots)]]
            self._pivots.append(lowest)
        self._rows = np.ascontiguousarray(system[: len(self._pivots)])
        return conflicts

    def solution(self) -> NDArray[np.uint8]:
        """Return the solution (unknowns,) in which free unknowns are 0."""
        out = np.zeros(self.unknowns, np.uint8)
        out[self._pivots] = _bits_at(self._rows, self.unknowns)
        return out

    def _first_unknown(self, row: NDArray[np.uint64]) -> int | None:
        """Return the first unknown of an equation, or None if it has none."""
        words = np.flatnonzero(row)
        if not len(words):
            return None
        word = int(words[0])
        value = int(row[word])
        position = 64 * word + (value & -value).bit_length() - 1
        return position if position < self.unknowns else None


def _bits_at(rows: NDArray[np.uint64], position: int) -> NDArray[np.bool_]:
    """Return bit `position` of each packed row: (n, words) -> (n,)."""
    word, bit = divmod(position, 64)
    return np.asarray((rows[:, word] >> np.uint64(bit)) & np.uint64(1), bool)
