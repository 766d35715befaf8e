"""The polish: Levenberg-Marquardt on all 2 m d^2 parameters, without ever forming the Jacobian.

A step s solves min ||J s + r||^2 + damping ||s||^2 by LSMR, from products with J and its
adjoint alone. Scaled parameters keep that short: W = L^-T V with L the Cholesky factor of the Gram
matrix of what the heads attend to, so that the columns of J for V are orthonormal, and each Theta_i
divided by the typical norm of its columns. [Mar63, FS11]
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator, lsmr

from hardness.oracles import Spent
from hardness.upper.attention import Array, Linearized, columns, gram_factor, linearize
from hardness.upper.staged.data import Data, relative_error
from hardness.upper.staged.stage import Clock, endless

End = Literal["exact", "flat", "steps", "stopped"]
_EXACT = (16 * np.finfo(float).eps) ** 2  # relative error on the examples: rounding is all
_WINDOW, _FLAT = 6, 0.99  # flat: 6 steps leave 99 % of the loss
_DAMPING = 1e-2  # to start with; the scaled columns have norm 1 or so
_LEAST_DAMPING = 1e-12
_INNER = 100  # iterations at most; some 15 are the rule
_ACCURACY = 1e-3  # of the inner solve


@dataclass(frozen=True, kw_only=True, eq=False)
class Polished:
    """Where the descent ended.

    theta, w: (m, d, d); error: relative error on the hold-out; steps: tried, not all accepted;
    history: relative error on the examples before the first step and after each; end: why it ended:
    only rounding is left, the loss is flat, the steps are used up, or the time is over.
    """

    theta: Array
    w: Array
    error: float
    steps: int
    history: tuple[float, ...]
    end: End


def polish(
    theta: Array,
    w: Array,
    data: Data,
    validation: Data,
    steps: int = 100,
    clock: Clock = endless,
) -> Polished:
    """Descend on the squared loss over all of `data` from theta, w (m, d, d). [Mar63]

    Where the clock stops it, which is asked before every product with the Jacobian, what the last
    full step left is returned.

    >>> rng = np.random.default_rng(0)
    >>> theta, w, x = rng.normal(size=(1, 3, 3)), np.eye(3)[None], rng.normal(size=(90, 2, 3))
    >>> y = np.moveaxis(linearize(theta, w, columns(x)).value, 2, 0)
    >>> data = Data(x=x, y=y)
    >>> polish(0.9 * theta, 0.9 * w, data, data).error < 1e-20
    True
    """
    x, y = columns(data.x), columns(data.y)
    scale = float(np.sum(y**2)) or 1.0
    at = linearize(theta, w, x)
    loss = float(np.sum((at.value - y) ** 2))
    history, damping, growth = [loss / scale], _DAMPING, 2.0
    while not (end := ended(history, steps)):
        try:
            move = Step.solve(at, at.value - y, damping, clock)
        except Spent:
            end = "stopped"
            break
        tried = linearize(at.theta + move.theta, at.w + move.w, x)
        found = float(np.sum((tried.value - y) ** 2))
        # Nielsen's rule: no jumps of the damping near a gain of 0 or 1, faster after each refusal.
        gain = (loss - found) / move.promised if move.promised > 0 else 0.0
        if found < loss:
            at, loss = tried, found
            damping = max(_LEAST_DAMPING, damping * max(0.1, 1 - (2 * gain - 1) ** 3))
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
        history.append(loss / scale)
    predicted = linearize(at.theta, at.w, columns(validation.x)).value
    return Polished(
        theta=at.theta,
        w=at.w,
        error=relative_error(predicted, columns(validation.y)),
        steps=len(history) - 1,
        history=tuple(history),
        end=end,
    )


def enough(m: int, k: int, d: int) -> int:
    """Return how many noiseless examples the polish needs, with room: ample for a basin to be wide.

    40 labelled tokens for each unknown of a column of W; 8 logits for each unknown of a Theta.

    >>> enough(2, 2, 16), enough(4, 2, 16)
    (1024, 1280)
    """
    return max(-(-40 * m * d // k), -(-8 * d * d // (k * (k - 1))))


def ended(history: list[float], steps: int) -> End | None:
    """Say why the descent is over, if it is, by the relative errors so far."""
    if history[-1] <= _EXACT:
        return "exact"
    if len(history) > _WINDOW and not history[-1] < _FLAT * history[-1 - _WINDOW]:
        return "flat"
    return "steps" if len(history) > steps else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """A step of all parameters, (m, d, d) each, and the decrease that the linear model promises."""

    theta: Array
    w: Array
    promised: float

    @staticmethod
    def solve(at: Linearized, residual: Array, damping: float, clock: Clock = endless) -> "Step":
        """Solve for the damped step in scaled parameters; residual: (k, d, n)."""
        m, d, _ = at.theta.shape
        factor = gram_factor(at.attended)
        norms = column_norms(at)[:, None, None]

        def unscaled(flat: Array) -> tuple[Array, Array]:
            theta, v = flat.reshape(2, m, d, d)
            w = solve_triangular(factor, v.reshape(m * d, d), trans="T", lower=True)
            return theta / norms, w.reshape(m, d, d)

        def product(flat: Array) -> Array:
            clock()
            return at.product(*unscaled(flat)).ravel()

        def adjoint(flat: Array) -> Array:
            clock()
            theta, w = at.adjoint(flat.reshape(residual.shape))
            v = solve_triangular(factor, w.reshape(m * d, d), lower=True)
            return np.concatenate([(theta / norms).ravel(), v.ravel()])

        operator = LinearOperator(
            (residual.size, 2 * at.theta.size), matvec=product, rmatvec=adjoint, dtype=np.float64
        )
        flat, *_ = lsmr(
            operator, -residual.ravel(), damp=np.sqrt(damping), atol=_ACCURACY, btol=0, conlim=0,
            maxiter=_INNER,
        )  # fmt: skip
        left = np.sum((product(flat) + residual.ravel()) ** 2)
        theta, w = unscaled(flat)
        return Step(theta=theta, w=w, promised=float(np.sum(residual**2) - left))


def column_norms(at: Linearized) -> Array:
    """Estimate the norm of the Jacobian's columns for each Theta_i: (m,).

    Exact on average for two independent tokens with independent entries of one variance.
    """
    spread = 1 - np.sum(at.p**2, axis=2)
    power = float(np.mean(at.x**2)) ** 3
    squares = power * np.sum(at.w**2, axis=(1, 2)) * np.sum(spread**2, axis=(1, 2))
    return np.asarray(np.sqrt(squares + 1e-6 * squares.max() + np.finfo(float).tiny))
