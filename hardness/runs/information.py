"""How many examples tell one of M noisy parities from the others: bounds from below and above.

An example is open where z_0 = -1: its label then is the parity's, flipped with probability `noise`.
An example of the layer is open with probability 1/2, whatever the parity. The hidden one of M >= 2
parities is uniform; `success` is the chance to name it. A hypothesis of relative risk below 1/2
names it too. docs/named-mathematics.md, section 16, has the proofs.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

MOST_OPEN = 1 << 20  # open examples: beyond them the sums over flips take long

Floats = NDArray[np.float64]
Bound = Callable[[int, float, int], float]  # of (members, noise, open examples): a chance


def fano(size: int, noise: float, success: float) -> float:
    """Bound from below the open examples of any learner, by Fano's inequality. [CT06]

    An open label tells 1 - h(noise) bits at most, and log2 M - h(success) - (1 - success)
    log2(M - 1) are needed.

    >>> round(fano(math.comb(99, 4), 0.1, 2 / 3), 1)
    25.7
    """
    from scipy.special import entr

    unsure, noisy = (float(entr([p, 1 - p]).sum()) / math.log(2) for p in (success, noise))
    bits = math.log2(size) - unsure - (1 - success) * math.log2(size - 1)
    return max(0.0, bits) / (1 - noisy)


def success_at_most(size: int, noise: float, examples: int) -> float:
    """Bound from above the chance of any learner to name the hidden one, from open examples.

    It is the power of the best test of false alarm 1/M between the hidden parity's labels and
    coins, by the number of labels that differ: the converse of [PPV10], here exactly computed.

    >>> success_at_most(4, 0.0, 1), success_at_most(4, 0.0, 2)
    (0.5, 1.0)
    """
    flips, coins = log_pmf(examples, noise), log_pmf(examples, 0.5)
    alarm, allowed = np.logaddexp.accumulate(coins), -math.log(size)
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
    nearer = np.logaddexp.accumulate(log_pmf(examples, 0.5))
    lost = np.exp(log_pmf(examples, noise) + np.minimum(0.0, math.log(size - 1) + nearer)).sum()
    return max(0.0, 1 - float(lost))


# Bounds on the chance, each with the side to which the number of open examples is rounded: chances
# do not fall with it, so a bound then claims less.
BOUNDS: dict[Bound, Callable[[float], int]] = {
    success_at_most: math.ceil,
    success_at_least: math.floor,
}


def least_open(size: int, noise: float, success: float, bound: Bound) -> int:
    """Find the open examples from which a bound on the chance is at least `success`.

    Raises UsageError where they are more than 2^20, or nearly so.

    >>> least_open(math.comb(99, 4), 0.1, 2 / 3, success_at_most)
    40
    >>> least_open(math.comb(99, 4), 0.1, 2 / 3, success_at_least)
    44
    """
    require_few(size, noise, success)
    high = 1
    while bound(size, noise, high) < success:
        high *= 2
    return bisect_left(range(high), success, high // 2 + 1, key=partial(bound, size, noise))


def least_of_layer(size: int, noise: float, success: float, bound: Bound) -> int:
    """Count the examples of the layer from which a bound on the chance is at least `success`.

    It is the mean of the bound over the number of open ones, a binomial one, that has to reach
    `success`. With `success_at_most` no learner names the hidden parity from fewer; with
    `success_at_least` maximum likelihood does from so many. Raises UsageError as `least_open` does.

    >>> least_of_layer(math.comb(199, 8), 0.02, 2 / 3, success_at_most)
    106
    >>> least_of_layer(math.comb(199, 8), 0.02, 2 / 3, success_at_least)
    113
    """
    start = 2 * least_open(size, noise, success, bound)
    step = max(1, math.isqrt(start) // 8)  # 1 where they are few
    known, rounded = cache(partial(bound, size, noise)), BOUNDS[bound]

    def mean(examples: int) -> float:
        spread = 4 * math.isqrt(examples) + 4  # eight standard deviations
        first, last = max(0, examples // 2 - spread), min(examples, examples // 2 + spread)
        chances = np.exp(log_pmf(examples, 0.5)[first : last + 1])
        every = [known(rounded(count / step) * step) for count in range(first, last + 1)]
        return float(chances @ np.array(every))

    stride = math.isqrt(start) + 1
    low = high = start
    while mean(high) < success:
        low, high = high, high + stride
    while low > 0 and mean(low) >= success:
        low, high = max(0, low - stride), low
    return bisect_left(range(high), success, low + 1, key=mean)


def log_pmf(count: int, rate: float) -> Floats:
    """Compute ln P(Binomial(count, rate) = e) for e = 0 .. count: (count + 1,).

    It is scipy.stats.binom.logpmf, without its checks.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    e = np.arange(count + 1.0)
    ways: Floats = gammaln(count + 1) - gammaln(e + 1) - gammaln(count - e + 1)
    return ways + xlogy(e, rate) + xlog1py(count - e, -rate)


def require_few(size: int, noise: float, success: float) -> None:
    """Refuse rates of noise so near to 1/2 that sums over flips are long; raises UsageError."""
    if fano(size, noise, success) > MOST_OPEN / 2:
        raise UsageError(
            f"noise={noise:g} given: over 2^19 open examples are needed to tell members apart, and "
            "the map is drawn up to there: lower the noise"
        )
