"""The figure of a stress test: rung against cost, drawn from its JSON numbers alone."""

import re
from statistics import median
from typing import Any

from hardness.claims import vacuous
from hardness.report.canvas import belongs, folded, named
from hardness.report.stress import short_specs
from hardness.report.styles import Style, styles_of
from hardness.runs.stress import Stress, Trials

Data = dict[str, Any]
_ASKED = {
    "stat-queries": ("to STAT(1/10)", "--"),
    "csq-queries": ("on correlations, within 1/10,", "-."),
}
_HIGHEST = 1e13  # certified queries that are drawn
_LINE = 20  # characters of a line of a rung's label
_THREE_COLUMNS = 48  # characters of a line of the legend, of which three stand beside each other


def of_stress(found: Stress) -> Data:
    """Take the numbers of the figure: each learner's cost by rung, budgets, what is certified."""
    common, labels = short_specs(found.ladder)
    budgets = [trials_budget(found, i) for i in range(len(labels))]
    climbs = sorted(found.climbs, key=lambda climb: climb.reference)
    names = _labels([climb.asked for climb in climbs])
    return {
        "spec": found.ladder.name,
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
        "budget_examples": [b[0] for b in budgets],
        "budget_seconds": [b[1] for b in budgets],
        "certified_queries": [_number(one.queries) for one in found.certified],
        "asked": [one.asked for one in found.certified],
        "information_floor": [_number(one.floor) for one in found.certified],
    }


def draw_stress(figure: Any, data: Data) -> None:
    """Draw rungs against examples and time: the references by thin broken lines.

    Filled marks: all seeds passed; hollow: some. A cross is where a climb stopped, at what the runs
    that failed spent.
    """
    left, right = figure.subplots(1, 2)
    handles: dict[str, Any] = {}
    _panel(left, "examples", data, handles)
    _panel(right, "seconds", data, handles)
    _certified(left, data, handles)
    figure.suptitle(f"{data['spec']}: medians of the runs that passed, of {data['seeds']} seeds")
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=3 if max(map(len, handles)) <= _THREE_COLUMNS else 2,
        fontsize=8,
        frameon=False,
    )


def trials_budget(found: Stress, rung: int) -> tuple[int | None, float | None]:
    """Return the examples and seconds that a run on a rung, from 0, might use."""
    one, over = found.ladder.rungs[rung], found.budget
    return over.examples or one.examples, over.seconds or one.seconds


def _point(trials: Trials) -> Data:
    failed = [run.usage for run in trials.runs if run not in trials.solved]
    return {
        "passes": trials.passes,
        "trials": len(trials.trials),
        "examples": trials.cost("examples"),
        "queries": trials.cost("queries"),
        "seconds": trials.cost("seconds"),
        "spent_examples": float(median(u.examples for u in failed)) if failed else None,
        "spent_seconds": float(median(u.seconds for u in failed)) if failed else None,
    }


def _number(value: int | None) -> float | None:
    """A count as a float, None where it is beyond what a figure shows."""
    return None if value is None or value > 10**300 else float(value)


def _panel(axis: Any, cost: str, data: Data, handles: dict[str, Any]) -> None:
    styles = styles_of(learner["learner"] for learner in data["learners"])
    for learner in data["learners"]:
        handle = _learner(axis, cost, learner, styles[learner["learner"]])
        handles.setdefault(_legend(learner), handle)
    budget = data[f"budget_{cost}"]
    places = [i for i, value in enumerate(budget, 1) if value]
    if places:
        (line,) = axis.step(
            places,
            [budget[i - 1] for i in places],
            where="mid",
            color="0.8",
            linewidth=5,
            alpha=0.6,
            zorder=0,
            solid_capstyle="butt",
        )
        handles.setdefault("budget of the rung", line)
    axis.set_yscale("log")
    axis.set_title("Examples" if cost == "examples" else "Time")
    axis.set_ylabel("number of examples" if cost == "examples" else "time (s)")
    labels = [folded(f"{i}: {label}", _LINE) for i, label in enumerate(data["rungs"], 1)]
    axis.set_xticks(range(1, len(labels) + 1), labels, rotation=90, fontsize=7)
    axis.set_xlim(0.4, len(labels) + 0.6)
    axis.set_xlabel(f"rung: {data['family']}")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
    low, high = axis.get_ylim()
    if high < 10 * low:  # a log axis needs a decade to be read
        centre = (low * high) ** 0.5
        axis.set_ylim(centre / 10**0.5, centre * 10**0.5)


def _legend(learner: Data) -> str:
    told = f"holds {learner['held']}" if learner["held"] else "holds none"
    if learner["touched"] > learner["held"]:
        told += f", touches {learner['touched']}"
    return f"{named(learner['label'])}: {told}" + (" (reference)" if learner["reference"] else "")


def _labels(names: list[str]) -> list[str]:
    """Leave out the folders of learners from files, where the rest tells them apart.

    >>> _labels(["a/mine.py:One", "queries"]), _labels(["a/x.py:One", "b/x.py:One"])
    (['mine.py:One', 'queries'], ['a/x.py:One', 'b/x.py:One'])
    """
    short = [re.sub(r"^.*/(?=[^/]*\.py:)", "", name) for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _learner(axis: Any, cost: str, learner: Data, style: Style) -> Any:
    """Draw one learner's climb; gives the line for the legend."""
    colour, mark = style.colour, style.mark
    points = [(i, p) for i, p in enumerate(learner["points"], 1) if p[cost]]
    (line,) = axis.plot(
        [i for i, _ in points],
        [p[cost] for _, p in points],
        color=colour,
        marker=mark,
        markersize=5,
        linestyle=(0, (5, 1.5)) if learner["reference"] else style.line,
        linewidth=0.9 if learner["reference"] else 1.6,
        zorder=2 if learner["reference"] else 3,
    )
    some = [(i, p[cost]) for i, p in points if p["passes"] < p["trials"]]
    drawn = axis.plot(
        [i for i, _ in some],
        [value for _, value in some],
        linestyle="none",
        marker=mark,
        markersize=5,
        color=colour,
        markerfacecolor="white",
        zorder=4,
    )
    last = learner["points"][-1] if learner["points"] else None
    if learner["stopped"] and last and last[f"spent_{cost}"]:
        stop = (len(learner["points"]), last[f"spent_{cost}"])
        if points:
            drawn += axis.plot(
                [points[-1][0], stop[0]],
                [points[-1][1][cost], stop[1]],
                color=colour,
                linestyle=":",
                linewidth=1.0,
            )
        cross: Data = {"linestyle": "none", "marker": "x", "markersize": 8, "color": colour}
        drawn += axis.plot(*stop, zorder=5, **cross)
    belongs(learner["learner"], line, *drawn)
    return line


def _certified(axis: Any, data: Data, handles: dict[str, Any]) -> None:
    """Draw the certified queries and the information floor beside examples."""
    for asked, (who, style) in _ASKED.items():
        shown = [
            (i, v)
            for i, (v, kind) in enumerate(
                zip(data["certified_queries"], data["asked"], strict=True), 1
            )
            if kind == asked and v is not None and not vacuous(asked, int(v))
        ]
        if shown:
            (line,) = axis.plot(
                [i for i, _ in shown], [v for _, v in shown], color="black", linestyle=style
            )
            handles[f"SQ learners: queries {who} needed (certified, worst answers)"] = line
            axis.set_ylabel("number of examples; certified: of queries too")
    floor = [
        (i, v)
        for i, v in enumerate(data["information_floor"], 1)
        if v is not None and not vacuous("information-floor", int(v))
    ]
    if floor:
        (line,) = axis.plot(
            [i for i, _ in floor], [v for _, v in floor], color="black", linestyle=":"
        )
        handles["any learner: examples needed (certified)"] = line
    axis.set_ylim(0.6, min(axis.get_ylim()[1], _HIGHEST))
