"""Reading a certificate's numbers strictly; a refusal is a Refuted with its reason."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpz

from instances.errors import Refuted

_RATIONAL = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_MAX_DIGITS = 4_000_000  # p and q can be as long as q^n of 65536 residues of 48 bits


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a file was found to prove, in the checker's own words."""

    spec: str
    statements: tuple[str, ...]


def refuse(reason: str) -> NoReturn:
    """Refuse the certificate; raises Refuted."""
    raise Refuted(f"certificate refused: {reason}")


def rational(text: Any) -> fmpq:
    """Read an integer or p/q from a string.

    >>> rational("3/6")
    1/2
    """
    if not isinstance(text, str) or len(text) > _MAX_DIGITS or not _RATIONAL.fullmatch(text):
        refuse(f"{str(text)[:40]!r} is not an integer or a rational p/q")
    top, _, bottom = text.partition("/")
    return fmpq(fmpz(top), fmpz(bottom or "1"))


def integer(text: Any) -> int:
    """Read an integer of any size from a string."""
    value = rational(text)
    if value.q != 1:
        refuse(f"{str(text)[:40]!r} is not an integer")
    return int(value.p)


def fraction(text: Any) -> Fraction:
    """Read a rational as a Python fraction."""
    value = rational(text)
    return Fraction(int(value.p), int(value.q))


def number(value: Any, least: int, most: int, what: str) -> int:
    """Read a JSON integer in a range."""
    if type(value) is not int or not least <= value <= most:
        refuse(f"{what} is {str(value)[:40]}, not an integer in {least}..{most}")
    return value
