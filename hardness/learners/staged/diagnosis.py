"""Whether the stages stand on firm ground, from data alone: signals with thresholds and advice.

The thresholds lie between what random layers give (1 to 4 heads, 2 to 4 tokens, d from 8 to 32) and
what layers give on which the stages fail: parities, W_i = +-W, too few examples. A signal is
silent where its stage did not run; what a stage could not do is a signal itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from operator import ge, gt, le
from typing import Any

import numpy as np

from hardness.learners.staged.runner import StageFailed, StageReport

# Gaps and regressions fall short with few examples too: where the hold-out error is below this
# one, the stages after them have proved them good enough.
_SOLVED = 1e-3
_NOISE_LEFT = 0.02
_RISK = 0.1
_ROUNDING = 1e-6  # a share that rounding explains: it is about 1e-24, or 0.5 and more


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One number seen by a stage, its threshold, whether it is flagged, one sentence of advice.

    moot: it would be flagged, but does not count because the held-out error is small all the same.
    """

    name: str
    value: float
    threshold: float
    flagged: bool
    advice: str
    moot: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-able values, an infinite number as None."""
        return {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in asdict(self).items()
        }


def diagnose(
    reports: Sequence[StageReport],
    *,
    k: int,
    error: float = np.inf,
    upper: float = np.inf,
    failed: StageFailed | None = None,
    noise: float = 0.0,
    heads: int = 0,
) -> tuple[Signal, ...]:
    """Judge the reports of a run; the last report of a stage counts.

    k: number of tokens; error: relative, of the best layer on the hold-out; upper: what it is at
    most, with confidence; failed: the stage that ended the run early; noise: standard deviation of
    the label noise where it is known (its share of the hold-out error is then no fault); heads: how
    many the stages were told there are, 0 for none, and then a gap has to tell it.

    >>> [signal.name for signal in diagnose([], k=2) if signal.flagged]
    ['hold-out error']
    """
    seen = {key: value for report in reports for key, value in _named(report)}
    square = seen.get("label_square", 0.0)
    share = noise**2 / square if square else 0.0
    left, most = _less(error, share), _less(upper, share)
    # Noise blurs gaps and regressions without harm where next to nothing else is left over.
    solved = left <= max(_SOLVED, min(share / 10, _NOISE_LEFT))
    most_out = 0.15 * (k - 1)
    found = [
        _signal("mean of the tokens", seen.get("tokens mean"), le, 0.8, _MEAN, solved),
        _signal("repeated examples", seen.get("repeats"), le, 0.9, _REPEATS, solved),
        _signal("rank of the labels", seen.get("label_rank"), gt, k - 1, _RANK),
        _signal("rows beyond one pattern", seen.get("beyond"), ge, _ROUNDING, _PARALLEL, solved),
        _signal("halves of the moment", seen.get("moment halves"), le, 0.5, _MOMENT),
        _signal("share beyond linear", seen.get("linear"), le, 0.8, _SUM),
        _signal("halves of the refined sum", seen.get("halves"), le, 0.2, _REFINED),
        _signal("patterns out of [0, 1]", seen.get("outside"), le, most_out, _OUTSIDE, solved),
        _signal("R^2 of the logits", seen.get("r2"), ge, 0.8, _REGRESSION, solved),
        _signal("gap of the span", seen.get("gap"), ge, 3.0, _GAP, solved or heads > 0),
        _failure(reports, failed),
        _signal("hold-out error", most, le, _RISK, _ERROR if left > _RISK else _UNSURE),
    ]
    if "linear" in seen:  # with a large linear part an error says little of the rest
        linear = _less(seen["linear"], share)
        ratio = most / linear if linear else np.inf
        found.append(_signal("error over linear", ratio, le, _RISK, _LINEAR, solved))
    return tuple(signal for signal in found if signal)


_MEAN = (
    "tokens are long by their mean or their positions, which no map of the tokens takes away: "
    "logits have a large part linear in the key, and attention saturates"
)
_REPEATS = "the same few examples come again, and give few equations for Theta: the words are few"
_NOISE = "label noise shows here too, and there it is no fault"
_RANK = (
    "any label is a mix of this few directions, so that rows cannot show whether heads agree: "
    "nothing that the stages say of Theta holds, and no more examples will help"
)
_PARALLEL = (
    "one pattern fits every row, as where all heads agree, but it is not that of one head: the W_i "
    "are multiples of one matrix, and no row tells the heads apart"
)
_MOMENT = "the sum of the W_i is zero or not yet seen: give more examples, else the W_i cancel"
_SUM = "the sum of the W_i explains next to nothing: the W_i cancel, or noise covers the labels"
_REFINED = "the refined sum of the W_i is not determined: give more examples, else the W_i cancel"
_OUTSIDE = "patterns are impossible as attention weights: the sum of the W_i is wrong"
_REGRESSION = "logits of the rows where heads agree are not linear in Theta: more examples; " + (
    "else the heads do not agree there (equal or low-rank W_i, large Theta_i), or " + _NOISE
)
_GAP = "the number of heads does not show: give more examples, or the number of heads"
_ERROR = "the layer found is not the one sought, whatever the stages say; " + _NOISE
_UNSURE = (
    "the error itself is below the limit, but too few examples are held out to be sure: give more"
)
_LINEAR = "little is explained beyond what a linear map of the tokens explains; " + _NOISE
_FAILED = "a stage could not go on: its message in the details says why"
_FEW = (
    "too few examples for the stages: give a sixth more than the number of the limit, which they "
    "hold out"
)


def _signal(
    name: str,
    value: float | None,
    holds: Callable[[float, float], bool],
    threshold: float,
    advice: str,
    moot: bool = False,
) -> Signal | None:
    """A signal, flagged where its value does not hold against the threshold; none without one."""
    if value is None:
        return None
    beyond = not holds(value, threshold)
    return Signal(
        name=name,
        value=value,
        threshold=threshold,
        flagged=beyond and not moot,
        advice=advice,
        moot=beyond and moot,
    )


def _failure(reports: Sequence[StageReport], failed: StageFailed | None) -> Signal | None:
    """The stage that failed: for want of examples, or not."""
    if failed is None:
        return None
    name, value, threshold, advice = "stages", 1.0, 0.0, _FAILED
    if failed.needs:
        examples = max((report.examples for report in reports), default=0)
        name, value, threshold, advice = "examples", float(examples), float(failed.needs), _FEW
    return Signal(name=name, value=value, threshold=threshold, flagged=True, advice=advice)


def _less(error: float, share: float) -> float:
    """A relative error without the share of noise in the labels; infinite where all is noise."""
    return max(error - share, 0.0) / (1 - share) if share < 1 else float("inf")


def _named(report: StageReport) -> list[tuple[str, float]]:
    """A report's measures; halves of the moment and the mean of tokens with the stage's name."""
    own = {("moment", "halves"), ("tokens", "mean")}
    return [
        (f"{report.name} {key}" if (report.name, key) in own else key, value)
        for key, value in report.measures.items()
    ]
