"""Fitted growth of the slices of a report, and their learners in pairs, as tables."""

from hardness.report.paired import HEADER as PAIR_HEADER
from hardness.report.paired import TITLE, note, row
from hardness.report.parts.records import Cell, Growth, Pairs, Table
from hardness.report.scaling import HEADER, NOTE, fit_rows, left_out
from hardness.runs.fits import Scaling
from hardness.runs.growth import CONFIDENCE
from hardness.runs.names import short
from hardness.runs.paired import paired
from hardness.runs.table import Slice
from instances.parameters import plain


def slice_title(one: Slice) -> str:
    """Name a slice by its spec, its sizes and what tells it from the others."""
    comparison = one.comparison
    low, high = plain(comparison.values[0]), plain(comparison.values[-1])
    sizes = low if low == high else f"{low} to {high}"
    told = f" ({one.words})" if one.choice else ""
    return f"{comparison.spec}, {comparison.parameter} = {sizes}{told}"


def growth(one: Slice, found: Scaling) -> Growth | None:
    """Lay out what was fitted of a slice; None where nothing was."""
    if not any(fit.growth for fit in found.fits):
        return None
    comparison = one.comparison
    rows: list[tuple[Cell, ...]] = [*fit_rows(comparison, found)]
    for quantity in found.certified:
        power = "-" if quantity.exponent is None else f"{found.parameter}^{quantity.exponent:.2f}"
        rows.append(("certified", quantity.quantity, str(len(quantity.values)), power, "", "", ""))
    return Growth(
        title=f"{slice_title(one)}, {CONFIDENCE:.0%} intervals",
        fits=Table(header=HEADER, rows=tuple(rows)),
        left_out=tuple(left_out(comparison, found)),
        note=NOTE,
    )


def pairs(one: Slice) -> Pairs | None:
    """Lay out the pairs of learners of a slice; None where no two ran on one instance."""
    found = paired(one.rows)
    if not found:
        return None
    table = Table(header=PAIR_HEADER, rows=tuple(row(pair, short) for pair in found))
    return Pairs(title=slice_title(one), table=table, note=f"Alone: {TITLE}. {note(found)}")
