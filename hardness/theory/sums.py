"""Softmax layers: the first estimate of the sum of the W_i, what concentrates, and logits.

Predictions are for random heads, to leading order in 1/d: the logits of a row are then independent
and normal, of standard deviation ||Theta||_F =: s, and all is a mean over k normal numbers
(docs/theory.md). Bands, of 2/d or 4/d, are an allowance for what that leaves out.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.theory.statement import Measured, Predicted, Statement, exactly, mean
from instances import parse
from instances.family import Instance
from instances.layer import AttentionLayer, softmax_rows
from instances.streams import BitStream, generator, key
from instances.tokenlaw import law_of
from instances.tokens import unpack

Array = NDArray[np.float64]
_NODES = np.linspace(-8.0, 8.0, 321)  # of a standard normal number
_SHARES = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_SCALE = 2.0  # s of the family `nice`
_LAYERS = 8
_DIMS = (16, 32, 64, 128)


def _band(value: float, width: float) -> Predicted:
    """Predict a value up to a relative width."""
    return Predicted(low=value * (1 - width), high=value * (1 + width))


def _grid(**ranges: Sequence[float | str]) -> list[dict[str, int | float | str]]:
    """Give all combinations of values, the last name running fastest."""
    return [dict(zip(ranges, one, strict=True)) for one in product(*ranges.values())]


def _normal(f: Callable[[Array], Array], s: float = math.sqrt(2) * _SCALE) -> float:
    """Take the mean of f over a normal number of deviation s: a difference of two logits."""
    return float(_SHARES @ f(s * _NODES))


def _squared(f: Callable[[float], float], n: float) -> float:
    """Take the mean of f over chi squared with n degrees of freedom, by 32 quantiles."""
    from scipy.special import chdtri

    return float(np.mean([f(float(x)) for x in chdtri(n, (np.arange(32) + 0.5) / 32)]))


def _drawn(spec: str, seed: int, count: int = _LAYERS) -> Iterator[tuple[Instance, AttentionLayer]]:
    for one in range(seed * count, (seed + 1) * count):
        instance = parse(spec).instance(one)
        yield instance, instance.family.layer(instance.hidden.secret)


# The first estimate.


@cache
def spread(s: float, k: int) -> float:
    """Give 1 - E |p|^2, p the softmax of k independent normal logits of standard deviation s.

    By 1 / S^2 = int t exp(-t S) dt, which splits over the logits.

    >>> [round(spread(s, 2), 3) for s in (0.0, 2.0)]
    [0.5, 0.24]
    """
    logs = np.linspace(-8 * s - 12, 8 * s + 6, 800)[:, None]
    grown = np.minimum(np.exp(logs) * np.exp(s * _NODES), 700.0)
    fall = np.exp(-grown)
    both = ((grown**2 * fall) @ _SHARES) * (fall @ _SHARES) ** (k - 1)
    return 1 - k * float(both.sum() * (logs[1, 0] - logs[0, 0]))


def bias(k: int, d: int, s: float = _SCALE, rank: int = 0) -> float:
    """Give the relative error of the estimate of sum W_i from examples without end.

    It is s C / sqrt d, C the covariance of tokens under the weights on the n directions that logits
    use: the mean of spread(s |a| / sqrt n) |a|^2 / n, a normal; n = d / 2 for full rank.
    """
    n = 1 / (1 / rank + 2 / d) if rank else d / 2
    return s / math.sqrt(d) * _squared(lambda x: spread(s * math.sqrt(x / n), k), n + 2)


def _first(spec: str, count: int, seed: int, how: str = "") -> Array:
    """Estimate sum W_i from two samples, layer by layer: squared relative error, squared bias.

    The bias is the inner product of both errors: chance drops out of its mean.
    """
    from hardness.upper.fitting import Data
    from hardness.upper.staged.moment import moment

    found = []
    for instance, layer in _drawn(spec, seed):
        truth, errors = layer.w.sum(axis=0), []
        for start in (0, count):
            drawn = instance.examples(start, count)
            data = Data(x=drawn.x, y=drawn.y)
            if how == "one step":
                estimate = data.x.sum(axis=1).T @ data.y.sum(axis=1) / (count * data.k)
            else:
                estimate = moment(data).w
            errors.append((estimate - truth) / np.linalg.norm(truth))
        a, b = errors
        found.append([(np.sum(a**2) + np.sum(b**2)) / 2, np.sum(a * b)])
    return np.array(found)


def _root(squares: Array, among: int) -> Measured:
    """Give the root of the mean of squares; among: as for `mean`."""
    found = mean(squares, "layers", among)
    low, value, high = (math.sqrt(max(x, 0.0)) for x in (found.low, found.value, found.top))
    return Measured(value=value, low=low, high=high, how=found.how)


def _predict_first(d: int, estimate: str, examples: int) -> Predicted:
    k, floor = 2, bias(2, d) ** 2
    q = 1 - _squared(lambda x: spread(_SCALE * math.sqrt(2 * x / d), k), d / 2)
    if estimate == "one step":
        chance = (d * (k * q + k - 1) / k - 1) / examples
    else:
        chance = d * (k * (q - floor) - 1) / (k * (examples - d - 1))
    return _band(math.sqrt(floor + chance), 2 / d)


def _measure_first(d: int, estimate: str, examples: int, seed: int) -> Measured:
    return _root(_first(f"nice:m=2,k=2,d={d}", examples, seed, estimate)[:, 0], 10)


def _predict_floor(d: int, tokens: str) -> Predicted:
    return _band(bias(2, d), 2 / d)


def _measure_floor(d: int, tokens: str, seed: int) -> Measured:
    return _root(_first(f"nice:m=2,k=2,d={d},tokens={tokens}", 10000, seed)[:, 1], 12)


def _predict_norm(norm: float, rank: int) -> Predicted:
    return _band(bias(3, 64, norm, rank), 2 / 64)


def _measure_norm(norm: float, rank: int, seed: int) -> Measured:
    spec = f"nice:m=2,k=3,d=64,scale={norm:g},rank={rank}"
    return _root(_first(spec, 10000, seed)[:, 1], 15)


def _predict_rank(d: int, rank: int) -> Predicted:
    return _band(bias(2, d, _SCALE, rank), 2 / d)


def _measure_rank(d: int, rank: int, seed: int) -> Measured:
    return _root(_first(f"nice:m=2,k=2,d={d},rank={rank}", 10000, seed)[:, 1], 6)


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


def _predict_largest(d: int, of: str) -> Predicted:
    if of == "the mean":  # the trace moves a token's weight on itself, by a factor of exp(v)
        sd = spread(0.1 * d, d) * 0.1 * math.sqrt(d)
        pull = _normal(lambda v: np.maximum(np.exp(v), 1.0), sd)
        return Predicted(low=(1 - 2 / d) / d, high=(1 + 2 / d) * pull / d)
    logits = 0.1 * d * generator(0, "theory", "independent logits").standard_normal((20000, d))
    return _band(float(softmax_rows(logits).max(axis=1).mean()), 2 / d)


def _measure_largest(d: int, of: str, seed: int) -> Measured:
    found, count = [], 40
    for one in range(10):
        theta = 0.1 * generator(seed, "theory", "slide", d, one).standard_normal((d, d))
        tokens, stream = law_of("boolean", d), BitStream(key(seed, "theory", "tokens", d, one))
        own = most = 0.0
        for i in range(count):
            x = tokens.draw(stream, i, 1, d)[0].astype(np.float64)
            weights = softmax_rows(x @ theta @ x.T)
            own += float(np.trace(weights)) / (d * count)
            most += float(weights.max(axis=1).mean()) / count
        found.append(most if of == "a sample" else max(own, (1 - own) / (d - 1)))
    return mean(found, "heads", among=8)


def _predict_given(d: int, substring: float) -> Predicted:
    slope = _normal(lambda t: 1 / (2 + 2 * np.cosh(t)))
    share = slope**2 * 2 * _SCALE**2 / d**2 / _normal(lambda t: np.tanh(t / 2) ** 2 / 4)
    return _band(share, 2 / d)


def _measure_given(d: int, substring: float, seed: int) -> Measured:
    found = []
    for one in range(100 if d < 12 else 40):
        x, apart = _logits("normal", d, generator(seed, "theory", "weight", d, one))
        p = 1 / (1 + np.exp(-apart))  # the weight on itself, of two tokens
        weight = (x[:, : round(d * substring)] > 0).sum(axis=1)
        count, rows = np.bincount(weight), p.mean(axis=1)
        given = np.bincount(weight, rows) / count
        found.append(float(count @ (given - rows.mean()) ** 2 / len(x) / p.var()))
    return mean(found, "heads", among=8)


# Logits.


def _predict_gaussian(d: int, theta: str) -> Predicted:
    if theta == "identity":  # half of the atom at 0
        return _band(math.comb(d, d // 2) / 2 ** (d + 1), 1e-9)
    x, lattice = np.linspace(0.0, 3.0, 301), 2 / d if theta == "signs" else 0.0
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    term = float((density * (lattice + np.abs(x**3 - 3 * x) / (4 * (d + 2)))).max())
    # Kolmogorov's mean distance of 2^d points, of which one half mirrors the other.
    atoms = 0 if lattice else math.sqrt(math.pi / 2) * math.log(2) * 2 ** (-(d + 1) / 2)
    return Predicted(low=term * (1 - 4 / d), high=term * (1 + 4 / d) + atoms)


def _measure_gaussian(d: int, theta: str, seed: int) -> Measured:
    from scipy.special import ndtr

    found = []
    for one in range(1 if theta == "identity" else min(3000, 320 << max(0, 18 - d))):
        rng = generator(seed, "theory", "logit", theta, d, one)
        row, sums = rng.choice([-1.0, 1.0], d) @ _head(theta, d, rng), np.zeros(1)
        for weight in row:
            sums = np.concatenate([sums - weight, sums + weight])
        normal = ndtr(np.sort(sums) / np.linalg.norm(row))
        ranks = np.arange(len(sums) + 1) / len(sums)
        found.append(float(max((ranks[1:] - normal).max(), (normal - ranks[:-1]).max())))
    return mean(found, "rows", among=12) if len(found) > 1 else exactly(found[0], 1e-12)


def _predict_slices(reach: float, tokens: str) -> Predicted:
    from scipy.special import betainc, roots_genlaguerre
    from scipy.stats import nbinom

    d, places = 8, np.arange(1, 9)

    def near(square: NDArray[np.floating[Any]]) -> Array:  # given |x|^2 |x - y|^2
        ends = np.minimum(reach**2 / (_SCALE**2 * square), 1.0)
        return np.asarray(betainc(0.5, (d * d - 1) / 2, ends))

    if tokens == "boolean":  # by the number of places at which the two tokens differ
        shares = np.array([math.comb(d, h) for h in places]) / 2**d
        return _band(0.5**d + float(shares @ near(4.0 * d * places)), 1e-9)
    found = 0.0
    for j in range(40):  # given x, |x - y|^2 is a noncentral chi squared: a mixture over j
        half, weights = roots_genlaguerre(24, d / 2 + j - 1)
        chance = weights @ near(2 * np.multiply.outer(half, half)) @ weights / weights.sum() ** 2
        found += float(nbinom.pmf(j, d / 2, 0.5) * chance)
    return _band(found, 1e-4)


def _measure_slices(reach: float, tokens: str, seed: int) -> Measured:
    found, d = [], 8
    for one in range(50):
        rng = generator(seed, "theory", "slices", one)
        if tokens == "boolean":
            near = _logits("normal", d, rng)[1]
        else:
            theta, (x, y) = _head("normal", d, rng), rng.standard_normal((2, 100000, d))
            near = ((x @ theta) * (x - y)).sum(axis=1)
        found.append(float(np.mean(np.abs(near) <= reach)))
    return mean(found, "heads", among=14)


# Symmetry and directions.


def _slopes() -> tuple[float, float]:
    """Give E tanh^2(t/2) and E sech^4(t/2), t a difference of two logits."""
    return _normal(lambda t: np.tanh(t / 2) ** 2), _normal(lambda t: np.cosh(t / 2) ** -4)


def _predict_positions(d: int, k: int, size: float) -> Predicted:
    if not size:
        return Predicted(high=4 * d * d * _SCALE * 2.0**-53)
    tanh, sech = _slopes()
    return _band(2 * size * math.sqrt((tanh + 0.75 * _SCALE**2 * sech) / (1 + tanh)), 2 / d)


def _measure_positions(d: int, k: int, size: float, seed: int) -> Measured:
    found = []
    for instance, layer in _drawn(f"nice:m=2,k={k},d={d}", seed, 32):
        rng, x = generator(instance.hidden.seed, "theory", "positions"), instance.examples(0, 500).x
        places, order = size * rng.standard_normal((k, d)), np.roll(np.arange(k), 1)
        apart = layer(x[:, order] + places) - layer(x + places)[:, order]
        found.append(np.sum(apart**2) / np.sum(layer(x) ** 2))
    return _root(np.array(found), 8)


def directions(squares: NDArray[np.floating[Any]], share: float = 0.9) -> int:
    """Count the largest eigenvalues that add up to a share of all.

    >>> directions(np.array([1.0, 8.0, 1.0]))
    2
    """
    sums = np.cumsum(np.sort(squares)[::-1])
    return int(np.searchsorted(sums, share * sums[-1])) + 1


_RANKS = {"full": 0, "Theta of rank 2": 2}


def _predict_index(d: int, heads: str) -> Predicted:
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
        share = (
            0.9 - 0.1 * logits.trace(axis1=1, axis2=2).sum() / direct.trace(axis1=1, axis2=2).sum()
        )
        return Predicted(low=directions(np.linalg.eigvalsh(direct).ravel(), share) * (1 - 2 / d))
    return _band(directions(np.linalg.eigvalsh(direct + logits).ravel()), 2 / d)


def _measure_index(d: int, heads: str, seed: int) -> Measured:
    from hardness.upper.attention import columns, linearize

    found = []
    for instance, layer in _drawn(f"nice:m=2,k=2,d={d},rank={_RANKS[heads]}", seed):
        square = np.zeros((2 * d, 2 * d))
        for start in range(0, 128 * d, 1024):
            x = columns(instance.examples(start, 1024).x)
            rng = generator(instance.hidden.seed, "theory", "cotangents", start)
            slope = linearize(layer.theta, layer.w, x).tokens(rng.standard_normal(x.shape))
            square += slope.reshape(2 * d, -1) @ slope.reshape(2 * d, -1).T
        found.append(directions(np.linalg.eigvalsh(square)))
    return mean(found, "layers", among=12)


_line = partial(Statement, subject="softmax layers", source="CL24")
STATEMENTS = (
    _line(
        name="first-estimate",
        owner="talk",
        says="One gradient step of a head with Theta = 0 gives sum W_i up to 1/poly(r), r the "
        "stable rank.",
        predicts="A bias that stays, and a variance of d (E|p|^2 + 1 - 1/k) / N for one step, d "
        "(E|p|^2 - 1/k) / N for least squares, p the weights of a row.",
        meaning="`staged` takes least squares in place of the step: the series show what either "
        "costs.",
        settings=_grid(
            d=[48], estimate=["one step", "least squares"], examples=[500, 1000, 4000, 16000, 64000]
        ),
        predict=_predict_first,
        measure=_measure_first,
        along="examples",
        by="estimate",
        log="xy",
        x="N, examples",
        y="relative error of sum W (Frobenius)",
    ),
    _line(
        name="first-estimate-floor",
        owner="talk",
        says="Even infinitely many samples do not make the first estimate exact: E[X^T J "
        "softmax(X Theta X^T) X] / k is only near the identity.",
        predicts="That mean is I + Theta C (Lemma 19) with C near (1 - E|p|^2) I: a relative error "
        "of s (1 - E|p|^2) / sqrt d, the same for signs and for normal tokens.",
        meaning="Coincidence of signs would show as a difference between the two laws of tokens. "
        "What is predicted goes away with d at a fixed norm of Theta, as d^-1/2.",
        settings=_grid(tokens=["boolean", "gaussian"], d=[8, 16, 32, 64, 128, 256]),
        predict=_predict_floor,
        measure=_measure_floor,
        along="d",
        by="tokens",
        log="xy",
        y="relative bias of sum W (Frobenius)",
    ),
    _line(
        name="first-estimate-norm",
        owner="docs",
        source="",
        says="The bias of the first estimate grows with the norm of Theta while weights are not "
        "sharp; its rank moves it by a bounded factor.",
        predicts="s E[g(s sqrt(x/r)) x/r] / sqrt d, x chi squared with r degrees of freedom, g(a) "
        "= 1 - E|p|^2 at logits of deviation a. Rank 0 is full.",
        meaning="Whether the closed form of the bias holds over norms and ranks, for three tokens.",
        settings=_grid(rank=[1, 4, 0], norm=[0.5, 1.0, 2.0, 4.0, 8.0]),
        predict=_predict_norm,
        measure=_measure_norm,
        along="norm",
        by="rank",
        log="xy",
        x="norm of Theta",
        y="relative bias of sum W (Frobenius)",
    ),
    _line(
        name="first-estimate-rank",
        owner="docs",
        says="The talk has the first estimate 1/poly(r)-close to sum W_i, r the stable rank of the "
        "Theta. At a fixed norm s the error s c / sqrt d falls with d, and r moves c alone.",
        predicts="That error, at ranks of 1 to 16. As r is at most d, s c / sqrt r bounds it.",
        meaning="Whether r varies at a fixed norm the talk does not say.",
        revised="an exponent in r failed; the bound s c / sqrt r could not fail; now the value",
        settings=_grid(d=[64, 256], rank=[1, 4, 16]),
        predict=_predict_rank,
        measure=_measure_rank,
        along="rank",
        by="d",
        log="xy",
        y="relative bias of sum W (Frobenius)",
    ),
    _line(
        name="concentration-weight",
        owner="talk",
        says="Softmax does not concentrate: for a Theta of 200 x 200 entries N(0, .01) its mean is "
        "spread out, and in a sample a row is nearly all in one entry.",
        predicts="k = d here, as the source's k is not legible in what was read. Sample: the "
        "largest of k independent normal logits of deviation .1 d. Mean: 1/k, up to E max(1, exp "
        "v) / k, v what the trace adds to a token's own weight.",
        meaning="The talk's picture, expectation against reality, as numbers.",
        settings=_grid(of=["a sample", "the mean"], d=[50, 100, 200, 400]),
        predict=_predict_largest,
        measure=_measure_largest,
        along="d",
        by="of",
        log="xy",
        x="d = k",
        y="largest weight of a row",
    ),
    _line(
        name="concentration-given-weight",
        owner="talk",
        says="Given the Hamming weight of a fixed substring, the conditional expectation of "
        "softmax concentrates.",
        predicts="The Hamming weight shows one quadratic form, which tells E[sigma']^2 2 s^2 / "
        "d^2 of the variance, whatever the substring's length.",
        meaning="A small share says that this expectation is nearly constant. The substring here "
        "starts the query; which the source takes is not stated in what was read.",
        revised="a band of 4/d became one of 2/d",
        settings=_grid(substring=[0.5, 1.0], d=[6, 8, 10, 12]),
        predict=_predict_given,
        measure=_measure_given,
        along="d",
        by="substring",
        log="xy",
        y="share of variance told by the weight",
    ),
    _line(
        name="logit-gaussian",
        owner="talk",
        says="The usual central limit theorems leave an error for logits of signs, which a local "
        "one avoids where Theta is far from any lattice.",
        predicts="Of a query's logit: half of its atom, C(d, d/2) / 2^(d+1), for Theta = I; for "
        "entries of signs 2 phi(x)/d and a term of the kurtosis -6/(d+2); for normal entries that "
        "term, .138/(d+2), and at most .614 2^(-d/2) more, what the 2^d values leave if those "
        "above 0 lie as independent ones.",
        meaning="Logits on a lattice are off by its step: 2/sqrt d of a deviation for Theta = I, "
        "4/d for signs. The source's size of the error is not legible in what was read.",
        revised="the term of 2^d values was left out; 3000 rows at d = 10 refuted that",
        settings=_grid(theta=["identity", "signs", "normal"], d=[10, 14, 18, 22]),
        predict=_predict_gaussian,
        measure=_measure_gaussian,
        along="d",
        by="theta",
        log="xy",
        y="Kolmogorov distance from normal",
    ),
    _line(
        name="logit-slices",
        owner="paper",
        says="The analysis rests on upper and lower tail bounds for the tokens and for slices of "
        "them.",
        predicts="Taken here: how often the difference of two logits is in a short interval, over "
        "random Theta. Given the tokens it is s |x| |x - y| times a coordinate of the sphere in "
        "d^2 dimensions; two tokens of signs are equal with chance 2^-d.",
        meaning="On the cube no interval, however short, is hit less often than tokens are equal, "
        "whatever Theta is: there anti-concentration ends.",
        revised="to leading order with a band of 2/d, then exact",
        settings=_grid(
            tokens=["boolean", "gaussian"], reach=[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
        ),
        predict=_predict_slices,
        measure=_measure_slices,
        along="reach",
        by="tokens",
        log="xy",
        x="half of the interval",
        y="chance of a logit difference in it, d = 8",
    ),
    _line(
        name="equivariance",
        owner="talk",
        says="Permuting the rows of X permutes those of F(X). Here also: positions break that.",
        predicts="Without positions: rounding, at most 4 d^2 s 2^-53. With normal ones of a size, "
        "two tokens: 2 size sqrt((E tanh^2 + .75 s^2 E sech^4) / (1 + E tanh^2)).",
        meaning="A layer knows the order of its tokens from their positions alone.",
        settings=_grid(k=[3], size=[0.0], d=_DIMS) + _grid(k=[2], size=[0.01], d=_DIMS),
        predict=_predict_positions,
        measure=_measure_positions,
        along="d",
        by="size",
        log="xy",
        y="relative distance of F(PX) from P F(X)",
    ),
    _line(
        name="multi-index",
        owner="talk",
        says="F does not depend on a low-dimensional projection alone; low-rank Theta would be "
        "something to leverage.",
        predicts="Eigenvalues of E[J^T J], J the derivative in X: of sums of W W^T and d E sech^4 "
        "/ 4 sums of Theta Theta^T. Rank 2: at least what the W tell.",
        meaning="Low-rank Theta alone make no multi-index function, for F is linear in what is "
        "attended.",
        settings=_grid(heads=list(_RANKS), d=_DIMS),
        predict=_predict_index,
        measure=_measure_index,
        along="d",
        by="heads",
        log="xy",
        y="directions for 90 % of E[J^T J], of 2 d",
    ),
)
