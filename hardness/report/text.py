"""Tables for the terminal: plain, aligned, within 80 columns where the content allows."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from hardness.bounds.quantities import NONE_ENOUGH, WORD
from hardness.bounds.quantities import bound as bound
from hardness.report.columns import ROW, bold, breakable, fill, pad, parts, screen
from hardness.report.columns import bad as bad
from hardness.report.columns import faint as faint
from hardness.report.columns import good as good
from hardness.report.columns import laid_out as laid_out
from hardness.report.columns import taken as taken
from instances.text import TableRow

_FIRST = 12  # columns kept for first cells, where one of over a third of the width stands alone


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Align columns, words to the left and numbers to the right, within a width.

    What does not fit is folded at spaces, in the widest column of words first; nothing is cut. A
    first cell of over a third of the width, such as a path, then stands on a line of its own. Where
    that is not enough, headers and specs are folded too. width: that of the terminal where none is
    given. Its lines are marked for `laid_out`, which prints headers bold on a terminal.

    >>> print(laid_out(table(["learner", "queries"], [["a", "10"], ["bb", "5"]]), 80))
    learner  queries
    a             10
    bb             5
    >>> print(laid_out(table(["family", "what"], [["lwe", "learning with errors"]], width=24), 24))
    family  what
    lwe     learning with
            errors
    """
    left = [any(_is_words(r[i]) for r in rows) for i in range(len(header))]
    every = [list(header), *([faint(c) if c == WORD else c for c in row] for row in rows)]
    room = width or screen()
    widths = _fitted(every, left, room)
    if sum(widths) + 2 * (len(widths) - 1) > room:
        every = [[breakable(cell) for cell in row] for row in every]
        widths = _fitted(every, [True] * len(left), room)
    shown = [_lines(row, widths, left) for row in every]
    shown[0] = [bold(line) for line in shown[0]]
    return "\n".join(ROW + line for lines in shown for line in lines)


def sheet(rows: Sequence[TableRow], formats: Mapping[str, str] | None = None) -> str:
    """Lay out rows by their columns, - for nothing; formats: of numbers, by column.

    >>> print(laid_out(sheet([{"start": 1, "loss": 0.5, "ended": None}], {"loss": ".2f"}), 80))
    start  loss  ended
        1  0.50      -
    """

    def cell(name: str, value: Any) -> str:
        return "-" if value is None else format(value, (formats or {}).get(name, ""))

    return table(list(rows[0]), [[cell(name, v) for name, v in row.items()] for row in rows])


def _is_words(cell: str) -> bool:
    """Whether a cell makes its column one of words: what stands for a number does not."""
    return cell not in (WORD, NONE_ENOUGH) and (cell[:1].isalpha() or " " in cell)


def _fitted(every: list[list[str]], left: list[bool], room: int) -> list[int]:
    """Return the widths of columns: those of their cells, or less where that is too much."""
    columns = list(zip(*every, strict=True))
    natural = [
        max(taken(part) for cell in column for part in cell.split("\n")) for column in columns
    ]
    least = [
        max(taken(part) for cell in column for line in cell.split("\n") for part in parts(line))
        for column in columns
    ]
    widths = list(natural)
    excess = sum(widths) + 2 * (len(widths) - 1) - room
    if excess > 0 and left[0] and least[0] > room // 3:
        widths[0] = max(widths[0] - excess, _FIRST)
        excess -= natural[0] - widths[0]
    while excess > 0:
        narrower = [i for i, text in enumerate(left) if text and widths[i] > least[i]]
        if not narrower:
            break
        widths[max(narrower, key=lambda i: (widths[i], i))] -= 1
        excess -= 1
    return widths


def _lines(row: list[str], widths: list[int], left: list[bool]) -> list[str]:
    """Write a row in as many lines as its tallest cell needs."""
    cells = [
        [line for part in cell.split("\n") for line in fill(parts(part), width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    if taken(cells[0][0]) > widths[0]:
        cells = [cells[0], *([["", *cell] for cell in cells[1:]])]
    tallest = max(map(len, cells))
    return [
        "  ".join(
            pad(cell[i] if i < len(cell) else "", width, right=not text)
            for cell, width, text in zip(cells, widths, left, strict=True)
        ).rstrip()
        for i in range(tallest)
    ]


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


def item(name: str, text: str) -> str:
    """Fill lines of what a name stands for, those after the first indented."""
    return wrap(f"{name}: {text}", further="  ")


def wrap(text: str, indent: str = "", further: str | None = None) -> str:
    """Fill lines of 80 columns, those after the first indented by `further`."""
    rest = indent if further is None else further
    return textwrap.fill(
        text, 80, initial_indent=indent, subsequent_indent=rest, break_on_hyphens=False
    )


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
