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

_SOLVED = 1e-3  # of the loss of the baseline: training stops there
_NUMBERS = 1 << 20  # of z drawn at once
_MARKS = 50  # of the curve
_LARGEST_HOLD_OUT = 4096
_LOOK = 50  # steps between looks at the held-out examples, or an epoch where that is longer
_GAIN = 0.9  # of the loss on them, in
_PATIENCE = 1000  # steps: where it falls by less, training stops
_LEARNED = 0.05  # of the baseline's loss on them: the judge decides
_FEW = 8  # held-out examples below which their loss shows nothing
_ROUNDING = 1e-6  # of the baseline's loss on them: nothing to gain


@dataclass(frozen=True, kw_only=True)
class Mlp(Descent):
    """Trains `width` hidden units for at most `steps` minibatches of `batch` examples.

    f(z) = b + sum_i a_i max(0, <w_i, z> + c_i). If labels are codes, f is fitted on the open
    examples, z_0 = -1, to the unknown factor less its public part. Its input is the signs of z, or
    with view=tokens the 2 d signs of the tokens. Real labels have no factor: then f is fitted to
    all k d numbers of a label, less what is known, and its input is those of the tokens.

    epochs: over the examples there are. With 1 each is used once. With 0, if the examples end after
    one epoch, an eighth of them is held out. The network saw these once, in the first epoch. It
    goes on with the others until the loss on the held-out examples stops falling. Its
    `held_out_error` is the least of many, so it is a little too small; the risk of a run is
    measured on fresh examples.
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
        """Two-token families whose labels have one unknown factor, and real labels."""
        return None if isinstance(family, Coded | Dense) else family.lacks("coded")

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Descend until the steps or the budget are at their end, or the loss is near 0."""
        family, width = oracle.family, self.width
        real, flat = isinstance(family, Dense), self.view == "tokens"
        view: View = _Tokens(family) if real else _Factor(require_coded(family), flat)
        size = view.inputs + view.outputs
        numbers = size * (8 * width + 6 * self.batch) + 4 * width * self.batch + 4 * _NUMBERS
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
        """Go on with all that was drawn but an eighth, until the loss on that stops falling."""
        z, values = view.read(oracle.again())
        count = min(max(len(values) // 8, 1), _LARGEST_HOLD_OUT)
        if len(values) <= count:
            return nothing(oracle.family, Outcome.EXAMPLES_SPENT, steps=0)
        held, rest = np.split(rng.permutation(len(values)), [count])
        rounds, batch = Rounds(rest, oracle.meter, rng), min(self.batch, len(rest))
        watch = _HeldOut(_Curve(self.steps, batch), theta, z[held], values[held], len(rest))
        drawn = (rounds.draw(batch) for _ in itertools.count())
        whole = ((z[rows], values[rows]) for rows in drawn if len(rows) == batch)
        outcome = self.descend(theta, gradient, whole, watch)
        details = {"epochs": rounds.round, "held_out": count, **watch.curve.details()}
        if outcome is Outcome.STAGE_FAILED:
            if not math.isfinite(watch.best):
                return nothing(oracle.family, outcome, reason=DIVERGED, **details)
            outcome = None
        if outcome is None and (watch.best > _LEARNED or count < _FEW):  # with more it might
            outcome = Outcome.EXAMPLES_SPENT
        details["held_out_error"] = watch.best if math.isfinite(watch.best) else None
        return Hypothesis(predict=view.predictor(watch.kept), outcome=outcome, details=details)

    def _cut(self, oracle: ExampleOracle, view: "View") -> Iterator[Batch]:
        """Cut what the network sees into minibatches: (batch, inputs), (batch, outputs)."""
        z, values = np.zeros((0, view.inputs), np.float32), np.zeros((0, view.outputs), np.float32)
        most = max(2 * self.batch, _NUMBERS // (view.inputs + view.outputs))
        left = self.steps
        while left:
            missing = self.batch * left - len(values)
            for_z, for_values = view.read(oracle.draw(min(view.enough(missing), most)))
            z, values = np.concatenate([z, for_z]), np.concatenate([values, for_values])
            whole = min(left, len(values) // self.batch)
            left -= whole
            for start in range(0, whole * self.batch, self.batch):
                yield z[start : start + self.batch], values[start : start + self.batch]
            z, values = z[whole * self.batch :], values[whole * self.batch :]


class _Factor:
    """The signs of z or of both tokens, and the unknown factor of their codes, where z_0 = -1."""

    outputs = 1

    def __init__(self, family: Coded, flat: bool) -> None:
        self.family, self.seen = family, _flat if flat else _product
        self.inputs = 2 * family.d if flat else family.d - 1

    def enough(self, count: int) -> int:
        return self.family.enough(count) + 64

    def read(self, examples: Examples) -> tuple[Array, Array]:
        words = as_coded(examples).words
        x = tokens.unpack(words[self.family.open(words)], self.family.d)
        return self.seen(x).astype(np.float32), reduce(examples).values.astype(np.float32)[:, None]

    def predictor(self, theta: Array) -> Predict:
        return predictor(self.family, lambda z: evaluate(theta, z, 1)[:, 0], self.seen)


def _product(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(x[:, 0, 1:] * x[:, 1, 1:])


def _flat(x: NDArray[Any]) -> NDArray[Any]:
    return x.reshape(len(x), -1)


class _Tokens:
    """All numbers of the tokens, and of the labels less what is known."""

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
    """The relative training loss, each point the mean since the last; enough when it is near 0."""

    def __init__(self, steps: int, batch: int) -> None:
        self.points: list[list[float]] = []  # step, examples, relative loss
        self.step, self.batch, self.steps = 0, batch, steps
        self._marks = {round(v) for v in np.geomspace(1, steps, _MARKS)}
        self._loss = self._scale = 0.0
        self._recent = 1.0

    def __call__(self, step: int, loss: float, batch: Batch) -> bool:
        """Count one minibatch's mean loss, and its mean squared label."""
        scale = float(np.vdot(batch[1], batch[1])) / len(batch[1])
        self.step = step
        self._loss += loss
        self._scale += scale
        self._recent += 0.01 * (loss / max(scale, 1e-30) - self._recent)
        if step in self._marks:
            self._mark()
        return self._recent < _SOLVED

    def _mark(self) -> None:
        """Add a point, if there is anything since the last one."""
        if self._scale:
            self.points.append([self.step, self.step * self.batch, self._loss / self._scale])
            self._loss = self._scale = 0.0

    def details(self) -> dict[str, Any]:
        """Give the steps, the examples and all points, the last step's among them."""
        self._mark()
        trained_on = self.step * self.batch
        return {"steps": self.step, "trained_on": trained_on, "curve": self.points}


class _HeldOut:
    """The loss on held-out examples, relative to the baseline's, and the parameters at its least.

    It is enough when that loss has not fallen by a tenth in a thousand steps.
    """

    def __init__(self, curve: _Curve, theta: Array, z: Array, values: Array, rest: int) -> None:
        self.curve, self.best, self.kept = curve, math.inf, theta.copy()
        self._theta, self._z, self._values = theta, z, values.astype(np.float64)
        self._baseline = float((self._values**2).mean()) or 1.0
        self._look = max(_LOOK, rest // curve.batch)
        self._mark, self._until = math.inf, _PATIENCE

    def __call__(self, step: int, loss: float, batch: Batch) -> bool:
        self.curve(step, loss, batch)
        if step % self._look and step < self.curve.steps:
            return False
        left = evaluate(self._theta, self._z, self._values.shape[1]) - self._values
        error = float((left**2).mean()) / self._baseline
        if error < self.best:
            self.best, self.kept = error, self._theta.copy()
        if self.best < _GAIN * self._mark:
            self._mark, self._until = self.best, step + _PATIENCE
        return self.best < _ROUNDING or step > self._until


def parts(theta: Array, inputs: int, outputs: int) -> tuple[Array, Array, Array, Array]:
    """View parameters as w (width, inputs), c (width,), a (outputs, width), b (outputs,)."""
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
