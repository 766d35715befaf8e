"""The risk of a hypothesis on fresh examples, with a confidence interval that holds at any size.

E||F - F^||^2 over that of the best predictor that knows the family alone, F = E[Y|X], so label
noise does not count against a learner. Predictions are first projected on a convex set that F(x)
lies in, which never raises the risk and bounds the loss; the interval is the empirical Bernstein
bound [MP09]. Where the family does not fix the risk of who knows it alone, both are estimated, each
with half of the allowed failure.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.upper.learner import Predict
from instances.coded import Coded, as_coded
from instances.dense import Dense
from instances.errors import ToolkitError
from instances.family import Examples, Instance

_EVALUATE, _FEW, _WORK = 16384, 2048, 1 << 23
_BATCH_NUMBERS = 1 << 21
_PILOT, _MOST_NUMBERS = 1024, 1 << 26  # of the dense evaluation
_SOLVED_PART = 0.04  # of the scale: what the range of a code may add to a risk of 0
_RANGE_PART, _TAIL_PART = 0.03, 0.004  # of the scale: what the range, the cut may add to the risk

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


def measure(
    instance: Instance, predict: Predict, examples: int | None = None, confidence: float = 0.95
) -> Risk | None:
    """Measure a prediction function on fresh examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. The examples come from a stream of their own, so
    they differ from all that a learner saw.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> measure(instance, instance.layer()).value < 1e-20
    True
    >>> instance = parse("nice:m=2,k=2,d=8").instance(0)
    >>> measure(instance, instance.family.known).value
    1.0
    """
    family = instance.family
    if isinstance(family, Coded):
        return _of_codes(instance, family, predict, examples, confidence)
    if isinstance(family, Dense):
        return _of_numbers(instance, family, predict, examples, confidence)
    raise ToolkitError(f"{family.name} is neither a Coded nor a Dense family: no risk is defined")


def _of_codes(
    instance: Instance,
    family: Coded,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    # Fewer where tokens are long; enough to tell a solved instance all the same. Half are open.
    range_term = 14 * family.risk_bound * math.log(4 / (1 - confidence)) / 3
    few = max(_FEW, math.ceil(range_term / _SOLVED_PART))
    examples = examples or max(few, min(_EVALUATE, _WORK // family.d))
    losses, raw = [], 0.0
    for drawn, target, given in _predicted(instance, predict, examples):
        if given is None:
            return None
        rows = family.open(as_coded(drawn).words)
        clipped = family.clip(drawn.x[rows], given[rows].astype(np.float64))
        losses.append(((target[rows] - clipped) ** 2).sum(axis=(1, 2)))
        with np.errstate(over="ignore"):
            raw += float(((target - given) ** 2).sum())
    loss = np.concatenate(losses) / family.trivial_risk
    low, high = bernstein(loss, family.risk_bound, confidence)
    unclipped = raw / len(loss) / family.trivial_risk
    return Risk(
        value=float(loss.mean()),
        low=low,
        high=min(family.risk_bound, high),
        confidence=confidence,
        examples=len(loss),
        unclipped=unclipped if math.isfinite(unclipped) else None,
    )


def _of_numbers(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    reach = family.reach(instance.hidden.secret)
    pilot = instance.examples(0, _PILOT, axis="evaluate-pilot")
    scale = float((family.mean(instance.hidden.secret, pilot.x) ** 2).sum()) / _PILOT
    longest, tail = _cut(family, reach, scale)
    bound = 4 * family.k * reach**2 * longest  # of the loss on one example
    log_term = math.log(8 / (1 - confidence))
    wanted = math.ceil(7 * bound * log_term / (3 * _RANGE_PART * scale)) if scale else _FEW
    numbers = family.k * family.d
    examples = examples or min(max(_EVALUATE, wanted), max(_FEW, _MOST_NUMBERS // numbers))
    losses, norms, kept, raw = [], [], [], 0.0
    for drawn, target, given in _predicted(instance, predict, examples):
        if given is None:
            return None
        lengths = (drawn.x.astype(np.float64) ** 2).sum(axis=2).max(axis=1)
        clipped = _shorten(given.astype(np.float64), reach * np.sqrt(lengths))
        losses.append(((target - clipped) ** 2).sum(axis=(1, 2)))
        norms.append((target**2).sum(axis=(1, 2)))
        kept.append(lengths <= longest)
        with np.errstate(over="ignore"):
            raw += float(((target - given) ** 2).sum())
    loss, norm, inside = (np.concatenate(parts) for parts in (losses, norms, kept))
    each = (1 + confidence) / 2
    low, high = bernstein(loss * inside, bound, each)
    small, large = bernstein(norm * inside, bound / 4, each)
    total = float(norm.sum())
    if not total:
        raise ToolkitError(f"{family.spec}: the labels are zero, so no relative risk is defined")
    return Risk(
        value=float(loss.sum()) / total,
        low=low / (large + tail / 4),
        high=(high + tail) / small if small > 0 else math.inf,
        confidence=confidence,
        examples=examples,
        unclipped=raw / total if math.isfinite(raw / total) else None,
    )


def _predicted(
    instance: Instance, predict: Predict, examples: int
) -> Iterator[tuple[Examples, Array, NDArray[Any] | None]]:
    """Draw examples, F and predictions batch by batch; None for predictions that are invalid."""
    family, secret = instance.family, instance.hidden.secret
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, examples, batch):
        drawn = instance.examples(start, min(batch, examples - start), axis="evaluate")
        with np.errstate(all="ignore"):  # what overflows is not finite, and is refused here
            given = np.asarray(predict(drawn.x))
        valid = given.shape == drawn.x.shape and given.dtype.kind in "fiu"
        valid = valid and bool(np.isfinite(given).all())
        exact = isinstance(family, Dense) and not family.noise  # the labels are F itself
        target = drawn.y if exact else family.mean(secret, drawn.x)
        yield drawn, target, given if valid else None


def _cut(family: Dense, reach: float, scale: float) -> tuple[float, float]:
    """Choose the longest squared token that the interval is computed with, and the rest's loss.

    Boolean tokens have the length d. Of k normal ones one is longer than T with a loss of at most
    4 k reach^2 E max_j |x_j|^2 1[|x_j|^2 > T] <= 4 k^2 reach^2 d Pr[chi2(d + 2) > T].
    """
    if family.tokens == "boolean":
        return float(family.d), 0.0
    from scipy.stats import chi2

    whole = 4 * family.k**2 * reach**2 * family.d
    part = min(0.5, _TAIL_PART * scale / whole) if whole else 0.5
    longest = float(chi2.isf(part, family.d + 2))
    return longest, whole * float(chi2.sf(longest, family.d + 2))


def _shorten(rows: Array, longest: Array) -> Array:
    """Project rows (n, k, d) on balls of radius (n,)."""
    with np.errstate(over="ignore"):
        length = np.sqrt((rows**2).sum(axis=2))
    limit = np.broadcast_to(longest[:, None], length.shape)
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
