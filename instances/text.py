"""Values as plain text of one line: what results print."""

import unicodedata
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import singledispatch
from typing import Any

_SPELT = {"→": "->", "−": "-", "–": "-", "≤": "<=", "≥": ">=", "×": "x", "±": "+-"}
_SPELT |= {"√": "sqrt", "∞": "oo", "·": "*", "†": "+", "↻": "repeats"}
TableRow = Mapping[str, Any]  # by its columns: every row of a table has the same


@singledispatch
def result_text(result: object, width: int, colour: bool) -> str:
    """Write a result for people; empty until `hardness` registers how results print."""
    return ""


@singledispatch
def result_caption(result: object) -> str:
    """Write the caption of the table of a result; empty until `hardness` registers captions."""
    return ""


def header(rows: Sequence[TableRow]) -> list[str]:
    """Name the columns of a table."""
    return list(rows[0]) if rows else []


def readable(value: Any) -> str:
    """Write a value for a reader: - for nothing, a long number by its first digits.

    >>> readable(None), readable(0.123456), readable(True), readable(10**50)
    ('-', '0.1235', 'yes', '1.00000...e50 (51 digits)')
    """
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return shortened(value, 20)
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def outward(low: float, high: float, form: str, between: str = ", ") -> str:
    """Write an interval by the format of its ends, rounded so that it contains the exact one.

    >>> outward(0.6915, 0.99, ".2f"), outward(-0.0123, 0.7, "+.2g", "..")
    ('0.69, 0.99', '-0.013..+0.7')
    """
    ends = []
    for value, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        with localcontext(rounding=rounding):
            ends.append(format(float(format(Decimal(repr(float(value))), form)), form))
    return between.join(ends)


def decimal(value: int) -> str:
    """Write an integer of any size in full.

    Python's own conversion stops at 4300 digits, and takes time in their square; this does not, so
    that no limit of the interpreter has to be raised for other people's input as well.

    >>> len(decimal(10**5000))
    5001
    """
    from flint import fmpz  # `--help` needs none

    return str(fmpz(value).str())


def exact(value: Fraction | int) -> str:
    """Write an integer or rational of any size in full.

    >>> exact(Fraction(6, 4)), exact(-7)
    ('3/2', '-7')
    """
    value = Fraction(value)
    parts = (value.numerator,) if value.denominator == 1 else (value.numerator, value.denominator)
    return "/".join(map(decimal, parts))


def shortened(value: int | str, most: int = 60) -> str:
    """Write an integer for people: in full, or its first digits where it has over 60.

    >>> shortened(455), shortened(12 * 10**99), shortened("x")
    ('455', '1.20000...e100 (101 digits)', 'x')
    """
    text = value if isinstance(value, str) else decimal(value)
    if len(text) <= most or not text.isdigit():
        return text
    return f"{text[0]}.{text[1:6]}...e{len(text) - 1} ({len(text)} digits)"


def printable(text: str, keep: str = "\n") -> str:
    """Keep what a learner or a file says from steering a terminal: ? for control characters.

    keep: those that stay.

    >>> printable("red: \\x1b[31m" + chr(10) + "é")
    'red: ?[31m\\né'
    """
    return "".join(c if c.isprintable() or c in keep else "?" for c in text)


def spelt(text: str) -> str:
    """Write characters in ASCII, for a stream that lacks them: ? for what has no spelling.

    >>> spelt("β"), spelt("Σ²"), spelt("…"), spelt("→"), spelt("格")
    ('beta', 'Sigma2', '...', '->', '?')
    """
    return "".join(map(_spelt, text))


def _spelt(character: str) -> str:
    script, _, letter = unicodedata.name(character, "").rpartition(" LETTER ")
    if script.startswith("GREEK"):
        return letter.title() if "CAPITAL" in script else letter.lower()
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return _SPELT.get(character) or plain or "?"


def cut(text: str, most: int) -> str:
    """Put a text on one line, and cut what is longer than `most`.

    >>> cut("a name", 10), cut("a longer name", 10)
    ('a name', 'a longer …')
    """
    line = " ".join(printable(text).split("\n"))
    return line if len(line) <= most else f"{line[: most - 1]}…"
