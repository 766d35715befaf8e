"""Check any certificate: its claims by the checker, and whether its problem is that of its spec."""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.bounds import checker
from hardness.bounds.certificate import Certificate, require_format
from hardness.bounds.certify import certified_problem
from hardness.bounds.checker.reading import Refused, fields, need
from hardness.bounds.checker.residues import read_law
from hardness.bounds.members import digest_of
from instances.disk import quoted
from instances.errors import DamagedFile, Refuted, UsageError
from instances.family import Family
from instances.listedfunctions import NAME_TEXT, fits_name
from instances.result import Result, TableRow
from instances.spec import FAMILIES, catalog, parse_stored
from instances.symmetric import rational

_PRINTABLE = re.compile("[!-~]{1,2400}")  # ASCII without spaces; g has at most 2000 characters
_DIGEST_NAME = re.compile(r"(functions|factors):d=([1-9]\d{0,8}),.*", re.ASCII)
_USER_NAME = re.compile(r"[^\W\d][\w-]*(:(?!.*sha256=)[^\s:]+)?")  # without digest
_GAUSSIAN_ERROR = Fraction(1, 1 << 46)  # relative, of probabilities computed from float64 weights
_LAW_ROUNDING = Fraction(1, 1 << 62)  # probabilities are multiples of 2^-64


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(Result):
    """An accepted certificate: its claims follow, and its problem is that of its spec.

    assumed: what cannot be verified from the file; empty for most certificates.
    """

    certificate: Certificate
    assumed: str = ""
    file: str | None = field(default=None, compare=False)  # the path of the checked file

    @property
    def spec(self) -> str:
        """The spec of the family."""
        return self.certificate.spec

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary that `hardness check --json` prints."""
        return {
            **({"file": self.file} if self.file else {}),
            "accepted": True,
            "spec": self.spec,
            "assumed": self.assumed or None,
            "claims": self.certificate.to_dict()["claims"],
        }

    def _rows(self) -> list[TableRow]:
        return self.certificate._rows()


def check(data: dict[str, Any]) -> Checked:
    """Compute the claims of a certificate again, and compare its problem with its spec.

    Raises Refuted if a claim does not follow or the problem differs, and DamagedFile for a file
    that is not a certificate.

    >>> import hardness
    >>> check(hardness.certify("parity:d=8,m=3").to_dict()).certificate.value("sq-dimension")
    '35'
    """
    require_format(data)
    try:
        certificate = Certificate.read(data)
        spec, problem, origin = certificate.spec, certificate.problem, certificate.origin
        if origin is None:
            _compare_family(spec, problem)
        else:
            _compare_functions(spec, problem, origin)
    except (Refused, DamagedFile) as error:
        reason = str(error).removeprefix("a certificate is refused: ")
        raise Refuted(f"certificate refused: {reason}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = f"what it says of its family is malformed ({type(error).__name__})"
        raise Refuted(f"certificate refused: {reason}") from error
    assumed = "the tables are those of the members that are named" if origin else ""
    return Checked(certificate=certificate, assumed=assumed)


def _compare_family(spec: str, problem: dict[str, Any]) -> None:
    """Compare a problem with that of a spec, and labels of hidden sets with the exact heads."""
    family = read_spec(spec)
    try:
        certified = certified_problem(family)
    except UsageError as error:
        raise Refused(f"certify refuses its family: {error}") from error
    if certified is None or certified[0].spec != family.spec:
        raise Refused(f"{quoted(spec)} is not a family that is checked so")
    family, wanted = certified
    if problem["kind"] == wanted["kind"] == "residues":
        _compare_law(problem["secret"]["entries"], wanted["secret"]["entries"], "entries")
        _compare_law(problem["errors"], wanted["errors"], "errors")
        secret = {**wanted["secret"], "entries": problem["secret"]["entries"]}
        wanted = {**wanted, "secret": secret, "errors": problem["errors"]}
    need(problem == wanted, "its problem is not that of its spec")
    if problem["kind"] == "hidden-set":
        check_layer(family)


def _compare_law(data: Any, expected: Any, subject: str) -> None:
    """Compare a distribution with that of a spec; other processors may differ in a last digit."""
    law, right = read_law(data), read_law(expected)
    if law is None or right is None:
        reason = f"there are {subject} in the problem and none in its spec, or the other way round"
        need(law is right, reason)
        return
    total, of_spec = sum(law.values()), sum(right.values())
    for value in law.keys() | right.keys():
        probability = Fraction(right.get(value, 0), of_spec)
        off = abs(Fraction(law.get(value, 0), total) - probability)
        near = off <= _LAW_ROUNDING + probability * _GAUSSIAN_ERROR
        need(near, f"the {subject} of the problem are not those of its spec, as at {value}")


def _compare_functions(spec: str, problem: dict[str, Any], origin: dict[str, Any]) -> None:
    """Compare the names and the origin of listed functions with their spec."""
    fields(origin, {"names", "path", "sha256"}, "its origin", {"of"})
    names, count = origin["names"], len(problem["tables"])
    places = [origin[name] for name in ("path", "sha256", "of") if name in origin]
    if not all(map(fits_name, places)):
        raise Refused("its origin must be a path and the SHA-256 of what is there")
    named = _DIGEST_NAME.fullmatch(spec)
    if named:
        right = f",members={count},sha256={digest_of(names, problem)}"
        if spec[named.end(2) :] != right:
            raise Refused(f"{quoted(spec)} does not name these members by their digest")
        if named[1] == "functions" and named[2] != str(problem["signs"]):
            raise Refused(f"its functions are of {problem['signs']} coordinates")
    else:
        free = _USER_NAME.fullmatch(spec) and spec.partition(":")[0] not in {*FAMILIES, *catalog()}
        if not free or not f":{origin['path']}".endswith(f":{spec}"):
            raise Refused(f"{quoted(spec)} is not a name of what its origin has")
    if not all(map(fits_name, names)) or len(set(names)) != count:
        raise Refused(f"its names are not {count} different ones, each {NAME_TEXT}")
    larger = "of" not in origin or checker.read("positive", origin["of"]) > count
    need(larger, "the family that its members are chosen from is no larger")


def read_spec(spec: str) -> Family:
    """Read the canonical spec of a family; raises Refused for any other text.

    >>> read_spec("parity:d=8,m=3,noise=0,rho=3").size
    35
    """
    if not _PRINTABLE.fullmatch(spec):
        raise Refused("its spec is not one line of printable characters without spaces")
    try:
        family = parse_stored(spec)
    except UsageError as error:
        raise Refused(f"certify refuses its family: {error}") from error
    canonical = family.spec
    need(canonical == spec, f"{spec[:80]} is not in its canonical form, {canonical[:80]}")
    return family


def check_layer(family: Family) -> None:
    """Evaluate the exact heads of hidden sets for every count; raises Refused.

    B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i) with x_h = rho^(2h) must be g(h) for every h. A bias
    head has x = 1 for all h.
    """
    sets = family.hidden_sets or family.refuse("hidden_sets")
    rho = rational(sets.rho)
    for h, value in enumerate(sets.values):
        right = rational(Fraction(value))
        total = sum((head.response(rho ** (2 * h)) for head in sets.heads), fmpq(0))
        need(total == right, f"its heads do not compute its labels: B({h}) is not {value}")
