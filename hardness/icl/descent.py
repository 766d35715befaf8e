"""Ways down: rules step by step, and two whole descents, L-BFGS on a fixed sample and Adam.

A rule maps (state, gradient) to (state, step): the caller adds the step to the parameters. Nothing
is kept elsewhere, so a run can be stopped, copied and gone on with. Rules are heavy-ball SGD and
Adam [KB15]; L-BFGS is scipy's [LN89].
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

Array = NDArray[np.float64]
Slope = Callable[[Array], tuple[float, Array]]  # the loss at a point and its gradient
Ending = Literal["converged", "steps spent", "diverged"]
Watch = Callable[[int, Array, float], None]  # the step, the point, its loss
_EPS = 1e-12  # of Adam: gradients are exact means, and small near the end
_MEMORY = 20  # pairs that L-BFGS keeps: more than usual, an evaluation costs far more than a pair


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a rule remembers: steps made, running mean of gradients and of their squares."""

    count: int = 0
    first: Array | float = 0.0
    second: Array | float = 0.0


Rule = Callable[[State, Array], tuple[State, Array]]


class _Ranged:
    """Rates are above 0, decays from 0 to below 1."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in ("rate", "eps"):
                if not 0 < value < math.inf:
                    raise UsageError(f"{name}={value} given: a number above 0 is needed")
            elif not 0 <= value < 1:
                raise UsageError(f"{name}={value} given: at least 0 and below 1 is needed")


@dataclass(frozen=True, kw_only=True)
class Momentum(_Ranged):
    """Heavy-ball SGD: v <- decay v + g, step -rate v; decay = 0 is plain SGD."""

    rate: float
    decay: float = 0.9

    def __call__(self, state: State, gradient: Array) -> tuple[State, Array]:
        """Make one step."""
        moving = self.decay * state.first + gradient
        return State(count=state.count + 1, first=moving), -self.rate * moving


@dataclass(frozen=True, kw_only=True)
class Adam(_Ranged):
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


def lbfgs(slope: Slope, start: Array, steps: int, watch: Watch) -> tuple[Array, Ending]:
    """Minimise a smooth function by scipy's L-BFGS-B; the last point and why it stopped."""
    from scipy.optimize import OptimizeResult, minimize

    taken = 0

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal taken
        taken += 1
        watch(taken, np.array(intermediate_result.x), float(intermediate_result.fun))

    options: Any = {"maxiter": steps, "maxfun": 20 * steps + 20, "maxcor": _MEMORY}
    options |= {"ftol": 1e-13, "gtol": 1e-11}
    with np.errstate(over="ignore", invalid="ignore"):  # a first step too long is taken back
        found = minimize(slope, start, jac=True, method="L-BFGS-B", callback=after, options=options)
    if not np.isfinite(found.fun):
        return found.x, "diverged"
    return found.x, "steps spent" if taken >= steps else "converged"


def adam(
    slope: Callable[[int, Array], tuple[float, Array]],
    start: Array,
    steps: int,
    rate: float,
    watch: Watch,
) -> tuple[Array, Ending]:
    """Follow gradients of fresh batches; slope gets the step's number, from 1. [KB15]

    The rate falls to 0 along a half cosine, so that the end is not noise of the batches.
    """
    x, state = start.copy(), State()
    for t in range(1, steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = slope(t, x)
        if not np.isfinite(loss):
            return x, "diverged"
        watch(t, x, loss)
        now = rate * 0.5 * (1 + math.cos(math.pi * t / (steps + 1)))
        state, step = Adam(rate=now, eps=_EPS)(state, gradient)
        x = x + step
    return x, "steps spent"
