"""The phase diagram: where each learner solves, over two parameters, beside what is certified."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hardness.compare import Comparison
from hardness.compare.certified import Certifier, terms_of
from hardness.compare.choices import choices
from hardness.compare.climb import bound_by, late, passed
from hardness.compare.planes import Plane, planes
from hardness.compare.slices import brief_spec, short
from hardness.compare.store.rows import RunRow
from hardness.lower import Certificate
from hardness.oracles import Budget
from hardness.report.canvas import belongs, named
from hardness.upper import LEARNERS, Outcome
from instances.parameters import plain

Data = dict[str, Any]
SHARE = Fraction(2, 3)  # of the runs that must pass: the success probability of the bounds
QUERIES = 10**6  # the budget of queries where none is known of the runs
PANELS = 6  # learners of a figure
SIZE = (10.0, 6.4)
_MACHINE = (  # as a sweep says of its runs
    Outcome.NOT_LOADED,
    Outcome.REFUSED,
    Outcome.CRASHED,
    Outcome.BROKE_OFF,
    Outcome.TOO_MANY_PROCESSES,
    Outcome.OVERDUE,
)
_UNABLE = (Outcome.UNSUPPORTED, *_MACHINE)
_BOUND = "#B0590A"
INFEASIBLE = "certified infeasible"
# Face, ink and mark of a state; the marks tell them apart without colour. No ink is a grey or white
# that a page would turn with its theme, for the faces stay.
_LOOKS = {
    "solved": ("#0B559F", "#FCFEFF", "●"),
    "partly": ("#9BC8E8", "#0F1012", "◐"),
    "not solved": ("#F4F1EA", "#0F1012", "○"),
    "could not run": ("#DCDDDF", "#0F1012", "×"),
}


def of_phase(plane: Plane, certifier: Certifier, part: int = 1) -> Data:
    """Collect the phase diagram of a plane of runs: `PANELS` learners from the part's first on.

    A cell is solved where at least `SHARE` of its runs passed in time, partly where some did;
    those that the machine ended, or that could not run, count as not passed. certified: the queries
    that a statistical-query learner must be allowed at a spec, exact, with `log10` of them; None
    where no bound is claimed. query_budget: that of the runs, or `QUERIES` where none is known.
    """
    terms = terms_of(dict(plane.fixed).get("tau"))
    specs = tuple(plane.specs.values())
    terms = certifier.terms(specs, terms)
    names = plane.learners
    kept = names[PANELS * (part - 1) : PANELS * part]
    grid = [[plane.specs.get((x, y)) for x in plane.xs] for y in plane.ys]
    found = {spec: certifier.one(spec, terms) for spec in specs}
    known = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    quantity = _quantity(list(known.values()))
    rows: dict[tuple[str, str], list[RunRow]] = {}
    for row in plane.rows:
        rows.setdefault((row.run.learner, row.run.spec), []).append(row)
    return {
        "spec": label(plane),
        "x": plane.x,
        "y": plane.y,
        "xs": [plain(x) for x in plane.xs],
        "ys": [plain(y) for y in plane.ys],
        "share": str(SHARE),
        "part": part,
        "parts": -(-len(names) // PANELS),
        "query_budget": plane.budget.queries or QUERIES,
        "budget_given": plane.budget.queries is not None,
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "quantity": quantity,
        "certified": [[_certified(known, spec, quantity) for spec in line] for line in grid],
        "uncertified": _uncertified(found.values(), quantity),
        "learners": [
            {
                "learner": short(name),
                "asks": asks(name),
                "cells": [
                    [_cell(rows.get((name, spec or ""), []), spec) for spec in line]
                    for line in grid
                ],
            }
            for name in kept
        ],
    }


def diagrams(every: Sequence[Plane]) -> list[tuple[Plane, int]]:
    """List the diagrams of planes: one for each few learners, told apart by their choices."""
    found = []
    for plane in every:
        parts = -(-len(plane.learners) // PANELS)
        for part in range(1, parts + 1):
            own = (("part", str(part)),) if parts > 1 else ()
            found.append((replace(plane, fixed=(*plane.fixed, *own)), part))
    named_apart = choices([plane.fixed for plane, _ in found])
    return [
        (replace(plane, choice=choice), part)
        for (plane, part), choice in zip(found, named_apart, strict=True)
    ]


def asks(learner: str) -> bool:
    """Say whether a learner is known to ask statistical queries alone: those here say so.

    >>> asks("queries"), asks("elimination"), asks("mine.py:Net")
    (True, False, False)
    """
    name = learner.partition(":")[0]
    return name in LEARNERS and LEARNERS[name].access == "queries"


def plane_of(comparison: Comparison) -> Plane:
    """Take the runs of a comparison as a plane; its budget is not known."""
    return max(planes(rows_of(comparison)), key=lambda plane: len(plane.rows))


def rows_of(comparison: Comparison) -> list[RunRow]:
    """Take the runs of a comparison as rows of a store; their budgets are not known."""
    return [
        RunRow(
            key="",
            run=run,
            budget=Budget(),
            bound="machine" if run.outcome in _MACHINE else bound_by(run, Budget()),
        )
        for run in comparison.runs
    ]


def label(plane: Plane) -> str:
    """Write what is fixed in the specs of a plane, without defaults, as "parity:noise=0.1"."""
    return brief_spec(next(iter(plane.specs.values())), plane.x, plane.y)


def _quantity(known: Sequence[Certificate]) -> str:
    every = [{claim.quantity for claim in one.claims} for one in known]
    for name in ("stat-queries", "csq-queries"):
        if every and all(name in names for names in every):
            return name
    return ""


def _uncertified(found: Iterable[Certificate | str], quantity: str) -> str:
    """Say why nothing is hatched, or a part of the cells cannot be."""
    whys = dict.fromkeys(one for one in found if isinstance(one, str))
    mixed = [] if quantity or whys else ["no bound on queries of one kind is there for all cells"]
    return next(iter([*whys, *mixed]), "")


def _certified(known: dict[str, Certificate], spec: str | None, quantity: str) -> Data | None:
    if spec not in known or not quantity:
        return None
    value = known[spec].value(quantity)
    number = int(value)
    return {"queries": value, "log10": math.log10(number) if number > 0 else None}


def _cell(rows: list[RunRow], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec; None where there are none."""
    if not rows or spec is None:
        return None
    kept = [row for row in rows if row.bound != "machine" and row.run.outcome not in _UNABLE]
    number = sum(passed(row.run) and not late(row.run, row.budget) for row in kept)
    state = "not solved"
    if not kept:
        state = "could not run"
    elif number >= SHARE * len(rows):
        state = "solved"
    elif number:
        state = "partly"
    return {
        "spec": spec,
        "passed": number,
        "runs": len(rows),
        "ended_by_machine": len(rows) - len(kept),
        "state": state,
    }


def infeasible(data: Data, i: int, j: int, budget: int | None = None) -> bool:
    """Say whether the certified number at row i and column j is above a budget of queries."""
    found = data["certified"][i][j]
    return found is not None and int(found["queries"]) > (budget or data["query_budget"])


def draw_phase(figure: Any, data: Data) -> None:
    """Draw a panel a learner; hatched where a bound says that its budget of queries is too small.

    Learners that ask statistical queries alone are hatched. The others, of which the bound says
    nothing, have the edge of that region alone, dashed.
    """
    number = max(len(data["learners"]), 1)
    columns = number if number < 4 else -(-number // 2)
    every = figure.subplots(-(-number // columns), columns, squeeze=False).ravel()
    for place, axis in enumerate(every):
        if place < len(data["learners"]):
            _panel(axis, data, data["learners"][place])
        else:
            axis.remove()
    figure.suptitle(_title(data), fontsize=9)
    handles = _legend(data)
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)


def _title(data: Data) -> str:
    """Name the family, and the budget that the hatching is about."""
    shown = f"{named(data['spec'], 80)}: solved is at least {data['share']} of the runs passed"
    if any(infeasible(data, i, j) for i in range(len(data["ys"])) for j in range(len(data["xs"]))):
        whose = "that of the runs" if data["budget_given"] else "assumed, none is known of the runs"
        shown += f"\nbudget of queries {data['query_budget']:,}".replace(",", " ")
        shown += f" ({whose}); risk {data['risk']}, success {data['success']}, worst answers"
        shown += f" within {data['tau']}"
    return shown


def _panel(axis: Any, data: Data, learner: Data) -> None:
    from matplotlib.patches import Rectangle

    xs, ys = data["xs"], data["ys"]
    room = len(xs) <= 12 and len(ys) <= 10
    for i, line in enumerate(learner["cells"]):
        for j, cell in enumerate(line):
            if cell is not None:
                face, ink, mark = _LOOKS[cell["state"]]
                square = Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=face, edgecolor="#8A8A8A", lw=0.5
                )
                belongs(cell["state"], axis.add_patch(square))
                text = f"{cell['passed']}/{cell['runs']}"
                shown = text if room and cell["state"] != "could not run" else mark
                axis.text(j, i, shown, color=ink, ha="center", va="center", fontsize=8, zorder=4)
            if infeasible(data, i, j):
                _certify(axis, data, i, j, learner["asks"])
    axis.set_xlim(-0.5, len(xs) - 0.5)
    axis.set_ylim(-0.5, len(ys) - 0.5)
    step = 1 if len(xs) <= 12 else -(-len(xs) // 12)
    axis.set_xticks(range(0, len(xs), step), xs[::step])
    axis.set_yticks(range(len(ys)), ys if data["y"] else [""])
    axis.set_xlabel(data["x"])
    axis.set_ylabel(data["y"])
    axis.tick_params(length=0)
    axis.set_box_aspect(min(1.0, max(0.3, len(ys) / len(xs))))
    axis.set_title(named(learner["learner"]) + (", asks queries" if learner["asks"] else ""))


def _certify(axis: Any, data: Data, i: int, j: int, asks_queries: bool) -> None:
    """Hatch a cell, or draw those of its sides beyond which the region ends."""
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    if asks_queries and data["quantity"] == "stat-queries":
        hatched = Rectangle(
            (j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor=_BOUND, lw=0, zorder=3
        )
        belongs(INFEASIBLE, axis.add_patch(hatched))
        return
    rows, columns = len(data["ys"]), len(data["xs"])
    for di, dj in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        a, b = i + di, j + dj
        if 0 <= a < rows and 0 <= b < columns and not infeasible(data, a, b):
            centre, half = (j + dj / 2, i + di / 2), (di / 2, dj / 2)
            drawn = axis.plot(
                [centre[0] - half[0], centre[0] + half[0]],
                [centre[1] - half[1], centre[1] + half[1]],
                color=_BOUND,
                linestyle="--",
                linewidth=1.4,
                zorder=5,
                path_effects=[withStroke(linewidth=3.4, foreground="white")],
            )
            belongs(INFEASIBLE, *drawn)


def _legend(data: Data) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shares = {
        "solved": f"solved: at least {data['share']} of the runs passed",
        "partly": "partly: fewer",
        "not solved": "not solved: none passed",
        "could not run": "× could not run, or the machine ended all of them",
    }
    seen = {c["state"] for one in data["learners"] for line in one["cells"] for c in line if c}
    found: list[Any] = [
        Patch(facecolor=face, edgecolor="#8A8A8A", label=shares[state])
        for state, (face, _, _) in _LOOKS.items()
        if state in seen
    ]
    cells = [(i, j) for i in range(len(data["ys"])) for j in range(len(data["xs"]))]
    if any(infeasible(data, i, j) for i, j in cells):
        kind = "statistical" if data["quantity"] == "stat-queries" else "correlational"
        if data["quantity"] == "stat-queries" and any(one["asks"] for one in data["learners"]):
            found.append(
                Patch(
                    facecolor="white",
                    edgecolor=_BOUND,
                    hatch="////",
                    label="certified: needs more queries than the budget, worst answers",
                )
            )
        found.append(
            Line2D(
                [],
                [],
                color=_BOUND,
                linestyle="--",
                label=f"edge of that region for {kind}-query learners; no bound for this learner",
            )
        )
    return found
