"""Softmax layers: the first estimate of the sum of the W_i, what concentrates, and logits.

Predictions are for random heads, to leading order in 1/d. Then the logits of a row are independent
and normal, of standard deviation ||Theta||_F =: s, so every prediction is a mean over k normal
numbers (docs/theory.md). Bands of 2/d or 4/d allow for what that leaves out.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, chdtri, ndtr, roots_genlaguerre
from scipy.stats import nbinom
from statement import Array, Measured, Predicted, equal, exactly, main, mean

from hardness.learners.fitting import Data, columns, linearize, softmax_slope
from hardness.learners.staged.moment import moment
from instances import parse
from instances.family import Instance
from instances.layer import AttentionLayer, softmax_rows
from instances.streams import BitStream, generator, key
from instances.tokens import TokenLaw, unpack

_NODES = np.linspace(-8.0, 8.0, 321)  # of a standard normal number
_SHARES = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_SCALE = 2.0  # s of the family `nice`
_LAYERS = 8


def _normal(f: Callable[[Array], Array], s: float = math.sqrt(2) * _SCALE) -> float:
    """Take the mean of f over a normal number of deviation s: a difference of two logits."""
    return float(_SHARES @ f(s * _NODES))


def _squared(f: Callable[[float], float], n: float) -> float:
    """Take the mean of f over chi squared with n degrees of freedom, by 32 quantiles."""
    return float(np.mean([f(float(x)) for x in chdtri(n, (np.arange(32) + 0.5) / 32)]))


def _drawn(spec: str, seed: int, count: int = _LAYERS) -> Iterator[tuple[Instance, AttentionLayer]]:
    for number in range(seed * count, (seed + 1) * count):
        instance = parse(spec).instance(number)
        yield instance, instance.family.layer(instance.hidden.secret)


# The first estimate.


@cache
def spread(s: float, k: int) -> float:
    """Give 1 - E |p|^2, p the softmax of k independent normal logits of standard deviation s.

    By 1 / S^2 = int t exp(-t S) dt, which splits over the logits.
    """
    logs = np.linspace(-8 * s - 12, 8 * s + 6, 800)[:, None]
    grown = np.minimum(np.exp(logs) * np.exp(s * _NODES), 700.0)
    fall = np.exp(-grown)
    both = ((grown**2 * fall) @ _SHARES) * (fall @ _SHARES) ** (k - 1)
    return 1 - k * float(both.sum() * (logs[1, 0] - logs[0, 0]))


def bias(k: int, d: int, s: float = _SCALE, rank: int = 0) -> float:
    """Give the relative error of the estimate of sum W_i from examples without end.

    It is s C / sqrt d. C is the covariance of tokens under the weights, on the n directions that
    logits use: the mean of spread(s |a| / sqrt n) |a|^2 / n for normal a. For full rank n = d / 2.
    """
    n = 1 / (1 / rank + 2 / d) if rank else d / 2
    return s / math.sqrt(d) * _squared(lambda x: spread(s * math.sqrt(x / n), k), n + 2)


def _first(spec: str, count: int, seed: int, how: str = "") -> Array:
    """Estimate sum W_i from two samples, layer by layer: squared relative error, squared bias.

    The bias is the inner product of both errors: chance drops out of its mean.
    """
    squares = []
    for instance, layer in _drawn(spec, seed):
        truth, errors = layer.w.sum(axis=0), []
        for start in (0, count):
            drawn = instance.examples(start, count)
            data = Data(x=drawn.x, y=drawn.y)
            step = data.x.sum(axis=1).T @ data.y.sum(axis=1) / (count * data.k)
            estimate = step if how == "one step" else moment(data).w
            errors.append((estimate - truth) / np.linalg.norm(truth))
        a, b = errors
        squares.append([(np.sum(a**2) + np.sum(b**2)) / 2, np.sum(a * b)])
    return np.array(squares)


def _root(squares: Array, among: int) -> Measured:
    """Give the root of the mean of squares; among: as for `mean`."""
    square = mean(squares, "layers", among)
    low, value, high = (math.sqrt(max(x, 0.0)) for x in (square.low, square.value, square.top))
    return Measured(value=value, low=low, high=high, how=square.how)


def predict_first_estimate(d: int, estimate: str, examples: int) -> Predicted:
    k, floor = 2, bias(2, d) ** 2
    q = 1 - _squared(lambda x: spread(_SCALE * math.sqrt(2 * x / d), k), d / 2)
    if estimate == "one step":
        chance = (d * (k * q + k - 1) / k - 1) / examples
    else:
        chance = d * (k * (q - floor) - 1) / (k * (examples - d - 1))
    return equal(math.sqrt(floor + chance), 2 / d)


def measure_first_estimate(d: int, estimate: str, examples: int, seed: int) -> Measured:
    return _root(_first(f"nice:m=2,k=2,d={d}", examples, seed, estimate)[:, 0], 10)


def predict_bias(d: int = 64, norm: float = 0, rank: int = 0, tokens: str = "") -> Predicted:
    return equal(bias(3 if norm else 2, d, norm or _SCALE, rank), 2 / d)


def measure_bias(
    seed: int, d: int = 64, norm: float = 0, rank: int = 0, tokens: str = "boolean"
) -> Measured:
    spec = f"nice:m=2,k={3 if norm else 2},d={d},scale={norm or _SCALE:g},rank={rank}"
    squares = _first(f"{spec},tokens={tokens}", 10000, seed)[:, 1]
    return _root(squares, 15 if norm else 6 if rank else 12)


# Concentration.


def _head(kind: str, d: int, rng: np.random.Generator) -> Array:
    """Draw Theta (d, d) of norm s: of normal numbers, of signs, or a multiple of the identity."""
    if kind == "identity":
        return np.eye(d) * _SCALE / math.sqrt(d)
    drawn = rng.standard_normal((d, d)) if kind == "normal" else rng.choice([-1.0, 1.0], (d, d))
    return np.asarray(drawn * _SCALE / np.linalg.norm(drawn))


def _logits(kind: str, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Give all tokens of d signs, and x_1 Theta (x_1 - x_2)^T for all pairs, (2^d, 2^d)."""
    x = unpack(np.arange(1 << d, dtype=np.uint64)[:, None], d).astype(np.float64)
    logits = x @ _head(kind, d, rng) @ x.T
    return x, np.diag(logits)[:, None] - logits


def predict_concentration_weight(d: int, of: str) -> Predicted:
    if of == "the mean":  # the trace moves a token's weight on itself, by a factor of exp(v)
        sd = spread(0.1 * d, d) * 0.1 * math.sqrt(d)
        pull = _normal(lambda v: np.maximum(np.exp(v), 1.0), sd)
        return Predicted(low=(1 - 2 / d) / d, high=(1 + 2 / d) * pull / d)
    logits = 0.1 * d * generator(0, "theory", "independent logits").standard_normal((20000, d))
    return equal(float(softmax_rows(logits).max(axis=1).mean()), 2 / d)


def measure_concentration_weight(d: int, of: str, seed: int) -> Measured:
    weights_seen, count = [], 40
    for number in range(10):
        theta = 0.1 * generator(seed, "theory", "slide", d, number).standard_normal((d, d))
        tokens, stream = (
            TokenLaw(kind="boolean", d=d),
            BitStream(key(seed, "theory", "tokens", d, number)),
        )
        diagonal = most = 0.0
        for i in range(count):
            x = tokens.draw(stream, i, 1, d)[0].astype(np.float64)
            weights = softmax_rows(x @ theta @ x.T)
            diagonal += float(np.trace(weights)) / (d * count)
            most += float(weights.max(axis=1).mean()) / count
        weights_seen.append(most if of == "a sample" else max(diagonal, (1 - diagonal) / (d - 1)))
    return mean(weights_seen, "heads", among=8)


def predict_concentration_given_weight(d: int, substring: float) -> Predicted:
    slope = _normal(lambda t: 1 / (2 + 2 * np.cosh(t)))
    share = slope**2 * 2 * _SCALE**2 / d**2 / _normal(lambda t: np.tanh(t / 2) ** 2 / 4)
    return equal(share, 2 / d)


def measure_concentration_given_weight(d: int, substring: float, seed: int) -> Measured:
    shares = []
    for number in range(100 if d < 12 else 40):
        x, apart = _logits("normal", d, generator(seed, "theory", "weight", d, number))
        p = 1 / (1 + np.exp(-apart))  # the weight on itself, of two tokens
        weight = (x[:, : round(d * substring)] > 0).sum(axis=1)
        count, rows = np.bincount(weight), p.mean(axis=1)
        means = np.bincount(weight, rows) / count
        shares.append(float(count @ (means - rows.mean()) ** 2 / len(x) / p.var()))
    return mean(shares, "heads", among=8)


# Logits.


def predict_logit_gaussian(d: int, theta: str) -> Predicted:
    if theta == "identity":  # half of the atom at 0
        return equal(math.comb(d, d // 2) / 2 ** (d + 1), 1e-9)
    x, lattice = np.linspace(0.0, 3.0, 301), 2 / d if theta == "signs" else 0.0
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    term = float((density * (lattice + np.abs(x**3 - 3 * x) / (4 * (d + 2)))).max())
    # Kolmogorov's mean distance of 2^d points, of which one half mirrors the other.
    atoms = 0 if lattice else math.sqrt(math.pi / 2) * math.log(2) * 2 ** (-(d + 1) / 2)
    return Predicted(low=term * (1 - 4 / d), high=term * (1 + 4 / d) + atoms)


def measure_logit_gaussian(d: int, theta: str, seed: int) -> Measured:
    distances = []
    for number in range(1 if theta == "identity" else min(3000, 320 << max(0, 18 - d))):
        rng = generator(seed, "theory", "logit", theta, d, number)
        row, sums = rng.choice([-1.0, 1.0], d) @ _head(theta, d, rng), np.zeros(1)
        for weight in row:
            sums = np.concatenate([sums - weight, sums + weight])
        normal = ndtr(np.sort(sums) / np.linalg.norm(row))
        ranks = np.arange(len(sums) + 1) / len(sums)
        distances.append(float(max((ranks[1:] - normal).max(), (normal - ranks[:-1]).max())))
    return mean(distances, "rows", among=12) if len(distances) > 1 else exactly(distances[0], 1e-12)


def predict_logit_slices(reach: float, tokens: str) -> Predicted:
    d, places = 8, np.arange(1, 9)

    def near(square: Any) -> Array:  # given |x|^2 |x - y|^2
        ends = np.minimum(reach**2 / (_SCALE**2 * square), 1.0)
        return np.asarray(betainc(0.5, (d * d - 1) / 2, ends))

    if tokens == "boolean":  # by the number of places at which the two tokens differ
        shares = np.array([math.comb(d, h) for h in places]) / 2**d
        return equal(0.5**d + float(shares @ near(4.0 * d * places)), 1e-9)
    total = 0.0
    for j in range(40):  # given x, |x - y|^2 is a noncentral chi squared: a mixture over j
        half, weights = roots_genlaguerre(24, d / 2 + j - 1)
        chance = weights @ near(2 * np.multiply.outer(half, half)) @ weights / weights.sum() ** 2
        total += float(nbinom.pmf(j, d / 2, 0.5) * chance)
    return equal(total, 1e-4)


def measure_logit_slices(reach: float, tokens: str, seed: int) -> Measured:
    shares, d = [], 8
    for number in range(50):
        rng = generator(seed, "theory", "slices", number)
        if tokens == "boolean":
            near = _logits("normal", d, rng)[1]
        else:
            theta, (x, y) = _head("normal", d, rng), rng.standard_normal((2, 100000, d))
            near = ((x @ theta) * (x - y)).sum(axis=1)
        shares.append(float(np.mean(np.abs(near) <= reach)))
    return mean(shares, "heads", among=14)


# Symmetry and directions.


def _slopes() -> tuple[float, float]:
    """Give E tanh^2(t/2) and E sech^4(t/2), t a difference of two logits."""
    return _normal(lambda t: np.tanh(t / 2) ** 2), _normal(lambda t: np.cosh(t / 2) ** -4)


def predict_equivariance(d: int, k: int, size: float) -> Predicted:
    if not size:
        return Predicted(high=4 * d * d * _SCALE * 2.0**-53)
    tanh, sech = _slopes()
    return equal(2 * size * math.sqrt((tanh + 0.75 * _SCALE**2 * sech) / (1 + tanh)), 2 / d)


def measure_equivariance(d: int, k: int, size: float, seed: int) -> Measured:
    squares = []
    for instance, layer in _drawn(f"nice:m=2,k={k},d={d}", seed, 32):
        rng, x = generator(instance.hidden.seed, "theory", "positions"), instance.examples(0, 500).x
        places, order = size * rng.standard_normal((k, d)), np.roll(np.arange(k), 1)
        apart = layer(x[:, order] + places) - layer(x + places)[:, order]
        squares.append(np.sum(apart**2) / np.sum(layer(x) ** 2))
    return _root(np.array(squares), 8)


def directions(squares: NDArray[np.floating[Any]], share: float = 0.9) -> int:
    """Count the largest eigenvalues that add up to a share of all."""
    sums = np.cumsum(np.sort(squares)[::-1])
    return int(np.searchsorted(sums, share * sums[-1])) + 1


_RANKS = {"full": 0, "Theta of rank 2": 2}


def predict_multi_index(d: int, heads: str) -> Predicted:
    rank, m = _RANKS[heads], 2
    rng, (tanh, sech) = generator(0, "theory", "random heads", d), _slopes()
    w = rng.standard_normal((m, d, d)) / math.sqrt(d)
    theta = np.stack([_head("normal", d, rng) for _ in range(m)])
    turned, both = theta.transpose(0, 2, 1), theta + theta.transpose(0, 2, 1)
    total, square = w.sum(axis=0), (w @ w.transpose(0, 2, 1)).sum(axis=0)
    direct = np.stack([total @ total.T, tanh * square])
    logits = np.stack([(theta @ turned).sum(axis=0), (turned @ theta + both @ both).sum(axis=0)])
    logits *= d * sech / 4
    if rank:  # logits use few directions: let them have these, and count for the others alone
        share = 0.9 - 0.1 * np.einsum("hii->", logits) / np.einsum("hii->", direct)
        return Predicted(low=directions(np.linalg.eigvalsh(direct).ravel(), share) * (1 - 2 / d))
    return equal(directions(np.linalg.eigvalsh(direct + logits).ravel()), 2 / d)


def _pulled_to_tokens(layer: AttentionLayer, x: Array, cotangent: Array) -> Array:
    """Apply the adjoint of the derivative in the tokens to a cotangent: (k, d, n) both."""
    here, (k, d, n) = linearize(layer.theta, layer.w, x), x.shape
    pulled = (layer.w.reshape(-1, d) @ cotangent).reshape(k, layer.m, d, n)
    change = softmax_slope(here.p, np.einsum("aidn,bdn->iabn", pulled, x))
    keys = np.matmul(layer.theta.transpose(0, 2, 1)[:, None], x)
    queries = np.matmul(layer.theta[:, None], x)
    out = np.einsum("iabn,aidn->bdn", here.p, pulled)
    out += np.einsum("iabn,iadn->bdn", change, keys)
    return np.asarray(out + np.einsum("iabn,ibdn->adn", change, queries))


def measure_multi_index(d: int, heads: str, seed: int) -> Measured:
    counts = []
    for instance, layer in _drawn(f"nice:m=2,k=2,d={d},rank={_RANKS[heads]}", seed):
        square = np.zeros((2 * d, 2 * d))
        for start in range(0, 128 * d, 1024):
            x = columns(instance.examples(start, 1024).x)
            rng = generator(instance.hidden.seed, "theory", "cotangents", start)
            slope = _pulled_to_tokens(layer, x, rng.standard_normal(x.shape))
            square += slope.reshape(2 * d, -1) @ slope.reshape(2 * d, -1).T
        counts.append(directions(np.linalg.eigvalsh(square)))
    return mean(counts, "layers", among=12)


if __name__ == "__main__":
    main("sums")
