"""The compiled trials of restricted elimination; imported only to run one, as numba is slow."""

from typing import Any

import numpy as np

from hardness.numerics._numba import compiled, lowest_one, popcount


@compiled
def splitmix64(key: int, index: int) -> Any:
    """Return word `index` of the stream of a key: SplitMix64. [SLF14]"""
    word = np.uint64(key) + np.uint64(index + 1) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def shuffle_first(order: Any, count: int, key: int) -> None:
    """Move `count` random entries of an array to the front."""
    size = len(order)
    for i in range(count):
        word = splitmix64(key, i)
        # The choice is not exactly uniform, but the difference of 2^-32 is harmless here.
        j = i + np.int64(((word >> np.uint64(32)) * np.uint64(size - i)) >> np.uint64(32))
        order[i], order[j] = order[j], order[i]


@compiled
def run_trials(
    words: Any,
    codes: Any,
    n: int,
    kept: int,
    weight: int,
    checked: int,
    limit: int,
    start: int,
    count: int,
    solutions: Any,
) -> int:
    """Run trials start .. start+count-1, until one finds a secret that passes the check.

    words (N, words), bit j + 1 being a_j; codes (N,) uint8. A trial keeps some of the n
    coordinates and solves as many random equations. It passes if the solution has the weight (0:
    any) and violates at most `limit` of the first `checked` equations. solutions (words,)
    receives it. Returns the trial, or -1.
    """
    size, width = words.shape
    mask = np.empty(width, np.uint64)
    rows = np.empty((kept, width), np.uint64)
    bits = np.empty(kept, np.uint64)
    pivots = np.empty(64 * width, np.int64)
    for index in range(start, start + count):
        places = np.arange(1, n + 1)
        order = np.arange(size)
        shuffle_first(places, kept, splitmix64(index, 0))
        mask[:] = 0
        for i in range(kept):
            mask[places[i] >> 6] |= np.uint64(1) << np.uint64(places[i] & 63)
        if not _eliminate(words, codes, mask, splitmix64(index, 1), order, rows, bits, pivots):
            continue
        if weight and _solve_echelon(mask, rows, bits, pivots, solutions) != weight:
            continue
        if not weight and not _solve_echelon(mask, rows, bits, pivots, solutions):
            continue
        wrong = np.int64(0)
        for i in range(checked):
            folded = np.uint64(0)
            for w in range(width):
                folded ^= words[i, w] & solutions[w]
            wrong += np.int64((popcount(folded) & np.uint64(1)) ^ np.uint64(codes[i]))
            if wrong > limit:
                break
        if wrong <= limit:
            return index
    return -1


@compiled
def _eliminate(
    words: Any, codes: Any, mask: Any, key: int, order: Any, rows: Any, bits: Any, pivots: Any
) -> bool:
    """Bring random equations into echelon form until there are as many as unknowns."""
    size, width = words.shape
    pivots[:] = -1
    rank, wanted = 0, len(rows)
    for i in range(size):
        j = i + np.int64(
            ((splitmix64(key, i) >> np.uint64(32)) * np.uint64(size - i)) >> np.uint64(32)
        )
        order[i], order[j] = order[j], order[i]
        equation = order[i]
        row = rows[rank]
        bit = np.uint64(codes[equation])
        for w in range(width):
            row[w] = words[equation, w] & mask[w]
        w = 0
        while w < width:
            if row[w] == 0:
                w += 1
                continue
            place = 64 * w + lowest_one(row[w])
            pivot = pivots[place]
            if pivot < 0:
                pivots[place] = rank
                bits[rank] = bit
                rank += 1
                break
            other = rows[pivot]
            for v in range(np.uint64(w), np.uint64(width)):
                row[v] ^= other[v]
            bit ^= bits[pivot]
        if rank == wanted:
            return True
    return False


@compiled
def _solve_echelon(mask: Any, rows: Any, bits: Any, pivots: Any, solution: Any) -> int:
    """Solve equations in echelon form from the highest unknown down; return the weight."""
    width = len(mask)
    solution[:] = 0
    weight = 0
    for place in range(64 * width - 1, -1, -1):
        if pivots[place] < 0:
            continue
        row = rows[pivots[place]]
        folded = np.uint64(0)
        for w in range(np.uint64(place >> 6), np.uint64(width)):
            folded ^= row[w] & solution[w]
        if (popcount(folded) & np.uint64(1)) != bits[pivots[place]]:
            solution[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            weight += 1
    return weight
