"""The held-out relative error of a hypothesis on a user's examples, with a bootstrap interval.

The error E||Y - F^||^2 / E||Y||^2 is estimated by the ratio of two means. Labels are not bounded,
so the interval is asymptotic, by a studentised bootstrap of the ratio. If a few examples have much
of the loss or of the squared labels, resampling them tells little about unseen examples. Then there
is no interval.
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
_ROUNDING = 1e-20  # added to the error for its interval; smaller errors are rounding of exact fits
_RESAMPLES, _GROUPS = 1000, 4096  # if there are more examples, sums of groups are resampled

Array = NDArray[np.float64]


class HeldOutError(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A held-out relative error, label noise included; predicting zero has error 1.

    low, high: the bootstrap interval, None if there is none. reason: why there is none.
    """

    value: Annotated[float, Meta(ge=0)]
    low: Annotated[float, Meta(ge=0)] | None
    high: Annotated[float, Meta(ge=0)] | None
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    examples: Annotated[int, Meta(ge=2, le=2**63 - 1)]
    reason: str = ""


def measure_held_out(held_out: Examples, predict: Predict, seed: int = 0) -> HeldOutError | None:
    """Measure a prediction function on held-out examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. One example in eight is predicted a second time,
    in up to 64 batches. Raises Failed if a prediction then differs.

    >>> from instances import parse
    >>> drawn = parse("nice:m=1,k=2,d=4,noise=1").instance(0).examples(0, 100)
    >>> measure_held_out(drawn, lambda x: 0 * x).value
    1.0
    """
    repeated, family = Repeated(predict), held_out.family
    batch, losses = max(16, _BATCH_NUMBERS // (family.k * family.d)), []
    for start in range(0, len(held_out), batch):
        part = held_out.cut(start, min(start + batch, len(held_out)))
        # The function may change the array that it gets.
        predicted = valid_predictions(repeated, np.array(part.x))
        if predicted is None:
            return None
        if family.rows:  # labels are known for the first tokens only
            predicted = predicted * (np.arange(family.k) < family.rows)[:, None]
        with np.errstate(over="ignore"):
            losses.append(((part.y - predicted) ** 2).sum(axis=(1, 2)))
    loss, norm = np.concatenate(losses), (held_out.y**2).sum(axis=(1, 2))
    if not math.isfinite(float(loss.sum())):
        raise Failed(Outcome.INVALID, {"reason": "squares of predictions leave float64"})
    if not repeated.again(held_out.y, seed):
        why = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.INVALID, {"reason": why})
    value, rounded = float(loss.sum() / norm.sum()), loss + _ROUNDING * norm
    reason = no_interval_reason(rounded, norm)
    low, high = (None, None) if reason else ratio_interval(rounded, norm, seed)
    return HeldOutError(
        value=value,
        low=None if low is None else min(value, max(0.0, low - _ROUNDING)),
        high=high,
        confidence=CONFIDENCE,
        examples=len(loss),
        reason=reason,
    )


def no_interval_reason(loss: Array, norm: Array) -> str:
    """Return why losses and squared labels give no interval; empty if they give one.

    >>> no_interval_reason(np.ones(40), np.ones(40))
    ''
    >>> no_interval_reason(np.ones(10), np.ones(10))
    'one of 10 held-out examples has 10.0 % of the loss: an interval needs at most 5.0 % for each'
    """
    # With infinite variance, the largest value has a fraction of about this order.
    most = 1 / (2 * math.sqrt(max(len(loss), 100)))
    for values, what in ((loss, "the loss"), (norm, "the squared labels")):
        share = float(values.max() / (values.sum() or 1.0))
        if share > most:
            return (
                f"one of {len(values)} held-out examples has {100 * share:.1f} % of {what}: an "
                f"interval needs at most {100 * most:.1f} % for each"
            )
    return ""


def ratio_interval(loss: Array, norm: Array, seed: int = 0) -> tuple[float, float]:
    """Return a bootstrap interval of E loss / E norm from n independent pairs of numbers >= 0.

    Each resampled ratio is divided by its own standard error, so the interval is skew if the
    estimate is. [ET93]

    >>> low, high = ratio_interval(np.arange(1.0, 90), 2 * np.arange(1.0, 90))
    >>> low, high
    (0.5, 0.5)
    """
    n = min(len(loss), _GROUPS)
    starts = np.arange(n) * len(loss) // n
    loss, norm = np.add.reduceat(loss, starts), np.add.reduceat(norm, starts)
    ratio, error = _ratio(loss, norm)
    rows = generator(seed, "bootstrap").integers(0, n, (_RESAMPLES, n))
    resampled, errors = _ratio(loss[rows], norm[rows])
    scaled = np.divide(resampled - ratio, errors, out=np.zeros(_RESAMPLES), where=errors > 0)
    below, above = np.quantile(scaled, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    low, high = float(ratio - above * error), float(ratio - below * error)
    return max(0.0, min(low, float(ratio))), max(high, float(ratio))


def _ratio(loss: Array, norm: Array) -> tuple[Array, Array]:
    """Return the ratios of two means (..., n), and their standard errors to first order."""
    total = norm.sum(axis=-1)
    ratio = loss.sum(axis=-1) / total
    return ratio, np.sqrt(((loss - ratio[..., None] * norm) ** 2).sum(axis=-1)) / total
