"""The risk on labels of softmax layers: a projection bounds the loss, a cut the gaussian tails.

Both the loss and the scale are estimated, each with half of the allowed failure.
"""

import math

import numpy as np

from hardness.runs.risk.record import Risk, bernstein, predicted, shorten
from hardness.upper.learner import Predict
from instances.dense import Dense
from instances.errors import ToolkitError
from instances.family import Instance
from instances.layer import AttentionLayer

_EVALUATE, _FEW, _PILOT = 16384, 2048, 1024
_MOST_NUMBERS = 1 << 26
_RANGE_PART, _TAIL_PART = 0.03, 0.004  # of the scale: what the range, the cut may add to the risk


def of_numbers(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F||^2, both sampled, on tokens of the family's law."""
    reach = row_reach(instance.layer())
    pilot = instance.examples(0, _PILOT, axis="evaluate-pilot")
    scale = float((family.mean(instance.hidden.secret, pilot.x) ** 2).sum()) / _PILOT
    longest, tail = cut(family, reach, scale)
    bound = 4 * family.k * reach**2 * longest  # of the loss on one example
    log_term = math.log(8 / (1 - confidence))
    wanted = math.ceil(7 * bound * log_term / (3 * _RANGE_PART * scale)) if scale else _FEW
    numbers = family.k * family.d
    examples = examples or min(max(_EVALUATE, wanted), max(_FEW, _MOST_NUMBERS // numbers))
    losses, norms, kept, raw = [], [], [], 0.0
    for drawn, target, given in predicted(instance, predict, examples):
        if given is None:
            return None
        lengths = (drawn.x.astype(np.float64) ** 2).sum(axis=2).max(axis=1)
        clipped = shorten(given.astype(np.float64), reach * np.sqrt(lengths)[:, None])
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


def row_reach(layer: AttentionLayer) -> float:
    """Bound every row of a softmax layer by reach times the longest token: sum |W_i|_op."""
    return float(sum(np.linalg.norm(w, 2) for w in layer.w))


def cut(family: Dense, reach: float, scale: float) -> tuple[float, float]:
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
