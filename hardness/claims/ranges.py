"""What the parameters of a claim may be: said once, for makers of claims and for their checker."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

_MOST_EXAMPLES = 10**1000


@dataclass(frozen=True, kw_only=True)
class Range:
    """Values of a parameter: in words, and whether one is among them."""

    words: str
    holds: Callable[[Fraction], bool]


_WHOLE = Range(words="an integer of at least 1", holds=lambda v: v >= 1 and v.denominator == 1)
_ABOVE = Range(words="above 0", holds=lambda v: v > 0)
_SHARE = Range(words="above 0 and at most 1", holds=lambda v: 0 < v <= 1)

RANGES: dict[str, Range] = {
    **dict.fromkeys(("t", "features", "steps", "parameters", "batch", "state-bits"), _WHOLE),
    **dict.fromkeys(("degree", "sample_degree"), _WHOLE),
    **dict.fromkeys(("clip", "noise-std", "within", "grid"), _ABOVE),
    **dict.fromkeys(("tau", "success", "gamma"), _SHARE),
    "risk": Range(words="at least 0 and below 1", holds=lambda v: 0 <= v < 1),
    "examples": Range(
        words="an integer from 1 to 10^1000",
        holds=lambda v: 1 <= v <= _MOST_EXAMPLES and v.denominator == 1,
    ),
}


def misfit(name: str, value: Fraction | int) -> str | None:
    """Say why a parameter cannot have a value; None where it can.

    >>> misfit("tau", Fraction(5, 4))
    'tau=5/4 given: it must be above 0 and at most 1'
    >>> misfit("risk", 0) is None
    True
    """
    allowed = RANGES[name]
    if allowed.holds(Fraction(value)):
        return None
    return f"{name}={value} given: it must be {allowed.words}"
