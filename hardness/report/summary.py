"""The summary of a store: of each problem over its sizes and each learner, what was solved."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hardness.report.caption import PASSED, captioned, goal, seeds_words
from hardness.report.comparison import fit_rows, short_name
from hardness.runs.certified import Certifier, query_bound
from hardness.runs.comparison import BOUND, Comparison, worded
from hardness.runs.groups import over_one
from hardness.runs.run import Run
from instances.errors import UsageError
from instances.numbers import write
from instances.result import TableRow

CERTIFIED = "certified at least"
_COSTS = ("queries", "examples")


def of_summary(runs: Iterable[Run], certifier: Certifier) -> dict[str, Any]:
    """Give a row for each problem and learner; raises UsageError for a store without runs.

    largest: the largest size that every run solved, None where there is none; examples and queries:
    medians there. growth: the fitted power of the examples. Rows of what is certified are of the
    largest size.
    """
    parts = over_one(runs, certifier)
    if not parts:
        raise UsageError("no runs are in it: do a sweep with [[runs]] into it first")
    # A line is named by its sizes alone, if no other line has the same.
    short = [replace(line, beside="").title for line in parts]
    names = [n if short.count(n) == 1 else line.title for n, line in zip(short, parts, strict=True)]
    terms = [line.comparison for line in parts if line.comparison.certificates]
    goals = dict.fromkeys(goal(line.terms, query_bound(line.certificates)) for line in terms)
    seeds = seeds_words(run for line in parts for run in line.rows)
    said = f"Solved: {PASSED}, of runs with {seeds}; costs are medians at the largest size that "
    said += "all runs solved."
    return {
        "caption": captioned(said, *goals),
        "rows": [
            row
            for line, name in zip(parts, names, strict=True)
            for row in _rows(name, line.comparison)
        ],
    }


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
        row |= {"largest": f"{name}={write(best.value)}" if best else None}
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
