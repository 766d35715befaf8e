"""Tables and prose within the columns of a terminal: tabulate aligns, textwrap fills.

A style is an escape sequence that begins with `0;`, which tabulate does not count as columns. All
other escape sequences are removed, so that no name of a file can control the terminal.
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
_COLUMNS: ContextVar[int | None] = ContextVar("columns of the text being written", default=None)
_STYLE = re.compile(r"(\x1b\[0(?:;\d+)?m)")
_LABEL = re.compile(r" *\S(?:.{0,16}?\S)?\s{2,}(?=\S)")  # "outcome  ", "           ", "layer    "
# Where prose may be broken: at spaces, except within a command in backticks.
_WORDS = re.compile(r"(\s+(?=[^`]*(?:`[^`]*`[^`]*)*$))")
# Where a cell may be broken: not within [low, high], a spec at its keys, a path at its folders.
_PARTS = re.compile(r"(\s+(?![^\[\]]*\])|(?<=[,:/])(?=[A-Za-z]))")


def screen() -> int:
    """Return the columns of stdout: of a terminal, at least 80; otherwise 80."""
    try:
        if sys.stdout.isatty():
            return max(PLAIN, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):  # stdout is closed, or its terminal does not tell its size
        return PLAIN
    return PLAIN


def colours() -> bool:
    """Return whether stdout is a terminal that shows colour, and the user did not disable it.

    NO_COLOR with any value and TERM=dumb disable it (https://no-color.org).
    """
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def bold(text: str) -> str:
    """Make a text bold, as the header of a table."""
    return _styled("1", text)


def good(text: str) -> str:
    """Make a word green, for a good result."""
    return _styled("32", text)


def bad(text: str) -> str:
    """Make a word red, for a bad result."""
    return _styled("31", text)


def faint(text: str) -> str:
    """Dim a word that stands for a missing or trivial value."""
    return _styled("2", text)


def _styled(code: str, text: str) -> str:
    return f"\x1b[0;{code}m{text}\x1b[0m"


@contextmanager
def fitted_to(width: int) -> Iterator[None]:
    """Fit the tables that are written in the block to a width."""
    token = _COLUMNS.set(width)
    try:
        yield
    finally:
        _COLUMNS.reset(token)


def laid_out(text: str, width: int, colour: bool = False) -> str:
    """Break the lines of a text that are too wide, and escape unprintable characters.

    The continuation of a line is indented to the text after the label of the line.

    >>> laid_out(good("agrees"), 80), laid_out(good("agrees"), 80, colour=True)
    ('agrees', '\\x1b[0;32magrees\\x1b[0m')
    >>> print(laid_out("outcome  solved: the whole interval of the risk lies below 0.05", 40))
    outcome  solved: the whole interval of
             the risk lies below 0.05
    """
    pieces = [p if _STYLE.fullmatch(p) else printable(p, "\n") for p in _STYLE.split(text)]
    lines = [_hanging(line, width) for line in "".join(pieces).split("\n")]
    filled = "\n".join(lines)
    return filled if colour else _STYLE.sub("", filled)


def _hanging(line: str, width: int) -> str:
    if display_width(line) <= width:
        return line
    label = _LABEL.match(line)
    start = label[0] if label else line[: len(line) - len(line.lstrip())]
    further = " " * (len(start) if label else len(start) + 2)
    return _filled(line[len(start) :], width, _WORDS, start, further)


def display_width(text: str) -> int:
    """Return the columns of a text: two for a wide character, none for a combining one.

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
    """Break a text into lines of a width; a word that is wider has a line of its own."""
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
    """Break a text into lines of 80 columns; those after the first are indented by `further`."""
    return _filled(text, PLAIN, _WORDS, indent, indent if further is None else further)


def item(name: str, text: str) -> str:
    """Write "name: text" in lines of 80 columns; those after the first are indented."""
    return wrap(f"{name}: {text}", further="  ")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Write a table with words to the left and numbers to the right, within a width.

    If it does not fit, cells are broken into several lines, in the widest column of words first.
    width: if it is not given, that of `fitted_to`, else of the terminal.

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
    lines = [list(header), *([faint(c) if c == VACUOUS else c for c in row] for row in rows)]
    widths = _fitted(lines, words, width or _COLUMNS.get() or screen())
    cells = [
        ["\n".join(_filled(line, w, _PARTS) for line in cell.split("\n")) if w else cell
         for cell, w in zip(row, widths, strict=True)]
        for row in lines
    ]  # fmt: skip
    written = tabulate(
        cells,  # with the header: as an argument it would make each column two wider
        tablefmt="plain",
        colalign=["left" if left else "right" for left in words],
        disable_numparse=True,
        preserve_whitespace=True,
    )
    printed = [line.rstrip() for line in written.split("\n")]
    header_lines = 1 + max(cell.count("\n") for cell in cells[0])
    return "\n".join([*map(bold, printed[:header_lines]), *printed[header_lines:]])


def _is_words(cell: str) -> bool:
    """Whether a cell is of words, which makes its column one of words; "vacuous" is a number."""
    return cell not in (VACUOUS, NONE_ENOUGH) and (cell[:1].isalpha() or " " in cell)


def _fitted(rows: list[list[str]], words: list[bool], room: int) -> list[int]:
    """Return the width of each column whose cells must be broken to fit, and 0 for the others."""
    widest = [
        max(display_width(line) for row in rows for line in row[i].split("\n"))
        for i in range(len(words))
    ]
    widths = list(widest)
    least = 4
    while sum(widths) + 2 * (len(widths) - 1) > room:
        narrower = [i for i, w in enumerate(widths) if w > least and (words[i] or not any(words))]
        if not narrower:
            narrower = [i for i, w in enumerate(widths) if w > least]
        if not narrower:
            break
        widths[max(narrower, key=lambda i: widths[i])] -= 1
    return [new if new < old else 0 for new, old in zip(widths, widest, strict=True)]


def sheet(rows: Sequence[TableRow], formats: Mapping[str, str] | None = None) -> str:
    """Write rows as a table, with "-" for None; formats: of the numbers of a column.

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
    """Write a count or a cost briefly, in about six characters.

    >>> number(455), number(806756), number(0.0123), number(3.4e41)
    ('455', '806756', '0.012', '3.4e+41')
    >>> number(375.5), number(19.25)
    ('376', '19')
    """
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.2g}"


def credit(source: str) -> str:
    """Credit the source of a claim; its constants and proofs are in docs/mathematics.md.

    >>> credit("CL24"), credit("information"), credit("this certificate")
    ('after CL24', 'by counting', 'this certificate')
    """
    if source == "this certificate":
        return source
    return "by counting" if source == "information" else f"after {source}"


def shown_risk(value: float) -> str:
    """Write a risk with two decimals, or its order of magnitude if they would be zeros.

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
