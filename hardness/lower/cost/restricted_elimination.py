"""Restricted Gaussian elimination for noisy parities: guess where the secret is, and clean labels.

k coordinates hold all h ones of the secret with probability C(k,h)/C(n,h), and k + 4 labels are
free of flips with probability (1 - eta)^(k+4): both are guessed until a solution fits. The number
of trials is least near k = h/-ln(1 - eta); the work counts k^3 for each. [EKM17]
"""

import math
from math import log2

import numpy as np

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate

NAME, SOURCE = "restricted-elimination", "EKM17"
SPARE = 4  # labels beyond k, that make a solution unique


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


def restricted_elimination(problem: Problem) -> Estimate:
    """Count the expected trials, exactly, times k^3.

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> found = restricted_elimination(problem(parse("parity:d=200,m=8,noise=0.02")))
    >>> round(found.bits, 1), found.d
    (28.8, 199)
    """
    n, h, rate = problem.n, problem.secrets.h, float(problem.noise)
    if problem.q != 2 or problem.errors is None:
        reason = "q is not 2" if problem.q != 2 else "no noise: linear algebra does it"
        return Estimate(name=NAME, kind="exact count", source=SOURCE, reason=reason)
    k = best_size(n, h, rate)
    return Estimate(
        name=NAME,
        kind="exact count",
        source=SOURCE,
        bits=trials_bits(n, h, k, rate) + 3 * log2(k),
        d=k,
        sample_bits=log2(k + SPARE + problem.unique),
        memory_bits=2 * log2(k),
        note=f"k = {k} coordinates guessed, 2^{trials_bits(n, h, k, rate):.1f} trials of k^3 "
        "operations; the samples are the least: trials draw from a pool of some thousand",
    )
