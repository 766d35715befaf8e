"""What the truth tables of a finite family show that its author may not have meant."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hardness.lower import Certificate

_ONE_BIT = "bits"  # tables of -1 and +1 alone


def member_notes(certificate: "Certificate") -> list[str]:
    """Say which members are equal, and which value keeps general queries out; tables only."""
    problem = certificate.evidence.get("problem", {})
    tables = certificate.evidence.get("tables")
    if not tables and "tables" not in problem:
        return []
    rows = tables["rows"] if tables else problem["tables"]
    notes = []
    if again := len(rows) - len(set(rows)):
        verb = "equals" if again == 1 else "equal"
        notes.append(f"{again} of the {len(rows)} members {verb} an earlier one, and counts again")
    if not tables or tables["encoding"] == _ONE_BIT:
        return notes
    names = certificate.evidence["given"]["names"]
    values = [np.frombuffer(bytes.fromhex(r), np.dtype(tables["encoding"])) for r in rows]
    if all(((v == 0) | (v == 1)).all() for v in values):
        return [*notes, _ZERO_ONE]
    member = next(i for i, v in enumerate(values) if (np.abs(v) != 1).any())
    point = int((np.abs(values[member]) != 1).argmax())
    bits = (point >> np.arange(certificate.evidence["given"]["n"])) & 1
    place = "".join("-" if bit else "+" for bit in bits)
    return [
        *notes,
        f"{names[member]} has the value {values[member][point]} at the point {place}: claims about "
        "general queries and examples need the values -1 and +1 alone",
    ]


def origin_notes(certificate: "Certificate") -> list[str]:
    """Say what the members stand for of which the kernel sees the tables alone; empty for others.

    >>> from hardness.lower.finite import certify_finite, of_family
    >>> from instances import parse
    >>> print(origin_notes(certify_finite(of_family(parse("parity:d=5,m=2"), 4)))[1])
    The members are the 4 of 6 whose names have the least SHA-256: nothing is claimed of the others.
    """
    about = certificate.evidence.get("about", {})
    if "steps" not in certificate.evidence or "names" not in about:
        return []
    notes = ["That these are the tables of the members that are named is taken as given."]
    origin, names = about["origin"], about["names"]
    if certificate.spec.startswith("factors:"):
        notes[0] += (
            f" The members are the factors of the label of {origin['path']} where z_0 = -1: "
            "functions of z_1 .. z_n of z = X_1 * X_2, without noise, named by their secrets."
        )
    if "of" in origin:
        notes.append(
            f"The members are the {len(names)} of {origin['of']} whose names have the least "
            "SHA-256: nothing is claimed of the others."
        )
    return notes


_ZERO_ONE = (
    "the values are 0 and 1: give 1 - 2 v in place of v, of which there are claims about general "
    "queries and examples too, or subtract the mean with --centred"
)


def why_nothing(certificate: "Certificate") -> str:
    """Say why a certificate has nothing to say, where its members show it; empty else."""
    named = certificate.evidence.get("given") or certificate.evidence.get("about", {})
    several = len(named.get("names", ())) > 1
    if several and Fraction(certificate.value("average-correlation")) == 1:
        return (
            "all members are the same function, up to its sign and size: does a lambda in a loop "
            "use the loop's variable?"
        )
    return _ZERO_ONE if _ZERO_ONE in member_notes(certificate) else ""
