"""Certificates: the kernel checks their proof; is their problem that of the family they name?

What parameters a family may have is said once, in `instances`: a spec that `certify` refuses is
refused here for the same reason.
"""

import re
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.check import kernel
from hardness.check.kernel.core import listed, read, small
from hardness.check.problems import digest_of, subject
from hardness.check.verdict import Checked, refuse
from instances.capabilities import PROVED_AS, SCHEME
from instances.catalog import CATALOG
from instances.errors import DamagedFile, UsageError
from instances.family import Family
from instances.spec import FAMILIES, parse_stored
from instances.strict import shown as cut
from instances.threshold import rational
from instances.userfile import NAME, fits_name
from instances.withdrawn import withdrawn

_PRINTABLE = re.compile("[!-~]{1,2400}")  # ASCII without spaces: g has 2000 characters at most
_NAME = re.compile(r"(functions|factors):d=([1-9]\d{0,8}),.*", re.ASCII)
_OWN = re.compile(r"[^\W\d][\w-]*(:(?!.*sha256=)[^\s:]+)?")  # a name that a user gave, no digest
_FLOAT = Fraction(1, 1 << 46)  # of a probability: float64 makes the weights of a Gaussian
_ROUNDED = Fraction(1, 1 << 62)  # probabilities are multiples of 2^-64


def check(data: dict[str, Any]) -> Checked:
    """Have the kernel check a certificate.

    Raises Refuted if something does not follow, DamagedFile for a file that is not a certificate.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    found = data.get("format")
    if found == kernel.FORMAT:
        return check_certificate(data)
    if str(found).startswith("hardness-certificate/"):
        raise DamagedFile(
            f"certificate format {cut(found)} given: this version reads {kernel.FORMAT}; "
            "`hardness certify` makes it again"
        )
    if gone := withdrawn("format", str(found)):
        raise DamagedFile(gone)
    raise DamagedFile(f"this is no certificate: its format is {cut(found)}")


def check_certificate(data: dict[str, Any]) -> Checked:
    """Have the kernel check a certificate, and hold its problem against its spec.

    Raises Refuted where one of them does not hold.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check_certificate(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    try:
        kernel.intact(data)
        about, problem = data["about"], data["problem"]
        given = problem["kind"] == "functions"
        fields = {"spec", "names", "origin"} if given else {"spec"}
        said = [text for pair in about.get("no_claim", {}).items() for text in pair]
        if set(about) - {"no_claim", *(["digest"] if given else [])} != fields or not all(
            map(fits_name, said)
        ):
            refuse("what it says of its family has other fields than those known here")
        (_functions if given else _family)(about, problem)
        conditions, *statements = kernel.check(data)
    except kernel.Refused as reason:
        refuse(str(reason))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        refuse(f"what it says of its family is malformed ({type(error).__name__})")
    return Checked(
        spec=about["spec"],
        statements=tuple(statements),
        conditions=conditions,
        assumed="the tables are those of the members that are named" if given else "",
    )


def _family(about: dict[str, Any], problem: dict[str, Any]) -> None:
    """Hold a problem against that of a spec, and labels of hidden sets against the exact heads."""
    family = read_spec(about["spec"])
    try:
        found = subject(family)
    except UsageError as error:
        refuse(f"certify refuses its family: {error}")
    if found is None or found[0].spec != family.spec:
        refuse(f"{cut(about['spec'], 80)} is not a family that is checked so")
    family, wanted = found[0], found[1]()
    if problem["kind"] == wanted["kind"] == "residues":
        _hold(problem["secret"]["entries"], wanted["secret"]["entries"], "entries")
        _hold(problem["errors"], wanted["errors"], "errors")
        secret = {**wanted["secret"], "entries": problem["secret"]["entries"]}
        wanted = {**wanted, "secret": secret, "errors": problem["errors"]}
    if problem != wanted:
        refuse("its problem is not that of its spec")
    if problem["kind"] == "hidden-set":
        check_layer(family)


def _hold(given: Any, wanted: Any, what: str) -> None:
    """Hold a law against that of a spec, which on another processor may differ in a last digit."""
    if given is None or wanted is None:
        if given != wanted:
            refuse(f"there are {what} in the problem and none in its spec, or the other way round")
        return
    one, other = _law(given, what), _law(wanted, what)
    for value in one.keys() | other.keys():
        chance = other.get(value, Fraction(0))
        if abs(one.get(value, Fraction(0)) - chance) > _ROUNDED + chance * _FLOAT:
            refuse(f"the {what} of the problem are not those of its spec, as at {value}")


def _law(given: Any, what: str) -> dict[int, Fraction]:
    first, counts = listed(given)
    least = small(first, -(1 << 40), 1 << 40, f"the least of {what}")
    found = read("rational*", counts)
    total = sum(found)
    return {least + i: count / total for i, count in enumerate(found) if count}


def _functions(about: dict[str, Any], problem: dict[str, Any]) -> None:
    names, origin, tables = listed(about["names"]), about["origin"], problem["tables"]
    count, named = len(tables), digest_of(names, problem)
    spec, found = about["spec"], None if "digest" in about else _NAME.fullmatch(about["spec"])
    if "digest" in about:
        own = _OWN.fullmatch(spec) and spec.partition(":")[0] not in {*FAMILIES, *CATALOG}
        if not own or not f":{origin['path']}".endswith(f":{spec}"):
            refuse(f"{cut(spec, 100)} is not a name of what its origin has")
        if about["digest"] != named:
            refuse("its members are not those of its digest")
    elif not found or spec[found.end(2) :] != f",members={count},sha256={named}":
        refuse(f"{cut(spec, 100)} does not name these members by their digest")
    if found and found[1] == "functions" and found[2] != str(problem["signs"]):
        refuse(f"its functions are of {problem['signs']} coordinates")
    if len(names) != count or not all(map(fits_name, names)) or len(set(names)) != count:
        refuse(f"its names are not {count} different ones, each {NAME}")
    if set(origin) - {"of"} != {"path", "sha256"} or not all(map(fits_name, origin.values())):
        refuse("its origin must be a path and the SHA-256 of what is there")
    if "of" in origin and not read("positive", origin["of"]) > count:
        refuse("the family that its members are chosen from is no larger")


def read_spec(spec: Any) -> Family:
    """Read the canonical spec of a family; raises Refuted for other text.

    >>> read_spec("parity:d=8,m=3,noise=0,rho=3").size
    35
    """
    if not isinstance(spec, str) or not _PRINTABLE.fullmatch(spec):
        refuse("its spec is not one line of printable characters without spaces")
    try:
        found = parse_stored(spec)
    except UsageError as error:
        refuse(f"certify refuses its family: {error}")
    if found.spec != spec:
        refuse(f"{spec[:80]} is not in its canonical form, {found.spec[:80]}")
    return found


def check_layer(family: Family) -> None:
    """Evaluate the exact heads of hidden sets for every count; raises Refuted.

    B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i), x_h = rho^2h, is g(h) for every h; a head that counts
    nothing has h = 0.
    """
    sets = PROVED_AS.of(family) or SCHEME.need(family)
    rho = rational(sets.rho)
    for h, value in enumerate(sets.values):
        total = sum((head.response(rho ** (2 * h)) for head in sets.heads), fmpq(0))
        if total != rational(Fraction(value)):
            refuse(f"the heads of its spec do not compute its labels: B({h}) is not {value}")
