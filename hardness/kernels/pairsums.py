"""Sums over pairs of packed samples of a function of their distance, tile by tile."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from instances.limits import require_memory

_SIDE = 256  # of a tile: its distances and values, 640 KiB, lie in the second-level cache
_BYTES = 1 << 22  # of the tiles and what goes with them

Array = NDArray[np.float64]


def strips(words: NDArray[np.uint64], values: Array, table: Array) -> Iterator[Array]:
    """Sum values[i, c] values[j, c] table[dist(i, j)] over all pairs i < j, in parts: (columns,).

    A part is the pairs with one of 256 as their first: between two, look at a clock. words: (N,
    words), dist the number of bits in which two rows differ; values: (N, columns); table: by
    distance, up to the number of bits that occur. Their sum equals, up to rounding,
    np.einsum("ic,ij,jc->c", values, np.triu(table[dist], 1), values), in memory of order N. Sums of
    integers below 2^53 are exact. Raises TooLarge where memory lacks.

    >>> words = np.array([[0b00], [0b01], [0b11]], np.uint64)
    >>> sum(strips(words, np.ones((3, 1)), np.array([0.0, 1.0, 10.0])))
    array([12.])
    """
    count = len(words)
    require_memory(2 * words.nbytes + _BYTES + 16 * _SIDE * values.shape[1], f"{count} samples")
    columns = np.ascontiguousarray(words.T)
    tile = np.empty(_SIDE * _SIDE)
    for start in range(0, count, _SIDE):
        rows = slice(start, min(count, start + _SIDE))
        # The pairs within the strip are met twice, each sample with itself once.
        found = _tile(columns, rows, rows, table, tile)
        np.fill_diagonal(found, 0.0)
        reached = found @ values[rows] / 2
        for other in range(start + _SIDE, count, _SIDE):
            after = slice(other, min(count, other + _SIDE))
            reached += _tile(columns, rows, after, table, tile) @ values[after]
        yield (reached * values[rows]).sum(axis=0)


def _tile(
    columns: NDArray[np.uint64], rows: slice, others: slice, table: Array, out: Array
) -> Array:
    """Look up the distances of some samples from some others: a view of out."""
    wide = np.uint16 if len(columns) > 3 else np.uint8
    distances: NDArray[np.unsignedinteger] | None = None
    for word in columns:
        more = np.bitwise_count(word[rows, None] ^ word[None, others])
        if distances is None:
            distances = more.astype(wide, copy=False)
        else:
            distances += more
    assert distances is not None
    shape = (rows.stop - rows.start, others.stop - others.start)
    found = out[: shape[0] * shape[1]].reshape(shape)
    return np.take(table, distances, out=found, mode="clip")
