"""Tables for the terminal: plain, aligned, within 80 columns where the content allows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardness.report.columns import fill, pad, parts, screen, taken
from hardness.report.summary import bounds, cells, query_bound, short_name
from instances.parameters import plain

if TYPE_CHECKING:
    from hardness.compare.both import Comparison

_FIRST = 12  # columns that a first cell keeps, where wider ones stand above their rows


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Align columns, words to the left and numbers to the right, within a width.

    What does not fit is folded at spaces, the widest words first; nothing is cut. A first cell that
    is still too wide stands on a line of its own. width: that of the terminal where none is given.

    >>> print(table(["learner", "queries"], [["a", "10"], ["bb", "5"]]))
    learner  queries
    a             10
    bb             5
    >>> print(table(["family", "what"], [["lwe", "learning with errors"]], width=24))
    family  what
    lwe     learning with
            errors
    """
    left = [any(r[i][:1].isalpha() or " " in r[i] for r in rows) for i in range(len(header))]
    every = [list(header), *[list(row) for row in rows]]
    widths = _fitted(every, left, width or screen())
    return "\n".join(line for row in every for line in _lines(row, widths, left))


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
    while excess > 0:
        narrower = [i for i, text in enumerate(left) if text and widths[i] > least[i]]
        if not narrower:
            break
        widths[max(narrower, key=lambda i: (widths[i], i))] -= 1
        excess -= 1
    if excess > 0 and left[0]:
        widths[0] = max(widths[0] - excess, min(_FIRST, widths[0]))
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
    """
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.2g}" if abs(value) < 1e3 or abs(value) >= 1e7 else f"{value:.0f}"


def big(value: int) -> str:
    """Write an integer of any size.

    >>> big(455), big(10**50)
    ('455', '1.00e50')
    """
    if value < 10**7:
        return str(value)
    text = str(value)
    return f"{text[0]}.{text[1:3]}e{len(text) - 1}"


def credit(source: str) -> str:
    """Say whose notion a claim is; constants and proofs stand in docs/mathematics.md.

    >>> credit("CL24"), credit("information")
    ('after CL24', 'by counting')
    """
    return "by counting" if source == "information" else f"after {source}"


def shown_risk(value: float) -> str:
    """Write a risk: two decimals, or its size where they would be zeros.

    >>> shown_risk(0.98), shown_risk(3.2e-29), shown_risk(0.0)
    ('0.98', '3e-29', '0.00')
    """
    return f"{value:.0e}" if 0 < value < 0.005 else f"{value:.2f}"


def comparison_table(comparison: "Comparison") -> str:
    """Write learners and certified bounds, size by size."""
    rows = []
    every = cells(comparison)
    least, floor = (
        bounds(comparison, query_bound(comparison)),
        bounds(comparison, "information-floor"),
    )
    for i, value in enumerate(comparison.values):
        size = f"{comparison.parameter}={plain(value)}"
        for cell in (c for c in every if c.value == value):
            asks = number(cell.queries) if cell.queries else "-"
            rows.append(
                [
                    short_name(comparison, cell.learner),
                    size,
                    asks,
                    number(cell.examples),
                    number(cell.seconds),
                    "-" if cell.risk is None else shown_risk(cell.risk),
                    f"{cell.solved}/{cell.runs} {cell.outcome}",
                ]
            )
        if least:
            rows.append(["certified at least", size, big(least[i]), big(floor[i]), *[""] * 3])
    header = ["learner", "size", "queries", "examples", "seconds", "risk", "solved, outcome"]
    return table(header, rows)
