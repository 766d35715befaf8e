"""The summary of a store: of each problem over its sizes and each learner, what was solved."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hardness.report.caption import PASSED, captioned, goal, seeds_words
from hardness.report.charts.phase import LOOKS
from hardness.report.comparison import fit_rows, short_name
from hardness.report.plot import Axis, Data, cells, named, panels
from hardness.report.style import GREY
from hardness.runs.certified import Certifier, query_bound
from hardness.runs.comparison import BOUND, Comparison, worded
from hardness.runs.run import Run
from hardness.runs.slices import Slice, slices
from instances.errors import UsageError
from instances.parameters import plain
from instances.result import TableRow

CERTIFIED = "certified at least"
_COSTS = ("queries", "examples")


def of_summary(runs: Iterable[Run], certifier: Certifier) -> Data:
    """Give a row for each problem and learner; raises UsageError for a store without runs.

    largest: the largest size that every run solved, None where there is none; examples and queries:
    medians there. growth: the fitted power of the examples. Rows of what is certified are of the
    largest size.
    """
    parts = slices(runs, certifier)
    if not parts:
        raise UsageError("no runs are in it: do a sweep with [[runs]] into it first")
    terms = [one.comparison for one in parts if one.comparison.certificates]
    goals = dict.fromkeys(goal(one.terms, query_bound(one.certificates)) for one in terms)
    seeds = seeds_words(run for one in parts for run in one.rows)
    said = f"Solved: {PASSED}, of runs with {seeds}; costs are medians at the largest size that "
    said += "all runs solved."
    return {
        "caption": captioned(said, *goals),
        "rows": [row for one in parts for row in _rows(_title(one, parts), one.comparison)],
    }


def _title(one: Slice, every: Sequence[Slice]) -> str:
    """Name a slice by its spec and sizes, and by what tells it from another that has these."""
    short = [replace(other, choice="").title for other in every]
    named = replace(one, choice="").title
    return named if short.count(named) == 1 else one.title


def _rows(problem: str, found: Comparison) -> list[TableRow]:
    name = found.parameter
    growth = {(who, cost): law for who, cost, _, law, _ in fit_rows(found)}
    rows: list[TableRow] = []
    for learner in found.learner_names:
        every = [one for one in found.cells if one.learner == learner]
        solved = [one for one in every if one.solved == one.runs]
        best, who = (max(solved, key=lambda one: one.value) if solved else None), short_name
        row: dict[str, Any] = {"problem": problem, "learner": who(found, learner)}
        row |= {"solved": f"{sum(c.solved for c in every)}/{sum(c.runs for c in every)}"}
        row |= {"largest": f"{name}={plain(best.value)}" if best else None}
        row |= {cost: (getattr(best, cost) or None) if best else None for cost in _COSTS}
        rows.append({**row, "growth": growth.get((row["learner"], "examples"))})
    sizes = list(found.by_size())
    if sizes and (bounds := sizes[-1][1]):
        row = {"problem": problem, "learner": CERTIFIED, "solved": None, "largest": sizes[-1][0]}
        said = {BOUND[quantity]: worded(quantity, value) for quantity, value in bounds.items()}
        row |= {cost: said.get(cost) for cost in _COSTS}
        law = next((one.exponent for one in found.scaling.certified if "floor" in one.quantity), 0)
        rows.append({**row, "growth": f"{name}^{law:.2f}" if law else None})
    return rows


def draw_summary(data: Data) -> Data:
    """Draw a cell a problem and learner: solved runs of all, and the largest size all solved."""
    rows = [row for row in data["rows"] if row["solved"]]
    problems = list(dict.fromkeys(named(row["problem"], 80) for row in rows))
    learners = list(dict.fromkeys(named(row["learner"]) for row in rows))
    shown = [
        {
            "learner": named(row["learner"]),
            "problem": named(row["problem"], 80),
            "solved": row["solved"],
            "state": _state(row["solved"]),
            "all": f"to {row['largest']}" if row["largest"] else "",
        }
        for row in rows
    ]
    states = [state for state in LOOKS if any(row["state"] == state for row in shown)]
    chart = cells(
        shown,
        x=Axis("learner", scale="names", names=learners, look={"orient": "top", "labelAngle": 0}),
        y=Axis("problem", scale="names", names=problems, look={"labelLimit": 400}),
        colour={
            "field": "state",
            "type": "nominal",
            "scale": {"domain": states, "range": [LOOKS[state][0] for state in states]},
            "legend": {"title": None, "symbolType": "square", "symbolStrokeColor": GREY},
        },
        says={"solved": {"dy": -6}, "all": {"dy": 7, "fontSize": 9}},
        ink={
            "condition": [
                {"test": {"field": "state", "equal": state}, "value": LOOKS[state][1]}
                for state in states
            ],
            "value": "black",
        },
        told={"learner": "learner", "problem": "problem", "solved": "solved"},
        size=(110 * len(learners), 34 * len(problems)),
    )
    notes = ["solved runs of all; to: the largest size that every run solved"]
    return panels(chart, title="What was solved", notes=notes)


def _state(solved: str) -> str:
    done, _, runs = solved.partition("/")
    return "solved" if done == runs else "partly" if int(done) else "not solved"
