"""Adam against momentum SGD on linear transformers, by learning rate: the runs and their factors.

[ACSYJS24] train 3 layers on d = 5, n = 20 at the rate .02. Here every method runs over a grid of
rates on tuning seeds; its best rate, and .02, are run again on seeds that had no part in the
choice. All methods see the same batches, from the same start.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from hardness.icl.evaluate import Rare, rare
from hardness.icl.gram import Layers
from hardness.icl.noise import Tails, tails
from hardness.icl.race import Course, Lap, mean_loss, race
from hardness.icl.rules import Adam, Momentum, Rule, Sign
from instances.errors import UsageError

AUTHORS_RATE = 0.02  # of [ACSYJS24], for both methods
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
METHODS: dict[str, tuple[str, Callable[[float], Rule]]] = {
    "sgd": ("SGD, momentum .9", lambda rate: Momentum(rate=rate)),
    "adam": ("Adam, decays .9, .9", lambda rate: Adam(rate=rate, second=0.9)),  # the authors'
    "adam999": ("Adam, decays .9, .999", lambda rate: Adam(rate=rate)),
    "plain": ("SGD", lambda rate: Momentum(rate=rate, decay=0.0)),
    "sign": ("signs, momentum .9", lambda rate: Sign(rate=rate)),
}
_ENDS = 20_000  # Gram matrices of the losses at the end
_STRETCHED = 40_000  # of those with rare prompts
HEAVY = 0.1  # Gamma shape of the heavy-tailed covariates of [ACSYJS24]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A rate on the tuning seeds: the losses at the end, and how many runs diverged."""

    rate: float
    losses: list[float]
    diverged: int  # no better at the end than predicting 0


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A rate on the reported seeds: losses at the end, standard errors, and curves by seed.

    rare: the same losses by importance sampling. Where they are far above, prompts too rare to be
    drawn carry the mean, and losses and errors tell of typical prompts alone.
    """

    rate: float
    losses: list[float]
    errors: list[float]
    rare: list[Rare]
    diverged: int
    curves: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method: the rates tried, and its runs at .02 and at the tuned rate."""

    name: str
    words: str
    tried: list[Tried]
    authors: Shown
    tuned: Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimizers:
    """The runs of all methods, and the tails of gradient noise by where it was measured."""

    course: Course
    seed: int
    methods: list[Method]
    noise: dict[str, Tails]
    references: dict[str, float]  # losses by name, to compare with

    def factors(self, at: str) -> dict[str, list[float]]:
        """Divide the first method's losses by each other's, by seed: at "authors" or "tuned"."""
        first, *others = ((m.name, getattr(m, at).losses) for m in self.methods)
        return {
            name: [a / b for a, b in zip(first[1], losses, strict=True)] for name, losses in others
        }

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers; null stands for a loss that overflowed."""
        course = {k: v for k, v in vars(self.course).items() if k != "law"}
        law = self.course.law
        return _finite(
            {
                "format": 1,
                "kind": "icl optimizers",
                "d": law.d,
                "n": law.n,
                "noise_level": law.noise,
                "sigma": law.sigma.tolist(),
                "task": law.task.tolist(),
                **course,
                "seed": self.seed,
                "authors_rate": AUTHORS_RATE,
                "power": law.power,
                "ends": _ENDS,
                "at": self.course.at,
                "methods": [asdict(m) for m in self.methods],
                "factors": {at: self.factors(at) for at in ("authors", "tuned")},
                "references": self.references,
                "noise": {where: asdict(found) for where, found in self.noise.items()},
            }
        )


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
    grid = [(name, rate) for name in methods for rate in rates]
    laps = _laps(replace(course, marks=1), grid, seed, "tune", tuning, progress)
    chosen_on = course.held_out(seed, "tuning ends", _ENDS)
    ends = {at: [mean_loss(lap.path[-1], chosen_on, course.law) for lap in laps[at]] for at in grid}
    best = {
        name: min(rates, key=lambda rate, name=name: median(e[0] for e in ends[name, rate]))  # type: ignore[misc]
        for name in methods
    }
    again = sorted({(name, rate) for name in methods for rate in (AUTHORS_RATE, best[name])})
    found = _laps(course, again, seed, "report", seeds, progress)
    grams = course.held_out(seed, "ends", _ENDS)
    shown = {at: _shown(at[1], found[at], grams, course, seed) for at in again}
    trained = min(again, key=lambda at: median(shown[at].losses))
    return Optimizers(
        course=course,
        seed=seed,
        methods=[
            Method(
                name=name,
                words=METHODS[name][0],
                tried=[_tried(rate, [e[0] for e in ends[name, rate]], course) for rate in rates],
                authors=shown[name, AUTHORS_RATE],
                tuned=shown[name, best[name]],
            )
            for name in methods
        ],
        noise=_noise(course, found[trained][0].path[-1], seed, draws) if draws else {},
        references=dict(references or {}),
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


def _tried(rate: float, losses: list[float], course: Course) -> Tried:
    return Tried(rate=rate, losses=losses, diverged=_diverged(losses, course))


def _shown(rate: float, laps: list[Lap], grams: Any, course: Course, seed: int) -> Shown:
    ends = [mean_loss(lap.path[-1], grams, course.law) for lap in laps]
    return Shown(
        rate=rate,
        losses=[loss for loss, _ in ends],
        errors=[error for _, error in ends],
        rare=[_rare(lap.path[-1], course, seed) for lap in laps],
        diverged=_diverged([loss for loss, _ in ends], course),
        curves=[lap.losses for lap in laps],
    )


def _rare(theta: Any, course: Course, seed: int) -> Rare:
    with np.errstate(over="ignore", invalid="ignore"):
        found = rare(Layers(p=theta[:, 0], q=theta[:, 1]), course.law, seed, _STRETCHED)
    if math.isfinite(found.value):
        return found
    return Rare(value=math.inf, error=math.inf, share=1.0, samples=_STRETCHED)


def _diverged(losses: Sequence[float], course: Course) -> int:
    return sum(loss >= course.law.power for loss in losses)


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


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
