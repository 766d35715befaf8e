"""Two ways down: L-BFGS on a fixed sample, and Adam on fresh batches. [LN89, KB15]"""

import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.rules import Adam, State

Array = NDArray[np.float64]
Slope = Callable[[Array], tuple[float, Array]]  # the loss at a point and its gradient
Watch = Callable[[int, Array, float], bool]  # the step, the point, its loss: True to stop
_EPS = 1e-12  # of Adam: gradients are exact means, and small near the end
_MEMORY = 20  # pairs that L-BFGS keeps: more than usual, an evaluation costs far more than a pair


class Ending(Enum):
    """What a descent ended with; `advice` tells the user what to do about it."""

    CONVERGED = "converged"
    STEPS_SPENT = "steps spent"
    STOPPED = "seconds spent"
    DIVERGED = "diverged"

    @property
    def advice(self) -> str:
        """One sentence of advice."""
        return {
            Ending.CONVERGED: "the gradient or the progress is at the limit of float64",
            Ending.STEPS_SPENT: "more steps would lower the loss further, if little",
            Ending.STOPPED: "the time is spent: allow more seconds, or read it as an upper bound",
            Ending.DIVERGED: "the loss left the range of float64: lower the rate",
        }[self]


def lbfgs(slope: Slope, start: Array, steps: int, watch: Watch) -> tuple[Array, Ending]:
    """Minimise a smooth function by scipy's L-BFGS-B; the last point and why it stopped.

    >>> lbfgs(lambda x: (float(x @ x), 2 * x), np.ones(3), 50, lambda *a: False)[1].value
    'converged'
    """
    from scipy.optimize import OptimizeResult, minimize

    taken, stopped = 0, False

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal taken, stopped
        taken += 1
        stopped = watch(taken, np.array(intermediate_result.x), float(intermediate_result.fun))
        if stopped:
            raise StopIteration

    options: Any = {
        "maxiter": steps,
        "maxfun": 20 * steps + 20,
        "maxcor": _MEMORY,
        "ftol": 1e-13,
        "gtol": 1e-11,
    }
    with np.errstate(over="ignore", invalid="ignore"):  # a first step too long is taken back
        found = minimize(slope, start, jac=True, method="L-BFGS-B", callback=after, options=options)
    if not np.isfinite(found.fun):
        return found.x, Ending.DIVERGED
    if stopped:
        return found.x, Ending.STOPPED
    return found.x, Ending.STEPS_SPENT if taken >= steps else Ending.CONVERGED


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
            return x, Ending.DIVERGED
        if watch(t, x, loss):
            return x, Ending.STOPPED
        now = rate * 0.5 * (1 + math.cos(math.pi * t / (steps + 1)))
        state, step = Adam(rate=now, eps=_EPS)(state, gradient)
        x = x + step
    return x, Ending.STEPS_SPENT
