"""Query bounds for families of N exactly orthogonal members with one unknown sign a label.

Write e_S for the unit-norm unknown part of member S. Given the tokens, a label takes one of two
known values, and on half of the tokens only one; so a query phi in [-1, 1] moves from the reference
(an unknown sign replaced by a fair coin) to member S by (1 - 2 eta) E[phi_1 1[z_0=-1] chi_S] with
|phi_1| <= 1, and Bessel's inequality gives sum_S (E_S phi - E_0 phi)^2 <= (1 - 2 eta)^2 / 4. An
adversary that answers E_0 phi lies about few members. The last step counts how many members one
hypothesis can be right about. docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from instances.family import require
from instances.parameters import fraction


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a bound is about: the oracle's tolerance, and what the learner has to achieve.

    tau: tolerance of STAT; vstat: parameter t of VSTAT; risk: relative risk that the hypothesis may
    have at most; success: probability, over the learner's coins and a uniform member, of reaching
    it; gamma: the average correlation of unit-norm members that SDA is about. Raises UsageError out
    of range.

    >>> Terms(tau=Fraction(1, 10)).right_about
    1
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
        require(0 < self.tau <= 1, f"tau={self.tau} given: tau must be above 0 and at most 1")
        require(self.vstat >= 1, f"vstat={self.vstat} given: t must be at least 1")
        require(0 <= self.risk < 1, f"risk={self.risk} given: risk must be in [0, 1)")
        require(0 < self.success <= 1, f"success={self.success} given: it must be in (0, 1]")
        require(0 < self.gamma <= 1, f"gamma={self.gamma} given: it must be in (0, 1]")

    @property
    def right_about(self) -> int:
        """How many orthogonal members one hypothesis can have relative risk <= risk for.

        K ((1 - risk + H)/2)^2 <= H for a hypothesis of squared norm H, so K <= 1/(1 - risk).
        """
        return math.floor(1 / (1 - self.risk))

    def to_json(self) -> dict[str, Any]:
        """Write the terms: rationals as strings."""
        exact = {name: str(getattr(self, name)) for name in ("tau", "risk", "success", "gamma")}
        return {**exact, "vstat": self.vstat}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Terms":
        """Read terms; raises KeyError, TypeError, ValueError or UsageError for what are none.

        >>> Terms.from_json(Terms(tau=Fraction(1, 7)).to_json()).tau
        Fraction(1, 7)
        """
        return Terms(
            tau=fraction(data["tau"], "tau"),
            vstat=int(data["vstat"]),
            risk=fraction(data["risk"], "risk"),
            success=fraction(data["success"], "success"),
            gamma=fraction(data["gamma"], "gamma"),
        )


def stat_queries(size: int, noise: Fraction, terms: Terms) -> int:
    """Bound from below the queries to STAT(tau): 4 tau^2 (success N - K) / (1 - 2 eta)^2.

    >>> stat_queries(455, Fraction(0), Terms(success=Fraction(1)))
    19
    """
    excess = terms.success * size - terms.right_about
    return max(0, math.ceil(4 * terms.tau**2 * excess / (1 - 2 * noise) ** 2))


def vstat_queries(size: int, noise: Fraction, terms: Terms) -> int:
    """Bound from below the queries to VSTAT(t): 4 (success N - K) / (3 t (1 - 2 eta)^2).

    >>> vstat_queries(455, Fraction(0), Terms(success=Fraction(1)))
    7
    """
    excess = terms.success * size - terms.right_about
    return max(0, math.ceil(4 * excess / (3 * terms.vstat * (1 - 2 * noise) ** 2)))


def information_floor(size: int, terms: Terms) -> int:
    """Bound from below the examples of any learner whatever: K 2^n >= success N.

    A label carries at most one unknown bit, so n examples lead to at most 2^n hypotheses for given
    tokens. Holds for every noise; noise only raises what is needed.

    >>> information_floor(455, Terms(success=Fraction(1)))
    9
    """
    needed = terms.success * size / terms.right_about
    count = 0
    while 2**count < needed:
        count += 1
    return count
