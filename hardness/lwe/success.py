"""One probability of success for all attacks: how often they are repeated, how much they collect.

What an attack draws anew, a basis or a choice of places, it repeats K times, so that
1 - (1 - P)^K is the probability asked for. Scores of M wrong guesses, each normal, stay below that
of the right one as often where N = (sqrt(2 ln(M/(1 - S))) + z)^2/2 times e^D values are summed up,
z being the quantile of S: the first root bounds the largest of M, the second is what the right one
may lose. At S = 1/2 that is e^D ln(2 M), as [MATZOV22] has it.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]

SUCCESS = 0.99  # where nothing else is asked for
_LEAST = 1e-12  # of probabilities that 1 - P keeps
_LN2 = math.log(2)


def log_repetitions(ln_prob: ArrayLike, success: float) -> Array:
    """Compute log2 of the repetitions until one succeeds as often as asked, a whole number.

    >>> log_repetitions(np.log([0.99, 0.3, 2.0**-80]), 0.99).round(2).tolist()
    [0.0, 3.7, 82.2]
    """
    ln_prob = np.asarray(ln_prob, float)
    prob = np.exp(np.minimum(ln_prob, 0.0))
    few = math.log1p(-success) / np.log1p(-np.clip(prob, _LEAST, success))
    many = math.log2(-math.log1p(-success)) - ln_prob / _LN2
    return np.where(prob > _LEAST, np.log2(np.ceil(few - 1e-9)), many)


def log_single(log2_guesses: ArrayLike, success: float) -> Array:
    """Compute log2 of the factor to e^D that singles the right one out of 2^log2_guesses.

    >>> [round(float(log_single(100.0, s)), 2) for s in (0.5, 0.99)]
    [6.13, 6.71]
    """
    ln_wrong = np.asarray(log2_guesses, float) * _LN2 - math.log1p(-success)
    found: Array = 2 * np.log2(np.sqrt(2 * ln_wrong) + ndtri(success)) - 1
    return found


def log_distinguishing(success: float) -> float:
    """Compute log2 of the factor that tells one score from that of noise, both as often as asked.

    >>> round(log_distinguishing(0.99), 2)
    3.44
    """
    return 1 + 2 * math.log2(max(ndtri(success), 2.0**-20))
