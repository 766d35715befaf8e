"""Texts of one line, and the functions by which `hardness` writes results."""

from collections.abc import Mapping
from functools import singledispatch
from pathlib import Path
from typing import Any

TableRow = Mapping[str, Any]  # values by column; all rows of a table have the same columns


@singledispatch
def result_text(result: object, width: int, colour: bool) -> str:
    """Write the text of a result, "" by default; `hardness` registers a function for a class."""
    return ""


@singledispatch
def save_result(result: object, path: Path, force: bool) -> None:
    """Write a result to a file in the format of its ending; `hardness` registers the writer."""
    raise NotImplementedError("import hardness: it writes the files of results")


@singledispatch
def result_caption(result: object) -> str:
    """Write the caption of a result's table, "" by default; `hardness` registers functions."""
    return ""


def shortened(text: str, limit: int = 60) -> str:
    """Shorten an integer of more than `limit` digits to its first digits; other texts stay.

    >>> shortened("455"), shortened("12" + 99 * "0"), shortened("x")
    ('455', '1.20000...e100 (101 digits)', 'x')
    """
    if len(text) <= limit or not text.isdigit():
        return text
    return f"{text[0]}.{text[1:6]}...e{len(text) - 1} ({len(text)} digits)"


def printable(text: str, keep: str = "\n") -> str:
    """Replace control characters, which could steer a terminal, by ?.

    keep: control characters that stay.

    >>> printable("red: \\x1b[31m" + chr(10) + "é")
    'red: ?[31m\\né'
    """
    return "".join(c if c.isprintable() or c in keep else "?" for c in text)


def cut(text: str, limit: int) -> str:
    """Put a text on one line, and cut it to `limit` characters.

    >>> cut("a name", 10), cut("a longer name", 10)
    ('a name', 'a longer …')
    """
    line = " ".join(printable(text).split("\n"))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def with_article(noun: str) -> str:
    """Put "a" or "an" before a noun.

    >>> with_article("int"), with_article("str")
    ('an int', 'a str')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"
