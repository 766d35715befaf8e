"""Packed samples by coordinates, and how many ones a sample has at some of them.

A bit plane is one coordinate of all samples, 64 samples a word. Planes are compiled at first use,
which takes some seconds, and kept on disk.
"""

import numpy as np
from numpy.typing import NDArray


def to_bit_planes(words: NDArray[np.uint64], d: int) -> NDArray[np.uint64]:
    """Transpose packed samples (n, words) to packed coordinates (d, ceil(n/64)), d <= 64 words.

    Takes about 6 n words operations on words.

    >>> to_bit_planes(np.array([[1], [3], [2]], np.uint64), 2).tolist()
    [[3], [6]]
    """
    from hardness.numerics import _bit_planes_jit as compiled

    out = np.zeros((d, -(-len(words) // 64)), np.uint64)
    compiled.transpose_bits(np.ascontiguousarray(words), out)
    return out


def mark_counts(
    rows: NDArray[np.uint64], places: NDArray[np.int64], wanted: NDArray[np.bool_]
) -> NDArray[np.uint64]:
    """Mark the samples with wanted[h], h the number of ones at some coordinates: (M, words).

    rows: (d, words) of `to_bit_planes`; places: (M, m), the coordinates of each of M functions;
    wanted: (m + 1,). Bits beyond the last sample are those of h = 0. Takes about M words m log2(m)
    operations on words, fewer if `wanted` depends on the low digits of h alone.

    >>> rows = to_bit_planes(np.array([[0], [1], [3]], np.uint64), 2)
    >>> mark_counts(rows, np.array([[0, 1], [1, 0]]), np.array([False, True, False])).tolist()
    [[2], [2]]
    """
    from hardness.numerics import _bit_planes_jit as compiled

    digits = count_low_digits(wanted)
    values = np.flatnonzero(wanted[: 1 << digits])
    out = np.empty((len(places), rows.shape[1]), np.uint64)
    compiled.mark_counts(rows, np.ascontiguousarray(places, np.int64), digits, values, out)
    return out


def count_low_digits(wanted: NDArray[np.bool_]) -> int:
    """Count the low binary digits of h that wanted[h] depends on.

    >>> count_low_digits(np.array([False, True, False, True]))
    1
    >>> count_low_digits(np.array([False, True, True, True]))
    2
    """
    h = np.arange(len(wanted))
    digits = 0
    while not (wanted == wanted[h % (1 << digits)]).all():
        digits += 1
    return digits


def count_common_ones(masks: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the ones of each packed vector under each mask: (M, words), (n, words) -> (M, n).

    Takes M n words operations on words, fewer if masks have words that are 0.

    >>> count_common_ones(np.array([[3], [4]], np.uint64), np.array([[1], [7]], np.uint64)).tolist()
    [[1, 2], [0, 1]]
    """
    columns = np.ascontiguousarray(words.T)
    out = np.zeros((len(masks), len(words)), np.uint16)
    for row, mask in zip(out, masks, strict=True):
        for bits, column in zip(mask, columns, strict=True):
            if bits:
                row += np.bitwise_count(column & bits)
    return out
