"""In-context learning: what trained linear transformers compute, beside what theory says."""

import math
from functools import lru_cache
from statistics import median
from typing import Any

import landscape
import numpy as np
import sampled
from cubature import cubature, hessian
from optimizers import Course, race
from rules import Adam, Momentum, Rule, State
from scipy.integrate import solve_ivp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import roots_hermitenorm, softmax
from statement import Array, Measured, Predicted, equal, exactly, main, mean, share

from hardness.icl import gram, onelayer, steps
from hardness.icl.gram import Layers
from hardness.icl.prompts import Prompts
from hardness.icl.train import distance, train
from hardness.icl.wishart import gauss
from instances.streams import generator

_ROUNDING = 1e-6  # relative: equal to six digits
_STARTS = 4  # random starts of a descent, of which the best counts
_NOISE = 0.5  # of labels, along the number of examples
_RESIDUAL = 1e-3  # that a depth is to reach
_WIDTH = 2.0  # of the kernel exp(-|x - x'|^2 / (2 width^2)) of random cosines


def _ideal(d: int, n: int, noise: float = 0.0) -> Prompts:
    return Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)


def _multiples(scalars: Any, d: int) -> Array:
    """Give the matrices c_l I, (L, d, d)."""
    return np.asarray(scalars, float)[:, None, None] * np.eye(d)


@lru_cache(maxsize=4)
def _rule(n: int, d: int, layers: int, free: str) -> tuple[Array, Array]:
    """The Gram matrices and weights that integrate a loss exactly: of degree 2 L, or 3^L - 1."""
    return cubature(n, d, 3**layers - 1 if free == "both" else 2 * layers)


@lru_cache(maxsize=256)
def _trained(n: int, d: int, layers: int, free: str, start: int, seed: int) -> tuple[Layers, float]:
    """Descend on the exact loss over all matrices from a small random start, by BFGS.

    free: "q" (P = 0), "both", or "shared", one matrix Q for all layers.
    """
    law, (grams, weights) = _ideal(d, n), _rule(n, d, layers, free)
    matrices = 1 if free == "shared" else layers

    def split(x: Array) -> tuple[Array | None, Array]:
        q = x[: matrices * d * d].reshape(matrices, d, d)
        q = np.repeat(q, layers, axis=0) if free == "shared" else q
        return (x[matrices * d * d :].reshape(layers, d, d) if free == "both" else None), q

    def slope(x: Array) -> tuple[float, Array]:  # of the logarithm: losses are small at the end
        loss, dp, dq = gram.loss_and_gradient(*split(x), grams, law, weights)
        dq = dq.sum(axis=0) if free == "shared" else dq
        parts = [dq.ravel(), dp.ravel()] if free == "both" else [dq.ravel()]
        return math.log(loss), np.concatenate(parts) / loss

    rng = generator(seed, "theory", "icl", n, d, layers, free, start)
    x = rng.normal(0, 0.1 / math.sqrt(d), (2 if free == "both" else 1) * matrices * d * d)
    options: Any = {"gtol": 1e-8, "maxiter": 2000}
    with np.errstate(over="ignore", invalid="ignore"):
        descent = minimize(slope, x, jac=True, method="BFGS", options=options)
    p, q = split(descent.x)
    return Layers(p=np.zeros_like(q) if p is None else p, q=q), math.exp(float(descent.fun))


def _best(n: int, d: int, layers: int, free: str, seed: int) -> tuple[Layers, float]:
    ends = [_trained(n, d, layers, free, start, seed) for start in range(_STARTS)]
    return min(ends, key=lambda end: end[1])


# Readouts of every layer.


def measure_layer_by_layer(d: int, n: int, layers: int, readout: int, seed: int) -> Measured:
    grams, weights = _rule(n, d, layers, "q")
    best = steps.best_steps(n, d, layers).steps
    trained, _ = _best(n, d, layers, "q", seed)
    order = np.argsort(np.argsort([np.trace(q) for q in trained.q]))  # training picks the order
    exact = _multiples(np.array(best)[order], d)
    learned, expected = (gram.residuals(None, q[:readout], grams)[0] for q in (trained.q, exact))
    return exactly(math.sqrt(weights @ ((learned - expected) ** 2).sum(axis=(1, 2)) / d))


# Where random starts of full matrices end.


def measure_same_minimum(d: int, n: int, layers: int, what: str, seed: int) -> Measured:
    free = "both" if "P free" in what else "q"
    least = steps.best_steps(n, d, layers).least
    if free == "both":
        least = steps.best_scalars(n, d, layers).loss
    count = 0
    for start in range(20):
        trained, loss = _trained(n, d, layers, free, start, seed)
        if "least loss" in what:
            count += loss <= float(least) * (1 + _ROUNDING)
        else:  # the last P moves nothing, and P = 0 is a multiple
            count += max(distance(m) for m in (*trained.q, *trained.p[:-1])) <= _ROUNDING
    return share(count, 20, "starts")


# Looped layers.


def predict_looped(d: int, n: int, layers: int) -> Predicted:
    common, free = steps.common_step(n, d, layers).loss, steps.best_steps(n, d, layers).least
    return equal(float(common / free))


def measure_looped(d: int, n: int, layers: int, seed: int) -> Measured:
    shared, free = (_best(n, d, layers, free, seed)[1] for free in ("shared", "q"))
    return exactly(shared / free, _ROUNDING * shared / free)  # where the descents end


# Depth against condition number.


def predict_depth_condition(way: str, kappa: int) -> Predicted:
    if way == "one step size":
        depth = math.log(_RESIDUAL) / math.log((kappa - 1) / (kappa + 1))
    else:
        depth = math.acosh(1 / _RESIDUAL) / math.acosh((kappa + 1) / (kappa - 1))
    return equal(math.ceil(depth))


def measure_depth_condition(way: str, kappa: int, seed: int) -> Measured:
    """Count the layers that predict every direction to 1e-3: points along the axes."""
    d = 8
    labels = np.diag(np.sqrt(d * np.geomspace(1 / kappa, 1, d)))  # S has this spectrum
    prompts = np.concatenate([np.broadcast_to(labels, (d, d, d)), np.eye(d)[:, None]], axis=1)
    for layers in range(1, 1000):
        taken = [2 / (1 + 1 / kappa)] * layers
        if way == "Chebyshev":
            taken = steps.chebyshev_steps(layers, 1 / kappa, 1)
        q = _multiples(taken, d)
        predicted = Layers(p=0 * q, q=q).predict(prompts, labels)  # prompt j asks for axis j
        if np.abs(1 - predicted).max() <= _RESIDUAL * (1 + 1e-9):
            return exactly(layers)
    raise ValueError(f"no depth below 1000 at kappa={kappa}")


# Hessians at the stationary points.


def measure_layer_hessian(d: int, n: int, layers: int, order: str, seed: int) -> Measured:
    grams, weights = _rule(n, d, layers, "both" if order == "GD++" else "q")
    p: Array | None = None
    if order == "GD++":
        scalars = steps.best_scalars(n, d, layers)
        p, q = (_multiples(v, d) for v in (scalars.p, scalars.q))
    else:
        best = steps.best_steps(n, d, layers).steps
        q = _multiples(best if order == "rising" else best[::-1], d)
    values = np.linalg.eigvalsh(hessian(p, q, grams, _ideal(d, n), weights))
    return exactly(float(values[0]), 1e-12 * float(values[-1]))


# Gradient flow of one layer in all its parameters.


def predict_gradient_flow(d: int, n: int, way: str, start: str) -> Predicted:
    return Predicted(low=1, high=1, within=way == "flow" and start == "structured")


def measure_gradient_flow(d: int, n: int, way: str, start: str, seed: int) -> Measured:
    law, count = _ideal(d, n), 40
    if way == "BFGS":
        losses = landscape.ends(law, count, seed)[0]
        return share(landscape.near(law, losses, onelayer.least_loss(law)), count, "starts")
    rng, least = generator(seed, "theory", "flow", d, n, start), onelayer.least_loss(law)

    def down(_: float, x: Array) -> Array:
        return -landscape.pack(*landscape.full_gradient(law, *landscape.unpack(x)))

    ended = 0
    for _ in range(count):
        x = 0.1 * rng.standard_normal((d + 1) ** 2)
        if start == "structured":  # the last row of P reads labels alone, A is positive
            half = rng.standard_normal((d, d))
            rows = np.vstack([0.1 * half @ half.T / d, np.zeros(d)])
            x = landscape.pack(0.1 * np.eye(d + 1)[d], rows)
        end = solve_ivp(down, (0, 3000), x, method="LSODA", rtol=1e-6, atol=1e-8).y[:, -1]
        ended += landscape.full_loss(law, *landscape.unpack(end)) <= least * (1 + 1e-3)
    return share(ended, count, "starts")


# The number of examples in a prompt.


def predict_examples_curve(d: int, n: int, predictor: str) -> Predicted:
    noise, level = _NOISE**2, _NOISE**2 / n
    if predictor == "one layer":
        value = onelayer.least_loss(_ideal(d, n, _NOISE))
    elif predictor == "two layers":
        value = float(steps.best_steps(n, d, 2, _NOISE).least)
    elif predictor == "least squares":  # the mean of an inverse Wishart matrix
        value = noise * d / (n - d - 1) if n > d else d - n + noise * n / (d - n - 1)
    else:
        nodes, weights = gauss(n, d, 60)
        value = d * float(weights @ (level / (nodes + level)))
    return equal(value, 1e-9)


def measure_examples_curve(d: int, n: int, predictor: str, seed: int) -> Measured:
    law = _ideal(d, n, _NOISE)
    data = sampled.sample(law, generator(seed, "theory", "examples", d, n), 40_000)
    if predictor in ("one layer", "two layers"):
        q = np.array(train(law, 1 + (predictor != "one layer"), free="q", seed=seed, fresh=100).q)
        guess = sampled.predict(np.stack([0 * q, q], axis=1), data)
    else:
        level = _NOISE**2 / n if predictor == "ridge" else 0.0
        inverse = np.linalg.pinv(
            data.grams.transpose(2, 0, 1) + level * np.eye(d), rcond=1e-12, hermitian=True
        )
        guess = np.einsum("cij,jc,ic->c", inverse, data.right, data.query)
    return mean((guess - data.target) ** 2, "prompts", among=24)


# Softmax attention on a task that is not linear.


def _linear_loss(d: int, n: int, task: str) -> float:
    """The least loss of one layer of linear attention, labels of variance 1, in closed form."""
    if task == "linear":
        return (d + 1) / (n + d + 1)
    tilt = 1 / (1 + 2 / _WIDTH**2)
    pull = tilt ** (d / 2) * d * (1 - tilt) / 2  # E <x, x'> k(x, x')
    return 1 - pull**2 / (d / n + (1 - 1 / n) * pull)


def predict_softmax_nonlinear(d: int, n: int, task: str, attention: str) -> Predicted:
    least = _linear_loss(d, n, task)
    if attention == "linear":
        return equal(least)
    return Predicted(low=least) if task == "linear" else Predicted(high=least)


def measure_softmax_nonlinear(d: int, n: int, task: str, attention: str, seed: int) -> Measured:
    x = generator(seed, "theory", "softmax", d, n).standard_normal((12_000, n + 1, d))
    products = x @ x.swapaxes(1, 2)
    if task == "linear":
        kernel = products / d
    else:
        squares = np.einsum("cii->ci", products)
        away = squares[:, :, None] + squares[:, None] - 2 * products
        kernel = np.exp(-away / (2 * _WIDTH**2))

    def terms(theta: float, part: slice) -> tuple[Array, Array]:
        """Give f, g: the loss of c sum_i b_i y_i given x is k(x_q, x_q) - 2 c f + c^2 g."""
        b = products[part, :n, n] / n
        if attention == "softmax":
            b = softmax(theta * products[part, :n, n], axis=1)
        square = np.einsum("ci,cij,cj->c", b, kernel[part, :n, :n], b)
        return (b * kernel[part, :n, n]).sum(axis=1), square

    def scale(theta: float) -> tuple[float, float]:  # the best, and by how much it helps
        first, second = (float(v.mean()) for v in terms(theta, slice(4000)))
        return first / second, first**2 / second

    theta = 0.0
    if attention == "softmax":
        theta = minimize_scalar(lambda v: -scale(v)[1], bounds=(0, 4), method="bounded").x
    judge, c = slice(4000, None), scale(theta)[0]
    first, second = terms(theta, judge)
    return mean(kernel[judge, n, n] - 2 * c * first + c**2 * second, "prompts", among=8)


# Conditioning, edges and spikes along training.


@lru_cache(maxsize=8)
def _paths(number: int, seed: int) -> list[Array]:
    """The layers after each 100 steps of SGD and of Adam: the setting of [ACSYJS24], shorter."""
    course = Course(law=_ideal(5, 20), steps=300, marks=3, evaluate=2)
    rules: list[Rule] = [Momentum(rate=0.02), Adam(rate=0.02, second=0.9)]
    return race(course, rules, seed, f"theory {number}")


def measure_conditioning(step: int, seed: int) -> Measured:
    law, ratios = _ideal(5, 20), []
    data = sampled.sample(law, generator(seed, "theory", "conditioning"), 200)
    grams, weights = np.ascontiguousarray(data.grams.transpose(2, 0, 1)), np.full(200, 1 / 200)
    for number in range(6):
        at = [path[step // 100] for path in _paths(number, seed)]
        every = [hessian(x[:, 0], x[:, 1], grams, law, weights) for x in at]
        values = [np.linalg.eigvalsh(each) for each in every]
        sgd, adam = (float(v[-1] / np.median(np.abs(v))) for v in values)
        ratios.append(math.log2(sgd / adam))
    return mean(ratios, "seeds")


@lru_cache(maxsize=16)
def _walk(rate: float, batch: int, start: int, seed: int) -> list[tuple[float, Array, Array]]:
    """Run Adam (.9, .9) on two layers: loss, layers and sqrt of the second moment, by step.

    batch: fresh prompts a step, 0 for the exact gradient.
    """
    d, n, layers = 2, 10, 2
    law, (grams, weights) = _ideal(d, n), _rule(n, d, layers, "both")
    rng = generator(seed, "theory", "edge", str(rate), batch, start)
    x, state, rule = rng.normal(0, 0.05, (layers, 2, d, d)), State(), Adam(rate=rate, second=0.9)
    path = []
    for _ in range(300):
        loss, dp, dq = gram.loss_and_gradient(x[:, 0], x[:, 1], grams, law, weights)
        slope = np.stack([dp, dq], axis=1)
        if batch:
            slope = sampled.loss_and_gradient(x, sampled.sample(law, rng, batch))[1]
        state, move = rule(state, slope)
        size = np.sqrt(state.second / (1 - rule.second**state.count)) + rule.eps
        path.append((loss, x, size))
        x = x + move
    return path


def _beyond(rate: float, x: Array, size: Array) -> float:
    """The largest eigenvalue of D^-1/2 H D^-1/2, D = size, over 2 (1 + b) / (1 - b) / rate."""
    flat = np.concatenate([size[:, 1].ravel(), size[:-1, 0].ravel()])
    grams, weights = _rule(10, 2, 2, "both")
    second = hessian(x[:, 0], x[:, 1], grams, _ideal(2, 10), weights)
    top = np.linalg.eigvalsh(second / np.sqrt(np.outer(flat, flat)))[-1]
    return float(top * rate * 0.1 / 3.8)


def predict_edge(rate: float, of: str) -> Predicted:
    return Predicted(high=1) if of == "median" else Predicted(low=1)


def measure_edge(rate: float, of: str, seed: int) -> Measured:
    eigenvalues = []
    for start in range(4):
        path = _walk(rate, 30 if of == "spikes" else 0, start, seed)
        losses = np.array([loss for loss, *_ in path])
        at = np.arange(len(path) // 2, len(path), 4)
        if of == "spikes":
            rise = losses[1:] / losses[:-1]
            at = np.flatnonzero(rise >= min(1.2, rise.max()))
        beyond = [_beyond(rate, *path[step][1:]) for step in at]
        eigenvalues.append(max(beyond) if of == "largest" else median(beyond))
    return mean(eigenvalues, "starts")


def predict_layer_edge(layers: int, **at: Any) -> Predicted:
    return Predicted(high=2, within=layers == 1)


def measure_layer_edge(d: int, n: int, layers: int, step: int, seed: int) -> Measured:
    law, (grams, weights) = _ideal(d, n), _rule(n, d, layers, "q")
    rng = generator(seed, "theory", "layer edge", d, n, layers)
    q, state, rule = rng.normal(0, 0.05, (layers, d, d)), State(), Adam(rate=0.02)
    for _ in range(step):
        state, move = rule(state, gram.loss_and_gradient(None, q, grams, law, weights)[2])
        q = q + move
    fresh = np.ascontiguousarray(sampled.sample(law, rng, 4000).grams.transpose(2, 0, 1))
    values = np.linalg.eigvals(fresh[:, None] @ q).real
    return mean(values.max(axis=(1, 2)), "prompts")


# Degree.


def predict_degree(layers: int, free: str) -> Predicted:
    return equal(3**layers if free == "both" else 2 * layers + 1)


def measure_degree(layers: int, free: str, seed: int) -> Measured:
    """The slope of log |prediction| in the log of a factor of the whole prompt, far out."""
    d, n = 2, 3
    rng = generator(seed, "theory", "degree", layers)
    p, q = rng.standard_normal((2, layers, d, d))
    model = Layers(p=p if free == "both" else 0 * p, q=q)
    x, y = rng.standard_normal((1, n + 1, d)), rng.standard_normal((1, n))
    near, far = (float(model.predict(t * x, t * y)[0]) for t in (1e3, 2e3))
    return exactly(math.log2(abs(far / near)), 1e-3)


# What the theorem assumes to be zero.


def predict_sparsity(entries: str, **at: Any) -> Predicted:
    return Predicted(low=-_ROUNDING, high=_ROUNDING, within=entries != "corner")


def measure_sparsity(d: int, n: int, layers: int, entries: str, seed: int) -> Measured:
    """Differentiate the loss in entries of Q that are 0, at the best layers whose are.

    Tokens are (x, y) and all matrices (d + 1, d + 1): Z <- Z - P G Z, G = (1/n) Z M Z^T Q. So what
    layers do depends on the points and the task through G alone, and w is integrated as S is.
    """
    degree, size = 3**layers - 1, d + 1
    grams, weights = cubature(n, d, degree)
    x, share = roots_hermitenorm(degree + 1)
    w = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
    of_w = np.prod(np.meshgrid(*[share / share.sum()] * d, indexing="ij"), axis=0).ravel()
    read = np.concatenate([np.broadcast_to(np.eye(d), (len(w), d, d)), w[:, :, None]], axis=2)
    of_tokens = np.einsum("mia,kij,mjb->mkab", read, grams, read, optimize=True)
    scalars = steps.best_scalars(n, d, layers)
    p, q = np.zeros((2, layers, size, size), complex)
    p[:, :d, :d], q[:, :d, :d] = _multiples(scalars.p, d), _multiples(scalars.q, d)
    p[:, d, d] = 1
    slopes = []
    for layer in range(layers):
        for i, j in [(d, d)] if entries == "corner" else [(d, k) for k in range(d)]:
            for at in {(layer, i, j), (layer, j, i)}:
                q[at] = 1e-30j
                turned: Any = np.eye(size)
                for move, attend in zip(p, q, strict=True):
                    inner = turned @ of_tokens @ np.swapaxes(turned, -1, -2)
                    turned = turned - move @ inner @ attend @ turned
                left = turned[:, :, d, :d] + w[:, None]
                slopes.append(of_w @ (left**2).sum(axis=2).imag @ weights / 1e-30)
                q[at] = 0
    return exactly(float(max(slopes, key=abs)))


if __name__ == "__main__":
    main("in_context")
