"""A torch module as a learner: trained on minibatches by AdamW on the mean squared error.

A tenth of the examples is held out. The weights that do best on it are kept.
"""

import copy
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import DIVERGED, SPENT, Hypothesis, Outcome, nothing
from hardness.learners.plugins.views import Data, View, Viewed, completed, described, gather, needs
from hardness.oracles import ExampleOracle, Rounds, Spent
from instances.errors import UsageError
from instances.family import Family, require
from instances.layer import AttentionLayer
from instances.lazy import require_extra

Array = NDArray[Any]
Details = dict[str, Any]
Batches = Iterator[tuple[Array, Array]]
_BATCH_ROWS = 4096  # rows of a prediction at once; also the most examples held out
_EVALUATIONS = 50  # evaluations on the held-out examples in a run


def minibatches(oracle: ExampleOracle, view: View, size: int, rng: np.random.Generator) -> Batches:
    """Yield new examples while there are any, then the same again in rounds; raises Spent."""
    fresh = list[tuple[Array, Array]]()
    try:
        while True:
            part = gather(oracle, view, size)
            if len(part):  # the view contains at least one
                fresh.append((part.x.astype(np.float32), part.y.astype(np.float32)))
                yield fresh[-1]
    except Spent as spent:
        if spent.resource != "examples" or not fresh:
            raise
    x, y = (np.concatenate(parts) for parts in zip(*fresh, strict=True))
    rounds = Rounds(np.arange(len(x)), oracle.meter, rng)
    while True:
        rows = rounds.draw(size)
        yield x[rows], y[rows]


@dataclass(frozen=True, eq=False)
class Module(Viewed):
    """Trains a torch module: an object, a class, or a function make(inputs, outputs) or make().

    In the default view, tokens, the module maps (n, k, d) to (n, k, d); inputs and outputs are both
    d. They are d - 1 and 1 in z, n and 1 in samples, k d and k d in flat. An object is a pattern:
    it is copied, and all its parameters are drawn anew. Modules without `reset_parameters` get
    weights like those of a linear layer. With warm_start training starts from the weights given.

    optimizer: a function of the parameters; None means AdamW with `rate` and no weight decay.
    schedule: a function of the optimizer; None means CosineAnnealingLR over all steps. Training
    ends when the held-out loss, relative to the family's baseline, has not decreased for `patience`
    steps. It also ends when the loss is below `target`, if labels have no noise. callback: called
    with step, training loss and held-out loss. If the module has a method `layer()` that returns
    theta and w, (m, d, d) each, the hypothesis has these heads. It has those of a module that is a
    MultiheadAttention with bias=False. The detail `no_layer` says why neither gave any.
    """

    kind: ClassVar[str] = "a torch module"

    view: View | None = "tokens"
    steps: int = 4000
    batch: int = 256
    rate: float = 3e-3
    patience: int = 1000
    target: float = 1e-4
    optimizer: Callable[[Any], Any] | None = None
    schedule: Callable[[Any], Any] | None = None
    callback: Callable[[int, float, float], object] | None = None
    device: str = "auto"
    warm_start: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            callable(self.wrapped) and self.name != "<lambda>",
            "Module takes a torch module, or make() or make(inputs, outputs) that returns one, got "
            f"{described(self.wrapped)}; of a lambda say name='...' as well",
        )
        for name in ("steps", "batch", "patience"):
            whole = type(value := getattr(self, name)) is int and value >= 1
            require(whole, f"{name} must be an integer of at least 1, got {value!r}")
        require(0 < self.rate <= 100, f"rate must be above 0 and at most 100, got {self.rate}")

    def warm_up(self, family: Family) -> None:
        """Import torch and make a first step, which imports more, before seconds are counted."""
        torch = require_extra("torch", self.name)
        number = torch.ones(1, device=self._device(torch), requires_grad=True)
        number.sum().backward()
        torch.optim.AdamW([number]).step()

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Make the module, train it on minibatches of the oracle, and convert its predictions."""
        torch = require_extra("torch", self.name)
        family, view, device = oracle.family, self.view or "tokens", self._device(torch)
        left = (oracle.meter.budget.examples or sys.maxsize) - oracle.meter.examples
        held = gather(oracle, view, min(_BATCH_ROWS, left // 10)) if left >= 10 else None
        if not held:  # too few examples, or none in the view
            raise Spent("examples")
        # The global generator of torch is restored: other learners of the process use it.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.integers(1 << 62)))
            net = self._module(torch, held).to(device)
            batches = minibatches(oracle, view, self.batch, rng)
            best, details = self._train(torch, net, held, batches)
        start = "the weights given" if self.warm_start else "parameters drawn anew"
        details |= {"view": view, "device": str(device), "start": start}
        details["held_out_examples"] = len(held)
        outcome, layer = details.pop("outcome"), None
        if best is None:
            reason = {} if outcome else {"reason": DIVERGED}
            return nothing(family, outcome or Outcome.STAGE_FAILED, **details, **reason)
        if view == "tokens" and may_be_layer(torch, best):
            try:
                layer = AttentionLayer.from_torch(best)
                fits = f"it takes tokens of {layer.d} numbers, not {family.d}: biases add one"
                require(layer.d == family.d, fits)
            except UsageError as error:
                layer, details["no_layer"] = None, str(error)
        predict = completed(family, view, predictor(best))
        return Hypothesis(
            predict=predict, outcome=outcome, details=details, layer=layer, model=best
        )

    def _device(self, torch: Any) -> Any:
        usable = torch.cuda.is_available()
        if self.device.startswith("cuda") and not usable:
            raise UsageError(
                f"device must be 'auto' or 'cpu', got {self.device!r}: torch sees no GPU"
            )
        return torch.device(self.device.replace("auto", "cuda" if usable else "cpu"))

    def _module(self, torch: Any, held: Data) -> Any:
        """Make the module and call it once to set sizes of lazy layers; raises UsageError."""
        outputs = held.y.shape[-1] if held.y.ndim > 1 else 1
        if isinstance(self.wrapped, torch.nn.Module):
            net = copy.deepcopy(self.wrapped)
            if not self.warm_start:
                redraw(torch, net)
        else:
            net = self.wrapped(*(held.x.shape[-1], outputs)[: len(needs(self.wrapped))])
        if not isinstance(net, torch.nn.Module):
            raise UsageError(f"Module: {described(net)} was made: a torch module is needed")
        x, y, predict = held.x[:2], held.y[:2], predictor(net.float())
        name, fits = type(net).__name__, False
        try:
            made = predict(x)
            fits, gives = made.shape in (y.shape, (*y.shape, 1)), f"it gives {made.shape}"
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
            gives = " ".join(f"{type(error).__name__}: {error}".split()) + _line_of_error(error)
        require(
            fits,
            f"{name} does not map {x.shape} to {y.shape} ({gives}): make it of that "
            "size, or name another view, as in Module(net, view='flat')",
        )
        apart = np.allclose(predict(x[:1]), made[:1], rtol=1e-3, atol=1e-3, equal_nan=True)
        why = "is it random, or does it mix examples without batch_first=True?"
        require(apart, f"{name} gives other outputs for a row in another batch: {why}")
        require(any(p.requires_grad for p in net.parameters()), f"{self.name} has no parameters")
        return net

    def _train(self, torch: Any, net: Any, held: Data, batches: Batches) -> tuple[Any, Details]:
        """Train; return a copy of the best module, None if it diverged, and the details."""
        from tqdm import tqdm  # other learners do not need this import

        parameters = [p for p in net.parameters() if p.requires_grad]
        adam = partial(torch.optim.AdamW, lr=self.rate, weight_decay=0.0)
        optimizer = (self.optimizer or adam)(parameters)
        cosine = partial(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=self.steps)
        schedule = (self.schedule or cosine)(optimizer)
        family, predict, device = held.family, predictor(net), parameters[0].device
        noisy = getattr(family, "error_rate", family.noise) or not family.noise_known
        scale = float(((held.y - held.baseline) ** 2).mean()) or 1.0
        kept: Any = None
        best, gained, step, rows, outcome = np.inf, 0, 0, 0, None
        curve = list[list[float | None]]()
        try:
            # disable=None shows a bar on a terminal only, not in a log or a child process.
            for step in tqdm(range(1, self.steps + 1), self.name, leave=False, disable=None):
                x, y = (torch.from_numpy(part).to(device) for part in next(batches))
                rows += len(y)
                optimizer.zero_grad()
                loss = ((forward(net.train(), x).reshape(y.shape) - y) ** 2).mean()
                loss.backward()
                optimizer.step()
                schedule.step()
                if step % max(1, self.steps // _EVALUATIONS) and step < self.steps:
                    continue
                missed = predict(held.x).reshape(held.y.shape) - held.y
                trained, error = loss.item() / scale, float((missed**2).mean()) / scale
                curve.append([step, *(v if np.isfinite(v) else None for v in (trained, error))])
                if self.callback:
                    self.callback(step, trained, error)
                if error < best:
                    kept, best, gained = copy.deepcopy(net), error, step
                done = (error < self.target and not noisy) or step - gained >= self.patience
                if done or not np.isfinite(error):
                    break
        except Spent as spent:
            outcome = SPENT[spent.resource]
        least = None if kept is None else best
        counted = {"outcome": outcome, "steps": step, "trained_on": rows}  # rows count repetitions
        return kept, counted | {"held_out_error": least, "curve": curve}


def redraw(torch: Any, net: Any) -> None:
    """Draw all parameters anew, inner modules first, so that outer modules can change them.

    For modules without `reset_parameters` the weights are drawn as in a linear layer of torch:
    uniform up to one over the root of the number of inputs. Constant parameters are kept.
    """
    for part in reversed(list(net.modules())):
        if reset := getattr(part, "reset_parameters", getattr(part, "_reset_parameters", None)):
            reset()
            continue
        for value in part.parameters(recurse=False):
            if len(value.unique()) > 1:
                torch.nn.init.kaiming_uniform_(value.data.reshape(-1, value.shape[-1]), 5**0.5)


def forward(net: Any, x: Any) -> Any:
    """Call a module; MultiheadAttention is called as self-attention."""
    return net(x, x, x, need_weights=False)[0] if hasattr(net, "in_proj_weight") else net(x)


def predictor(net: Any) -> Callable[[Array], Array]:
    """Evaluate a module in float32, in batches of rows: (n, ...) -> (n, ...)."""
    torch = sys.modules["torch"]

    def predict(x: Array) -> Array:
        device = next(iter(net.parameters()), torch.zeros(())).device
        rows = torch.from_numpy(x.astype(np.float32)).to(device).split(_BATCH_ROWS)
        with torch.no_grad():
            return np.asarray(torch.cat([forward(net.eval(), part) for part in rows]).cpu())

    return predict


def may_be_layer(torch: Any, net: Any) -> bool:
    """Return whether a module is a MultiheadAttention, or has a method `layer`."""
    attention = torch.nn.MultiheadAttention
    return isinstance(net, attention) or inspect.ismethod(getattr(net, "layer", None))


def is_module(value: Any) -> bool:
    """Return whether an object is a torch module or a class of torch modules."""
    nn = getattr(
        sys.modules.get("torch"), "nn", None
    )  # without an import of torch there are no modules
    kind = value if inspect.isclass(value) else type(value)
    return nn is not None and issubclass(kind, nn.Module)


def _line_of_error(error: BaseException) -> str:
    """Name the last line of a user's file in an error's traceback, if there is one."""
    for step in reversed(traceback.extract_tb(error.__traceback__)):
        if "site-packages" not in step.filename and step.filename != __file__:
            return f", in line {step.lineno} of {Path(step.filename).name}"
    return ""
