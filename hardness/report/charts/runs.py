"""The figure of both sides of a comparison, and what all figures of a comparison share."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hardness.claims import vacuous
from hardness.report.comparison import ASKER, short_name
from hardness.report.plot import Axis, Data, named, panels, plot
from hardness.report.style import BOUND, Style, styles_of
from hardness.report.vega import write
from hardness.runs.cells import COSTS
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison
from hardness.runs.names import Value
from instances.parameters import plain

TITLES = {
    "queries": ("Statistical queries", "number of queries"),
    "examples": ("Examples", "number of examples"),
    "values": ("Membership queries", "number of chosen tokens"),
    "seconds": ("Time", "time (s)"),
    "risk": ("Risk (1 = nothing learned)", "relative risk"),
}
FREE = "membership queries: only the information floor, of labels, binds learners that ask them"
CERTIFIED = "certified"  # the series of what is certified
DASHED = Style(colour=BOUND, dash=(6, 3), marks=("line",), thick=1.35, shown=False)
DOTTED = Style(colour=BOUND, dash=(1, 3), marks=("line",), thick=1.35, shown=False)
_LINES = {"queries": ("dashed", DASHED), "examples": ("dotted", DOTTED)}


def head(comparison: Comparison, values: Iterable[Value] | None = None) -> Data:
    """Say of which comparison the rows of a figure are, over which of its sizes."""
    sizes = list(comparison.values if values is None else values)
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "values": [plain(value) for value in sizes],
        "places": [float(value) for value in sizes],
    }


def about(data: Data) -> str:
    """Write the title of a figure of a comparison."""
    return f"{named(data['spec'], 80)}, {data['seeds']} seeds"


def sizes(data: Data, scale: Any = "linear") -> Axis:
    """Return the axis of sizes, with ticks at those that do not stand on one another."""
    places = sorted(data["places"])
    kept = list(places)
    if scale == "log":
        kept = []
        for place in places:
            apart = math.log(places[-1] / places[0]) / 8
            if not kept or math.log(place / kept[-1]) > apart:
                kept.append(place)
    return Axis("place", named(data["parameter"]), scale=scale, ticks=kept, holds=places)


def both_sides(comparison: Comparison, kind: str = "svg") -> bytes:
    """Draw the figure as svg, png or pdf."""
    return write(draw_both_sides(of_both_sides(comparison)), kind)


def of_both_sides(comparison: Comparison) -> Data:
    """Give what every run spent, what two thirds of a learner's runs stayed within, and bounds.

    Rows are of the kind run, enough (a learner at a size) or certified (a cost at a size: its
    value is text, for it may be of any size, and null where no number is enough). Runs may be
    missing: a learner may lack sizes, and have other numbers of seeds than others.
    """
    costs: list[str] = [*COSTS] if comparison.learners else [*COSTS[:2]]  # bounds are not on time
    if comparison.learners and not any(run.usage.values for run in comparison.runs):
        costs.remove("values")
    # Where nobody asks queries, the risk is the news.
    asked = bool(comparison.certificates) or any(run.usage.queries for run in comparison.runs)
    terms = comparison.terms
    return {
        **head(comparison),
        "costs": costs if asked else ["risk", *costs[1:]],
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "rows": [
            *(
                {
                    "kind": "run",
                    "learner": short_name(comparison, name),
                    "place": float(value),
                    "seed": run.seed,
                    "solved": run.solved,
                    **{cost: float(getattr(run.usage, cost)) for cost in costs},
                    "risk": run.risk.value if run.risk else None,
                }
                for name in comparison.learner_names
                for value in comparison.values
                for run in comparison.of(name, value)
            ),
            *(
                {
                    "kind": "enough",
                    "learner": short_name(comparison, cell.learner),
                    "place": float(cell.value),
                    "solved": cell.solved == cell.runs,
                    **{cost: float(cell.enough[cost]) for cost in COSTS if cost in costs},
                    "risk": cell.risk,
                }
                for cell in comparison.cells
            ),
            *_certified(comparison),
        ],
    }


def _certified(comparison: Comparison) -> list[Data]:
    if len(comparison.certificates) != len(comparison.values):
        return []
    every = {
        "queries": query_bound(comparison.certificates) or "csq-queries",
        "examples": "information-floor",
    }
    return [
        {
            "kind": CERTIFIED,
            "cost": cost,
            "quantity": quantity,
            "place": float(size),
            "value": None if value is None else str(value),
        }
        for cost, quantity in every.items()
        for size, value in zip(comparison.values, comparison.bounds(quantity), strict=False)
    ]


def draw_both_sides(data: Data) -> Data:
    """Draw a panel a cost: a mark a run, a line through the sizes that all runs solved, bounds.

    Filled marks are runs whose risk passed, whatever they ended with, hollow ones are runs whose
    risk did not: their cost is what they spent, no measure of what is needed.
    """
    costs = data["costs"]
    rows = [
        {**row, "learner": named(row["learner"]), **{cost: row[cost] or None for cost in costs}}
        for row in data["rows"]
        if row["kind"] == "run" or (row["kind"] == "enough" and row["solved"])
    ]
    certified = {cost: shown_bounds(data["rows"], cost) for cost in costs}
    styles = styles_of(dict.fromkeys(row["learner"] for row in rows))
    shown = {"learner": "learner", "seed": "seed", "risk": "risk", "solved": "solved"}
    charts = {
        cost: plot(
            [*certified[cost], *rows],
            x=sizes(data),
            y=Axis(cost, TITLES[cost][1], scale="log"),
            by="learner",
            styles={CERTIFIED: _LINES.get(cost, ("", DASHED))[1], **styles},
            kinds={
                CERTIFIED: {},
                "run": {"marks": ("point",)},
                "enough": {"marks": ("line",)},
            },
            hollow="solved",
            told={**shown, named(data["parameter"]): "place", TITLES[cost][1]: cost},
            title=TITLES[cost][0],
        )
        for cost in costs
    }
    hollow = any(row["kind"] == "run" and not row["solved"] for row in rows)
    notes = ["hollow: runs that did not solve, at what they spent"] if hollow else []
    notes += [
        f"{look}: {_needed(data, cost, certified[cost][0]['quantity'])}"
        for cost, (look, _) in _LINES.items()
        if certified.get(cost)
    ]
    notes += [FREE] if charts.get("values") else []
    title = named(data["spec"], 80)
    return panels(*charts.values(), title=title, notes=notes, pick="learner")


def shown_bounds(rows: Iterable[Mapping[str, Any]], cost: str) -> list[Data]:
    """Take what is certified of a cost and says something, as rows of that column."""
    return [
        {**row, "learner": CERTIFIED, cost: int(row["value"])}
        for row in rows
        if row["kind"] == CERTIFIED and row["cost"] == cost and row["value"] is not None
        if not vacuous(row["quantity"], int(row["value"]))
    ]


def _needed(data: Data, cost: str, quantity: str) -> str:
    terms = f"(certified: risk {data['risk']}, success {data['success']})"
    if cost == "examples":
        return f"labels that any learner needs {terms}"
    within = f"worst answers within {data['tau']} {terms}"
    return f"queries that {ASKER[quantity]} needs, {within}"
