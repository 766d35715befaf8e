"""A comparison in a few numbers a learner and size, for the table, the figure and the page."""

from typing import TYPE_CHECKING

from hardness.report.text import bound, good, number, shown_risk, table
from hardness.runs.cells import BOUNDS, bounds, cells
from hardness.runs.cells import COSTS as COSTS
from hardness.runs.cells import Cell as Cell
from hardness.runs.certified import query_bound
from instances.parameters import plain

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison


def short_name(comparison: "Comparison", learner: str) -> str:
    """Shorten a learner's canonical name to what was asked for, as "student" or "student:rate=1".

    The canonical name stays in the results.
    """
    return dict(zip(comparison.learner_names, comparison.learners, strict=True))[learner]


ASKER = {
    "stat-queries": "a statistical-query learner",
    "csq-queries": "a learner by correlational queries",
}


def bounds_table(comparison: "Comparison") -> str:
    """Write what is certified, size by size: the quantities that are claimed at every size."""
    found = {name: bounds(comparison, name) for name in BOUNDS}
    names = [name for name, values in found.items() if values]
    rows = [
        [f"{comparison.parameter}={plain(value)}", *(bound(name, found[name][i]) for name in names)]
        for i, value in enumerate(comparison.values)
    ]
    return table(["size", *names], rows)


def comparison_table(comparison: "Comparison") -> str:
    """Write what is certified, size by size, and each learner below; bounds alone without any."""
    if not comparison.learners:
        return bounds_table(comparison)
    rows = []
    every = cells(comparison)
    valued = any(cell.values for cell in every)  # a column of values where any were asked
    asked = query_bound(comparison.certificates)
    least, floor = bounds(comparison, asked), bounds(comparison, "information-floor")
    for i, value in enumerate(comparison.values):
        size = f"{comparison.parameter}={plain(value)}"
        rows.append([size, *[""] * (6 + valued)])
        if floor:
            queries = bound(asked, least[i]) if least else "-"
            found = [queries, bound("information-floor", floor[i])]
            rows[-1] = [f"{size}: at least", "", *found, *[""] * (2 + valued), "certified"]
        for cell in (c for c in every if c.value == value):
            rows.append(
                [
                    short_name(comparison, cell.learner),
                    cell.view,
                    number(cell.queries) if cell.queries else "-",
                    number(cell.examples),
                    *([number(cell.values) if cell.values else "-"] if valued else []),
                    number(cell.seconds),
                    "-" if cell.risk is None else shown_risk(cell.risk),
                    f"{cell.solved}/{cell.runs} {good('solved')}" if cell.solved else cell.outcome,
                ]
            )
    header = ["learner", "sees", "queries", "examples", *["values"] * valued]
    return table([*header, "seconds", "risk", "outcome"], rows)
