"""Tables and prose within the columns of a terminal: tabulate aligns, textwrap fills.

A style is an escape sequence that begins with `0;`, which tabulate counts as no column. All other
escapes are removed, so that no name of a file steers the terminal.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import TextWrapper
from typing import Any

from hardness.bounds.quantities import NONE_ENOUGH, VACUOUS
from hardness.bounds.quantities import bound as bound
from instances.text import TableRow, printable

PLAIN = 80
_ROOM: ContextVar[int | None] = ContextVar("columns of the text being written", default=None)
_STYLE = re.compile(r"(\x1b\[0(?:;\d+)?m)")
_LABEL = re.compile(r" *\S(?:.{0,16}?\S)?\s{2,}(?=\S)")  # "outcome  ", "           ", "layer    "
_WORDS = re.compile(r"(\s+(?=[^`]*(?:`[^`]*`[^`]*)*$))")  # a command in backticks is one
# Of a cell: [low, high] is not broken, a spec is broken at its keys, a path at its folders.
_PARTS = re.compile(r"(\s+(?![^\[\]]*\])|(?<=[,:/])(?=[A-Za-z]))")


def screen() -> int:
    """Return the columns that stdout has: those of a terminal, 80 at least; 80 where it is none."""
    try:
        if sys.stdout.isatty():
            return max(PLAIN, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):  # closed, or a terminal that does not say
        return PLAIN
    return PLAIN


def colours() -> bool:
    """Return whether stdout is a terminal that shows colour, and the user has not said no.

    NO_COLOR set to anything and TERM=dumb say no (https://no-color.org).
    """
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def bold(text: str) -> str:
    """Show the header of a table in bold."""
    return _styled("1", text)


def good(text: str) -> str:
    """Show in green a word that says that all is well."""
    return _styled("32", text)


def bad(text: str) -> str:
    """Show in red a word that says that something is not."""
    return _styled("31", text)


def faint(text: str) -> str:
    """Dim a word that stands where there is nothing to say."""
    return _styled("2", text)


def _styled(code: str, text: str) -> str:
    return f"\x1b[0;{code}m{text}\x1b[0m"


@contextmanager
def within(width: int) -> Iterator[None]:
    """Fit the tables that are written meanwhile to a width."""
    token = _ROOM.set(width)
    try:
        yield
    finally:
        _ROOM.reset(token)


def laid_out(text: str, width: int, colour: bool = False) -> str:
    """Fill the lines of a text that are too wide; of what others wrote nothing steers the terminal.

    What follows stands below what stands after a line's label.

    >>> laid_out(good("agrees"), 80), laid_out(good("agrees"), 80, colour=True)
    ('agrees', '\\x1b[0;32magrees\\x1b[0m')
    >>> print(laid_out("outcome  solved: the whole interval of the risk lies below 0.05", 40))
    outcome  solved: the whole interval of
             the risk lies below 0.05
    """
    pieces = [p if _STYLE.fullmatch(p) else printable(p, "\n") for p in _STYLE.split(text)]
    lines = [_hanging(line, width) for line in "".join(pieces).split("\n")]
    found = "\n".join(lines)
    return found if colour else _STYLE.sub("", found)


def _hanging(line: str, width: int) -> str:
    if display_width(line) <= width:
        return line
    label = _LABEL.match(line)
    start = label[0] if label else line[: len(line) - len(line.lstrip())]
    further = " " * (len(start) if label else len(start) + 2)
    return _filled(line[len(start) :], width, _WORDS, start, further)


def display_width(text: str) -> int:
    """Return the columns that a text takes: two for wide characters, none for those that combine.

    >>> [display_width(word) for word in ("risk", good("risk"), "格子", "e" + chr(0x301))]
    [4, 4, 4, 1]
    """
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(0, wcswidth(text))


def _filled(
    text: str, width: int, breaks: re.Pattern[str], start: str = "", further: str = ""
) -> str:
    """Put words on lines of a width; a word that is wider stands alone."""
    filler = TextWrapper(
        max(width, 1),
        initial_indent=start,
        subsequent_indent=further,
        break_on_hyphens=False,
        break_long_words=breaks is _PARTS,
    )
    filler.wordsep_simple_re = breaks
    return filler.fill(text)


def wrap(text: str, indent: str = "", further: str | None = None) -> str:
    """Fill lines of 80 columns, those after the first indented by `further`."""
    return _filled(text, PLAIN, _WORDS, indent, indent if further is None else further)


def item(name: str, text: str) -> str:
    """Fill lines of what a name stands for, those after the first indented."""
    return wrap(f"{name}: {text}", further="  ")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Align columns, words to the left and numbers to the right, within a width.

    What does not fit is filled in several lines, in the widest column of words first. width: that
    of the text or else of the terminal, if none is given.

    >>> print(laid_out(table(["learner", "queries"], [["a", "10"], ["bb", "5"]]), 80))
    learner  queries
    a             10
    bb             5
    >>> print(laid_out(table(["family", "what"], [["lwe", "learning with errors"]], width=24), 24))
    family  what
    lwe     learning with
            errors
    """
    from tabulate import tabulate

    words = [any(_is_words(row[i]) for row in rows) for i in range(len(header))]
    every = [list(header), *([faint(c) if c == VACUOUS else c for c in row] for row in rows)]
    widths = _fitted(every, words, width or _ROOM.get() or screen())
    cells = [
        ["\n".join(_filled(line, w, _PARTS) for line in cell.split("\n")) if w else cell
         for cell, w in zip(row, widths, strict=True)]
        for row in every
    ]  # fmt: skip
    made = tabulate(
        cells,  # the header too: tabulate would make each column two wider than its header
        tablefmt="plain",
        colalign=["left" if left else "right" for left in words],
        disable_numparse=True,
        preserve_whitespace=True,
    )
    lines = [line.rstrip() for line in made.split("\n")]
    tall = 1 + max(cell.count("\n") for cell in cells[0])
    return "\n".join([*map(bold, lines[:tall]), *lines[tall:]])


def _is_words(cell: str) -> bool:
    """Whether a cell makes its column one of words: what stands for a number does not."""
    return cell not in (VACUOUS, NONE_ENOUGH) and (cell[:1].isalpha() or " " in cell)


def _fitted(every: list[list[str]], words: list[bool], room: int) -> list[int]:
    """Return a width for each column that has to be filled, 0 for the others."""
    widest = [
        max(display_width(line) for row in every for line in row[i].split("\n"))
        for i in range(len(words))
    ]
    found = list(widest)
    least = 4
    while sum(found) + 2 * (len(found) - 1) > room:
        narrower = [i for i, w in enumerate(found) if w > least and (words[i] or not any(words))]
        if not narrower:
            narrower = [i for i, w in enumerate(found) if w > least]
        if not narrower:
            break
        found[max(narrower, key=lambda i: found[i])] -= 1
    return [new if new < old else 0 for new, old in zip(found, widest, strict=True)]


def sheet(rows: Sequence[TableRow], formats: Mapping[str, str] | None = None) -> str:
    """Lay out rows by their columns, - for nothing; formats: of numbers, by column.

    >>> print(laid_out(sheet([{"start": 1, "loss": 0.5, "ended": None}], {"loss": ".2f"}), 80))
    start  loss  ended
        1  0.50      -
    """

    def cell(name: str, value: Any) -> str:
        return "-" if value is None else format(value, (formats or {}).get(name, ""))

    return table(list(rows[0]), [[cell(name, v) for name, v in row.items()] for row in rows])


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "layer"), count(2, "layer")
    ('1 layer', '2 layers')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def number(value: float) -> str:
    """Write a count or a cost in at most six characters or so.

    >>> number(455), number(806756), number(0.0123), number(3.4e41)
    ('455', '806756', '0.012', '3.4e+41')
    >>> number(375.5), number(19.25)
    ('376', '19')
    """
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.2g}"


def credit(source: str) -> str:
    """Say whose notion a claim is; constants and proofs stand in docs/mathematics.md.

    >>> credit("CL24"), credit("information"), credit("this certificate")
    ('after CL24', 'by counting', 'this certificate')
    """
    if source == "this certificate":
        return source
    return "by counting" if source == "information" else f"after {source}"


def shown_risk(value: float) -> str:
    """Write a risk: two decimals, or its size where they would be zeros.

    >>> shown_risk(0.98), shown_risk(3.2e-29), shown_risk(0.0)
    ('0.98', '3e-29', '0.00')
    """
    return f"{value:.0e}" if 0 < value < 0.005 else f"{value:.2f}"


def duration(seconds: float) -> str:
    """Write a time in at most two units.

    >>> duration(0.4), duration(75), duration(7300), duration(200_000)
    ('0 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, below, smaller in (("d", 86400, "h", 3600), ("h", 3600, "min", 60)):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller} {below}"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
