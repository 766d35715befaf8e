"""Softmax against linear attention on in-context regression: what each reaches, and what bounds it.

The output of a softmax layer is sum_h c_h sum_i A_h[i, j] y_i. Three ways to treat the scales c_h
are compared: fixed at 1/n, as the comparison of [ACSYJS24] has it (linear attention needs 1/n,
softmax weights sum to 1 without); fixed at 1; and free, as a trained matrix of values has it. All
models see whitened points: Theta, P and x change together, so that no loss changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.softmax import SoftmaxTransformer
from hardness.icl.softmax_fit import Form, SoftmaxFit, fit, full, scalar
from hardness.icl.softmax_limits import LinearLoss, Reference, controls, references, whitened
from hardness.icl.softmax_start import sizes, spread, start, twisted
from instances.errors import UsageError
from instances.limits import require_memory
from instances.prompts import Prompts
from instances.streams import generator

Array = NDArray[np.float64]
OUTPUTS = ("1/n", "1", "free")
MOST_LAYERS, MOST_HEADS, MOST_D = 6, 8, 32


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Prompts and queries of each, steps of L-BFGS, starts, prompts to evaluate on.

    One layer is trained on five times as many prompts: it costs a tenth.
    """

    prompts: int = 1000
    queries: int = 4
    steps: int = 100
    starts: int = 4
    evaluation: int = 20_000

    def __post_init__(self) -> None:
        for name, least in (("prompts", 8), ("queries", 1), ("steps", 1), ("starts", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name}={getattr(self, name)} given: it must be at least {least}")
        if self.evaluation < 100:
            raise UsageError(f"evaluation={self.evaluation} given: it must be at least 100")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A loss estimated on fresh prompts, with its standard error."""

    loss: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A softmax model that was trained, with all matrices free and with multiples of the identity.

    `parameters` and `loss` belong to the full matrices; output is one of OUTPUTS; train_loss is on
    the prompts it was trained on, slope the largest derivative there at the end.
    """

    layers: int
    heads: int
    output: str
    parameters: int
    loss: Estimate
    train_loss: float
    slope: float
    evaluations: int
    scalar_parameters: int
    scalar_loss: Estimate
    scalars: dict[str, list[list[float]]]  # theta, value, scale: (layers, heads) of whitened points

    @property
    def best(self) -> Estimate:
        """The smaller of the two losses."""
        return min(self.loss, self.scalar_loss, key=lambda found: found.loss)


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxStudy:
    """Trained softmax models and references of one law of prompts."""

    law: Prompts
    seed: int
    effort: Effort
    trained: tuple[Trained, ...]
    references: tuple[Reference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and words."""
        law = self.law
        return {
            "format": 1,
            "kind": "icl softmax",
            "n": law.n,
            "d": law.d,
            "sigma": law.sigma.tolist(),
            "task": law.task.tolist(),
            "noise": law.noise,
            "seed": self.seed,
            "effort": asdict(self.effort),
            "trained": [asdict(t) for t in self.trained],
            "references": [asdict(r) for r in self.references],
        }


def softmax_study(
    law: Prompts,
    *,
    layers: Sequence[int] = (1, 3),
    heads: Sequence[int] = (1, 2),
    outputs: Sequence[str] = OUTPUTS,
    effort: Effort | None = None,
    seed: int = 0,
    linear: LinearLoss | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> SoftmaxStudy:
    """Train softmax models of every number of layers and heads; compare them with references.

    linear(n, L) is the loss of linear attention of L > 1 layers over n points under the law's
    sigma, task and noise; without it these references are left out. Raises UsageError for layers,
    heads, d or outputs out of range and TooLarge for prompts that do not fit in memory.
    """
    _check(law, layers, heads, outputs)
    effort = effort or Effort()
    tokens = law.n + effort.queries
    require_memory(
        32 * (effort.prompts + effort.evaluation) * tokens * max(law.d, law.n), "a softmax study"
    )
    white = whitened(law)
    sheet = _Sheet(white, effort, seed)
    trained = []
    for depth, wide, output in product(layers, heads, outputs):
        trained.append(_trained(sheet, depth, wide, output))
        progress(1)
    return SoftmaxStudy(
        law=law,
        seed=seed,
        effort=effort,
        trained=tuple(trained),
        references=tuple(references(law, layers, sheet.fresh, linear)),
    )


def _check(
    law: Prompts, layers: Sequence[int], heads: Sequence[int], outputs: Sequence[str]
) -> None:
    if law.n < 2:
        raise UsageError(f"n={law.n} given: softmax over a single point is constant; take n >= 2")
    if law.d > MOST_D:
        raise UsageError(f"d={law.d} given: softmax models are trained for d up to {MOST_D}")
    for name, given, most in (("layers", layers, MOST_LAYERS), ("heads", heads, MOST_HEADS)):
        for value in given:
            if not 1 <= value <= most:
                raise UsageError(f"{name}={value} given: between 1 and {most} is needed")
    for output in outputs:
        if output not in OUTPUTS:
            raise UsageError(f"output {output!r} given: one of {', '.join(OUTPUTS)} is needed")


class _Sheet:
    """The prompts of a study: to train on, and fresh ones with losses of exactly known mean."""

    def __init__(self, law: Prompts, effort: Effort, seed: int) -> None:
        self.law, self.effort, self.seed = law, effort, seed
        self.wide = points(law, seed, "train", 5 * effort.prompts, effort.queries)
        self.train = self.wide[: effort.prompts]
        self.fresh = points(law, seed, "evaluate", effort.evaluation, effort.queries)
        self._controls = controls(law, self.fresh)

    def estimate(self, model: SoftmaxTransformer) -> Estimate:
        """Estimate a loss on the fresh prompts, with the controls regressed out."""
        found = model.losses(self.fresh, self.law)
        design = np.column_stack([np.ones(len(found)), self._controls])
        slopes = np.linalg.lstsq(design, found, rcond=None)[0]
        rest = found - self._controls @ slopes[1:]
        return Estimate(loss=float(rest.mean()), error=float(rest.std() / np.sqrt(len(rest))))


def points(law: Prompts, seed: int, axis: str, count: int, queries: int) -> Array:
    """Draw x of prompts with several queries each: (count, n + queries, d)."""
    longer = Prompts(n=law.n + queries - 1, sigma=law.sigma, task=law.task)
    return longer.draw(seed, f"softmax {axis}", 0, count).x


def _trained(sheet: _Sheet, layers: int, heads: int, output: str) -> Trained:
    """Train multiples of the identity from several starts, then full matrices from the best."""
    law, effort = sheet.law, sheet.effort
    fixed = {"1/n": 1 / law.n, "1": 1.0, "free": None}[output]
    narrow, wide = (make(layers, heads, law.d, fixed) for make in (scalar, full))
    rng = generator(sheet.seed, "softmax start", layers, heads, output)
    x = sheet.train if layers > 1 else sheet.wide
    few = x[: max(2, len(x) // 4)]
    starts = [start(narrow, rng, k, fixed is None) for k in range(effort.starts)]
    tries = [fit(narrow, law, few, z, sizes(z), effort.steps // 2) for z in starts]
    best = min(tries, key=lambda found: found.loss).z
    small = fit(narrow, law, x, best, sizes(best), effort.steps)
    model = narrow.model(small.z)
    unit = wide.nearest(spread(model))
    large = fit(wide, law, x, wide.nearest(twisted(model, rng)), unit, effort.steps)
    return _report(sheet, output, (narrow, small), (wide, large))


def _report(
    sheet: _Sheet, output: str, narrow: tuple[Form, SoftmaxFit], wide: tuple[Form, SoftmaxFit]
) -> Trained:
    (small_form, small), (form, large) = narrow, wide
    model = small_form.model(small.z)
    return Trained(
        layers=model.layers,
        heads=model.heads,
        output=output,
        parameters=form.free,
        loss=sheet.estimate(form.model(large.z)),
        train_loss=large.loss,
        slope=large.slope,
        evaluations=large.evaluations,
        scalar_parameters=small_form.free,
        scalar_loss=sheet.estimate(model),
        scalars={
            "theta": model.theta[:, :, 0, 0].tolist(),
            "value": model.value[:, :, 0, 0].tolist(),
            "scale": model.scale.tolist(),
        },
    )
