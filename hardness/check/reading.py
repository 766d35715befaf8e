"""Reading a certificate's numbers strictly; a refusal is a Refuted with its reason."""

import re
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import Any, NoReturn

from flint import fmpq, fmpz

from instances.errors import Refuted
from instances.result import Result, TableRow
from instances.strict import shown
from instances.text import printable
from instances.threshold import python_fraction

_RATIONAL = re.compile(r"(0|-?[1-9]\d*)(/[1-9]\d*)?", re.ASCII)
_MAX_DIGITS = 4_000_000  # p and q can be as long as q^n of 65536 residues of 48 bits


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(Result):
    """What a file was found to prove, in the checker's own words."""

    spec: str
    statements: tuple[str, ...]
    assumed: str = ""  # what is taken from the file as it stands; nothing of most certificates
    conditions: str = ""  # what the statements are about, where they do not say it themselves
    checker: str = "the large checker"

    def to_dict(self) -> dict[str, Any]:
        """Give what was found as `hardness check --json` does."""
        return {
            "accepted": True,
            "checker": self.checker,
            "spec": self.spec,
            "conditions": self.conditions or None,
            "assumed": self.assumed or None,
            "statements": list(self.statements),
        }

    def _summary(self) -> tuple[str, list[TableRow]]:
        given = f", given {self.assumed}" if self.assumed else ""
        head = f"accepted by {self.checker}{given}: {self.spec}"
        return head, [{"proven": one} for one in self.statements]

    def __repr__(self) -> str:
        lines = [self._summary()[0], *(f"  {one}" for one in self.statements)]
        lines += [self.conditions] if self.conditions else []
        return "\n".join(fill(printable(one), 80, subsequent_indent="    ") for one in lines)


def refuse(reason: str, what: str = "certificate") -> NoReturn:
    """Refuse the certificate; raises Refuted, in one line whatever the reason quotes of the file.

    >>> refuse("its spec is a\\nb")
    Traceback (most recent call last):
    instances.errors.Refuted: certificate refused: its spec is a b
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(reason.split()))
    raise Refuted(f"{what} refused: {line[:400]}")


def rational(text: Any) -> fmpq:
    """Read an integer or p/q in lowest terms from a string, in the one way that it is written.

    >>> rational("-1/2")
    -1/2
    """
    if not isinstance(text, str) or len(text) > _MAX_DIGITS or not _RATIONAL.fullmatch(text):
        refuse(f"{shown(text)} is not an integer or a rational p/q")
    top, _, bottom = text.partition("/")
    value = fmpq(fmpz(top), fmpz(bottom or "1"))
    if bottom and (value.q == 1 or value.q != fmpz(bottom)):
        refuse(f"{shown(text)} is not in lowest terms")
    return value


def integer(text: Any) -> int:
    """Read an integer of any size from a string."""
    value = rational(text)
    if value.q != 1:
        refuse(f"{shown(text)} is not an integer")
    return int(value.p)


def fraction(text: Any) -> Fraction:
    """Read a rational as a Python fraction."""
    return python_fraction(rational(text))


def listed(value: Any) -> list[Any]:
    """Require a JSON list: neither a text nor an object, which have members, too."""
    if type(value) is not list:
        refuse(f"{shown(value)} is not a list")
    return value


def number(value: Any, least: int, most: int, what: str) -> int:
    """Read a JSON integer in a range."""
    if type(value) is not int or not least <= value <= most:
        refuse(f"{what} is {str(value)[:40]}, not an integer in {least}..{most}")
    return value
