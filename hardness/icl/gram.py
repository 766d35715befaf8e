"""Linear transformers of L layers on prompts of linear regression, and their Gram form. [ACDS23]

A layer reads X (d, n+1), the query last, and a row y (n+1,) that starts with 0 at the query:

    X <- X - (1/n) P X M X^T Q X,    y <- y - (1/n) y M X^T Q X,    M = diag(1, .., 1, 0),

and minus the last entry of y is the prediction. With P = 0 the layers are gradient-descent steps of
the preconditioner Q. What L layers do to a prompt depends on it through S = (1/n) sum_i x_i x_i^T
and b = (1/n) sum_i y_i x_i alone: the prediction is -b^T N x_query, where T = I, N = 0 and layer by
layer

    G = T^T Q T,    W = S G,    N <- N - G - N W,    T <- T - P T W.

So it falls short of the target by w^T U x_query + (1/n) sum_i noise_i x_i^T N x_query, where
U = I + S N, and the loss given S is tr(task U sigma U^T) + (noise^2/n) tr(S N sigma N^T): only S
is left to sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.prompts import Prompts, root
from instances.errors import UsageError

Array = NDArray[np.float64]
_AT_ONCE = 1 << 15  # numbers in the matrices of a batch: a tape then stays in the cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """L layers of linear attention, p and q (L, d, d); raises UsageError for other shapes.

    >>> step = Layers(p=np.zeros((1, 2, 2)), q=np.eye(2)[None])
    >>> x = np.array([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])
    >>> step.predict(x, np.array([[3.0, 1.0]])).tolist()  # (3 <x_1, x_q> + 1 <x_2, x_q>) / 2
    [2.5]
    """

    p: Array
    q: Array

    def __post_init__(self) -> None:
        shape = np.shape(self.q)
        if len(shape) != 3 or shape[1] != shape[2] or min(shape) < 1 or np.shape(self.p) != shape:
            raise UsageError(
                f"p and q must have one shape (L, d, d), got {np.shape(self.p)} and {shape}"
            )

    def predict(self, x: Array, y: Array) -> Array:
        """Predict <w, x_query> token by token: x (count, n+1, d), y (count, n) -> (count,)."""
        n = y.shape[1]
        labels = np.concatenate([y, np.zeros((len(y), 1))], axis=1)
        for p, q in zip(self.p, self.q, strict=True):
            points, keys = x[:, :-1], x @ q.T
            right = np.einsum("ci,cij->cj", labels[:, :-1], points) / n
            second = points.swapaxes(1, 2) @ points / n
            labels = labels - np.einsum("cij,cj->ci", keys, right)
            x = x - keys @ second @ p.T
        return np.asarray(-labels[:, -1])

    def whitened(self, sigma: Array) -> "Layers":
        """Give the same layers in coordinates sigma^{-1/2} x, where the covariance is I.

        P becomes sigma^{-1/2} P sigma^{1/2}, Q becomes sigma^{1/2} Q sigma^{1/2}; the predictions
        stay what they are. With sigma^{-1} for sigma: back to the old coordinates.
        """
        wide, narrow = root(sigma, 0.5), root(sigma, -0.5)
        return Layers(p=narrow @ self.p @ wide, q=wide @ self.q @ wide)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tape:
    """What a forward pass leaves for the way back; None stands for T = I and for P = 0."""

    p: Array | None
    q: Array
    grams: Array
    n: Array  # N after the last layer, (count, d, d)
    steps: list[tuple[Array, Array | None, Array, Array]]  # N and T before a layer, W, T W


def _forward(p: Array | None, q: Array, grams: Array) -> tuple[Array, _Tape]:
    """Send Gram matrices through the layers; returns U (count, d, d) and the tape, with N.

    p: (L, d, d), or None for P = 0. q: (L, d, d). grams: (count, d, d), symmetric.
    """
    n: Any = np.zeros(grams.shape, np.result_type(grams, q))
    t: Any = None
    steps = []
    for layer, query in enumerate(q):
        g = query if t is None else t.swapaxes(1, 2) @ (query @ t)
        w = grams @ g
        tw = w if t is None else t @ w
        steps.append((n, t, w, tw))
        n = n - g - n @ w
        if p is not None and layer + 1 < len(q):  # the last P moves tokens that no one reads
            t = (np.eye(len(query)) if t is None else t) - p[layer] @ tw
    u = grams @ n + np.eye(q.shape[1])
    return u, _Tape(p=p, q=q, grams=grams, n=n, steps=steps)


def _pullback(tape: _Tape, du: Array, dn: Array | None = None) -> tuple[Array, Array]:
    """Turn the gradient in U, and in N where it is met outside of U, into those in p and q.

    du, dn: (count, d, d), the gradient of a sum over the Gram matrices. Returns (L, d, d) twice.
    """
    grams, q = tape.grams, tape.q
    back_n = grams @ du
    if dn is not None:
        back_n = back_n + dn
    dp, dq = np.zeros_like(q), np.zeros_like(q)
    back_t: Any = None
    for layer in reversed(range(len(q))):
        n, t, w, tw = tape.steps[layer]
        dw = -(n.swapaxes(1, 2) @ back_n)
        if back_t is not None and tape.p is not None:
            dp[layer] = -(back_t @ tw.swapaxes(1, 2)).sum(axis=0)
            d_tw = -(tape.p[layer].T @ back_t)
            dw = dw + (d_tw if t is None else t.swapaxes(1, 2) @ d_tw)
            back_t = back_t + d_tw @ w.swapaxes(1, 2)
        dg = grams @ dw - back_n
        back_n = back_n - back_n @ w.swapaxes(1, 2)
        if t is None:
            dq[layer] = dg.sum(axis=0)
            continue
        dq[layer] = (t @ dg @ t.swapaxes(1, 2)).sum(axis=0)
        new = q[layer] @ (t @ dg.swapaxes(1, 2)) + q[layer].T @ (t @ dg)
        back_t = new if back_t is None else back_t + new
    return dp, dq


def residuals(p: Array | None, q: Array, grams: Array) -> tuple[Array, Array]:
    """Compute U and N, (count, d, d) both.

    Target minus prediction is w^T U x_query + (1/n) sum_i noise_i x_i^T N x_query.
    """
    u, tape = _forward(p, q, grams)
    return u, tape.n


def losses(p: Array | None, q: Array, grams: Array, law: Prompts) -> Array:
    """Compute the loss given each Gram matrix, (count,): w, the query and the noise integrated."""
    out = [_losses(*residuals(p, q, part), part, law)[0] for part in _parts(grams)]
    return np.concatenate(out)


def loss_and_gradient(
    p: Array | None, q: Array, grams: Array, law: Prompts, weights: Array | None = None
) -> tuple[float, Array, Array]:
    """Compute the mean of `losses`, and its gradients in p and q, (L, d, d) both.

    weights: (count,), those of the Gram matrices in the mean, as of a rule of integration.
    """
    total: Any = 0.0
    dp, dq = np.zeros_like(q), np.zeros_like(q)
    shares = np.ones(len(grams)) if weights is None else weights
    for part, share in zip(_parts(grams), _parts(shares, grams.shape[1]), strict=True):
        u, tape = _forward(p, q, part)
        found, du, dn = _losses(u, tape.n, part, law)
        total = total + (found if weights is None else share * found).sum()
        if weights is not None:
            du = share[:, None, None] * du
            dn = None if dn is None else share[:, None, None] * dn
        more_p, more_q = _pullback(tape, du, dn)
        dp += more_p
        dq += more_q
    count = len(grams) if weights is None else 1
    return total / count, dp / count, dq / count


def _losses(u: Array, n: Array, grams: Array, law: Prompts) -> tuple[Array, Array, Array | None]:
    """Compute the loss of each Gram matrix, and its gradients in U and in N."""
    cu = law.task @ u @ law.sigma
    out = (cu * u).sum(axis=(1, 2))
    if not law.noise:
        return out, 2 * cu, None
    level = law.noise**2 / law.n
    sn = grams @ n @ law.sigma
    return out + level * (sn * n).sum(axis=(1, 2)), 2 * cu, 2 * level * sn


def _parts(grams: Array, d: int = 0) -> Iterator[Array]:
    step = max(1, _AT_ONCE // (d or grams.shape[1]) ** 2)
    for start in range(0, len(grams), step):
        yield grams[start : start + step]
