"""A torch module as a learner, trained by minibatches: Adam [KB15] on the mean squared error.

A tenth of the examples is held out: the weights that do best on it are kept, and training ends
where they leave next to nothing, after so many steps, or with the budget's seconds.
"""

import copy
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import DIVERGED, SPENT, Outcome
from hardness.learners.plugins.objects import described, needs
from hardness.learners.plugins.views import Data, Fit, Viewed
from instances.errors import UsageError
from instances.family import require
from instances.lazy import require_extra
from instances.limits import require_memory

if TYPE_CHECKING:
    from hardness.oracles import ExampleOracle

Array = NDArray[Any]
_SOLVED = 1e-4  # of the error of knowing the family alone on held-out examples: it stops there
_AT_ONCE = 4096  # rows in a prediction
_LOOKS = 100  # at the held-out examples, in all steps


@dataclass(frozen=True, eq=False)
class Module(Viewed):
    """Trains what is given: a torch module, by make(inputs, outputs) or make().

    inputs and outputs are the numbers of columns in its view: d - 1 and 1 in reduced, n and 1 in
    samples, k d and k d in flat; in tokens it takes (n, k, d) and gives (n, k, d), and both numbers
    are d. A module itself is a pattern: copied, its layers drawn anew; what must keep its weights
    is to be made by a function. Lazy layers learn their sizes from the first examples.
    """

    kind: ClassVar[str] = "a torch module"
    least: ClassVar[int] = 2

    steps: int = 4000
    batch: int = 256
    rate: float = 3e-3
    decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.given):
            raise UsageError(
                f"Module: {described(self.given)} given: a torch module is needed, or a function "
                "make() or make(inputs, outputs) that gives one"
            )
        for name in ("steps", "batch"):
            value = getattr(self, name)
            require(
                type(value) is int and value >= 1,
                f"Module: {name}={value!r} given: at least 1 is needed",
            )
        require(0 < self.rate <= 100, f"Module: rate={self.rate} given: above 0, at most 100")
        require(0 <= self.decay <= 100, f"Module: decay={self.decay} given: between 0 and 100")

    def fit(self, data: Data, oracle: "ExampleOracle", rng: np.random.Generator) -> Fit:
        """Make the module and train it."""
        torch = require_extra("torch", "Module")
        require_memory(4 * 2 * (data.x.size + data.y.size), f"{len(data)} examples in float32")
        # The generator of all of torch is put back: other learners of the process draw from it.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(1 << 62)))
            net = self._made(torch, data)
            spent, details = self._train(torch, net, data, oracle, rng)
        if details["held_out_error"] is None and spent is None:
            return Fit(
                predict=None, outcome=Outcome.STAGE_FAILED, details=details | {"reason": DIVERGED}
            )
        predict = _predict(torch, net, data.y.shape[1:])
        return Fit(predict=predict, outcome=spent, details=details)

    def _made(self, torch: Any, data: Data) -> Any:
        """Make the module, and let lazy layers see one example."""
        if isinstance(self.given, torch.nn.Module):
            net = copy.deepcopy(self.given)
            for part in net.modules():
                if hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        elif len(needs(self.given)) == 2:
            outputs = 1 if data.y.ndim == 1 else data.y.shape[-1]
            net = self.given(data.x.shape[-1], outputs)
        elif needs(self.given):
            raise UsageError(
                f"Module: {described(self.given)} given: it is called as network(inputs, outputs), "
                "or without arguments"
            )
        else:
            net = self.given()
        if not isinstance(net, torch.nn.Module):
            raise UsageError(f"Module: {described(net)} was made: a torch module is needed")
        net = net.float()
        with torch.no_grad():
            _outputs(net(torch.from_numpy(data.x[:2].astype(np.float32))), (2, *data.y.shape[1:]))
        return net

    def _train(
        self, torch: Any, net: Any, data: Data, oracle: "ExampleOracle", rng: np.random.Generator
    ) -> tuple[Outcome | None, dict[str, Any]]:
        """Train in place; gives why it stopped early, and numbers worth keeping."""
        x, y = (torch.from_numpy(part.astype(np.float32)) for part in (data.x, data.y))
        held = max(1, min(len(x) // 10, 10_000))
        scale = float(((data.y - data.known)[:held] ** 2).mean()) or 1.0
        predict = _predict(torch, net, data.y.shape[1:])
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
                found = float(((predict(data.x[:held]) - data.y[:held]) ** 2).mean()) / scale
                if found < best:
                    best, kept = found, copy.deepcopy(net.state_dict())
                if found < _SOLVED or not np.isfinite(found):
                    break
        net.load_state_dict(kept)
        return outcome, {"steps": step, "held_out_error": best if np.isfinite(best) else None}


def _predict(torch: Any, net: Any, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """Evaluate a module in float32, a few rows at a time: (n, ...) -> (n, *shape), float64."""

    def predict(x: Array) -> Array:
        net.eval()
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
        column = f" or {(*shape, 1)}" if len(shape) == 1 else ""
        raise UsageError(
            f"of {shape[0]} examples the module gives {tuple(given.shape)}: {tuple(shape)}{column} "
            "is needed"
        )
    return given


def is_module(value: Any) -> bool:
    """Return whether an object is a torch module, or a class of such."""
    torch = sys.modules.get("torch")  # where it is not imported, nothing is of it
    nn = getattr(torch, "nn", None)
    if nn is None:
        return False
    return issubclass(value, nn.Module) if inspect.isclass(value) else isinstance(value, nn.Module)
