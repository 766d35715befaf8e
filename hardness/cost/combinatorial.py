"""Attacks without lattices: every secret in turn, halves that meet in the middle, elimination.

Elimination solves equations without error, or equations that happen to have none [EKM17]. With
probability C(k,h)/C(n,h), k coordinates hold all h entries of the secret that are not 0. With
probability (1 - eta)^(k+4), k + 4 samples have no error. Both are guessed until a solution fits.
The number of trials is least near k = h/-ln(1 - eta); the work counts k^3 for each.
"""

import math
from collections.abc import Sequence
from functools import partial
from math import log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from hardness.cost.problem import Problem
from hardness.cost.record import EXACT_BELOW, Estimate
from hardness.cost.reduction import Setting
from hardness.cost.success import log_repetitions
from instances.symmetric import log_binomial

_MOST_BITS = 4096  # of a coordinate that label a table's entries
_MOST_ROWS = 1 << 24  # of which those without error are counted
_WIDE = 12  # deviations about the mean of how many those are
_SMALL, _LEAST, _CLOSE = -30.0, 1e-12, 1e-6
SPARE = 4  # samples beyond k, that make a solution unique


def log2_binomial(n: ArrayLike, k: ArrayLike) -> Any:
    """Compute log2 of C(n, k), minus infinity where k is not from 0 to n: of arrays as well."""
    return log_binomial(n, k) / math.log(2)


def brute_force(problem: Problem, setting: Setting) -> Estimate:
    """Count the candidates, exactly, and the labels that single one out. [information]

    >>> from hardness.cost.problem import problem
    >>> from hardness.cost.reduction import ROUGH
    >>> from instances import parse
    >>> found = brute_force(problem(parse("parity:d=101,m=4")), ROUGH)
    >>> round(2**found.rop), found.samples
    (3921225, 29)
    """
    return Estimate(
        name="brute-force",
        kind="exact count",
        source="information",
        rop=problem.size_bits,
        space=problem.size_bits,
        mem=log2(max(1, problem.n)),
        sample_bits=log2(problem.single(setting.success)),
        search="nothing is free",
        note="one operation a candidate; samples that leave no other candidate",
    )


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
    return float(np.sum(log2_binomial(n - before, np.asarray(counts))))


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


def meet_in_the_middle(problem: Problem, setting: Setting) -> Estimate:
    """Count entries, lookups and matches of a split of the coordinates, and the splits. [HS06]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import ROUGH
    >>> found = meet_in_the_middle(read("lwr:n=40,q=64,p=4,secret=binary,h=6"), ROUGH)
    >>> round(found.rop, 2)
    19.62
    """
    estimate = partial(Estimate, name="meet-in-the-middle", kind="exact count", source="HS06")
    if problem.error is not None and problem.q == 2:
        reason = "noisy bits: the halves of a sum cannot be matched"
        return estimate(reason=reason)
    law = problem.secret
    counts = [count for _, count in law.counts] or [law.weight or 0] * bool(law.weight)
    left, right, rarity = halves(problem.n, counts, 1 if law.counts else law.alphabet)
    each, needed, labelled = 0.0, problem.single(setting.success), ""
    tries = float(log_repetitions(-rarity * math.log(2), setting.success))
    if problem.error is not None:
        ln_wrong = math.log(problem.error.high - problem.error.low) - problem.ln_q
        each, bits, count = near_matches(left, ln_wrong, problem.log2_q, problem.rows)
        needed = max(needed, count)
        labelled = f"; a label is the first {bits} bits of {count} sums"
        if not count:
            labelled = "; errors are so wide that every pair of halves is compared"
    return estimate(
        rop=float(np.logaddexp2(left, right + each)) + tries,
        mem=left,
        repetitions=tries,
        sample_bits=log2(needed),
        search="bits of a label: exhaustive; sums: convex",
        note="one operation an entry, a lookup and a match" + labelled,
    )


# ---- elimination


def linear_algebra(problem: Problem, _: Setting) -> Estimate:
    """Count n^3 operations on n samples. [Gaussian elimination: information]

    >>> from hardness.cost.problem import problem
    >>> from hardness.cost.reduction import ROUGH
    >>> from instances import parse
    >>> linear_algebra(problem(parse("parity:d=65,m=7")), ROUGH).rop
    18.0
    """
    estimate = partial(
        Estimate, name="linear-algebra", kind="asymptotic formula", source="information"
    )
    if problem.error is not None:
        reason = "the labels have errors or are rounded"
        return estimate(reason=reason)
    return estimate(
        rop=3 * log2(problem.n),
        mem=2 * log2(problem.n),
        sample_bits=log2(problem.n),
        search="nothing is free",
        note="n^3 operations on n samples",
    )


def lucky_bits(problem: Problem, k: int, spare: int, success: float) -> float:
    """Compute log2 of the trials until k places hold the weight, and k + spare rows have no error.

    Trials draw from all rows there are. If Z of them have no error, one is lucky with probability
    C(Z, k + spare)/C(rows, k + spare). What many trials achieve is averaged over Z: that rises with
    the rows, up to what fresh rows achieve. It is infinite if too few rows have no error.

    >>> from hardness.cost.problem import read
    >>> lone = "lwe:n=2,q=97,error=[0:0.9,1:0.1],secret=ternary"
    >>> [2 ** lucky_bits(read(lone, m), 2, 0, 0.95) for m in (2, 3, 4, None)]
    [inf, 6.0, 4.0, 2.0]
    """
    law, rows, count = problem.error, problem.rows, k + spare
    assert law is not None
    h = problem.secret.weight or 0
    ln_places = float(log_binomial(k, h) - log_binomial(problem.n, h))
    if rows is None or law.weight is not None:
        none = np.full(count, law.zero)
        if rows is not None and law.weight is not None:  # so many errors among all rows
            i = np.arange(float(count))
            none = np.maximum(0.0, 1 - law.weight / np.maximum(rows - i, 1.0))
        if not none.all():
            return math.inf
        return float(log_repetitions(ln_places + np.log(none).sum(), success))
    rows = min(rows, _MOST_ROWS)
    mean, wide = rows * law.zero, _WIDE * math.sqrt(rows * law.zero * (1 - law.zero)) + _WIDE
    z = np.arange(max(count, math.floor(mean - wide)), min(rows, math.ceil(mean + wide)) + 1)
    share = binom.pmf(z, rows, law.zero)
    if share.sum() < success:
        return math.inf
    ln_lucky = ln_places + log_binomial(z, count) - log_binomial(rows, count)
    with np.errstate(divide="ignore"):  # ln of -ln(1 - p), of each trial
        exact = np.log(-np.log1p(-np.exp(np.minimum(ln_lucky, -_LEAST))))
    ln_lucky = np.where(ln_lucky > _SMALL, exact, ln_lucky)

    def suffices(bits: float) -> bool:
        tried = np.minimum(bits * math.log(2) + ln_lucky, -_SMALL)
        return bool(share @ -np.expm1(-np.exp(tried)) >= success)

    low, high = 0.0, 64 - float(ln_lucky.min()) / math.log(2)
    if suffices(low):
        return low
    while high - low > _LEAST:
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high if high > EXACT_BELOW else log2(math.ceil(2**high - _CLOSE))


def best_size(n: int, h: int, rate: float) -> int:
    """Find the k in h .. n of the least work; n where the weight h is not known (0)."""
    if not h:
        return n
    k = np.arange(h, n + 1)
    growth = np.log(k[1:] / (k[1:] - h))  # C(k, h) = C(k - 1, h) k/(k - h)
    places = np.concatenate([[0.0], np.cumsum(growth)])
    work = -places - (k + SPARE) * math.log1p(-rate) + 3 * np.log(k)
    return int(k[np.argmin(work)])


def restricted_elimination(problem: Problem, setting: Setting) -> Estimate:
    """Count the trials that succeed as often as asked, exactly, times k^3.

    >>> from hardness.cost.problem import problem
    >>> from hardness.cost.reduction import ROUGH
    >>> from instances import parse
    >>> found = restricted_elimination(problem(parse("parity:d=200,m=8,noise=0.02")), ROUGH)
    >>> round(found.rop, 1), found.d
    (31.0, 199)
    """
    estimate = partial(Estimate, name="restricted-elimination", kind="exact count", source="EKM17")
    n, h, error = problem.n, problem.secret.weight or 0, problem.error
    if error is None or error.zero <= 1 / 2:
        many = "at least half of the samples have errors"
        return estimate(reason=many if error else "no error: linear algebra does it")
    k = best_size(n, h, 1 - error.zero)
    trials = lucky_bits(problem, k, SPARE, setting.success)
    if trials == math.inf:
        return estimate(reason=f"too few of {problem.samples} samples have no error")
    return estimate(
        rop=trials + 3 * log2(k),
        mem=2 * log2(k),
        repetitions=trials,
        d=k,
        sample_bits=log2(k + SPARE + problem.single(setting.success)),
        search="exhaustive over k",
        note=f"k = {k} coordinates guessed, 2^{trials:.1f} trials of k^3 operations; the samples "
        "are the least: trials draw from a pool of some thousand",
    )
