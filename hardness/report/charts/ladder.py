"""Figures of stress tests and climbs: rung against cost, beside budgets and certified numbers."""

from collections.abc import Sequence
from statistics import median

from hardness.claims import vacuous
from hardness.report.charts.chart import (
    FADED,
    HIGH,
    WIDE,
    Data,
    by_series,
    drawn_of,
    logarithmic,
    named,
    panels,
    pick_in,
    tooltip,
)
from hardness.report.charts.runs import FREE, TITLES
from hardness.report.charts.style import BOUND, styles_of
from hardness.runs.cells import COSTS
from hardness.runs.names import labels as name_labels
from hardness.runs.names import short_specs
from hardness.runs.stress import (
    TERMS,
    Stress,
    Trials,
)

_ASKED = {
    "stat-queries": ("dashed", [6, 3], "to STAT(1/10)"),
    "csq-queries": ("dashes and dots", [6, 2, 1, 2], "on correlations, within 1/10"),
}
_STOP = "M-1,-1L1,1M1,-1L-1,1"
_LABEL = 150  # pixels of a rung's label


def of_stress(found: Stress) -> Data:
    """Take the numbers of the figure: each learner's cost by rung, budgets, what is certified."""
    common, labels = short_specs(found.ladder)
    limits = [_limits(found, i) for i in range(len(labels))]
    climbs = sorted(found.climbs, key=lambda climb: climb.reference)
    names = name_labels([climb.asked for climb in climbs])
    return {
        "spec": found.ladder.title,
        "family": common,
        "rungs": labels,
        "seeds": found.seeds,
        "learners": [
            {
                "learner": climb.asked,
                "label": name,
                "reference": climb.reference,
                "held": climb.held,
                "touched": climb.touched,
                "points": [_point(trials) for trials in climb.rungs],
                "stopped": bool(climb.rungs) and not climb.climbing and not climb.unsupported,
            }
            for climb, name in zip(climbs, names, strict=True)
        ],
        "budget_examples": [b[0] for b in limits],
        "budget_seconds": [b[1] for b in limits],
        "certified_queries": [_number(one.queries) for one in found.certified],
        "asked": [one.asked for one in found.certified],
        "information_floor": [_number(one.floor) for one in found.certified],
    }


def _limits(found: Stress, rung: int) -> tuple[int | None, float | None]:
    """The examples and seconds that a run on a rung, from 0, might use."""
    one, over = found.ladder.rungs[rung], found.budget
    return over.examples or one.examples, over.seconds or one.seconds


def _point(trials: Trials) -> Data:
    failed = [run.usage for run in trials.runs if run not in trials.solved]
    return {
        "passes": trials.passes,
        "trials": len(trials.trials),
        "examples": trials.cost("examples"),
        "queries": trials.cost("queries"),
        **({"values": trials.cost("values")} if trials.valued else {}),
        "seconds": trials.cost("seconds"),
        "spent_examples": float(median(u.examples for u in failed)) if failed else None,
        "spent_seconds": float(median(u.seconds for u in failed)) if failed else None,
    }


def _number(value: int | None) -> float | None:
    """A count as a float, None where it is beyond what a figure shows."""
    return None if value is None or value > 10**300 else float(value)


def draw_stress(data: Data) -> Data:
    """Draw rungs against examples, time and queries: the references by broken lines.

    Filled marks: all seeds passed; hollow: some. A cross is where a climb stopped, at what the runs
    that failed spent.
    """
    rungs = [f"{i}: {named(label)}" for i, label in enumerate(data["rungs"], 1)]
    styles = styles_of(one["learner"] for one in data["learners"])
    legend = {_legend(one): styles[one["learner"]] for one in data["learners"]}
    bounds: dict[str, list[Data]] = {cost: _bounds(data, cost, rungs) for cost in COSTS}
    asked = any(point["queries"] for one in data["learners"] for point in one["points"])
    valued = any(point.get("values") for one in data["learners"] for point in one["points"])
    costs = ["examples", "seconds"] + ["queries"] * bool(asked or bounds["queries"])
    costs += ["values"] * valued
    charts = [_panel(data, cost, rungs, by_series(legend), bounds[cost]) for cost in costs]
    pick_in(charts[0], "series")
    notes = ["hollow: some seeds passed; cross: where a climb stopped, at what its runs spent"]
    if any(one["reference"] for one in data["learners"]):
        notes += ["dashed in colour: references; dotted in colour: to where a climb stopped"]
    if any(data["budget_examples"] + data["budget_seconds"]):
        notes += ["grey: the budget of a rung"]
    terms = f": risk {TERMS.risk}, success {TERMS.success}"
    for kind in dict.fromkeys(row["kind"] for rows in bounds.values() for row in rows):
        look, _, who = _ASKED.get(kind, ("dotted", [], ""))
        notes += [
            f"black, {look}: queries that SQ learners need {who} (certified{terms}, worst answers)"
            if who
            else f"black, {look}: labels that any learner needs (certified{terms})"
        ]
    notes += [FREE] if valued else []
    title = f"{named(data['spec'], 80)}: medians of the runs that passed, of {data['seeds']} seeds"
    return panels(*charts, title=title, notes=notes)


def _legend(learner: Data) -> str:
    told = f"holds {learner['held']}" if learner["held"] else "holds none"
    if learner["touched"] > learner["held"]:
        told += f", touches {learner['touched']}"
    return f"{named(learner['label'])}: {told}" + (" (reference)" if learner["reference"] else "")


def _bounds(data: Data, cost: str, rungs: Sequence[str]) -> list[Data]:
    """The certified numbers on a cost that say something, by rung and kind."""
    values, kinds = data["certified_queries"], data["asked"]
    if cost != "queries":
        values = data["information_floor"] if cost == "examples" else []
        kinds = ["information-floor"] * len(values)
    return [
        {"rung": rung, "cost": value, "kind": kind}
        for rung, value, kind in zip(rungs, values, kinds, strict=False)
        if kind and value is not None and not vacuous(kind, int(value))
    ]


def _panel(data: Data, cost: str, rungs: Sequence[str], style: Data, bounds: list[Data]) -> Data:
    passed, stops, ways = [], [], []
    for one in data["learners"]:
        series, points = _legend(one), one["points"]
        own = [
            {
                "series": series,
                "rung": rungs[i],
                "cost": point.get(cost),
                "passed": f"{point['passes']} of {point['trials']}",
                "all": point["passes"] == point["trials"],
                "reference": one["reference"],
            }
            for i, point in enumerate(points)
            if point.get(cost)
        ]
        passed += own
        last = points[-1].get(f"spent_{cost}") if points and one["stopped"] else None
        if last:
            stop = {"series": series, "rung": rungs[len(points) - 1], "cost": last}
            stops.append(stop | {"passed": f"0 of {points[-1]['trials']}"})
            ways += [own[-1], stop] if own else []
    limits = [
        {"rung": rung, "cost": value}
        for rung, value in zip(rungs, data.get(f"budget_{cost}", ()), strict=False)
        if value
    ]
    title, unit = TITLES[cost]
    axis = {"labelAngle": -90, "labelLimit": _LABEL}
    told = [*tooltip(series="series", rung="rung", passed="passed"), *tooltip(**{unit: "cost"})]
    hollow = {"fill": style["color"], "opacity": FADED, "tooltip": told}
    colour = {"color": style["color"], "opacity": FADED}
    broken = {"condition": {"test": "datum.reference", "value": [5, 2]}, "value": [1, 0]}
    wide = max(WIDE, 15 * len(rungs))
    return {
        "title": title,
        "width": wide,
        "height": HIGH,
        "encoding": {
            "x": {
                "field": "rung",
                "type": "ordinal",
                "title": f"rung: {named(data['family'])}",
                "scale": {"domain": list(rungs)},
                "axis": axis,
            },
            "y": logarithmic(
                "cost", unit, [row["cost"] for row in (*passed, *stops, *limits, *bounds)]
            ),
        },
        "layer": [
            {
                "data": drawn_of(limits),
                "mark": {"type": "tick", "thickness": 4, "color": "#D0D0D0", "bandSize": 14},
            },
            *_lines(bounds),
            {
                "data": drawn_of(ways),
                "mark": {"type": "line", "strokeDash": [1, 3], "strokeWidth": 1},
                "encoding": colour,
            },
            {
                "data": drawn_of(passed),
                "mark": "line",
                "encoding": {**colour, "strokeDash": broken},
            },
            {
                "data": drawn_of(stops),
                "mark": {"type": "point", "shape": _STOP, "size": 60},
                "encoding": {**colour, "tooltip": told},
            },
            {
                "data": drawn_of(passed),
                "mark": "point",
                "encoding": {
                    **{"color": style["color"], "shape": style["shape"], **hollow},
                    "fillOpacity": {"condition": {"test": "datum.all", "value": 1}, "value": 0},
                },
            },
        ],
    }


def _lines(bounds: list[Data]) -> list[Data]:
    """Black lines through certified numbers, one a kind."""
    found = []
    for kind in dict.fromkeys(row["kind"] for row in bounds):
        rows = [row for row in bounds if row["kind"] == kind]
        dash = _ASKED[kind][1] if kind in _ASKED else [1, 3]
        mark: Data = {"type": "line", "color": BOUND, "strokeWidth": 2, "strokeDash": dash}
        mark |= (
            {"point": {"shape": "stroke", "color": BOUND, "filled": False, "size": 150}}
            if len(rows) == 1
            else {}
        )
        found.append({"data": drawn_of(rows), "mark": mark})
    return found
