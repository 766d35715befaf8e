"""A two-layer ReLU network on the signs of z, trained by gradient descent on minibatches.

f(z) = b + sum_i a_i max(0, <w_i, z> + c_i) is fitted to the label's unknown factor, less what
everyone knows of it, where z_0 = -1. In one epoch every example is used once, so that the training
loss is an estimate of the population's; in several it is not. Optimizers: plain SGD, SGD with
momentum .9, Adam [KB15].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Epochs, ExampleOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, Outcome, nothing
from hardness.upper.reduced import predictor
from instances import tokens
from instances.capabilities import CODED
from instances.family import Family, require
from instances.limits import require_memory
from instances.parameters import later
from instances.reduced import reduce

OPTIMIZERS = ("adam", "momentum", "sgd")
_SOLVED = 1e-3  # of the loss of the baseline: training stops there
_NUMBERS = 1 << 20  # of z drawn at once
_MARKS = 50  # of the curve

Array = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """Trains `width` hidden units for at most `steps` minibatches of `batch` examples, z_0 = -1.

    epochs: over the examples there are; 1: each is used once.
    """

    name: ClassVar[str] = "mlp"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    about: ClassVar[str] = "a two-layer ReLU network on the signs of z, trained on minibatches"

    width: int = 100
    optimizer: str = "adam"
    rate: float = 0.005
    batch: int = 256
    steps: int = 60_000
    epochs: int = later(1)

    def __post_init__(self) -> None:
        require(
            self.optimizer in OPTIMIZERS,
            f"optimizer={self.optimizer} given: one of {', '.join(OPTIMIZERS)}",
        )
        require(0 < self.rate <= 100, f"rate={self.rate} given: it must be above 0, at most 100")
        for name in ("width", "batch", "steps", "epochs"):
            value = getattr(self, name)
            require(value >= 1, f"{name}={value} given: it must be at least 1")

    def supports(self, family: Family) -> str | None:
        """Two-token families whose labels have one unknown factor."""
        return CODED.missing(family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Descend until the steps or the budget are at their end, or the loss is near 0."""
        family, width = oracle.family, self.width
        require_memory(
            4 * (family.d * (8 * width + 6 * self.batch) + 4 * width * self.batch + 4 * _NUMBERS),
            f"a network of width {width} at d={family.d}, batch {self.batch}",
        )
        theta = initial(rng, family.d - 1, width)
        moments = np.zeros_like(theta), np.zeros_like(theta)
        oracle = Epochs(oracle, self.epochs, rng)
        curve, step, outcome = _Curve(self.steps), 0, None
        try:
            for step, (z, values) in enumerate(self._batches(oracle), 1):
                loss, slope = gradient(theta, z, values)
                if not math.isfinite(loss):
                    return nothing(family, Outcome.DIVERGED, steps=step, curve=curve.points)
                curve.add(step, step * self.batch, loss, float(values @ values) / len(values))
                self._update(theta, slope, moments, step)
                if curve.solved:
                    break
        except Spent as spent:
            outcome = None if oracle.ended else SPENT[spent.resource]
        curve.mark(step, step * self.batch)
        return Hypothesis(
            predict=predictor(family, lambda z: evaluate(theta, z[:, 1:])),
            outcome=outcome,
            details={
                "steps": step,
                "trained_on": step * self.batch,
                "epochs": oracle.epoch,
                "curve": curve.points,
            },
        )

    def _batches(self, oracle: ExampleOracle) -> Iterator[tuple[Array, Array]]:
        """Cut the examples with z_0 = -1 into minibatches: (batch, d - 1), (batch,)."""
        family, d = CODED.need(oracle.family), oracle.family.d
        z, values = np.zeros((0, d - 1), np.float32), np.zeros(0, np.float32)
        left = self.steps
        while left:
            missing = self.batch * left - len(values)
            block = reduce(
                oracle.draw(min(family.enough(missing) + 64, max(2 * self.batch, _NUMBERS // d)))
            )
            signs = tokens.unpack(block.words, d)[:, 1:].astype(np.float32)
            z = np.concatenate([z, signs])
            values = np.concatenate([values, block.values.astype(np.float32)])
            whole = min(left, len(values) // self.batch)
            left -= whole
            for start in range(0, whole * self.batch, self.batch):
                oracle.meter.require_time()
                yield z[start : start + self.batch], values[start : start + self.batch]
            z, values = z[whole * self.batch :], values[whole * self.batch :]

    def _update(self, theta: Array, slope: Array, moments: tuple[Array, Array], t: int) -> None:
        """Take one step in place."""
        # The rate falls to 0 along a half cosine, so that the end is not noise of the batches.
        rate = self.rate * 0.5 * (1 + math.cos(math.pi * t / (self.steps + 1)))
        first, second = moments
        if self.optimizer == "sgd":
            theta -= rate * slope
        elif self.optimizer == "momentum":
            first *= 0.9
            first += slope
            theta -= rate * first
        else:
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            scale = rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            theta -= scale * first / (np.sqrt(second) + 1e-8)


class _Curve:
    """The training loss relative to the labels' variance, each point the mean since the last."""

    def __init__(self, steps: int) -> None:
        self.points: list[list[float]] = []  # step, examples, relative loss
        self._marks = iter(sorted({round(v) for v in np.geomspace(1, steps, _MARKS)}))
        self._mark = next(self._marks)
        self._loss = self._scale = 0.0
        self._recent = 1.0

    def add(self, step: int, examples: int, loss: float, scale: float) -> None:
        """Count one minibatch's mean loss, and its mean squared label."""
        self._loss += loss
        self._scale += scale
        self._recent += 0.01 * (loss / max(scale, 1e-30) - self._recent)
        if step == self._mark:
            self.mark(step, examples)
            self._mark = next(self._marks, 0)

    def mark(self, step: int, examples: int) -> None:
        """Add a point, where there is anything since the last one."""
        if self._scale:
            self.points.append([step, examples, self._loss / self._scale])
            self._loss = self._scale = 0.0

    @property
    def solved(self) -> bool:
        """Whether the loss of the last hundred steps or so is near 0."""
        return self._recent < _SOLVED


def parts(theta: Array, inputs: int) -> tuple[Array, Array, Array, Array]:
    """View parameters (width (inputs + 2) + 1,) as w (width, inputs), c, a (width,), b (1,)."""
    width = (len(theta) - 1) // (inputs + 2)
    w = theta[: width * inputs].reshape(width, inputs)
    c, a = theta[width * inputs : -1].reshape(2, width)
    return w, c, a, theta[-1:]


def initial(rng: np.random.Generator, inputs: int, width: int) -> Array:
    """Draw w, c uniform within 1/sqrt(inputs), a within 1/sqrt(width); b = 0; float32."""
    theta = np.zeros(width * (inputs + 2) + 1, np.float32)
    w, c, a, _ = parts(theta, inputs)
    for part, many in ((w, inputs), (c, inputs), (a, width)):
        part[:] = rng.uniform(-1, 1, part.shape) / math.sqrt(many)
    return theta


def evaluate(theta: Array, z: NDArray[np.floating]) -> NDArray[np.float64]:
    """Evaluate the network: (n, inputs) -> (n,)."""
    w, c, a, b = (part.astype(np.float64) for part in parts(theta, z.shape[1]))
    return np.asarray(np.maximum(z @ w.T + c, 0) @ a + b)


def gradient(theta: Array, z: Array, values: Array) -> tuple[float, Array]:
    """Compute the mean squared loss on (n, inputs), (n,), and its gradient in theta."""
    w, c, a, b = parts(theta, z.shape[1])
    hidden = z @ w.T
    hidden += c
    np.maximum(hidden, 0, out=hidden)
    residual = hidden @ a
    residual += b
    residual -= values
    loss = float(residual @ residual) / len(values)
    residual *= 2 / len(values)
    slope = np.empty_like(theta)
    d_w, d_c, d_a, d_b = parts(slope, z.shape[1])
    np.matmul(residual, hidden, out=d_a)
    d_b[0] = residual.sum()
    back = np.sign(hidden, out=hidden)  # 1 where the unit is on
    back *= residual[:, None]
    back *= a
    np.matmul(back.T, z, out=d_w)
    np.sum(back, axis=0, out=d_c)
    return loss, slope
