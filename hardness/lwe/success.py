"""Bring all attacks to one probability S of success: repetitions, and numbers of values to sum.

An attack that draws something anew, such as a basis or a choice of coordinates, succeeds with
probability P each time. It is repeated K times with 1 - (1 - P)^K = S. Some attacks compare the
score of the right guess with normal scores of M wrong ones. The right score is the largest with
probability S if N = (sqrt(2 ln(M/(1 - S))) + z)^2/2 times e^D values are summed, where z is the
quantile of S. The root bounds the largest of M scores, and z the loss of the right one. At S = 1/2
this is e^D ln(2 M), as in [MATZOV22].
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]

SUCCESS = 0.99  # if the user gives no other probability
_LEAST_PROBABILITY = 1e-12  # below it 1 - P loses digits, and an approximation is used
_LN2 = math.log(2)


def log_repetitions(ln_prob: ArrayLike, success: float) -> Array:
    """Compute log2 of the least number of repetitions of which one succeeds with a probability.

    ln_prob: of one repetition. The number of repetitions is whole if the probability is not tiny.

    >>> log_repetitions(np.log([0.99, 0.3, 2.0**-80]), 0.99).round(2).tolist()
    [0.0, 3.7, 82.2]
    """
    ln_prob = np.asarray(ln_prob, float)
    prob = np.exp(np.minimum(ln_prob, 0.0))
    few = math.log1p(-success) / np.log1p(-np.clip(prob, _LEAST_PROBABILITY, success))
    many = math.log2(-math.log1p(-success)) - ln_prob / _LN2
    return np.where(prob > _LEAST_PROBABILITY, np.log2(np.ceil(few - 1e-9)), many)


def log_single(log2_guesses: ArrayLike, success: float) -> Array:
    """Compute log2 of the factor of e^D in the number of values that identify one of many guesses.

    >>> [round(float(log_single(100.0, s)), 2) for s in (0.5, 0.99)]
    [6.13, 6.71]
    """
    ln_wrong = np.asarray(log2_guesses, float) * _LN2 - math.log1p(-success)
    factor: Array = 2 * np.log2(np.sqrt(2 * ln_wrong) + ndtri(success)) - 1
    return factor


def log_distinguishing(success: float) -> float:
    """Compute log2 of the factor that distinguishes a score from noise, with `success` for both.

    >>> round(log_distinguishing(0.99), 2)
    3.44
    """
    return 1 + 2 * math.log2(max(ndtri(success), 2.0**-20))
