"""Gradient descent on minibatches, for the learners `student` and `mlp`; the learner `student`.

Optimizers: plain SGD, SGD with momentum 0.9, Adam [KB15]. In a single epoch every example is used
once, so the training loss estimates the population loss; in several epochs it does not.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.fitting import columns, linearize
from hardness.learners.learner import (
    DIVERGED,
    SPENT,
    BuiltIn,
    Hypothesis,
    Outcome,
    View,
    no_softmax_heads,
    nothing,
)
from hardness.oracles import Epochs, ExampleOracle, Spent
from instances.coded import Coded
from instances.family import Family
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import OneOf, Range, later

_OPTIMIZERS = {"adam": "Adam", "momentum": "SGD with momentum", "sgd": "SGD"}

Array = NDArray[Any]
Batch = tuple[Array, Array]
Slope = Callable[[Array, Array, Array], tuple[float, Array]]
Enough = Callable[[int, float, Batch], bool]


class Descent(BuiltIn):
    """The base of learners by gradient descent: an optimizer and its training loop."""

    model: ClassVar[str]

    optimizer: Annotated[str, OneOf((*_OPTIMIZERS,))]
    rate: Annotated[float, Range(above=0, most=100)]
    batch: Annotated[int, Range(1)]
    steps: Annotated[int, Range(1)]

    @property
    def method(self) -> str:
        """The model and its optimizer, as the beginning of a sentence."""
        return f"{self.model} trained by {_OPTIMIZERS[self.optimizer]}"

    def descend(
        self, parameters: Array, slope: Slope, batches: Iterable[Batch], enough: Enough
    ) -> Outcome | None:
        """Change the parameters in place, one step per batch, up to `steps` or until `enough`.

        slope: maps parameters and a batch to the mean loss and its gradient. enough: maps the step,
        from 1, its loss and its batch to whether training ends. Returns the reason of an early end:
        a loss that is not finite, or a spent budget.
        """
        moments = np.zeros((2, *parameters.shape), parameters.dtype)
        try:
            for step, batch in enumerate(itertools.islice(batches, self.steps), 1):
                loss, gradient = slope(parameters, *batch)
                if not math.isfinite(loss):
                    return Outcome.STAGE_FAILED
                self._update(parameters, gradient, moments, step)
                if enough(step, loss, batch):
                    break
        except Spent as spent:
            return SPENT[spent.resource]
        return None

    def _update(self, value: Array, slope: Array, moments: Array, t: int) -> None:
        """Update the parameters in place by step t."""
        # The rate falls to 0 along a half cosine, so that noise of the batches averages out.
        rate = self.rate * 0.5 * (1 + math.cos(math.pi * t / (self.steps + 1)))
        first, second = moments
        if self.optimizer == "sgd":
            value -= rate * slope
        elif self.optimizer == "momentum":
            first *= 0.9
            first += slope
            value -= rate * first
        else:
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            scale = rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            value -= scale * first / (np.sqrt(second) + 1e-8)


@dataclass(frozen=True, kw_only=True)
class Student(Descent):
    """Trains `heads` heads (0: as many as the family's layers have) for at most `steps` steps.

    Full matrices Theta_i and W_i, the squared loss sum_{l,c} (F - Y)^2 averaged over a batch.
    epochs: how often the examples are used; 1: each once.
    """

    name: ClassVar[str] = "student"
    revision: ClassVar[int] = 4
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "an attention layer trained by Adam or SGD, analytic gradients"
    model: ClassVar[str] = "An attention layer"

    optimizer: str = "adam"
    rate: float = 0.01
    batch: int = 256
    steps: int = 4000
    heads: Annotated[int, Range(0)] = 0
    epochs: Annotated[int, Range(1)] = later(1)

    def supports(self, family: Family) -> str | None:
        """Return None except for linear attention and an unknown number of heads."""
        return no_softmax_heads(family, self.name, self.heads)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Train until the steps or the budget are used up, or the error is tiny."""
        family, d = oracle.family, oracle.family.d
        heads = self.heads or family.layer_heads
        size = 8 * heads * (16 * d**2 + 4 * self.batch * family.k * (d + family.k))
        require_memory(size, f"a student of {heads} heads at d={d}, batch {self.batch}")
        layer = np.stack([rng.normal(0.0, s, (heads, d, d)) for s in (1 / math.sqrt(d), 1 / d)])
        epochs, watch = Epochs(oracle, self.epochs, rng), _Smoothed(family)
        drawn = (epochs.draw(self.batch) for _ in itertools.count())
        batches = ((examples.x, examples.y) for examples in drawn)
        outcome = self.descend(layer, partial(layer_gradient, rows=family.rows), batches, watch)
        details: dict[str, Any] = {"steps": watch.step, "heads": heads}
        if outcome is Outcome.STAGE_FAILED:
            return nothing(family, outcome, reason=DIVERGED, **details)
        learned = AttentionLayer(theta=layer[0], w=layer[1])
        outcome = None if epochs.ended else outcome
        details |= {"smoothed_loss": watch.loss, "epochs": epochs.epoch}
        return Hypothesis(predict=learned, outcome=outcome, details=details, layer=learned)


class _Smoothed:
    """The smoothed training loss; it ends training at a millionth of the baseline's loss."""

    def __init__(self, family: Family) -> None:
        self.step, self.loss = 0, math.inf
        self._family = family
        self._scale = family.trivial_risk if isinstance(family, Coded) else 0.0

    def __call__(self, step: int, loss: float, batch: Batch) -> bool:
        x, y = batch
        self.step = step
        self.loss = loss if self.loss == math.inf else 0.98 * self.loss + 0.02 * loss
        self._scale = self._scale or float(((y - self._family.known(x)) ** 2).sum()) / len(x)
        return max(self.loss, loss) < 1e-6 * self._scale


def layer_gradient(layer: Array, x: Array, y: Array, rows: int = 0) -> tuple[float, Array]:
    """Compute the batch's mean squared loss and its gradient in Theta and W: (2, m, d, d)."""
    linear = linearize(layer[0], layer[1], columns(x), rows)
    residual = linear.value - columns(y)
    return float(np.sum(residual**2)) / len(x), np.stack(linear.adjoint(residual * (2 / len(x))))
