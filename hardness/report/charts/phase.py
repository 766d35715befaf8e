"""The phase diagram: where each learner solves, over two parameters, beside what is certified."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product, zip_longest

from hardness.bounds import Certificate
from hardness.bounds.quantities import NONE_ENOUGH, WORD, vacuous
from hardness.report.charts.runs import CERTIFIED
from hardness.report.plot import Axis, Data, cells, named, panels
from hardness.report.style import GREY
from hardness.runs.certified import Certifier, number, query_bound, terms_of
from hardness.runs.groups import Plane
from hardness.runs.names import brief_spec, short
from hardness.runs.registry import LEARNERS
from hardness.runs.run import Run
from instances import numbers
from instances.numbers import brief, write

SHARE = Fraction(2, 3)  # of the runs that must pass: the success probability of the bounds
QUERIES = 10**6  # the budget of queries where none is known, neither of the runs nor certified
PANELS = 6  # learners of a figure
_BOUND = "#B0590A"
_STEPS = 60  # budgets that a reader of a page can choose
_WIDE, _HIGH = 300, 220  # pixels that cells of a panel share
_ROOM = 24  # pixels across that a cell needs for its numbers
# Face, ink and mark of a state; the marks tell them apart without colour.
LOOKS = {
    "solved": ("#0B559F", "#FCFEFF", "●"),
    "partly": ("#9BC8E8", "#0F1012", "◐"),
    "not solved": ("#F4F1EA", "#0F1012", "○"),
    "could not run": ("#DCDDDF", "#0F1012", "×"),
}


def of_phase(plane: Plane, certifier: Certifier) -> Data:
    """Give the phase diagram of a plane of runs, of its first `PANELS` learners.

    A row of the kind cell is of a learner on a spec. A cell is solved if at least `SHARE` of its
    runs passed in time, and partly solved if some did. Runs that the machine ended, or that could
    not run, count as not passed. A row of the kind certified is of a spec: the exact number of
    queries that a statistical-query learner must be allowed, as text. It is null if no number is
    enough; without a bound there is no row. query_budget: the budget of the runs, or `assumed` if
    none is known.
    """
    specs = tuple(plane.specs.values())
    terms = terms_of(plane.tolerance)
    found = {spec: certifier.one(spec, terms) for spec in specs}
    known = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    quantity = query_bound(list(known.values()))
    runs: dict[tuple[str, str], list[Run]] = {}
    for run in plane.rows:
        runs.setdefault((run.learner, run.spec), []).append(run)
    places = [((write(x), write(y)), spec) for (x, y), spec in plane.specs.items()]
    data: Data = {
        "spec": label(plane),
        "x": plane.x,
        "y": plane.y,
        "xs": [write(x) for x in plane.xs],
        "ys": [write(y) for y in plane.ys],
        "share": str(SHARE),
        "more": len(plane.learners[PANELS:]),
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "quantity": quantity,
        "uncertified": _uncertified(found.values(), quantity),
        "rows": [
            {"kind": CERTIFIED, "x": x, "y": y, "queries": None if n is None else write(n)}
            for (x, y), spec in places
            if quantity and spec in known
            for n in [number(known[spec], quantity, terms.success)]
        ],
    }
    queries = plane.rows[0].budget.queries
    data["query_budget"] = queries or assumed(needed(data).values())
    data["budget_given"] = queries is not None
    data["rows"] += [
        {"kind": "cell", "learner": short(name), "asks": asks(name), "x": x, "y": y, **cell}
        for name in plane.learners[:PANELS]
        for (x, y), spec in places
        if (cell := cell_of(runs.get((name, spec), []), spec))
    ]
    return data


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


def assumed(certified: Iterable[float]) -> int:
    """Assume a budget of queries that shows the bounds: the largest power of ten below one of them.

    >>> assumed([4, 160]), assumed([0, 1]), assumed([math.inf])
    (100, 1000000, 1000000)
    """
    largest = max((int(n) for n in certified if n < math.inf), default=0)
    return 10 ** (len(str(largest - 1)) - 1) if largest > 1 else QUERIES


def _uncertified(found: Iterable[Certificate | str], quantity: str) -> str:
    """Say why nothing is hatched, or a part of the cells cannot be."""
    whys = dict.fromkeys(one for one in found if isinstance(one, str))
    mixed = [] if quantity or whys else ["no bound on queries of one kind is there for all cells"]
    return next(iter([*whys, *mixed]), "")


def cell_of(rows: list[Run], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec, and say its state; None where there are none."""
    if not rows or spec is None:
        return None
    kept = [row for row in rows if row.bound != "machine"]
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


def needed(data: Data) -> dict[tuple[str, str], float]:
    """Give the queries certified at each place (x, y) where that says something; inf: none enough.

    >>> of = {"kind": "certified", "x": "8"}
    >>> rows = [of | {"y": "2", "queries": "2"}, of | {"y": "3", "queries": "9"}]
    >>> needed({"quantity": "stat-queries", "rows": [*rows, of | {"y": "4", "queries": None}]})
    {('8', '3'): 9, ('8', '4'): inf}
    """
    found = {
        (row["x"], row["y"]): math.inf
        if row["queries"] is None
        else numbers.parse(row["queries"], int, "queries", any_size=True)
        for row in data["rows"]
        if row["kind"] == CERTIFIED
    }
    silent = {at for at, n in found.items() if n < math.inf and vacuous(data["quantity"], int(n))}
    return {at: n for at, n in found.items() if at not in silent}


def budgets(data: Data) -> list[int]:
    """List budgets of queries to choose from: powers of ten, and that of the diagram itself.

    >>> rows = [{"kind": "certified", "x": "8", "y": "2", "queries": "1200"}]
    >>> budgets({"quantity": "stat-queries", "rows": rows, "query_budget": 20})
    [1, 10, 20, 100, 1000, 10000]
    """
    digits = [len(str(n)) for n in needed(data).values() if n < math.inf]
    last = max(digits, default=0)
    apart = -(-(last + 1) // _STEPS)
    powers = {10**e for e in range(0, last + apart, apart)} if digits else set()
    return sorted(powers | {data["query_budget"]})


def draw_phase(data: Data) -> Data:
    """Draw a panel a learner; hatched where a bound says that its budget of queries is too small.

    Learners that ask statistical queries alone are hatched. The others, of which the bound says
    nothing, have the edge of that region alone, dashed. A mark of the region is drawn at the
    budgets from .. to, by their places among `budgets`: those below a certified number, exactly.
    """
    choices, bounds = budgets(data), needed(data)
    learners: dict[str, list[Data]] = {}
    for row in data["rows"]:
        if row["kind"] == "cell":
            learners.setdefault(row["learner"], []).append(row)
    states = [one for one in LOOKS if any(one == row.get("state") for row in data["rows"])]
    above = {
        (x, y): sum(bounds.get((x, y), 0) > one for one in choices)
        for x in data["xs"]
        for y in data["ys"]
    }
    general = data["quantity"] == "stat-queries"
    chart = panels(
        *(_panel(data, name, rows, states, above) for name, rows in learners.items()),
        title=f"{named(data['spec'] or 'all', 80)}: where learners solve",
        notes=[
            f"in a cell: runs that passed, of all; solved: at least {data['share']} of them",
            *([f"not shown: {data['more']} more learners, see --where"] if data["more"] else []),
        ],
    )
    if not bounds:
        return chart
    whose = "of the runs" if data["budget_given"] else "assumed: none is known of the runs"
    kind = "statistical" if general else "correlational"
    notes = [
        f"certified for {kind}-query learners: risk {data['risk']}, success {data['success']}, "
        f"worst answers within {data['tau']}"
    ]
    if general and any(rows[0]["asks"] for rows in learners.values()):
        notes += ["hatched: the certificate asks for more queries than the budget"]
    notes += ["dashed: the edge of that region; the bound is not about this learner"]
    own = choices.index(data["query_budget"])
    told = [brief(one, 3) + (f" ({whose})" if i == own else "") for i, one in enumerate(choices)]
    first = chart["title"]["subtitle"]
    titles = [[*first, f"budget of queries: {budget}", *notes] for budget in told]
    slider = {"input": "range", "min": 0, "max": len(told) - 1, "step": 1}
    return {
        **chart,
        "title": {**chart["title"], "subtitle": {"expr": "titles[budget]"}},
        "params": [
            {"name": "titles", "value": titles},
            {"name": "budget", "value": own, "bind": {**slider, "name": "budget of queries "}},
        ],
    }


def _panel(
    data: Data, name: str, rows: list[Data], states: list[str], above: dict[tuple[str, str], int]
) -> Data:
    xs, ys, asks, said = data["xs"], data["ys"], rows[0]["asks"], _said(data)
    wide = max(12.0, min(44.0, _WIDE / len(xs)))
    high = max(14.0, min(34.0, _HIGH / len(ys)))
    shown = [
        {
            "x": row["x"],
            "y": row["y"],
            "state": row["state"],
            "passed": f"{row['passed']} of {row['runs']}",
            "says": f"{row['passed']}/{row['runs']}"
            if wide >= _ROOM and row["state"] != "could not run"
            else LOOKS[row["state"]][2],
            "certified": said.get((row["x"], row["y"]), "no bound"),
        }
        for row in rows
    ]
    told = {named(data["x"]): "x", named(data["y"] or "-"): "y", "passed": "passed"}
    face, ink = looks(states)
    is_hatched = asks and data["quantity"] == "stat-queries"
    marks = _hatches(above, wide / high) if is_hatched else _edges(above, xs, ys)
    return cells(
        shown,
        x=Axis("x", named(data["x"]), scale="names", names=xs),
        y=Axis("y", named(data["y"]), scale="names", names=ys[::-1]),
        colour=face,
        says={"says": {}},
        ink=ink,
        told=told | {"state": "state", "certified queries": "certified"},
        title=named(name) + (", asks queries" if asks else ""),
        size=(wide * len(xs), high * len(ys)),
        between=_bound_layers(marks, wide, high),
    )


def looks(states: Iterable[str]) -> tuple[Data, Data]:
    """Give the encodings of the face of a cell, and of the ink on it, by its state."""
    shown = [state for state in LOOKS if state in states]
    face = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": shown, "range": [LOOKS[state][0] for state in shown]},
        "legend": {"title": None, "symbolType": "square", "symbolStrokeColor": GREY},
    }
    ink = [{"test": {"field": "state", "equal": one}, "value": LOOKS[one][1]} for one in shown]
    return face, {"condition": ink, "value": "black"}


def _said(data: Data) -> dict[tuple[str, str], str]:
    """What is certified of the cells, in words."""
    words = {(row["x"], row["y"]): WORD for row in data["rows"] if row["kind"] == CERTIFIED}
    every = needed(data).items()
    return words | {at: NONE_ENOUGH if n == math.inf else brief(int(n), 3) for at, n in every}


def _hatches(above: dict[tuple[str, str], int], ratio: float) -> list[Data]:
    """Strokes across the corners of cells, beside the number in the middle."""
    path = "".join(
        f"M{-ratio:g},{2 * part - 1:g}L{2 * ratio * part - ratio:g},-1"
        f"M{ratio - 2 * ratio * part:g},1L{ratio:g},{1 - 2 * part:g}"
        for part in (0.22, 0.45)
    )
    return [
        {"x": named(x), "y": named(y), "from": 0, "to": number, "shape": path}
        for (x, y), number in above.items()
        if number
    ]


def _edges(above: dict[tuple[str, str], int], xs: Sequence[str], ys: Sequence[str]) -> list[Data]:
    """Right and upper sides of cells beyond which the region ends, at the budgets from .. to."""
    found = []
    for (x, right), (y, over) in product(zip_longest(xs, xs[1:]), zip_longest(ys, ys[1:])):
        for beyond, shape in (((right, y), "right"), ((x, over), "upper")):
            if beyond in above and above[x, y] != above[beyond]:
                low, high = sorted((above[x, y], above[beyond]))
                place = {"x": named(x), "y": named(y)}
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
            "data": {"values": [one for one in marks if one["shape"] == shape]},
            "transform": [{"filter": "datum.from <= budget && budget < datum.to"}],
            "mark": {**point, "shape": sides.get(shape, shape), **look},
        }
        for shape in dict.fromkeys(one["shape"] for one in marks)
        for dash in [[4, 2] if shape in sides else [1, 0]]
        for look in (below, {"stroke": _BOUND, "strokeWidth": 1.5, "strokeDash": dash})
    ]
