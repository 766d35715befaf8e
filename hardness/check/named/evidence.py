"""Re-derives certificates about named learners, each claim in the words of the checker."""

from collections.abc import Callable
from typing import Any

from flint import fmpq

from hardness.check.finite import FiniteMembers
from hardness.check.goal import Goal, right_about
from hardness.check.kernel import Refused, posed
from hardness.check.named import descent, kernel, ratio
from hardness.check.named.members import DrawnMembers, Listed, Members, Orthogonal
from hardness.check.reading import fraction, integer, listed, refuse
from hardness.check.residues import check_residues, read_residues
from hardness.check.scheme import Scheme
from hardness.check.spectra import check_centred_ends
from hardness.claims import Quantity, finite, independent, named
from hardness.claims.descent import QUANTITIES as DESCENT
from hardness.claims.kernel import QUANTITIES as KERNEL
from hardness.claims.ratio import QUANTITIES as RATIO
from instances.strict import shown

_EVIDENCE = {"about", "no_claim", "problem"}
_ABOUT: dict[str, dict[str, Quantity]] = {"gd": DESCENT, "kernel": KERNEL, "low-degree": RATIO}
_SILENT = {"gd": finite.NO_BATCH, "low-degree": finite.NO_DEGREE}
_OF_ANY: dict[str, Callable[[DrawnMembers, fmpq, dict[str, str]], str]] = {
    **kernel.CLAIMS,
    **descent.CLAIMS,
}
_OF_PROFILES: dict[str, Callable[[Members, fmpq, dict[str, str]], str]] = {
    **_OF_ANY,
    **ratio.CLAIMS,
}


class NamedEvidence:
    """What the evidence of a certificate about profiles proves; raises Refuted."""

    required = ("information-floor",)
    statistical = False
    assumed = ""
    scope = named.SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        scheme = Scheme.read(spec)
        self._members = Members(scheme=scheme, orthonormal=spec.startswith("parity:"))
        if scheme.chosen >= scheme.ground and not self._members.orthonormal:
            refuse("there is nothing hidden: one member")
        _require_problem(evidence)
        self._read_about(evidence["about"], evidence["no_claim"])
        if evidence["problem"] != scheme.problem:
            refuse("its problem is not that of its spec")
        scheme.check_layer()

    def _read_about(self, about: Any, silent: Any) -> None:
        """What it is about, and why there is no claim about some of it."""
        _require_about(about)
        for name, reason in silent.items():
            known = name in about and reason == named.MANY_VALUES.get(name, "")
            if self._members.two_valued or not known:
                refuse(f"{shown(name)} is without a claim for no reason known here")
        self.words = {"information-floor": named.FLOOR}
        for name in set(about) - set(silent):
            self.words |= _ABOUT[name]

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if name == "information-floor":
            return self._floor(value, given)
        return _OF_PROFILES[name](self._members, value, given)

    def _floor(self, value: fmpq, given: dict[str, str]) -> str:
        levels = len(set(self._members.scheme.values))
        if integer(given["levels"]) != levels or value.q != 1:
            refuse(f"a label takes one of {levels} values, and the floor is an integer")
        members = self._members
        right = right_about(fraction(given["risk"]), members.unit_norm)
        return Goal(members.size, right, given).floor(int(value.p), levels)


class IndependentEvidence:
    """What the evidence of a certificate about LWE-style families proves; raises Refuted."""

    words = independent.QUANTITIES
    required = ("information-floor",)
    statistical = False
    assumed = ""
    scope = independent.SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        _require_problem(evidence)
        family = read_residues(spec)
        check_residues(family, evidence["problem"])
        self._members = Orthogonal(evidence["problem"])
        self._about, silent = listed(evidence["about"]), evidence["no_claim"]
        _require_about(self._about)
        if silent != {name: independent.NO_DEGREE for name in self._about if name == "low-degree"}:
            refuse("what is without a claim, or the reason, is not what is known here")

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if name == "information-floor":
            return self._members.floor(integer(str(value)), given)
        if name.partition("-")[0] not in self._about:
            refuse(f"{name} is claimed, and it is not what the certificate is about")
        return _OF_ANY[name](self._members, value, given)


class ListedEvidence(FiniteMembers):
    """What the evidence of a certificate about listed functions proves; raises Refuted."""

    required = ("information-floor",)
    scope = finite.NAMED_SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the members, and the ends of their eigenvalues."""
        super().__init__(spec, evidence)
        self.require_evidence({"about", "no_claim", "spread", "eigenvalues"})
        if self.correlations is None or self.gram is None or self.same or self.centred:
            refuse("claims about named learners need several functions of -1 and +1, not centred")
        self._about, silent = listed(evidence["about"]), evidence["no_claim"]
        _require_about(self._about)
        for name, reason in silent.items():
            if name not in self._about or reason != _SILENT.get(name):
                refuse(f"{shown(name)} is without a claim for no reason known here")
        spoken = set(self._about) - set(silent)
        self.words = {
            name: words
            for name, words in finite.named_quantities(self.kind, self.basis, self.chosen).items()
            if name == "information-floor" or name.partition("-")[0] in spoken
        }
        ends = check_centred_ends(evidence["eigenvalues"], self.correlations)
        if len(ends) != self.size:
            refuse(f"there are not {self.size} eigenvalues")
        self._members = Listed(
            self.gram, ends, self.spread[0], lambda given: self.goal(given).right
        )

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if name == "information-floor":
            return self.said(self.floor(value, given))
        return self.said(_OF_ANY[name](self._members, value, given))


def _require_problem(evidence: dict[str, Any]) -> None:
    """Refuse evidence that is not a problem of the kernel's."""
    if set(evidence) != _EVIDENCE:
        refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}: make it again")
    try:
        posed(evidence["problem"])
    except Refused as reason:
        refuse(f"its problem: {reason}")


def _require_about(about: Any) -> None:
    """Refuse what is not a sorted list of some of the learners that claims are about."""
    if not about or listed(about) != sorted(set(about)) or not set(about) <= set(_ABOUT):
        refuse(f"it must be about some of {', '.join(_ABOUT)}")
