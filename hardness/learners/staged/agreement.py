"""Stage 2: how closely the heads agree on each row, measured by a common pattern. [CL24]

If all heads attend with the same weights v, the row is y = v^T X W with W = sum_i W_i. So every row
is fitted by the best v that sums to one, and the residual measures the disagreement.

Takes examples and an estimate of the sum; returns patterns and residuals of all rows. This stage is
part of the theorem.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.fitting import Array, Data, pieces

_BINS = 40  # bins in the histogram of residuals
_BATCH_BYTES = 1 << 20  # bytes that fit into a core's cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """Patterns (n, k, k) whose rows sum to one, and relative residuals (n, k) of every row.

    scale: the root mean square of ||(X_j - X_l) W||; the residuals were divided by it.
    """

    patterns: Array
    residuals: Array
    scale: float

    def histogram(self, accepted: float) -> dict[str, Any]:
        """Return the histogram of log10 of the residuals, and the largest accepted residual."""
        logs = np.log10(np.maximum(self.residuals, 1e-18))
        counts, edges = np.histogram(logs, bins=_BINS)
        drawn = {"log10_edges": edges.tolist(), "counts": counts.tolist()}
        return {**drawn, "accepted": float(accepted)}


def smallest(values: Array, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices (i, j) of the `count` smallest entries of a matrix, in any order.

    >>> [place.tolist() for place in smallest(np.array([[3.0, 1.0], [0.0, 2.0]]), 1)]
    [[1], [0]]
    """
    flat = values.ravel()
    places = np.argpartition(flat, count - 1)[:count] if count < flat.size else np.arange(flat.size)
    i, j = np.unravel_index(places, values.shape)
    return i, j


def agreement(w: Array, data: Data) -> Agreement:
    """Fit every row's pattern, given an estimate w (d, d) of sum_i W_i.

    A row's pattern equals that of scipy.optimize.lsq_linear under the constraint sum(v) = 1. If
    tokens coincide, it is the solution nearest to uniform. Memory beyond the result is bounded by a
    constant.

    >>> x = np.random.default_rng(0).normal(size=(5, 2, 3))
    >>> y = np.array([[0.25, 0.75], [0.5, 0.5]]) @ x
    >>> agreement(np.eye(3), Data(x=x, y=y)).patterns[0].round(6).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    n, k, d = data.x.shape
    patterns, residuals = np.empty((n, k, k)), np.empty((n, k))
    spread = 0.0
    for part in pieces(n, _BATCH_BYTES // (8 * k * (5 * d + 3 * k))):
        patterns[part], residuals[part], total = _fit(w, data.x[part], data.y[part])
        spread += total
    # sum over pairs of ||z_j - z_l||^2 is k times the sum of ||z_j - mean||^2
    scale = float(np.sqrt(2 * spread / (n * (k - 1))))
    residuals /= scale or 1.0
    return Agreement(patterns=patterns, residuals=residuals, scale=scale)


def _fit(w: Array, x: Array, y: Array) -> tuple[Array, Array, float]:
    """Compute patterns, residual norms, and the sum of squares of the centred X W."""
    n, k, d = x.shape
    z = (x.reshape(-1, d) @ w).reshape(n, k, d)
    mean = z.mean(axis=1, keepdims=True)
    z -= mean
    target = y - mean
    gram = z @ z.swapaxes(1, 2)
    traces = np.trace(gram, axis1=1, axis2=2)
    # The all-ones direction enforces the constraint; the small ridge is for equal tokens.
    size = (traces / k + (1e-14 * traces.mean() or 1.0))[:, None, None]
    gram += size * (np.full((k, k), 1 / k) + 1e-13 * np.eye(k))
    excess = np.linalg.solve(gram, z @ target.swapaxes(1, 2)).swapaxes(1, 2)
    left = target - excess @ z
    return excess + 1 / k, np.sqrt(np.einsum("nad,nad->na", left, left)), float(traces.sum())
