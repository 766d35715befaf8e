"""Softmax against linear attention on in-context regression: what each reaches, and what bounds it.

The output of a softmax layer is sum_h c_h sum_i A_h[i, j] y_i. Three ways to treat the scales c_h
are compared: fixed at 1/n, as the comparison of [ACSYJS24] has it (linear attention needs 1/n,
softmax weights sum to 1 without); fixed at 1; and free, as a trained matrix of values has it. All
models see whitened points: Theta, P and x change together, so that no loss changes.

It is compared with linear attention, its own limits and the posterior mean. Two heads (Theta, c) =
(eps A, 1 / (2 eps)) and (-eps A, -1 / (2 eps)) tend with eps to linear attention on centred points,
and those are, after a rotation, n - 1 points: in all layers at once. Training of one layer was seen
to find such heads in [HPCY25].
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from hardness.icl.evaluate import scalar_reference
from hardness.icl.onelayer import least, optimum, whitened
from hardness.icl.softmax import Array, SoftmaxTransformer, losses
from hardness.icl.softmax_fit import fit, full, scalar, sizes, spread, start, twisted
from hardness.icl.study import Matrix, Study
from instances.errors import UsageError
from instances.limits import require_memory
from instances.prompts import Prompts
from instances.streams import generator

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
        fewest = {"prompts": 8, "queries": 1, "steps": 1, "starts": 1, "evaluation": 100}
        for name, few in fewest.items():
            if getattr(self, name) < few:
                raise UsageError(f"{name}={getattr(self, name)} given: it must be at least {few}")


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


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A loss to compare with; error is 0 where it is computed, not sampled."""

    name: str
    layers: int  # 0: not a model of layers
    loss: float
    error: float = 0.0
    known: str = "closed form"


class SoftmaxStudy(Study, frozen=True, kw_only=True, tag="icl softmax"):
    """Trained softmax models and references of one law of prompts."""

    sigma: Matrix
    task: Matrix
    noise: float
    effort: Effort
    trained: list[Trained]
    references: list[Reference]

    def _listed(self) -> Iterable[Any]:
        return self.trained

    def limit(self, model: Trained) -> float | None:
        """Return the least limit that a softmax model of free scale is known to reach."""
        names = ["one head, limit"] + ["two heads, limit"] * (model.heads > 1)
        of = [r for r in self.references if r.layers == model.layers and r.name in names]
        return min((r.loss for r in of), default=None)


def softmax_study(
    law: Prompts,
    *,
    layers: Sequence[int] = (1, 3),
    heads: Sequence[int] = (1, 2),
    outputs: Sequence[str] = OUTPUTS,
    effort: Effort | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> SoftmaxStudy:
    """Train softmax models of every number of layers and heads; compare them with references.

    Raises UsageError for layers, heads, d or outputs out of range and TooLarge for prompts that do
    not fit in memory.
    """
    _check(law, layers, heads, outputs)
    effort = effort or Effort()
    tokens = law.n + effort.queries
    require_memory(
        32 * (effort.prompts + effort.evaluation) * tokens * max(law.d, law.n), "a softmax study"
    )
    sheet = _Sheet(whitened(law), effort, seed)
    trained = []
    for depth, wide, output in product(layers, heads, outputs):
        trained.append(_trained(sheet, depth, wide, output))
        progress(1)
    return SoftmaxStudy(
        n=law.n,
        d=law.d,
        sigma=law.sigma.tolist(),
        task=law.task.tolist(),
        noise=law.noise,
        seed=seed,
        effort=effort,
        trained=trained,
        references=references(law, layers, sheet.fresh),
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
    model = small.model
    unit = wide.nearest(spread(model))
    large = fit(wide, law, x, wide.nearest(twisted(model, rng)), unit, effort.steps)
    theta, value = (m[:, :, 0, 0].tolist() for m in (model.theta, model.value))
    return Trained(
        layers=layers,
        heads=heads,
        output=output,
        parameters=wide.free,
        loss=sheet.estimate(large.model),
        train_loss=large.loss,
        slope=large.slope,
        evaluations=large.evaluations,
        scalar_parameters=narrow.free,
        scalar_loss=sheet.estimate(model),
        scalars={"theta": theta, "value": value, "scale": model.scale.tolist()},
    )


def controls(law: Prompts, x: Array) -> Array:
    """Losses less their exact means of one linear layer, on the points and on centred points.

    Returns (count, 2): control variates for whatever is estimated on x; sigma must be I.
    """
    n = law.n
    keys, queries = x[:, :n], x[:, n:].transpose(0, 2, 1)
    centred = keys - keys.mean(axis=1, keepdims=True)
    columns = []
    for held, count in ((keys, n), (centred, n - 1)):
        a, loss = best_linear(law, count)
        columns.append(losses(held @ (a @ queries) / count, x, law) - loss)
    return np.stack(columns, axis=1)


def best_linear(law: Prompts, n: int) -> tuple[Array, float]:
    """Return A* and the loss of one layer of linear attention over n points, sigma = I. [ACDS23]

    The prediction is (1/n) sum_i y_i x_i^T A x_q.
    """
    shorter = replace(law, n=n)
    return optimum(shorter), least(shorter)


def references(law: Prompts, layers: Sequence[int], x: Array) -> list[Reference]:
    """Collect what needs no training; x are whitened prompts for the Bayes loss.

    Two opposite heads tend to linear attention on centred points, which is that of n - 1 points.
    One head may centre in its first layer and use the others as linear layers: (1 + 1/n) times
    their loss over n - 1 points, and s^2/n. Of several layers they are left out where nothing exact
    is known.
    """
    white, n = whitened(law), law.n
    found = [Reference(name="predicting 0", layers=0, loss=white.power), bayes(white, x)]

    def of(count: int, depth: int) -> float | None:
        if depth == 1:
            return best_linear(white, count)[1]
        scalars = scalar_reference(replace(law, n=count), depth, "both")
        return None if scalars is None else scalars.loss

    for depth in layers:
        known = "closed form" if depth == 1 else "best found"
        for name, value in (("linear", of(n, depth)), ("two heads, limit", of(n - 1, depth))):
            if value is not None:
                found.append(Reference(name=name, layers=depth, loss=value, known=known))
        inner = of(n - 1, depth - 1) if depth > 1 else None
        if inner is not None:
            value = (1 + 1 / n) * inner + law.noise**2 / n
            how = "closed form" if depth == 2 else known
            found.append(Reference(name="one head, limit", layers=depth, loss=value, known=how))
    return found


def bayes(law: Prompts, x: Array) -> Reference:
    """Estimate the loss of the posterior mean, tr(sigma C_post), on the points of x (count, ., d).

    It is ridge regression with the task's covariance; without noise and with n >= d points it is 0.
    """
    name = "ridge (Bayes)"
    if not law.noise and law.n >= law.d:
        return Reference(name=name, layers=0, loss=0.0, known="exact")
    keys = x[:, : law.n]
    pulled = keys @ law.task  # (count, n, d)
    kernel = pulled @ keys.transpose(0, 2, 1) + law.noise**2 * np.eye(law.n)
    explained = pulled.transpose(0, 2, 1) @ np.linalg.solve(kernel, pulled)
    left = np.trace((law.task - explained) @ law.sigma, axis1=1, axis2=2)
    loss, error = float(left.mean()), float(left.std() / np.sqrt(len(left)))
    return Reference(name=name, layers=0, loss=loss, error=error, known="statistical")
