"""What a check found, and how it reads and refuses: a refusal is a Refuted with its reason."""

from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import Any, NoReturn

from hardness.check import kernel
from instances.errors import Refuted
from instances.result import Result, TableRow
from instances.strict import shown
from instances.text import printable


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(Result):
    """What a file was found to prove, in the checker's own words."""

    spec: str
    statements: tuple[str, ...]
    assumed: str = ""  # what is taken from the file as it stands; nothing of most certificates
    conditions: str = ""  # what the statements are about, where they do not say it themselves
    checker: str = "playing it again"

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


def fraction(text: Any) -> Fraction:
    """Read an integer or p/q in lowest terms from a string, in the one way that it is written.

    >>> fraction("-1/2")
    Fraction(-1, 2)
    """
    try:
        return Fraction(kernel.read("rational", text))
    except kernel.Refused as reason:
        refuse(str(reason))


def integer(text: Any) -> int:
    """Read an integer from a string."""
    value = fraction(text)
    if value.denominator != 1:
        refuse(f"{shown(text)} is not an integer")
    return value.numerator


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
