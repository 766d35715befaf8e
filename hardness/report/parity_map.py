"""The map of a noisy parity as a figure: examples against time, drawn from its JSON numbers."""

import math
from typing import Any

from hardness.report.canvas import STYLES, belongs, named
from hardness.report.styles import Style, style_of
from hardness.runs.noisy_parity import Map
from hardness.runs.parity_curves import Curve
from hardness.upper import Outcome, parse_learner
from hardness.upper.restricted import Restricted
from instances.parameters import brief
from instances.spec import parse_stored

Data = dict[str, Any]
_PURPLE = STYLES[3][0]
# The curve of an algorithm has the colour of the learner that runs it.
_BLUE, _ORANGE, _GREEN = (style_of(n).colour for n in ("bruteforce", "restricted", "pairs"))
_TIMES = (  # seconds on the right axis
    (1e-3, "millisecond"),
    (1.0, "second"),
    (60.0, "minute"),
    (3600.0, "hour"),
    (86400.0, "day"),
    (3.156e7, "year"),
    (3.156e9, "century"),
    (4.35e17, "age of the\nuniverse"),
)
_WIDEST = 1e13  # examples that are shown
_TIGHT = "restricted, fewer examples"


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
        "lines": {c.name: _line(c) for c in drawn},
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


def _line(curve: Curve) -> Data:
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


def draw_map(figure: Any, data: Data) -> None:
    """Draw the regions that are closed, the curves with their names, the runs as points."""
    axis = figure.subplots()
    left, right, low, high = _limits(data)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(left, right)
    axis.set_ylim(low, high)
    _times(axis, low, high)
    _closed(axis, data, (left, right, low, high))
    _algorithms(axis, data, right)
    _tests(axis, data, right)
    _points(axis, data)
    axis.set_xlabel("number of examples (half of them, where $z_0=-1$, tell of the hidden set)")
    axis.set_ylabel("time on one core (s)")
    axis.set_title(f"The map of {named(data['title'], 60)}", loc="left", fontsize=11)
    figure.text(
        0.995,
        0.005,
        f"success {data['success']}; rates measured on {data['machine']}; filled marks found the "
        "set, hollow marks did not",
        ha="right",
        va="bottom",
        fontsize=7,
        color="0.35",
    )
    if figure.get_layout_engine():  # a page lays out its own
        figure.get_layout_engine().set(rect=(0, 0.025, 1, 0.975))


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
    seconds += [max(p["seconds"], 1e-6) for p in points]
    floor = min(data["floors"].values())
    return max(floor, 4) / 6, 6 * wide, min(seconds) / 30, max(seconds) * 3e3


def _times(axis: Any, low: float, high: float) -> None:
    """Name times of human life on the right."""
    shown = [(t, name) for t, name in _TIMES if low < t < high]
    other = axis.secondary_yaxis("right")
    other.set_yticks([t for t, _ in shown], [name for _, name in shown], fontsize=8)
    other.set_yticks([], minor=True)
    other.tick_params(length=0, colors="0.35")
    other.spines["right"].set_visible(False)
    for seconds, _ in shown:
        axis.axhline(seconds, color="0.8", linewidth=0.6, zorder=1.5)


def _closed(axis: Any, data: Data, limits: tuple[float, float, float, float]) -> None:
    """Shade what no learner reaches, and what no statistical-query learner is read to reach."""
    left, right, low, high = limits
    floor, enough = data["floors"]["information floor"], data["floors"]["union bound"]
    fano = max(data["floors"]["Fano's inequality"], left)
    axis.axvspan(left, floor, color="0.82", linewidth=0, zorder=1)
    axis.axvline(floor, color="0.25", linewidth=1.2, zorder=2)
    axis.axvline(fano, color="0.5", linewidth=0.8, linestyle=":", zorder=2)
    axis.axvline(enough, color="0.25", linewidth=1, linestyle="--", zorder=2)
    middle = math.sqrt(low * high)
    text = {"rotation": 90, "va": "center", "fontsize": 8, "color": "0.2", "zorder": 5}
    axis.text(math.sqrt(left * fano), middle, "no learner at all", ha="center", **text)
    axis.text(fano / 1.03, low * 2, "Fano", ha="right", **{**text, "va": "bottom", "fontsize": 7})
    axis.text(
        enough * 1.06,
        high / 2,
        f"{enough:.0f}: maximum likelihood\n{floor:.0f}: information floor",
        ha="left",
        **{**text, "va": "top", "rotation": 0},
    )
    _queries(axis, data["lines"].get("statistical queries"), right, low)


def _queries(axis: Any, line: Data | None, right: float, low: float) -> None:
    """Shade what no learner by statistical queries is read to reach."""
    if not line:
        return
    (start, end), height = line["examples"], line["seconds"][0]
    end = min(end, right)
    axis.fill_between(
        [start, end], low, height, facecolor="#f8eef5", edgecolor="#e3c4d8", hatch="//",
        linewidth=0, zorder=1,
    )  # fmt: skip
    axis.plot([start, end], [height, height], color=_PURPLE, linewidth=1.4, linestyle="-.")
    axis.text(
        end / 1.2 if end == right else end / 1.05,
        height / 1.5,
        "below: no learner by statistical queries\n(one query to VSTAT(examples) read as one pass)",
        color="#8a3f6b",
        fontsize=8,
        ha="right",
        va="top",
        zorder=6,
        bbox=_paper(),
    )


def _paper() -> Data:
    return {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1}


def _algorithms(axis: Any, data: Data, right: float) -> None:
    """Draw brute force and restricted elimination, on to the right: who has more may leave them."""
    styles = {"brute force": (_BLUE, (0, (6, 2))), "restricted elimination": (_ORANGE, "-")}
    there = {name: data["lines"][name] for name in styles if name in data["lines"]}
    slowest = max((line["seconds"][-1] for line in there.values()), default=0.0)
    for name, line in there.items():
        colour, style = styles[name]
        last = line["seconds"][-1]
        axis.plot(
            [*line["examples"], right], [*line["seconds"], last],
            color=colour, linestyle=style, linewidth=1.8, zorder=4,
        )  # fmt: skip
        above = last == slowest
        said = f"{name}, {line['notes'][0]}" if name == "brute force" else name
        axis.annotate(
            said, (right, last), (-14, 4 if above else -4), textcoords="offset points",
            color=colour, ha="right", va="bottom" if above else "top", fontsize=9, zorder=6,
            bbox=_paper(),
        )  # fmt: skip


def _tests(axis: Any, data: Data, right: float) -> None:
    """Draw the thresholds of low-degree tests, with t."""
    line = data["lines"].get("low-degree tests")
    if not line:
        return
    every = zip(line["examples"], line["seconds"], line["notes"], strict=True)
    shown = [(x, y, note) for x, y, note in every if x <= right]
    axis.plot(
        [x for x, _, _ in shown],
        [y for _, y, _ in shown],
        color=_GREEN,
        linestyle=":",
        linewidth=1.2,
        marker="|",
        markersize=9,
        zorder=4,
    )
    for x, y, note in shown[:5]:
        axis.annotate(
            note.partition(",")[0], (x, y), (0, 7), textcoords="offset points",
            color=_GREEN, fontsize=8, ha="center", zorder=6,
        )  # fmt: skip
    if not shown:
        return
    end, low = shown[0][0], axis.get_ylim()[0]
    beside = [p["seconds"] for p in data["points"] if end / 1e3 <= p["examples"] <= end]
    axis.annotate(
        "low-degree tests of $t$ examples at a time: thresholds",
        (end * 1.05, max(*(y for _, y, _ in shown), *beside, low)),
        (0, 18),
        textcoords="offset points",
        color=_GREEN,
        fontsize=9,
        ha="right",
        va="bottom",
        zorder=6,
        bbox=_paper(),
    )


def _points(axis: Any, data: Data) -> None:
    """Draw a mark a run."""
    names = list(dict.fromkeys(p["learner"] for p in data["points"]))
    for name in names:
        own = style_of(name)
        if name == _TIGHT:  # the same learner, on a small pool
            own = Style(colour=style_of("restricted").colour, mark="*")
        colour, mark = own.colour, own.mark
        of = [p for p in data["points"] if p["learner"] == name]
        for point in of:
            drawn = axis.plot(
                [point["examples"]],
                [max(point["seconds"], 1e-6)],
                marker=mark,
                color=colour,
                markersize=6.5,
                markeredgecolor="black" if point["solved"] else colour,
                markeredgewidth=0.6 if point["solved"] else 1.4,
                markerfacecolor=colour if point["solved"] else "white",
                linestyle="",
                zorder=7,
                label=f"{named(name)}, {sum(p['solved'] for p in of)} of {len(of)} found"
                if point is of[0]
                else None,
            )
            belongs(name, *drawn)
    if names:
        axis.legend(
            facecolor="white",
            edgecolor="none",
            framealpha=0.9,
            fontsize=8,
            loc="upper right",
            title="measured",
            title_fontsize=8,
            alignment="left",
        )
