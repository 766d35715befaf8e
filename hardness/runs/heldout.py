"""The held-out relative error of a hypothesis on examples of a user, with a bootstrap interval.

E||Y - F^||^2 / E||Y||^2, estimated by the ratio of two means. Nothing bounds the labels, so the
interval is asymptotic: a studentised bootstrap of the ratio. If few examples have much of the loss
or of the labels, resampling them says little about examples not yet seen. Then there is no
interval.
"""

import math
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from hardness.learners.learner import Failed, Outcome, Predict
from hardness.runs.record import Record
from hardness.runs.risk import CONFIDENCE, Repeated, valid_predictions
from instances.family import Examples
from instances.streams import generator

_BATCH_NUMBERS = 1 << 21
_ROUNDING = 1e-20  # added to the error for its interval: what is less is rounding of exact fits
_RESAMPLES, _GROUPS = 1000, 4096  # sums of groups are resampled where examples are more

Array = NDArray[np.float64]


class HeldOutError(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relative error: 1 is that of predicting zero, and the noise of the labels counts in it.

    low, high: the bootstrap interval, None if there is none, for the `reason`.
    """

    value: Annotated[float, Meta(ge=0)]
    low: Annotated[float, Meta(ge=0)] | None
    high: Annotated[float, Meta(ge=0)] | None
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    examples: Annotated[int, Meta(ge=2, le=2**63 - 1)]
    reason: str = ""


def measure_held_out(held_out: Examples, predict: Predict, seed: int = 0) -> HeldOutError | None:
    """Measure a prediction function on held-out examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. One example in eight is asked for again, in up to
    64 batches; raises Failed(RANDOMISED) where a prediction is then another one.

    >>> from instances import parse
    >>> drawn = parse("nice:m=1,k=2,d=4,noise=1").instance(0).examples(0, 100)
    >>> measure_held_out(drawn, lambda x: 0 * x).value
    1.0
    """
    repeated, family = Repeated(predict), held_out.family
    batch, losses = max(16, _BATCH_NUMBERS // (family.k * family.d)), []
    for start in range(0, len(held_out), batch):
        part = held_out.cut(start, min(start + batch, len(held_out)))
        # The function may write into the array that it gets.
        predicted = valid_predictions(repeated, np.array(part.x))
        if predicted is None:
            return None
        if family.rows:  # of other tokens nothing is known
            predicted = predicted * (np.arange(family.k) < family.rows)[:, None]
        with np.errstate(over="ignore"):
            losses.append(((part.y - predicted) ** 2).sum(axis=(1, 2)))
    loss, norm = np.concatenate(losses), (held_out.y**2).sum(axis=(1, 2))
    if not math.isfinite(float(loss.sum())):
        raise Failed(Outcome.INVALID, {"reason": "squares of predictions leave float64"})
    if not repeated.again(held_out.y, seed):
        why = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.INVALID, {"reason": why})
    value, more = float(loss.sum() / norm.sum()), loss + _ROUNDING * norm
    reason = unsuited(more, norm)
    low, high = (None, None) if reason else ratio_interval(more, norm, seed)
    return HeldOutError(
        value=value,
        low=None if low is None else min(value, max(0.0, low - _ROUNDING)),
        high=high,
        confidence=CONFIDENCE,
        examples=len(loss),
        reason=reason,
    )


def unsuited(loss: Array, norm: Array) -> str:
    """Say why losses and squared labels give no interval; empty if they give one.

    >>> unsuited(np.ones(40), np.ones(40))
    ''
    >>> unsuited(np.ones(10), np.ones(10))
    'one of 10 held-out examples has 10.0 % of the loss: an interval needs at most 5.0 % for each'
    """
    most = 1 / (
        2 * math.sqrt(max(len(loss), 100))
    )  # the order of the largest if the variance is infinite
    for values, what in ((loss, "the loss"), (norm, "the squared labels")):
        share = float(values.max() / (values.sum() or 1.0))
        if share > most:
            return (
                f"one of {len(values)} held-out examples has {100 * share:.1f} % of {what}: an "
                f"interval needs at most {100 * most:.1f} % for each"
            )
    return ""


def ratio_interval(loss: Array, norm: Array, seed: int = 0) -> tuple[float, float]:
    """Bound E loss / E norm from n independent pairs, both at least 0, by a bootstrap.

    Each resampled ratio is divided by its own standard error, so that the interval is skew where
    the estimate is. [ET93]

    >>> low, high = ratio_interval(np.arange(1.0, 90), 2 * np.arange(1.0, 90))
    >>> low, high
    (0.5, 0.5)
    """
    n = min(len(loss), _GROUPS)
    starts = np.arange(n) * len(loss) // n
    loss, norm = np.add.reduceat(loss, starts), np.add.reduceat(norm, starts)
    ratio, error = _ratio(loss, norm)
    rows = generator(seed, "bootstrap").integers(0, n, (_RESAMPLES, n))
    again, spread = _ratio(loss[rows], norm[rows])
    scaled = np.divide(again - ratio, spread, out=np.zeros(_RESAMPLES), where=spread > 0)
    below, above = np.quantile(scaled, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    low, high = float(ratio - above * error), float(ratio - below * error)
    return max(0.0, min(low, float(ratio))), max(high, float(ratio))


def _ratio(loss: Array, norm: Array) -> tuple[Array, Array]:
    """The ratios of two means (..., n), and their standard errors to first order."""
    total = norm.sum(axis=-1)
    ratio = loss.sum(axis=-1) / total
    return ratio, np.sqrt(((loss - ratio[..., None] * norm) ** 2).sum(axis=-1)) / total
