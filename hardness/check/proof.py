"""Certificates that the kernel checks: do they pose the problem of the family that they name?"""

import hashlib
import json
import re
from typing import Any

from hardness.check import kernel
from hardness.check.direction import check_direction
from hardness.check.reading import Checked, integer, listed, refuse
from hardness.check.residues import check_residues, read_residues
from hardness.check.scheme import Scheme, check_shown
from hardness.check.spec import read_spec
from instances.capabilities import PROVED_AS
from instances.spec import built_in
from instances.strict import shown as cut
from instances.userfile import NAME, fits_name

_NAME = re.compile(r"(functions|factors):d=([1-9]\d{0,8}),.*", re.ASCII)


def check_proof(data: dict[str, Any]) -> Checked:
    """Have the kernel check a certificate, and hold its problem against its spec.

    Raises Refuted where one of them does not hold.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check_proof(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    try:
        kernel.intact(data)
        about, problem = data["about"], data["problem"]
        given = problem["kind"] == "functions"
        if set(about) != ({"spec", "names", "origin"} if given else {"spec"}):
            refuse("what it says of its family has other fields than those known here")
        _POSED[problem["kind"]](about, problem)
        conditions, *statements = kernel.check(data)
    except kernel.Refused as reason:
        refuse(str(reason))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        refuse(f"what it says of its family is malformed ({type(error).__name__})")
    return Checked(
        spec=about["spec"],
        statements=tuple(statements),
        conditions=conditions,
        checker="the kernel",
        assumed="the tables are those of the members that are named" if given else "",
    )


def _hidden_set(about: dict[str, Any], problem: dict[str, Any]) -> None:
    family = read_spec(about["spec"])
    if (shown := PROVED_AS.of(family)) and built_in(family):
        if problem != {**Scheme(shown[0]).problem, "view": shown[1]}:
            refuse("its problem is not that of its spec")
        check_shown(family, *shown)
        return
    scheme = Scheme.read(about["spec"])
    if problem != scheme.problem:
        refuse("its problem is not that of its spec")
    scheme.check_layer()


def _residues(about: dict[str, Any], problem: dict[str, Any]) -> None:
    check_residues(read_residues(about["spec"]), problem)


def _functions(about: dict[str, Any], problem: dict[str, Any]) -> None:
    names, origin = listed(about["names"]), about["origin"]
    members = {"given": {"names": names, "problem": problem}, "tables": {}}
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    count, digest = len(problem["tables"]), hashlib.sha256(text.encode()).hexdigest()
    found = _NAME.fullmatch(about["spec"])
    if not found or about["spec"][found.end(2) :] != f",members={count},sha256={digest}":
        refuse(f"{cut(about['spec'], 100)} does not name these members by their digest")
    if found[1] == "functions" and found[2] != str(problem["signs"]):
        refuse(f"its functions are of {problem['signs']} coordinates")
    if len(names) != count or not all(map(fits_name, names)) or len(set(names)) != count:
        refuse(f"its names are not {count} different ones, each {NAME}")
    if set(origin) - {"of"} != {"path", "sha256"} or not all(map(fits_name, origin.values())):
        refuse("its origin must be a path and the SHA-256 of what is there")
    if "of" in origin and not integer(origin["of"]) > count:
        refuse("the family that its members are chosen from is no larger")


def _direction(about: dict[str, Any], problem: dict[str, Any]) -> None:
    check_direction(about["spec"], problem)


_POSED = {
    "hidden-set": _hidden_set,
    "residues": _residues,
    "functions": _functions,
    "direction": _direction,
}
