"""What a bound is about: the oracle's tolerance, and what the learner has to achieve."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.bounds.checker import written
from instances import numbers
from instances.family import require

_MOST_EXAMPLES = 10**1000
_RATIONAL = ("tau", "risk", "success", "gamma")


@dataclass(frozen=True, kw_only=True)
class Range:
    """Values of a parameter: in words, and whether one is among them."""

    words: str
    holds: Callable[[Fraction], bool]


_WHOLE = Range(words="an integer of at least 1", holds=lambda v: v >= 1 and v.denominator == 1)
_ABOVE = Range(words="above 0", holds=lambda v: v > 0)
_SHARE = Range(words="above 0 and at most 1", holds=lambda v: 0 < v <= 1)

RANGES: dict[str, Range] = {
    **dict.fromkeys(("t", "features", "steps"), _WHOLE),
    **dict.fromkeys(("degree", "sample_degree"), _WHOLE),
    **dict.fromkeys(("clip", "noise-std"), _ABOVE),
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


@dataclass(frozen=True, kw_only=True)
class BoundParameters:
    """What a bound is about: the oracle's tolerance, and what the learner has to achieve.

    tau: tolerance of STAT; vstat: parameter t of VSTAT; risk: relative risk that the hypothesis may
    have at most; success: probability, over the learner's coins and the member, of reaching it;
    gamma: the average correlation of unit-norm members that SDA is about. Raises UsageError out of
    range.

    >>> BoundParameters(risk=Fraction(1, 10)).success
    Fraction(2, 3)
    """

    tau: Fraction = Fraction(1, 10)
    vstat: int = 100
    risk: Fraction = Fraction(1, 4)
    success: Fraction = Fraction(2, 3)
    gamma: Fraction = Fraction(1, 20)

    def __post_init__(self) -> None:
        for name in _RATIONAL:
            given = getattr(self, name)
            require(
                isinstance(given, Fraction | int),
                f"{name}={given!r} given: an exact rational is needed, as Fraction(1, 10)",
            )
            reason = misfit(name, given)
            require(not reason, reason or "")
        reason = misfit("t", self.vstat)
        require(not reason, f"vstat: {reason}")

    def to_dict(self) -> dict[str, Any]:
        """Write the terms: rationals as strings."""
        exact = {name: str(getattr(self, name)) for name in _RATIONAL}
        return {**exact, "vstat": self.vstat}

    def to_terms(self) -> dict[str, Any]:
        """Write them as a certificate has them.

        >>> BoundParameters().to_terms()["t"]
        '100'
        """
        return {"tau": written(self.tau), "t": written(self.vstat), "risk": written(self.risk),
                "success": written(self.success), "gamma": written(self.gamma)}  # fmt: skip

    @staticmethod
    def from_json(data: dict[str, Any]) -> "BoundParameters":
        """Read terms; raises KeyError, TypeError, ValueError or UsageError for what are none.

        >>> BoundParameters.from_json(BoundParameters(tau=Fraction(1, 7)).to_dict()).tau
        Fraction(1, 7)
        """
        exact = {name: numbers.parse(data[name], Fraction, name) for name in _RATIONAL}
        return BoundParameters(vstat=int(data["vstat"]), **exact)
