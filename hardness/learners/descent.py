"""Gradient descent on minibatches, of the learners `student` and `mlp`: optimizers and the loop.

Optimizers: plain SGD, SGD with momentum .9, Adam [KB15]. In one epoch every example is used once,
so that the training loss is an estimate of the population's; in several it is not.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import SPENT, BuiltIn, Outcome
from hardness.oracles import Spent
from instances.parameters import OneOf, Range

_OPTIMIZERS = {"adam": "Adam", "momentum": "SGD with momentum", "sgd": "SGD"}

Array = NDArray[Any]
Batch = tuple[Array, Array]
Slope = Callable[[Array, Array, Array], tuple[float, Array]]
Enough = Callable[[int, float, Batch], bool]


class Descent(BuiltIn):
    """What learners by descent share: an optimizer, checked, and the one loop that descends."""

    model: ClassVar[str]

    optimizer: Annotated[str, OneOf((*_OPTIMIZERS,))]
    rate: Annotated[float, Range(above=0, most=100)]
    batch: Annotated[int, Range(1)]
    steps: Annotated[int, Range(1)]

    @property
    def method(self) -> str:
        """What is trained, and by which optimizer, as a sentence begins."""
        return f"{self.model} trained by {_OPTIMIZERS[self.optimizer]}"

    def descend(
        self, parameters: Array, slope: Slope, batches: Iterable[Batch], enough: Enough
    ) -> Outcome | None:
        """Change the parameters in place, a step a batch, until `steps` or until it is enough.

        slope: parameters and a batch -> the mean loss on it and its gradient. enough: the step,
        from 1, its loss and its batch -> whether to end after it. Returns what ended it early:
        a loss that is not finite, or a spent budget of the oracle that gives the batches.
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
        """Take step t in place."""
        # The rate falls to 0 along a half cosine, so that the end is not noise of the batches.
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
