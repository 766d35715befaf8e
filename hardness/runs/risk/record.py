"""The risk as a record, and what every way to measure it stands on."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.upper.learner import Predict
from instances.capabilities import CODED, REAL_LABELS
from instances.errors import UsageError
from instances.family import Examples, Family, Instance

_BATCH_NUMBERS = 1 << 21

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """A relative risk: 1 is having learned nothing, 0 having learned all."""

    value: float
    low: float
    high: float  # infinite where the scale of the labels is not known apart from 0
    confidence: float
    examples: int  # with an unknown label part; the others carry no loss
    unclipped: float | None  # of predictions as given, on all tokens; None beyond float64


def no_risk(family: Family) -> UsageError:
    """Make the error of a family whose labels are of no known kind."""
    lacking = " ".join(str(one.missing(family)) for one in (CODED, REAL_LABELS))
    return UsageError(f"no relative risk is defined: {lacking}")


def predicted(
    instance: Instance, predict: Predict, examples: int
) -> Iterator[tuple[Examples, Array, NDArray[Any] | None]]:
    """Draw examples, F and predictions batch by batch; None for predictions that are invalid."""
    family, secret = instance.family, instance.hidden.secret
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, examples, batch):
        drawn = instance.examples(start, min(batch, examples - start), axis="evaluate")
        exact = family.real_labels is not None and not family.noise  # the labels are F itself
        target = drawn.y if exact else family.mean(secret, drawn.x)
        with np.errstate(all="ignore"):  # what overflows is not finite, and is refused here
            given = np.asarray(predict(np.array(drawn.x)))  # which may write into what it gets
        valid = given.shape == drawn.x.shape and given.dtype.kind in "fiu"
        valid = valid and bool(np.isfinite(given).all())
        yield drawn, target, given if valid else None


def shorten(rows: Array, longest: Array) -> Array:
    """Project rows (n, k, d) on balls around 0 of radius (n, k), or (n, 1)."""
    with np.errstate(over="ignore"):
        length = np.sqrt((rows**2).sum(axis=2))
    limit = np.broadcast_to(longest, length.shape)
    long = length > limit
    if not long.any():
        return rows
    out = rows.copy()
    # A row beyond float64 is divided by its largest entry first.
    largest = np.abs(rows[long]).max(axis=1, keepdims=True)
    direction = rows[long] / largest
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    out[long] = direction * limit[long][:, None]
    return out


def bernstein(values: Array, bound: float, confidence: float) -> tuple[float, float]:
    """Bound the mean of independent values in [0, bound] from both sides. [MP09]

    >>> low, high = bernstein(np.ones(1000), 1.0, 0.95)
    >>> 0.98 < low < 1 < high < 1.02
    True
    """
    n = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    log_term = math.log(4 / (1 - confidence))
    radius = math.sqrt(2 * variance * log_term / n) + 7 * bound * log_term / (3 * (n - 1))
    return max(0.0, mean - radius), mean + radius


def chernoff(values: Array, bound: float, confidence: float) -> tuple[float, float]:
    """Bound the mean of independent values in [0, bound] from both sides, by relative entropy.

    The means p at which n kl(observed, p) = log(2 / failure), in units of the bound. [Hoe63]

    >>> low, high = chernoff(np.zeros(1000), 1.0, 0.95)
    >>> low, round(high, 6) == round(1 - 0.025 ** (1 / 1000), 6)
    (0.0, True)
    """
    from scipy.optimize import brentq
    from scipy.special import rel_entr

    seen = min(1.0, float(values.mean()) / bound)
    goal = math.log(2 / (1 - confidence)) / len(values)

    def excess(p: float) -> float:
        return float(rel_entr(seen, p) + rel_entr(1 - seen, 1 - p)) - goal

    low = brentq(excess, 1e-300, seen) if seen > 1e-290 and excess(1e-300) > 0 else 0.0
    high = brentq(excess, seen, 1.0 - 1e-16) if excess(1.0 - 1e-16) > 0 else 1.0
    return float(low) * bound, float(high) * bound
