"""The risk on linear attention: its scale is known exactly, and its tails are sampled.

A loss is at most 4 r^2 |X|^6, so the mean of loss / |X|^6 under the law tilted by |X|^6 is that of
a bounded variable; under it |X|^2 has six degrees of freedom more. (docs/mathematics.md,
section 30)
"""

import math

import numpy as np

from hardness.runs.risk.record import Array, Risk, bernstein, chernoff, shorten
from hardness.upper.learner import Predict
from instances.cubic import coefficients, evaluate, power, reach
from instances.dense import Dense
from instances.errors import ToolkitError
from instances.family import Instance
from instances.limits import require_memory
from instances.streams import BitStream, key
from instances.tokens import gaussian

_EVALUATE, _FEW, _BATCH_NUMBERS, _MOST_NUMBERS = 16384, 2048, 1 << 20, 1 << 26
_RANGE_PART = 0.03  # of the scale: what the range of the loss may add to the risk
_EXTRA = 6  # degrees of freedom of the tilt: the degree of the squared labels


def of_cubic(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F||^2 on tokens of the tilted law, weighted back."""
    require_memory(64 * family.d**4, f"the cubic map of {family.spec}")
    layer = instance.layer()
    cubic = coefficients(layer.theta, layer.w)
    scale, size = power(cubic, family.k, family.tokens), reach(cubic)
    if not scale:
        raise ToolkitError(f"{family.spec}: the labels are zero, so no relative risk is defined")
    numbers = family.k * family.d
    mean_power = _sixth_moment(numbers, family.tokens)
    bound = 4 * size**2 * mean_power / scale  # of the weighted loss, relative
    wanted = math.ceil(bound * math.log(4 / (1 - confidence)) / _RANGE_PART)
    examples = examples or min(max(_EVALUATE, wanted), max(_FEW, _MOST_NUMBERS // numbers))
    many = family.m * family.k > family.d**2 / 2  # then the map is cheaper than its heads
    batch, losses, raw = max(16, _BATCH_NUMBERS // numbers), [], 0.0
    for start in range(0, examples, batch):
        x, weight = _tilted(instance, family, start, min(batch, examples - start))
        target = evaluate(cubic, x) if many else layer(x)
        with np.errstate(all="ignore"):  # what overflows is not finite, and is refused here
            given = np.asarray(predict(x.copy()))  # which may write into what it gets
        if given.shape != x.shape or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            return None
        longest = size * lengths(x)
        clipped = shorten(given.astype(np.float64), longest)
        losses.append(((target - clipped) ** 2).sum(axis=(1, 2)) * weight / scale)
        with np.errstate(over="ignore"):
            raw += float((((target - given) ** 2).sum(axis=(1, 2)) * weight).sum())
    loss = np.concatenate(losses)
    each = (1 + confidence) / 2
    (low, high), (least, most) = bernstein(loss, bound, each), chernoff(loss, bound, each)
    unclipped = raw / len(loss) / scale
    return Risk(
        value=float(loss.mean()),
        low=max(low, least),
        high=min(high, most),
        confidence=confidence,
        examples=len(loss),
        unclipped=unclipped if math.isfinite(unclipped) else None,
    )


def _sixth_moment(numbers: int, tokens: str) -> float:
    """E|X|^6 of k d signs or standard normal numbers."""
    if tokens == "boolean":
        return float(numbers**3)
    return float(numbers * (numbers + 2) * (numbers + 4))


def _tilted(instance: Instance, family: Dense, start: int, count: int) -> tuple[Array, Array]:
    """Draw tokens (count, k, d) of the law tilted by |X|^6, and E|X|^6 / |X|^6 of each."""
    seed, numbers = instance.hidden.seed, family.k * family.d
    x = family.inputs(seed, "evaluate", start, count).astype(np.float64)
    if family.tokens == "gaussian":
        stream = BitStream(key(seed, "tilt", "evaluate"))
        more = (gaussian(stream, start, count, 1, _EXTRA) ** 2).sum(axis=(1, 2))
        x *= np.sqrt(1 + more / (x**2).sum(axis=(1, 2)))[:, None, None]
    return x, _sixth_moment(numbers, family.tokens) / (x**2).sum(axis=(1, 2)) ** 3


def lengths(x: Array) -> Array:
    """|x_a| |X^T X|_F of every row: (n, k, d) -> (n, k)."""
    rows = np.sqrt((x**2).sum(axis=2))
    pairs = x @ x.transpose(0, 2, 1)
    return np.asarray(rows * np.sqrt((pairs**2).sum(axis=(1, 2)))[:, None])
