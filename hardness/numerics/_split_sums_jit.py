"""The compiled meeting in the middle; imported where one is run, for numba."""

from typing import Any

import numpy as np

from hardness.numerics._numba import compiled
from hardness.numerics._sparse_search_jit import next_head


@compiled
def fill_sums(columns: Any, q: int, places: Any, digits: Any, out: Any) -> None:
    """Write the sums mod q of vectors from places and digits on: out (count, N).

    columns: (values, n, N) uint32.
    """
    values, n, many = columns.shape
    weight = len(places)
    sums = np.zeros((weight + 1, many), np.uint32)
    changed = 0
    for m in range(len(out)):
        for k in range(changed, weight):
            column = columns[digits[k], places[k]]
            for i in range(many):
                total = sums[k, i] + column[i]
                sums[k + 1, i] = total - q if total >= q else total
        for i in range(many):
            out[m, i] = sums[weight, i]
        changed = next_head(places, digits, n + 1, values)
        if changed < 0:
            return


@compiled
def join_pairs(
    left: Any,
    right: Any,
    starts: Any,
    tables: Any,
    rows: Any,
    shifts: Any,
    limits: Any,
    low: Any,
    width: Any,
    keyed: int,
    buckets: int,
    best: Any,
) -> Any:
    """Try the pairs that may fit the first `keyed` samples; best: cost, left, right; replaced.

    right (M, N) is sorted by keys, starts those of the keys. Sample i may be explained where
    shifts[i] plus the sum lies in width[rows[i]] numbers from low[rows[i]] on, mod q.
    Returns how many pairs were tried.
    """
    q = np.uint64(tables.shape[1] // 2)
    many = left.shape[1]
    base = np.zeros(many, np.uint64)
    first = np.zeros(keyed, np.int64)
    span = np.zeros(keyed, np.int64)
    digit = np.zeros(keyed, np.int64)
    tried = 0
    for m in range(len(left)):
        for i in range(many):
            total = shifts[i] + left[m, i]
            base[i] = total - q if total >= q else total
        for i in range(keyed):
            lowest = np.int64((low[rows[i]] + q - base[i]) % q)
            wide = np.int64(width[rows[i]])
            first[i] = lowest * buckets // np.int64(q)
            last = (lowest + wide - 1) * buckets // np.int64(q)
            span[i] = min(buckets, last - first[i] + 1)
            digit[i] = 0
        while True:
            key = 0
            for i in range(keyed):
                key = key * buckets + (first[i] + digit[i]) % buckets
            tried += starts[key + 1] - starts[key]
            for r in range(starts[key], starts[key + 1]):
                cost = _pair_cost(right[r], base, tables, rows, limits, keyed)
                if 0 <= cost < best[0]:
                    best[0], best[1], best[2] = cost, m, r
            i = keyed - 1
            while i >= 0 and digit[i] + 1 == span[i]:
                digit[i] = 0
                i -= 1
            if i < 0:
                break
            digit[i] += 1
    return tried


@compiled
def _pair_cost(sums: Any, base: Any, tables: Any, rows: Any, limits: Any, keyed: int) -> Any:
    """Add up the costs of a pair, the samples that made the key last; -1 above a limit."""
    many = len(base)
    cost, done = np.int64(0), 0
    for i in range(np.uint64(keyed), np.uint64(many)):
        cost += np.int64(tables[rows[i], base[i] + sums[i]])
        if cost > limits[done]:
            return -1
        done += 1
    for i in range(np.uint64(keyed)):
        cost += np.int64(tables[rows[i], base[i] + sums[i]])
        if cost > limits[done]:
            return -1
        done += 1
    return cost
