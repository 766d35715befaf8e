"""Re-derives the claims of a certificate from its evidence.

No part of the makers' code is used. The words of a claim must be those of hardness/claims: what was
verified is what they say. What evidence proves is in a file for each kind of family.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any, Protocol

from flint import fmpq

from hardness.check.finite import FiniteEvidence
from hardness.check.reading import Checked, fraction, listed, rational, refuse
from hardness.claims import FORMAT, Quantity
from hardness.claims.ranges import RANGES, misfit
from instances.errors import DamagedFile, Refuted, TooLarge, ToolkitError, Undecided
from instances.strict import one_line, shown

_TOP = {"format", "spec", "claims", "scope", "evidence", "digest"}
_CLAIM = {"quantity", "value", "kind", "parameters", "assumptions", "meaning", "source"}


class Evidence(Protocol):
    """What the evidence of one kind of certificate proves."""

    @property
    def words(self) -> dict[str, Quantity]:
        """The vocabulary of its claims."""

    @property
    def scope(self) -> str:
        """What learners the claims are about."""

    @property
    def required(self) -> tuple[str, ...]:
        """The quantities without which there is no certificate."""

    @property
    def statistical(self) -> bool:
        """Whether all of it holds with a confidence only."""

    @property
    def assumed(self) -> str:
        """What of the file is taken as given; nothing where all follows from the spec."""

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""


_KINDS: dict[str, Callable[[str, dict[str, Any]], Evidence]] = {
    "functions": FiniteEvidence,
    "factors": FiniteEvidence,
    "layers": FiniteEvidence,
    "specs": FiniteEvidence,
}

_STEPS = ("parity", "profile", "lwr", "lwe", "lpn", "window")  # which the kernel takes


def check_certificate(data: dict[str, Any]) -> Checked:
    """Derive a certificate's claims again; raises Refuted where one does not follow, or Undecided.

    A file that is no certificate raises DamagedFile.
    """
    kind = data.get("format")
    if not isinstance(kind, str) or not kind.startswith("hardness-certificate/"):
        raise DamagedFile(f"this is no certificate: its format is {shown(kind)}")
    if kind != FORMAT:
        raise DamagedFile(f"certificate format {shown(kind)} given: this version reads {FORMAT}")
    body = {key: value for key, value in data.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != data.get("digest"):
        refuse("its content does not match its digest: it was changed after it was made")
    if set(data) != _TOP or not listed(data["claims"]):
        refuse(f"its fields must be {', '.join(sorted(_TOP))}, with at least one claim")
    try:
        spec = data["spec"]
        name = spec.partition(":")[0]
        if "about" in data["evidence"]:
            raise DamagedFile(
                "a certificate of format 1 about named learners given: make it again, with "
                "`hardness certify SPEC --about ..`"
            )
        if name in _STEPS:
            raise DamagedFile(
                f"a certificate of format 1 of {name} given: `hardness certify FILE.json --out "
                "NEW.json` makes it again in format 2, and compares every number"
            )
        if name not in _KINDS:
            refuse(f"{shown(spec, 80)} is not a canonical spec of a family that is checked here")
        evidence = _KINDS[name](spec, data["evidence"])
        if data["scope"] != evidence.scope:
            refuse("its scope is not what these claims are about")
        statements = [_check_claim(evidence, claim) for claim in data["claims"]]
        quantities = [claim["quantity"] for claim in data["claims"]]
        if len(set(quantities)) != len(quantities):
            refuse("a quantity is claimed twice")
        for needed in evidence.required:
            if needed not in quantities:
                refuse(f"the {needed.replace('-', ' ')} is missing")
    except (TooLarge, Undecided, DamagedFile):
        raise  # nothing is refuted: this machine is too small, or the search too long
    except Refuted:
        raise
    except ToolkitError as error:
        refuse(str(error))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        refuse(f"a field is missing or malformed ({one_line(error)})")
    return Checked(spec=data["spec"], statements=tuple(statements), assumed=evidence.assumed)


def _check_claim(evidence: Evidence, claim: dict[str, Any]) -> str:
    if set(claim) != _CLAIM:
        refuse("a claim has fields that are not known here")
    name, given = claim["quantity"], claim["parameters"]
    if name not in evidence.words:
        refuse(f"{shown(name)} is not a quantity that is checked here")
    quantity = evidence.words[name]
    words = (claim["meaning"], claim["source"], tuple(listed(claim["assumptions"])))
    if words != (quantity.meaning, quantity.source, quantity.assumptions):
        refuse(f"the words of {name} are not what is verified")
    if set(given) != {*quantity.parameters, *quantity.fixed}:
        refuse(f"{name} must have the parameters {', '.join(quantity.parameters) or 'fixed'}")
    if any(given[key] != value for key, value in quantity.fixed.items()):
        refuse(f"a fixed parameter of {name} was changed")
    for key in set(given) & set(RANGES):
        if key in ("sample_degree", "steps") and given[key] == "any":
            continue
        reason = misfit(key, fraction(given[key]))
        if reason:
            refuse(reason)
    # A bracket is exact where its ends meet; all else here is exact.
    wanted = "interval" if given.get("upper", claim["value"]) != claim["value"] else "exact"
    wanted = "statistical" if evidence.statistical else wanted
    if claim["kind"] != wanted:
        refuse(f"the kind of {name} is {wanted}")
    return evidence.statement(name, rational(claim["value"]), given)
