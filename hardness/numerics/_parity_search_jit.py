"""The compiled enumeration of sparse parities; imported where one is run, for numba."""

from typing import Any

import numpy as np

from hardness.numerics._numba import compiled, popcount
from hardness.numerics._sparse_search_jit import next_head


@compiled
def search_parities(
    columns: Any, codes: Any, limits: Any, places: Any, count: int, best: Any
) -> Any:
    """Try all parities whose places but the last are `places`, for `count` places in turn.

    columns: (n, words) uint64, a bit for a sample; codes (words,); limits (words,), what the first
    words may differ by. best: differences, then the places, of the best so far; replaced.
    Returns how many places were done and how many candidates were tried.
    """
    n = len(columns)
    first = columns[:, 0].copy()
    digits = np.zeros(len(places), np.int64)
    limit = limits[0]
    tried, done, weight = 0, 0, len(places)
    while done < count:
        base = codes[0]
        for k in range(weight):
            base ^= first[places[k]]
        after = places[weight - 1] + 1 if weight else 0
        tried += n - after
        for j in range(np.uint64(after), np.uint64(n)):
            differ = np.int64(popcount(base ^ first[j]))
            if differ > limit or differ >= best[0]:
                continue
            _finish_parity(columns, codes, limits, places, j, differ, best)
        done += 1
        if next_head(places, digits, n, 1) < 0:
            break
    return done, tried


@compiled
def _finish_parity(
    columns: Any, codes: Any, limits: Any, places: Any, j: int, differ: Any, best: Any
) -> None:
    """Count the differences in all further words, and keep the candidate where it is the best."""
    for i in range(1, columns.shape[1]):
        word = codes[i] ^ columns[j, i]
        for k in range(len(places)):
            word ^= columns[places[k], i]
        differ += np.int64(popcount(word))
        if differ > limits[i] or differ >= best[0]:
            return
    best[0] = differ
    for k in range(len(places)):
        best[1 + k] = places[k]
    best[1 + len(places)] = j
