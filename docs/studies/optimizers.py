"""Adam against momentum SGD on linear transformers, by learning rate: the runs and their factors.

[ACSYJS24] train 3 layers on d = 5, n = 20 at the rate .02. Here every method runs over a grid of
rates on tuning seeds; its best rate, and .02, are run again on seeds that had no part in the
choice. All methods see the same batches, from the same start.

How heavy the tails of stochastic gradients are is said against Gaussian noise of their covariance.
For batches drawn at fixed layers, |g - mean g| is compared with the norm of a Gaussian vector with
the covariance of g: its law depends on the eigenvalues alone, and its kurtosis E|.|^4 / (E|.|^2)^2
is 1 + 2 sum_i v_i^2 / (sum_i v_i)^2. Norms that vary much are no sign of heavy tails by themselves:
a few large eigenvalues do that too.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import msgspec
import numpy as np

from hardness.icl.descent import Adam, Momentum, Rule, Sign, State, clipped
from hardness.icl.evaluate import rare
from hardness.icl.gram import Array, Layers, losses
from hardness.icl.sampled import loss_and_gradient, sample
from hardness.icl.study import Count, Matrix, Study
from instances.errors import UsageError
from instances.limits import require_memory
from instances.prompts import Prompts
from instances.streams import generator

AUTHORS_RATE = 0.02  # of [ACSYJS24], for both methods
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
METHODS: dict[str, tuple[str, Callable[[float], Rule]]] = {
    "sgd": ("SGD, momentum .9", lambda rate: Momentum(rate=rate)),
    "adam": ("Adam, decays .9, .9", lambda rate: Adam(rate=rate, second=0.9)),  # the authors'
    "adam999": ("Adam, decays .9, .999", lambda rate: Adam(rate=rate)),
    "plain": ("SGD", lambda rate: Momentum(rate=rate, decay=0.0)),
    "sign": ("signs, momentum .9", lambda rate: Sign(rate=rate)),
}
LEVELS = (0.5, 0.9, 0.99, 0.999)
HEAVY = 0.1  # Gamma shape of the heavy-tailed covariates of [ACSYJS24]
_GAUSSIAN = 20_000  # norms drawn of the Gaussian of the same covariance
_ENDS = 20_000  # Gram matrices of the losses at the end
_STRETCHED = 40_000  # of those with rare prompts
Losses = list[float | None]  # None: it overflowed


@dataclass(frozen=True, kw_only=True)
class Course:
    """What all rules have in common; raises UsageError for sizes that cannot be run.

    The defaults are those of [ACSYJS24]: 3 layers, entries that start as N(0, .05^2), a fresh batch
    of 1000 prompts a step, gradients clipped to norm 1.
    """

    law: Prompts
    layers: int = 3
    steps: int = 1000
    batch: int = 1000
    scale: float = 0.05  # standard deviation of an entry at the start
    clip: float = 1.0  # math.inf: not clipped
    marks: int = 50  # evaluations along a curve
    evaluate: int = 2000  # Gram matrices of an evaluation

    def __post_init__(self) -> None:
        limits = {"layers": 64, "steps": 10**7, "batch": 10**7, "marks": 10**5, "evaluate": 10**7}
        for name, most in limits.items():
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise UsageError(f"{name}={value} given: from 1 to {most} is needed")
        if not 0 < self.scale <= 10:
            raise UsageError(f"scale={self.scale} given: above 0 and at most 10 is needed")
        if not self.clip > 0:
            raise UsageError(f"clip={self.clip} given: a norm above 0, or inf, is needed")
        d, n = self.law.d, self.law.n
        size = 8 * (self.batch * (3 * (n + 1) * d + 3 * d * d) + 2 * self.evaluate * (n + d) * d)
        require_memory(size, f"batches of {self.batch} prompts with n={n}, d={d}")

    def start(self, seed: int, axis: str) -> Array:
        """Draw the layers that all rules start from: (layers, 2, d, d)."""
        shape = (self.layers, 2, self.law.d, self.law.d)
        return self.scale * generator(seed, "icl", axis, "start").standard_normal(shape)

    @property
    def at(self) -> list[int]:
        """The steps after which losses are evaluated, from 0 to the last."""
        count = min(self.marks, self.steps)
        return sorted({round(i * self.steps / count) for i in range(count + 1)})

    def held_out(self, seed: int, axis: str, count: int) -> Array:
        """Draw Gram matrices to evaluate on: (count, d, d)."""
        rng = generator(seed, "icl", axis, "held out")
        return np.ascontiguousarray(sample(self.law, rng, count).grams.transpose(2, 0, 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Lap:
    """One rule's run: loss after each of `Course.at` steps, inf from where it overflows."""

    losses: list[float]
    path: Array  # the layers at the same steps, (marks+1, layers, 2, d, d)


def race(
    course: Course,
    rules: Sequence[Rule],
    seed: int,
    axis: str,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Lap]:
    """Run each rule over the same batches from the same start; a seed and an axis name both."""
    grams, at = course.held_out(seed, "curves", course.evaluate), set(course.at)
    thetas = [course.start(seed, axis)] * len(rules)
    states = [State()] * len(rules)
    curves: list[list[float]] = [[] for _ in rules]
    paths: list[list[Array]] = [[] for _ in rules]
    for step in range(course.steps + 1):
        if step in at:
            for i, theta in enumerate(thetas):
                curves[i].append(mean_loss(theta, grams, course.law)[0])
                paths[i].append(theta)
        if step == course.steps:
            break
        data = sample(course.law, generator(seed, "icl", axis, "batch", step), course.batch)
        for i, rule in enumerate(rules):
            if curves[i][-1] == math.inf:
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                gradient = clipped(loss_and_gradient(thetas[i], data)[1], course.clip)
                states[i], move = rule(states[i], gradient)
                thetas[i] = thetas[i] + move
        progress(1)
    return [Lap(losses=c, path=np.array(p)) for c, p in zip(curves, paths, strict=True)]


def mean_loss(theta: Array, grams: Array, law: Prompts) -> tuple[float, float]:
    """Average the loss over Gram matrices, all else integrated, with its standard error.

    Both are inf where the loss overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        each = losses(theta[:, 0], theta[:, 1], grams, law)
        mean, error = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))
    return (mean, error) if math.isfinite(mean) else (math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Quantiles of the noise norm over its median, at LEVELS; those of the Gaussian beside them."""

    batch: int
    draws: int
    relative: float  # median of the noise norm over the norm of the mean gradient
    quantiles: list[float]
    gaussian: list[float]
    kurtosis: float  # E|.|^4 / (E|.|^2)^2
    gaussian_kurtosis: float
    shares: list[float]  # log-spaced from 1 to 1/draws
    ratios: list[float]  # what a norm over its median exceeds in that share of the draws
    gaussian_ratios: list[float]


def tails(
    theta: Array,
    law: Prompts,
    batch: int,
    draws: int,
    seed: int,
    axis: str,
    shape: float | None = None,
) -> Tails:
    """Draw gradients of batches at the layers theta and compare their norms with Gaussian ones."""
    rng = generator(seed, "icl", "noise", axis)
    found = np.array(
        [loss_and_gradient(theta, sample(law, rng, batch, shape))[1].ravel() for _ in range(draws)]
    )
    mean = found.mean(axis=0)
    noise = found - mean
    norms = np.sqrt((noise**2).sum(axis=1))
    values = np.linalg.svd(noise, compute_uv=False) ** 2 / (draws - 1)
    values = values[values > 1e-12 * values[0]]
    like = np.sqrt(rng.standard_normal((_GAUSSIAN, len(values))) ** 2 @ values)
    ratios, gaussian = norms / np.median(norms), like / np.median(like)
    shares = np.geomspace(1, 1 / draws, 60)
    return Tails(
        batch=batch,
        draws=draws,
        relative=float(np.median(norms) / np.sqrt((mean**2).sum())),
        quantiles=np.quantile(ratios, LEVELS).tolist(),
        gaussian=np.quantile(gaussian, LEVELS).tolist(),
        kurtosis=float((norms**4).mean() / (norms**2).mean() ** 2),
        gaussian_kurtosis=float(1 + 2 * (values**2).sum() / values.sum() ** 2),
        shares=shares.tolist(),
        ratios=np.quantile(ratios, 1 - shares).tolist(),
        gaussian_ratios=np.quantile(gaussian, 1 - shares).tolist(),
    )


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A rate on the tuning seeds: the losses at the end, and how many runs diverged."""

    rate: float
    losses: Losses
    diverged: int  # no better at the end than predicting 0


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """A loss by importance sampling, its standard error, and the share of the heaviest sample."""

    value: float | None
    error: float | None
    share: float
    samples: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A rate on the reported seeds: losses at the end, standard errors, and curves by seed.

    rare: the same losses by importance sampling. Where they are far above, prompts too rare to be
    drawn carry the mean, and losses and errors tell of typical prompts alone.
    """

    rate: float
    losses: Losses
    errors: Losses
    rare: list[Weighed]
    diverged: int
    curves: list[Losses]


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """One method: the rates tried, and its runs at .02 and at the tuned rate."""

    name: str
    words: str
    tried: list[Tried]
    authors: Shown
    tuned: Shown

    @property
    def shown(self) -> dict[str, Shown]:
        """The runs on the reported seeds, by the name of their rate."""
        return {"authors": self.authors, "tuned": self.tuned}


class Optimizers(Study, frozen=True, kw_only=True, tag="icl optimizers"):
    """The runs of all methods on a course.

    ends: Gram matrices of a loss at the end. at: the steps of a curve. factors: of the losses of
    the first method to those of each other, by seed, at the authors' and at the tuned rates. noise:
    the tails of gradient noise by where it was measured. references: losses to compare with.
    """

    noise_level: float
    sigma: Matrix
    task: Matrix
    power: float
    layers: Count
    steps: Count
    batch: Count
    scale: float
    clip: float | None
    marks: Count
    evaluate: Count
    authors_rate: float
    ends: Count
    at: list[int]
    methods: list[Method]
    factors: dict[str, dict[str, Losses]]
    references: dict[str, float]
    noise: dict[str, Tails]

    def _listed(self) -> Iterable[dict[str, Any]]:
        for method in self.methods:
            for one in method.tried:
                yield {"method": method.name, **vars(one)}


def optimizers(
    course: Course,
    *,
    methods: Sequence[str] = ("sgd", "adam", "adam999"),
    rates: Sequence[float] = RATES,
    seed: int = 0,
    seeds: int = 5,
    tuning: int = 2,
    draws: int = 500,
    references: Mapping[str, float] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Optimizers:
    """Run methods over rates on tuning seeds, then .02 and the tuned rates on other seeds.

    draws: gradients drawn for the tails of their noise, 0 for none. references: known losses, kept
    with the result. Raises UsageError for unknown methods, no rates, no seeds.
    """
    _check(methods, rates, seeds, tuning, draws)
    law, grid = course.law, [(name, rate) for name in methods for rate in rates]
    laps = _laps(replace(course, marks=1), grid, seed, "tune", tuning, progress)
    tuned_on = course.held_out(seed, "tuning ends", _ENDS)
    tried = {at: [mean_loss(lap.path[-1], tuned_on, law)[0] for lap in laps[at]] for at in grid}
    best = {
        name: min((median(tried[name, rate]), i, rate) for i, rate in enumerate(rates))[2]
        for name in methods
    }
    again = sorted({(name, rate) for name in methods for rate in (AUTHORS_RATE, best[name])})
    laps = _laps(course, again, seed, "report", seeds, progress)
    grams = course.held_out(seed, "ends", _ENDS)
    ends = {at: [mean_loss(lap.path[-1], grams, law) for lap in laps[at]] for at in again}
    losses = {at: [loss for loss, _ in found] for at, found in ends.items()}

    def shown(name: str, rate: float) -> Shown:
        at = name, rate
        return Shown(
            rate=rate,
            losses=_finite(losses[at]),
            errors=_finite([error for _, error in ends[at]]),
            rare=[_rare(lap.path[-1], law, seed) for lap in laps[at]],
            diverged=_diverged(losses[at], law),
            curves=[_finite(lap.losses) for lap in laps[at]],
        )

    def factors(rate: Callable[[str], float]) -> dict[str, Losses]:
        first, *others = methods
        of = losses[first, rate(first)]
        return {
            name: _finite([a / b for a, b in zip(of, losses[name, rate(name)], strict=True)])
            for name in others
        }

    trained = laps[min(again, key=lambda at: median(losses[at]))][0].path[-1]
    of_course: Any = {key: v for key, v in vars(course).items() if key != "law"}
    return Optimizers(
        d=law.d,
        n=law.n,
        noise_level=law.noise,
        sigma=law.sigma.tolist(),
        task=law.task.tolist(),
        power=law.power,
        **{**of_course, "clip": course.clip if math.isfinite(course.clip) else None},
        seed=seed,
        authors_rate=AUTHORS_RATE,
        ends=_ENDS,
        at=course.at,
        methods=[
            Method(
                name=name,
                words=METHODS[name][0],
                tried=[
                    Tried(
                        rate=rate,
                        losses=_finite(tried[name, rate]),
                        diverged=_diverged(tried[name, rate], law),
                    )
                    for rate in rates
                ],
                authors=shown(name, AUTHORS_RATE),
                tuned=shown(name, best[name]),
            )
            for name in methods
        ],
        factors={"authors": factors(lambda name: AUTHORS_RATE), "tuned": factors(best.__getitem__)},
        references=dict(references or {}),
        noise=_noise(course, trained, seed, draws) if draws else {},
    )


def _laps(
    course: Course,
    runs: Sequence[tuple[str, float]],
    seed: int,
    axis: str,
    count: int,
    progress: Callable[[int], None],
) -> dict[tuple[str, float], list[Lap]]:
    rules = [METHODS[name][1](rate) for name, rate in runs]
    found = [race(course, rules, seed, f"{axis} {i}", progress) for i in range(count)]
    return {run: [laps[i] for laps in found] for i, run in enumerate(runs)}


def _rare(theta: Array, law: Prompts, seed: int) -> Weighed:
    with np.errstate(over="ignore", invalid="ignore"):
        found = rare(Layers(p=theta[:, 0], q=theta[:, 1]), law, seed, _STRETCHED)
    value, error = _finite([found.value, found.error])
    share = 1.0 if value is None else found.share
    return Weighed(value=value, error=error, share=share, samples=found.samples)


def _diverged(losses: Sequence[float], law: Prompts) -> int:
    return sum(loss >= law.power for loss in losses)


def _finite(values: Iterable[float]) -> Losses:
    return [v if math.isfinite(v) else None for v in values]


def _noise(course: Course, trained: Any, seed: int, draws: int) -> dict[str, Tails]:
    law, start = course.law, course.start(seed, "report 0")
    return {
        "start, one prompt": tails(start, law, 1, draws, seed, "one"),
        "start": tails(start, law, course.batch, draws, seed, "start"),
        "trained": tails(trained, law, course.batch, draws, seed, "trained"),
        "start, heavy-tailed x": tails(start, law, course.batch, draws, seed, "heavy", HEAVY),
    }


def _check(
    methods: Sequence[str], rates: Sequence[float], seeds: int, tuning: int, draws: int
) -> None:
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods or len(set(methods)) < len(methods):
        raise UsageError(
            f"methods {','.join(methods) or 'none'} given: some of {', '.join(METHODS)}, each once"
        )
    if not rates:
        raise UsageError("no rates given: at least one is needed")
    for name, value in (("seeds", seeds), ("tuning", tuning)):
        if not 1 <= value <= 1000:
            raise UsageError(f"{name}={value} given: from 1 to 1000 is needed")
    if draws and not 10 <= draws <= 10**6:
        raise UsageError(f"draws={draws} given: 0, or from 10 to 1000000 is needed")
