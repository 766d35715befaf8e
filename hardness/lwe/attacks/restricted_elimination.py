"""Elimination on equations that happen to have no error, in coordinates that hold the secret.

Idea: k coordinates and k + 4 samples are drawn until the others of the secret are 0 and the samples
have no error; then linear algebra solves. It is what bounds for noisy parities stand beside.

Success: places with C(k, h)/C(n, h), samples with (1 - eta)^(k + 4), or what a limited pool of
samples allows: the number of trials averages over how many of them have no error.

Cost: k^3 operations a trial, an exact count of the trials.

Searched: all k; k = n if the weight is not known.

Heuristics: none.

Source: [EKM17]
"""

import math
from math import log2

import numpy as np
from scipy.stats import binom

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import EXACT_BELOW, Fields, NoEstimate, attack
from hardness.lwe.success import log_repetitions
from instances.symmetric import log_binomial

_MOST_ROWS = 1 << 24  # of which those without error are counted
_WIDE = 12  # deviations about the mean of how many those are
_SMALL, _LEAST, _CLOSE = -30.0, 1e-12, 1e-6
SPARE = 4  # samples beyond k, that make a solution unique


@attack("restricted-elimination", "exact count", "EKM17")
def restricted_elimination(parameters: LweParameters, setting: Setting) -> Fields:
    """Count the trials that succeed as often as asked, exactly, times k^3.

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
    trials = lucky_bits(parameters, k, SPARE, setting.success)
    if trials == math.inf:
        raise NoEstimate(f"too few of {parameters.samples} samples have no error")
    return {
        "rop": trials + 3 * log2(k),
        "mem": 2 * log2(k),
        "repetitions": trials,
        "d": k,
        "sample_bits": log2(k + SPARE + parameters.single(setting.success)),
        "search": "exhaustive over k",
        "note": f"k = {k} coordinates guessed, 2^{trials:.1f} trials of k^3 operations; the "
        "samples are the least: trials draw from a pool of some thousand",
    }


def lucky_bits(parameters: LweParameters, k: int, spare: int, success: float) -> float:
    """Compute log2 of the trials until k places hold the weight, and k + spare rows have no error.

    Trials draw from all rows there are. If Z of them have no error, one is lucky with probability
    C(Z, k + spare)/C(rows, k + spare). What many trials achieve is averaged over Z: that rises with
    the rows, up to what fresh rows achieve. It is infinite if too few rows have no error.

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
