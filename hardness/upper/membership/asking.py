"""Membership queries with noisy answers: asked again and again, as often as a confidence needs."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ValueOracle
from instances.capabilities import QUESTIONS, REAL_LABELS
from instances.family import Family, require
from instances.questions import HiddenFunction

Array = NDArray[np.float64]

MOST = 1 << 26  # values of a run: minutes
LARGEST_D = 256  # of layers: 65,536 values, and seconds
_NUMBERS = 1 << 22  # in the tokens of a call
_DROWNED = 2.0**50  # what labels are longer than noise, where tokens may be of any length


def averaged(oracle: ValueOracle, x: NDArray[Any], times: int = 1) -> Array:
    """Ask for labels of each of the tokens (n, k, d) so many times; returns the means (n, k, d)."""
    out = np.empty(x.shape)
    calls = max(1, _NUMBERS // (times * x[0].size)) if len(x) else 1
    for start in range(0, len(x), calls):
        part = x[start : start + calls]
        total = np.zeros(part.shape)
        most = max(1, _NUMBERS // part.size)  # times in a call
        for first in range(0, times, most):
            again = min(most, times - first)
            answers = oracle.value(np.tile(part, (again, 1, 1)))
            total += answers.reshape(again, *part.shape).sum(axis=0)
        out[start : start + calls] = total / times
    return out


def read_values(oracle: ValueOracle, hidden: HiddenFunction, z: NDArray[np.int8]) -> Array:
    """Ask once for a hidden function at each of the points z (n, places): (n,)."""
    out = np.empty(len(z))
    at_once = max(1, _NUMBERS // hidden.tokens(z[:1]).size)
    for start in range(0, len(z), at_once):
        x = hidden.tokens(z[start : start + at_once])
        out[start : start + at_once] = hidden.read(x, oracle.value(x))
    return out


def decided_values(
    oracle: ValueOracle, hidden: HiddenFunction, z: NDArray[np.int8], times: int
) -> Array:
    """Ask so many times; of the two values that noise leaves the more frequent counts: (n,)."""
    low, high, total = np.full(len(z), np.inf), np.full(len(z), -np.inf), np.zeros(len(z))
    most = max(1, _NUMBERS // z.size)  # times at once
    for first in range(0, times, most):
        again = min(most, times - first)
        values = read_values(oracle, hidden, np.tile(z, (again, 1))).reshape(again, len(z))
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        total += values.sum(axis=0)
    return np.where(2 * total > times * (low + high), high, low)


def times_for_flips(questions: int, noise: float, confidence: float) -> int:
    """Count how often to ask so that the majority is right on all questions.

    An answer is wrong with probability noise < 1/2, independently; at least half of n are with
    probability at most (2 sqrt(noise (1 - noise)))^n. [Hoe63, theorem 1]

    >>> times_for_flips(1000, 0.1, 0.99), times_for_flips(1000, 0.0, 0.99)
    (23, 1)
    """
    if not noise:
        return 1
    rate = -math.log(2 * math.sqrt(noise * (1 - noise)))
    return math.ceil(math.log(questions / (1 - confidence)) / rate)


def times_for_normal(numbers: int, noise: float, error: float, confidence: float) -> int:
    """Count how often to ask so that all means of so many numbers are within error of the truth.

    noise: the standard deviation of one answer, normal.

    >>> times_for_normal(100, 0.1, 0.01, 0.99), times_for_normal(100, 0.0, 0.01, 0.99)
    (1514, 1)
    """
    from scipy.special import ndtri

    return max(1, math.ceil((ndtri((1 - confidence) / (2 * numbers)) * noise / error) ** 2))


def too_many(values: float, advice: str) -> str | None:
    """Return in a line that a run would ask too many values, and what lowers it, or None."""
    if values <= MOST:
        return None
    return f"it would ask {values:.3g} values, at most {MOST} are asked: {advice}"


def require_confidence(given: float) -> None:
    """Refuse a confidence that is none; raises UsageError."""
    require(0 < given < 1, f"confidence={given} given: above 0 and below 1")


def no_layer(family: Family) -> str | None:
    """Return why a family's labels are not those of a softmax layer on any tokens, or None."""
    asked = QUESTIONS.of(family)
    if asked is None or not REAL_LABELS.of(family):
        return QUESTIONS.missing(family) or REAL_LABELS.missing(family)
    if family.kind != "softmax":
        return "it reads softmax attention; `lifted` learns linear attention"
    if asked.fixed:
        return "some entries of its tokens are public and may not be chosen"
    if family.d > LARGEST_D:
        return f"d={family.d} is too large: at most {LARGEST_D}"
    return None


def length(family: Family) -> float:
    """Choose the length of real tokens beside which noise of the labels is rounding."""
    return max(1.0, _DROWNED * float(family.noise))
