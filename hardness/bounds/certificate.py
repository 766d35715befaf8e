"""What a certificate is: claims about a family, and what they follow from."""

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
from hardness.bounds.quantities import WORD, is_upper, put_in, vacuous
from instances.arguments import located
from instances.disk import quoted, read_bytes, read_json
from instances.errors import DamagedFile, ToolkitError, unknown, withdrawn
from instances.numbers import brief, write
from instances.result import Cited, Math, Result, TableRow
from instances.text import shortened

if TYPE_CHECKING:
    from pandas import DataFrame

_LONG = 20  # characters of a value that is shown in full
_MOST_BYTES = 1 << 26  # of a file, as the checker alone reads
_MOST_VALUES = 1 << 22  # in it: decoded, each takes some 100 bytes
_FINEST = 60  # digits of a tolerance
OURS = {"information": "by counting", "this certificate": "this certificate"}  # no papers


class NoClaim(ToolkitError):
    """No theorem here is about this case, or none says anything; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number that is claimed.

    terms: what it is about, numbers or "any"; `upper` is the other end of a value that is not known
    exactly. closed_form, numbers: its formula, and its values; source: the key of whom it is
    after in docs/references.md.
    """

    quantity: str
    value: Fraction
    terms: dict[str, Fraction | str]
    closed_form: str
    source: str
    numbers: dict[str, Any] = field(compare=False)

    @staticmethod
    def from_checker(claim: "checker.Claim") -> "Claim":
        """Take a claim of the checker."""
        terms = {n: v if isinstance(v, str) else Fraction(v) for n, v in claim.parameters.items()}
        value = Fraction(claim.value)
        return Claim(quantity=claim.quantity, value=value, terms=terms, source=claim.source,
                     closed_form=claim.closed_form, numbers=claim.numbers)  # fmt: skip

    @property
    def upper(self) -> Fraction:
        """The upper end of the value: itself, of an exact one."""
        return Fraction(self.terms.get("upper", self.value))

    @property
    def kind(self) -> Literal["exact", "interval", "lower end", "reduction"]:
        """How it is known: computed, to within two ends or one, or if a problem is hard."""
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
        """Its closed form with the numbers put in; None if that has words or is the value."""
        put = put_in(self.closed_form, self.numbers | self.terms, self.value)
        return put if put and put != write(self.value, ratio=True) else None

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing that is not known of every learner."""
        return vacuous(self.quantity, self.value)

    def shown(self, number: Callable[[Fraction, bool], str]) -> str:
        """Write the value, or both its ends; number: writes one, rounded up or down.

        A bound that says nothing is called vacuous.
        """
        if self.vacuous:
            return WORD
        if self.kind == "lower end":
            return f"at least {number(self.value, False)}"
        if self.upper == self.value:
            return number(self.value, is_upper(self.quantity))
        return f"{number(self.value, False)}..{number(self.upper, True)}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Result):
    """Claims about a family, with the problem, the terms and the witness that they follow from.

    origin: of listed members, their names and where they come from; it is taken as given.

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
    posed: Known | None = field(default=None, compare=False)  # what is known of its members

    def value(self, quantity: str) -> str:
        """Return the claimed value of a quantity; raises UsageError for one that is not claimed."""
        return write(self[quantity].value, ratio=True)

    def integer(self, quantity: str) -> int:
        """Return the claimed value of a quantity that is an integer; raises UsageError."""
        return int(self[quantity].value)

    def __getitem__(self, quantity: str) -> Claim:
        """Return the claim about a quantity; raises UsageError for one that is not claimed."""
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
        """What the checker knows of its members."""
        kind = KINDS[self.problem["kind"]]
        return self.posed or kind.know(self.parsed, self.witness)

    @property
    def vacuous(self) -> bool:
        """Whether every bound on learners is vacuous, and no two members are within 1/2."""
        return all(
            claim.vacuous
            or claim.quantity.endswith("-correlation")
            or claim.quantity.startswith("sda-")
            or (claim.quantity, claim.value) == ("sq-dimension", 1)
            for claim in self.claims
        )

    def first_tolerance(self, quantity: str) -> Fraction | None:
        """Find the least tolerance of two digits at which a bound on queries is not vacuous.

        Nor is it at any wider one; None if it is at all. Below 1e-59 none is looked at. quantity: a
        claim about STAT or correlational queries.
        """
        numbers, continuum = self[quantity].numbers, self.known.members.continuum

        def speaks(tau: Fraction) -> bool:
            return self._speaks(numbers, ruled_out_by_stat(NUMBERS[continuum], numbers["v"], tau))

        if not speaks(Fraction(1)):
            return None
        digits = next((n for n in range(2, _FINEST) if not speaks(Fraction(10, 10**n))), _FINEST)
        place = bisect_left(range(10, 100), True, key=lambda n: speaks(Fraction(n, 10**digits)))
        return Fraction(10 + place, 10**digits)

    def last_vstat(self) -> int | None:
        """Find a t below the present one, by the formula the largest, with a bound for VSTAT(t).

        So it does at any smaller t. 0 if it does not at t = 1. None where what a query eliminates
        follows from no formula in t.
        """
        claim, numbers = self["vstat-queries"], self["vstat-queries"].numbers
        arithmetic = NUMBERS[self.known.members.continuum]

        def silent(t: int) -> bool:
            if "w" in numbers:
                return not self._speaks(numbers, ruled_out_by_vstat(arithmetic, numbers["w"], t))
            ruled_out = ruled_out_by_stat(arithmetic, numbers["v"], Fraction(2, t))
            return not self._speaks(numbers, ruled_out)

        t = int(Fraction(claim.terms["t"]))
        if not {"v", "w"} & set(numbers):
            return 0 if t == 1 else None
        low, high = 0, t  # of any size, where a range has a length of at most 2^63
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if silent(middle) else (middle, high)
        return low

    def _speaks(self, numbers: dict[str, Any], ruled_out: Any) -> bool:
        """Whether a bound on queries says something if each rules out so many members."""
        if not ruled_out:
            return bool(numbers["K"] < numbers["N"])
        needed = numbers.get("T", Fraction(self.terms["success"]) * numbers["N"]) - numbers["K"]
        return not vacuous("stat-queries", max(0, math.ceil(needed / Fraction(ruled_out))))

    @property
    def factors(self) -> bool:
        """Whether its members are the factors of a family's labels, which its origin names."""
        path = (self.origin or {}).get("path", "")
        return self.spec.startswith("factors:") or self.spec == path

    @property
    def reduces(self) -> bool:
        """Whether a claim rests on the hardness of another problem."""
        return any(claim.kind == "reduction" for claim in self.claims)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Certificate":
        """Read a certificate from a file and compute its claims again; raises DamagedFile.

        That its problem is that of its spec, `check` says.
        """
        where = Path(located("path", path))
        data = read_file(where)
        try:
            return Certificate.read(data)
        except DamagedFile as error:
            raise DamagedFile(f"{where}: {error}") from error

    @staticmethod
    def read(data: dict[str, Any]) -> "Certificate":
        """Read what `to_dict` wrote, and compute its claims again; raises DamagedFile."""
        require_format(data)
        try:
            proved = checker.check(data)
        except checker.Refused as reason:
            raise DamagedFile(f"a certificate is refused: {reason}") from reason
        if wrong := _misnamed(data):
            raise DamagedFile(f"a certificate is refused: {wrong}")
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
                "value": c.shown(_brief),
                "formula": c.formula,
                "terms": ", ".join(f"{k} {v}" for k, v in c.parameters.items() if k != "upper"),
                "known": c.kind,
                "source": OURS.get(c.source) or Cited(c.source),
            }
            for c in self.claims
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a claim; values are exact, so texts."""
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
        """Write the file that `hardness check` accepts."""
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
        """Write a file as all results do, as .json the text of `to_json`; raises AlreadyExists."""
        where = Path(located("path", path))
        if where.suffix != ".json":
            return super().save(path, force=force)
        from instances.disk import write_text

        return write_text(where, self.to_json() + "\n", force=force)

    def to_json(self) -> str:
        """Write the text of its file: a line a field, and a line a claim."""
        data = self.to_dict()
        claims = ",\n  ".join(json.dumps(claim) for claim in data.pop("claims"))
        lines = [f'"{name}": {json.dumps(part)}' for name, part in data.items()]
        return "{" + ",\n ".join([*lines, f'"claims": [\n  {claims}]']) + "}"


def _misnamed(data: dict[str, Any]) -> str:
    """Say what is wrong with the types of spec and origin, which the checker does not read."""
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

    Objects of another format are read too, for whoever refuses them.
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
    if value.denominator == 1 or len(text) <= _LONG:
        return shortened(text, _LONG)
    return f"about {brief(value, up=up)}"
