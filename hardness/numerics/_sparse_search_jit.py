"""The compiled loops of searches through sparse vectors; imported only to run one."""

from typing import Any

import numpy as np

from hardness.numerics._numba import compiled, popcount

AHEAD = 4  # samples whose sums are kept while the last place changes


@compiled
def next_head(places: Any, digits: Any, n: int, values: int) -> int:
    """Step to the next values, then to the next ascending places in 0 .. n-2.

    Returns the first entry that changed, -1 after the last step.
    """
    size = len(places)
    for i in range(size - 1, -1, -1):
        if digits[i] + 1 < values:
            digits[i] += 1
            return i
        digits[i] = 0
    for i in range(size - 1, -1, -1):
        if places[i] < n - 1 - size + i:
            places[i] += 1
            for j in range(i + 1, size):
                places[j] = places[i] + j - i
            return 0 if values > 1 else i
    return -1


@compiled
def search_sums(
    columns: Any,
    ahead: Any,
    tables: Any,
    rows: Any,
    shifts: Any,
    limits: Any,
    q: int,
    places: Any,
    digits: Any,
    count: int,
    best: Any,
) -> Any:
    """Try all vectors whose places but the last are `places`, for `count` places in turn.

    columns: (values, n, N) uint32, values times columns mod q; ahead: (AHEAD, values, n), its first
    samples. best: cost, then places and digits of the best so far; replaced.
    Returns the numbers of places done and of candidates tried.
    """
    values, n, _ = columns.shape
    weight = len(places)
    first, second = tables[rows[0]], tables[rows[1]]
    third, fourth = tables[rows[2]], tables[rows[3]]
    one, two, three, four = ahead[0], ahead[1], ahead[2], ahead[3]
    limit = limits[AHEAD - 1]
    sums = np.zeros((weight + 1, AHEAD), np.uint64)
    for i in range(AHEAD):
        sums[0, i] = shifts[i]
    tried, done, changed = 0, 0, 0
    while done < count:
        for k in range(changed, weight):
            for i in range(AHEAD):
                total = sums[k, i] + columns[digits[k], places[k], i]
                sums[k + 1, i] = total - q if total >= q else total
        b, c, d, e = sums[weight, 0], sums[weight, 1], sums[weight, 2], sums[weight, 3]
        first_place = np.uint64(places[weight - 1] + 1 if weight else 0)
        tried += (n - np.int64(first_place)) * values
        for v in range(np.uint64(values)):
            for j in range(first_place, np.uint64(n)):
                cost = np.int64(first[b + one[v, j]]) + np.int64(second[c + two[v, j]])
                cost += np.int64(third[d + three[v, j]]) + np.int64(fourth[e + four[v, j]])
                if cost > limit or cost >= best[0]:
                    continue
                head = (places, digits)
                _finish_sums(columns, tables, rows, shifts, limits, q, head, v, j, cost, best)
        done += 1
        changed = next_head(places, digits, n, values)
        if changed < 0:
            break
    return done, tried


@compiled
def _finish_sums(
    columns: Any,
    tables: Any,
    rows: Any,
    shifts: Any,
    limits: Any,
    q: int,
    head: Any,
    v: int,
    j: int,
    cost: Any,
    best: Any,
) -> None:
    """Add the costs of all further samples, and keep the candidate if it is the best so far."""
    places, digits = head
    weight = len(places)
    last = columns[v, j]
    for i in range(AHEAD, columns.shape[2]):
        total = shifts[i] + last[i]
        for k in range(weight):
            total += columns[digits[k], places[k], i]
        cost += np.int64(tables[rows[i], total % q])
        if cost > limits[i] or cost >= best[0]:
            return
    best[0] = cost
    for k in range(weight):
        best[1 + k] = places[k]
        best[2 + weight + k] = digits[k]
    best[1 + weight] = j
    best[2 + 2 * weight] = v


@compiled
def search_parities(
    columns: Any, codes: Any, limits: Any, places: Any, count: int, best: Any
) -> Any:
    """Try all parities whose places but the last are `places`, for `count` places in turn.

    columns: (n, words) uint64, a bit for a sample; codes (words,); limits (words,), what the first
    words may differ by. best: differences, then the places, of the best so far; replaced.
    Returns the numbers of places done and of candidates tried.
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
    """Count the differences in all further words, and keep the candidate if it is the best."""
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
    """Add the costs of a pair, with the samples of the key last; -1 above a limit."""
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
