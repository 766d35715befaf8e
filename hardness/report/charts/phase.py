"""The phase diagram: where each learner solves, over two parameters, beside what is certified."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from hardness.claims import NONE_ENOUGH, WORD, vacuous
from hardness.lower import BoundParameters, Certificate
from hardness.report.charts.chart import Data, drawn_of, named, ordinal, panels, tooltip
from hardness.report.text import big
from hardness.runs.certified import Certifier, number, query_bound, terms_of
from hardness.runs.names import brief_spec, short
from hardness.runs.run import MACHINE, Run
from hardness.runs.table import Plane, table, told_apart
from hardness.upper import LEARNERS, Outcome
from instances.parameters import plain, whole
from instances.text import decimal

SHARE = Fraction(2, 3)  # of the runs that must pass: the success probability of the bounds
QUERIES = 10**6  # the budget of queries where none is known, neither of the runs nor certified
PANELS = 6  # learners of a figure
_UNABLE = (Outcome.UNSUPPORTED, *MACHINE)
_BOUND = "#B0590A"
_STEPS = 60  # budgets that a reader of a page can choose
_WIDE, _HIGH = 300, 220  # pixels that cells of a panel share
# Face, ink and mark of a state; the marks tell them apart without colour.
LOOKS = {
    "solved": ("#0B559F", "#FCFEFF", "●"),
    "partly": ("#9BC8E8", "#0F1012", "◐"),
    "not solved": ("#F4F1EA", "#0F1012", "○"),
    "could not run": ("#DCDDDF", "#0F1012", "×"),
}


def of_phase(plane: Plane, certifier: Certifier) -> Data:
    """Collect the phase diagram of a plane of runs, of at most `PANELS` of its learners.

    A cell is solved where at least `SHARE` of its runs passed in time, partly where some did;
    those that the machine ended, or that could not run, count as not passed. certified: the queries
    that a statistical-query learner must be allowed at a spec, exact, with `log10` of them, null
    where no number is enough; None where no bound is claimed. query_budget: that of the runs, or
    `assumed` where none is known.
    """
    terms = terms_of(dict(plane.fixed).get("tau"))
    specs = tuple(plane.specs.values())
    terms = certifier.terms(specs, terms)
    names = plane.learners
    kept = names[PANELS * (plane.number - 1) : PANELS * plane.number]
    queries = plane.rows[0].budget.queries
    grid = [[plane.specs.get((x, y)) for x in plane.xs] for y in plane.ys]
    found = {spec: certifier.one(spec, terms) for spec in specs}
    known = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    quantity = query_bound(list(known.values()))
    rows = {
        key: list(group)
        for key, group in table(plane.rows).groupby(["learner", "spec"], sort=False)["run"]
    }
    return {
        "spec": label(plane),
        "x": plane.x,
        "y": plane.y,
        "xs": [plain(x) for x in plane.xs],
        "ys": [plain(y) for y in plane.ys],
        "share": str(SHARE),
        "part": plane.number,
        "parts": -(-len(names) // PANELS),
        "query_budget": queries or assumed(_numbers(known.values(), quantity, terms)),
        "budget_given": queries is not None,
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "quantity": quantity,
        "certified": [[_certified(known, spec, quantity, terms) for spec in line] for line in grid],
        "uncertified": _uncertified(found.values(), quantity),
        "learners": [
            {
                "learner": short(name),
                "asks": asks(name),
                "cells": [
                    [cell_of(rows.get((name, spec or ""), []), spec) for spec in line]
                    for line in grid
                ],
            }
            for name in kept
        ],
    }


def diagrams(every: Iterable[Plane]) -> tuple[Plane, ...]:
    """List the diagrams of planes: one for each few learners, told apart by their choices.

    A plane of one row or one column has none: it is a curve, which other figures draw.
    """
    found = []
    for plane in every:
        if min(len(plane.xs), len(plane.ys)) < 2:
            continue
        parts = -(-len(plane.learners) // PANELS)
        for part in range(1, parts + 1):
            own = (("part", str(part)),) if parts > 1 else ()
            found.append(replace(plane, fixed=(*plane.fixed, *own), number=part))
    return told_apart(found)


def asks(learner: str) -> bool:
    """Return whether a learner is known to ask statistical queries alone: those here say so.

    >>> asks("queries"), asks("elimination"), asks("mine.py:Net")
    (True, False, False)
    """
    name = learner.partition(":")[0]
    return name in LEARNERS and LEARNERS[name].access == "queries"


def label(plane: Plane) -> str:
    """Write what is fixed in the specs of a plane, without defaults, as "parity:noise=0.1"."""
    return brief_spec(next(iter(plane.specs.values())), plane.x, plane.y)


def assumed(certified: Sequence[int]) -> int:
    """Assume a budget of queries that shows the bounds: the largest power of ten below one of them.

    >>> assumed([4, 160]), assumed([0, 1]), assumed([])
    (100, 1000000, 1000000)
    """
    largest = max(certified, default=0)
    return 10 ** (len(str(largest - 1)) - 1) if largest > 1 else QUERIES


def _numbers(known: Iterable[Certificate], quantity: str, terms: BoundParameters) -> list[int]:
    """The numbers that say something."""
    found = [number(one, quantity, terms.success) for one in known] if quantity else []
    return [value for value in found if value is not None and not vacuous(quantity, value)]


def _uncertified(found: Iterable[Certificate | str], quantity: str) -> str:
    """Say why nothing is hatched, or a part of the cells cannot be."""
    whys = dict.fromkeys(one for one in found if isinstance(one, str))
    mixed = [] if quantity or whys else ["no bound on queries of one kind is there for all cells"]
    return next(iter([*whys, *mixed]), "")


def _certified(
    known: dict[str, Certificate], spec: str | None, quantity: str, terms: BoundParameters
) -> Data | None:
    if spec not in known or not quantity:
        return None
    value = number(known[spec], quantity, terms.success)
    if value is None:  # no number is enough
        return {"queries": None, "log10": None}
    return {"queries": decimal(value), "log10": math.log10(value) if value > 0 else None}


def cell_of(rows: list[Run], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec, and say its state; None where there are none."""
    if not rows or spec is None:
        return None
    kept = [row for row in rows if row.bound != "machine" and row.outcome not in _UNABLE]
    number = sum(row.solved for row in kept)
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


def certified_queries(data: Data, i: int, j: int) -> str | None:
    """Return the certified number at row i and column j; None where there is none, or vacuous."""
    found = data["certified"][i][j]
    queries = found and found["queries"]
    if queries is None or vacuous(data["quantity"], whole(queries)):
        return None
    return str(queries)


def _none_enough(data: Data, i: int, j: int) -> bool:
    found = data["certified"][i][j]
    return found is not None and found["queries"] is None


def infeasible(data: Data, i: int, j: int, budget: int | None = None) -> bool:
    """Return whether a budget of queries is certified too small at row i and column j."""
    if _none_enough(data, i, j):
        return True
    found = certified_queries(data, i, j)
    return found is not None and whole(found) > (budget or data["query_budget"])


def budgets(data: Data) -> list[int]:
    """List budgets of queries to choose from: powers of ten, and that of the diagram itself.

    >>> cells = [[{"queries": "1200", "log10": 3.1}, None]]
    >>> budgets({"quantity": "stat-queries", "certified": cells, "query_budget": 20})
    [1, 10, 20, 100, 1000, 10000]
    """
    digits = [len(text) for text in _every(data)]
    last = max(digits, default=0)
    apart = -(-(last + 1) // _STEPS)
    powers = {10**e for e in range(0, last + apart, apart)} if digits else set()
    return sorted(powers | {data["query_budget"]})


def _every(data: Data) -> list[str]:
    """The certified numbers that say something."""
    places = product(range(len(data["certified"])), range(len(data["certified"][0])))
    found = [certified_queries(data, i, j) for i, j in places]
    return [text for text in found if text is not None]


def draw_phase(data: Data) -> Data:
    """Draw a panel a learner; hatched where a bound says that its budget of queries is too small.

    Learners that ask statistical queries alone are hatched. The others, of which the bound says
    nothing, have the edge of that region alone, dashed. `above` is how many of the `budgets` a
    certified number is above, counted exactly: at budget i a cell is infeasible where above > i.
    """
    choices = budgets(data)
    own = choices.index(data["query_budget"])
    whose = "of the runs" if data["budget_given"] else "assumed: none is known of the runs"
    names = [big(one) for one in choices]
    names[own] += f" ({whose})"
    charts = [_panel(data, one, choices) for one in data["learners"]]
    chart = panels(*charts, title=f"{named(data['spec'] or 'all', 80)}: where learners solve")
    notes = [f"in a cell: runs that passed, of all; solved: at least {data['share']} of them"]
    rows, columns = range(len(data["ys"])), range(len(data["xs"]))
    if not (_every(data) or any(_none_enough(data, i, j) for i in rows for j in columns)):
        return {**chart, "title": {**chart["title"], "subtitle": notes}}
    kind = "statistical" if data["quantity"] == "stat-queries" else "correlational"
    hatched = data["quantity"] == "stat-queries" and any(one["asks"] for one in data["learners"])
    notes += [
        f"certified for {kind}-query learners: risk {data['risk']}, success {data['success']}, "
        f"worst answers within {data['tau']}"
    ]
    notes += ["hatched: the certificate asks for more queries than the budget"] if hatched else []
    notes += ["dashed: the edge of that region; the bound is not about this learner"]
    before = "['" + "', '".join(notes[:1]) + "', 'budget of queries: ' + budgets[budget]"
    after = "".join(f", '{one}'" for one in notes[1:]) + "]"
    slider = {"input": "range", "min": 0, "max": len(names) - 1, "step": 1}
    return {
        **chart,
        "title": {**chart["title"], "subtitle": {"expr": before + after}},
        "params": [
            {"name": "budgets", "value": names},
            {"name": "budget", "value": own, "bind": {**slider, "name": "budget of queries "}},
        ],
    }


def _panel(data: Data, learner: Data, choices: Sequence[int]) -> Data:
    xs, ys = data["xs"], data["ys"]
    wide = max(12.0, min(44.0, _WIDE / len(xs)))
    high = max(14.0, min(34.0, _HIGH / len(ys)))
    room = wide >= 24
    above = [
        [sum(infeasible(data, i, j, one) for one in choices) for j in range(len(xs))]
        for i in range(len(ys))
    ]
    rows = [
        {
            "x": named(xs[j]),
            "y": named(ys[i]),
            "state": cell["state"],
            "passed": f"{cell['passed']} of {cell['runs']}",
            "says": f"{cell['passed']}/{cell['runs']}"
            if room and cell["state"] != "could not run"
            else LOOKS[cell["state"]][2],
            "certified": _said(data, i, j),
        }
        for i, line in enumerate(learner["cells"])
        for j, cell in enumerate(line)
        if cell
    ]
    cells = [cell for one in data["learners"] for line in one["cells"] for cell in line]
    states = [state for state in LOOKS if state in {cell["state"] for cell in cells if cell}]
    told = {named(data["x"]): "x", named(data["y"] or "-"): "y", "passed": "passed"}
    told |= {"state": "state", "certified queries": "certified"}
    colour = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": states, "range": [LOOKS[state][0] for state in states]},
        "legend": {"title": None, "symbolType": "square", "symbolStrokeColor": "#8A8A8A"},
    }
    ink = [
        {"test": {"field": "state", "equal": state}, "value": LOOKS[state][1]} for state in states
    ]
    is_hatched = learner["asks"] and data["quantity"] == "stat-queries"
    marks = _hatches(above, xs, ys, wide / high) if is_hatched else _edges(above, xs, ys)
    return {
        "title": named(learner["learner"]) + (", asks queries" if learner["asks"] else ""),
        "width": wide * len(xs),
        "height": high * len(ys),
        "encoding": {"x": ordinal("x", data["x"], xs), "y": ordinal("y", data["y"], ys[::-1])},
        "layer": [
            {
                "data": drawn_of(rows),
                "mark": {"type": "rect", "stroke": "#8A8A8A", "strokeWidth": 0.5},
                "encoding": {
                    "color": colour,
                    "tooltip": tooltip(**told),
                },
            },
            *_bound_layers(marks, wide, high),
            {
                "data": drawn_of(rows),
                "mark": {"type": "text", "tooltip": None},
                "encoding": {
                    "text": {"field": "says"},
                    "color": {"condition": ink, "value": "black"},
                },
            },
        ],
    }


def _said(data: Data, i: int, j: int) -> str:
    found = certified_queries(data, i, j)
    if found:
        return big(whole(found))
    if _none_enough(data, i, j):
        return NONE_ENOUGH
    return WORD if data["certified"][i][j] else "no bound"


def _hatches(
    above: list[list[int]], xs: Sequence[str], ys: Sequence[str], ratio: float
) -> list[Data]:
    """Strokes across the corners of cells, beside the number in the middle."""
    path = "".join(
        f"M{-ratio:g},{2 * part - 1:g}L{2 * ratio * part - ratio:g},-1"
        f"M{ratio - 2 * ratio * part:g},1L{ratio:g},{1 - 2 * part:g}"
        for part in (0.22, 0.45)
    )
    return [
        {"x": named(x), "y": named(y), "from": 0, "to": above[i][j], "shape": path}
        for i, y in enumerate(ys)
        for j, x in enumerate(xs)
        if above[i][j]
    ]


def _edges(above: list[list[int]], xs: Sequence[str], ys: Sequence[str]) -> list[Data]:
    """Right and upper sides of cells beyond which the region ends, at the budgets from .. to."""
    found = []
    for i, j in product(range(len(ys)), range(len(xs))):
        for a, b, shape in ((i, j + 1, "right"), (i + 1, j, "upper")):
            if a < len(ys) and b < len(xs) and above[i][j] != above[a][b]:
                low, high = sorted((above[i][j], above[a][b]))
                place = {"x": named(xs[j]), "y": named(ys[i])}
                found.append({**place, "from": low, "to": high, "shape": shape})
    return found


def _bound_layers(marks: list[Data], wide: float, high: float) -> list[Data]:
    """Draw the marks of a bound, each shape in layers of its own: white below, seen on any cell."""
    ratio = wide / high
    sides = {
        "right": f"M{ratio:g},-1L{ratio:g},1",
        "upper": f"M{-ratio:g},-1L{ratio:g},-1",
    }
    below = {"stroke": "white", "strokeWidth": 3.2}
    point = {"type": "point", "size": high**2, "filled": False, "tooltip": None, "opacity": 1}
    return [
        {
            "data": drawn_of([one for one in marks if one["shape"] == shape]),
            "transform": [{"filter": "datum.from <= budget && budget < datum.to"}],
            "mark": {**point, "shape": sides.get(shape, shape), **look},
        }
        for shape in dict.fromkeys(one["shape"] for one in marks)
        for dash in [[4, 2] if shape in sides else [1, 0]]
        for look in (below, {"stroke": _BOUND, "strokeWidth": 1.5, "strokeDash": dash})
    ]
