"""Meeting in the middle: a table of one half of the secret, looked up by the other.

Idea: <a, s> = <a, s1> + <a, s2>; sums of one half are stored under a label, the first j bits of
each of c sums, and the other half looks up the labels that its sums and an error may have.

Success: a split of a sparse secret puts half of its weight in each half; splits are drawn until one
does with probability S. The samples leave no other candidate with probability S.

Cost: L + R (1 + W 2^j/q)^c (1 + L 2^-jc) operations for tables of L and R entries, errors in a
range of W + 1 values: an exact expectation.

Searched: all j; c, in which it is a sum of exponentials, hence convex.

Heuristics: none; a Gaussian error counts with the whole range in which its mass lies.

Source: [HS06]
"""

import math
from collections.abc import Sequence
from math import log2

import numpy as np

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack
from hardness.lwe.success import log_repetitions
from instances.symmetric import log_binomial

_MOST_BITS = 4096  # of a coordinate that label a table's entries


@attack("meet-in-the-middle", "exact count", "HS06")
def meet_in_the_middle(parameters: LweParameters, setting: Setting) -> Fields:
    """Count entries, lookups and matches of a split of the coordinates, and the splits.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> from hardness.lwe.models import ROUGH
    >>> split = meet_in_the_middle(parse_parameters("lwr:n=40,q=64,p=4,secret=binary,h=6"), ROUGH)
    >>> round(split.rop, 2)
    19.62
    """
    if parameters.error is not None and parameters.q == 2:
        reason = "noisy bits: the halves of a sum cannot be matched"
        raise NoEstimate(reason)
    law = parameters.secret
    counts = [count for _, count in law.counts] or [law.weight or 0] * bool(law.weight)
    left, right, rarity = halves(parameters.n, counts, 1 if law.counts else law.alphabet)
    each, needed, labelled = 0.0, parameters.single(setting.success), ""
    tries = float(log_repetitions(-rarity * math.log(2), setting.success))
    if parameters.error is not None:
        ln_wrong = math.log(parameters.error.high - parameters.error.low) - parameters.ln_q
        each, bits, count = near_matches(left, ln_wrong, parameters.log2_q, parameters.rows)
        needed = max(needed, count)
        labelled = f"; a label is the first {bits} bits of {count} sums"
        if not count:
            labelled = "; errors are so wide that every pair of halves is compared"
    return {
        "rop": float(np.logaddexp2(left, right + each)) + tries,
        "mem": left,
        "repetitions": tries,
        "sample_bits": log2(needed),
        "search": "bits of a label: exhaustive; sums: convex",
        "note": "one operation an entry, a lookup and a match" + labelled,
    }


def halves(n: int, counts: Sequence[int], alphabet: int) -> tuple[float, float, float]:
    """Compute log2 of both tables' entries, and of the splits that are tried on average.

    Coordinates are split at random in halves of n//2 and n - n//2. Of counts h of entries that are
    not 0, of `alphabet` values each, a half of each has to fall into the first half; without counts
    entries are independent.

    >>> [round(2**bits, 6) for bits in halves(8, [2], 1)]
    [4.0, 4.0, 1.75]
    >>> [round(2**bits, 6) for bits in halves(5, [], 1)]
    [4.0, 8.0, 1.0]
    """
    first, second = n // 2, n - n // 2
    if not counts:
        return first * log2(alphabet + 1), second * log2(alphabet + 1), 0.0
    left = np.diff(np.cumsum(counts) // 2, prepend=0).tolist()  # of odd ones every other
    right = [h - part for h, part in zip(counts, left, strict=True)]
    tries = log2_places(n, counts) - log2_places(first, left) - log2_places(second, right)
    values = log2(alphabet)
    return (
        log2_places(first, left) + sum(left) * values,
        log2_places(second, right) + sum(right) * values,
        max(0.0, tries),
    )


def log2_places(n: int, counts: Sequence[int]) -> float:
    """Compute log2 of how many ways counts of entries stand among n.

    >>> round(2 ** log2_places(5, [2, 1]), 6)
    30.0
    """
    before = np.append(0, np.cumsum(counts))[:-1]
    return float(np.sum(log_binomial(n - before, np.asarray(counts)))) / math.log(2)


def near_matches(
    left: float, ln_wrong: float, log2_q: float, rows: int | None
) -> tuple[float, int, int]:
    """Find how sums are labelled for the fewest lookups and matches of a second half.

    left: log2 of the entries of the table. ln_wrong: ln of W/q, an error lying in a range of W + 1
    values. A label is the part of Z_q, of 2^j in a row, that each of k sums lies in. The error
    crosses W 2^j/q borders on average: a second half looks up (1 + W 2^j/q)^k labels, each of which
    2^(left - jk) entries bear. Returned are log2 of lookups and matches, j and k. In k this is a
    sum of exponentials, which is convex; every j is tried.

    >>> cost, bits, count = near_matches(20.0, math.log(16 / 3329), math.log2(3329), None)
    >>> round(cost, 2), bits, count
    (0.38, 2, 13)
    """
    j = np.arange(1, min(_MOST_BITS, math.floor(log2_q)) + 1)
    crossed = np.logaddexp(0.0, ln_wrong + j * math.log(2))  # ln of a coordinate's lookups
    ln_parts, ln_left = j * math.log(2), left * math.log(2)
    gain = ln_parts - crossed
    enough = np.ceil((left + 64) / j)  # beyond it there are no matches
    if rows is not None:
        enough = np.minimum(enough, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = (ln_left + np.log(gain) - np.log(crossed)) / ln_parts
    top = np.clip(np.nan_to_num(top, nan=0.0), 0, enough)
    k = np.concatenate([np.floor(top), np.ceil(top)])
    j, crossed, ln_parts = np.tile(j, 2), np.tile(crossed, 2), np.tile(ln_parts, 2)
    cost = k * crossed + np.logaddexp(0.0, ln_left - k * ln_parts)
    best = int(np.argmin(cost))
    return float(cost[best]) / math.log(2), int(j[best]), int(k[best])
