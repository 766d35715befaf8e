"""A layer of softmax attention, trained by gradient descent on minibatches."""

import itertools
import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hardness.learners.attention import columns, linearize
from hardness.learners.descent import Array, Batch, Descent
from hardness.learners.learner import DIVERGED, Hypothesis, Outcome, View, no_softmax_heads, nothing
from hardness.oracles import Epochs, ExampleOracle
from instances.coded import Coded
from instances.family import Family
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import Range, later


@dataclass(frozen=True, kw_only=True)
class Student(Descent):
    """Trains `heads` heads (0: as many as the family's layers have) for at most `steps` steps.

    Full matrices Theta_i and W_i, the squared loss sum_{l,c} (F - Y)^2 averaged over a batch.
    epochs: over the examples there are; 1: each is used once.
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
        """Any family but those of linear attention."""
        return no_softmax_heads(family, self.name, self.heads)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Descend until the steps, the budget or the error are at their end."""
        family, d = oracle.family, oracle.family.d
        heads = self.heads or family.layer_heads
        size = 8 * heads * (16 * d**2 + 4 * self.batch * family.k * (d + family.k))
        require_memory(size, f"a student of {heads} heads at d={d}, batch {self.batch}")
        layer = np.stack([rng.normal(0.0, s, (heads, d, d)) for s in (1 / math.sqrt(d), 1 / d)])
        epochs, watch = Epochs(oracle, self.epochs, rng), _Smoothed(family)
        drawn = (epochs.draw(self.batch) for _ in itertools.count())
        outcome = self.descend(
            layer,
            lambda at, x, y: layer_gradient(at, x, y, family.rows),
            ((examples.x, examples.y) for examples in drawn),
            watch,
        )
        details = {"steps": watch.step, "heads": heads}
        if outcome is Outcome.STAGE_FAILED:
            return nothing(family, outcome, reason=DIVERGED, **details)
        learned = AttentionLayer(theta=layer[0], w=layer[1])
        return Hypothesis(
            predict=learned,
            outcome=None if epochs.ended else outcome,
            details=details | {"smoothed_loss": watch.loss, "epochs": epochs.epoch},
            layer=learned,
        )


class _Smoothed:
    """The training loss, smoothed over some fifty steps: enough is a millionth of the baseline's.

    The baseline's is as the family says, else that on the first batch.
    """

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
    """Compute the batch's mean squared loss and its gradient, in Theta and W: (2, m, d, d)."""
    found = linearize(layer[0], layer[1], columns(x), rows)
    residual = found.value - columns(y)
    return float(np.sum(residual**2)) / len(x), np.stack(found.adjoint(residual * (2 / len(x))))
