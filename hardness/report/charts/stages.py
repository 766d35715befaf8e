"""Figures of the provable learner: what the stages of a run saw, and their errors over a dial."""

import math
from statistics import median

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
from hardness.report.charts.style import COLOURS, SHAPES, Style
from hardness.runs import Comparison, Run
from hardness.upper import parse_learner
from instances.errors import DamagedFile, UsageError
from instances.parameters import brief, plain
from instances.spec import parse_stored

_BLUE, _RED, _GREEN = COLOURS[:3]
_PROVABLE = ("moment", "hull", "net", "projection")  # the stages that give layers, in order
_POLISHES = {"second polish": "polish"}
_LEAST = 1e-33  # what a logarithm shows of an error of 0


def of_stages(data: Data) -> Data:
    """Take the numbers of the figure from a run's JSON; raises DamagedFile for another file."""
    try:
        run = Run.from_json(data)
        details = run.details
        return {
            "spec": run.spec,
            "learner": run.learner,
            "seed": run.seed,
            "heads": int(details["heads"]),
            "eigenvalues": [float(v) for v in details.get("eigenvalues", [])],
            "residuals": details.get("residuals"),
            "errors": [
                {
                    "stage": str(e["stage"]),
                    "examples": int(e["examples"]),
                    "error": float(e["error"]),
                }
                for e in details["errors"]
            ],
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DamagedFile(
            f"this is no run of the staged learner ({type(error).__name__} {error}): give the file "
            "of `hardness learn staged SPEC --out FILE`"
        ) from error


def draw_stages(data: Data) -> Data:
    """Draw eigenvalues with the gap, the residuals with what was accepted, error by stage."""
    family = parse_stored(data["spec"])
    learner = parse_learner(data["learner"])
    title = f"{brief(learner, learner.name)} on {brief(family, family.name)}, seed {data['seed']}"
    return panels(_eigenvalues(data), _residuals(data), _errors(data), title=named(title, 100))


def _panel(title: str, x: Data, y: Data, *layers: Data) -> Data:
    size = {"width": WIDE, "height": HIGH}
    return {"title": title, **size, "encoding": {"x": x, "y": y}, "layer": list(layers)}


def _empty(title: str, why: str) -> Data:
    return {
        "title": title,
        "width": WIDE,
        "height": HIGH,
        "data": drawn_of([{"why": why}]),
        "mark": "text",
        "encoding": {"text": {"field": "why"}},
    }


def _limit(channel: str, value: float, says: str, **mark: object) -> list[Data]:
    """A broken line at a value of the axis across, and what it says."""
    row = {"data": drawn_of([{"at": value, "says": says}])}
    place = {"x": {"field": "at", "type": channel}, "y": None}
    line = {"type": "rule", "color": _RED, "strokeDash": [5, 3]}
    text = {"type": "text", "color": _RED, "y": 8, **mark}
    return [
        {**row, "mark": line, "encoding": place},
        {**row, "mark": text, "encoding": {**place, "text": {"field": "says"}}},
    ]


def _eigenvalues(data: Data) -> Data:
    title, values, heads = "Eigenvalues: how many heads", data["eigenvalues"], data["heads"]
    if not values:
        return _empty(title, "no span stage: one head, or it was not reached")
    rows = [{"number": i, "value": value} for i, value in enumerate(values, 1) if value > 0]
    x: Data = {"field": "number", "type": "quantitative", "title": "eigenvalue, smallest first"}
    x["axis"] = {"tickMinStep": 1}
    x["scale"] = {"domain": [0.5, len(values) + 0.5], "nice": False}
    y = logarithmic("value", "constraints against all rows", [row["value"] for row in rows])
    shown = tooltip(number="number", eigenvalue="value")
    marks: list[Data] = [
        {
            "data": drawn_of(rows),
            "mark": {"type": "point", "filled": True, "color": _BLUE, "opacity": 1},
            "encoding": {"tooltip": shown},
        }
    ]
    if 1 < heads <= len(values) and values[heads - 2]:
        gap = values[heads - 1] / values[heads - 2]
        says = f"{heads} heads: gap {gap:.3g}"
        marks += _limit("quantitative", heads - 0.5, says, align="left", dx=4)
    return _panel(title, x, y, *marks)


def _residuals(data: Data) -> Data:
    title, found = "Do the heads agree on a row?", data["residuals"]
    if not found:
        return _empty(title, "no residuals: the stage was not reached")
    edges = found["log10_edges"]
    rows = [
        {"from": low, "to": high, "rows": count}
        for low, high, count in zip(edges, edges[1:], found["counts"], strict=False)
    ]
    x = {"field": "from", "type": "quantitative", "scale": {"zero": False, "nice": False}}
    x["title"] = "residual of the common pattern, log10, relative"
    y = {"field": "rows", "type": "quantitative", "title": "number of rows"}
    bars = {
        "data": drawn_of(rows),
        "mark": {"type": "bar", "color": _BLUE, "opacity": 0.6},
        "encoding": {
            "x2": {"field": "to"},
            "y2": {"datum": 0},
            "tooltip": tooltip(rows="rows", at_least="from"),
        },
    }
    accepted = math.log10(max(found["accepted"], 1e-18))
    return _panel(
        title, x, y, bars, *_limit("quantitative", accepted, "accepted", align="right", dx=-4)
    )


def _errors(data: Data) -> Data:
    title, every = "Error on held-out examples", data["errors"]
    if not every:
        return _empty(title, "no stage gave a layer")
    first = max((i for i, e in enumerate(every) if e["stage"] == "moment"), default=0)
    found = every[first:]  # of the last attempt: those before it had fewer examples
    rows = [
        {"place": i, "stage": named(one["stage"]), "error": max(one["error"], _LEAST)}
        for i, one in enumerate(found)
    ]
    x = {
        "field": "stage",
        "type": "ordinal",
        "sort": None,
        "title": f"after the stage, {found[-1]['examples']} examples",
        "axis": {"labelAngle": -45},
    }
    y = logarithmic("error", "relative squared error", [row["error"] for row in rows])
    line = {"type": "line", "color": _GREEN, "point": {"color": _GREEN, "size": 40}}
    order = {"order": {"field": "place"}, "tooltip": tooltip(stage="stage", error="error")}
    return _panel(title, x, y, {"data": drawn_of(rows), "mark": line, "encoding": order})


def of_dial(comparison: Comparison) -> Data:
    """Collect the error by stage over a dial: medians over the seeds; raises UsageError."""
    names = [n for n in comparison.learner_names if n.partition(":")[0] == "staged"]
    if not names:
        raise UsageError("no run of the staged learner is in these results: compare with it")
    stages: dict[str, list[list[float]]] = {}
    for i, value in enumerate(comparison.values):
        for run in comparison.of(names[0], value):
            last = {
                _POLISHES.get(e["stage"], e["stage"]): e["error"]
                for e in run.details.get("errors", [])  # none of a run that was ended before
            }
            for stage, error in last.items():
                stages.setdefault(stage, [[] for _ in comparison.values])[i].append(float(error))
    risks = [
        [r.risk.value for r in comparison.of(names[0], value) if r.risk]
        for value in comparison.values
    ]
    flagged = [
        [
            any(s["flagged"] for s in r.details.get("diagnosis", []))
            for r in comparison.of(names[0], value)
        ]
        for value in comparison.values
    ]
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "errors": {
            stage: [median(each) if each else None for each in found]
            for stage, found in stages.items()
        },
        "risk": [median(each) if each else None for each in risks],
        "flagged": [sum(each) for each in flagged],
    }


def draw_dial(data: Data) -> Data:
    """Draw the held-out error after each stage, and the risk, against the dial."""
    before = {f"after {s}": data["errors"][s] for s in _PROVABLE if s in data["errors"]}
    after = {"after polish": data["errors"].get("polish", []), "risk": data["risk"]}
    styles = {
        name: Style(colour=colour, shape=shape, dash=(5, 3) if name == "risk" else ())
        for (name, colour, shape) in zip((*before, *after), COLOURS, SHAPES, strict=False)
    }
    left = _lines("Held-out error of the stages", before, data, styles)
    right = _lines("Held-out error after the polish, and risk", after, data, styles)
    pick_in(left, "series")
    return panels(
        left,
        right,
        title=f"{named(data['spec'], 80)}, medians over {data['seeds']} seeds",
        notes=["below each value: how many runs the diagnosis flagged"],
    )


def _lines(title: str, lines: dict[str, list[float | None]], data: Data, styles: Data) -> Data:
    ticks = [
        f"{named(value)}: {count}/{data['seeds']}"
        for value, count in zip(data["values"], data["flagged"], strict=True)
    ]
    rows: list[Data] = [
        {"series": name, "place": i, "value": ticks[i], "error": max(error, _LEAST)}
        for name, errors in lines.items()
        for i, error in enumerate(errors)
        if error is not None
    ]
    style = by_series(styles)
    x: Data = {"field": "value", "type": "ordinal", "title": named(data["parameter"])}
    x["scale"] = {"domain": ticks}
    x["axis"] = {"labelAngle": 0, "labelExpr": "split(datum.label, ': ')"}
    y = logarithmic("error", "relative squared error", [row["error"] for row in rows])
    shown = tooltip(**{"series": "series", named(data["parameter"]): "value", "error": "error"})
    line = {"color": style["color"], "strokeDash": style["strokeDash"]}
    marks = {"color": style["color"], "shape": style["shape"], "tooltip": shown}
    both = {"opacity": FADED, "order": {"field": "place"}}
    chart = _panel(
        title,
        x,
        y,
        {"data": drawn_of(rows), "mark": "line", "encoding": line | both},
        {
            "data": drawn_of(rows),
            "mark": "point",
            "encoding": {
                **marks,
                "fill": style["color"],
                "opacity": FADED,
            },
        },
    )
    return {**chart, "width": WIDE + 60}
