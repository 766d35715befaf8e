"""Figures of runs: each side of a comparison, beside what is certified."""

from collections.abc import Sequence

from hardness.claims import vacuous
from hardness.report.charts.chart import (
    FADED,
    HIGH,
    MOST,
    WIDE,
    Data,
    by_learner,
    drawn_of,
    logarithmic,
    named,
    panels,
    pick_in,
    quantity,
    tooltip,
    write,
)
from hardness.report.charts.style import BOUND
from hardness.report.summary import ASKER, short_name
from hardness.runs.cells import COSTS, Cell, bounds, cells
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison
from hardness.runs.run import Run
from instances.parameters import plain

TITLES = {
    "queries": ("Statistical queries", "number of queries"),
    "examples": ("Examples", "number of examples"),
    "values": ("Membership queries", "number of chosen tokens"),
    "seconds": ("Time", "time (s)"),
    "risk": ("Risk (1 = nothing learned)", "relative risk"),
}

FREE = "membership queries: only the information floor, of labels, binds learners that ask them"
_LINES = {"queries": ("dashed", [6, 3]), "examples": ("dotted", [1, 3])}


def both_sides(comparison: Comparison, kind: str = "svg") -> bytes:
    """Draw the figure as svg, png or pdf.

    Filled marks are runs whose risk passed, whatever they ended with, hollow ones are runs whose
    risk did not: their cost is what they spent, no measure of what is needed.
    """
    return write(draw_both_sides(of_both_sides(comparison)), kind)


def of_both_sides(comparison: Comparison) -> Data:
    """Collect what every run spent, the summary of each learner at each size, what is certified.

    Runs may be missing: a learner may lack some sizes, and have other numbers of seeds than others.
    """
    every = cells(comparison)
    costs: list[str] = [*COSTS] if comparison.learners else [*COSTS[:2]]  # bounds are not on time
    if comparison.learners and not any(run.usage.values for run in comparison.runs):
        costs.remove("values")
    # Where nobody asks queries, the risk is the news.
    asked = bool(comparison.certificates) or any(run.usage.queries for run in comparison.runs)
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "places": [float(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "costs": costs if asked else ["risk", *costs[1:]],
        "learners": [
            {
                "learner": short_name(comparison, name),
                "name": name,
                "runs": [
                    _spent(float(value), run, costs)
                    for value in comparison.values
                    for run in comparison.of(name, value)
                ],
                "cells": [_summary(cell, costs) for cell in every if cell.learner == name],
            }
            for name in comparison.learner_names
        ],
        "certified": _certified(comparison),
    }


def _spent(place: float, run: Run, costs: Sequence[str]) -> Data:
    return {
        "place": place,
        "seed": run.seed,
        "solved": run.solved,
        **{cost: spent(run, cost) for cost in costs},
        "risk": run.risk.value if run.risk else None,
    }


def _summary(cell: Cell, costs: Sequence[str]) -> Data:
    return {
        "place": float(cell.value),
        "solved": cell.solved,
        "runs": cell.runs,
        **{cost: float(value) for cost, value in cell.enough.items() if cost in costs},
        "risk": cell.risk,
    }


def _certified(comparison: Comparison) -> Data:
    """The certified numbers as text, for they may be of any size, by the cost they bound."""
    if len(comparison.certificates) != len(comparison.values):
        return {}
    bound = query_bound(comparison.certificates) or "csq-queries"
    terms = comparison.terms
    named_terms = f"risk {terms.risk}, success {terms.success}"
    found: dict[str, Data] = {
        "queries": {
            "quantity": bound,
            "label": f"queries that {ASKER[bound]} needs, worst answers within {terms.tau} "
            f"(certified: {named_terms})",
            "values": [None if v is None else str(v) for v in bounds(comparison, bound)],
        },
        "examples": {
            "quantity": "information-floor",
            "label": f"labels that any learner needs (certified: {named_terms})",
            "values": [str(v) for v in bounds(comparison, "information-floor")],
        },
    }
    return {cost: bound for cost, bound in found.items() if bound["values"]}


def spent(run: Run, cost: str) -> float:
    """Return a run's cost in one resource, or its risk; 0 where that was not measured."""
    if cost == "risk":
        return run.risk.value if run.risk else 0.0
    return float(getattr(run.usage, cost))


def draw_both_sides(data: Data) -> Data:
    """Draw a panel a cost: a mark a run, a line through the sizes that all runs solved, bounds.

    Filled marks are runs whose risk passed, hollow ones are runs whose risk did not: their cost is
    what they spent, no measure of what is needed.
    """
    names = [named(one["learner"]) for one in data["learners"]]
    learners = list(zip(names, data["learners"], strict=True))
    seen = [cost for cost in data["costs"] if _seen(data, cost)] or data["costs"]
    charts = [_cost(data, cost, names) for cost in seen]
    pick_in(charts[0])
    every = [
        {**run, "learner": name, "seed": str(run["seed"]), "solved": _WORDS[run["solved"]]}
        for name, one in learners
        for run in one["runs"]
    ]
    joined = [
        {**{cost: cell[cost] for cost in data["costs"]}, "learner": name, "place": cell["place"]}
        for name, one in learners
        for cell in one["cells"]
        if cell["solved"] == cell["runs"]
    ]
    hollow = any(run["solved"] == _WORDS[False] for run in every)
    notes = ["hollow: runs that did not solve, at what they spent"] if hollow else []
    for cost, (look, _) in _LINES.items():
        notes += [f"{look}: {data['certified'][cost]['label']}"] if _bound(data, cost) else []
    notes += [FREE] if "values" in seen else []
    chart = panels(*charts, title=named(data["spec"], 80), notes=notes)
    return {**chart, "datasets": {"runs": every, "joined": joined}}  # once, for all panels


_WORDS = {True: "yes", False: "no"}


def _cost(data: Data, cost: str, names: Sequence[str]) -> Data:
    title, unit = TITLES[cost]
    bound, style = _bound(data, cost), by_learner(names)
    spent = [run[cost] or 0 for one in data["learners"] for run in one["runs"]]
    places = {"values": data["places"], "labelOverlap": True}
    ends = [min(data["places"]), max(data["places"])]
    across = {"padding": 12, "nice": False, **({"domain": ends} if ends[0] < ends[1] else {})}
    line = {"color": style["color"], "strokeDash": style["strokeDash"], "opacity": FADED}
    shown = {"learner": "learner", "seed": "seed", "risk": "risk", "solved": "solved"}
    marks = {
        "color": style["color"],
        "shape": style["shape"],
        "fill": style["color"],
        "fillOpacity": {"condition": {"test": "datum.solved === 'yes'", "value": 1}, "value": 0},
        "opacity": FADED,
        "tooltip": tooltip(**{**shown, named(data["parameter"]): "place", unit: cost}),
    }
    known = [{"filter": f"datum.{cost} > 0"}]
    return {
        "title": title,
        "width": WIDE,
        "height": HIGH,
        "encoding": {
            "x": quantity("place", named(data["parameter"]), axis=places, scale=across),
            "y": logarithmic(cost, unit, [*spent, *(row[cost] for row in bound)]),
        },
        "layer": [
            *_lines(bound, cost),
            {"data": {"name": "joined"}, "transform": known, "mark": "line", "encoding": line},
            {"data": {"name": "runs"}, "transform": known, "mark": "point", "encoding": marks},
        ],
    }


def _seen(data: Data, cost: str) -> bool:
    return any(run[cost] for one in data["learners"] for run in one["runs"]) or bool(
        _bound(data, cost)
    )


def _bound(data: Data, cost: str) -> list[Data]:
    """The certified values that say something and that a picture can hold."""
    certified = data["certified"].get(cost)
    if not certified:
        return []
    return [
        {"place": place, cost: float(value)}
        for place, text in zip(data["places"], certified["values"], strict=True)
        if text is not None  # no number of queries is enough
        and (value := int(text)) < MOST
        and not vacuous(certified["quantity"], value)
    ]


def _lines(bound: list[Data], cost: str) -> list[Data]:
    if not bound:
        return []
    line = {"type": "line", "color": BOUND, "strokeWidth": 2, "strokeDash": _LINES[cost][1]}
    line |= (
        {"point": {"shape": "stroke", "color": BOUND, "filled": False, "size": 150}}
        if len(bound) == 1
        else {}
    )
    area = {"type": "area", "color": BOUND, "opacity": 0.07}
    return [{"data": drawn_of(bound), "mark": mark} for mark in (area, line)]
