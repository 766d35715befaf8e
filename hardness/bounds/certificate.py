"""Certificates: claims about a family, and the data that they follow from."""

import json
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hardness.bounds import checker
from hardness.bounds.checker.certificate import KINDS, claim_as_written
from hardness.bounds.checker.theorem import (
    NUMBERS,
    Known,
    ruled_out_by_stat,
    ruled_out_by_vstat,
)
from hardness.bounds.quantities import VACUOUS, is_upper, put_in, vacuous
from instances.arguments import located
from instances.disk import quoted, read_bytes, read_json
from instances.errors import DamagedFile, ToolkitError, unknown, withdrawn
from instances.numbers import brief, write
from instances.result import Cited, Math, Result, TableRow
from instances.text import shortened

if TYPE_CHECKING:
    from pandas import DataFrame

_FULL_LENGTH = 20  # characters up to which a value is written in full
_MOST_BYTES = 1 << 26  # of a file; the stand-alone checker has the same limit
_MOST_VALUES = 1 << 22  # in a file: decoded, each takes about 100 bytes
_TOLERANCE_DIGITS = 60  # decimal places of the smallest tolerance that is tried
NOT_PAPERS = {"information": "by counting", "this certificate": "this certificate"}


class NoClaim(ToolkitError):
    """No theorem applies to this case, or all bounds are trivial; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claimed number.

    terms: its parameters, numbers or "any"; `upper` is the upper end of a value that is known as an
    interval. closed_form, numbers: the formula, and the values of its symbols. source: the key of
    the method in docs/references.md.
    """

    quantity: str
    value: Fraction
    terms: dict[str, Fraction | str]
    closed_form: str
    source: str
    numbers: dict[str, Any] = field(compare=False)

    @staticmethod
    def from_checker(claim: "checker.Claim") -> "Claim":
        """Convert a claim of the checker."""
        terms = {n: v if isinstance(v, str) else Fraction(v) for n, v in claim.parameters.items()}
        value = Fraction(claim.value)
        return Claim(quantity=claim.quantity, value=value, terms=terms, source=claim.source,
                     closed_form=claim.closed_form, numbers=claim.numbers)  # fmt: skip

    @property
    def upper(self) -> Fraction:
        """The upper end of the value; the value itself if it is exact."""
        return Fraction(self.terms.get("upper", self.value))

    @property
    def kind(self) -> Literal["exact", "interval", "lower end", "reduction"]:
        """How the value is known: exactly, by two ends or one, or if another problem is hard."""
        if self.quantity.startswith("lwe-"):
            return "reduction"
        if self.quantity == "sda-all-subsets" and "upper" not in self.terms:
            return "lower end"
        return "exact" if self.upper == self.value else "interval"

    @property
    def parameters(self) -> dict[str, str]:
        """The terms as text."""
        return {k: v if isinstance(v, str) else write(v, ratio=True) for k, v in self.terms.items()}

    @property
    def formula(self) -> Math | None:
        """The closed form with numbers inserted; None if it has words or is just the value."""
        formula = put_in(self.closed_form, self.numbers | self.terms, self.value)
        return formula if formula and formula != write(self.value, ratio=True) else None

    @property
    def vacuous(self) -> bool:
        """Whether the bound is trivial: it holds for every learner."""
        return vacuous(self.quantity, self.value)

    def value_text(self, number: Callable[[Fraction, bool], str]) -> str:
        """Write the value, or both ends of an interval; a trivial bound is written "vacuous".

        number: writes one number, rounded up if its second argument is true, else down.
        """
        if self.vacuous:
            return VACUOUS
        if self.kind == "lower end":
            return f"at least {number(self.value, False)}"
        if self.upper == self.value:
            return number(self.value, is_upper(self.quantity))
        return f"{number(self.value, False)}..{number(self.upper, True)}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Result):
    """Claims about a family, with the problem, the terms and the witness that they follow from.

    unproved: named learners about which nothing follows, with the reason. origin: the names and the
    source of listed members, which the checker cannot verify. posed: what the checker knows of the
    members, if it was computed before.

    >>> import hardness
    >>> certificate = hardness.certify("parity:d=8,m=3")
    >>> certificate["sq-dimension"].value, certificate["stat-queries"].vacuous
    (Fraction(35, 1), True)
    """

    spec: str
    problem: dict[str, Any]
    terms: dict[str, Any]
    witness: dict[str, Any]
    claims: tuple[Claim, ...]
    unproved: dict[str, str] = field(default_factory=dict, compare=False)
    origin: dict[str, Any] | None = None
    posed: Known | None = field(default=None, compare=False)

    def value(self, quantity: str) -> str:
        """Return the claimed value of a quantity as text; raises UsageError without a claim."""
        return write(self[quantity].value, ratio=True)

    def integer(self, quantity: str) -> int:
        """Return the claimed value of an integer quantity; raises UsageError without a claim."""
        return int(self[quantity].value)

    def __getitem__(self, quantity: str) -> Claim:
        """Return the claim about a quantity; raises UsageError if there is none."""
        claims = {claim.quantity: claim for claim in self.claims}
        if quantity not in claims:
            raise unknown("claim", quantity, claims)
        return claims[quantity]

    @cached_property
    def parsed(self) -> Any:
        """The problem as the checker reads it."""
        return checker.read_problem(self.problem)

    @cached_property
    def known(self) -> Known:
        """The facts about the members that the checker derives from the problem."""
        kind = KINDS[self.problem["kind"]]
        return self.posed or kind.know(self.parsed, self.witness)

    @property
    def vacuous(self) -> bool:
        """Whether every bound on learners is vacuous, and the SQ-DIM is 1."""
        return all(
            claim.vacuous
            or claim.quantity.endswith("-correlation")
            or claim.quantity.startswith("sda-")
            or (claim.quantity, claim.value) == ("sq-dimension", 1)
            for claim in self.claims
        )

    def first_tolerance(self, quantity: str) -> Fraction | None:
        """Find the smallest tolerance, of two digits, at which a bound on queries is not vacuous.

        It is not vacuous at any larger tolerance either. None if it is vacuous at all tolerances;
        none below 1e-59 is tried. quantity: a claim about STAT or correlational queries.
        """
        numbers, continuum = self[quantity].numbers, self.known.members.continuum

        def informative(tau: Fraction) -> bool:
            return self._is_informative(
                numbers, ruled_out_by_stat(NUMBERS[continuum], numbers["v"], tau)
            )

        if not informative(Fraction(1)):
            return None
        digits = next(
            (n for n in range(2, _TOLERANCE_DIGITS) if not informative(Fraction(10, 10**n))),
            _TOLERANCE_DIGITS,
        )
        place = bisect_left(
            range(10, 100), True, key=lambda n: informative(Fraction(n, 10**digits))
        )
        return Fraction(10 + place, 10**digits)

    def last_vstat(self) -> int | None:
        """Find the largest t below the present one at which a bound for VSTAT(t) is not vacuous.

        It is not vacuous at any smaller t either. 0 if it is vacuous at t = 1. None if no formula
        in t gives the number of members that a query eliminates.
        """
        claim, numbers = self["vstat-queries"], self["vstat-queries"].numbers
        continuum, ways = self.known.members.continuum, dict(numbers)
        if continuum:  # of directions, of which both formulas hold, and the lower one is used
            ways["v"] = self.known.gram.moves
        arithmetic = NUMBERS[continuum]

        def trivial(t: int) -> bool:
            ruled_out = list[Any]()
            if "w" in ways:
                ruled_out.append(ruled_out_by_vstat(arithmetic, ways["w"], t))
            if "v" in ways:
                ruled_out.append(ruled_out_by_stat(arithmetic, ways["v"], Fraction(2, t)))
            return not self._is_informative(numbers, min(ruled_out))

        t = int(Fraction(claim.terms["t"]))
        if not {"v", "w"} & set(ways):
            return 0 if t == 1 else None
        low, high = 0, t  # no `bisect`: a range has at most 2^63 elements
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if trivial(middle) else (middle, high)
        return low

    def _is_informative(self, numbers: dict[str, Any], ruled_out: Any) -> bool:
        """Whether a bound on queries is not vacuous if a query eliminates `ruled_out` members."""
        if not ruled_out:
            return bool(numbers["K"] < numbers["N"])
        needed = numbers.get("T", Fraction(self.terms["success"]) * numbers["N"]) - numbers["K"]
        return not vacuous("stat-queries", max(0, math.ceil(needed / Fraction(ruled_out))))

    @property
    def factors(self) -> bool:
        """Whether the members are the factors of a family's labels, tabulated one by one."""
        path = (self.origin or {}).get("path", "")
        return self.spec.startswith("factors:") or self.spec == path

    @property
    def reduces(self) -> bool:
        """Whether a claim rests on the hardness of another problem."""
        return any(claim.kind == "reduction" for claim in self.claims)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Certificate":
        """Read a certificate from a file and compute its claims again; raises DamagedFile.

        `hardness.check` also compares its problem with its spec.
        """
        where = Path(located("path", path))
        data = read_file(where)
        try:
            return Certificate.read(data)
        except DamagedFile as error:
            raise DamagedFile(f"{where}: {error}") from error

    @staticmethod
    def read(data: dict[str, Any]) -> "Certificate":
        """Read a dictionary of `to_dict` and compute its claims again; raises DamagedFile."""
        require_format(data)
        try:
            proved = checker.check(data)
        except checker.Refused as reason:
            raise DamagedFile(f"a certificate is refused: {reason}") from reason
        if fault := _origin_fault(data):
            raise DamagedFile(f"a certificate is refused: {fault}")
        return Certificate(
            spec=data["spec"],
            problem=data["problem"],
            terms=data["terms"],
            witness=data["witness"],
            claims=tuple(map(Claim.from_checker, proved.claims)),
            unproved=proved.unproved,
            origin=data.get("origin"),
        )

    def _rows(self) -> list[TableRow]:
        return [
            {
                "quantity": c.quantity,
                "value": c.value_text(_brief),
                "formula": c.formula,
                "terms": ", ".join(f"{k} {v}" for k, v in c.parameters.items() if k != "upper"),
                "known": c.kind,
                "source": NOT_PAPERS.get(c.source) or Cited(c.source),
            }
            for c in self.claims
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row per claim; values are exact, as texts."""
        from instances.result import frame

        return frame(
            [
                {
                    "spec": self.spec,
                    "quantity": c.quantity,
                    "value": write(c.value, ratio=True),
                    "kind": c.kind,
                    "parameters": c.parameters,
                    "formula": c.closed_form,
                    "source": c.source,
                    "vacuous": c.vacuous,
                }
                for c in self.claims
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `hardness check` accepts."""
        return {
            "format": checker.FORMAT,
            "spec": self.spec,
            **({"origin": self.origin} if self.origin else {}),
            "problem": self.problem,
            "terms": self.terms,
            "witness": self.witness,
            "claims": [claim_as_written(c.quantity, c.terms, c.value) for c in self.claims],
        }

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the text of `to_json` to a .json file, or the table; raises AlreadyExists."""
        where = Path(located("path", path))
        if where.suffix != ".json":
            return super().save(path, force=force)
        from instances.disk import write_text

        return write_text(where, self.to_json() + "\n", force=force)

    def to_json(self) -> str:
        """Write the text of the certificate's file: a line for each field and each claim."""
        data = self.to_dict()
        claims = ",\n  ".join(json.dumps(claim) for claim in data.pop("claims"))
        lines = [f'"{name}": {json.dumps(part)}' for name, part in data.items()]
        return "{" + ",\n ".join([*lines, f'"claims": [\n  {claims}]']) + "}"


def _origin_fault(data: dict[str, Any]) -> str:
    """Return what is wrong with spec and origin, which the checker does not read; else ""."""
    spec, origin = data["spec"], data.get("origin")
    if not isinstance(spec, str):
        return "its spec is not one line of printable characters without spaces"
    if data["problem"]["kind"] != "functions":
        return "" if origin is None else "only listed functions have an origin"
    if not isinstance(origin, dict) or not {"names", "path", "sha256"} <= set(origin):
        return "its origin is not an object with names, path and sha256"
    names = origin["names"]
    if not isinstance(names, list) or len(names) != len(data["problem"]["tables"]):
        return "its names are not as many as its tables"
    texts = [*names, *(origin[name] for name in origin if name != "names")]
    return "" if all(isinstance(text, str) for text in texts) else "its origin is not text"


def read_file(path: Path) -> dict[str, Any]:
    """Read the JSON object of a certificate, as strictly as the checker; raises DamagedFile.

    An object of another format is returned too: `require_format` refuses it.
    """
    content = read_bytes(path, _MOST_BYTES)
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise DamagedFile(f"{path} cannot be read as JSON: it holds over {_MOST_VALUES} values")
    data = read_json(path, content)
    if data.get("format") == checker.FORMAT:
        try:
            checker.load(content.decode())
        except checker.Refused as reason:
            raise DamagedFile(f"{path} cannot be read as JSON: {reason}") from reason
    return data


def require_format(data: dict[str, Any]) -> None:
    """Refuse a file that is not a certificate of this format; raises DamagedFile."""
    name = data.get("format")
    if name == checker.FORMAT:
        return
    if str(name).startswith("hardness-certificate/"):
        raise DamagedFile(
            f"the format of a certificate must be {checker.FORMAT}, got {quoted(name)}; "
            "make it again by the command that made it, as `hardness certify`"
        )
    if gone := withdrawn("format", str(name)):
        raise DamagedFile(gone)
    raise DamagedFile(f"this is not a certificate: its format is {quoted(name)}")


def _brief(value: Fraction, up: bool) -> str:
    text = write(value, ratio=True)
    if value.denominator == 1 or len(text) <= _FULL_LENGTH:
        return shortened(text, _FULL_LENGTH)
    return f"about {brief(value, up=up)}"
