"""What a bound is about: the oracle's tolerance, and what the learner has to achieve."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.claims.ranges import misfit
from instances.family import require
from instances.parameters import fraction


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
        for name in ("tau", "risk", "success", "gamma"):
            given = getattr(self, name)
            require(
                isinstance(given, Fraction | int),
                f"{name}={given!r} given: an exact rational is needed, as Fraction(1, 10)",
            )
            reason = misfit(name, given)
            require(not reason, reason or "")
        reason = misfit("t", self.vstat)
        require(not reason, f"vstat: {reason}")

    @property
    def right_about(self) -> int:
        """How many orthogonal members one hypothesis can have relative risk <= risk for."""
        return math.floor(1 / (1 - self.risk))

    def to_dict(self) -> dict[str, Any]:
        """Write the terms: rationals as strings."""
        exact = {name: str(getattr(self, name)) for name in ("tau", "risk", "success", "gamma")}
        return {**exact, "vstat": self.vstat}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "BoundParameters":
        """Read terms; raises KeyError, TypeError, ValueError or UsageError for what are none.

        >>> BoundParameters.from_json(BoundParameters(tau=Fraction(1, 7)).to_dict()).tau
        Fraction(1, 7)
        """
        return BoundParameters(
            tau=fraction(data["tau"], "tau"),
            vstat=int(data["vstat"]),
            risk=fraction(data["risk"], "risk"),
            success=fraction(data["success"], "success"),
            gamma=fraction(data["gamma"], "gamma"),
        )
