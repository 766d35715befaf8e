"""Colour where stdout is a terminal: bold headers of tables, and a few words that decide."""

import os
import re
import sys

import click

_MARKS = (
    (re.compile(r"^(outcome  )(solved)(?=:)", re.M), "green"),
    (re.compile(r"^(.*\d/\d+ )(solved)$", re.M), "green"),
    (re.compile(r"^()(agrees|conforms|accepted(?=:))(?=$|:)", re.M), "green"),
    (re.compile(r"^(.*: )(all is well)$", re.M), "green"),
    (re.compile(r"^()(DISAGREES|REFUSED|DOES NOT CONFORM)$", re.M), "red"),
    (re.compile(r"^( *)(FLAG)\b", re.M), "red"),
    (re.compile(r"^(.* )(is damaged)(?=:)", re.M), "red"),
    (re.compile(r"()(\bvacuous\b)"), "dim"),
)
_NAME = re.compile(r"[A-Za-z|/][^:;]{0,39}$")
_GAP = re.compile(r"\S {2,}(?=\S)")


def wanted() -> bool:
    """Return whether stdout is a terminal that shows colour, and the user has not said no.

    NO_COLOR set to anything and TERM=dumb say no (https://no-color.org).
    """
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def coloured(text: str) -> str:
    """Style a text; without its escape codes it is the same text.

    >>> coloured("agrees"), coloured("nothing to see")
    ('\\x1b[32magrees\\x1b[0m', 'nothing to see')
    """
    lines = text.split("\n")
    heads = [i for i in range(len(lines) - 1) if _is_header(lines, i)]
    for pattern, style in _MARKS:
        text = pattern.sub(lambda m, s=style: m[1] + _styled(m[2], s), text)  # type: ignore[misc]
    lines = text.split("\n")
    for i in heads:
        lines[i] = click.style(lines[i], bold=True)
    return "\n".join(lines)


def _styled(text: str, style: str) -> str:
    return click.style(text, dim=True) if style == "dim" else click.style(text, fg=style)


def _is_header(lines: list[str], i: int) -> bool:
    """A line of several short names, none above it, over a line with cells in its columns."""
    line, below = lines[i], lines[i + 1]
    if (i and _GAP.search(lines[i - 1])) or not _GAP.search(line) or not _GAP.search(below):
        return False
    cells = [(m.start(), m.end()) for m in re.finditer(r"\S+(?: \S+)*", line)]
    starts = {m.start() for m in re.finditer(r"(?<!\S)\S", below)}
    ends = {m.end() for m in re.finditer(r"\S(?!\S)", below)}
    return all(
        _NAME.match(line[start:end]) and (start in starts or end in ends) for start, end in cells
    )
