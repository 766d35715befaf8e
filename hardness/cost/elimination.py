"""Gaussian elimination: of equations without error, and of noisy bits of which some are guessed.

For noisy parities [EKM17]: k coordinates hold all h ones of the secret with probability
C(k,h)/C(n,h), and k + 4 labels are free of flips with probability (1 - eta)^(k+4). Both are guessed
until a solution fits. The number of trials is least near k = h/-ln(1 - eta); the work counts k^3
for each.
"""

import math
from functools import partial
from math import log2

import numpy as np

from hardness.cost.problem import Problem
from hardness.cost.record import Estimate
from hardness.cost.reduction import Setting
from hardness.cost.success import log_repetitions

SPARE = 4  # labels beyond k, that make a solution unique


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
        sample_bits=log2(problem.n * problem.labels),
        search="nothing is free",
        note="n^3 operations on n samples"
        + ("; finds the secret up to a factor" if problem.labels > 1 else ""),
    )


def trials_bits(n: int, h: int, k: int, rate: float) -> float:
    """Compute log2 of the expected trials with k coordinates: C(n,h)/C(k,h) (1 - eta)^-(k+4).

    >>> trials_bits(4, 1, 2, 0.0)
    1.0
    """
    guesses = log2(math.comb(n, h)) - log2(math.comb(k, h))
    return guesses - (k + SPARE) * math.log2(1 - rate)


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
    n, h, rate = problem.n, problem.secret.weight or 0, float(problem.noise)
    if problem.q != 2 or problem.error is None or not rate:
        noiseless = "no noise: linear algebra does it"
        reason = "q is not 2" if problem.q != 2 else noiseless
        return estimate(reason=reason)
    k = best_size(n, h, rate)
    trials = float(log_repetitions(-trials_bits(n, h, k, rate) * math.log(2), setting.success))
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
