"""Laws on a few integers: what secrets and errors of LWE-style instances are drawn from.

A law is exactly what is sampled: its probabilities are multiples of 2^-64, and a value is a
function of one random 64-bit word.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from instances.family import require

_WORDS = 1 << 64
_MAX_SIGMA = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Integers:
    """A law on the integers `values`, ascending; `counts` are out of 2^64 and above 0.

    kind: what such a law is called, as "gaussian".

    >>> coin = integers({0: Fraction(1, 2), 1: Fraction(1, 2)})
    >>> coin.draw(np.array([0, 2**63 - 1, 2**63], np.uint64)).tolist()
    [0, 0, 1]
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]
    kind: str = field(default="", compare=False, repr=False)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The probabilities, exactly."""
        return tuple(Fraction(c, _WORDS) for c in self.counts)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probabilities in float64."""
        return np.array(self.counts, np.float64) / 2.0**64

    def residues(self, q: int) -> Counter[int]:
        """Count, out of 2^64, how often each residue mod q is drawn.

        >>> uniform((0, 4)).residues(4) == {0: 2**64}
        True
        """
        out: Counter[int] = Counter()
        for value, count in zip(self.values, self.counts, strict=True):
            out[value % q] += count
        return out

    @cached_property
    def mean(self) -> float:
        """The mean."""
        return float(self._moment(1))

    @cached_property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self._moment(2) - self._moment(1) ** 2)

    def _moment(self, power: int) -> Fraction:
        pairs = zip(self.values, self.counts, strict=True)
        return Fraction(sum(v**power * c for v, c in pairs), _WORDS)

    @property
    def rms(self) -> float:
        """The root of the mean square."""
        return math.hypot(self.deviation, self.mean)

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        ends, total = [], 0
        for count in self.counts[:-1]:
            total += count
            ends.append(total)
        return np.array(ends, np.uint64)

    def draw(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Turn uniform 64-bit words (...) into values (...)."""
        return np.array(self.values, np.int64)[np.searchsorted(self._ends, words, side="right")]

    def without_zero(self) -> "Integers":
        """Condition on not being 0."""
        kept = {v: w for v, w in zip(self.values, self.weights, strict=True) if v}
        total = sum(kept.values())
        return integers({v: w / total for v, w in kept.items()}, self.kind)


def integers(weights: dict[int, Fraction], kind: str = "") -> Integers:
    """Round probabilities that add up to 1 to multiples of 2^-64; the likeliest takes the rest."""
    counts = {v: math.floor(w * _WORDS) for v, w in sorted(weights.items())}
    likeliest = max(counts, key=lambda v: counts[v])
    counts[likeliest] += _WORDS - sum(counts.values())
    kept = {v: c for v, c in counts.items() if c}
    return Integers(values=tuple(kept), counts=tuple(kept.values()), kind=kind)


def uniform(values: Iterable[int]) -> Integers:
    """Make the uniform law on some integers.

    >>> uniform(range(-1, 2)).values
    (-1, 0, 1)
    """
    found = sorted(values)
    each, rest = divmod(_WORDS, len(found))
    counts = (each + rest, *[each] * (len(found) - 1))  # as `integers` rounds
    return Integers(values=tuple(found), counts=counts, kind="uniform")


def centred_binomial(eta: int) -> Integers:
    """Make the sum of eta coins less the sum of eta others: variance eta/2. [ADPS16]

    >>> centred_binomial(2).deviation
    1.0
    """
    require(1 <= eta <= 64, f"eta={eta} given: a centred binomial takes 1 to 64")
    reach = range(-eta, eta + 1)
    return integers({v: Fraction(math.comb(2 * eta, eta + v), 4**eta) for v in reach}, "cbd")


def gaussian(sigma: Fraction | float) -> Integers:
    """Make the discrete Gaussian, weights exp(-x^2 / (2 sigma^2)), cut where they fall to 2^-64.

    >>> round(gaussian(3).deviation, 9)
    3.0
    """
    s = float(sigma)
    require(
        0 < s <= _MAX_SIGMA,
        f"sigma={s:g} given: a standard deviation above 0, at most {_MAX_SIGMA}",
    )
    reach = math.ceil(s * math.sqrt(2 * 66 * math.log(2))) + 1
    weights = [Fraction(math.exp(-(x * x) / (2 * s * s))) for x in range(reach + 1)]
    whole = weights[0] + 2 * sum(weights[1:])
    return integers({x: weights[abs(x)] / whole for x in range(-reach, reach + 1)}, "gaussian")


def bernoulli(rate: Fraction) -> Integers:
    """Make the bit that is 1 with probability `rate`."""
    return integers({0: 1 - rate, 1: rate}, "flips")
