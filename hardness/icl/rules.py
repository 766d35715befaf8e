"""Descent step by step: heavy-ball SGD, Adam [KB15] and sign descent, clipping by norm.

A rule maps (state, gradient) to (state, step): the caller adds the step to the parameters. Nothing
is kept elsewhere, so a run can be stopped, copied and gone on with.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a rule remembers: steps made, running mean of gradients and of their squares."""

    count: int = 0
    first: Array | float = 0.0
    second: Array | float = 0.0


class Rule(Protocol):
    """A rule of descent: (state, gradient) -> (state, step)."""

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Momentum:
    """Heavy-ball SGD: v <- decay v + g, step -rate v; decay = 0 is plain SGD.

    >>> descend = Momentum(rate=0.1, decay=0.5)
    >>> state, step = descend(State(), np.array([1.0]))
    >>> descend(state, np.array([1.0]))[1].round(3).tolist()
    [-0.15]
    """

    rate: float
    decay: float = 0.9

    def __post_init__(self) -> None:
        _positive("rate", self.rate)
        _share("decay", self.decay)

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]:
        """Make one step."""
        moving = self.decay * state.first + gradient
        return State(count=state.count + 1, first=moving), -self.rate * moving


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Adam: step -rate m / (sqrt(v) + eps), m and v the means of g and g^2, unbiased. [KB15]

    The first step is -rate sign(g), up to eps.

    >>> Adam(rate=0.1)(State(), np.array([5.0, -0.01]))[1].round(3).tolist()
    [-0.1, 0.1]
    """

    rate: float
    first: float = 0.9
    second: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        _positive("rate", self.rate)
        _positive("eps", self.eps)
        _share("first", self.first)
        _share("second", self.second)

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]:
        """Make one step."""
        count = state.count + 1
        first = self.first * state.first + (1 - self.first) * gradient
        second = self.second * state.second + (1 - self.second) * gradient**2
        mean = first / (1 - self.first**count)
        size = np.sqrt(second / (1 - self.second**count))
        return State(count=count, first=first, second=second), -self.rate * mean / (size + self.eps)


@dataclass(frozen=True, kw_only=True)
class Sign:
    """Sign descent with momentum: v <- decay v + (1 - decay) g, step -rate sign(v). [KCLS23]

    >>> Sign(rate=0.1)(State(), np.array([5.0, 0.0, -0.01]))[1].tolist()
    [-0.1, -0.0, 0.1]
    """

    rate: float
    decay: float = 0.9

    def __post_init__(self) -> None:
        _positive("rate", self.rate)
        _share("decay", self.decay)

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]:
        """Make one step."""
        moving = self.decay * state.first + (1 - self.decay) * gradient
        return State(count=state.count + 1, first=moving), -self.rate * np.sign(moving)


def clipped(gradient: Array, limit: float) -> Array:
    """Shrink a gradient to a Euclidean norm of at most `limit`; math.inf leaves it alone.

    >>> clipped(np.array([3.0, 4.0]), 1.0).round(3).tolist()
    [0.6, 0.8]
    """
    norm = float(np.sqrt((gradient**2).sum()))
    return gradient * (limit / norm) if norm > limit else gradient


def _positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise UsageError(f"{name}={value} given: a number above 0 is needed")


def _share(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise UsageError(f"{name}={value} given: at least 0 and below 1 is needed")
