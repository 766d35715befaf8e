"""Restricted elimination when examples are scarce: the best number of coordinates to keep. [EKM17]

`hardness.upper.restricted` has trials on a large pool. Here the pool is what there is: of N
equations F are flipped, and k of them are clean with probability C(N - F, k)/C(N, k).
"""

import math
from dataclasses import dataclass

import numpy as np

from hardness.upper.restricted import work
from instances.modular import Modular

SPARE = 10  # equations beyond k: fewer than k of them are independent once in 2^10 pools


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The least work on a pool: coordinates kept, trials expected, operations on words in all."""

    kept: int
    trials: float
    operations: float


def effort(family: Modular, equations: int, success: float) -> Effort | None:
    """Minimise the expected work over k; None where no k can be kept on so few equations.

    The flips of the pool are as many as they are at most with probability `success`.

    >>> from instances import parse
    >>> found = effort(parse("lpn:n=99,h=4,noise=0.1"), 4000, 2 / 3)
    >>> found.kept, round(found.trials, -2)
    (25, 4400.0)
    """
    from scipy.stats import binom

    n, m, rate = family.n, family.h or family.n, float(family.noise)
    flipped = int(binom.ppf(success, equations, rate))
    clean = equations - flipped
    top = min(n, clean, equations - SPARE)
    if top < m:
        return None
    k = np.arange(m, top + 1.0)
    inside = _log_choose(k, m) - _log_choose(float(n), m)
    pure = _log_choose(float(clean), k) - _log_choose(float(equations), k)
    costs = np.array([work(family.d, int(each)) for each in k])
    logs = np.log(costs) - inside - pure
    best = int(np.argmin(logs))
    return Effort(
        kept=int(k[best]),
        trials=_exp(-float(inside[best] + pure[best])),
        operations=_exp(float(logs[best])),
    )


def _log_choose(n: np.ndarray | float, k: np.ndarray | float) -> np.ndarray:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf
