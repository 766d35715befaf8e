"""Fitted growth of the slices of a report, as tables."""

from hardness.report.parts.records import Cell, Growth, Table
from hardness.report.scaling import NOTE, cells, left_out
from hardness.runs.fits import CONFIDENCE, Scaling
from hardness.runs.table import Slice
from instances.parameters import plain

HEADER = ("learner", "cost", "sizes", "power law", "exponential, a unit", "which", "certified")


def growth(one: Slice, found: Scaling) -> Growth | None:
    """Lay out what was fitted of a slice; None where nothing was."""
    if not any(fit.growth for fit in found.fits):
        return None
    comparison = one.comparison
    rows: list[tuple[Cell, ...]] = []
    for fit in found.fits:
        said = cells(comparison, fit)
        if fit.growth:
            shown = ("learner", "cost", "sizes", "power", "exponential", "which", "certified")
            rows.append(tuple(said[name] for name in shown))
    for quantity in found.certified:
        power = "-" if quantity.exponent is None else f"{found.parameter}^{quantity.exponent:.2f}"
        rows.append(("certified", quantity.quantity, str(len(quantity.values)), power, "", "", ""))
    low, high = plain(comparison.values[0]), plain(comparison.values[-1])
    return Growth(
        title=f"{comparison.spec}, {found.parameter} = {low} to {high}"
        + (f" ({one.words})" if one.choice else "")
        + f", {CONFIDENCE:.0%} intervals",
        fits=Table(header=HEADER, rows=tuple(rows)),
        left_out=tuple(left_out(comparison, found)),
        note=NOTE,
    )
