"""The figure of the provable learner: what the stages of a run saw."""

import math

from hardness.report.charts.chart import (
    HIGH,
    WIDE,
    Data,
    drawn_of,
    logarithmic,
    named,
    panels,
    tooltip,
)
from hardness.report.charts.style import COLOURS
from hardness.runs import Run
from hardness.upper import parse_learner
from instances.errors import DamagedFile
from instances.parameters import brief
from instances.spec import parse_stored

_BLUE, _RED, _GREEN = COLOURS[:3]
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
