"""Rules of descent, step by step: heavy-ball SGD and Adam [KB15].

A rule maps (state, gradient) to (state, step): the caller adds the step to the parameters. Nothing
is kept elsewhere, so a run can be stopped, copied and gone on with.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from statement import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a rule remembers: steps made, running mean of gradients and of their squares."""

    count: int = 0
    first: Array | float = 0.0
    second: Array | float = 0.0


Rule = Callable[[State, Array], tuple[State, Array]]


@dataclass(frozen=True, kw_only=True)
class Momentum:
    """Heavy-ball SGD: v <- decay v + g, step -rate v; decay = 0 is plain SGD."""

    rate: float
    decay: float = 0.9

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

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]:
        """Make one step."""
        count = state.count + 1
        first = self.first * state.first + (1 - self.first) * gradient
        second = self.second * state.second + (1 - self.second) * gradient**2
        mean = first / (1 - self.first**count)
        size = np.sqrt(second / (1 - self.second**count))
        return State(count=count, first=first, second=second), -self.rate * mean / (size + self.eps)


def clipped(gradient: Array, limit: float) -> Array:
    """Shrink a gradient to a Euclidean norm of at most `limit`; math.inf leaves it alone."""
    norm = float(np.sqrt((gradient**2).sum()))
    return gradient * (limit / norm) if norm > limit else gradient
