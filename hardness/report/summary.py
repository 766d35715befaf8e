"""A comparison in a few numbers a learner and size, for the table, the figure and the page."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Literal

from hardness.report.text import bound, number, shown_risk, table
from hardness.runs.certified import query_bound
from hardness.runs.ranges import Value
from instances.parameters import plain

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

Cost = Literal["queries", "examples", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "seconds")
BOUNDS = ("sq-dimension", "stat-queries", "vstat-queries", "csq-queries", "information-floor")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The runs of one learner at one size.

    A cost is the least that a fraction of the runs stayed within, solved or not: the success
    probability that the certified bound is about. Risk is the median.
    """

    value: Value
    learner: str
    solved: int
    runs: int
    queries: float
    examples: float
    seconds: float
    risk: float | None
    outcome: str  # the most frequent one

    def cost(self, name: str) -> float:
        """Return the cost in one resource, or the risk; 0 where that was not measured."""
        return float(getattr(self, name) or 0.0)


def cells(comparison: "Comparison") -> list[Cell]:
    """Summarise every learner at every size where it ran, learners in the order asked."""
    out, success = [], comparison.terms.success
    for learner in comparison.learner_names:
        for value in comparison.values:
            runs = comparison.of(learner, value)
            if not runs:  # of a slice of a store, where not every learner ran at every size
                continue
            risks = [r.risk.value for r in runs if r.risk is not None]
            names = [r.outcome.value for r in runs]
            out.append(
                Cell(
                    value=value,
                    learner=learner,
                    solved=sum(run.solved for run in runs),
                    runs=len(runs),
                    queries=enough((r.usage.queries for r in runs), success),
                    examples=enough((r.usage.examples for r in runs), success),
                    seconds=enough((r.usage.seconds for r in runs), success),
                    risk=median(risks) if risks else None,
                    outcome=max(names, key=names.count),
                )
            )
    return out


def enough(costs: Iterable[float], fraction: Fraction) -> float:
    """Return the least cost that at least a fraction of the runs stayed within.

    >>> enough([5, 1, 9], Fraction(2, 3))
    5
    """
    ordered = sorted(costs)
    return ordered[math.ceil(fraction * len(ordered)) - 1]


def short_name(comparison: "Comparison", learner: str) -> str:
    """Shorten a learner's canonical name to what was asked for, as "student" or "student:rate=1".

    The canonical name stays in the results.
    """
    return dict(zip(comparison.learner_names, comparison.learners, strict=True))[learner]


def bounds(comparison: "Comparison", quantity: str) -> list[int]:
    """Return a certified value at every size; empty where it is not claimed of all sizes."""
    every = [{claim.quantity for claim in c.claims} for c in comparison.certificates]
    if not all(quantity in names for names in every):
        return []
    return [c.integer(quantity) for c in comparison.certificates]


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
    """Write learners and certified bounds, size by size; bounds alone where no learner ran."""
    if not comparison.learners:
        return bounds_table(comparison)
    rows = []
    every = cells(comparison)
    asked = query_bound(comparison.certificates)
    least, floor = bounds(comparison, asked), bounds(comparison, "information-floor")
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
        if floor:
            queries = bound(asked, least[i]) if least else "-"
            found = [queries, bound("information-floor", floor[i])]
            rows.append(["certified at least", size, *found, *[""] * 3])
    header = ["learner", "size", "queries", "examples", "seconds", "risk", "solved, outcome"]
    return table(header, rows)
