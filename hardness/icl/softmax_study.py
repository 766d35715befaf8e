"""Softmax against linear attention on in-context regression: what each reaches, and what bounds it.

The output of a softmax layer is sum_h c_h sum_i A_h[i, j] y_i. Three ways to treat the scales c_h
are compared: fixed at 1/n, as the comparison of [ACSYJS24] has it (linear attention needs 1/n,
softmax weights sum to 1 without); fixed at 1; and free, as a trained matrix of values has it. All
models see whitened points: Theta, P and x change together, so that no loss changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.softmax import SoftmaxTransformer, losses
from hardness.icl.softmax_fit import Fit, Form, fit, full, scalar
from instances.covariance import root
from instances.errors import UsageError
from instances.limits import require_memory
from instances.prompts import Prompts
from instances.streams import generator

Array = NDArray[np.float64]
LinearLoss = Callable[[int, int], float]  # of n points and L layers, for the law's sigma and task
OUTPUTS = ("1/n", "1", "free")
MOST_LAYERS, MOST_HEADS, MOST_D = 6, 8, 32


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Prompts to train on and queries of each, steps of L-BFGS, starts, prompts to evaluate on."""

    prompts: int = 1500
    queries: int = 4
    steps: int = 150
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


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A loss to compare with; error is 0 where it is computed, not sampled."""

    name: str
    layers: int  # 0: not a model of layers
    loss: float
    error: float
    known: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxStudy:
    """Trained softmax models and references of one law of prompts."""

    law: Prompts
    seed: int
    effort: Effort
    trained: tuple[Trained, ...]
    references: tuple[Reference, ...]

    def to_json(self) -> dict[str, Any]:
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
    trained = [
        _trained(sheet, depth, wide, output)
        for depth in layers
        for wide in heads
        for output in outputs
    ]
    return SoftmaxStudy(
        law=law,
        seed=seed,
        effort=effort,
        trained=tuple(trained),
        references=tuple(references(law, layers, sheet.fresh, linear)),
    )


def whitened(law: Prompts) -> Prompts:
    """Return the law of sigma^(-1/2) x: sigma = I, task sigma^(1/2) C sigma^(1/2), equal losses."""
    half = root(law.sigma, 0.5)
    task = half @ law.task @ half
    return Prompts(n=law.n, sigma=np.eye(law.d), task=(task + task.T) / 2, noise=law.noise)


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
        self.train = points(law, seed, "train", effort.prompts, effort.queries)
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

    >>> round(13 * best_linear(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)), 20)[1], 12)
    15.0
    """
    power = float(np.trace(law.task))
    moment = (n + 1) / n * law.task + (power + law.noise**2) / n * np.eye(law.d)
    a = np.linalg.solve(moment, law.task)
    return a, power - float(np.trace(a @ law.task))


def references(
    law: Prompts, layers: Sequence[int], x: Array, linear: LinearLoss | None = None
) -> list[Reference]:
    """Collect what needs no training; x are whitened prompts for the Bayes loss.

    Two opposite heads tend to linear attention on centred points, which is that of n - 1 points.
    One head may centre in its first layer and use the others as linear layers: (1 + 1/n) times
    their loss over n - 1 points, and s^2/n.
    """
    white, n = whitened(law), law.n
    found = [_closed("predicting 0", 0, white.power), bayes(white, x)]

    def of(count: int, depth: int) -> float | None:
        if depth == 1:
            return best_linear(white, count)[1]
        return None if linear is None else float(linear(count, depth))

    for depth in layers:
        known = "closed form" if depth == 1 else "best found, computed"
        for name, value in (
            ("linear", of(n, depth)),
            ("two heads, limit", of(n - 1, depth)),
        ):
            if value is not None:
                found.append(_closed(name, depth, value, known))
        inner = of(n - 1, depth - 1) if depth > 1 else None
        if inner is not None:
            value = (1 + 1 / n) * inner + law.noise**2 / n
            how = "closed form" if depth == 2 else known
            found.append(_closed("one head, limit", depth, value, how))
    return found


def _closed(name: str, layers: int, loss: float, known: str = "closed form") -> Reference:
    return Reference(name=name, layers=layers, loss=loss, error=0.0, known=known)


def bayes(law: Prompts, x: Array) -> Reference:
    """Estimate the loss of the posterior mean, tr(sigma C_post), on the points of x (count, ., d).

    It is ridge regression with the task's covariance; without noise and with n >= d points it is 0.
    """
    if not law.noise and law.n >= law.d:
        return _closed("ridge (Bayes)", 0, 0.0, "exact: w is determined")
    keys = x[:, : law.n]
    pulled = keys @ law.task  # (count, n, d)
    kernel = pulled @ keys.transpose(0, 2, 1) + law.noise**2 * np.eye(law.n)
    explained = pulled.transpose(0, 2, 1) @ np.linalg.solve(kernel, pulled)
    left = np.trace((law.task - explained) @ law.sigma, axis1=1, axis2=2)
    error = float(left.std() / np.sqrt(len(left)))
    return Reference(
        name="ridge (Bayes)", layers=0, loss=float(left.mean()), error=error, known="statistical"
    )


def _trained(sheet: _Sheet, layers: int, heads: int, output: str) -> Trained:
    """Train multiples of the identity from several starts, then full matrices from the best."""
    law, effort = sheet.law, sheet.effort
    fixed = {"1/n": 1 / law.n, "1": 1.0, "free": None}[output]
    narrow, wide = (make(layers, heads, law.d, fixed) for make in (scalar, full))
    rng = generator(sheet.seed, "softmax start", layers, heads, output)
    few = sheet.train[: max(2, effort.prompts // 4)]
    tries = [
        fit(narrow, law, few, _start(narrow, rng, k, fixed is None), effort.steps)
        for k in range(effort.starts)
    ]
    best = min(tries, key=lambda found: found.loss)
    small = fit(narrow, law, sheet.train, best.z, effort.steps)
    model = narrow.model(small.z)
    large = fit(wide, law, sheet.train, wide.nearest(_twisted(model, rng)), effort.steps)
    return _report(sheet, output, (narrow, small), (wide, large))


def _report(
    sheet: _Sheet, output: str, narrow: tuple[Form, Fit], wide: tuple[Form, Fit]
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


def _start(form: Form, rng: np.random.Generator, k: int, free: bool) -> Array:
    """Draw multiples of the identity; every other start of free scales has pairs of heads.

    A pair (Theta, P, c), (-Theta, -P, -c) with small Theta and large P, c is near linear attention.
    """
    layers, heads, d = form.shape
    jitter = np.exp(0.3 * rng.standard_normal((3, layers, heads)))
    theta = 0.5 * rng.standard_normal((layers, heads))
    value = 0.3 * rng.standard_normal((layers, heads))
    scale = 0.5 + 0.5 * rng.standard_normal((layers, heads))
    if free and heads > 1 and k % 2 == 0:
        paired = heads - heads % 2
        sign = np.where(np.arange(paired) % 2, -1.0, 1.0)
        # What is left to predict shrinks from layer to layer, and so do the points.
        size = 0.05 * 2.0 ** np.arange(layers)[:, None] if layers > 1 else np.full((1, 1), 0.1)
        theta[:, :paired] = sign * size * jitter[0, :, :paired]
        value[:, :paired] = sign * 4 * jitter[1, :, :paired]
        scale[:, :paired] = sign * 4 * jitter[2, :, :paired]
    eye = np.eye(d)
    model = SoftmaxTransformer(
        theta=theta[..., None, None] * eye, value=value[..., None, None] * eye, scale=scale
    )
    return form.nearest(model)


def _twisted(model: SoftmaxTransformer, rng: np.random.Generator) -> SoftmaxTransformer:
    """Multiply each matrix by one near the identity: off the saddle that a symmetry may make."""
    shape = model.theta.shape
    first, second = (np.eye(model.d) + 0.03 * rng.standard_normal(shape) for _ in range(2))
    return SoftmaxTransformer(
        theta=model.theta @ first, value=model.value @ second, scale=model.scale
    )
