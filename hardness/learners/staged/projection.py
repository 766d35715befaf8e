"""Stage 6b: variable projection over the coefficients of the heads on the affine hull. [GP73]

Least squares eliminates the matrices W, so m(m-1) unknowns remain. The Jacobian is Kaufman's
approximation: the Jacobian of the features for fixed W, projected orthogonally to the features.
SciPy makes the steps.

Takes the hull of stage 4, the directions of stage 5 and the tuples of the net; returns a layer.
This stage is not part of the theorem, which uses a sufficiently fine net.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import least_squares

from hardness.learners.fitting import (
    Array,
    Data,
    Fit,
    attend,
    columns,
    fit_of,
    gram_factor,
    heads_sum,
    scores,
    softmax,
    softmax_slope,
)
from hardness.learners.staged.net import enough, on_hull

_MOST_STARTS = 4  # tuples of the net to start from: nice layers need one
_STEPS = 60
_FLAT = 1e-6  # relative decrease of the loss at which a descent ends


def project(centre: Array, directions: Array, starts: Array, data: Data, validation: Data) -> Fit:
    """Descend from the first few starts (t, m, m-1), and keep the best on the hold-out. [GP73]

    centre: (d, d); directions: (m-1, d, d). The measure `steps` counts those of all descents.
    """
    used = data.cut(0, enough(len(directions) + 1, data.k, data.d))
    x, y = columns(used.x), columns(used.y)
    logits = scores(np.concatenate([centre[None], directions]), x)
    fits, taken = [], 0
    for start in starts[:_MOST_STARTS]:
        coefficients, steps = _descend(start, logits, x, y)
        theta = on_hull(centre, directions, coefficients)
        w = _eliminate(coefficients, logits, x, y).w
        fits.append(fit_of(theta, w, validation))
        taken += steps
    return replace(min(fits, key=lambda fit: fit.error), measures={"steps": taken})


@dataclass(frozen=True, kw_only=True, eq=False)
class _Eliminated:
    """The best W for given coefficients (m, m-1) on tokens and labels (k, d, n).

    p: (m, k, k, n). attended: (k, m, d, n). factor: (md, md), the Cholesky factor of its Gram
    matrix. w: (m, d, d). residual: (k, d, n), the prediction less the label.
    """

    p: Array
    attended: Array
    factor: Array
    w: Array
    residual: Array


def _eliminate(coefficients: Array, logits: Array, x: Array, y: Array) -> _Eliminated:
    """Fit W by least squares; logits (m, k, k, n) belong to the centre and the directions."""
    p = softmax(on_hull(logits[0], logits[1:], coefficients))
    attended = attend(p, x)
    factor = gram_factor(attended)
    w = solve(factor, attended, y)
    residual = heads_sum(attended, w) - y
    return _Eliminated(p=p, attended=attended, factor=factor, w=w, residual=residual)


def solve(factor: Array, attended: Array, y: Array) -> Array:
    """Return the W that fits outputs y (k, d, n) best: (m, d, d)."""
    k, m, d, n = attended.shape
    right = np.sum(attended.reshape(k, m * d, n) @ y.transpose(0, 2, 1), axis=0)
    return np.asarray(cho_solve((factor, True), right).reshape(m, d, d))


def _jacobian(fit: _Eliminated, logits: Array, x: Array) -> Array:
    """Differentiate the residual by coefficients, Kaufman's approximation: (kdn, m(m-1))."""
    out = []
    for p, w in zip(fit.p, fit.w, strict=True):
        for change in logits[1:]:
            moved = heads_sum(attend(softmax_slope(p, change)[None], x), w[None])
            reached = heads_sum(fit.attended, solve(fit.factor, fit.attended, moved))
            out.append((moved - reached).ravel())
    return np.stack(out, axis=1)


def _descend(start: Array, logits: Array, x: Array, y: Array) -> tuple[Array, int]:
    """Descend until the loss is flat; return the coefficients and the number of evaluations."""
    if not start.size:
        return start, 0

    @lru_cache(maxsize=1)  # SciPy evaluates residual and Jacobian at the same point
    def fit_at(point: bytes) -> _Eliminated:
        return _eliminate(np.frombuffer(point).reshape(start.shape), logits, x, y)

    scale = float(np.linalg.norm(y)) or 1.0

    def residual(point: Array) -> Array:
        return fit_at(point.tobytes()).residual.ravel() / scale

    def jacobian(point: Array) -> Array:
        return _jacobian(fit_at(point.tobytes()), logits, x) / scale

    limits: Any = {"ftol": _FLAT, "xtol": _FLAT, "gtol": np.finfo(float).eps}
    end = least_squares(residual, start.ravel(), jacobian, max_nfev=_STEPS, **limits)
    return end.x.reshape(start.shape), end.nfev
