"""A layer's outputs and their derivatives, for many examples at once.

Everything here has the examples as its last axis: tokens and labels are (k, d, n), as `columns`
makes them. Then all inner loops are long, which is about twice as fast as (n, k, d) for few tokens.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def columns(x: NDArray[Any]) -> Array:
    """Turn (n, k, d) tokens or labels into (k, d, n), float64.

    >>> columns(np.zeros((5, 2, 3))).shape
    (2, 3, 5)
    """
    return np.ascontiguousarray(np.moveaxis(x, 0, 2), np.float64)


def scores(theta: Array, x: Array) -> Array:
    """Compute x_a^T Theta_i x_b for all pairs of tokens: (m, d, d), (k, d, n) -> (m, k, k, n)."""
    left = np.matmul(theta.transpose(0, 2, 1)[:, None], x)
    return np.einsum("iadn,bdn->iabn", left, x)


def softmax(logits: Array) -> Array:
    """Softmax over the last axis but one, shifted by the maximum so that nothing overflows.

    >>> softmax(np.full((2, 1), 1000.0)).tolist()
    [[0.5], [0.5]]
    """
    out = np.exp(logits - logits.max(axis=-2, keepdims=True))
    out /= out.sum(axis=-2, keepdims=True)
    return np.asarray(out)


def softmax_slope(p: Array, change: Array) -> Array:
    """Derive the softmax p in the direction of a change of its logits; the map is symmetric."""
    return np.asarray(p * (change - np.sum(p * change, axis=-2, keepdims=True)))


def attend(p: Array, x: Array) -> Array:
    """Mix the tokens by weights: (m, k, k, n), (k, d, n) -> (k, m, d, n)."""
    return np.einsum("iabn,bdn->aidn", p, x)


def heads_sum(attended: Array, w: Array) -> Array:
    """Apply each head's W to what it attends to and add: (k, m, d, n), (m, d, d) -> (k, d, n)."""
    k, m, d, n = attended.shape
    return np.asarray(w.reshape(m * d, d).T @ attended.reshape(k, m * d, n))


def gram_factor(attended: Array) -> Array:
    """Factor the Gram matrix of what heads attend to, (k, m, d, n): lower triangular, (md, md).

    Two heads may attend alike: as much is added to the diagonal as rounding asks for.
    """
    k, m, d, n = attended.shape
    flat = attended.reshape(k, m * d, n)
    gram = np.sum(flat @ flat.transpose(0, 2, 1), axis=0)
    rounding = np.finfo(np.float64)
    gram += (4 * m * d * rounding.eps * np.trace(gram) + rounding.tiny) * np.eye(m * d)
    return np.linalg.cholesky(gram)


@dataclass(frozen=True, kw_only=True, eq=False)
class Linearized:
    """A softmax layer on tokens x with its Jacobian as a linear map and the map's adjoint. [CL24]

    theta, w: (m, d, d); x: (k, d, n); p: (m, k, k, n), the attention; attended: (k, m, d, n),
    what it attends to; value: (k, d, n), the outputs. rows: of how many tokens, the first, outputs
    count, all where it is 0; the others are 0.

    >>> rng = np.random.default_rng(0)
    >>> theta, w, x = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3)), np.ones((2, 3, 1))
    >>> layer = linearize(theta, w, x)
    >>> bool(np.allclose(layer.product(theta, w), layer.value))  # equal tokens: linear in W alone
    True
    """

    theta: Array
    w: Array
    x: Array
    p: Array
    attended: Array
    value: Array
    rows: int = 0

    def product(self, theta: Array, w: Array) -> Array:
        """Derive the outputs in the direction (theta, w), (m, d, d) each: (k, d, n)."""
        moved = attend(softmax_slope(self.p, scores(theta, self.x)), self.x)
        return _first(heads_sum(self.attended, w) + heads_sum(moved, self.w), self.rows)

    def adjoint(self, cotangent: Array) -> tuple[Array, Array]:
        """Apply the adjoint to a (k, d, n) cotangent: its inner products with all derivatives."""
        k, m, d, n = self.attended.shape
        cotangent = _first(cotangent, self.rows)
        back = cotangent.transpose(0, 2, 1)
        w = np.sum(self.attended.reshape(k, m * d, n) @ back, axis=0).reshape(m, d, d)
        pulled = (self.w.reshape(m * d, d) @ cotangent).reshape(k, m, d, n)
        change = np.einsum("aidn,bdn->iabn", pulled, self.x)
        mixed = attend(softmax_slope(self.p, change), self.x)
        theta = np.zeros((m, d, d))
        for token, part in zip(self.x, mixed, strict=True):
            theta += token @ part.transpose(0, 2, 1)
        return theta, w


def _first(values: Array, rows: int) -> Array:
    """Set what is of other tokens than the first to 0: (k, d, n) -> (k, d, n)."""
    return values * (np.arange(len(values)) < rows)[:, None, None] if rows else values


def linearize(theta: Array, w: Array, x: Array, rows: int = 0) -> Linearized:
    """Evaluate a layer with heads theta, w (m, d, d) on tokens x (k, d, n)."""
    p = softmax(scores(theta, x))
    attended = attend(p, x)
    value = _first(heads_sum(attended, w), rows)
    return Linearized(theta=theta, w=w, x=x, p=p, attended=attended, value=value, rows=rows)
