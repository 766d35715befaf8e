"""The risk of a hypothesis on fresh examples, with a confidence interval that holds at any size.

E||F - F^||^2 over that of the best predictor that knows the family alone, F = E[Y|X], so label
noise does not count against a learner. Predictions are first projected on the interval that
everyone knows F(x) lies in, which never raises the risk and bounds the loss; the interval is the
empirical Bernstein bound [MP09].
"""

import math
from dataclasses import dataclass

import numpy as np

from hardness.upper.learner import Predict
from instances.family import Instance

_EVALUATE, _FEW, _WORK = 16384, 2048, 1 << 23
_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Risk:
    """A relative risk: 1 is having learned nothing, 0 having learned all."""

    value: float
    low: float
    high: float
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
    """
    family, secret = instance.family, instance.hidden.secret
    # Fewer where tokens are long; enough to tell a solved instance all the same.
    examples = examples or max(_FEW, min(_EVALUATE, _WORK // family.d))
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    losses, raw = [], 0.0
    for start in range(0, examples, batch):
        drawn = instance.examples(start, min(batch, examples - start), axis="evaluate")
        x, rows = drawn.x, family.open(drawn.words)
        with np.errstate(all="ignore"):  # what overflows is not finite, and is refused below
            given = np.asarray(predict(x))
        if given.shape != x.shape or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            return None
        target = family.mean(secret, x)
        clipped = family.clip(x[rows], given[rows].astype(np.float64))
        losses.append(((target[rows] - clipped) ** 2).sum(axis=(1, 2)))
        with np.errstate(over="ignore"):
            raw += float(((target - given) ** 2).sum())
    loss = np.concatenate(losses) / family.trivial_risk
    n = len(loss)
    mean, variance = float(loss.mean()), float(loss.var(ddof=1))
    unclipped = raw / n / family.trivial_risk
    log_term = math.log(4 / (1 - confidence))
    radius = math.sqrt(2 * variance * log_term / n) + 7 * family.risk_bound * log_term / (
        3 * (n - 1)
    )
    return Risk(
        value=mean,
        low=max(0.0, mean - radius),
        high=min(family.risk_bound, mean + radius),
        confidence=confidence,
        examples=n,
        unclipped=unclipped if math.isfinite(unclipped) else None,
    )
