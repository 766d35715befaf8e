"""Gradient descent on answers about the population's gradients, for models of the label's sign.

The mean gradient is exact: a sum over all z in {-1,+1}^n where z_0 = -1. Elsewhere a label is
public and so is its gradient, which is left out. Several runs, each with a member of its own, go
side by side. theta <- theta - rate v, v <- momentum v + answer.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Budget, Meter
from instances.errors import UsageError
from instances.family import Secret, require
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


class Model(Protocol):
    """A function of z with parameters theta, (runs, P); points are all z, one a row."""

    def start(self, runs: int, rng: np.random.Generator) -> Array:
        """Draw the parameters to start from: (runs, P)."""

    def gradients(self, theta: Array) -> tuple[Array, Array]:
        """The loss's gradient at each point for the label +1 and -1: (runs or 1, points, P)."""

    def values(self, theta: Array) -> Array:
        """Evaluate the hypothesis that theta stands for: (runs, points)."""

    @property
    def constant(self) -> bool:
        """Whether gradients do not depend on theta."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Linear in one function for each member, with the loss -y f(z): the strongest model here.

    functions: (M, points), what is unknown of each member, all of one norm; size: the l2 norm of
    every gradient. The hypothesis is the member that the answers speak for the most, as noise is
    normal: for parities that of the largest parameter, right about as soon as
    8 M ln(M) std^2 / ((1 - 2 noise)^2 size^2) answers are averaged, a logarithm from the bound.
    """

    functions: Array
    size: float

    @property
    def constant(self) -> bool:
        """The loss is linear."""
        return True

    @cached_property
    def _features(self) -> Array:
        norm = np.linalg.norm(self.functions, axis=0)
        return np.asarray(self.size * self.functions / np.where(norm > 0, norm, 1)).T

    def start(self, runs: int, rng: np.random.Generator) -> Array:
        """Zeros."""
        return np.zeros((runs, len(self.functions)))

    def gradients(self, theta: Array) -> tuple[Array, Array]:
        """Minus the label times the features."""
        return -self._features[None], self._features[None]

    def values(self, theta: Array) -> Array:
        """The function of the most likely member: each has a mean of its own, of one norm."""
        return np.asarray(self.functions[np.argmax(theta @ self._means, axis=1)])

    @cached_property
    def _means(self) -> Array:
        """What answers are on average for each member, up to a factor: (M, M)."""
        return np.asarray(self._features.T @ self.functions.T)


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """Linear in fixed features, (points, P), with the loss (f - y)^2 / 2."""

    features: Array

    @property
    def constant(self) -> bool:
        """The loss is quadratic."""
        return False

    def start(self, runs: int, rng: np.random.Generator) -> Array:
        """Zeros."""
        return np.zeros((runs, self.features.shape[1]))

    def gradients(self, theta: Array) -> tuple[Array, Array]:
        """The residual times the features."""
        values = self.values(theta)[:, :, None]
        return (values - 1) * self.features, (values + 1) * self.features

    def values(self, theta: Array) -> Array:
        """The linear function."""
        return np.asarray(theta @ self.features.T)


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """sum_k a_k tanh(w_k z + b_k) with `width` units and the loss (f - y)^2 / 2; points (., n)."""

    points: Array
    width: int

    @property
    def constant(self) -> bool:
        """The loss is not even convex."""
        return False

    def start(self, runs: int, rng: np.random.Generator) -> Array:
        """Normal parameters of standard deviation 1/sqrt(n) within, 1/sqrt(width) outside."""
        n = self.points.shape[1]
        inner = rng.standard_normal((runs, self.width * (n + 1))) / np.sqrt(n)
        outer = rng.standard_normal((runs, self.width)) / np.sqrt(self.width)
        return np.concatenate([inner, outer], axis=1)

    def gradients(self, theta: Array) -> tuple[Array, Array]:
        """The residual times the derivatives of the values by the parameters."""
        hidden, outer = self._hidden(theta)
        slope = outer[:, None] * (1 - hidden**2)
        inner = slope[..., None] * self._inputs[:, None]
        flat = inner.reshape(*inner.shape[:2], -1)
        change = np.concatenate([flat, hidden], axis=2)
        values = (hidden @ outer[:, :, None])[..., :1]
        return (values - 1) * change, (values + 1) * change

    def values(self, theta: Array) -> Array:
        """The network's output."""
        hidden, outer = self._hidden(theta)
        return np.asarray((hidden @ outer[:, :, None])[..., 0])

    @cached_property
    def _inputs(self) -> Array:
        return np.concatenate([self.points, np.ones((len(self.points), 1))], axis=1)

    def _hidden(self, theta: Array) -> tuple[Array, Array]:
        """The units' values, (runs, points, width), and their coefficients, (runs, width)."""
        inputs, k = self._inputs, self.width
        inner = theta[:, :-k].reshape(len(theta), k, inputs.shape[1])
        return np.tanh(inputs @ inner.transpose(0, 2, 1)), theta[:, -k:]


def affine(points: Array) -> Linear:
    """The linear model of z and a constant.

    >>> affine(np.eye(2)).features.tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    return Linear(features=np.concatenate([points, np.ones((len(points), 1))], axis=1))


def random_features(points: Array, width: int, rng: np.random.Generator) -> Linear:
    """The linear model of `width` fixed random units tanh(w z + b), scaled by 1/sqrt(width)."""
    n = points.shape[1]
    inner, bias = rng.standard_normal((n, width)), rng.standard_normal(width)
    return Linear(features=np.tanh(points @ inner / np.sqrt(n) + bias) / np.sqrt(width))


def descend(
    model: Model,
    oracle: GradientOracle,
    steps: Sequence[int],
    rng: np.random.Generator,
    rate: float = 0.1,
    momentum: float = 0.0,
) -> Iterator[Array]:
    """Yield the parameters after each of some increasing numbers of steps: (runs, P).

    Where gradients do not depend on theta, the answers between two of these are averaged at once,
    which is the same in law without momentum. Raises UsageError for steps that do not increase,
    Spent at the end of the budget.
    """
    require(
        all(a < b for a, b in zip([0, *steps], steps, strict=False)),
        f"steps {list(steps)} given: they must be above 0 and increase",
    )
    theta = model.start(oracle.runs, rng)
    speed, done = np.zeros_like(theta), 0
    for until in steps:
        while done < until:
            times = until - done if model.constant and not momentum else 1
            answer = oracle.ask(*model.gradients(theta), times=times)
            speed = momentum * speed + answer
            theta = theta - rate * times * speed
            done += times
        yield theta
