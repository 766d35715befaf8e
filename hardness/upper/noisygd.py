"""Gradient descent on answers about the population's gradients, for models of the label's sign.

Several runs go side by side. theta <- theta - rate v, v <- momentum v + answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.gradients import GradientOracle
from instances.family import require

Array = NDArray[np.float64]


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
