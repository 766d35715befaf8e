"""The risk on labels that are codes: the family fixes the scale and the range of the loss."""

import math

import numpy as np

from hardness.runs.risk.record import Risk, bernstein, predicted
from hardness.upper.learner import Predict
from instances.coded import Coded, as_coded
from instances.family import Instance

_EVALUATE, _FEW, _WORK = 16384, 2048, 1 << 23
_CLOSE = 1e-9  # what another machine's floating point may differ by
_SOLVED_PART = 0.04  # of the scale: what the range of a code may add to a risk of 0


def of_codes(
    instance: Instance,
    family: Coded,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure the risk where the unknown label part is open, on a segment of known ends."""
    examples = examples or usual(family, confidence)
    losses, raw = [], 0.0
    for drawn, target, given in predicted(instance, predict, examples):
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


def usual(family: Coded, confidence: float) -> int:
    """Choose the number of examples: fewer where tokens are long, enough to tell what is solved.

    Half of them are open, or so.
    """
    range_term = 14 * family.risk_bound * math.log(4 / (1 - confidence)) / 3
    few = max(_FEW, math.ceil(range_term / _SOLVED_PART))
    return max(few, min(_EVALUATE, _WORK // family.d))


def fits_codes(family: Coded, risk: Risk) -> bool:
    """Say whether a risk may be of codes: losses that do not vary have the least interval."""
    if not 1 < risk.examples <= usual(family, risk.confidence):
        return False
    least = 7 * family.risk_bound * math.log(4 / (1 - risk.confidence)) / (3 * (risk.examples - 1))
    low, high = max(0.0, risk.value - least), min(family.risk_bound, risk.value + least)
    return (
        risk.high <= family.risk_bound and risk.low <= low + _CLOSE and high <= risk.high + _CLOSE
    )
