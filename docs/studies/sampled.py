"""Squared loss of linear transformers on sampled prompts, and its gradient, vector by vector.

The prediction depends on a prompt through S = (1/n) sum_i x_i x_i^T, b = (1/n) sum_i y_i x_i and
the query x. In the notation of `hardness.icl.gram`, layer by layer, R = I - P S Q:

    prediction += b^T Q x,    b <- R (b - S Q^T b),    x <- R x,    S <- R S R^T.

With b and x sampled, only S of the first L - 2 layers is a product of matrices: several times
cheaper than the way of `gram`, which integrates both. Arrays have the prompts last.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from statement import Array

from hardness.icl.prompts import Prompts, root

_AT_ONCE = 12_500  # numbers in the matrices of a part: 100 kB


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """What a prediction depends on: grams (d, d, count), right and query (d, count), target."""

    grams: Array  # S
    right: Array  # b
    query: Array
    target: Array  # (count,)

    def __len__(self) -> int:
        return len(self.target)

    def parts(self) -> Iterator["Batch"]:
        """Cut the batch into pieces that stay in the cache."""
        step = max(1, _AT_ONCE // len(self.right) ** 2)
        for start in range(0, len(self), step):
            cut = (..., slice(start, start + step))
            yield Batch(
                grams=np.ascontiguousarray(self.grams[cut]),
                right=np.ascontiguousarray(self.right[cut]),
                query=np.ascontiguousarray(self.query[cut]),
                target=self.target[cut],
            )


def batch(x: Array, y: Array, target: Array) -> Batch:
    """Reduce prompts to what predictions depend on: x (count, n+1, d), y (count, n)."""
    points = np.ascontiguousarray(x[:, :-1])
    n = points.shape[1]
    grams = points.swapaxes(1, 2) @ points / n
    right = (y[:, None] @ points)[:, 0] / n
    return Batch(
        grams=np.ascontiguousarray(grams.transpose(1, 2, 0)),
        right=np.ascontiguousarray(right.T),
        query=np.ascontiguousarray(x[:, -1].T),
        target=target,
    )


def sample(law: Prompts, rng: np.random.Generator, count: int, shape: float | None = None) -> Batch:
    """Draw a batch of prompts of a law, in a quarter of the time of `Prompts.draw`.

    With a shape k, |x|^2 of whitened points is Gamma(k) with the variance 2d of Gaussian points:
    k = d/2 is the Gaussian again, a small k has heavy tails, and the mean sqrt(2dk). [ACSYJS24]
    """
    x = rng.standard_normal((count, law.n + 1, law.d))
    if shape is not None:
        squares = rng.gamma(shape, np.sqrt(2 * law.d / shape), x.shape[:2])
        x *= np.sqrt(squares / (x**2).sum(axis=2))[:, :, None]
    x = x @ root(law.sigma, 0.5)
    w = rng.standard_normal((count, law.d)) @ root(law.task, 0.5)
    values = (x @ w[:, :, None])[:, :, 0]
    y = values[:, :-1]
    if law.noise:
        y = y + law.noise * rng.standard_normal(y.shape)
    return batch(x, y, values[:, -1])


def predict(theta: Array, data: Batch) -> Array:
    """Predict by the layers theta (L, 2, d, d), P and Q of each: (count,)."""
    return _forward(theta, data)[0]


def loss_and_gradient(theta: Array, data: Batch) -> tuple[float, Array]:
    """Compute the mean of (prediction - target)^2 and its gradient, of the shape of theta."""
    total, gradient = 0.0, np.zeros_like(theta)
    for part in data.parts():
        predicted, tape, read = _forward(theta, part)
        error = predicted - part.target
        total += float((error**2).sum())
        gradient += _backward(theta, tape, read, 2 * error)
    return total / len(data), gradient / len(data)


class _Moved(NamedTuple):
    """How a layer moved S, each (d, d, count)."""

    sq: Array  # S Q
    r: Array  # R = I - P S Q
    rs: Array  # R S


class _Passed(NamedTuple):
    """What a layer met and made, each (d, count) but S: the way back needs all of it."""

    s: Array
    b: Array
    x: Array
    u: Array  # Q x
    turned: Array  # Q^T b
    short: Array  # b - S Q^T b
    m: Array  # Q (b - S Q^T b)
    h: Array  # S Q x
    k: Array  # S m
    moved: _Moved | None  # None: no layer reads the new S


def _forward(theta: Array, data: Batch) -> tuple[Array, list[_Passed], tuple[Array, Array]]:
    """Predict, (count,); the tape has one entry a layer but the last, which only reads."""
    s, b, x = data.grams, data.right, data.query
    predicted, tape = np.zeros_like(data.target), []
    for layer, (p, q) in enumerate(theta[:-1]):
        u, turned = q @ x, q.T @ b
        predicted += (b * u).sum(axis=0)
        short = b - _times(s, turned)
        m = q @ short
        h, k = _times(s, u), _times(s, m)
        moved = _move(p, q, s) if layer < len(theta) - 2 else None
        tape.append(_Passed(s, b, x, u, turned, short, m, h, k, moved))
        b, x = short - p @ k, x - p @ h
        if moved is not None:
            s = np.einsum("ikb,jkb->ijb", moved.rs, moved.r)
    return predicted + (b * (theta[-1, 1] @ x)).sum(axis=0), tape, (b, x)


def _move(p: Array, q: Array, s: Array) -> _Moved:
    sq = _right(s, q)
    r = np.eye(len(q))[:, :, None] - _left(p, sq)
    return _Moved(sq, r, _product(r, s))


def _backward(theta: Array, tape: list[_Passed], read: tuple[Array, Array], error: Array) -> Array:
    """Pull the gradient in the predictions, (count,), back to the layers.

    back_z is the gradient in z: of the new b, x and S on the way into a layer, of its own after.
    """
    out = np.zeros_like(theta)
    (b, x), q = read, theta[-1, 1]
    out[-1, 1] = (error * b) @ x.T
    back_b, back_x, back_s = error * (q @ x), q.T @ (error * b), None
    for layer in reversed(range(len(tape))):
        (p, q), at = theta[layer], tape[layer]
        back_h, back_k = -(p.T @ back_x), -(p.T @ back_b)
        back_m = _times(at.s, back_k)
        back_short = back_b + q.T @ back_m
        back_turned = -_times(at.s, back_short)
        back_u = _times(at.s, back_h) + error * at.b
        out[layer, 0] = -(back_x @ at.h.T) - back_b @ at.k.T
        out[layer, 1] = back_m @ at.short.T + at.b @ back_turned.T + back_u @ at.x.T
        back_x = back_x + q.T @ back_u
        back_b = back_short + q @ back_turned + error * at.u
        new_s = None
        if at.moved is not None and back_s is not None:
            new_s = _back_moved(out[layer], theta[layer], at.s, at.moved, back_s)
        if layer:
            outer = back_k[:, None] * at.m + back_h[:, None] * at.u
            outer -= back_short[:, None] * at.turned
            new_s = outer if new_s is None else new_s + outer
            new_s = (new_s + new_s.swapaxes(0, 1)) / 2
        back_s = new_s
    return out


def _back_moved(out: Array, theta: Array, s: Array, moved: _Moved, back_s: Array) -> Array:
    """Add to P's and Q's gradients what the new S = R S R^T owes them; give that in the old S."""
    p, q = theta
    back_r = 2 * _product(back_s, moved.rs)
    back_sq = -_left(p.T, back_r)
    out[0] -= _sum(back_r, moved.sq)
    out[1] += _sum(s, back_sq.swapaxes(0, 1))
    across = np.ascontiguousarray(moved.r.swapaxes(0, 1))
    return _product(across, _product(back_s, moved.r)) + _right(back_sq, q.T)


def _times(s: Array, v: Array) -> Array:
    """Matrices (d, d, count) times vectors (d, count)."""
    return np.asarray(np.einsum("ijb,jb->ib", s, v))


def _product(a: Array, b: Array) -> Array:
    """Matrices times matrices, prompt by prompt: (d, d, count)."""
    return np.asarray(np.einsum("ijb,jkb->ikb", a, b))


def _left(a: Array, s: Array) -> Array:
    """One matrix times matrices: (d, d, count)."""
    return np.asarray((a @ s.reshape(len(a), -1)).reshape(s.shape))


def _right(s: Array, a: Array) -> Array:
    """Matrices times one matrix: (d, d, count)."""
    return np.asarray(a.T @ s)


def _sum(a: Array, b: Array) -> Array:
    """Sum over the prompts of a b^T."""
    return np.asarray(a.reshape(len(a), -1) @ b.reshape(len(b), -1).T)
