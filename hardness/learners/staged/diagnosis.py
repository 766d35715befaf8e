"""Whether the results of the stages can be trusted: signals with thresholds and advice.

Signals use the data alone. Reports of runs print them, and an HTML page counts them. The thresholds
separate random layers (1 to 4 heads, 2 to 4 tokens, d from 8 to 32) from layers on which the stages
fail: parities, W_i = +-W, too few examples. A signal is omitted if its stage did not run.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hardness.learners.fitting import StageFailed, StageReport

# Gaps are also small with few examples. If the hold-out error is below this limit, the later stages
# have shown that the gap was large enough.
_SOLVED = 1e-3
_NOISE_LEFT = 0.02
_RISK = 0.1
_MEAN, _GAP = 0.8, 3.0

_NOISE = "label noise shows here too, and there it is no fault"
_ADVICE = {
    "mean of the tokens": "tokens are long by their mean or their positions, which no map of the "
    "tokens takes away: logits have a large part linear in the key, and attention saturates",
    "rank of the labels": "any label is a mix of this few directions, so that rows cannot show "
    "whether heads agree: nothing that the stages say of Theta holds, and no more examples will "
    "help",
    "gap of the span": "the number of heads does not show: give more examples, or the number of "
    "heads",
    "examples": "too few examples for the stages: give a sixth more than the number of the limit, "
    "which they hold out",
    "stages": "a stage could not go on: its message in the details says why",
    "hold-out error": f"the layer found is not the one sought, whatever the stages say; {_NOISE}",
    "error over linear": "little is explained beyond what a linear map of the tokens explains; "
    + _NOISE,
}
_UNCERTAIN_ADVICE = (
    "the error is below the limit, but too few examples are held out to be sure: give more"
)


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One number of a stage, its threshold, whether it is flagged, and a sentence of advice.

    moot: it exceeds the threshold, but is not flagged because the held-out error is small.
    """

    name: str
    value: float
    threshold: float
    flagged: bool
    advice: str
    moot: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, with None for infinite numbers."""
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
    """Derive the signals from the reports of a run; the last report of each stage counts.

    k: the number of tokens. error: the relative error of the best layer on the hold-out. upper: an
    upper confidence bound of this error. failed: the stage that ended the run early. noise: the
    standard deviation of the label noise if it is known; its share of the hold-out error is then
    ignored. heads: the number of heads if it was fixed; then a gap is not needed.

    >>> [signal.name for signal in diagnose([], k=2) if signal.flagged]
    ['hold-out error']
    """
    seen = {name: value for report in reports for name, value in report.measures.items()}
    square = seen.get("label_square", 0.0)
    share = noise**2 / square if square else 0.0
    left, most = _without_noise(error, share), _without_noise(upper, share)
    # Noise makes a gap smaller, which is harmless if hardly any other error remains.
    solved = left <= max(_SOLVED, min(share / 10, _NOISE_LEFT))
    signals: list[Signal] = []

    def add(name: str, value: float, threshold: float, beyond: bool, moot: bool = False) -> None:
        unsure = name == "hold-out error" and left <= _RISK
        signals.append(
            Signal(
                name=name, value=value, threshold=threshold, flagged=beyond and not moot,
                advice=_UNCERTAIN_ADVICE if unsure else _ADVICE[name], moot=beyond and moot,
            )
        )  # fmt: skip

    if "mean" in seen:
        add("mean of the tokens", seen["mean"], _MEAN, seen["mean"] > _MEAN, solved)
    if "label_rank" in seen:
        add("rank of the labels", seen["label_rank"], k - 1, seen["label_rank"] < k)
    if "gap" in seen:
        add("gap of the span", seen["gap"], _GAP, seen["gap"] < _GAP, solved or heads > 0)
    if failed and failed.needs:
        most_examples = max((report.examples for report in reports), default=0)
        add("examples", float(most_examples), float(failed.needs), beyond=True)
    elif failed:
        add("stages", 1.0, 0.0, beyond=True)
    add("hold-out error", most, _RISK, not most <= _RISK)
    if "linear" in seen:  # with a large linear part the error hardly measures the rest
        linear = _without_noise(seen["linear"], share)
        ratio = most / linear if linear else np.inf
        add("error over linear", ratio, _RISK, not ratio <= _RISK, solved)
    return tuple(signals)


def _without_noise(error: float, share: float) -> float:
    """Subtract the share of label noise from a relative error; infinite if labels are noise."""
    return max(error - share, 0.0) / (1 - share) if share < 1 else float("inf")
