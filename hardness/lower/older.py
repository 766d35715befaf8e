"""Certificates of format 1 of families that the kernel takes: made again, as format 2."""

from os import PathLike
from pathlib import Path
from typing import Any

from hardness.claims import FORMAT
from hardness.lower.bounds import BoundParameters
from hardness.lower.certificate import certify
from hardness.lower.record import Certificate
from instances.disk import damage
from instances.errors import Refuted
from instances.spec import parse_stored
from instances.strict import CERTIFICATE, read_json

KINDS = ("parity", "profile", "lwr", "lwe", "lpn", "window")

_TERMS = {"tau": "tau", "t": "vstat", "risk": "risk", "success": "success", "gamma": "gamma"}


def of_file(source: Any) -> Certificate | None:
    """Make the certificate of a file of format 1 again; None for what is no such file.

    Raises Refuted where a number is another one now, and what reading and certifying raise.
    """
    if not isinstance(source, str | PathLike) or not str(source).endswith(".json"):
        return None
    path = Path(source)
    if not path.is_file():
        return None
    data = read_json(path, CERTIFICATE)
    if data.get("format") != FORMAT:
        return None
    with damage(path):
        ours = data["spec"].partition(":")[0] in KINDS and "about" not in data["evidence"]
        return converted(data) if ours else None


def converted(data: dict[str, Any]) -> Certificate:
    """Make a certificate of format 1 again; raises Refuted where a number is another one now."""
    old = Certificate.read(data)
    given: dict[str, str] = {}
    for claim in old.claims:
        given |= {_TERMS[k]: v for k, v in claim.parameters.items() if k in _TERMS}
    found = {**BoundParameters().to_dict(), **given}
    made = certify(parse_stored(old.spec), BoundParameters.from_json(found))
    before, now = numbers(old), numbers(made)
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        raise Refuted(f"certificate refused: made again in format 2, {other[0][:40]} is another")
    return made


def numbers(certificate: Certificate) -> dict[str, tuple[str, str]]:
    """What is claimed, without words: both ends of each quantity."""
    return {
        one.quantity: (one.value, one.parameters.get("upper", one.value))
        for one in certificate.claims
    }
