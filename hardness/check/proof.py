"""Certificates that the kernel checks: do they pose the problem of the family that they name?"""

import hashlib
import json
from typing import Any

from hardness.check import kernel
from hardness.check.reading import Checked, refuse
from hardness.check.residues import check_residues, read_residues
from hardness.check.scheme import Scheme
from instances.strict import shown


def check_proof(data: dict[str, Any]) -> Checked:
    """Have the kernel check a certificate, and hold its problem against its spec.

    Raises Refuted where one of them does not hold.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check_proof(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    try:
        conditions, *statements = kernel.check(data)
    except kernel.Refused as reason:
        refuse(str(reason))
    about, problem = data["about"], data["problem"]
    if not isinstance(about, dict) or not isinstance(about.get("spec"), str):
        refuse("it does not say which family it is about")
    listed = problem["kind"] == "functions"
    if set(about) != ({"spec", "names", "origin"} if listed else {"spec"}):
        refuse("what it says of its family has other fields than those known here")
    _POSED[problem["kind"]](about, problem)
    return Checked(
        spec=about["spec"],
        statements=tuple(statements),
        conditions=conditions,
        checker="the kernel",
        assumed="the tables are those of the members that are named" if listed else "",
    )


def _hidden_set(about: dict[str, Any], problem: dict[str, Any]) -> None:
    scheme = Scheme.read(about["spec"])
    if problem != scheme.problem:
        refuse("its problem is not that of its spec")
    scheme.check_layer()


def _residues(about: dict[str, Any], problem: dict[str, Any]) -> None:
    check_residues(read_residues(about["spec"]), problem)


def _functions(about: dict[str, Any], problem: dict[str, Any]) -> None:
    named = {"given": {"names": about["names"], "problem": problem}, "tables": {}}
    text = json.dumps(named, sort_keys=True, separators=(",", ":"))
    kind, _, rest = about["spec"].partition(":")
    count, digest = len(problem["tables"]), hashlib.sha256(text.encode()).hexdigest()
    start, _, end = rest.partition(",")
    right = end == f"members={count},sha256={digest}" and start[:2] == "d=" and start[2:].isdigit()
    if kind not in ("functions", "factors", "layers") or not right:
        refuse(f"{shown(about['spec'], 100)} does not name these members by their digest")
    names = about["names"]
    if not isinstance(names, list) or len(names) != count or len(set(names)) != count:
        refuse(f"its names are not {count} different ones")


_POSED = {"hidden-set": _hidden_set, "residues": _residues, "functions": _functions}
