"""The compiled loops over bit planes; imported where one is run, for numba."""

from typing import Any

import numpy as np

from hardness.numerics._numba import compiled

SLICE = 512  # words of a row at a time: they and the digits of a count lie in the first-level cache


@compiled
def transpose_bits(words: Any, out: Any) -> None:
    """Turn samples (n, width) into the first d coordinates: out (d, ceil(n/64)), replaced.

    Squares of 64 by 64 bits, halved six times. [War12, section 7-3]
    """
    n, width = words.shape
    d, columns = out.shape
    square = np.empty(64, np.uint64)
    for column in range(columns):
        for w in range(width):
            for i in range(64):
                row = 64 * column + i
                square[i] = words[row, w] if row < n else np.uint64(0)
            side, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
            while side:
                half = np.intp(side)
                for start in range(0, 64, 2 * half):
                    for i in range(start, start + half):
                        moved = ((square[i] >> side) ^ square[i + half]) & mask
                        square[i + half] ^= moved
                        square[i] ^= moved << side
                side >>= np.uint64(1)
                mask ^= mask << side
            for b in range(min(64, d - 64 * w)):
                out[64 * w + b, column] = square[b]


@compiled
def mark_counts(rows: Any, places: Any, digits: int, wanted: Any, out: Any) -> None:
    """Say where the number of ones among places (M, m), mod 2^digits, is wanted: out (M, words).

    rows: (d, words); wanted: an ascending array of numbers below 2^digits. out is replaced.
    """
    members, many = places.shape
    words = rows.shape[1]
    count = np.empty((digits, SLICE), np.uint64)
    carry, match = np.empty(SLICE, np.uint64), np.empty(SLICE, np.uint64)
    every = ~np.uint64(0)
    for first in range(0, words, SLICE):
        size = min(SLICE, words - first)
        for i in range(members):
            count[:, :size] = 0
            for k in range(many):
                _add_ones(rows[places[i, k], first : first + size], count, carry)
            found = out[i, first : first + size]
            found[:] = 0
            for h in wanted:
                match[:size] = every
                for digit in range(digits):
                    _keep_matches(match, count[digit], np.uint64(0) if h >> digit & 1 else every)
                for w in range(size):
                    found[w] |= match[w]


@compiled
def _add_ones(row: Any, count: Any, carry: Any) -> None:
    """Add a row of ones to the numbers whose digits are rows of count; carry is scratch."""
    digits = len(count)
    if digits:
        lowest = count[0]
        for w in range(len(row)):
            carry[w] = lowest[w] & row[w]
            lowest[w] ^= row[w]
    for k in range(1, digits):
        digit = count[k]
        for w in range(len(row)):
            before = digit[w]
            digit[w] = before ^ carry[w]
            carry[w] &= before


@compiled
def _keep_matches(match: Any, digit: Any, flip: Any) -> None:
    for w in range(len(match)):
        match[w] &= digit[w] ^ flip
