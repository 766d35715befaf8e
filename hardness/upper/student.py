"""A student of the same architecture, trained by gradient descent on batches of examples.

Full matrices Theta_i and W_i, the squared loss sum_{l,c} (F - Y)^2 averaged over a batch, gradients
in closed form, Adam [KB15] or plain SGD.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Epochs, ExampleOracle, Spent
from hardness.upper.attention import columns, linearize
from hardness.upper.learner import SPENT, Hypothesis, Outcome, View, nothing
from instances.capabilities import CODED
from instances.family import Examples, Family, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import later

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Student:
    """Trains `heads` heads (0: as many as the family's layers have) for at most `steps` steps.

    epochs: over the examples there are; 1: each is used once.
    """

    name: ClassVar[str] = "student"
    revision: ClassVar[int] = 2
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "an attention layer trained by Adam or SGD, analytic gradients"

    optimizer: str = "adam"
    rate: float = 0.01
    batch: int = 256
    steps: int = 4000
    heads: int = 0
    epochs: int = later(1)

    def __post_init__(self) -> None:
        require(
            self.optimizer in ("adam", "sgd"),
            f"optimizer={self.optimizer} given: adam or sgd",
        )
        require(0 < self.rate <= 100, f"rate={self.rate} given: it must be above 0, at most 100")
        for name in ("batch", "steps", "epochs"):
            value = getattr(self, name)
            require(value >= 1, f"{name}={value} given: it must be at least 1")
        require(self.heads >= 0, f"heads={self.heads} given: it must be at least 0")

    def supports(self, family: Family) -> str | None:
        """Any family but those of linear attention."""
        if family.kind == "linear":
            return "it fits softmax attention; `lifted` learns linear attention"
        if not (self.heads or family.layer_heads):
            return "nobody knows how many heads to fit: say student:heads=2, or another number"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Descend until the steps, the budget or the error are at their end."""
        family = oracle.family
        heads = self.heads or family.layer_heads
        size = 8 * heads * (16 * family.d**2 + 4 * self.batch * family.k * (family.d + family.k))
        require_memory(size, f"a student of {heads} heads at d={family.d}, batch {self.batch}")
        theta = rng.normal(0.0, 1.0 / math.sqrt(family.d), (heads, family.d, family.d))
        w = rng.normal(0.0, 1.0 / family.d, (heads, family.d, family.d))
        oracle = Epochs(oracle, self.epochs, rng)
        moments = [np.zeros_like(p) for p in (theta, theta, w, w)]
        loss, scale, step, outcome = math.inf, 0.0, 0, None
        try:
            for step in range(1, self.steps + 1):
                batch = oracle.draw(self.batch)
                new, d_theta, d_w = gradients(theta, w, batch.x, batch.y)
                loss = new if loss == math.inf else 0.98 * loss + 0.02 * new
                if not math.isfinite(new):
                    outcome = Outcome.DIVERGED
                    break
                scale = scale or trivial_loss(family, batch)
                if max(loss, new) < 1e-6 * scale:
                    break
                self._update(theta, d_theta, moments[0], moments[1], step)
                self._update(w, d_w, moments[2], moments[3], step)
        except Spent as spent:
            outcome = None if oracle.ended else SPENT[spent.resource]
        details = {"steps": step, "heads": heads, "smoothed_loss": loss, "epochs": oracle.epoch}
        if outcome is Outcome.DIVERGED:
            return nothing(family, outcome, steps=step, heads=heads)
        layer = AttentionLayer(theta=theta, w=w)
        return Hypothesis(predict=layer, outcome=outcome, details=details, layer=layer)

    def _update(self, value: Array, gradient: Array, first: Array, second: Array, t: int) -> None:
        """Take one step in place."""
        # The rate falls to 0 along a half cosine, so that the end is not noise of the batches.
        rate = self.rate * 0.5 * (1 + math.cos(math.pi * t / (self.steps + 1)))
        if self.optimizer == "sgd":
            value -= rate * gradient
            return
        first *= 0.9
        first += 0.1 * gradient
        second *= 0.999
        second += 0.001 * gradient**2
        scale = math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        value -= rate * scale * first / (np.sqrt(second) + 1e-8)


def trivial_loss(family: Family, batch: Examples) -> float:
    """The loss of the baseline: as the family says, else on a batch."""
    if (coded := CODED.of(family)) is not None:
        return coded.trivial_risk
    return float(((batch.y - family.known(batch.x)) ** 2).sum()) / len(batch)


def gradients(
    theta: Array, w: Array, x: NDArray[Any], y: NDArray[Any]
) -> tuple[float, Array, Array]:
    """Compute the batch's mean squared loss and its gradients in theta and w, softmax attention.

    theta, w: (m, d, d); x, y: (n, k, d).
    """
    layer = linearize(theta, w, columns(x))
    residual = layer.value - columns(y)
    d_theta, d_w = layer.adjoint(residual * (2.0 / len(x)))
    return float(np.sum(residual**2)) / len(x), d_theta, d_w
