"""Re-derives certificates about named learners, each claim in the words of the checker."""

from collections.abc import Callable
from typing import Any

from flint import fmpq

from hardness.check.goal import check_floor
from hardness.check.layers import check_heads, check_members
from hardness.check.named import descent, kernel, ratio
from hardness.check.named.members import Members
from hardness.check.reading import integer, rational, refuse
from hardness.check.scheme import Scheme, read_profile
from hardness.claims import Quantity
from hardness.claims.descent import QUANTITIES as DESCENT
from hardness.claims.kernel import QUANTITIES as KERNEL
from hardness.claims.named import FLOOR, MANY_VALUES, SCOPE
from hardness.claims.ratio import QUANTITIES as RATIO

_EVIDENCE = {
    *("about", "no_claim", "rho", "heads", "A", "c0", "members", "values"),
    *("correlations", "eigenvalues"),
}
_ABOUT: dict[str, dict[str, Quantity]] = {"gd": DESCENT, "kernel": KERNEL, "low-degree": RATIO}
_CLAIMS: dict[str, Callable[[Members, fmpq, dict[str, str]], str]] = {
    **kernel.CLAIMS,
    **descent.CLAIMS,
    **ratio.CLAIMS,
}


class NamedEvidence:
    """What the evidence of a certificate about named learners proves; raises Refuted."""

    required = ("information-floor",)
    statistical = False
    scope = SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        scheme = Scheme(*read_profile(spec))
        family = scheme.family
        self._members = Members(scheme=scheme, orthonormal=spec.startswith("parity:"))
        if family.chosen >= family.ground and not self._members.orthonormal:
            refuse("there is nothing hidden: one member")
        if set(evidence) != _EVIDENCE:
            refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}")
        self._read_about(evidence["about"], evidence["no_claim"])
        if [rational(v) for v in evidence["values"]] != scheme.values:
            refuse("the values of the evidence are not those of g")
        check_members(family, evidence["members"])
        check_heads(family, evidence, scheme.values, "profile")
        if [rational(c) for c in evidence["correlations"]] != scheme.c:
            refuse("the correlations of the evidence are not those of the profile")
        if [rational(v) for v in evidence["eigenvalues"]] != scheme.eigenvalues:
            refuse("the eigenvalues of the evidence are not those of the correlations")

    def _read_about(self, about: Any, silent: Any) -> None:
        """What it is about, and why there is no claim about some of it."""
        if about != sorted(set(about)) or not set(about) <= set(_ABOUT) or not about:
            refuse(f"it must be about some of {', '.join(_ABOUT)}")
        for name, reason in silent.items():
            known = name in about and reason == MANY_VALUES.get(name, "")
            if self._members.two_valued or not known:
                refuse(f"{str(name)[:40]!r} is without a claim for no reason known here")
        self.words = {"information-floor": FLOOR}
        for name in set(about) - set(silent):
            self.words |= _ABOUT[name]

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if name == "information-floor":
            return self._floor(value, given)
        return _CLAIMS[name](self._members, value, given)

    def _floor(self, value: fmpq, given: dict[str, str]) -> str:
        levels = len(set(self._members.scheme.values))
        if integer(given["levels"]) != levels or value.q != 1:
            refuse(f"a label takes one of {levels} values, and the floor is an integer")
        members = self._members
        return check_floor(int(value.p), given, members.size, members.unit_norm, levels)
