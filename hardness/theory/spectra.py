"""Walsh spectra of softmax layers on boolean tokens: which degrees their weight lies on.

Of random heads on two tokens the mean weight of each degree is known: attention of a head is
p x_1 + (1 - p) x_2 = a + b tanh(g / 2), a = (x_1 + x_2) / 2, b = (x_1 - x_2) / 2, and its logit
g = 2 <Theta, x_1 b^T> at two points X, X' is what a random direction has of two known ones.
docs/theory.md has the derivations.
"""

import math
from functools import cache, partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hardness.theory.statement import Measured, Predicted, Statement, exactly, mean
from hardness.theory.sums import spread
from hardness.upper.spectra import NEGLIGIBLE, row_spectra, together
from instances.dense import Dense
from instances.krawtchouk import krawtchouk
from instances.spec import parse

Array = NDArray[np.float64]
_ANGLES, _RADII = 256, 24


@cache
def weights(d: int, scale: float, most: int = 0) -> Array:
    """Compute the mean weight of degrees 0 .. most (all, if 0) of a row of two tokens, over m d.

    The mean over random heads of norm `scale` (Theta) and sqrt(d) (W), exactly but for quadrature.
    With h and h' coordinates where X and X' have x_1 != x_2, it depends on how many there are where
    both, neither or one of them has that, and where x_1 and x_1' differ in each of these classes.

    >>> weights(3, 2.0).round(4).tolist()
    [0.0, 0.6398, 0.0, 0.1447, 0.0, 0.0047, 0.0]
    """
    first, second = np.indices((d + 1, d + 1)).reshape(2, -1)
    rows = []
    for same, both in zip(first, second, strict=True):  # coordinates of z = z' = 1, and of -1
        mixed = d - same - both
        if mixed < 0:
            continue
        ways = math.comb(d, same) * math.comb(d - same, both) / 4**d
        half = mixed // 2 + 1  # X and X' may be exchanged
        more, j1, j2, j3 = np.indices((half, same + 1, both + 1, mixed + 1)).reshape(4, -1)
        weight = ways * _row(mixed)[more] * _row(same)[j1] * _row(both)[j2] * _row(mixed)[j3]
        weight *= np.where(2 * more < mixed, 2.0, 1.0) / 2.0**d
        along, apart = same - 2 * j1, both - 2 * j2
        firsts = d - 2 * (j1 + j2 + j3)
        place = (both + more) * (d + 1) + both + mixed - more
        rows.append((weight, along, apart, place, firsts * apart, 2 * (j1 + j2) + mixed))
    every = map(np.concatenate, zip(*rows, strict=True))
    weight, along, apart, place, product, distance = every
    size = d * d + 1
    keys, where = np.unique(place * size + abs(product), return_inverse=True)
    shared = np.sign(product) * _tanhs(d, scale, keys // size, keys % size)[where]
    kernel = weight * (along + apart * shared) / d
    degrees = range((most or 2 * d) + 1)
    table = np.array(krawtchouk(2 * d), np.float64)
    return np.abs([kernel @ table[distance, k] for k in degrees])


def _row(n: int) -> Array:
    return np.array([math.comb(n, j) for j in range(n + 1)], np.float64)


def _tanhs(d: int, scale: float, place: Array, product: Array) -> Array:
    """E tanh(g / 2) tanh(g' / 2): |x_1 b^T|^2 = d h and d h', their inner product as given.

    place: h (d + 1) + h'. tanh(z cos(angle)) is a sum of c_n(z) cos(n angle) over odd n, so that
    the mean over angles is that of c_n(z) c_n(z') cos(n turn) / 2.
    """
    from scipy.special import roots_jacobi

    nodes, radial = roots_jacobi(_RADII, d * d / 2 - 2, 0)
    angles = 2 * np.pi / _ANGLES * np.arange(_ANGLES)
    radii = scale * np.sqrt(d * np.arange(d + 1))[:, None] * np.sqrt((1 + nodes) / 2)
    waves = np.fft.rfft(np.tanh(radii[..., None] * np.cos(angles))).real[..., 1::2]
    both = np.einsum("r,hrn,irn->hin", radial / radial.sum(), waves, waves) * 2 / _ANGLES**2
    first, second = place // (d + 1), place % (d + 1)
    turn = np.arccos(np.clip(product / np.maximum(d * np.sqrt(first * second), 1), 0, 1))
    odd = np.arange(1, _ANGLES // 2, 2)
    out = np.empty(len(turn))
    for start in range(0, len(turn), 1 << 14):
        part = slice(start, start + (1 << 14))
        cosines = np.cos(np.multiply.outer(turn[part], odd))
        out[part] = np.einsum("kn,kn->k", both[first[part], second[part]], cosines)
    return out


def limit(k: int, scale: float) -> float:
    """Compute the share of degree 1 for k tokens of growing dimension: 1 / (k E|p|^2).

    p: the softmax of k independent normal logits of deviation `scale`.

    >>> round(limit(2, 2.0), 4), round(limit(10**4, 0.5) - math.exp(-0.25), 3)
    (0.6579, 0.0)
    """
    return 1 / (k * (1 - spread(scale, k)))


@cache
def _spectra(spec: str, layers: int, seed: int) -> Array:
    """The weights of layers of a family by degree, over m d: (layers, kd + 1)."""
    family = cast(Dense, parse(spec))
    found = []
    for i in range(layers):
        layer = family.instance(layers * seed + i).layer()
        found.append(together(row_spectra(layer, family.k, family.d)).weights)
    return np.array(found) / (family.m * family.d)


def unbiased(x: Array, y: Array, degree: int) -> float:
    """Estimate the weight of a degree of a function of N signs from examples, without bias.

    x: (n, N); y: (n, d). The mean over pairs of different examples of y.y' times the sum of
    chi_T(x) chi_T(x') over the sets of that size, a Krawtchouk polynomial of their distance.
    """
    n, bits = x.shape
    table = np.array(krawtchouk(bits), np.float64)[:, degree]
    total = -table[0] * float((y**2).sum())
    for start in range(0, n, 512):
        part = slice(start, start + 512)
        distance = (bits - x[part] @ x.T) / 2
        total += float((table[distance.astype(np.int64)] * (y[part] @ y.T)).sum())
    return total / (n * (n - 1))


def _drawn(family: Dense, seed: int, count: int) -> tuple[Array, Array]:
    """Tokens of examples of one layer as signs, (n, kd), and the first rows of labels, (n, d)."""
    drawn = family.instance(seed).examples(0, count)
    return drawn.x.reshape(count, -1).astype(np.float64), drawn.y[:, 0]


def _predict_parity(spec: str) -> Predicted:
    return Predicted(low=-NEGLIGIBLE, high=NEGLIGIBLE)


def _parity(spec: str, seed: int) -> Measured:
    found = _spectra(spec, 3, seed)
    return exactly(float((found[:, ::2].sum(axis=1) / found.sum(axis=1)).max()), NEGLIGIBLE)


def _predict_decay(spec: str, degree: int) -> Predicted:
    family = cast(Dense, parse(spec))
    value = float(weights(family.d, family.scale)[degree])  # type: ignore[attr-defined]
    return Predicted(low=value, high=value)


def _decay(spec: str, degree: int, seed: int) -> Measured:
    layers = 40 if "d=8" in spec else 12
    return mean(_spectra(spec, layers, seed)[:, degree], "layers", among=len(_DECAY))


def _predict_sampled(d: int, degree: int) -> Predicted:
    value = float(weights(d, 2.0, 3)[degree])
    return Predicted(low=value, high=value)


def _sampled(d: int, degree: int, seed: int) -> Measured:
    family = cast(Dense, parse(f"nice:m=1,k=2,d={d}"))
    drawn = (_drawn(family, 16 * seed + i, 6000) for i in range(16))
    found = [unbiased(x, y, degree) / d for x, y in drawn]
    return mean(found, "layers of 6000 examples", among=len(_SAMPLED))


def _predict_tokens(k: int, scale: float, d: int) -> Predicted:
    value, error = limit(k, scale), (k / d) ** 2
    return Predicted(low=value * (1 - error), high=value * (1 + error))


def _tokens(k: int, scale: float, d: int, seed: int) -> Measured:
    found = []
    for i in range(10):
        shares = []
        for size in (d, 2 * d):
            family = cast(Dense, parse(f"nice:m=1,k={k},d={size},scale={scale}"))
            x, y = _drawn(family, 10 * seed + i, 8000)
            moment = float(((x.T @ y) ** 2).sum())
            whole = float((y**2).sum())
            first = (moment - k * size * whole) / (len(x) - 1)
            shares.append(first / whole)
        found.append(2 * shares[1] - shares[0])
    return mean(found, "pairs of layers of 8000 examples", among=len(_TOKENS))


def _predict_regression(d: int, degree: int) -> Predicted:
    found = weights(d, 2.0)
    above = float(found[degree + 1 :].sum() / found.sum())
    return Predicted(low=above, high=above * (1 + 2 / _OVER))


def _regression(d: int, degree: int, seed: int) -> Measured:
    from hardness.runs import spectra
    from hardness.upper import parse_learner

    learner = parse_learner(f"lowdegree:degree={degree},oversample={_OVER}")
    found = []
    for i in range(16):
        one = spectra(parse(f"nice:m=2,k=2,d={d}").instance(16 * seed + i), learner, seed=seed)
        if one.attempt:
            found.append(one.attempt.learned.distance / one.target.norm)
    return mean(found, "layers", among=len(_REGRESSION))


_OVER = 20  # examples a monomial
_DECAY = [
    {"spec": spec, "degree": degree}
    for spec in (
        "nice:m=1,k=2,d=8",
        "nice:m=4,k=2,d=8",
        "nice:m=2,k=2,d=8,scale=0.5",
        "nice:m=2,k=2,d=9",
        "nice:m=2,k=2,d=10",
        "nice:m=2,k=2,d=10,scale=8",
    )
    for degree in (1, 3, 5, 7)
]
_SAMPLED = [{"d": d, "degree": degree} for degree in (1, 3) for d in (12, 16, 24, 32)]
_TOKENS = [{"k": k, "scale": s, "d": 128} for s in (1.0, 2.0) for k in (2, 3, 4, 8)]
_REGRESSION = [{"d": d, "degree": degree} for d in (5, 6, 7) for degree in (1, 2, 3)]
_OPEN = "For all one knows attention layers have Fourier decay (a question of the talk, left open)"
_walsh = partial(Statement, subject="spectra", owner="docs")

STATEMENTS = (
    _walsh(
        name="walsh-parity",
        says="On tokens of -1 and +1 no softmax layer has weight on a set of even size: logits "
        "are of degree 2 in X, so F(-X) = -F(X).",
        predicts="Even degrees carry nothing, whatever the heads and the number of tokens.",
        meaning="A polynomial of even degree does no better than one of a degree less.",
        identity=True,
        settings=[
            {"spec": f"nice:m=2,{one}"}
            for one in (*("k=2,d=8", "k=3,d=5", "k=5,d=3,scale=8", "k=2,d=8,noise=0.5"),)
        ],
        predict=_predict_parity,
        measure=_parity,
        along="spec",
        y="share of the weight on even degrees",
    ),
    _walsh(
        name="walsh-decay",
        source="CL24",
        says=f"{_OPEN}. Here: the mean weight of each degree of random heads on two tokens.",
        predicts="Given X and X' two logits are what a random direction has of two known ones: "
        "the weight is a finite sum over overlaps, of the same value for any number of heads.",
        meaning="What is predicted falls with the degree; steeper heads have more on degrees 5 and "
        "7. That is of random layers: a hidden parity has all its weight on degree m.",
        settings=_DECAY,
        predict=_predict_decay,
        measure=_decay,
        along="degree",
        by="spec",
        log="y",
        y="weight of a row over m d",
    ),
    _walsh(
        name="walsh-sampled",
        says="The mean weights of degrees 1 and 3 of random heads on two tokens, beyond what can "
        "be enumerated: 24 to 64 bits.",
        predicts="The same finite sum over overlaps, at larger d.",
        meaning="Samples estimate a weight without bias from pairs of examples. As d grows, degree "
        "1 tends to 1/2 and degree 3 to half the square of a Hermite coefficient of tanh.",
        settings=_SAMPLED,
        predict=_predict_sampled,
        measure=_sampled,
        along="d",
        by="degree",
        log="x",
        y="weight of a row over m d",
    ),
    _walsh(
        name="walsh-tokens",
        says="As d grows the share of degree 1 in a random head on k tokens tends to 1/(k^2 q), q "
        "the mean square of a softmax weight of k normal logits; with many tokens to "
        "exp(-scale^2).",
        predicts="Twice the share at 2d less the share at d leaves an error of 1/d^2, here taken "
        "as (k/d)^2 of the value.",
        meaning="How much of a layer is linear depends on the scale of its logits and the number "
        "of tokens, less and less on their dimension.",
        settings=_TOKENS,
        predict=_predict_tokens,
        measure=_tokens,
        along="k",
        by="scale",
        y="share of degree 1, from d and 2d",
    ),
    _walsh(
        name="lowdegree-layers",
        source="CL24",
        says=f"{_OPEN}. Regression on monomials up to a degree then leaves what lies above it.",
        predicts="A risk of the mean share of weight above the degree, or up to two parts in "
        f"{_OVER} more, as {_OVER} examples a monomial leave one part in {_OVER - 1} of variance.",
        meaning="The spectrum says what polynomials can do: with degree 2 no more than with 1.",
        settings=_REGRESSION,
        predict=_predict_regression,
        measure=_regression,
        along="degree",
        by="d",
        log="y",
        y="relative risk, exact for each layer",
    ),
)
