"""How many examples tell one noisy parity of many from the others: below and above.

An example is open where z_0 = -1: its label then is the parity's, flipped with probability `noise`.
Of an example of the layer that is so with probability 1/2, whatever the parity. M parities, the
hidden one uniform; `success` is the chance to name it. A hypothesis of relative risk below 1/2
names it too. docs/named-mathematics.md has the proofs.
"""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

MOST = 1 << 20  # open examples: beyond them the sums over flips take long

Floats = NDArray[np.float64]


def entropy(rate: float) -> float:
    """Compute the bits of a coin.

    >>> entropy(0.5), round(entropy(0.1), 4)
    (1.0, 0.469)
    """
    if rate in (0, 1):
        return 0.0
    return -rate * math.log2(rate) - (1 - rate) * math.log2(1 - rate)


def fano(size: int, noise: float, success: float) -> float:
    """Bound from below the open examples of any learner, by Fano's inequality. [CT06]

    An open label tells 1 - h(noise) bits at most, and log2 M - h(success) - (1 - success)
    log2(M - 1) are needed.

    >>> round(fano(math.comb(99, 4), 0.1, 2 / 3), 1)
    25.7
    """
    if size < 2:
        return 0.0
    bits = math.log2(size) - entropy(success) - (1 - success) * math.log2(size - 1)
    return max(0.0, bits) / (1 - entropy(noise))


def success_at_most(size: int, noise: float, examples: int) -> float:
    """Bound from above the chance of any learner to name the hidden one, from open examples.

    It is the power of the best test of false alarm 1/M between the hidden parity's labels and
    coins, by the number of labels that differ: the converse of [PPV10], here exactly computed.

    >>> success_at_most(4, 0.0, 1), success_at_most(4, 0.0, 2)
    (0.5, 1.0)
    """
    flips, coins = log_pmf(examples, noise), log_pmf(examples, 0.5)
    alarm = np.logaddexp.accumulate(coins)
    allowed = -math.log(size)
    full = int(np.searchsorted(alarm, allowed + 1e-12, side="right"))  # of these counts all
    power = float(np.exp(flips[:full]).sum())
    if full <= examples:
        used = math.exp(float(alarm[full - 1]) - allowed) if full else 0.0  # of what is allowed
        if used < 1:
            power += math.exp(allowed + math.log1p(-used) + float(flips[full] - coins[full]))
    return min(1.0, power)


def success_at_least(size: int, noise: float, examples: int) -> float:
    """Bound from below the chance of maximum likelihood, ties lost: the union bound.

    Given e flips, each other parity differs from at most e labels with the chance of at most e
    heads among fair coins: 1 - sum_e P(e) min(1, (M - 1) P(Binomial(n, 1/2) <= e)), the union
    bound of [PPV10] for pairwise independent words, as the labels of parities are.

    >>> round(success_at_least(4, 0.0, 2), 9), round(success_at_least(4, 0.0, 4), 9)
    (0.25, 0.8125)
    """
    flips = log_pmf(examples, noise)
    nearer = np.logaddexp.accumulate(log_pmf(examples, 0.5))
    others = math.log(size - 1) if size > 1 else -math.inf
    lost = np.exp(flips + np.minimum(0.0, others + nearer)).sum()
    return max(0.0, 1 - float(lost))


BOUNDS = (success_at_most, success_at_least)


def least(size: int, noise: float, success: float, bound: Callable[..., float]) -> int:
    """Find the open examples from which a bound on the chance is at least `success`.

    Raises UsageError where they are more than 2^20, or nearly so.

    >>> least(math.comb(99, 4), 0.1, 2 / 3, success_at_most)
    40
    >>> least(math.comb(99, 4), 0.1, 2 / 3, success_at_least)
    44
    """
    require_few(size, noise, success)
    high = 1
    while bound(size, noise, high) < success:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(size, noise, middle) >= success else (middle, high)
    return high


def floor_of_layer(size: int, noise: float, success: float) -> int:
    """Count the examples of the layer without which no learner names it with chance `success`.

    The mean of `success_at_most` over the number of open ones among them, a binomial one, has to
    reach it. Raises UsageError as `least` does.

    >>> floor_of_layer(math.comb(199, 8), 0.02, 2 / 3)
    106
    """
    start = 2 * least(size, noise, success, success_at_most)
    step = _step(start)
    bound = cache(partial(success_at_most, size, noise))
    return _least_mean(lambda count: bound(-(-count // step) * step), success, start)


def enough_of_layer(size: int, noise: float, success: float) -> int:
    """Count examples of the layer from which maximum likelihood names it with chance `success`.

    The mean of `success_at_least` over the number of open ones among them has to reach it. Raises
    UsageError as `least` does.

    >>> enough_of_layer(math.comb(199, 8), 0.02, 2 / 3)
    113
    """
    start = 2 * least(size, noise, success, success_at_least)
    step = _step(start)
    bound = cache(partial(success_at_least, size, noise))
    return _least_mean(lambda count: bound(count // step * step), success, start)


def _step(examples: int) -> int:
    """In which steps of open examples a bound is taken, to the side that weakens what is claimed.

    Chances do not fall with the number of open examples. 1 where they are few.
    """
    return max(1, math.isqrt(examples) // 8)


def _least_mean(bound: Callable[[int], float], success: float, start: int) -> int:
    """The least number of examples whose mean bound is at least `success`, near `start`."""

    def mean(examples: int) -> float:
        spread = 4 * math.isqrt(examples) + 4  # eight standard deviations
        first, last = max(0, examples // 2 - spread), min(examples, examples // 2 + spread)
        chances = np.exp(log_pmf(examples, 0.5)[first : last + 1])
        return float(chances @ np.array([bound(count) for count in range(first, last + 1)]))

    stride = math.isqrt(start) + 1
    low = high = start
    while mean(high) < success:
        low, high = high, high + stride
    while low > 0 and mean(low) >= success:
        low, high = max(0, low - stride), low
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if mean(middle) >= success else (middle, high)
    return high


def require_few(size: int, noise: float, success: float) -> None:
    """Refuse rates of noise so near to 1/2 that sums over flips are long; raises UsageError."""
    if fano(size, noise, success) > MOST / 2:
        raise UsageError(
            f"noise={noise:g} given: over 2^19 open examples are needed to tell members apart, and "
            "the map is drawn up to there: lower the noise"
        )


def log_pmf(count: int, rate: float) -> Floats:
    """Compute ln P(Binomial(count, rate) = e) for e = 0 .. count: (count + 1,)."""
    from scipy.special import gammaln

    e = np.arange(count + 1.0)
    out: Floats = gammaln(count + 1) - gammaln(e + 1) - gammaln(count - e + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(e > 0, e * np.log(rate), 0.0)
        tails = np.where(e < count, (count - e) * np.log1p(-rate), 0.0)
    return out + heads + tails
