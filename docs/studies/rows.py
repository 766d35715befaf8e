"""Rows on which heads agree: how long to wait for one, what certifies it, and a proxy's margins."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr, stdtr
from scipy.stats import beta, binom, chi2
from statement import Array, Measured, Predicted, equal, exactly, family_of, main, mean

from hardness.learners.fitting import Data, columns, scores, softmax
from hardness.learners.staged import agreement, moment
from hardness.learners.staged.agreement import smallest
from instances.layer import AttentionLayer, softmax_rows

_LAYERS = 24
_BEST, _AGREE = 1e-3, 0.05  # rows certified, and how near weights are that agree
_SURE = math.log(0.95 / 0.05)  # the margin from which a head gives one token of two .95


def layers(
    spec: str, seed: int, count: int, examples: int
) -> Iterator[tuple[AttentionLayer, Array]]:
    """Draw layers of a family, each with tokens (n, k, d) of its own."""
    family = family_of(spec)
    for one in range(seed * count, (seed + 1) * count):
        x = np.asarray(family.inputs(one, "theory", 0, examples), np.float64)
        yield family.instance(one).layer(), x


# How long to wait


def _power(degrees: Array | float, power: float) -> Array:
    """E (chi^2_degrees)^-power."""
    half = np.asarray(degrees) / 2
    return np.asarray(np.exp(gammaln(half - power) - gammaln(half) - power * math.log(2)))


def gaussian_rate(m: int, k: int, d: int, scale: float, epsilon: float) -> float:
    """Give the leading order of the chance that all heads agree within epsilon on a row.

    Normal tokens, Theta_i of normal entries and norm `scale`: (2 epsilon)^q times the density at 0
    of the q = (m-1)(k-1) differences of logits, averaged. It is above the chance itself.
    """
    q, alike = (m - 1) * (k - 1), (m - 1) / 2
    j = np.arange(40 * k * d)  # |X_a|^2 and the Gram matrix of X_j - X_a share this index
    law = gammaln(d / 2 + j) - gammaln(d / 2) - gammaln(j + 1) + j * math.log1p(-1 / k)
    law -= d / 2 * math.log(k)
    own = (k / 2) ** (q / 2) * np.exp(gammaln(d / 2 + j - q / 2) - gammaln(d / 2 + j))
    gram = _power(np.asarray(d + 2.0 * j), alike) * math.prod(
        _power(d - i, alike) for i in range(1, k - 1)
    )
    density = (2 * math.pi) ** (-q / 2) * m ** (-(k - 1) / 2) * (d / scale) ** q
    return float((2 * epsilon) ** q * density * np.sum(np.exp(law) * own * gram))


def boolean_rate(m: int, d: int, scale: float, epsilon: float) -> float:
    """Give the chance that all heads agree within epsilon on a row of two tokens of signs.

    Exact for Theta_i of uniform directions and norm `scale`. Coinciding tokens give 2^-d of it.
    """
    size, found = d * d - 1, 0.5**d
    t = np.linspace(-1, 1, 8001)[1:-1]
    weight = (1 - t**2) ** ((size - 2) / 2)

    def below(cosine: Array) -> Array:  # Student's law of a coordinate of the sphere
        inside = np.clip(cosine, -1 + 1e-15, 1 - 1e-15)
        return np.asarray(stdtr(size, inside * np.sqrt(size / (1 - inside**2))))

    for apart in range(1, d + 1):
        reach = epsilon / (scale * math.sqrt(4 * apart * d))
        chance = (below(t + reach) - below(t - reach)) ** (m - 1)
        found += float(binom.pmf(apart, d, 0.5) * np.sum(weight * chance) / np.sum(weight))
    return found


def predict_lucky_rows(layer: str, epsilon: float) -> Predicted:
    one = family_of(layer)
    if one.tokens == "boolean":
        return equal(boolean_rate(one.m, one.d, one.scale, epsilon))
    rate = gaussian_rate(one.m, one.k, one.d, one.scale, epsilon)
    q = (one.m - 1) * (one.k - 1)
    off = (epsilon * q / one.scale) ** 2 / (3 * one.m * one.k) + (q / one.d) ** 2
    return Predicted(low=rate * (1 - off), high=rate * (1 + (q / one.d) ** 2))


def predict_lucky_bound(layer: str, epsilon: float) -> Predicted:
    one = family_of(layer)
    m, k, d = one.m, one.k, one.d
    q, half = (m - 1) * (k - 1), (k - 1) / 2
    inverse = (d / one.scale) ** q * m**-half * _power(d, q / 2)
    inverse *= math.prod(_power(d - i, half) for i in range(m - 1))
    return Predicted(high=float(inverse) * (epsilon * math.sqrt(2 / math.pi)) ** q)


@cache
def _apart(spec: str, seed: int) -> tuple[Array, ...]:
    """For each layer the most by which log-ratios of two heads' weights differ, of all rows."""
    found = []
    for layer, x in layers(spec, seed, _LAYERS, 100_000):
        logits = scores(layer.theta, columns(x))
        logits -= np.einsum("iaan->ian", logits)[:, :, None]
        found.append(np.abs(logits[1:] - logits[0]).max(axis=(0, 2)).ravel())
    return tuple(found)


def measure_lucky_rows(layer: str, epsilon: float, seed: int) -> Measured:
    return _share([distance <= epsilon for distance in _apart(layer, seed)], 16)


def _share(rows: list[Any], among: int) -> Measured:
    """Give the mean over layers of shares of rows, at 95 % with so many others."""
    return mean([float(np.mean(one)) for one in rows], "layers", among=among)


# What certifies a row


def predict_certificate_residual(layer: str, ratio: float) -> Predicted:
    one = family_of(layer)
    free, size = one.d - one.k + 1, one.d**2
    if free <= 0:
        return equal(1)
    normal = float(chi2.cdf(one.d * ratio**2, free))
    fixed = float(beta.cdf(ratio**2 / one.d, free / 2, (size - free) / 2))
    return Predicted(low=min(normal, fixed), high=max(normal, fixed))


@cache
def _ratios(spec: str, seed: int) -> tuple[Array, ...]:
    """For each layer the residuals of rows over how far their heads disagree."""
    found = []
    for layer, x in layers(spec, seed, _LAYERS, 5000):
        agreed = agreement(layer.w.sum(axis=0), Data(x=x, y=layer(x)))
        weights = softmax(scores(layer.theta, columns(x)))
        moved = np.einsum("iabn,nbd->iand", weights - weights.mean(axis=0), x)
        apart = np.sqrt(np.sum(moved**2, axis=(0, 3))).T
        found.append((agreed.residuals * agreed.scale)[apart > 1e-6] / apart[apart > 1e-6])
    return tuple(found)


def measure_certificate_residual(layer: str, ratio: float, seed: int) -> Measured:
    return _share([residual <= ratio for residual in _ratios(layer, seed)], 12)


def precision(d: int, scale: float, crude: bool) -> float:
    """Predict the share of the best .1 % of rows by residual on which two heads agree within .05.

    Two tokens of signs. crude: with the sum of the W_i that stage 1 finds in the limit, to first
    order in the Theta_i; what it is off by is taken as independent of the rows.
    """
    z, w = np.linspace(-5, 5, 61)[:, None], np.geomspace(1e-6, 5, 150)
    normal = np.exp(-(z**2) - w**2) * w  # of half the sum and half the difference of two logits
    normal /= normal.sum()
    apart = np.arange(d + 1)[binom.pmf(np.arange(d + 1), d, 0.5) > 1e-7][:, None, None]
    law = binom.pmf(apart, d, 0.5) * normal  # of the entries in which the tokens differ
    size = scale * np.sqrt(4 * apart / d)
    one, other = (1 / (1 + np.exp(-size * (z + sign * w))) for sign in (1, -1))
    gap, middle = np.abs(one - other), (one + other - 1) / 2
    slope = float(np.sum(law * 8 * one * (1 - one) * apart / d))
    length = (d - apart + 4 * apart * middle**2) / d  # of the mean token, squared, over d
    spread = 2 * apart / d * gap**2 + crude * length * (slope * scale) ** 2 / (2 * d) + 1e-30

    def below(log: float) -> Array:
        return np.asarray(law * chi2.cdf(math.exp(log) / spread, d - 1))

    least, most = -40.0, 10.0  # below: rows whose tokens coincide
    if np.sum(below(least)) < _BEST:
        least = brentq(lambda log: float(np.sum(below(log))) - _BEST, least, most)
    taken = below(least)
    return float(np.sum(taken[gap <= _AGREE]) / np.sum(taken))


def predict_certificate(d: int, sum_of_w: str) -> Predicted:
    return Predicted(low=1, high=1, within=sum_of_w == "true")


def predict_certificate_crude(d: int, sum_of_w: str) -> Predicted:
    return equal(round(precision(d, 2.0, sum_of_w == "stage 1"), 9))


def measure_certificate(d: int, sum_of_w: str, seed: int, count: int = 12) -> Measured:
    found = []
    for drawn, x in layers(f"nice:m=2,k=2,d={d}", seed, count, 50_000):
        data = Data(x=x, y=drawn(x))
        w = moment(data).w if sum_of_w == "stage 1" else drawn.w.sum(axis=0)
        residuals = agreement(w, data).residuals
        e, a = smallest(residuals, int(_BEST * residuals.size))
        weights = softmax(scores(drawn.theta, columns(x[e])))
        apart = np.ptp(weights, axis=0).max(axis=1)[a, np.arange(len(e))]
        found.append(apart <= _AGREE)
    return _share(found, 8)


def measure_certificate_crude(d: int, sum_of_w: str, seed: int) -> Measured:
    return measure_certificate(d, sum_of_w, seed, count=192)


# What a proxy's margin says of the heads'


def predict_margin_pattern(k: int, margin: float) -> Predicted:
    return equal((k - 1) / (k - 1 + math.exp(margin)), 1e-12)


def measure_margin_pattern(k: int, margin: float, seed: int) -> Measured:
    logits = np.zeros((2, k))
    logits[:, 0] = margin, 1000 * margin
    one, other = softmax_rows(logits)
    return exactly(float(np.sum(np.abs(one - other)[1:])))


def _deviation(m: int, reach: Array) -> Array:
    """The chance that none of m standard normal numbers is further than `reach` below their mean.

    By the lowest of them, which is independent of how the others lie about their own mean.
    """
    x = np.linspace(0, 12, 4001)
    below = np.ones_like(x)
    for n in range(2, m + 1):
        density = np.exp(-n * x**2 / (2 * (n - 1))) * np.interp(n * x / (n - 1), x, below)
        below = np.append(0, np.cumsum((density[1:] + density[:-1]) / 2))
        below /= below[-1]
    return np.interp(reach, x, below, left=0.0)


def proxy_share(m: int, d: int, scale: float, coherence: float, taken: float) -> tuple[float, bool]:
    """Predict the share of rows where a proxy's margin is largest on which every head is sure.

    Two tokens of signs; the proxy is the mean of the Theta_i, which have normal entries. Also
    whether the least margin taken exceeds the heads' by 5 standard deviations of what they differ.
    """
    apart = np.arange(1, d + 1)[:, None]
    law, size = binom.pmf(apart, d, 0.5), scale * np.sqrt(4 * apart / d)
    of_mean, own = np.sqrt(coherence + (1 - coherence) / m), np.sqrt(1 - coherence)

    def more(margin: float) -> float:
        return float(2 * np.sum(law * ndtr(-margin / (size * of_mean))))

    least = brentq(lambda margin: more(margin) - taken, 0, 20 * scale)
    y = np.linspace(least, 20 * scale, 2000)
    weight = law * np.exp(-((y / (size * of_mean)) ** 2) / 2) / (size * of_mean)
    held = _deviation(m, np.maximum(y - _SURE, 0) / (size * own))
    differ = scale * math.sqrt(2) * own * math.sqrt(1 - 1 / m)
    return float(np.sum(weight * held) / np.sum(weight)), bool(least - _SURE > 5 * differ)


def predict_proxy_share(layer: str, taken: float) -> Predicted:
    one = family_of(layer)
    return equal(proxy_share(one.m, one.d, one.scale, one.coherence, taken)[0])


def predict_proxy_margin(layer: str, taken: float) -> Predicted:
    one = family_of(layer)
    far = proxy_share(one.m, one.d, one.scale, one.coherence, taken)[1]
    return Predicted(low=1, high=1, within=far)


@cache
def _sure(spec: str, seed: int) -> tuple[Array, ...]:
    """For each layer the least margin of a head on every row, the proxy's largest margin first."""
    found = []
    for layer, x in layers(spec, seed, _LAYERS, 100_000):
        logits = scores(layer.theta, columns(x))
        heads = (logits[:, :, 0] - logits[:, :, 1]).reshape(layer.m, -1)
        proxy = heads.mean(axis=0)
        found.append((np.sign(proxy) * heads).min(axis=0)[np.argsort(-np.abs(proxy))])
    return tuple(found)


def measure_proxy_margin(layer: str, taken: float, seed: int) -> Measured:
    every = _sure(layer, seed)
    return _share([margins[: round(taken * len(margins))] >= _SURE for margins in every], 16)


if __name__ == "__main__":
    main("rows")
