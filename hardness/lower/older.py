"""Certificates of format 1 of families that the kernel takes: made again, as format 2."""

from typing import Any

from hardness.lower.bounds import BoundParameters
from hardness.lower.certificate import certify
from hardness.lower.record import Certificate
from instances.errors import Refuted
from instances.spec import parse_stored

_TERMS = {"tau": "tau", "t": "vstat", "risk": "risk", "success": "success", "gamma": "gamma"}


def outdated(data: dict[str, Any]) -> bool:
    """Whether a file is one of format 1 that this version writes in format 2."""
    kind = str(data.get("spec")).partition(":")[0]
    ours = kind in ("parity", "profile", "lwr", "lwe", "lpn", "window")
    evidence = data.get("evidence")
    named = isinstance(evidence, dict) and "about" in evidence
    return data.get("format") == "hardness-certificate/1" and ours and not named


def converted(data: dict[str, Any]) -> Certificate:
    """Make a certificate of format 1 again; raises Refuted where a number is another one now.

    >>> from hardness.lower import certify
    >>> from instances import parse
    """
    old = Certificate.read(data)
    given: dict[str, str] = {}
    for claim in old.claims:
        given |= {_TERMS[k]: v for k, v in claim.parameters.items() if k in _TERMS}
    found = {**BoundParameters().to_dict(), **given}
    made = certify(parse_stored(old.spec), BoundParameters.from_json(found))
    if numbers(old) != numbers(made):
        raise Refuted("certificate refused: made again in format 2, its numbers are others")
    return made


def numbers(certificate: Certificate) -> dict[str, tuple[str, str]]:
    """What is claimed, without words: both ends of each quantity."""
    return {
        one.quantity: (one.value, one.parameters.get("upper", one.value))
        for one in certificate.claims
    }
