"""Levenberg-Marquardt for attention layers, and the learner that runs it from random starts.

SciPy descends on all 2 m d^2 parameters without a matrix of derivatives: LSMR solves for each step
from products with the Jacobian and its adjoint. [Mar63, FS11] The learner has no guarantee. On
random layers it needs fewer examples and less time than the learner that has one.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse.linalg import LinearOperator

from hardness.learners.fitting import Array, Data, Fit, Linearized, columns, draw, fit_of, linearize
from hardness.learners.learner import BuiltIn, Hypothesis, Outcome, View, no_softmax_heads
from hardness.oracles import ExampleOracle, Spent
from instances.errors import require
from instances.family import Family
from instances.limits import require_memory
from instances.parameters import Range

End = Literal["exact", "flat", "steps"]
_EXACT = 1e-27  # relative error on the examples: only rounding is left
_FLAT = 1e-5  # relative decrease of the loss by a step at which a descent ends
_SHORT_STEP = 1e-12  # relative length of such a step
_LSMR_OPTIONS = {"atol": 1e-3, "btol": 0.0, "conlim": 0.0, "maxiter": 50}  # of LSMR
_SOLVED = 1e-20  # held-out error: no other start can be better


@dataclass(frozen=True, kw_only=True, eq=False)
class Polished(Fit):
    """The end of a descent; its measure steps counts evaluations of the layer.

    loss: relative squared error on the examples. end: the reason: only rounding is left, the loss
    is flat, or the steps are used up.
    """

    loss: float
    end: End


def polish(theta: Array, w: Array, data: Data, validation: Data, steps: int = 100) -> Polished:
    """Descend on the squared loss over all of `data` from theta, w (m, d, d). [Mar63]

    >>> rng = np.random.default_rng(0)
    >>> theta, w, x = rng.normal(size=(1, 3, 3)), np.eye(3)[None], rng.normal(size=(90, 2, 3))
    >>> data = Data(x=x, y=linearize(theta, w, columns(x)).value.transpose(2, 0, 1))
    >>> polish(0.9 * theta, 0.9 * w, data, data).error < 1e-20
    True
    """
    x, y = columns(data.x), columns(data.y)
    token, label = (math.sqrt(float(np.mean(part**2))) or 1.0 for part in (x, y))
    scale = label * math.sqrt(y.size)  # so that the loss is a relative error

    @lru_cache(maxsize=1)  # SciPy needs residual and Jacobian at the same point
    def layer_at(point: bytes) -> Linearized:
        heads, values = np.frombuffer(point).reshape(2, *theta.shape)
        return linearize(heads, values, x, data.rows)

    def residual(point: Array) -> Array:
        return np.asarray((layer_at(point.tobytes()).value - y).ravel() / scale)

    def jacobian(point: Array) -> LinearOperator:
        here = layer_at(point.tobytes())
        return LinearOperator(
            (y.size, point.size),
            matvec=lambda move: here.product(*move.reshape(2, *theta.shape)).ravel() / scale,
            rmatvec=lambda back: np.ravel(here.adjoint(back.reshape(y.shape))) / scale,
            dtype=np.float64,
        )

    fitted = least_squares(
        residual, np.ravel((theta, w)), jacobian, method="trf", tr_solver="lsmr",
        tr_options=_LSMR_OPTIONS, x_scale=np.repeat([1 / token**2, label / token], theta.size),
        ftol=_FLAT, xtol=_SHORT_STEP, gtol=np.finfo(float).eps, max_nfev=steps,
    )  # fmt: skip
    theta, w = fitted.x.reshape(2, *theta.shape)
    loss = 2 * float(fitted.cost)
    end: End = "exact" if loss <= _EXACT else "flat" if fitted.status else "steps"
    error = fit_of(theta, w, validation).error
    measures = {"steps": fitted.nfev, "heads": len(theta)}
    return Polished(theta=theta, w=w, error=error, measures=measures, loss=loss, end=end)


def enough(m: int, k: int, d: int) -> int:
    """Return how many noiseless examples the polish needs for a wide basin of attraction.

    They give 40 labelled tokens for each unknown of a column of W, and 8 logits for each unknown of
    a Theta.

    >>> enough(2, 2, 16), enough(4, 2, 16)
    (1024, 1280)
    """
    return max(-(-40 * m * d // k), -(-8 * d * d // (k * (k - 1))))


@dataclass(frozen=True, kw_only=True)
class Levenberg(BuiltIn):
    """Fits `heads` heads (0: as many as the family's layers have) to `examples` (0: enough).

    It descends from `restarts` random starts, `steps` steps each. A fifth of the examples is held
    out, and the best layer on them is kept. Its `held_out_error` is the minimum over starts, so it
    is a little too small; the risk of a run is measured on fresh examples.
    """

    name: ClassVar[str] = "levenberg"
    revision: ClassVar[int] = 3
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "an attention layer fitted by Levenberg-Marquardt, random starts"
    computes_long: ClassVar[bool] = True

    heads: Annotated[int, Range(0)] = 0
    restarts: Annotated[int, Range(1)] = 4
    examples: Annotated[int, Range(0)] = 0
    steps: Annotated[int, Range(1)] = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.examples != 1, "examples must be at least 2, got 1: one is held out")

    def supports(self, family: Family) -> str | None:
        """Return None except for linear attention and an unknown number of heads."""
        return no_softmax_heads(family, self.name, self.heads)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw all examples, then descend from each start."""
        family = oracle.family
        heads = self.heads or family.layer_heads
        each = family.k // (family.rows or family.k)  # more examples if few tokens have labels
        wanted = self.examples or each * enough(heads, family.k, family.d) * 5 // 4 + 64
        size = 8 * wanted * family.k * (family.d * (4 * heads + 8) + 4 * heads * family.k)
        size += 8 * heads * family.d**2 * (20 + heads)
        require_memory(size, f"{wanted} examples, derivatives of {heads} heads at d={family.d}")
        x, y, spent = draw(oracle, wanted)
        if len(x) < 2:
            raise Spent("examples")
        drawn, cut = Data(x=x, y=y, rows=family.rows), len(x) - max(1, len(x) // 5)
        data, held_out = drawn.cut(0, cut), drawn.cut(cut, len(x))
        # Errors are relative to the labels' mean square, a risk to their variance.
        variance = float(np.mean((held_out.y - data.y.mean(axis=0)) ** 2))
        scale = float(np.mean(held_out.y**2)) / variance if variance else 1.0
        best, steps = None, 0
        for starts in range(1, self.restarts + 1):
            fitted = polish(*_random_heads(rng, heads, data), data, held_out, self.steps)
            steps += int(fitted.measures["steps"])
            if best is None or fitted.error < best.error:
                best = fitted
            details: Any = {"heads": heads, "starts": starts, "steps": steps, "end": best.end}
            details |= {"training_error": best.loss, "held_out_error": best.error * scale}
            outcome, layer = Outcome.EXAMPLES_SPENT if spent else None, best.layer
            hypothesis = Hypothesis(predict=layer, outcome=outcome, details=details, layer=layer)
            oracle.meter.offer(hypothesis)
            if best.error < _SOLVED:
                break
        return hypothesis


def _random_heads(rng: np.random.Generator, heads: int, data: Data) -> tuple[Array, Array]:
    """Draw Theta with logits of about 1, W with outputs of the labels' size: (m, d, d) each."""
    shape, token = (heads, data.d, data.d), math.sqrt(float(np.mean(data.x**2))) or 1.0
    label = math.sqrt(float(np.mean(data.y**2)))
    theta = rng.normal(0.0, 1 / data.d / token**2, shape)
    w = rng.normal(0.0, label / token / math.sqrt(heads * data.d), shape)
    return theta, w
