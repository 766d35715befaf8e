"""Mean gradients over the whole population of a small family, as a learner is shown them.

The mean is exact: a sum over all z in {-1,+1}^n where z_0 = -1. Elsewhere a label is public and so
is its gradient, which is left out. Several runs, each with a member of its own, go side by side.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Budget, Meter
from instances.errors import UsageError
from instances.family import Secret
from instances.limits import require_memory
from instances.symmetric import Symmetric

MOST = 16  # coordinates of z
Array = NDArray[np.float64]


class Answers(Protocol):
    """What is shown of a mean gradient: all arrays are (runs, P)."""

    def average(self, mean: Array, reference: Array, times: int, rng: np.random.Generator) -> Array:
        """The average of `times` answers about one gradient; `reference` is it without a secret."""


@dataclass(frozen=True, kw_only=True)
class Normal:
    """The mean and normal noise of standard deviation `std` on each coordinate."""

    std: float

    def average(self, mean: Array, reference: Array, times: int, rng: np.random.Generator) -> Array:
        """Draw the average at once: noise adds up by squares."""
        return np.asarray(mean + self.std / np.sqrt(times) * rng.standard_normal(mean.shape))


class GradientOracle:
    """Answers about mean gradients, one a step for every run, each counted as a query.

    secrets: the member of each run; clip: the l2 norm to which an example's gradient is cut. Raises
    UsageError for labels of more than two values or more than 16 coordinates, Spent at the end of
    the budget.

    >>> from instances import parse
    >>> rng = np.random.default_rng(0)
    >>> oracle = GradientOracle(parse("parity:d=3,m=2"), [(1, 2)], 1.0, Normal(std=1e-9), rng)
    >>> parity = oracle.points.prod(axis=1)[None, :, None]
    >>> oracle.ask(parity, -parity).round(6).tolist(), oracle.meter.queries
    ([[0.5]], 1)
    """

    def __init__(
        self,
        family: Symmetric,
        secrets: Sequence[Secret],
        clip: float,
        answers: Answers,
        rng: np.random.Generator,
        meter: Meter | None = None,
    ) -> None:
        """Evaluate the members of the runs."""
        if not family.two_valued:
            raise UsageError(f"{family} given: labels of two values are needed")
        if family.d - 1 > MOST:
            raise UsageError(f"d={family.d} given: gradients are summed over z up to d={MOST + 1}")
        for secret in secrets:
            family.require_member(secret)
        require_memory(8 * len(secrets) << (family.d - 1), f"the members of {family}")
        self.family, self.clip, self.meter = family, clip, meter or Meter(Budget())
        self.signs = signs(family, self.points, secrets)
        self._answers, self._rng = answers, rng

    @cached_property
    def points(self) -> Array:
        """All z_1 .. z_n, (2^n, n)."""
        return cube(self.family.d - 1)

    @property
    def runs(self) -> int:
        """How many runs go side by side."""
        return len(self.signs)

    def ask(self, plus: Array, minus: Array, times: int = 1) -> Array:
        """Answer about the mean of v, and average `times` such answers: (runs, P).

        plus, minus: v at each point if the label's factor is the larger or the smaller value,
        (runs, 2^n, P), or (1, 2^n, P) if it is the same in all runs.
        """
        self.meter.take_query(times)
        sides = _cut(plus, self.clip), _cut(minus, self.clip)
        mean, reference = self._means(*sides)
        return self._answers.average(mean, reference, times, self._rng)

    def _means(self, plus: Array, minus: Array) -> tuple[Array, Array]:
        """The mean for each run's member and in the reference, each (runs, P)."""
        fade = float(1 - 2 * self.family.noise)
        even, odd = (plus + minus) / 4, fade * (plus - minus) / 4  # 1/4: z_0 = -1, and two labels
        public = known_signs(self.family, self.points)
        base = even.mean(axis=1)
        scale = self.signs.shape[1]
        if len(odd) == 1:
            secret = self.signs @ odd[0]
        else:
            secret = np.matmul(self.signs[:, None, :], odd)[:, 0]
        reference = np.broadcast_to(base + public @ odd / scale, secret.shape)
        return base + secret / scale, reference


def cube(n: int) -> Array:
    """List {-1,+1}^n, (2^n, n), the last coordinate the fastest.

    >>> cube(2).astype(int).tolist()
    [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    """
    return np.array(list(itertools.product((1.0, -1.0), repeat=n)))


def signs(family: Symmetric, points: Array, secrets: Sequence[Secret]) -> Array:
    """The values of members as +-1 at points of z_1 .. z_n: (members, points)."""
    minus = (points < 0).astype(np.intp)
    chosen = np.array(secrets, np.intp).reshape(len(secrets), family.m) - 1
    profile = (np.array([float(v) for v in family.values]) - float(family.centre)) / _half(family)
    return np.asarray(profile[minus[:, chosen].sum(axis=2).T])


def known_signs(family: Symmetric, points: Array) -> Array:
    """The public part of the values as +-1, noise aside: (points,); 0 for a parity."""
    count = np.count_nonzero(points < 0, axis=1)
    return np.asarray((family.prior[count] - float(family.centre)) / _half(family))


def _half(family: Symmetric) -> float:
    return float(max(family.values) - min(family.values)) / 2


def _cut(v: Array, clip: float) -> Array:
    """Scale each example's vector down to norm `clip` where it is longer."""
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(v * (clip / np.maximum(norm, clip)))
