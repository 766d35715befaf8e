"""Levenberg-Marquardt for attention layers, and the learner that runs it from random starts.

It descends on all 2 m d^2 parameters without ever forming the Jacobian J: a step s solves
min ||J s + r||^2 + damping ||s||^2 by LSMR, from products with J and its adjoint alone. Scaled
parameters keep that short: W = L^-T V with L the Cholesky factor of the Gram matrix of what the
heads attend to, so that the columns of J for V are orthonormal, and each Theta_i divided by the
typical norm of its columns. [Mar63, FS11]

The learner has no guarantee. On random layers it needs fewer examples and less time than the
learner that has one.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator, lsmr

from hardness.learners.attention import Array, Linearized, columns, gram_factor, linearize
from hardness.learners.fitting import Clock, Data, Fit, draw, endless, relative_error
from hardness.learners.learner import SPENT, Hypothesis, Outcome, View, nothing
from hardness.oracles import ExampleOracle, Spent
from instances.family import Family, require
from instances.layer import AttentionLayer
from instances.limits import require_memory

End = Literal["exact", "flat", "steps", "stopped"]
_EXACT = (16 * np.finfo(float).eps) ** 2  # relative error on the examples: rounding is all
_WINDOW, _FLAT = 6, 0.99  # flat: 6 steps leave 99 % of the loss
_DAMPING = 1e-2  # to start with; the scaled columns have norm 1 or so
_LEAST_DAMPING = 1e-12
_INNER = 100  # iterations at most; some 15 are the rule
_ACCURACY = 1e-3  # of the inner solve
_SOLVED = 1e-20  # hold-out error: no other start can be better


@dataclass(frozen=True, kw_only=True, eq=False)
class Polished(Fit):
    """Where the descent ended; the measure steps counts those tried, not all accepted.

    history: relative error on the examples before the first step and after each; end: why it ended:
    only rounding is left, the loss is flat, the steps are used up, or the time is over.
    """

    history: tuple[float, ...]
    end: End


def polish(
    theta: Array, w: Array, data: Data, validation: Data, steps: int = 100, clock: Clock = endless
) -> Polished:
    """Descend on the squared loss over all of `data` from theta, w (m, d, d). [Mar63]

    Where the clock stops it, which is asked before every product with the Jacobian, what the last
    full step left is returned.

    >>> rng = np.random.default_rng(0)
    >>> theta, w, x = rng.normal(size=(1, 3, 3)), np.eye(3)[None], rng.normal(size=(90, 2, 3))
    >>> data = Data(x=x, y=AttentionLayer(theta=theta, w=w)(x))
    >>> polish(0.9 * theta, 0.9 * w, data, data).error < 1e-20
    True
    """
    x, y = columns(data.x), columns(data.y)
    scale = float(np.sum(y**2)) or 1.0
    at = linearize(theta, w, x, data.rows)
    loss = float(np.sum((at.value - y) ** 2))
    history, damping, growth = [loss / scale], _DAMPING, 2.0
    while not (end := _ended(history, steps)):
        try:
            *move, promised = _step(at, at.value - y, damping, clock)
        except Spent:
            end = "stopped"
            break
        tried = linearize(at.theta + move[0], at.w + move[1], x, data.rows)
        found = float(np.sum((tried.value - y) ** 2))
        # Nielsen's rule: no jumps of the damping near a gain of 0 or 1, faster after each refusal.
        gain = (loss - found) / promised if promised > 0 else 0.0
        if found < loss:
            at, loss = tried, found
            damping = max(_LEAST_DAMPING, damping * max(0.1, 1 - (2 * gain - 1) ** 3))
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
        history.append(loss / scale)
    predicted = linearize(at.theta, at.w, columns(validation.x), data.rows).value
    return Polished(
        theta=at.theta,
        w=at.w,
        error=relative_error(predicted, columns(validation.y)),
        measures={"steps": len(history) - 1, "heads": len(theta)},
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


def _ended(history: list[float], steps: int) -> End | None:
    """Say why the descent is over, if it is, by the relative errors so far."""
    if history[-1] <= _EXACT:
        return "exact"
    if len(history) > _WINDOW and not history[-1] < _FLAT * history[-1 - _WINDOW]:
        return "flat"
    return "steps" if len(history) > steps else None


def _step(
    at: Linearized, residual: Array, damping: float, clock: Clock
) -> tuple[Array, Array, float]:
    """The damped step, (m, d, d) each, and the decrease that the linear model promises.

    residual: (k, d, n).
    """
    m, d, _ = at.theta.shape
    factor = gram_factor(at.attended)
    norms = _column_norms(at)[:, None, None]

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
    return *unscaled(flat), float(np.sum(residual**2) - left)


def _column_norms(at: Linearized) -> Array:
    """The norm of the Jacobian's columns for each Theta_i, estimated: (m,).

    Exact on average for two independent tokens with independent entries of one variance.
    """
    spread = 1 - np.sum(at.p**2, axis=2)
    power = float(np.mean(at.x**2)) ** 3
    squares = power * np.sum(at.w**2, axis=(1, 2)) * np.sum(spread**2, axis=(1, 2))
    return np.asarray(np.sqrt(squares + 1e-6 * squares.max() + np.finfo(float).tiny))


@dataclass(frozen=True, kw_only=True)
class Levenberg:
    """Fits `heads` heads (0: as many as the family's layers have) to `examples` (0: enough).

    From `restarts` random starts, `steps` steps each; a fifth of the examples is held out, and the
    best on them is kept.
    """

    name: ClassVar[str] = "levenberg"
    revision: ClassVar[int] = 2
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "an attention layer fitted by Levenberg-Marquardt, random starts"

    heads: int = 0
    restarts: int = 4
    examples: int = 0
    steps: int = 100

    def __post_init__(self) -> None:
        for name, least in (("heads", 0), ("examples", 0), ("restarts", 1), ("steps", 1)):
            value = getattr(self, name)
            require(value >= least, f"{name}={value} given: it must be at least {least}")
        require(self.examples != 1, "examples=1 given: 2 are needed at least, one is held out")

    def supports(self, family: Family) -> str | None:
        """Any family but those of linear attention."""
        if family.kind == "linear":
            return "it fits softmax attention; `lifted` learns linear attention"
        if not (self.heads or family.layer_heads):
            return "nobody knows how many heads to fit: say levenberg:heads=2, or another number"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw all examples, then descend from each start."""
        family = oracle.family
        heads = self.heads or family.layer_heads
        each = family.k // (family.rows or family.k)  # as many labels where few tokens have some
        wanted = self.examples or each * enough(heads, family.k, family.d) * 5 // 4 + 64
        tokens = 8 * wanted * family.k * (family.d * (4 * heads + 8) + 4 * heads * family.k)
        require_memory(
            tokens + 8 * heads * family.d**2 * (20 + heads),
            f"{wanted} examples and the derivatives of {heads} heads at d={family.d}",
        )
        batches, spent = draw(oracle, wanted)
        outcome = SPENT[spent.resource] if spent else None
        there = sum(map(len, batches))
        if there < 2:
            return nothing(family, outcome)
        x, y = (np.concatenate([getattr(b, name) for b in batches]) for name in ("x", "y"))
        drawn, cut = Data(x=x, y=y, rows=family.rows), there - max(1, there // 5)
        data, held_out = drawn.cut(0, cut), drawn.cut(cut, there)
        ends: list[Polished] = []
        for _ in range(self.restarts):
            start = _random_heads(rng, heads, data)
            ends.append(polish(*start, data, held_out, self.steps, oracle.meter.left))
            if ends[-1].end == "stopped":
                outcome = Outcome.SECONDS_SPENT
            if ends[-1].end == "stopped" or ends[-1].error < _SOLVED:
                break
        best = min(ends, key=lambda end: end.error)
        layer = AttentionLayer(theta=best.theta, w=best.w)
        # Of the mean square of labels; then of what knowing their mean leaves, as a risk is.
        left = float(np.mean((held_out.y - data.y.mean(axis=0)) ** 2))
        scale = float(np.mean(held_out.y**2)) / left if left else 1.0
        return Hypothesis(
            predict=layer,
            outcome=outcome,
            details={
                "heads": heads,
                "starts": len(ends),
                "steps": sum(len(end.history) - 1 for end in ends),
                "training_error": best.history[-1],
                "held_out_error": best.error * scale,
                "end": best.end,
            },
            layer=layer,
        )


def _random_heads(rng: np.random.Generator, heads: int, data: Data) -> tuple[Array, Array]:
    """Theta with logits of about 1, and W with outputs of the labels' size: (m, d, d) each."""
    shape = (heads, data.d, data.d)
    token = math.sqrt(float(np.mean(data.x**2))) or 1.0
    label = math.sqrt(float(np.mean(data.y**2)))
    theta = rng.normal(0.0, 1 / data.d / token**2, shape)
    w = rng.normal(0.0, label / token / math.sqrt(heads * data.d), shape)
    return theta, w
