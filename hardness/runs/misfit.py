"""The misfit of a hypothesis on held-out examples of a user, with an asymptotic interval.

E||Y - F^||^2 / E||Y||^2, estimated by the ratio of two means. Nothing bounds the labels, so no
interval holds at every size. This one is the union of two jackknife intervals: of the ratio, which
is right where tokens of some examples are far longer than those of others, and of its logarithm,
which is right where losses are. It is as wide as Student's t says where no example has a twentieth
of the squared residuals. Elsewhere tails may be heavy, the estimate lopsided and its error larger
than it looks: there it is as wide as any law with one mode asks for. [VP80] And where losses and
labels are both largest in the same few examples, the largest not yet seen pull the ratio towards
their own: there is no interval from the means. (docs/own-data.md)
"""

import math
import sys
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from hardness.runs.risk import CONFIDENCE, Repeated, valid_predictions
from hardness.upper.learner import Failed, Outcome, Predict
from instances.family import Examples
from instances.result import Record

_BATCH_NUMBERS = 1 << 21
_HEAVY = 1 / 20  # of the squared residuals: what one example has where tails may be heavy
# Of the tail of min(loss, squared label), which has a mean below 1. Chosen by simulation: the least
# that log-normal noise of sigma 0.7 keeps to in 19 of 20 runs (benchmarks/misfit.py).
_TAIL = 0.83

Array = NDArray[np.float64]


_Finite = Annotated[float, Meta(ge=0, le=sys.float_info.max)]


class Misfit(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relative misfit: 1 is that of predicting zero, and the noise of the labels counts in it.

    high: infinite where there is no interval. largest: share of the squared residuals that one
    example has, by which the interval widens. tail: how heavy losses and labels are in the same
    examples; there is no interval above 0.83.
    """

    value: _Finite
    low: _Finite
    high: Annotated[float, Meta(ge=0)]
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    examples: Annotated[int, Meta(ge=2, le=2**63 - 1)]
    largest: Annotated[float, Meta(ge=0, le=1)]
    tail: _Finite
    kind: Literal["asymptotic"] = "asymptotic"

    _follows: ClassVar[tuple[str, ...]] = ("remark",)

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"a misfit of {self.value} in [{self.low}, {self.high}]")

    @property
    def remark(self) -> str:
        """What large examples do to the interval, in words, if they do something."""
        share = f"one example has {100 * self.largest:.0f} % of the squared residuals"
        if self.tail > _TAIL:
            known = math.isfinite(self.high)
            what = "the interval is the range of the examples" if known else "there is no interval"
            few = "the same few examples have the largest labels and losses"
            return f"{what}: {few} (their tail is {self.tail:.2f}, above {_TAIL})"
        if not math.isfinite(self.high):
            return f"there is no interval: {share}"
        return f"the interval is widened: {share}" if self.largest > _HEAVY else ""

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with the remark."""
        return {**super().to_dict(), "remark": self.remark}

    @classmethod
    def shaped(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Give JSON the shape of the fields: null is no upper end."""
        found = super().shaped(data)
        return found | {"high": math.inf} if data.get("high", 0) is None else found


def measure_misfit(held_out: Examples, predict: Predict, seed: int = 0) -> Misfit | None:
    """Measure a prediction function on held-out examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. One example in eight is asked for again, in up to
    64 batches; raises Failed(RANDOMISED) where a prediction is then another one.

    >>> from instances import parse
    >>> drawn = parse("nice:m=1,k=2,d=4,noise=1").instance(0).examples(0, 100)
    >>> measure_misfit(drawn, lambda x: 0 * x).value
    1.0
    """
    repeated, family = Repeated(predict), held_out.family
    batch, losses = max(16, _BATCH_NUMBERS // (family.k * family.d)), []
    for start in range(0, len(held_out), batch):
        part = held_out.cut(start, min(start + batch, len(held_out)))
        given = valid_predictions(repeated, np.array(part.x))  # which may write into what it gets
        if given is None:
            return None
        if family.rows:  # of other tokens nothing is known
            given = given * (np.arange(family.k) < family.rows)[:, None]
        with np.errstate(over="ignore"):
            losses.append(((part.y - given) ** 2).sum(axis=(1, 2)))
    loss, norm = np.concatenate(losses), (held_out.y**2).sum(axis=(1, 2))
    if not math.isfinite(float(loss.sum())):
        raise Failed(Outcome.INVALID, {"reason": "squares of predictions leave float64"})
    if not repeated.again(held_out.y, seed):
        said = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.RANDOMISED, {"reason": said})
    value = float(loss.sum() / norm.sum())
    low, high = ratio_interval(loss, norm)
    return Misfit(
        value=value,
        low=min(low, value),
        high=max(high, value),
        confidence=CONFIDENCE,
        examples=len(loss),
        largest=largest_share(loss, norm),
        tail=shared_tail(loss, norm),
    )


def ratio_interval(loss: Array, norm: Array) -> tuple[float, float]:
    """Bound E loss / E norm from n independent pairs, both at least 0, for large n.

    >>> low, high = ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    >>> round(low, 9), round(high, 9)
    (0.5, 0.5)
    """
    ratio, n = float(loss.sum() / norm.sum()), len(loss)
    if not ratio:
        return 0.0, 0.0
    if shared_tail(loss, norm) > _TAIL:  # the mean may be that of examples not yet seen
        each = loss / np.maximum(norm, sys.float_info.min)
        return (float(each.min()), float(each.max())) if each.max() <= 1 else (0.0, math.inf)
    errors = _errors(n, largest_share(loss, norm) > _HEAVY) * math.sqrt((n - 1) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = (loss.sum() - loss) / (norm.sum() - norm)
        plain, logarithm = (
            errors * float(np.sqrt(((one - one.mean()) ** 2).sum()))
            for one in (others, np.log(others))
        )
    if not math.isfinite(plain + logarithm):  # one example has all of the losses, or of the labels
        return 0.0, math.inf
    low = min(ratio - plain, ratio * math.exp(-logarithm))
    return max(0.0, low), max(ratio + plain, ratio * math.exp(min(logarithm, 700.0)))


def largest_share(loss: Array, norm: Array) -> float:
    """The largest of the squared residuals (loss - ratio norm)^2, as a share of their sum.

    >>> largest_share(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]))
    0.5
    """
    residuals = np.abs(loss - loss.sum() / norm.sum() * norm)
    most = float(residuals.max())
    return float(1 / ((residuals / most) ** 2).sum()) if most else 0.0


def shared_tail(loss: Array, norm: Array) -> float:
    """How heavy the tail of min(loss, norm) is at least: Hill's estimate from its largest fifth.

    1 / a for a tail t^-a, divided by 1 + 1.645 / sqrt(number of examples in the fifth): below the
    truth with probability about 95 %. Examples where the minimum is 0 do not count. [Hil75]

    >>> round(shared_tail(np.exp2(np.arange(10)), np.exp2(np.arange(10))), 2)
    0.48
    """
    both = np.minimum(loss, norm)
    both = -np.sort(-both[both > 0])
    if len(both) < 2:
        return 0.0
    count = max(1, len(both) // 5)
    hill = float(np.log(both[:count] / both[count]).mean())
    return hill / (1 + 1.645 / math.sqrt(count))


def _errors(n: int, heavy: bool) -> float:
    """How many standard errors the interval reaches: Student's t for n, or more for heavy tails.

    A law with one mode is within sqrt(4 / (9 alpha)) standard deviations of its mean with
    probability 1 - alpha, alpha <= 1/6: 2.98 for 95 %, where a normal law needs 1.96. [VP80]
    """
    from scipy.stats import norm, t

    alpha = 1 - CONFIDENCE
    student = float(t.isf(alpha / 2, n - 1))
    return student * math.sqrt(4 / (9 * alpha)) / float(norm.isf(alpha / 2)) if heavy else student
