"""Walsh spectra of softmax layers on boolean tokens: which degrees their weight lies on.

Of random heads on two tokens the mean weight of each degree is known: attention of a head is
p x_1 + (1 - p) x_2 = a + b tanh(g / 2), a = (x_1 + x_2) / 2, b = (x_1 - x_2) / 2, and its logit
g = 2 <Theta, x_1 b^T> at two points X, X' is what a random direction has of two known ones.
docs/theory.md has the derivations.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.special import roots_jacobi
from statement import Array, Measured, Predicted, equal, exactly, family_of, main, mean
from sums import spread

from hardness.learners.spectra import NEGLIGIBLE, row_spectra, together
from hardness.runs import spectra
from hardness.runs.registry import parse_learner
from instances import parse
from instances.symmetric import krawtchouk

_ANGLES, _RADII = 256, 24


@cache
def weights(d: int, scale: float, most: int = 0) -> Array:
    """Compute the mean weight of degrees 0 .. most (all, if 0) of a row of two tokens, over m d.

    The mean over random heads of norm `scale` (Theta) and sqrt(d) (W), exactly but for quadrature.
    With h and h' coordinates where X and X' have x_1 != x_2, it depends on how many there are where
    both, neither or one of them has that, and where x_1 and x_1' differ in each of these classes.
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


@cache
def _spectra(spec: str, layers: int, seed: int) -> Array:
    """The weights of layers of a family by degree, over m d: (layers, kd + 1)."""
    family = family_of(spec)
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


def _drawn(family: Any, seed: int, count: int) -> tuple[Array, Array]:
    """Tokens of examples of one layer as signs, (n, kd), and the first rows of labels, (n, d)."""
    drawn = family.instance(seed).examples(0, count)
    return drawn.x.reshape(count, -1).astype(np.float64), drawn.y[:, 0]


def measure_walsh_parity(spec: str, seed: int) -> Measured:
    found = _spectra(spec, 3, seed)
    return exactly(float((found[:, ::2].sum(axis=1) / found.sum(axis=1)).max()), NEGLIGIBLE)


def predict_walsh_decay(spec: str, degree: int) -> Predicted:
    family = family_of(spec)
    return equal(float(weights(family.d, family.scale)[degree]))


def measure_walsh_decay(spec: str, degree: int, seed: int) -> Measured:
    layers = 40 if "d=8" in spec else 12
    return mean(_spectra(spec, layers, seed)[:, degree], "layers", among=24)


def predict_walsh_sampled(d: int, degree: int) -> Predicted:
    return equal(float(weights(d, 2.0, 3)[degree]))


def measure_walsh_sampled(d: int, degree: int, seed: int) -> Measured:
    family = family_of(f"nice:m=1,k=2,d={d}")
    drawn = (_drawn(family, 16 * seed + i, 6000) for i in range(16))
    found = [unbiased(x, y, degree) / d for x, y in drawn]
    return mean(found, "layers of 6000 examples", among=8)


def predict_walsh_tokens(k: int, scale: float, d: int) -> Predicted:
    """Degree 1 has 1 / (k E|p|^2) of it where d grows, p the softmax of k normal logits."""
    return equal(1 / (k * (1 - spread(scale, k))), (k / d) ** 2)


def measure_walsh_tokens(k: int, scale: float, d: int, seed: int) -> Measured:
    found = []
    for i in range(10):
        shares = []
        for size in (d, 2 * d):
            family = family_of(f"nice:m=1,k={k},d={size},scale={scale}")
            x, y = _drawn(family, 10 * seed + i, 8000)
            moment = float(((x.T @ y) ** 2).sum())
            whole = float((y**2).sum())
            first = (moment - k * size * whole) / (len(x) - 1)
            shares.append(first / whole)
        found.append(2 * shares[1] - shares[0])
    return mean(found, "pairs of layers of 8000 examples", among=8)


def predict_lowdegree_layers(d: int, degree: int) -> Predicted:
    found = weights(d, 2.0)
    above = float(found[degree + 1 :].sum() / found.sum())
    return Predicted(low=above, high=above * (1 + 2 / _OVER))


def measure_lowdegree_layers(d: int, degree: int, seed: int) -> Measured:
    learner = parse_learner(f"lowdegree:degree={degree},oversample={_OVER}")
    found = []
    for i in range(16):
        one = spectra(parse(f"nice:m=2,k=2,d={d}").instance(16 * seed + i), learner, seed=seed)
        if one.attempt:
            found.append(one.attempt.learned.distance / one.target.norm)
    return mean(found, "layers", among=9)


_OVER = 20  # examples a monomial

if __name__ == "__main__":
    main("spectra")
