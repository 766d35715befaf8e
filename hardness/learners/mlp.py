"""A two-layer ReLU network, trained by gradient descent on minibatches."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import DIVERGED, Hypothesis, Outcome, Predict, nothing
from hardness.learners.reduced import predictor
from hardness.learners.student import Array, Batch, Descent
from hardness.oracles import Epochs, ExampleOracle, Rounds
from instances import tokens
from instances.coded import Coded, as_coded, reduce, require_coded
from instances.dense import Dense
from instances.family import Examples, Family
from instances.limits import require_memory
from instances.parameters import OneOf, Range, later

_SOLVED = 1e-3  # of the baseline's loss: training stops below it
_BATCH_NUMBERS = 1 << 20  # of the inputs drawn at once
_CURVE_POINTS = 50  # of the training curve
_LARGEST_HOLD_OUT = 4096
_CHECK_STEPS = 50  # between evaluations of the held-out loss; an epoch if that is longer
# Training stops if the held-out loss does not fall below _GAIN times itself in _PATIENCE steps.
_GAIN, _PATIENCE = 0.9, 1000
_LEARNED = 0.05  # of the baseline's held-out loss: below it the judge of the run decides
_MIN_HOLD_OUT = 8  # with fewer held-out examples their loss proves nothing
_ROUNDING = 1e-6  # of the baseline's held-out loss: nothing is left to gain


@dataclass(frozen=True, kw_only=True)
class Mlp(Descent):
    """Trains `width` hidden units for at most `steps` minibatches of `batch` examples.

    f(z) = b + sum_i a_i max(0, <w_i, z> + c_i). If labels are codes, f is fitted on the informative
    examples, z_0 = -1, to the unknown factor minus the baseline. Its input is the signs of z, or
    with view=tokens the 2 d signs of the tokens. If labels are real, f is fitted to all k d numbers
    of a label minus the baseline, and its input is the k d numbers of the tokens.

    epochs: how often the examples are used; 1: each once. With 0, if the examples end after one
    epoch, an eighth of them is held out, though the network saw these once, in the first epoch. It
    trains on the others until the loss on the held-out examples stops falling. Its `held_out_error`
    is the minimum of many, so it is a little too small; the risk of a run is measured on fresh
    examples.
    """

    name: ClassVar[str] = "mlp"
    revision: ClassVar[int] = 2
    about: ClassVar[str] = "a two-layer ReLU network, trained on minibatches"
    model: ClassVar[str] = "A ReLU network"

    width: Annotated[int, Range(1)] = 100
    optimizer: str = "adam"
    rate: float = 0.005
    batch: int = 256
    steps: int = 60_000
    epochs: Annotated[int, Range(0)] = later(0)
    view: Annotated[str, OneOf(("z", "tokens"))] = later("z")

    def supports(self, family: Family) -> str | None:
        """Return None for families with codes or real labels, else the reason."""
        return None if isinstance(family, Coded | Dense) else family.lacks("coded")

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Train until the steps or the budget are used up, or the loss is near 0."""
        family, width = oracle.family, self.width
        real, flat = isinstance(family, Dense), self.view == "tokens"
        view: View = _Tokens(family) if real else _Factor(require_coded(family), flat)
        size = view.inputs + view.outputs
        numbers = size * (8 * width + 6 * self.batch) + 4 * width * self.batch + 4 * _BATCH_NUMBERS
        require_memory(4 * numbers, f"width {width} at d={family.d}, batch {self.batch}")
        theta = initial(rng, view.inputs, width, view.outputs)
        epochs, curve = Epochs(oracle, self.epochs or 1, rng), _Curve(self.steps, self.batch)
        outcome = self.descend(theta, gradient, self._cut(epochs, view), curve)
        if outcome is Outcome.STAGE_FAILED:
            return nothing(family, outcome, reason=DIVERGED, **curve.details())
        if outcome is Outcome.EXAMPLES_SPENT and not self.epochs and curve.step < self.steps:
            return self._in_rounds(oracle, view, rng, theta)
        outcome, details = None if epochs.ended else outcome, {"epochs": epochs.epoch}
        details |= curve.details()
        return Hypothesis(predict=view.predictor(theta), outcome=outcome, details=details)

    def _in_rounds(
        self, oracle: ExampleOracle, view: "View", rng: np.random.Generator, theta: Array
    ) -> Hypothesis:
        """Train on seven eighths of all examples, until the loss on the others stops falling."""
        z, values = view.read(oracle.again())
        count = min(max(len(values) // 8, 1), _LARGEST_HOLD_OUT)
        if len(values) <= count:
            return nothing(oracle.family, Outcome.EXAMPLES_SPENT, steps=0)
        held_out, rest = np.split(rng.permutation(len(values)), [count])
        rounds, batch = Rounds(rest, oracle.meter, rng), min(self.batch, len(rest))
        curve = _Curve(self.steps, batch)
        watch = _HeldOut(curve, theta, z[held_out], values[held_out], len(rest))
        drawn = (rounds.draw(batch) for _ in itertools.count())
        full_batches = ((z[rows], values[rows]) for rows in drawn if len(rows) == batch)
        outcome = self.descend(theta, gradient, full_batches, watch)
        details = {"epochs": rounds.round, "held_out": count, **watch.curve.details()}
        if outcome is Outcome.STAGE_FAILED:
            if not math.isfinite(watch.best):
                return nothing(oracle.family, outcome, reason=DIVERGED, **details)
            outcome = None
        if outcome is None and (
            watch.best > _LEARNED or count < _MIN_HOLD_OUT
        ):  # more examples might help
            outcome = Outcome.EXAMPLES_SPENT
        details["held_out_error"] = watch.best if math.isfinite(watch.best) else None
        return Hypothesis(predict=view.predictor(watch.kept), outcome=outcome, details=details)

    def _cut(self, oracle: ExampleOracle, view: "View") -> Iterator[Batch]:
        """Draw minibatches of inputs and outputs: (batch, inputs), (batch, outputs)."""
        z, values = np.zeros((0, view.inputs), np.float32), np.zeros((0, view.outputs), np.float32)
        at_once = max(2 * self.batch, _BATCH_NUMBERS // (view.inputs + view.outputs))
        left = self.steps
        while left:
            missing = self.batch * left - len(values)
            for_z, for_values = view.read(oracle.draw(min(view.enough(missing), at_once)))
            z, values = np.concatenate([z, for_z]), np.concatenate([values, for_values])
            complete = min(left, len(values) // self.batch)
            left -= complete
            for start in range(0, complete * self.batch, self.batch):
                yield z[start : start + self.batch], values[start : start + self.batch]
            z, values = z[complete * self.batch :], values[complete * self.batch :]


class _Factor:
    """The view of families with codes: signs of z or of both tokens, and the unknown factor."""

    outputs = 1

    def __init__(self, family: Coded, flat: bool) -> None:
        self.family, self.inputs_of = family, _flat if flat else _product
        self.inputs = 2 * family.d if flat else family.d - 1

    def enough(self, count: int) -> int:
        return self.family.enough(count) + 64

    def read(self, examples: Examples) -> tuple[Array, Array]:
        words = as_coded(examples).words
        x = tokens.unpack(words[self.family.open(words)], self.family.d)
        return self.inputs_of(x).astype(np.float32), reduce(examples).values.astype(np.float32)[
            :, None
        ]

    def predictor(self, theta: Array) -> Predict:
        return predictor(self.family, lambda z: evaluate(theta, z, 1)[:, 0], self.inputs_of)


def _product(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(x[:, 0, 1:] * x[:, 1, 1:])


def _flat(x: NDArray[Any]) -> NDArray[Any]:
    return x.reshape(len(x), -1)


class _Tokens:
    """The view of real labels: all numbers of the tokens, and of the labels minus the baseline."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.inputs = self.outputs = family.k * family.d

    def enough(self, count: int) -> int:
        return count

    def read(self, examples: Examples) -> tuple[Array, Array]:
        rows, unknown = (len(examples), -1), examples.y - self.family.known(examples.x)
        z = examples.x.reshape(rows).astype(np.float32)
        return z, unknown.reshape(rows).astype(np.float32)

    def predictor(self, theta: Array) -> Predict:

        def predict(x: NDArray[Any]) -> NDArray[np.float64]:
            return self.family.known(x) + evaluate(theta, _flat(x), self.outputs).reshape(x.shape)

        return predict


View = _Factor | _Tokens


class _Curve:
    """The relative training loss, averaged between points; it ends training near 0."""

    def __init__(self, steps: int, batch: int) -> None:
        self.points: list[list[float]] = []  # step, examples, relative loss
        self.step, self.batch, self.steps = 0, batch, steps
        self._marks = {round(v) for v in np.geomspace(1, steps, _CURVE_POINTS)}
        self._loss = self._scale = 0.0
        self._recent = 1.0

    def __call__(self, step: int, loss: float, batch: Batch) -> bool:
        """Record the mean loss of a minibatch, and return whether training may end."""
        scale = float(np.vdot(batch[1], batch[1])) / len(batch[1])
        self.step = step
        self._loss += loss
        self._scale += scale
        self._recent += 0.01 * (loss / max(scale, 1e-30) - self._recent)
        if step in self._marks:
            self._mark()
        return self._recent < _SOLVED

    def _mark(self) -> None:
        """Add a point to the curve, if there were minibatches since the last one."""
        if self._scale:
            self.points.append([self.step, self.step * self.batch, self._loss / self._scale])
            self._loss = self._scale = 0.0

    def details(self) -> dict[str, Any]:
        """Return the steps, the examples and all points, including one for the last step."""
        self._mark()
        trained_on = self.step * self.batch
        return {"steps": self.step, "trained_on": trained_on, "curve": self.points}


class _HeldOut:
    """The loss on held-out examples, relative to the baseline, and the best parameters.

    It ends training when the loss has not fallen by a tenth in a thousand steps.
    """

    def __init__(self, curve: _Curve, theta: Array, z: Array, values: Array, rest: int) -> None:
        self.curve, self.best, self.kept = curve, math.inf, theta.copy()
        self._theta, self._z, self._values = theta, z, values.astype(np.float64)
        self._baseline = float((self._values**2).mean()) or 1.0
        self._every = max(_CHECK_STEPS, rest // curve.batch)
        self._mark, self._until = math.inf, _PATIENCE

    def __call__(self, step: int, loss: float, batch: Batch) -> bool:
        self.curve(step, loss, batch)
        if step % self._every and step < self.curve.steps:
            return False
        residual = evaluate(self._theta, self._z, self._values.shape[1]) - self._values
        error = float((residual**2).mean()) / self._baseline
        if error < self.best:
            self.best, self.kept = error, self._theta.copy()
        if self.best < _GAIN * self._mark:
            self._mark, self._until = self.best, step + _PATIENCE
        return self.best < _ROUNDING or step > self._until


def parts(theta: Array, inputs: int, outputs: int) -> tuple[Array, Array, Array, Array]:
    """Split into views w (width, inputs), c (width,), a (outputs, width) and b (outputs,)."""
    width = (len(theta) - outputs) // (inputs + 1 + outputs)
    w, c, a, b = np.split(theta, np.cumsum([width * inputs, width, width * outputs]))
    return w.reshape(width, inputs), c, a.reshape(outputs, width), b


def initial(rng: np.random.Generator, inputs: int, width: int, outputs: int) -> Array:
    """Draw w, c uniform within 1/sqrt(inputs), a within 1/sqrt(width); b = 0; float32."""
    theta = np.zeros(width * (inputs + 1 + outputs) + outputs, np.float32)
    w, c, a, _ = parts(theta, inputs, outputs)
    for part, many in ((w, inputs), (c, inputs), (a, width)):
        part[:] = rng.uniform(-1, 1, part.shape) / math.sqrt(many)
    return theta


def evaluate(theta: Array, z: NDArray[np.floating], outputs: int) -> NDArray[np.float64]:
    """Evaluate the network: (n, inputs) -> (n, outputs)."""
    w, c, a, b = (part.astype(np.float64) for part in parts(theta, z.shape[1], outputs))
    return np.asarray(np.maximum(z @ w.T + c, 0) @ a.T + b)


def gradient(theta: Array, z: Array, values: Array) -> tuple[float, Array]:
    """Compute the mean squared loss on (n, inputs), (n, outputs), and its gradient in theta."""
    inputs, outputs = z.shape[1], values.shape[1]
    w, c, a, b = parts(theta, inputs, outputs)
    hidden = z @ w.T
    hidden += c
    np.maximum(hidden, 0, out=hidden)
    residual = hidden @ a.T
    residual += b
    residual -= values
    loss = float(np.vdot(residual, residual)) / len(values)
    residual *= 2 / len(values)
    slope = np.empty_like(theta)
    d_w, d_c, d_a, d_b = parts(slope, inputs, outputs)
    np.matmul(residual.T, hidden, out=d_a)
    np.sum(residual, axis=0, out=d_b)
    back = np.sign(hidden, out=hidden)  # 1 where the unit is on
    back *= residual @ a
    np.matmul(back.T, z, out=d_w)
    np.sum(back, axis=0, out=d_c)
    return loss, slope
