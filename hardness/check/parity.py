"""Re-derives the claims of a parity certificate.

The evidence is the exact heads. What is done here: evaluate them at every count h in rational
arithmetic; conclude that the unknown part of a label is a character of the hidden set; count the
members; and verify every bound as an inequality between integers, never by the formula that made
it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.check.goal import Goal, check_floor
from hardness.check.layers import Layers, check_heads, check_members, layers_of
from hardness.check.reading import fraction, integer, refuse
from hardness.check.spec import read_family
from hardness.claims.parity import QUANTITIES, SCOPE
from instances.capabilities import CHARACTERS

_EVIDENCE = {"rho", "heads", "A", "c0", "members"}
_ONE = Fraction(1)  # the largest eigenvalue of orthonormal members

Claims = dict[str, Callable[[int, dict[str, str]], str]]


class ParityEvidence:
    """What the evidence of a parity certificate proves; raises Refuted where it proves nothing."""

    words = QUANTITIES
    required = ("information-floor",)
    statistical = False
    assumed = ""
    scope = SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        self._family: Layers = layers_of(read_family(spec, CHARACTERS))
        if set(evidence) != _EVIDENCE:
            refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}")
        check_members(self._family, evidence["members"])
        signs = [fmpq((-1) ** h) for h in range(self._family.chosen + 1)]
        check_heads(self._family, evidence, signs, "parity")

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        queries = {"stat": self._stat, "vstat": self._vstat}
        oracle = name.partition("-")[0]
        if oracle in queries:
            return queries[oracle](name, value, given)
        if value.q != 1:
            refuse(f"{name} is not an integer")
        claims: Claims = {
            "pairwise-correlation": self._correlation,
            "sq-dimension": self._dimension,
            "information-floor": self._floor,
        }
        return claims[name](int(value.p), given)

    def _correlation(self, value: int, _: dict[str, str]) -> str:
        # chi_S chi_S' = chi of the symmetric difference, which is empty only for S = S'; a
        # non-empty character of uniform bits has mean 0, whatever z_0 is.
        if value != 0:
            refuse("different members have correlation 0")
        return "any two different members have correlation exactly 0"

    def _dimension(self, value: int, _: dict[str, str]) -> str:
        family = self._family
        if value != family.size:
            refuse(f"SQ-DIM is not the number of {family.chosen}-subsets of {family.ground}")
        return f"SQ-DIM is exactly {value}: all members are orthogonal, and there are no more"

    def _stat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        tau = fraction(given["tau"])
        goal = Goal.read(given, self._family.size, self._family.noise, _ONE)
        moves = (1 - 2 * self._family.noise) ** 2 / (4 * tau**2)
        return goal.statement(name, value, moves, f"queries to STAT({tau})")

    def _vstat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        t = integer(given["t"])
        goal = Goal.read(given, self._family.size, self._family.noise, _ONE)
        moves = Fraction(3 * t, 4) * (1 - 2 * self._family.noise) ** 2
        return goal.statement(name, value, moves, f"queries to VSTAT({t})")

    def _floor(self, value: int, given: dict[str, str]) -> str:
        return check_floor(value, given, self._family.size, _ONE, 2)
