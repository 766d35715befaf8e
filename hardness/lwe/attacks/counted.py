"""Attacks without lattices whose operations are counted."""

import math
from collections.abc import Sequence
from math import ceil, log2

import numpy as np
from scipy.stats import binom

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import EXACT_BELOW, Fields, NoEstimate, attack
from hardness.lwe.success import log_repetitions
from instances.symmetric import log_binomial

_MOST_BITS = 4096  # of each sum in the label of a table's entry
_MOST_ROWS = 1 << 24  # samples for which the number without error is averaged
_WIDE = 12  # deviations around the mean of that number
_SMALL, _LEAST, _CLOSE = -30.0, 1e-12, 1e-6
SPARE_SAMPLES = 4  # samples beyond k, which make a solution unique


@attack("brute-force", "exact count", "information")
def brute_force(parameters: LweParameters, setting: Setting) -> Fields:
    """Exhaustive search: try every secret.

    Idea: each candidate is compared with the samples.

    Success: certain; the samples leave no other candidate with probability S, by the union bound.

    Cost: one operation for each candidate, an exact count.

    Searched: nothing.

    Heuristics: none.

    Source: [information]

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parameters_of
    >>> from instances import parse
    >>> count = brute_force(parameters_of(parse("parity:d=101,m=4")), ROUGH)
    >>> round(2**count.rop), count.samples
    (3921225, 29)
    """
    return {
        "rop": parameters.size_bits,
        "space": parameters.size_bits,
        "mem": log2(max(1, parameters.n)),
        "sample_bits": log2(parameters.single(setting.success)),
        "search": "nothing is free",
        "note": "one operation a candidate; samples that leave no other candidate",
    }


@attack("linear-algebra", "asymptotic formula", "information")
def linear_algebra(parameters: LweParameters, setting: Setting) -> Fields:
    """Gaussian elimination on labels without error.

    Idea: samples are linear equations.

    Success: S. Among n + k samples there are n that are independent mod a prime p, except with
    probability below p^-k/(p - 1). Summed over all primes this is at most 2^(1-k), and over odd
    ones at most 3^-k. k is the least for which this bound, for even or odd q, is at most 1 - S.

    Cost: n^3 operations.

    Searched: nothing.

    Heuristics: none.

    Source: [information]

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parameters_of
    >>> from instances import parse
    >>> linear_algebra(parameters_of(parse("parity:d=65,m=7")), ROUGH).rop
    18.0
    """
    if parameters.error is not None:
        raise NoEstimate("the labels have errors or are rounded")
    misses = -log2(1 - setting.success)
    spare = ceil(misses / log2(3)) if parameters.q % 2 else ceil(misses) + 1
    return {
        "rop": 3 * log2(parameters.n),
        "mem": 2 * log2(parameters.n),
        "sample_bits": log2(parameters.n + spare),
        "search": "nothing is free",
        "note": f"n^3 operations; {spare} samples more than n, for n independent ones",
    }


@attack("meet-in-the-middle", "exact count", "HS06")
def meet_in_the_middle(parameters: LweParameters, setting: Setting) -> Fields:
    """Meeting in the middle: a table of one half of the secret is searched by the other half.

    Idea: <a, s> = <a, s1> + <a, s2>. The sums of one half are stored under a label, the first j
    bits of each of c sums. The other half looks up all labels that its sums and an error may give.

    Success: a split of a sparse secret must put half of the weight into each half. Splits are drawn
    until one does, with probability S. The samples leave no other candidate with probability S.

    Cost: L + R (1 + W 2^j/q)^c (1 + L 2^-jc) operations for tables of L and R entries and errors in
    a range of W + 1 values. This is an exact expectation.

    Searched: all j, and c, in which the cost is a sum of exponentials and so convex.

    Heuristics: none. For a Gaussian error, the range is the whole interval of `Law`.

    Source: [HS06]

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
    """Compute log2 of the entries of both tables, and of the expected number of splits.

    Coordinates are split at random into n//2 and n - n//2. counts: numbers of entries with each
    value, or of those that are not 0 with `alphabet` values; half of each number must be in the
    first part. Without counts, entries are independent and every split is right.

    >>> [round(2**bits, 6) for bits in halves(8, [2], 1)]
    [4.0, 4.0, 1.75]
    >>> [round(2**bits, 6) for bits in halves(5, [], 1)]
    [4.0, 8.0, 1.0]
    """
    first, second = n // 2, n - n // 2
    if not counts:
        return first * log2(alphabet + 1), second * log2(alphabet + 1), 0.0
    # Halves of odd counts are rounded down and up in turn.
    left = np.diff(np.cumsum(counts) // 2, prepend=0).tolist()
    right = [h - part for h, part in zip(counts, left, strict=True)]
    tries = log2_places(n, counts) - log2_places(first, left) - log2_places(second, right)
    values = log2(alphabet)
    return (
        log2_places(first, left) + sum(left) * values,
        log2_places(second, right) + sum(right) * values,
        max(0.0, tries),
    )


def log2_places(n: int, counts: Sequence[int]) -> float:
    """Compute log2 of the number of placements of counts of entries among n coordinates.

    >>> round(2 ** log2_places(5, [2, 1]), 6)
    30.0
    """
    before = np.append(0, np.cumsum(counts))[:-1]
    return float(np.sum(log_binomial(n - before, np.asarray(counts)))) / math.log(2)


def near_matches(
    left: float, ln_wrong: float, log2_q: float, rows: int | None
) -> tuple[float, int, int]:
    """Choose labels with the fewest lookups and matches: return log2 of these, j and k.

    left: log2 of the entries of the table. ln_wrong: ln of W/q, for errors in a range of W + 1
    values. Z_q is divided into 2^j intervals, and the label has the interval of each of k sums. The
    error crosses W 2^j/q borders on average. So a second half looks up (1 + W 2^j/q)^k labels, each
    of which 2^(left - jk) entries have. The cost is convex in k, and every j is tried.

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


@attack("restricted-elimination", "exact count", "EKM17")
def restricted_elimination(parameters: LweParameters, setting: Setting) -> Fields:
    """Gaussian elimination on samples and coordinates that are drawn until they have no error.

    Idea: k coordinates and k + 4 samples are drawn until all other entries of the secret are 0 and
    the samples have no error. Then linear algebra solves. Bounds for noisy parities are compared
    with this attack.

    Success: coordinates are right with probability C(k, h)/C(n, h), and samples with
    (1 - eta)^(k + 4). For a limited number of samples, the number of trials is averaged over the
    number of samples without error.

    Cost: k^3 operations for each trial, an exact count of the trials.

    Searched: all k; k = n if the weight is not known.

    Heuristics: none.

    Source: [EKM17]

    >>> from hardness.lwe.parameters import parameters_of
    >>> from hardness.lwe.models import ROUGH
    >>> from instances import parse
    >>> trial = restricted_elimination(parameters_of(parse("parity:d=200,m=8,noise=0.02")), ROUGH)
    >>> round(trial.rop, 1), trial.d
    (31.0, 199)
    """
    n, h, error = parameters.n, parameters.secret.weight or 0, parameters.error
    if error is None or error.zero <= 1 / 2:
        many = "at least half of the samples have errors"
        raise NoEstimate(many if error else "no error: linear algebra does it")
    k = best_size(n, h, 1 - error.zero)
    trials = lucky_bits(parameters, k, SPARE_SAMPLES, setting.success)
    if trials == math.inf:
        raise NoEstimate(f"too few of {parameters.samples} samples have no error")
    return {
        "rop": trials + 3 * log2(k),
        "mem": 2 * log2(k),
        "repetitions": trials,
        "d": k,
        "sample_bits": log2(k + SPARE_SAMPLES + parameters.single(setting.success)),
        "search": "exhaustive over k",
        "note": f"k = {k} coordinates guessed, 2^{trials:.1f} trials of k^3 operations; the "
        "samples are the least: trials draw from a pool of some thousand",
    }


def lucky_bits(parameters: LweParameters, k: int, spare: int, success: float) -> float:
    """Compute log2 of the trials until k coordinates have the weight and k + spare rows no error.

    Trials draw from all available rows. If Z of them have no error, the rows of a trial have none
    with probability C(Z, k + spare)/C(rows, k + spare). The success of many trials is averaged over
    Z, and approaches that of fresh rows as rows increase. The result is infinite if too few rows
    have no error.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> lone = "lwe:n=2,q=97,error=[0:0.9,1:0.1],secret=ternary"
    >>> [2 ** lucky_bits(parse_parameters(lone, m), 2, 0, 0.95) for m in (2, 3, 4, None)]
    [inf, 6.0, 4.0, 2.0]
    """
    law, rows, count = parameters.error, parameters.rows, k + spare
    assert law is not None
    h = parameters.secret.weight or 0
    ln_places = float(log_binomial(k, h) - log_binomial(parameters.n, h))
    if rows is None or law.weight is not None:
        no_error = np.full(count, law.zero)
        if rows is not None and law.weight is not None:  # a fixed number of errors among all rows
            i = np.arange(float(count))
            no_error = np.maximum(0.0, 1 - law.weight / np.maximum(rows - i, 1.0))
        if not no_error.all():
            return math.inf
        return float(log_repetitions(ln_places + np.log(no_error).sum(), success))
    rows = min(rows, _MOST_ROWS)
    mean, wide = rows * law.zero, _WIDE * math.sqrt(rows * law.zero * (1 - law.zero)) + _WIDE
    z = np.arange(max(count, math.floor(mean - wide)), min(rows, math.ceil(mean + wide)) + 1)
    share = binom.pmf(z, rows, law.zero)
    if share.sum() < success:
        return math.inf
    ln_lucky = ln_places + log_binomial(z, count) - log_binomial(rows, count)
    with np.errstate(divide="ignore"):  # ln of -ln(1 - p) for the probability p of a trial
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
    """Find the k in h .. n with the least work; n if the weight h is not known (0)."""
    if not h:
        return n
    k = np.arange(h, n + 1)
    growth = np.log(k[1:] / (k[1:] - h))  # C(k, h) = C(k - 1, h) k/(k - h)
    places = np.concatenate([[0.0], np.cumsum(growth)])
    work = -places - (k + SPARE_SAMPLES) * math.log1p(-rate) + 3 * np.log(k)
    return int(k[np.argmin(work)])
