"""Bit planes: one packed row a coordinate over many samples, where rows of samples were packed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def planes(words: NDArray[np.uint64], d: int) -> NDArray[np.uint64]:
    """Transpose packed samples (n, words) to packed coordinates (d, ceil(n/64)).

    >>> planes(np.array([[1], [3], [2]], np.uint64), 2).tolist()
    [[3], [6]]
    """
    octets = np.ascontiguousarray(words, "<u8").view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, :d]
    packed = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
    out = np.zeros((d, -(-len(words) // 64) * 8), np.uint8)
    out[:, : packed.shape[1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def where_count(
    rows: NDArray[np.uint64], places: Sequence[int], wanted: NDArray[np.bool_]
) -> NDArray[np.uint64]:
    """Say in which samples the number h of ones among some coordinates has wanted[h], packed.

    rows: (d, words) of `planes`; wanted: (len(places) + 1,). Spare bits are those of h = 0.

    >>> rows = planes(np.array([[0], [1], [3]], np.uint64), 2)
    >>> where_count(rows, (0, 1), np.array([False, True, False])).tolist()
    [2]
    """
    digits: list[NDArray[np.uint64]] = []  # of h in base 2, the lowest first
    for place in places:
        carry = rows[place]
        for i, digit in enumerate(digits):
            digits[i], carry = digit ^ carry, digit & carry
        if len(digits) < (len(places)).bit_length():
            digits.append(carry)
    out = np.zeros(rows.shape[1], np.uint64)
    for h in np.flatnonzero(wanted):
        match = np.full(rows.shape[1], ~np.uint64(0))
        for i, digit in enumerate(digits):
            match &= digit if h >> i & 1 else ~digit
        out |= match
    return out
