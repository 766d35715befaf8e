"""Tables for the terminal: plain, aligned, within 80 columns where the content allows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardness.report.summary import bounds, cells, query_bound, short_name
from instances.parameters import plain

if TYPE_CHECKING:
    from hardness.compare.both import Comparison


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns: words to the left, numbers to the right.

    >>> print(table(["learner", "queries"], [["a", "10"], ["bb", "5"]]))
    learner  queries
    a             10
    bb             5
    """
    every = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in every) for i in range(len(header))]
    left = [any(r[i][:1].isalpha() or " " in r[i] for r in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in every
    )


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
