"""The map of a noisy parity: examples against time, with what is closed, curves and runs."""

from typing import Any

from hardness.report.plot import Axis, Data, named, panels, plot, words
from hardness.report.style import COLOURS, GREY, INK, Style, level, style_of, wall
from hardness.runs.noisy_parity import TIGHT, Map, found_set, kind
from instances.parameters import brief
from instances.spec import parse_stored

_TIMES = {  # seconds, said at the right
    1e-3: "millisecond",
    1.0: "second",
    60.0: "minute",
    3600.0: "hour",
    86400.0: "day",
    3.156e7: "year",
    3.156e9: "century",
    4.35e17: "age of the universe",
}
_WIDEST = 1e13  # examples that are shown
_NAMED = 5  # low-degree tests that have room for their t
_SHORT = 1e-6  # seconds: runs that were quicker stand there
_STAR = "M0,-1.3L.3,-.4L1.2,-.4L.45,.15L.75,1.05L0,.5L-.75,1.05L-.45,.15L-1.2,-.4L-.3,-.4Z"
_PURPLE = COLOURS[3]
_BLUE, _RED, _ORANGE = (style_of(n).colour for n in ("bruteforce", "restricted", "pairs"))
_FLOORS = {  # by name: what is said of its number of examples, and how
    "information floor": ("information floor: {}", wall(INK, ())),
    "Fano's inequality": ("Fano's inequality: {}", wall(GREY, (1, 3))),
    "union bound": ("maximum likelihood: {}", wall(INK, (5, 3))),
}
_CURVES = {  # an algorithm has the colour of the learner that runs it
    "statistical queries": Style(colour=_PURPLE, dash=(8, 3, 2, 3), marks=("rect", "line")),
    "brute force": Style(colour=_BLUE, dash=(6, 3), marks=("line",), thick=1.3),
    "restricted elimination": Style(colour=_RED, marks=("line",), thick=1.3),
    "low-degree tests": Style(colour=_ORANGE, dash=(2, 3), marks=("line", "point")),
}
_SAID = {
    "statistical queries": "no learner by statistical queries",
    "low-degree tests": "thresholds of low-degree tests",
}


def of_map(found: Map) -> Data:
    """Give the rows of a map: floors, marks of curves, and runs, by their kind."""
    family = parse_stored(found.spec)
    rows: list[Data] = [
        {"kind": "floor", "name": c.name, "known": c.known, "examples": c.marks[0].examples}
        if c.role == "floor"
        else {
            "kind": "curve",
            "name": c.name,
            "known": c.known,
            "examples": mark.examples,
            "seconds": mark.seconds,
            "note": mark.note,
        }
        for c in found.curves
        for mark in (c.marks[:1] if c.role == "floor" else c.marks)
    ]
    rows += [
        {
            "kind": "run",
            "name": kind(run.learner),
            "seed": run.seed,
            "examples": run.usage.examples,
            "seconds": run.usage.seconds,
            "solved": found_set(run),
            "outcome": run.outcome.value,
        }
        for run in found.runs
    ]
    return {
        "spec": found.spec,
        "title": brief(family, family.name),
        "success": str(found.success),
        "machine": found.rates.machine,
        "rows": rows,
    }


def draw_map(data: Data) -> Data:
    """Draw the regions that are closed, the curves, and a mark a run."""
    of = {k: [r for r in data["rows"] if r["kind"] == k] for k in ("floor", "curve", "run")}
    left, right, low, high = _limits(of)
    times = {at: said for at, said in _TIMES.items() if low < at < high}
    rows: list[Data] = [{"seconds": at} for at in times]
    styles = {"": level("#CCCCCC", (), thick=0.4)}
    more = [words(right, at, said, dx=5) for at, said in times.items()]
    floors = {row["name"]: row["examples"] for row in of["floor"]}
    closed = {"low": low, "high": high, "examples": left, "end": floors["information floor"]}
    rows.append({"series": "no learner at all", **closed})
    styles["no learner at all"] = Style(colour=INK, marks=("rect",))
    for name, (said, style) in _FLOORS.items():
        series = said.format(round(floors[name]))
        rows.append({"series": series, "examples": max(floors[name], left)})
        styles[series] = style
    for name, style in _CURVES.items():
        marks = [r for r in of["curve"] if r["name"] == name and r["examples"] <= right]
        if not marks:
            continue
        series = _SAID.get(name, name)
        styles[series] = style
        ends = [marks[-1] | {"examples": right}] if name != "low-degree tests" else []
        rows += [{**row, "series": series, "solved": True} for row in (*marks, *ends)]
        for row in marks[: 0 if ends else _NAMED]:
            said = row["note"].partition(",")[0]
            more.append(words(row["examples"], row["seconds"], said, style.colour, dy=-12, dx=-8))
        if "rect" in style.marks:
            rows[-2] |= {"low": low, "high": marks[0]["seconds"], "end": right}
    for name in dict.fromkeys(row["name"] for row in of["run"]):
        runs = [row for row in of["run"] if row["name"] == name]
        series = f"{named(name)}, {sum(row['solved'] for row in runs)} of {len(runs)} found"
        own: Any = style_of(name)
        if name == TIGHT:  # the same learner, on a small pool
            own = Style(colour=_RED, shape=_STAR)
        styles[series] = Style(colour=own.colour, shape=own.shape, marks=("point",))
        rows += [{**r, "series": series, "seconds": max(r["seconds"], _SHORT)} for r in runs]
    x = "number of examples (half of them, where z_0 = −1, tell of the hidden set)"
    chart = plot(
        rows,
        x=Axis("examples", x, scale="log", domain=(left, right), look={"grid": False}),
        y=Axis(
            "seconds",
            "time on one core (s)",
            scale="log",
            domain=(low, high),
            look={"grid": False},
        ),
        styles=styles,
        hollow="solved",
        more=more,
        size=(640, 400),
    )
    notes = [
        f"success {data['success']}; rates measured on {named(data['machine'])}; filled marks "
        "found the set, hollow marks did not",
        "statistical queries: one to VSTAT(examples) is read as one pass",
    ]
    return panels(chart, title=f"The map of {named(data['title'], 60)}", notes=notes)


def _limits(of: dict[str, list[Data]]) -> tuple[float, float, float, float]:
    """What is seen: all but the tests that take more examples than anyone has."""
    curves = {
        name: [row["examples"] for row in of["curve"] if row["name"] == name] for name in _CURVES
    }
    tests = curves["low-degree tests"]
    every = [*tests[1:], *curves["restricted elimination"], 1e4]
    wide = max(x for x in (*every, *(r["examples"] for r in of["run"])) if x <= _WIDEST)
    if tests and tests[0] <= 100 * wide:
        wide = max(wide, tests[0])
    seconds = [max(row["seconds"], _SHORT) for row in (*of["run"], *of["curve"])]
    floor = min(row["examples"] for row in of["floor"])
    return max(floor, 4) / 6, 6 * wide, min(seconds) / 30, max(seconds) * 3e3
