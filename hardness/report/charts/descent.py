"""The figure of noisy gradient descent beside its bound."""

from fractions import Fraction

from hardness.claims import vacuous
from hardness.report.charts.chart import Data, named
from hardness.report.charts.style import COLOURS
from hardness.report.charts.trace import Trace, beside, level, panel, wall, words
from hardness.runs.descent import descent_sizes
from instances.family import Family
from instances.parameters import brief
from instances.spec import parse_stored

_STEPS = "gd-noise-steps"
_BLUE, _RED, _GREEN = COLOURS[:3]
_ENOUGH = "8 M ln M σ²/(ρG)² steps"
_SIZE = (330, 220)


def of_descent(family: Family) -> Data:
    """Study the strongest model on a family, and on it in fewer dimensions: up to d = 13."""
    studies = descent_sizes(family)
    return {"study": studies[-1].to_dict(), "sizes": [s.to_dict() for s in studies]}


def draw_descent(data: Data) -> Data:
    """Draw success against steps under the bound, and the steps of both against members."""
    study, family = data["study"], parse_stored(data["study"]["spec"])
    told = [s for s in data["sizes"] if not vacuous(_STEPS, int(s["needed"]))]
    notes = [
        f"gradients clipped to G = {study['clip']}, noise σ = {study['noise_std']} on every "
        "coordinate, ρ = 1 − 2 label noise"
    ]
    notes += [] if told else ["the bound is vacuous in all of these dimensions"]
    charts = [_success(study), *([_sizes(data["sizes"], told)] if told else [])]
    return beside(*charts, title=named(brief(family, family.name), 80), notes=notes)


def _success(study: Data) -> Data:
    points, goal = study["points"], float(Fraction(study["success"]))
    curve = [pair for pair in study["curve"] if pair[1] < 1]
    traces, more = [], []
    if curve:  # else the bound is vacuous everywhere
        steps, most = zip(*curve, strict=True)
        traces = [
            Trace(x=steps, low=most, high=[1.0] * len(most), marks=("band",), colour=_RED),
            Trace(
                name="bound on any model and rule", x=steps, y=most, marks=("line",), colour=_RED
            ),
        ]
        more.append(words(steps[0], 0.95, "ruled out", _RED, dx=6))
    runs = Trace(
        name=f"runs: a feature for each of {study['members']} members, 95%",
        x=[p["steps"] for p in points],
        y=[p["right"] / p["runs"] for p in points],
        low=[p["interval"][0] for p in points],
        high=[p["interval"][1] for p in points],
        marks=("interval", "line", "point"),
    )
    needed, reached = int(study["needed"]), study["reached"]
    silent = vacuous(_STEPS, needed)
    traces.append(level(f"success {study['success']}", goal))
    if not silent:
        traces.append(wall("steps that the bound asks for", needed, colour=_RED))
    if study["enough"]:
        traces.append(wall(_ENOUGH, study["enough"], colour=_GREEN))
    if reached is not None and not silent:
        times = f"x {reached / needed:.3g}"
        more.append(words((needed * reached) ** 0.5, goal, times, align="center", dy=-7))
    return panel(
        [*traces, runs],
        title="How often a run succeeds",
        x="number of steps",
        y=f"probability of risk {study['risk']} or less",
        log="x",
        domains={"y": (0.0, 1.02)},
        more=more,
        size=_SIZE,
    )


def _sizes(studies: list[Data], told: list[Data]) -> Data:
    shown = [s for s in studies if s["reached"] is not None]
    between = [s["bracket"] or [s["reached"]] * 2 for s in shown]
    traces = [
        Trace(
            name="runs",
            x=[s["members"] for s in shown],
            y=[s["reached"] for s in shown],
            low=[low for low, _ in between],
            high=[high for _, high in between],
            marks=("interval", "line", "point"),
        ),
        Trace(
            name="bound: at least so many",
            x=[s["members"] for s in told],
            y=[int(s["needed"]) for s in told],
            colour=_RED,
            shape="square",
        ),
    ]
    if all(s["enough"] for s in studies):
        enough = Trace(
            name=_ENOUGH,
            x=[s["members"] for s in studies],
            y=[s["enough"] for s in studies],
            marks=("line",),
            colour=_GREEN,
            dash=(5, 3),
        )
        traces.insert(0, enough)
    return panel(
        traces,
        title=f"Steps for success {studies[0]['success']}",
        x="number of members M",
        y="number of steps",
        log="xy",
        size=_SIZE,
    )
