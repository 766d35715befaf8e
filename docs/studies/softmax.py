"""Softmax attention on in-context linear regression: the model, its exact loss given x, gradients.

Tokens are n points and m queries, rows of x. With A_h[i, j] = softmax over the points i of
x_i^T Theta_h x_j, a layer takes x_j to x_j - P sum_i A[i, j] x_i and y_j to y_j - c sum_i A[i, j]
y_i, summed over its heads. A query is never a key; its y starts at 0 and ends at minus the
prediction. Attention reads x alone, so the prediction is sum_i b_i y_i with weights b of x alone,
and given x the loss is E (sum_i b_i y_i - <w, x_q>)^2 = |C^(1/2) (X^T b - x_q)|^2 + s^2 |b|^2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.errors import UsageError
from instances.prompts import Prompts

Array = NDArray[np.float64]
_BLOCK_BYTES = 1 << 18  # of one array of attention weights: what stays in the cache


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxTransformer:
    """L layers of H heads: theta and value (L, H, d, d), scale (L, H).

    theta is Theta, value is P and scale is c above. The value of the last layer moves nothing.
    [ACDS23] has the linear layer of this form, with x_i^T Q x_j / n for the softmax.

    >>> one = np.eye(2)[None, None]
    >>> model = SoftmaxTransformer(theta=0 * one, value=0 * one, scale=np.ones((1, 1)))
    >>> float(model.predict([[[1, 0], [0, 1], [1, 1]]], [[3.0, 5.0]])[0, 0])  # the mean of y
    4.0
    """

    theta: Array
    value: Array
    scale: Array

    def __post_init__(self) -> None:
        for name in ("theta", "value", "scale"):
            given = np.array(getattr(self, name), np.float64)
            if not np.isfinite(given).all():
                raise UsageError(f"{name} has entries that are not finite")
            given.setflags(write=False)
            object.__setattr__(self, name, given)
        shape = self.theta.shape
        if len(shape) != 4 or shape[2] != shape[3] or not self.theta.size:
            raise UsageError(f"theta of shape {shape} given: (layers, heads, d, d) is needed")
        if self.value.shape != shape or self.scale.shape != shape[:2]:
            raise UsageError(
                f"theta {shape}, value {self.value.shape}, scale {self.scale.shape} given: value "
                "must be of the shape of theta and scale of (layers, heads)"
            )

    @property
    def layers(self) -> int:
        """The number of layers."""
        return int(self.theta.shape[0])

    @property
    def d(self) -> int:
        """The dimension of a point."""
        return int(self.theta.shape[2])

    def predict(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Predict the labels of m queries: x (count, n+m, d) and y (count, n) -> (count, m)."""
        tokens, labels = np.asarray(x, np.float64), np.asarray(y, np.float64)
        weights = self.weights(tokens, labels.shape[-1])
        return np.asarray((labels[:, None] @ weights)[:, 0])

    def weights(self, x: Array, n: int) -> Array:
        """Return b, the weights of the n labels in each prediction, (count, n, m)."""
        if x.ndim != 3 or x.shape[2] != self.d or x.shape[1] <= n:
            raise UsageError(f"x of shape {x.shape} given: (count, more than {n}, {self.d}) needed")
        out = np.empty((len(x), n, x.shape[1] - n))
        for part in _blocks(x, n):
            out[part] = _mix(self, _attend(self, x[part], n), n)[0]
        return out

    def losses(self, x: Array, law: Prompts) -> Array:
        """Compute the loss of each prompt of x (count, n+m, d), exact in w and noise: (count,)."""
        return losses(self.weights(x, law.n), x, law)


def losses(weights: Array, x: Array, law: Prompts) -> Array:
    """Compute the loss of predictions sum_i b_i y_i, the mean over the queries: (count,).

    weights (count, n, m) is b, x (count, n+m, d). With w and noise integrated out the loss is
    |C^(1/2) (X^T b - x_q)|^2 + s^2 |b|^2.
    """
    residual, pulled = _residual(weights, x, law)
    squares = (residual * pulled).sum(axis=2) + law.noise**2 * (weights**2).sum(axis=1)
    return np.asarray(squares.mean(axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Layer:
    """What a layer saw: its tokens, those that receive, A by head and A^T x by head."""

    points: Array  # (count, n, d)
    receivers: Array  # (count, r, d): all tokens, in the last layer the queries
    attention: list[Array]  # (count, n, r) each
    mixed: list[Array]  # (count, r, d) each; none in the last layer


def gradient(model: SoftmaxTransformer, x: Array, law: Prompts) -> tuple[float, Array]:
    """Compute the mean of `losses` and its gradient by reverse mode; x (count, n+m, d).

    The gradient is flat: in theta, in value and in scale, in the order of their entries.
    """
    loss, total = 0.0, [np.zeros(a.shape) for a in (model.theta, model.value, model.scale)]
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


def _attend(model: SoftmaxTransformer, x: Array, n: int) -> list[_Layer]:
    """Run x through the layers."""
    seen = []
    for layer in range(model.layers):
        last = layer == model.layers - 1
        points, receivers = x[:, :n], x[:, n:] if last else x
        turned = receivers.transpose(0, 2, 1)
        attention = [_softmax((points @ theta) @ turned) for theta in model.theta[layer]]
        mixed = [] if last else [a.transpose(0, 2, 1) @ points for a in attention]
        seen.append(_Layer(points=points, receivers=receivers, attention=attention, mixed=mixed))
        for value, moved in zip(model.value[layer], mixed, strict=False):
            x = x - moved @ value.T
    return seen


def _softmax(logits: Array) -> Array:
    """Softmax over axis 1, in place, shifted by the maximum so that nothing overflows."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def _mix(model: SoftmaxTransformer, seen: list[_Layer], n: int) -> tuple[Array, list[Array]]:
    """Weights b of the labels, by Horner's rule from the last layer: b <- k + b - K b.

    k and K are the columns of sum_h c_h A_h of queries and of points. Returns b and what it was
    before each step, from the last layer to the first.
    """
    b = np.zeros(seen[-1].attention[0].shape)
    states = []
    for layer in range(model.layers - 1, -1, -1):
        states.append(b)
        total = _summed(model, seen[layer], layer)
        b = total if layer == model.layers - 1 else total[:, :, n:] + b - total[:, :, :n] @ b
    return b, states


def _summed(model: SoftmaxTransformer, seen: _Layer, layer: int) -> Array:
    return np.asarray(
        sum(c * a for c, a in zip(model.scale[layer], seen.attention, strict=True)), np.float64
    )


def _backward(
    model: SoftmaxTransformer,
    seen: list[_Layer],
    states: list[Array],
    outer: Array,
    total: list[Array],
) -> None:
    """Add the derivatives of the block to total, given that in b, (count, n, m)."""
    n = outer.shape[1]
    columns = []  # the derivative in sum_h c_h A_h, from the first layer to the last
    for layer in range(model.layers):
        if layer == model.layers - 1:
            columns.append(outer)
            break
        inner = -outer @ states[-1 - layer].transpose(0, 2, 1)
        columns.append(np.concatenate([inner, outer], axis=2))
        outer = outer - _summed(model, seen[layer], layer)[:, :, :n].transpose(0, 2, 1) @ outer
    count, _, m = outer.shape
    moving = np.zeros((count, n + m, model.d))  # the derivative in the tokens after a layer
    for layer in range(model.layers - 1, -1, -1):
        moving = _layer_backward(model, seen[layer], layer, columns[layer], moving, total)


def _layer_backward(
    model: SoftmaxTransformer,
    seen: _Layer,
    layer: int,
    columns: Array,
    moving: Array,
    total: list[Array],
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
