"""The map of a noisy parity as a figure: examples against time, drawn from its JSON numbers."""

import math
from collections.abc import Sequence
from typing import Any

from hardness.report.charts.chart import Data, by_series, drawn_of, logarithmic, named, panels
from hardness.report.charts.style import COLOURS, GREY, INK, Style, style_of
from hardness.report.charts.trace import pale, words
from hardness.runs.noisy_parity import Map
from hardness.runs.parity_curves import Curve
from hardness.upper import Outcome, parse_learner
from hardness.upper.restricted import Restricted
from instances.parameters import brief
from instances.spec import parse_stored

_PURPLE = COLOURS[3]
# The curve of an algorithm has the colour of the learner that runs it.
_BLUE, _RED, _ORANGE = (style_of(n).colour for n in ("bruteforce", "restricted", "pairs"))
_TIMES = (  # seconds on the right axis
    (1e-3, "millisecond"),
    (1.0, "second"),
    (60.0, "minute"),
    (3600.0, "hour"),
    (86400.0, "day"),
    (3.156e7, "year"),
    (3.156e9, "century"),
    (4.35e17, "age of the universe"),
)
_WIDEST = 1e13  # examples that are shown
_TIGHT = "restricted, fewer examples"
_STAR = "M0,-1.3L.3,-.4L1.2,-.4L.45,.15L.75,1.05L0,.5L-.75,1.05L-.45,.15L-1.2,-.4L-.3,-.4Z"
_SIZE = (640, 400)
_SHORT = 1e-6  # seconds: runs that were quicker stand there
_NAMED = 5  # low-degree tests that have room for their t


def of_map(found: Map) -> Data:
    """Take the numbers of the figure: curves, floors, and a point a run."""
    drawn = [c for c in found.curves if c.role != "floor" and c.marks]
    floors = [c for c in found.curves if c.role == "floor"]
    family = parse_stored(found.spec)
    return {
        "spec": found.spec,
        "title": brief(family, family.name),
        "success": str(found.success),
        "machine": found.rates.machine,
        "floors": {c.name: c.marks[0].examples for c in floors},
        "lines": {c.name: _marks_of(c) for c in drawn},
        "points": [
            {
                "learner": kind(run.learner),
                "seed": run.seed,
                "examples": run.usage.examples,
                "seconds": run.usage.seconds,
                "solved": solved(run.secret_recovered, run.outcome),
                "outcome": run.outcome.value,
            }
            for run in found.runs
        ],
    }


def _marks_of(curve: Curve) -> Data:
    return {
        "known": curve.known,
        "examples": [m.examples for m in curve.marks],
        "seconds": [m.seconds for m in curve.marks],
        "notes": [m.note for m in curve.marks],
    }


def kind(learner: str) -> str:
    """Name a learner in the figure: restricted elimination on a small pool apart.

    >>> kind("bruteforce:samples=0,start=0")
    'bruteforce'
    """
    made = parse_learner(learner)
    return _TIGHT if isinstance(made, Restricted) and made.samples else made.name


def solved(recovered: bool | None, outcome: Outcome) -> bool:
    """Return whether a run names the hidden set, or, where it names none, predicts as it does."""
    return outcome is Outcome.SOLVED if recovered is None else recovered


def draw_map(data: Data) -> Data:
    """Draw the regions that are closed, the curves with their names, the runs as points."""
    left, right, low, high = _limits(data)
    x = "number of examples (half of them, where z_0 = −1, tell of the hidden set)"
    names = list(dict.fromkeys(point["learner"] for point in data["points"]))
    chart = {
        "width": _SIZE[0],
        "height": _SIZE[1],
        "encoding": {
            "x": _on(logarithmic("x", x, (left, right), grid=False), left, right),
            "y": _on(logarithmic("y", "time on one core (s)", (low, high), grid=False), low, high),
        },
        "layer": [
            *_closed(data["floors"], left, low, high),
            *_queries(data["lines"].get("statistical queries"), right, low),
            *_times(low, high),
            *_walls(data["floors"], left, low, high),
            *_algorithms(data["lines"], right),
            *_tests(data, right),
            _points(data["points"], names),
        ],
    }
    notes = [
        f"success {data['success']}; rates measured on {named(data['machine'])}; filled marks "
        "found the set, hollow marks did not"
    ]
    return panels(chart, title=f"The map of {named(data['title'], 60)}", notes=notes)


def _on(axis: Data, low: float, high: float) -> Data:
    return {**axis, "scale": {"type": "log", "domain": [low, high], "nice": False}}


def _limits(data: Data) -> tuple[float, float, float, float]:
    """What is seen: all but the tests that take more examples than anyone has."""
    lines, points = data["lines"].values(), data["points"]
    tests = data["lines"].get("low-degree tests", {"examples": []})["examples"]
    bent = data["lines"].get("restricted elimination", {"examples": []})["examples"]
    every = [*tests[1:], *bent, *[p["examples"] for p in points], 1e4]
    wide = max(x for x in every if x <= _WIDEST)
    if tests and tests[0] <= 100 * wide:
        wide = max(wide, tests[0])
    seconds = [y for line in lines for y in line["seconds"]]
    seconds += [max(p["seconds"], _SHORT) for p in points]
    floor = min(data["floors"].values())
    return max(floor, 4) / 6, 6 * wide, min(seconds) / 30, max(seconds) * 3e3


def _rectangle(x: tuple[float, float], y: tuple[float, float], colour: str) -> Data:
    return {
        "data": drawn_of([{"x": x[0], "x2": x[1], "y": y[0], "y2": y[1]}]),
        "mark": {"type": "rect", "color": colour},
        "encoding": {"x2": {"field": "x2"}, "y2": {"field": "y2"}},
    }


def _line(xs: Sequence[float], ys: Sequence[float], colour: str, **mark: Any) -> Data:
    return {
        "data": drawn_of({"x": x, "y": y} for x, y in zip(xs, ys, strict=True)),
        "mark": {"type": "line", "color": colour, "order": False, "clip": True, **mark},
    }


def _times(low: float, high: float) -> list[Data]:
    """Name times of human life on the right."""
    return [
        part
        for seconds, name in _TIMES
        if low < seconds < high
        for part in (
            {
                "data": drawn_of([{"y": seconds}]),
                "mark": {"type": "rule", "color": "#CCCCCC", "strokeWidth": 0.6},
                "encoding": {"x": None},
            },
            {
                "data": drawn_of([{"y": seconds}]),
                "mark": {"type": "text", "text": name, "align": "left", "dx": 5},
                "encoding": {"x": {"value": _SIZE[0]}},
            },
        )
    ]


def _closed(floors: Data, left: float, low: float, high: float) -> list[Data]:
    """Shade what no learner at all reaches."""
    middle = math.sqrt(low * high), math.sqrt(left * max(floors["Fano's inequality"], left))
    upright: Data = {"angle": 270, "align": "center", "baseline": "middle"}
    return [
        _rectangle((left, floors["information floor"]), (low, high), "#D6D6D6"),
        words(middle[1], middle[0], "no learner at all", **upright),
    ]


def _walls(floors: Data, left: float, low: float, high: float) -> list[Data]:
    """Draw what any learner needs, and from where on maximum likelihood is enough."""
    floor, enough = floors["information floor"], floors["union bound"]
    fano = max(floors["Fano's inequality"], left)
    said = f"{enough:.0f}: maximum likelihood\n{floor:.0f}: information floor"
    return [
        _line([floor] * 2, [low, high], INK, strokeWidth=1.2),
        _line([fano] * 2, [low, high], GREY, strokeWidth=0.8, strokeDash=[1, 3]),
        _line([enough] * 2, [low, high], INK, strokeWidth=1, strokeDash=[5, 3]),
        words(fano, low, "Fano", angle=270, dx=6, dy=-4),
        words(enough, high, said, dx=5, dy=12),
    ]


def _queries(line: Data | None, right: float, low: float) -> list[Data]:
    """Shade what no learner by statistical queries is read to reach."""
    if not line:
        return []
    (start, end), height = line["examples"], line["seconds"][0]
    end = min(end, right)
    said = (
        "below: no learner by statistical queries\n(one query to VSTAT(examples) read as one pass)"
    )
    return [
        _rectangle((start, end), (low, height), pale(_PURPLE)),
        _line([start, end], [height, height], _PURPLE, strokeDash=[8, 3, 2, 3]),
        words(end, height, said, _PURPLE, align="right", dx=-6, dy=14),
    ]


def _algorithms(lines: Data, right: float) -> list[Data]:
    """Draw brute force and restricted elimination, on to the right: who has more may leave them."""
    looks = {"brute force": (_BLUE, [6, 3]), "restricted elimination": (_RED, [1, 0])}
    there = {name: lines[name] for name in looks if name in lines}
    slowest = max((line["seconds"][-1] for line in there.values()), default=0.0)
    found = []
    for name, line in there.items():
        colour, dash = looks[name]
        last = line["seconds"][-1]
        said = f"{name}, {line['notes'][0]}" if name == "brute force" else name
        away = -7 if last == slowest else 13
        found += [
            _line(
                [*line["examples"], right], [*line["seconds"], last], colour,
                strokeWidth=2, strokeDash=dash,
            ),
            words(right, last, said, colour, align="right", dx=-12, dy=away),
        ]  # fmt: skip
    return found


def _tests(data: Data, right: float) -> list[Data]:
    """Draw the thresholds of low-degree tests, with t."""
    line = data["lines"].get("low-degree tests")
    every = zip(line["examples"], line["seconds"], line["notes"], strict=True) if line else ()
    shown = [(x, y, note) for x, y, note in every if x <= right]
    if not shown:
        return []
    xs, ys, _ = zip(*shown, strict=True)
    end = shown[0][0]
    beside = [p["seconds"] for p in data["points"] if end / 1e3 <= p["examples"] <= end]
    said = "low-degree tests of t examples at a time: thresholds"
    return [
        _line(xs, ys, _ORANGE, strokeDash=[2, 3], strokeWidth=1.2),
        {
            "data": drawn_of({"x": x, "y": y} for x, y, _ in shown),
            "mark": {"type": "tick", "orient": "vertical", "color": _ORANGE, "size": 10},
        },
        *(
            words(x, y, note.partition(",")[0], _ORANGE, align="center", dy=-10)
            for x, y, note in shown[:_NAMED]
        ),
        words(end, max(*ys, *beside), said, _ORANGE, align="right", dy=-24),
    ]


def _points(points: list[Data], names: list[str]) -> Data:
    """Draw a mark a run."""
    styles = {}
    for name in names:
        runs = [point for point in points if point["learner"] == name]
        label = f"{named(name)}, {sum(p['solved'] for p in runs)} of {len(runs)} found"
        styles[name] = label, style_of(name)
        if name == _TIGHT:  # the same learner, on a small pool
            styles[name] = label, Style(colour=style_of("restricted").colour, shape=_STAR)
    looks = by_series(dict(styles.values()))
    rows = [
        {
            "series": styles[point["learner"]][0],
            "x": point["examples"],
            "y": max(point["seconds"], _SHORT),
            "solved": point["solved"],
        }
        for point in points
    ]
    return {
        "data": drawn_of(rows),
        "mark": {"type": "point", "opacity": 1},
        "encoding": {
            "color": looks["color"],
            "shape": looks["shape"],
            "fill": {**looks["color"], "legend": None},
            "fillOpacity": {"condition": {"test": "datum.solved", "value": 1}, "value": 0},
        },
    }
