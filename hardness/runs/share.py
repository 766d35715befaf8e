"""The hidden share: what part of a layer's variance is a hidden parity among other heads."""

from dataclasses import dataclass

import numpy as np

from hardness.runs.risk import bernstein
from instances.capabilities import PROVED_AS, REAL_LABELS
from instances.errors import UsageError
from instances.family import Instance

_EXAMPLES = 1 << 15


@dataclass(frozen=True, kw_only=True)
class HiddenShare:
    """The relative risk of the predictor that knows all but the hidden part, with an interval."""

    value: float
    low: float
    high: float
    confidence: float
    examples: int


def hidden_share(
    instance: Instance, examples: int = _EXAMPLES, confidence: float = 0.95
) -> HiddenShare:
    """Measure E||F_hard - known||^2 / E||F - known||^2 of an instance: exact above, sampled below.

    A learner that knows the other heads perfectly, and nothing of the hidden set, has this risk.
    The interval is the empirical Bernstein bound. [MP09] Raises UsageError for a family without
    other heads.

    >>> from instances import parse
    >>> found = hidden_share(parse("hidden:d=8,hard=2,nice=1").instance(0))
    >>> found.low < found.value < found.high
    True
    """
    family = instance.family
    twin, view = PROVED_AS.need(family)
    if view != "among-others":
        raise UsageError(f"{family.name} given: its labels are of nothing but the hidden part")
    secret, dense = instance.hidden.secret, REAL_LABELS.need(family)
    x = instance.examples(0, examples, axis="hidden share").x
    squares = ((dense.mean(secret, x) - dense.known(x)) ** 2).sum(axis=(1, 2))
    length = np.sqrt((dense.known(x) ** 2).sum(axis=2).max()) + np.sqrt(
        dense.law.longest(family.k) or np.inf
    ) * dense.reach(secret)
    low, high = bernstein(squares, family.k * float(length) ** 2, confidence)
    hard = float(twin.trivial_risk) / 2  # half of the examples are open
    return HiddenShare(
        value=hard / float(squares.mean()),
        low=hard / high,
        high=hard / low if low else np.inf,
        confidence=confidence,
        examples=examples,
    )
