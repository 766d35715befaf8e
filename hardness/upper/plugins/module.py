"""A torch module as a learner, trained by minibatches: Adam [KB15] on the mean squared error.

A tenth of the examples is held out: the weights that do best on it are kept, and training ends
where they leave next to nothing, after so many steps, or with the budget's seconds.
"""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle
from hardness.upper.learner import SPENT, Access, Hypothesis, Outcome, nothing
from hardness.upper.plugins.function import described, first_line, needs
from hardness.upper.plugins.views import (
    Data,
    View,
    completed,
    gather,
    lacks,
    require_count,
    require_view,
    view_of,
)
from instances.errors import UsageError
from instances.extras import require_extra
from instances.family import Family, require
from instances.limits import require_memory

Array = NDArray[Any]
_SOLVED = 1e-4  # of the labels' second moment on held-out examples: training stops there
_AT_ONCE = 4096  # rows in a prediction
_LOOKS = 100  # at the held-out examples, in all steps


@dataclass(frozen=True, eq=False)
class Module:
    """Trains what `make` gives: a torch module, by make(inputs, outputs) or make().

    inputs and outputs are the numbers of columns in its view: d - 1 and 1 in reduced, k d and k d
    in flat; in tokens it takes (n, k, d) and gives (n, k, d), and both numbers are d. A module
    given in place of `make` is a pattern: copied, its layers drawn anew; what must keep its weights
    is to be made by a function. Lazy layers learn their sizes from the first examples.
    """

    access: ClassVar[Access] = "examples"

    make: Any
    examples: int | None = None
    view: View | None = None
    steps: int = 4000
    batch: int = 256
    rate: float = 3e-3
    decay: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise UsageError(
                f"Module: {described(self.make)} given: a torch module is needed, or a function "
                "make() or make(inputs, outputs) that gives one"
            )
        require_view(self.view, "Module")
        require_count(self.examples, "Module")
        for name in ("steps", "batch"):
            value = getattr(self, name)
            require(
                type(value) is int and value >= 1,
                f"Module: {name}={value!r} given: at least 1 is needed",
            )
        require(0 < self.rate <= 100, f"Module: rate={self.rate} given: above 0, at most 100")
        require(0 <= self.decay <= 100, f"Module: decay={self.decay} given: between 0 and 100")

    @property
    def name(self) -> str:
        """The class of the module, or the name of what makes it."""
        return str(getattr(self.make, "__name__", type(self.make).__name__))

    @property
    def about(self) -> str:
        """The first line of what is said of it."""
        return first_line(self.make) or "a torch module"

    def supports(self, family: Family) -> str | None:
        """Families that have its view."""
        return lacks(self.view, family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw the examples, train, complete the predictions to labels."""
        torch = require_extra("torch", "Module")
        family = oracle.family
        view = view_of(self.view, family)
        data = gather(oracle, view, self.examples)
        details: dict[str, Any] = {"view": view, "trained_on": len(data)}
        if len(data) < 2:
            return nothing(family, data.outcome, **details)
        require_memory(4 * 2 * (data.x.size + data.y.size), f"{len(data)} examples in float32")
        # The generator of all of torch is put back: other learners of the process draw from it.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(1 << 62)))
            net = self._made(torch, data, family, view)
            spent, done = self._train(torch, net, data, oracle, rng)
        if done.pop("diverged"):
            return nothing(family, Outcome.DIVERGED, **details, **done)
        return Hypothesis(
            predict=completed(family, view, _predict(torch, net, data.y.shape[1:])),
            outcome=spent or data.outcome,
            details=details | done,
        )

    def _made(self, torch: Any, data: Data, family: Family, view: View) -> Any:
        """Make the module, and let lazy layers see one example."""
        if isinstance(self.make, torch.nn.Module):
            net = copy.deepcopy(self.make)
            for part in net.modules():
                if hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        elif len(needs(self.make)) == 2:
            outputs = 1 if view == "reduced" else data.y.shape[-1]
            net = self.make(data.x.shape[-1], outputs)
        else:
            net = self.make()
        if not isinstance(net, torch.nn.Module):
            raise UsageError(f"Module: {described(net)} was made: a torch module is needed")
        net = net.float()
        with torch.no_grad():
            _outputs(net(torch.from_numpy(data.x[:2].astype(np.float32))), (2, *data.y.shape[1:]))
        return net

    def _train(
        self, torch: Any, net: Any, data: Data, oracle: ExampleOracle, rng: np.random.Generator
    ) -> tuple[Outcome | None, dict[str, Any]]:
        """Train in place; gives why it stopped early, and numbers worth keeping."""
        x, y = (torch.from_numpy(part.astype(np.float32)) for part in (data.x, data.y))
        held = max(1, min(len(x) // 10, 10_000))
        scale = float((data.y[:held] ** 2).mean()) or 1.0
        pairs = [p for p in net.parameters() if p.requires_grad]
        if not pairs:
            raise UsageError(f"{self.name} has no parameters to train")
        optimizer = torch.optim.Adam(pairs, lr=self.rate, weight_decay=self.decay)
        every = max(1, self.steps // _LOOKS)
        best, kept, step = float("inf"), copy.deepcopy(net.state_dict()), 0
        outcome: Outcome | None = None
        order = rng.permutation(0)
        for step in range(1, self.steps + 1):
            if not oracle.meter.has_time():
                outcome = SPENT["seconds"]
                break
            if len(order) < min(self.batch, len(x) - held):
                order = np.concatenate([order, rng.permutation(len(x) - held) + held])
            rows, order = torch.from_numpy(order[: self.batch]), order[self.batch :]
            net.train()
            optimizer.zero_grad()
            given = _outputs(net(x[rows]), y[rows].shape)
            loss = ((given - y[rows]) ** 2).mean()
            loss.backward()
            optimizer.step()
            if step % every == 0 or step == self.steps:
                found = _loss(torch, net, x[:held], y[:held]) / scale
                if found < best:
                    best, kept = found, copy.deepcopy(net.state_dict())
                if found < _SOLVED or not np.isfinite(found):
                    break
        net.load_state_dict(kept)
        diverged = not np.isfinite(best) and outcome is None
        held_out = best if np.isfinite(best) else None
        return outcome, {"steps": step, "held_out_error": held_out, "diverged": diverged}


def _loss(torch: Any, net: Any, x: Any, y: Any) -> float:
    net.eval()
    total = 0.0
    with torch.no_grad():
        for start in range(0, len(x), _AT_ONCE):
            part = y[start : start + _AT_ONCE]
            given = _outputs(net(x[start : start + _AT_ONCE]), part.shape)
            total += float(((given - part) ** 2).sum())
    return total / y.numel()


def _predict(torch: Any, net: Any, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """Evaluate a module in float32, a few rows at a time: (n, ...) -> (n, *shape), float64."""
    net.eval()

    def predict(x: Array) -> Array:
        out = np.empty((len(x), *shape))
        with torch.no_grad():
            for start in range(0, len(x), _AT_ONCE):
                rows = torch.from_numpy(x[start : start + _AT_ONCE].astype(np.float32))
                out[start : start + len(rows)] = _outputs(net(rows), (len(rows), *shape)).numpy()
        return out

    return predict


def _outputs(given: Any, shape: tuple[int, ...]) -> Any:
    """Give a module's output the shape of the labels: (n, 1) passes for (n,)."""
    if not hasattr(given, "shape"):
        raise UsageError(f"the module gives a {type(given).__name__}: a tensor is needed")
    if tuple(given.shape) == (*shape, 1):
        given = given[..., 0]
    if tuple(given.shape) != tuple(shape):
        raise UsageError(f"the module gives {tuple(given.shape)}: {tuple(shape)} is needed")
    return given


def is_module(value: Any) -> bool:
    """Say whether an object is a torch module, or a class of such."""
    import sys

    torch = sys.modules.get("torch")  # where it is not imported, nothing is of it
    nn = getattr(torch, "nn", None)
    if nn is None:
        return False
    return issubclass(value, nn.Module) if inspect.isclass(value) else isinstance(value, nn.Module)
