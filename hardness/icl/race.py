"""Several rules of descent on one stream of batches: same start, same prompts, one curve each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.icl.gram import losses
from hardness.icl.rules import Rule, State, clipped
from hardness.icl.sampled import loss_and_gradient, sample
from instances.errors import UsageError
from instances.limits import require_memory
from instances.prompts import Prompts
from instances.streams import generator

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Course:
    """What all rules have in common; raises UsageError for sizes that cannot be run.

    The defaults are those of [ACSYJS24]: 3 layers, entries that start as N(0, .05^2), a fresh batch
    of 1000 prompts a step, gradients clipped to norm 1.

    >>> Course(law=Prompts(n=20, sigma=np.eye(5), task=np.eye(5))).start(0, "a").shape
    (3, 2, 5, 5)
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


def race(course: Course, rules: Sequence[Rule], seed: int, axis: str) -> list[Lap]:
    """Run each rule over the same batches from the same start; a seed and an axis name both.

    >>> from hardness.icl.rules import Momentum
    >>> law = Prompts(n=9, sigma=np.eye(2), task=np.eye(2))
    >>> course = Course(law=law, layers=1, steps=60, batch=50, marks=2)
    >>> [round(loss, 1) for loss in race(course, [Momentum(rate=0.02)], 0, "a")[0].losses]
    [1.6, 0.5, 0.5]
    """
    grams, at = course.held_out(seed, "curves", course.evaluate), set(course.at)
    thetas = [course.start(seed, axis)] * len(rules)
    states = [State()] * len(rules)
    curves: list[list[float]] = [[] for _ in rules]
    paths: list[list[Array]] = [[] for _ in rules]
    for step in range(course.steps + 1):
        if step in at:
            for i, theta in enumerate(thetas):
                curves[i].append(exact_loss(theta, grams, course.law)[0])
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
    return [Lap(losses=c, path=np.array(p)) for c, p in zip(curves, paths, strict=True)]


def exact_loss(theta: Array, grams: Array, law: Prompts) -> tuple[float, float]:
    """Average the loss over Gram matrices, all else integrated, with its standard error.

    Both are inf where the loss overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        each = losses(theta[:, 0], theta[:, 1], grams, law)
        mean, error = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))
    return (mean, error) if math.isfinite(mean) else (math.inf, math.inf)
