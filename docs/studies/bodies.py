"""The convex body that rows on which heads agree leave: its size, its axes, a net within it."""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gamma, ndtr
from scipy.stats import chi2, norm
from statement import Array, Measured, Predicted, equal, exactly, family_of, main, mean

from hardness.learners.fitting import Data
from hardness.learners.staged.net import ball, grid
from hardness.learners.staged.paper import Body, extract, support
from instances import parse
from instances.streams import generator

_BODIES = 12
_FAR = 1e3  # a bound on entries that no body reaches
_TOLERANCE = 0.1


def agreeing(theta: Array, rows: int, k: int, epsilon: float, rng: np.random.Generator) -> Array:
    """Draw constraints (rows (k-1), d*d) from rows of normal tokens on which heads nearly agree.

    Logits of each head differ from the first by less than epsilon, uniformly; 0: not at all.
    """
    m, d = len(theta), theta.shape[1]
    x = rng.standard_normal((rows, d))
    apart = rng.standard_normal((rows, k - 1, d)) - x[:, None]
    seen = np.einsum("rd,ide->rie", x, theta[1:] - theta[0])
    wanted = rng.uniform(-epsilon, epsilon, (rows, k - 1, m - 1))
    off = wanted - np.einsum("rje,rie->rji", apart, seen)
    apart += off @ np.linalg.solve(seen @ seen.swapaxes(1, 2), seen)
    return np.asarray(np.einsum("rd,rje->rjde", x, apart).reshape(-1, d * d))


def _drawn(spec: str, seed: int) -> Iterator[tuple[Array, np.random.Generator]]:
    for one in range(seed * _BODIES, (seed + 1) * _BODIES):
        yield parse(spec).instance(one).layer().theta, generator(one, "theory", "bodies")


def predict_body_dimension(layer: str, rows: int) -> Predicted:
    one = family_of(layer)
    left = one.d**2 - min(rows * (one.k - 1), one.d**2 - (one.m - 1))
    return equal(left)


def measure_body_dimension(layer: str, rows: int, seed: int) -> Measured:
    theta, rng = next(_drawn(layer, seed))
    u = agreeing(theta, rows, family_of(layer).k, 0.0, rng)
    return exactly(float(u.shape[1] - np.linalg.matrix_rank(u)))


# Many constraints of a tolerance, as if they were normal vectors of uneven length


@cache
def _lengths(d: int) -> Array:
    """Lengths of constraints over their root mean square, once these are whitened: a sample.

    A constraint is x (x' - x)^T: of variance 3 on symmetric matrices, 1 on antisymmetric ones.
    """
    middle = (np.arange(16) + 0.5) / 16
    square, along = chi2.ppf(middle, d)[:, None, None], norm.ppf(middle)[:, None]
    inner = np.sqrt(square) * (along - np.sqrt(square))
    product = square * ((along - np.sqrt(square)) ** 2 + chi2.ppf(middle, d - 1))
    return np.asarray(np.sqrt((2 * product - inner**2) / (3 * d * d)).ravel())


def _beyond(end: float, lengths: Array) -> tuple[float, float, float]:
    """Chance, mean over length and mean square of what a normal number is beyond +-end/length."""
    ends = end / lengths
    tail, density = ndtr(-ends), np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
    first = 2 * (density - ends * tail) / lengths
    second = 2 * ((1 + ends**2) * tail - ends * density)
    return float(np.mean(2 * tail)), float(first.mean()), float(second.mean())


def half_width(d: int, rows: float) -> float:
    """Predict half of the width of {|<u_r, Theta>| <= 1}, of rows d^2 constraints, in a direction.

    By duality it is the least l_1 norm of multipliers that give the direction; for normal u_r of
    uneven lengths it has a limit, by comparison of gaussian processes.
    """
    found = math.inf
    for end in np.linspace(0, 6, 601):
        chance, first, second = _beyond(end, _lengths(d))
        if chance**2 > second / rows:
            found = min(found, first / math.sqrt(chance**2 - second / rows))
    return found * math.sqrt(2 / 3)  # the mean of 1/variance in a direction


def predict_body_width(layer: str, rows: float) -> Predicted:
    d = family_of(layer).d
    return equal(_TOLERANCE * half_width(d, rows), 1 / d)


def measure_body_width(layer: str, rows: float, seed: int) -> Measured:
    found = []
    for theta, rng in _drawn(layer, seed):
        d = theta.shape[1]
        u = agreeing(theta, round(rows * d * d), 2, _TOLERANCE, rng)
        body = Body(u=u, b=np.zeros(len(u)), epsilon=_TOLERANCE, bound=_FAR)
        direction = _off(rng.standard_normal(d * d), theta)
        found.append(float(support(body, direction).ravel() @ direction))
    return mean(found, "layers", among=8)


def _along(theta: Array) -> Array:
    apart = (theta[1] - theta[0]).ravel()
    return np.asarray(apart / np.linalg.norm(apart))


def _off(vector: Array, theta: Array) -> Array:
    rest = vector - _along(theta) * (_along(theta) @ vector)
    return np.asarray(rest / np.linalg.norm(rest))


# How far the span may turn


def span_tangent(d: int, rows: float, adversary: bool) -> float:
    """Predict the tangent of the angle by which the span of two heads is off, over epsilon.

    Heads one apart, d^2 unknowns, `rows` d^2 constraints on which their logits differ by less than
    epsilon, uniformly. adversary: at most, over all directions that differ as little on each row.
    """
    squares = _lengths(d) ** 2
    if adversary:
        lengths = np.sqrt(squares)
        end = brentq(lambda end: _beyond(end, lengths)[2] - 1 / rows, 1e-9, 20)
        return 1 / end  # the least variance is that on antisymmetric matrices, 1
    size = brentq(lambda s: rows * np.mean(squares * s / (1 + squares * s)) - 1, 1e-9, 1e9)
    return math.sqrt(2 / 3 * size / 3)


def predict_span_unclear(layer: str, noise: str, rows: float) -> Predicted:
    one = family_of(layer)
    if noise == "cube":
        return equal(_TOLERANCE * math.sqrt(one.d**2 - 1), 1e-9)
    by_chance = _TOLERANCE * span_tangent(one.d, rows, False)
    if noise == "random":
        return equal(by_chance, 1 / one.d)
    return Predicted(low=by_chance, high=_TOLERANCE * span_tangent(one.d, rows, True))


def measure_span_unclear(layer: str, noise: str, rows: float, seed: int) -> Measured:
    found = []
    for theta, rng in _drawn(layer, seed):
        d, along, apart = theta.shape[1], _along(theta), float(np.linalg.norm(theta[1] - theta[0]))
        count, epsilon = round(rows * d * d), _TOLERANCE * apart
        if noise == "random":
            u = agreeing(theta, count, 2, epsilon, rng)
            least = np.linalg.eigh(u.T @ u)[1][:, 0]
            cosine = abs(float(least @ along))
            found.append(math.sqrt(1 - cosine**2) / cosine)
        elif noise == "cube":  # no longer than 1 along the hull, and _TOLERANCE across
            basis = np.linalg.qr(np.column_stack([along, rng.standard_normal((d * d, d * d - 1))]))[
                0
            ]
            basis[:, 0] *= _TOLERANCE
            body = Body(u=basis.T, b=np.zeros(d * d), epsilon=_TOLERANCE, bound=_FAR)
            cosine = abs(float(extract(body, 1, rng)[0].ravel() @ along))
            found.append(math.sqrt(1 - cosine**2) / cosine)
        else:  # all rows agree exactly; the true difference is the longest that differs by epsilon
            u = np.vstack([agreeing(theta, count, 2, 0.0, rng), _FAR * along])
            body = Body(u=u, b=np.zeros(len(u)), epsilon=epsilon / apart, bound=_FAR)
            found.append(float(extract(body, 1, rng)[1][0]) / 2)
    return mean(found, "layers", among=9)


# Nets


def _count(dimension: int, steps: int) -> int:
    """The points of the grid of spacing 1/steps on the unit ball."""
    one = np.arange(-steps, steps + 1) ** 2
    squares = one if dimension else np.zeros(1)
    for _ in range(dimension - 1):
        squares = np.add.outer(squares, one)
    return int(np.sum(squares <= steps**2))


def predict_net_size(m: int, steps: int) -> Predicted:
    dimension, off = m - 1, math.sqrt(m - 1) / 2
    volume = math.pi ** (dimension / 2) / gamma(dimension / 2 + 1)
    ends = (float(volume * (steps + sign * off) ** dimension) for sign in (-1, 1))
    low, high = (math.prod(end - i for i in range(m)) / math.factorial(m) for end in ends)
    return Predicted(low=max(low, 0), high=high)


def measure_net_size(m: int, steps: int, seed: int) -> Measured:
    return exactly(float(math.comb(len(ball(m - 1, _count(m - 1, steps))), m)))


def predict_net_error(layer: str, steps: int) -> Predicted:
    one = family_of(layer)
    spacing = 2 * one.scale * math.sqrt((one.m - 1) / one.m) / steps
    return Predicted(high=(one.m - 1) * spacing**2 / 8)


def measure_net_error(layer: str, steps: int, seed: int) -> Measured:
    found, points = [], _count(family_of(layer).m - 1, steps)
    for one in range(seed * _BODIES, (seed + 1) * _BODIES):
        instance = parse(layer).instance(one)
        heads = instance.layer().theta
        centre = heads.mean(axis=0)
        apart = (heads[1:] - heads[0]).reshape(len(heads) - 1, -1)
        directions = np.linalg.qr(apart.T)[0].T.reshape(-1, *centre.shape)
        drawn = instance.examples(0, 4000)
        data = Data(x=drawn.x, y=drawn.y)
        fit = grid(centre, directions, data.cut(0, 3000), data.cut(3000, 4000), points=points)
        found.append(fit.error)
    return mean(found, "layers", among=8)


if __name__ == "__main__":
    main("bodies")
