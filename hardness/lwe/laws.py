"""Distributions of the entries of secrets and errors: moments, entropy, guesses, Fourier bias.

Logarithms are stored for numbers that may be beyond float64.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from instances.family import require
from instances.numbers import write
from instances.text import cut

_TABLE = 1 << 12  # a Gaussian up to this deviation is tabulated
_TAIL_DEVIATIONS = math.sqrt(2 * (64 * math.log(2) - math.log(_TABLE * math.sqrt(2 * math.pi))))
_SMALL_ANGLE = 1e-3
_ROUNDING = 1e-12
_WIDEST_SPARSE = 1e150  # largest root mean square, whose square fits float64
_MOST_LN = 700.0  # the exponential of a larger number is beyond float64
_SMALL = {(0, 1): "binary", (-1, 1): "ternary"}


@dataclass(frozen=True, kw_only=True)
class Law:
    """The distribution of an entry of the secret, or of an error.

    ln_deviation: ln of the standard deviation. low, high: the least and the largest value; for a
    Gaussian, where the remaining mass is below 2^-64. values: the number of values. zero: the
    probability of 0. entropy: of an entry, in bits. guesses: log2 of a bound on the expected
    guesses of an entry. log_bias: ln |E exp(2 pi i x/q)|. weight: the exact number of entries that
    are not 0, None if entries are independent. counts: pairs of a value other than 0 and its exact
    number of entries, if these are fixed. mode: the likeliest value, if it is not 0. peak: its
    probability.

    >>> ternary = uniform(-1, 1, q=3329)
    >>> round(ternary.deviation, 3), ternary.alphabet
    (0.816, 2)
    """

    kind: str
    mean: float
    ln_deviation: float
    low: int
    high: int
    values: int
    zero: float
    entropy: float
    guesses: float
    log_bias: float
    weight: int | None = None
    counts: tuple[tuple[int, int], ...] = ()
    mode: int = 0
    peak: float = 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation, infinite beyond float64."""
        return exp_or_inf(self.ln_deviation)

    @property
    def rms(self) -> float:
        """The root of the mean square."""
        return math.hypot(self.mean, self.deviation)

    @property
    def alphabet(self) -> int:
        """The number of values other than 0 of an entry."""
        return self.values - (self.zero > 0)

    def ln_deviation_without(self, n: int, zeta: ArrayLike, outside: ArrayLike = 0) -> Any:
        """Compute ln_deviation of the other n - zeta entries if zeta of n entries are removed.

        outside: the least number of entries that are not 0 among the removed ones, if the weight is
        fixed. The fraction of the others that are not 0 is then bounded, and the largest deviation
        within this bound is returned.

        >>> law = sparse(uniform(0, 1, q=97), n=64, weight=8)
        >>> float(round(np.exp(law.ln_deviation_without(64, 32)) ** 2, 4))
        0.1875
        """
        if self.weight is None:
            return np.full(np.shape(zeta), self.ln_deviation)
        share = np.minimum(1.0, (self.weight - np.asarray(outside)) / (n - np.asarray(zeta, float)))
        mean, square = self.mean * n / self.weight, self.rms**2 * n / self.weight
        if np.any(outside) and mean:
            share = np.minimum(share, square / (2 * mean**2))
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(share * square - (share * mean) ** 2, 0.0)) / 2

    def shifted(self, n: int) -> "Law":
        """Subtract the likeliest value from each of n entries.

        >>> law = fixed(((1, 60), (2, 3)), n=64, q=97).shifted(64)
        >>> law.counts, law.weight, law.low, law.high
        (((-1, 1), (1, 3)), 4, -1, 1)
        """
        mode, zero, weight, counts = self.mode, self.peak, self.weight, self.counts
        if weight and not counts and self.alphabet == 1 and n < 2 * weight < 2 * n:
            mode, zero, weight = self.low or self.high, weight / n, n - weight
        elif not mode:
            return self
        elif weight:
            placed = [(0, n - weight)] if weight < n else []
            counts = tuple((v - mode, c) for v, c in sorted([*counts, *placed]) if v != mode)
            weight = sum(c for _, c in counts)
        moved = replace(self, mean=self.mean - mode, low=self.low - mode, high=self.high - mode)
        return replace(moved, zero=zero, weight=weight, counts=counts, mode=0)

    def log2_signs(self, limit: int) -> NDArray[np.float64]:
        """Compute log2 of the number of values of w entries other than 0, for w = 0 .. limit.

        >>> (2 ** fixed(((-1, 1), (1, 2)), n=6, q=97).log2_signs(4)).round(6).tolist()
        [1.0, 2.0, 3.0, 3.0, 0.0]
        """
        w = np.arange(limit + 1.0)
        if not self.counts:
            return w * log2(max(1, self.alphabet))
        placed = np.where(w == 0, 0.0, -math.inf)  # log2 of 1/(a! b! ..), summed over choices
        for _, count in self.counts:
            taken = np.arange(min(count, limit) + 1)
            rest = np.arange(limit + 1)[:, None] - taken
            ways = np.where(rest >= 0, placed[rest] - gammaln(taken + 1) / math.log(2), -math.inf)
            placed = np.logaddexp2.reduce(ways, axis=1)
        return placed + gammaln(w + 1) / math.log(2)


def tabled(kind: str, values: NDArray[np.float64], shares: NDArray[np.float64], q: int) -> Law:
    """Make a law from values and probabilities, (k,) each; q: the modulus, for log_bias."""
    shares = shares / shares.sum()
    mean = float(shares @ values)
    deviation = math.sqrt(float(shares @ (values - mean) ** 2))
    kept = shares[shares > 0]
    likeliest = np.flatnonzero(shares >= shares.max() * (1 - _ROUNDING))
    mode = likeliest[np.argmin(np.round(abs(values[likeliest] - mean), 9))]
    angles = 2 * math.pi * (values - mean) * math.exp(-math.log(q))
    missing = 2 * float(shares @ np.sin(angles / 2) ** 2)  # 1 - E cos, without cancellation
    square = (1 - missing) ** 2 + float(shares @ np.sin(angles)) ** 2
    if missing < _SMALL_ANGLE:
        log_bias = math.log1p(-missing)
    else:  # if the sum is only rounding, the formula of a Gaussian is used
        log_bias = math.log(square) / 2 if square > 1e-20 else _wide(math.log(deviation), q)
    return Law(
        kind=kind,
        mean=mean,
        ln_deviation=_ln(deviation),
        low=int(values[0]),
        high=int(values[-1]),
        values=len(kept),
        zero=float(shares[values == 0].sum()),
        entropy=max(0.0, -float(kept @ np.log2(kept))),
        guesses=2 * log2(float(np.sqrt(kept).sum())),
        log_bias=log_bias,
        mode=int(values[mode]),
        peak=float(shares[mode]),
    )


def _wide(ln_deviation: float, q: int) -> float:
    """Compute ln |E exp(2 pi i x/q)| of a Gaussian: -2 pi^2 sigma^2/q^2."""
    return -2 * exp_or_inf(2 * (math.log(math.pi) + ln_deviation - math.log(q)))


def _ln(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def exp_or_inf(ln: float) -> float:
    """Compute exp(ln), infinite beyond float64."""
    return math.exp(ln) if ln < _MOST_LN else math.inf


def gaussian(sigma: float | Fraction, q: int) -> Law:
    """Make the law of the discrete Gaussian with weights exp(-x^2 / (2 sigma^2)).

    >>> round(gaussian(3.2, q=3329).entropy, 3), gaussian(3.2, q=3329).high
    (3.725, 29)
    """
    require(sigma > 0, f"a standard deviation of {cut(write(sigma), 60)}: it must be above 0")
    if sigma <= _TABLE:
        sigma = float(sigma)
        density = min(1.0, 1 / (sigma * math.sqrt(2 * math.pi))) if sigma else 1.0
        high = max(1, int(sigma * math.sqrt(2 * math.log(density * 2.0**64))))
        values = np.arange(-high, high + 1.0)
        weights = np.exp(-((values / sigma) ** 2) / 2) if sigma else (values == 0) + 0.0
        return tabled("gaussian", values, weights, q)
    sigma = Fraction(sigma)
    high = int(sigma * Fraction(_TAIL_DEVIATIONS))
    ln_sigma = math.log(sigma.numerator) - math.log(sigma.denominator)
    return Law(
        kind="gaussian",
        mean=0.0,
        ln_deviation=ln_sigma,
        low=-high,
        high=high,
        values=2 * high + 1,
        zero=math.exp(-ln_sigma) / math.sqrt(2 * math.pi),
        entropy=(ln_sigma + math.log(2 * math.pi * math.e) / 2) / math.log(2),
        guesses=(ln_sigma + math.log(8 * math.pi) / 2) / math.log(2),
        log_bias=_wide(ln_sigma, q),
    )


def cbd(eta: int, q: int) -> Law:
    """Make the law of the centred binomial: the sum of eta random bits less eta others. [ADPS16]

    >>> cbd(2, q=3329).deviation
    1.0
    """
    require(1 <= eta <= 512, f"eta={eta}: a centred binomial takes 1 to 512")
    weights = np.array([math.comb(2 * eta, i) / 4**eta for i in range(2 * eta + 1)])
    return tabled("cbd", np.arange(-eta, eta + 1.0), weights, q)


def uniform(low: int, high: int, q: int) -> Law:
    """Make the law of the uniform distribution on low .. high.

    >>> uniform(0, 1, q=97).mean
    0.5
    """
    count = high - low + 1
    wrong = f"{brief_count(count)} values with q={brief_count(q)}: at least 1, at most q"
    require(1 <= count <= q, wrong)
    ln, width = math.log(count), float(min(count, 1 << 1000))
    return Law(
        kind=_SMALL.get((low, high), "uniform"),
        mean=(low + high) / 2 if count < q and (low + high).bit_length() < 1000 else 0.0,
        ln_deviation=ln + (_ln(1 - 1 / count**2) - math.log(12)) / 2,
        low=low,
        high=high,
        values=count,
        zero=1 / count if low <= 0 <= high else 0.0,
        entropy=log2(count),
        guesses=log2(count),
        log_bias=_box_log_bias(ln - math.log(q), width) if count < q else -math.inf,
        mode=max(low, min(0, high)),
        peak=1 / count,
    )


def _box_log_bias(ln_share: float, width: float) -> float:
    """Compute ln |E exp(2 pi i x/q)| for x uniform on `width` consecutive values.

    ln_share: ln of width/q.
    """
    angle = math.pi * math.exp(ln_share)
    if angle < _SMALL_ANGLE:  # the quotient would lose digits, so its series is used
        return -(angle**2) / 6 * (1 - (1 / width) ** 2)
    turn = angle / width
    return math.log(math.sin(angle) / angle * (turn / math.sin(turn) if turn else 1))


def rounding(p: int, q: int) -> Law | None:
    """Make the law of the error of rounding from q to p, uniform on about q/p values.

    None if p = q.

    >>> round(rounding(1000, q=3329).deviation, 2)
    0.92
    """
    require(2 <= p <= q, f"p={brief_count(p)} with q={brief_count(q)}: between 2 and q")
    if q % p == 0:
        return uniform(-((q // p - 1) // 2), q // p // 2, q) if p < q else None
    high = min(q // p // 2 + 1, (q - 1) // 2)  # the parts have floor(q/p) or one more values
    wrong = f"p={brief_count(p)} with q={brief_count(q)}: a p that divides q"
    require(math.log(q) - math.log(p) < _MOST_LN / 2, wrong)
    width = math.exp(math.log(q) - math.log(p))
    return replace(
        uniform(-high, high, q),
        ln_deviation=(math.log((q - p) * (q + p)) - math.log(12)) / 2 - math.log(p),
        entropy=log2(q) - log2(p),
        log_bias=_box_log_bias(-math.log(p), width),
        zero=1 / width,
        guesses=_guess_bits(2 * high, 1 / width),
    )


def tuniform(bits: int, q: int) -> Law:
    """Make the law of integers -2^b .. 2^b whose two ends have half the probability of others.

    >>> law = tuniform(1, q=97)
    >>> round(law.deviation**2, 6), round(law.entropy, 6), law.values
    (1.5, 2.25, 5)
    """
    require(0 <= bits <= 256, f"{bits} bits: TUniform takes 0 to 256")
    half, count = 1 << bits, 2.0 ** (bits + 1)
    wrong = f"TUniform of {bits} bits with q={brief_count(q)}: it takes the "
    require(2 * half <= q, f"{wrong}{brief_count(2 * half + 1)} values -2^{bits} .. 2^{bits}")
    inner = uniform(1 - half, half, q)  # the law is that of x or x - 1 with probability 1/2 each
    cosine = abs(math.cos(math.pi * math.exp(-math.log(q))))
    return replace(
        inner,
        kind="tuniform",
        mean=0.0,
        ln_deviation=_ln((count**2 / 2 + 1) / 6) / 2,
        low=-half,
        values=2 * half + 1,
        entropy=log2(count) + 1 / count,
        guesses=2 * log2(count - 1 + math.sqrt(2)) - log2(count),
        log_bias=inner.log_bias + math.log(cosine),
    )


def fixed(counts: tuple[tuple[int, int], ...], n: int, q: int) -> Law:
    """Make the law of n entries with fixed counts of values other than 0, at random places.

    >>> law = fixed(((-1, 16), (1, 48)), n=256, q=3329)
    >>> law.mean, law.weight, round(law.deviation, 4)
    (0.125, 64, 0.4841)
    """
    weight = sum(count for _, count in counts)
    wrong = f"counts of {weight} entries: each at least 1, and {n} together at most"
    require(0 < weight <= n and all(count > 0 for _, count in counts), wrong)
    zeros = [(0, n - weight)] if weight < n else []
    values, shares = np.array(sorted([*counts, *zeros]), float).T
    return replace(tabled("counts", values, shares, q), weight=weight, counts=counts)


def sparse(law: Law, n: int, weight: int) -> Law:
    """Make the law of n entries of which `weight`, at random places, are not 0.

    law: these entries are distributed by it, given that they are not 0.

    >>> law = sparse(uniform(-1, 1, q=3329), n=64, weight=16)
    >>> round(law.deviation, 9), law.zero
    (0.5, 0.75)
    """
    require(1 <= weight <= n, f"{weight} entries that are not 0: between 1 and n = {n}")
    share, kept = weight / n, 1 - law.zero
    require(kept > 0, "an entry that is always 0: no entry can be anything else")
    require(
        law.rms < _WIDEST_SPARSE,
        f"h or weight with entries of size {law.rms:g}: take less than {_WIDEST_SPARSE:g}, "
        "or leave it out",
    )
    mean, square = share * law.mean / kept, share * (law.rms**2 / kept)
    variance = square - mean**2
    surprise = (law.entropy - _coin(law.zero)) / kept  # of an entry that is not 0
    return replace(
        law,
        mean=mean,
        ln_deviation=_ln(variance) / 2 if variance > _ROUNDING * square else -math.inf,
        low=min(law.low, 0),
        high=max(law.high, 0),
        values=law.alphabet + (share < 1),
        zero=1 - share,
        entropy=_coin(share) + share * max(0.0, surprise),
        guesses=_guess_bits(law.alphabet, 1 - share),
        weight=weight,
        mode=0,
    )


def mixed(law: Law, other: Law, share: float) -> Law:
    """Mix two laws, with a fraction `share` of entries of the other; logarithms are averaged."""
    means = {
        name: (1 - share) * getattr(law, name) + share * getattr(other, name)
        for name in ("ln_deviation", "zero", "entropy", "guesses", "log_bias")
    }
    low, high = min(law.low, other.low), max(law.high, other.high)
    ends = {"low": low, "high": high, "values": high - low + 1}
    return replace(law, kind="mixed", weight=None, counts=(), **ends, **means)


def _guess_bits(alphabet: int, zero: float) -> float:
    """Bound log2 of the expected guesses, as if values other than 0 were uniform. [Arikan96]"""
    kept = log2(alphabet) + log2(1 - zero) if zero < 1 else -math.inf
    return 2 * float(np.logaddexp2(log2(zero) / 2 if zero else -math.inf, kept / 2))


def _coin(rate: float) -> float:
    return 0.0 if not 0 < rate < 1 else -rate * log2(rate) - (1 - rate) * log2(1 - rate)


def brief_count(q: int) -> str:
    """Write a modulus, or any count, in at most 18 characters.

    >>> brief_count(2**100)
    '2^100.00'
    """
    return str(q) if q < 10**18 else f"2^{log2(q):.2f}"
