"""A value of a TOML file that knows its key, read as what it must be."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from instances.errors import ToolkitError, UsageError, unknown
from instances.limits import bytes_of
from instances.parameters import fraction

Path = tuple[str | int, ...]  # of a key, through tables and arrays

_LONGEST = 1000  # characters of a text
_DIGITS = 40  # of a number, before and behind the point


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value with its place; what reads it raises UsageError for what is none."""

    value: Any
    path: Path
    file: str  # its name

    def complaint(self, text: str) -> UsageError:
        """Build the error about this value: one line with the file and the key."""
        return _complaint(self.file, self.path, text)

    def refuse(self, wanted: str) -> UsageError:
        """Build the error that says what was given and what is wanted."""
        return self.complaint(f"{shown(self.value)} given: {wanted} is needed")

    def about(self, error: ToolkitError) -> UsageError:
        """Build the error about this value that another one says."""
        return self.complaint(str(error))

    def fields(self, known: Collection[str], what: str) -> dict[str, "Node"]:
        """Read a table of known keys."""
        if not isinstance(self.value, dict):
            raise self.refuse(f"a table of {', '.join(known)}")
        for key in self.value:
            if key not in known:
                said = unknown(f"key of {what}", _short(key), known)
                raise _complaint(self.file, (*self.path, key), str(said))
        return self.table()

    def table(self) -> dict[str, "Node"]:
        """Read a table of any keys."""
        if not isinstance(self.value, dict):
            raise self.refuse("a table, as { d = [8, 12] },")
        return {key: self._inner(key, one) for key, one in self.value.items()}

    def items(self, what: str, single: tuple[type, ...] = ()) -> tuple["Node", ...]:
        """Read a list of at least one, or one alone that is of a type of `single`."""
        if isinstance(self.value, single) and not isinstance(self.value, bool):
            return (self,)
        if not isinstance(self.value, list) or not self.value:
            raise self.refuse(f"a list of {what}, at least one,")
        return tuple(self._inner(i, one) for i, one in enumerate(self.value))

    def groups(self) -> Iterator["Node"]:
        """Read an array of tables."""
        if not isinstance(self.value, list) or not all(isinstance(g, dict) for g in self.value):
            raise self.refuse(f"a table [[{self.path[-1]}]]")
        return (self._inner(i, one) for i, one in enumerate(self.value))

    def text(self, what: str) -> str:
        """Read one line of text."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(what)
        if len(self.value) > _LONGEST:
            raise self.refuse(f"{what} of at most {_LONGEST} characters")
        if not self.value.isprintable():
            raise self.refuse(f"{what} in one line of printable characters")
        return self.value.strip()

    def flag(self) -> bool:
        """Read true or false."""
        if not isinstance(self.value, bool):
            raise self.refuse("true or false")
        return self.value

    def exact(self, what: str) -> Fraction:
        """Read a number exactly: an integer, a decimal, or either as text, "0.1" or "1/10"."""
        value = self.value
        if isinstance(value, str) and len(value) <= 2 * _DIGITS + 1:
            try:
                return fraction(value, what)
            except UsageError as error:
                raise self.refuse(what) from error
        if isinstance(value, Decimal) and value.is_finite():
            if abs(value.adjusted()) <= _DIGITS and len(value.as_tuple().digits) <= _DIGITS:
                return Fraction(value)
            raise self.refuse(f"{what} of at most {_DIGITS} digits")
        if type(value) is int:
            return Fraction(value)
        raise self.refuse(what)

    def number(self, above: float, most: float) -> float:
        """Read a number above a bound, and at most another."""
        wanted = f"a number above {above:g}, at most {most:g},"
        value = self.exact(wanted)
        if not above < value <= most:
            raise self.refuse(wanted)
        return float(value)

    def whole(self, least: int, most: int = 2**63 - 1) -> int:
        """Read an integer between bounds: 100_000, or 1e5."""
        wanted = f"an integer of at least {least}"
        wanted += f", at most {most}," if most < 2**63 - 1 else " and below 2^63"
        value = self.exact(wanted)
        if value.denominator != 1 or not least <= value <= most:
            raise self.refuse(wanted)
        return int(value)

    def size(self) -> int:
        """Read a number of bytes, "2GB" or an integer."""
        if not isinstance(self.value, str):
            return self.whole(1)
        try:
            return bytes_of(self.value[:_LONGEST], "a size of")
        except UsageError as error:
            raise self.refuse("a number of bytes such as 500MB, 4GiB or 4096") from error

    def _inner(self, step: str | int, value: Any) -> "Node":
        return Node(value=value, path=(*self.path, step), file=self.file)


def _complaint(file: str, path: Path, text: str) -> UsageError:
    return UsageError(f"{file}: {named(path)}: {text}" if path else f"{file}: {text}")


def decimal(text: str) -> Decimal:
    """Read a TOML float exactly; what Decimal cannot hold becomes not a number.

    >>> decimal("0.1"), decimal("1e99999999999999999999")
    (Decimal('0.1'), Decimal('NaN'))
    """
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")


def named(path: Path) -> str:
    """Write the name of a key; groups and elements of lists are counted from 1.

    >>> named(("runs", 1, "budget", "examples"))
    'runs[2].budget.examples'
    """
    out = ""
    for step in path:
        part = _short(step) if isinstance(step, str) else f"[{step + 1}]"
        out += f".{part}" if out and isinstance(step, str) else part
    return out


def shown(value: Any) -> str:
    """Write what was given, whatever it is, in a few words.

    >>> shown("many"), shown([1, 2]), shown(10**30), shown(True), shown({})
    ("'many'", 'a list of 2', 'an integer of 100 bits', 'true', 'a table')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        bits = value.bit_length()
        return str(value) if bits <= 64 else f"an integer of {bits} bits"
    if isinstance(value, str):
        more = f" ... ({len(value)} characters)" if len(value) > 60 else ""
        return repr(value[:60]) + more
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        return "a table"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]} ..."


def _short(text: str) -> str:
    """A key as it is shown: quoted where it is no plain word, cut where it is long."""
    plain = text.replace("_", "").replace("-", "").isalnum() and text.isascii()
    return (text if plain else repr(text[:40]))[:44]
