"""Values as plain text of one line: what results print."""

from collections.abc import Mapping
from functools import singledispatch
from pathlib import Path
from typing import Any

TableRow = Mapping[str, Any]  # by its columns: every row of a table has the same


@singledispatch
def result_text(result: object, width: int, colour: bool) -> str:
    """Write a result for people; empty until `hardness` registers how results print."""
    return ""


@singledispatch
def save_result(result: object, path: Path, force: bool) -> None:
    """Write a file of a result in the format that its name says; registered by `hardness`."""
    raise NotImplementedError("import hardness: it writes the files of results")


@singledispatch
def result_caption(result: object) -> str:
    """Write the caption of the table of a result; empty until `hardness` registers captions."""
    return ""


def shortened(text: str, limit: int = 60) -> str:
    """Cut the text of an integer to its first digits where it has over 60; other texts stay.

    >>> shortened("455"), shortened("12" + 99 * "0"), shortened("x")
    ('455', '1.20000...e100 (101 digits)', 'x')
    """
    if len(text) <= limit or not text.isdigit():
        return text
    return f"{text[0]}.{text[1:6]}...e{len(text) - 1} ({len(text)} digits)"


def printable(text: str, keep: str = "\n") -> str:
    """Keep what a learner or a file says from steering a terminal: ? for control characters.

    keep: those that stay.

    >>> printable("red: \\x1b[31m" + chr(10) + "é")
    'red: ?[31m\\né'
    """
    return "".join(c if c.isprintable() or c in keep else "?" for c in text)


def cut(text: str, limit: int) -> str:
    """Put a text on one line, and cut what is longer than `limit`.

    >>> cut("a name", 10), cut("a longer name", 10)
    ('a name', 'a longer …')
    """
    line = " ".join(printable(text).split("\n"))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def with_article(noun: str) -> str:
    """Put a or an before a noun.

    >>> with_article("int"), with_article("str")
    ('an int', 'a str')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"
