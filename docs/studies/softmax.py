"""Softmax against linear attention on in-context regression: what each reaches, what bounds it.

Tokens are n points and m queries, rows of x. A_h[i, j] is the softmax over the points i of
x_i^T Theta_h x_j. A layer takes x_j to x_j - P sum_i A[i, j] x_i and y_j to y_j - c sum_i A[i, j]
y_i, summed over its heads. A query is never a key; its y starts at 0 and ends at minus the
prediction. Attention reads x alone, so the prediction is sum_i b_i y_i with weights b of x alone.
Given x, the loss is E (sum_i b_i y_i - <w, x_q>)^2 = |C^(1/2) (X^T b - x_q)|^2 + s^2 |b|^2.

Three ways to treat the scales c_h are compared. They are fixed at 1/n, as in the comparison of
[ACSYJS24] (linear attention needs 1/n, softmax weights sum to 1 without), fixed at 1, or free, as
in a trained matrix of values. Two heads (Theta, c) = (eps A, 1 / (2 eps)) and (-eps A,
-1 / (2 eps)) tend with eps to linear attention on centred points, in all layers at once. After a
rotation centred points are n - 1 points. [HPCY25] saw training of one layer find such heads.

Models are trained by L-BFGS on a fixed sample of prompts: first as multiples of the identity, which
rotations leave alone, from starts of three kinds, then with full matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from statement import Array, table

from hardness.icl.gram import scalar_reference
from hardness.icl.onelayer import least_loss, optimum
from hardness.icl.prompts import Prompts
from instances.streams import generator

OUTPUTS = ("1/n", "1", "free")
_BLOCK_BYTES = 1 << 18  # of one array of attention weights: what stays in the cache
_QUERIES, _STARTS, _FRESH = 4, 4, 20_000  # queries of a prompt, starts, prompts to evaluate on


class Model(NamedTuple):
    """L layers of H heads: Theta and P (L, H, d, d), c (L, H). The last P moves nothing."""

    theta: Array
    value: Array
    scale: Array

    def weights(self, x: Array, n: int) -> Array:
        """Return b, the weights of the n labels in each prediction, (count, n, m)."""
        parts = [_mix(self, _attend(self, x[part], n), n)[0] for part in _blocks(x, n)]
        return np.concatenate(parts)


def losses(weights: Array, x: Array, law: Prompts) -> Array:
    """Compute the loss of each prompt, the mean over its queries, w and noise integrated: (count,).

    weights (count, n, m) is b, x (count, n+m, d).
    """
    residual, pulled = _residual(weights, x, law)
    squares = (residual * pulled).sum(axis=2) + law.noise**2 * (weights**2).sum(axis=1)
    return np.asarray(squares.mean(axis=1))


class _Layer(NamedTuple):
    """What a layer saw: its tokens, those that receive, A by head and A^T x by head."""

    points: Array  # (count, n, d)
    receivers: Array  # (count, r, d): all tokens, in the last layer the queries
    attention: list[Array]  # (count, n, r) each
    mixed: list[Array]  # (count, r, d) each; none in the last layer


def gradient(model: Model, x: Array, law: Prompts) -> tuple[float, Array]:
    """Compute the mean loss and its gradient by reverse mode: flat, in theta, value and scale."""
    loss, total = 0.0, [np.zeros(a.shape) for a in model]
    share = 1.0 / (len(x) * (x.shape[1] - law.n))
    for part in _blocks(x, law.n):
        seen = _attend(model, x[part], law.n)
        weights, states = _mix(model, seen, law.n)
        residual, pulled = _residual(weights, x[part], law)
        loss += float((residual * pulled).sum() + law.noise**2 * (weights**2).sum())
        outer = 2 * share * (x[part][:, : law.n] @ pulled.transpose(0, 2, 1))
        outer += 2 * share * law.noise**2 * weights
        _backward(model, seen, states, outer, total)
    return loss * share, np.concatenate([part.ravel() for part in total])


def _blocks(x: Array, n: int) -> list[slice]:
    step = max(1, _BLOCK_BYTES // (8 * n * x.shape[1]))
    return [slice(i, i + step) for i in range(0, len(x), step)]


def _residual(weights: Array, x: Array, law: Prompts) -> tuple[Array, Array]:
    """X^T b - x_q for every query, (count, m, d), and the same times C."""
    residual = weights.transpose(0, 2, 1) @ x[:, : law.n] - x[:, law.n :]
    return residual, residual @ law.task


def _attend(model: Model, x: Array, n: int) -> list[_Layer]:
    """Run x through the layers."""
    seen, layers = [], len(model.theta)
    for layer in range(layers):
        last = layer == layers - 1
        points, receivers = x[:, :n], x[:, n:] if last else x
        turned = receivers.transpose(0, 2, 1)
        attention = [_softmax((points @ theta) @ turned) for theta in model.theta[layer]]
        mixed = [] if last else [a.transpose(0, 2, 1) @ points for a in attention]
        seen.append(_Layer(points, receivers, attention, mixed))
        for value, moved in zip(model.value[layer], mixed, strict=False):
            x = x - moved @ value.T
    return seen


def _softmax(logits: Array) -> Array:
    """Softmax over axis 1, in place, shifted by the maximum so that nothing overflows."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def _mix(model: Model, seen: list[_Layer], n: int) -> tuple[Array, list[Array]]:
    """Weights b of the labels, by Horner's rule from the last layer: b <- k + b - K b.

    k and K are the columns of sum_h c_h A_h of queries and of points. Returns b and what it was
    before each step, from the last layer to the first.
    """
    b, states = np.zeros(seen[-1].attention[0].shape), []
    for layer in reversed(range(len(seen))):
        states.append(b)
        total = _summed(model, seen[layer], layer)
        b = total if layer == len(seen) - 1 else total[:, :, n:] + b - total[:, :, :n] @ b
    return b, states


def _summed(model: Model, seen: _Layer, layer: int) -> Array:
    return np.asarray(sum(c * a for c, a in zip(model.scale[layer], seen.attention, strict=True)))


def _backward(
    model: Model, seen: list[_Layer], states: list[Array], outer: Array, total: list[Array]
) -> None:
    """Add the derivatives of the block to total, given that in b, (count, n, m)."""
    count, n, m = outer.shape
    columns = []  # the derivative in sum_h c_h A_h, from the first layer to the last
    for layer in range(len(seen) - 1):
        inner = -outer @ states[-1 - layer].transpose(0, 2, 1)
        columns.append(np.concatenate([inner, outer], axis=2))
        outer = outer - _summed(model, seen[layer], layer)[:, :, :n].transpose(0, 2, 1) @ outer
    columns.append(outer)
    moving = np.zeros((count, n + m, model.theta.shape[-1]))  # in the tokens after a layer
    for layer in reversed(range(len(seen))):
        moving = _layer_backward(model, seen[layer], layer, columns[layer], moving, total)


def _layer_backward(
    model: Model, seen: _Layer, layer: int, columns: Array, moving: Array, total: list[Array]
) -> Array:
    """Add one layer's derivatives to total; return the derivative in the tokens before it."""
    d_theta, d_value, d_scale = total
    count, n, d = seen.points.shape
    d_points, d_receivers = np.zeros((count, n, d)), np.zeros(seen.receivers.shape)
    if seen.mixed:
        d_receivers += moving
    for head, a in enumerate(seen.attention):
        theta = model.theta[layer, head]
        d_scale[layer, head] += (a * columns).sum()
        d_a = model.scale[layer, head] * columns
        if seen.mixed:
            d_mixed = -moving @ model.value[layer, head]
            d_value[layer, head] -= moving.reshape(-1, d).T @ seen.mixed[head].reshape(-1, d)
            d_a = d_a + seen.points @ d_mixed.transpose(0, 2, 1)
            d_points += a @ d_mixed
        d_a *= a
        d_a -= a * d_a.sum(axis=1, keepdims=True)
        pulled = d_a @ seen.receivers  # (count, n, d)
        d_theta[layer, head] += seen.points.reshape(-1, d).T @ pulled.reshape(-1, d)
        d_points += pulled @ theta.T
        d_receivers += d_a.transpose(0, 2, 1) @ (seen.points @ theta)
    everything = np.zeros_like(moving)
    everything[:, -seen.receivers.shape[1] :] = d_receivers
    everything[:, :n] += d_points
    return everything


# Training.


@dataclass(frozen=True)
class Form:
    """An affine family of models (layers, heads, d): offset + basis @ z, z the free parameters."""

    shape: tuple[int, int, int]
    offset: Array
    basis: Any  # a sparse matrix of zeros and ones

    def model(self, z: Array) -> Model:
        """Build the model of z."""
        layers, heads, d = self.shape
        flat, size = self.offset + self.basis @ z, layers * heads * d * d
        theta, value = flat[: 2 * size].reshape(2, layers, heads, d, d)
        return Model(theta, value, flat[2 * size :].reshape(layers, heads))

    def nearest(self, model: Model) -> Array:
        """Return the z of the family's model that is nearest to another: least squares."""
        flat = np.concatenate([part.ravel() for part in model])
        # No two columns of a basis meet in a row, so they are orthogonal.
        lengths = self.basis.multiply(self.basis).sum(axis=0)
        return np.asarray((flat - self.offset) @ self.basis / lengths)


def form(shape: tuple[int, int, int], scale: float | None, scalar: bool) -> Form:
    """All models of a shape, or those of multiples of the identity; scale: that of all heads."""
    layers, heads, d = shape
    entries = np.arange(0, d * d, d + 1) if scalar else np.arange(d * d)
    variables = np.zeros(d, np.int64) if scalar else np.arange(d * d)
    cells, each = layers * heads, int(variables.max()) + 1
    matrices, size = 2 * cells - heads, 2 * cells * d * d  # the last layer's values move nothing
    scales = np.arange(cells if scale is None else 0)
    rows = np.append(np.arange(matrices)[:, None] * d * d + entries, size + scales)
    columns = np.append(np.arange(matrices)[:, None] * each + variables, matrices * each + scales)
    offset = np.append(np.zeros(size), np.full(cells, scale or 0.0))
    shape_ = (len(offset), matrices * each + len(scales))
    basis = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape_)
    return Form(shape, offset, basis)


def fit(
    family: Form, law: Prompts, x: Array, start: Array, unit: Array, steps: int
) -> tuple[float, Array]:
    """Minimise the mean loss over the prompts x from z = start by L-BFGS in z / unit: (loss, z).

    unit (k,) is the size of each parameter: those of opposite heads differ by factors of a hundred.
    """

    def goal(u: Array) -> tuple[float, Array]:
        loss, slope = gradient(family.model(u * unit), x, law)
        return loss, slope @ family.basis * unit

    options: Any = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-7}
    end: Any = minimize(goal, start / unit, jac=True, method="L-BFGS-B", options=options)
    return float(end.fun), np.asarray(end.x * unit)


def begin(family: Form, rng: np.random.Generator, k: int, free: bool) -> Array:
    """Draw multiples of the identity, of the kind that start number k is to have."""
    layers, heads, d = family.shape
    shape, eye = (layers, heads), np.eye(d)
    if not free:  # of either sign
        theta, value = rng.standard_normal((2, *shape)) * np.array([0.5, 0.3])[:, None, None]
        scale = np.ones(shape)
    elif heads > 1 and k % 2 == 0:  # pairs (theta, P, c), (-theta, -P, -c): near linear attention
        jitter, place = np.exp(0.3 * rng.standard_normal((3, *shape))), np.arange(heads)
        sign = np.where(place < heads - heads % 2, np.where(place % 2, -1.0, 1.0), 0.0)
        # What is left to predict shrinks from layer to layer, and so do the points.
        size = 0.05 * 2.0 ** np.arange(layers)[:, None] if layers > 1 else np.full((1, 1), 0.1)
        theta = np.where(sign, sign, 1.0) * size * jitter[0]
        value, scale = 4 * sign * jitter[1], 4 * sign * jitter[2]
    else:  # positive, of the sizes at which one head was seen to end
        jitter = np.exp(0.5 * rng.standard_normal((3, *shape)))
        last = np.where(np.arange(layers) == layers - 1, min(layers + 1, 4), 1)[:, None]
        theta, value, scale = 0.5 * jitter[0], 0.8 * jitter[1], last * jitter[2] / heads
    return family.nearest(Model(theta[..., None, None] * eye, value[..., None, None] * eye, scale))


def sizes(z: Array) -> Array:
    """Take the size of each parameter from a start, at least 0.01."""
    return np.maximum(np.abs(z), 0.01)


# The study.


class Prompted:
    """Prompts to train on, and fresh ones with losses of exactly known mean; sigma must be I."""

    def __init__(self, law: Prompts, prompts: int, fresh: int, seed: int) -> None:
        self.law = law
        self.wide = self._points(seed, "train", 5 * prompts)  # one layer costs a tenth
        self.train, self.fresh = self.wide[:prompts], self._points(seed, "evaluate", fresh)
        self._controls = controls(law, self.fresh)

    def _points(self, seed: int, axis: str, count: int) -> Array:
        """Draw x of prompts with several queries each: (count, n + queries, d)."""
        longer = replace(self.law, n=self.law.n + _QUERIES - 1, noise=0.0)
        return longer.draw(seed, f"softmax {axis}", 0, count).x

    def estimate(self, model: Model) -> tuple[float, float]:
        """Estimate a loss on the fresh prompts, with the controls regressed out; its error."""
        measured = losses(model.weights(self.fresh, self.law.n), self.fresh, self.law)
        design = np.column_stack([np.ones(len(measured)), self._controls])
        rest = measured - self._controls @ np.linalg.lstsq(design, measured, rcond=None)[0][1:]
        return float(rest.mean()), float(rest.std() / np.sqrt(len(rest)))


def controls(law: Prompts, x: Array) -> Array:
    """Losses less their exact means of one linear layer, on the points and on centred ones.

    Returns (count, 2): control variates for whatever is estimated on x; sigma must be I.
    """
    n, columns = law.n, []
    keys, queries = x[:, :n], x[:, n:].transpose(0, 2, 1)
    for held, count in ((keys, n), (keys - keys.mean(axis=1, keepdims=True), n - 1)):
        shorter = replace(law, n=count)
        b = held @ (optimum(shorter) @ queries) / count
        columns.append(losses(b, x, law) - least_loss(shorter))
    return np.stack(columns, axis=1)


def trained(
    data: Prompted, layers: int, heads: int, output: str, steps: int, seed: int
) -> list[tuple[int, float, float]]:
    """Train multiples of the identity from several starts, then full matrices from the best.

    Returns the number of free parameters, the loss and its error of full matrices, of multiples.
    """
    law, shape = data.law, (layers, heads, data.law.d)
    fixed = {"1/n": 1 / law.n, "1": 1.0, "free": None}[output]
    narrow, wide = form(shape, fixed, scalar=True), form(shape, fixed, scalar=False)
    rng = generator(seed, "softmax start", layers, heads, output)
    x = data.train if layers > 1 else data.wide
    few = x[: max(2, len(x) // 4)]
    starts = [begin(narrow, rng, k, fixed is None) for k in range(_STARTS)]
    tries = [fit(narrow, law, few, z, sizes(z), steps // 2) for z in starts]
    best = min(tries, key=lambda end: end[0])[1]
    model = narrow.model(fit(narrow, law, x, best, sizes(best), steps)[1])
    matrices = model.theta.shape
    theta, value = (np.broadcast_to(sizes(m[:, :, :1, :1]), matrices) for m in model[:2])
    unit = wide.nearest(Model(theta, value, sizes(model.scale)))
    # Off the saddle that a symmetry may make: each matrix times one near the identity.
    turns = [np.eye(law.d) + 0.002 * rng.standard_normal(matrices) for _ in range(2)]
    twisted = Model(model.theta @ turns[0], model.value @ turns[1], model.scale)
    large = wide.model(fit(wide, law, x, wide.nearest(twisted), unit, steps)[1])
    return [
        (family.basis.shape[1], *data.estimate(m)) for family, m in ((wide, large), (narrow, model))
    ]


def references(law: Prompts, depth: int) -> list[tuple[str, float, str]]:
    """Collect what needs no training of so many layers: name, loss, how it is known.

    Two opposite heads tend to linear attention on centred points, which is that of n - 1 points.
    One head may centre in its first layer and use the others as linear layers: (1 + 1/n) times
    their loss over n - 1 points.
    """

    def best(count: int, layers: int) -> float | None:
        shorter = replace(law, n=count)
        if layers == 1:
            return least_loss(shorter)
        return scalars.loss if (scalars := scalar_reference(shorter, layers, "both")) else None

    n, known = law.n, "closed form" if depth == 1 else "best found"
    every = [("linear", best(n, depth), known), ("two heads, limit", best(n - 1, depth), known)]
    if depth > 1 and (inner := best(n - 1, depth - 1)) is not None:
        how = "closed form" if depth == 2 else known
        every.append(("one head, limit", (1 + 1 / n) * inner, how))
    return [(name, value, how) for name, value, how in every if value is not None]


def number(loss: float, error: float = 0.0) -> str:
    """Write a loss and its standard error to the same digits."""
    digits = max(0, -int(f"{error:.0e}".partition("e")[2]))
    return f"{loss:.{digits}f} +- {error:.{digits}f}" if error else f"{loss:.5g}"


def study(
    law: Prompts,
    layers: Sequence[int],
    heads: Sequence[int],
    prompts: int = 1000,
    fresh: int = _FRESH,
    steps: int = 100,
    seed: int = 0,
) -> str:
    """Train softmax models of every number of layers and heads, beside references: a table.

    law: of n >= d points in white coordinates, without noise, where ridge regression loses 0.
    """
    data, rows = Prompted(law, prompts, fresh, seed), []
    for name, value, known in (("predicting 0", law.power, "closed form"), ("ridge", 0, "exact")):
        rows.append([name, "-", "-", "-", number(value), known])
    for depth in layers:
        for name, loss, known in references(law, depth):
            rows.append([name, str(depth), "-", "-", number(loss), known])
        for wide, output in product(heads, OUTPUTS):
            models = trained(data, depth, wide, output, steps, seed)
            for kind, (free, loss, error) in zip(("", ", c I"), models, strict=True):
                name = f"softmax, {wide} head{'s' * (wide > 1)}{kind}"
                rows.append([name, str(depth), output, str(free), number(loss, error), "trained"])
    return table(["model", "layers", "output", "free", "loss", "known"], rows)


if __name__ == "__main__":
    ideal = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    print("in-context regression, n=20 points, d=5, no noise, seed 0: loss\n")
    print(study(ideal, layers=[1, 3], heads=[1, 2]))
