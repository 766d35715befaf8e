"""Stage 6b: variable projection over the coefficients of the heads on the affine hull. [GP73]

The matrices W are eliminated by least squares, so what is left has m(m-1) unknowns. The Jacobian is
that of the features with W held fixed, projected off the features: Kaufman's approximation. Steps
are damped as in Levenberg-Marquardt.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve

from hardness.learners.attention import (
    Array,
    attend,
    columns,
    gram_factor,
    heads_sum,
    linearize,
    scores,
    softmax,
    softmax_slope,
)
from hardness.learners.fitting import Clock, Data, Fit, endless, relative_error
from hardness.learners.staged.net import enough, on_hull

_LEADERS = 4  # of the net: nice layers have one
_STEPS = 60
_TINY = 1e-300  # where all labels are zero
_FLAT = 1e-6  # relative decrease at which a descent ends


def project(
    centre: Array,
    directions: Array,
    starts: Array,
    data: Data,
    validation: Data,
    clock: Clock = endless,
) -> Fit:
    """Descend from the first few starts (t, m, m-1), and keep what is best on the hold-out. [GP73]

    centre: (d, d); directions: (m-1, d, d). The measure steps is of all descents together.
    """
    used = data.cut(0, enough(len(directions) + 1, data.k, data.d))
    x, y = columns(used.x), columns(used.y)
    logits = scores(np.concatenate([centre[None], directions]), x)
    unseen, labels = columns(validation.x), columns(validation.y)
    fits, taken = [], 0
    for start in starts[:_LEADERS]:
        end, steps = _descend(start, logits, x, y, clock)
        theta = on_hull(centre, directions, end.coefficients)
        error = relative_error(linearize(theta, end.w, unseen).value, labels)
        fits.append(Fit(theta=theta, w=end.w, error=error))
        taken += steps
    return replace(min(fits, key=lambda fit: fit.error), measures={"steps": taken})


@dataclass(frozen=True, kw_only=True, eq=False)
class _Eliminated:
    """The best W for given coefficients (m, m-1) on tokens and labels (k, d, n).

    p: (m, k, k, n); attended: (k, m, d, n); factor: (md, md), of its Gram matrix; w: (m, d, d);
    residual: (k, d, n), the prediction less the label; loss: sum ||residual||^2.
    """

    coefficients: Array
    p: Array
    attended: Array
    factor: Array
    w: Array
    residual: Array
    loss: float

    def project(self, change: Array) -> Array:
        """Project outputs (k, d, n) off all that a change of W can reach."""
        return change - heads_sum(self.attended, solve(self.factor, self.attended, change))


def _eliminate(coefficients: Array, logits: Array, x: Array, y: Array) -> _Eliminated:
    """Fit W by least squares; logits (m, k, k, n) are those of the centre and the directions."""
    p = softmax(on_hull(logits[0], logits[1:], coefficients))
    attended = attend(p, x)
    factor = gram_factor(attended)
    w = solve(factor, attended, y)
    residual = heads_sum(attended, w) - y
    return _Eliminated(
        coefficients=coefficients,
        p=p,
        attended=attended,
        factor=factor,
        w=w,
        residual=residual,
        loss=float(np.sum(residual**2)),
    )


def solve(factor: Array, attended: Array, y: Array) -> Array:
    """Return the W that fits outputs y (k, d, n) best: (m, d, d)."""
    k, m, d, n = attended.shape
    right = np.sum(attended.reshape(k, m * d, n) @ y.transpose(0, 2, 1), axis=0)
    return np.asarray(cho_solve((factor, True), right).reshape(m, d, d))


def _jacobian(fit: _Eliminated, logits: Array, x: Array, clock: Clock) -> Array:
    """Derive the residual in all coefficients, by Kaufman's approximation: (kdn, m(m-1))."""
    out = []
    for p, w in zip(fit.p, fit.w, strict=True):
        for change in logits[1:]:
            clock()
            moved = attend(softmax_slope(p, change)[None], x)
            out.append(fit.project(heads_sum(moved, w[None])).ravel())
    return np.stack(out, axis=1) if out else np.zeros((x.size, 0))


def _descend(
    start: Array, logits: Array, x: Array, y: Array, clock: Clock
) -> tuple[_Eliminated, int]:
    """Take damped Gauss-Newton steps until the loss is flat; returns the fit and the steps."""
    fit, damping = _eliminate(start, logits, x, y), 1e-2
    for step in range(_STEPS):
        slopes = _jacobian(fit, logits, x, clock)
        normal, gradient = slopes.T @ slopes, slopes.T @ fit.residual.ravel()
        before = fit.loss
        while True:
            clock()
            lifted = normal + damping * np.diag(np.diag(normal) + 1e-12 * before + _TINY)
            moved = np.linalg.solve(lifted, -gradient).reshape(start.shape)
            tried = _eliminate(fit.coefficients + moved, logits, x, y)
            if tried.loss <= before or damping > 1e6:
                break
            damping *= 8
        if tried.loss < before:
            fit, damping = tried, damping / 4
        if fit.loss >= before * (1 - _FLAT):
            return fit, step + 1
    return fit, _STEPS
