"""A torch module as a learner: trained on minibatches by AdamW on the mean squared error.

A tenth of the examples is held out. The weights that do best on it are kept.
"""

import copy
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import DIVERGED, SPENT, Hypothesis, Outcome, nothing
from hardness.learners.plugins.objects import described, needs
from hardness.learners.plugins.views import Data, View, Viewed, completed, gather
from hardness.oracles import Rounds, Spent
from instances.errors import UsageError
from instances.family import Family, require
from instances.layer import AttentionLayer
from instances.lazy import require_extra

if TYPE_CHECKING:
    from hardness.oracles import ExampleOracle

Array = NDArray[Any]
_AT_ONCE = 4096  # rows in a prediction
_LOOKS = 50  # at the held-out examples, in all steps
_HELD_OUT, _LEAST = 4096, 10  # examples held out, at most; without which nothing is learned
_GAIN = 0.99  # of the held-out loss: training that lowers it by less has not gained


@dataclass(frozen=True, eq=False)
class Module(Viewed):
    """Trains a torch module: an object, a class, or a function make(inputs, outputs) or make().

    In tokens, the default view, it takes (n, k, d) and gives (n, k, d); inputs and outputs are both
    d. They are d - 1 and 1 in reduced, n and 1 in samples, k d and k d in flat. An object is a
    pattern: copied, all its parameters drawn anew, those of a module without `reset_parameters` as
    the weights of a linear layer are. With warm_start its weights are where training begins.

    optimizer: of the parameters; None is AdamW with `rate` and `decay`. schedule: of the optimizer;
    None is a linear rise over a twentieth of the steps and a half cosine to 0. Training ends when
    the held-out loss, relative to knowing the family alone, is below `target`, or has not fallen by
    a hundredth for `patience` steps. callback: called with step, training loss and held-out loss.
    A module with a method `layer()` that gives theta and w, (m, d, d) each, hands its heads back.
    """

    kind: ClassVar[str] = "a torch module"

    view: View | None = "tokens"
    steps: int = 4000
    batch: int = 256
    rate: float = 3e-3
    decay: float = 0.0
    patience: int = 1000
    target: float = 1e-4
    optimizer: Callable[[Any], Any] | None = None
    schedule: Callable[[Any], Any] | None = None
    callback: Callable[[int, float, float], object] | None = None
    device: str = "auto"
    warm_start: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.given):
            raise UsageError(
                f"Module: {described(self.given)} given: a torch module is needed, or a function "
                "make() or make(inputs, outputs) that gives one"
            )
        if self.name == "<lambda>":
            raise UsageError("Module: a lambda given: it has no name, so say name='...' as well")
        for name in ("steps", "batch", "patience"):
            value = getattr(self, name)
            good = type(value) is int and value >= 1
            require(good, f"Module: {name}={value!r} given: at least 1 is needed")
        require(0 < self.rate <= 100, f"Module: rate={self.rate} given: above 0, at most 100")
        for name in ("decay", "target"):
            value = getattr(self, name)
            require(0 <= value <= 100, f"Module: {name}={value} given: between 0 and 100")

    def warm_up(self, family: Family) -> None:
        """Import torch and make one step on dummy data, before the seconds of a run begin."""
        _warm(_device(require_extra("torch", self.name), self.device))

    def learn(self, oracle: "ExampleOracle", rng: np.random.Generator) -> Hypothesis:
        """Make the module, train it on minibatches of the oracle, complete what it predicts."""
        torch = require_extra("torch", self.name)
        self.warm_up(oracle.family)
        oracle.meter.restart()
        device, threads = _device(torch, self.device), torch.get_num_threads()
        # The generator of all of torch is put back: other learners of the process draw from it.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.integers(1 << 62)))
            torch.set_num_threads(1)  # as of all libraries: results do not depend on cores
            try:
                return self._learned(torch, device, oracle, rng)
            finally:
                torch.set_num_threads(threads)

    def _learned(
        self, torch: Any, device: Any, oracle: "ExampleOracle", rng: np.random.Generator
    ) -> Hypothesis:
        family, view = oracle.family, self.view or "tokens"
        data = _Minibatches(oracle, view, self.examples, rng)
        start = "the weights given" if self.warm_start else "parameters drawn anew"
        details: dict[str, Any] = {"view": view, "device": str(device), "start": start}
        if data.count < _LEAST or not len(data.held):
            return nothing(family, Outcome.EXAMPLES_SPENT, **details, trained_on=0)
        net = self._made(torch, data.held).to(device)
        outcome, best, measured = self._train(torch, net, data)
        details |= measured | {"trained_on": data.drawn, "held_out_examples": len(data.held)}
        if best is None:
            reason = {} if outcome else {"reason": DIVERGED}
            return nothing(family, outcome or Outcome.STAGE_FAILED, **details, **reason)
        predict = predictor(net, data.held.y.shape[1:])
        layer = heads(torch, net)
        return Hypothesis(
            predict=completed(family, view, predict),
            outcome=outcome,
            details=details,
            layer=layer if view == "tokens" and layer and layer.d == family.d else None,
            model=net,
        )

    def _made(self, torch: Any, data: Data) -> Any:
        """Make the module and run it once: lazy layers learn their sizes; raises UsageError."""
        width = data.x.shape[-1], 1 if data.y.ndim == 1 else data.y.shape[-1]
        if isinstance(self.given, torch.nn.Module):
            net = copy.deepcopy(self.given)
            if not self.warm_start:
                redraw(torch, net)
        elif len(needs(self.given)) in (0, 2):
            net = self.given(*(width if needs(self.given) else ()))
        else:
            raise UsageError(
                f"Module: {described(self.given)} given: it is called as network(inputs, outputs), "
                "or without arguments"
            )
        if not isinstance(net, torch.nn.Module):
            raise UsageError(f"Module: {described(net)} was made: a torch module is needed")
        net = net.float().eval()
        with torch.no_grad():
            x = torch.from_numpy(data.x[:2].astype(np.float32))
            outputs(net, x, (len(x), *data.y.shape[1:]))
        if not any(p.requires_grad for p in net.parameters()):
            raise UsageError(f"{self.name} has no parameters to train")
        return net

    def _train(
        self, torch: Any, net: Any, data: "_Minibatches"
    ) -> tuple[Outcome | None, float | None, dict[str, Any]]:
        """Train in place: why it stopped early, the least held-out loss, numbers worth keeping."""
        from tqdm import tqdm

        parameters = [p for p in net.parameters() if p.requires_grad]
        optimizer = (
            self.optimizer(parameters)
            if self.optimizer
            else torch.optim.AdamW(parameters, lr=self.rate, weight_decay=self.decay)
        )
        schedule = (self.schedule or self._half_cosine(torch))(optimizer)
        held, device = data.held, parameters[0].device
        scale = float(((held.y - held.known) ** 2).mean()) or 1.0
        predict = predictor(net, held.y.shape[1:])
        best, kept, mark, gained, step = np.inf, copy.deepcopy(net.state_dict()), np.inf, 0, 0
        curve, losses, outcome = list[list[float | None]](), list[float](), None
        every = max(1, self.steps // _LOOKS)
        # As tqdm is used: a bar on a terminal, nothing in a log or a child process.
        for step in tqdm(range(1, self.steps + 1), self.name, leave=False, disable=None):
            try:
                x, y = (torch.from_numpy(p).to(device) for p in data.take(self.batch))
            except Spent as spent:
                outcome = SPENT[spent.resource]
                break
            net.train()
            optimizer.zero_grad()
            loss = ((outputs(net, x, tuple(y.shape)) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.detach())
            if step % every and step < self.steps:
                continue
            error = float(((predict(held.x) - held.y) ** 2).mean()) / scale
            trained = float(torch.stack(losses).mean()) / scale
            losses.clear()
            curve.append([step, *(v if np.isfinite(v) else None for v in (trained, error))])
            if self.callback:
                self.callback(step, trained, error)
            if error < best:
                best, kept = error, copy.deepcopy(net.state_dict())
            if best < _GAIN * mark:
                mark, gained = best, step
            if best < self.target or not np.isfinite(error) or step - gained >= self.patience:
                break
        net.load_state_dict(kept)
        net.eval()
        least = best if np.isfinite(best) else None
        return outcome, least, {"steps": step, "held_out_error": least, "curve": curve}

    def _half_cosine(self, torch: Any) -> Callable[[Any], Any]:
        rise = max(1, self.steps // 20)

        def factor(step: int) -> float:
            return min((step + 1) / rise, 0.5 + 0.5 * float(np.cos(np.pi * step / self.steps)))

        return lambda optimizer: torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


class _Minibatches:
    """Examples of an oracle in a view: fresh ones while there are any, then those again, in rounds.

    held: the first tenth, which is not trained on.
    """

    def __init__(
        self, oracle: "ExampleOracle", view: View, most: int | None, rng: np.random.Generator
    ) -> None:
        limit = oracle.meter.budget.examples
        left = [n for n in (most, limit and limit - oracle.meter.examples) if n is not None]
        self.count, self.drawn = min(left, default=sys.maxsize), 0
        self._oracle, self._view, self._rng = oracle, view, rng
        self._kept: list[tuple[Array, Array]] = []
        self._rounds: Rounds | None = None
        self.held = self._fresh(min(_HELD_OUT, max(1, self.count // 10)))

    def _fresh(self, count: int) -> Data:
        """Draw, at most what is left; raises Spent."""
        if self.drawn >= self.count:
            raise Spent("examples")
        part = gather(self._oracle, self._view, min(count, self.count - self.drawn))
        self.drawn += part.drawn
        return part

    def take(self, count: int) -> tuple[Array, Array]:
        """Give the next minibatch, float32; raises Spent."""
        if self._rounds is None:
            try:
                while not len(part := self._fresh(count)):
                    pass  # none is open in the view
                self._kept.append((part.x.astype(np.float32), part.y.astype(np.float32)))
                return self._kept[-1]
            except Spent as spent:
                if spent.resource != "examples" or not self._kept:
                    raise
            self._x, self._y = (np.concatenate(p) for p in zip(*self._kept, strict=True))
            self._rounds = Rounds(np.arange(len(self._x)), self._oracle.meter, self._rng)
        rows = self._rounds.draw(count)
        return self._x[rows], self._y[rows]


def redraw(torch: Any, net: Any) -> None:
    """Draw all parameters anew, inner modules first, as those that hold them have the last word.

    Of modules without a `reset_parameters`: as torch draws the weights of a linear layer, uniform
    within the root of one over their inputs. Those that are constant stay.
    """
    for part in reversed(list(net.modules())):
        if reset := getattr(part, "reset_parameters", getattr(part, "_reset_parameters", None)):
            reset()
            continue
        for value in part.parameters(recurse=False):
            if bool((value != value.flatten()[0]).any()):
                torch.nn.init.kaiming_uniform_(value.data.reshape(-1, *value.shape[-1:]), 5**0.5)


def predictor(net: Any, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """Evaluate a module in float32, a few rows at a time: (n, ...) -> (n, *shape), float64."""
    torch, device = sys.modules["torch"], next(net.parameters()).device

    def predict(x: Array) -> Array:
        net.eval()
        out = np.empty((len(x), *shape))
        with torch.no_grad():
            for start in range(0, len(x), _AT_ONCE):
                rows = torch.from_numpy(x[start : start + _AT_ONCE].astype(np.float32)).to(device)
                out[start : start + len(rows)] = outputs(net, rows, (len(rows), *shape)).cpu()
        return out

    return predict


def outputs(net: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Call a module and check that it gives labels of a shape, (n, 1) for (n,); UsageError."""
    name, attends = type(net).__name__, hasattr(net, "in_proj_weight")  # MultiheadAttention
    try:
        made = net(x, x, x, need_weights=False)[0] if attends else net(x)
    except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(
            f"{name} does not take inputs of shape {tuple(x.shape)} ({reason}): make it of that "
            "size, or name another view, as in Module(net, view='flat')"
        ) from error
    if tuple(getattr(made, "shape", ())) == (*shape, 1):
        made = made[..., 0]
    if tuple(getattr(made, "shape", ())) != shape:
        size = tuple(made.shape) if hasattr(made, "shape") else f"a {type(made).__name__}"
        raise UsageError(f"of inputs {tuple(x.shape)} {name} gives {size}: {shape} is needed")
    return made


def heads(torch: Any, net: Any) -> AttentionLayer | None:
    """Take the heads of a module that is an attention layer; None for another."""
    if isinstance(net, torch.nn.MultiheadAttention):
        return AttentionLayer.from_torch(net)
    if not callable(getattr(net, "layer", None)):
        return None
    theta, w = (part.detach().cpu().double().numpy() for part in net.layer())
    return AttentionLayer(theta=theta, w=w)


def is_module(value: Any) -> bool:
    """Return whether an object is a torch module, or a class of such."""
    torch = sys.modules.get("torch")  # where it is not imported, nothing is of it
    nn = getattr(torch, "nn", None)
    if nn is None:
        return False
    return issubclass(value, nn.Module) if inspect.isclass(value) else isinstance(value, nn.Module)


def _device(torch: Any, name: str) -> Any:
    there = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if there else "cpu"
    if name.startswith("cuda") and not there:
        raise UsageError(f"device={name!r} given: torch sees no GPU here: 'auto' or 'cpu' runs")
    return torch.device(name)


@cache
def _warm(device: Any) -> None:
    """Make a first step on dummy data, in which torch imports what it trains with."""
    torch = sys.modules["torch"]
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        net = torch.nn.Linear(1, 1, device=device)
        optimizer = torch.optim.AdamW(net.parameters())
        net(torch.ones(1, 1, device=device)).sum().backward()
        optimizer.step()
