"""Figures of what runs cost and what they learned: growth, risks, attacks, training."""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from hardness.cost.attacks import estimate
from hardness.cost.problem import problem
from hardness.report.charts.chart import (
    FADED,
    HIGH,
    MOST,
    WIDE,
    Data,
    by_learner,
    by_series,
    drawn_of,
    logarithmic,
    named,
    panels,
    pick_in,
    picked,
    quantity,
    tooltip,
)
from hardness.report.charts.runs import TITLES
from hardness.report.charts.style import BOUND, GREY, Style, series_style, style_of, styles_of
from hardness.report.summary import short_name
from hardness.runs import Comparison, Scaling, scaling
from hardness.runs.cells import cells
from hardness.runs.distinguish import implied_accuracy
from hardness.runs.fits import COSTS, CostFit, numbers
from hardness.runs.growth import Law
from hardness.runs.run import SOLVED_BELOW
from instances.errors import DamagedFile, UsageError
from instances.parameters import plain
from instances.spec import parse_stored

_FLOOR = 1e-32  # what a logarithm shows of a risk of 0
_ROOM = 20.0  # up to which an axis of risks goes, for what stands above 1
_RATIO = 20.0  # of the largest to the least value from which an axis is logarithmic
_POINTS = 33  # of a fitted line
_LEARNER = {  # that runs what an estimate is about: both have one colour
    "arora-ge": "arora-ge",
    "bkw": "bkw",
    "brute-force": "bruteforce",
    "linear-algebra": "modlinear",
    "meet-in-the-middle": "mitm",
    "usvp": "primal",
    "restricted-elimination": "restricted",
}
_CURVES = 12  # training curves of one size that are drawn


def of_scaling(comparison: Comparison, found: Scaling | None = None) -> Data:
    """Collect costs, fitted laws and certified numbers; raises UsageError for sizes of 0 alone.

    found: the fitted growth, where it was computed before.
    """
    if not any(value > 0 for value in comparison.values):
        raise UsageError(
            f"no {comparison.parameter} above 0 in these results: a log axis needs one"
        )
    found = found or scaling(comparison)
    units = {fit.beside for fit in found.fits if fit.beside}
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values if v > 0],
        "places": [float(v) for v in comparison.values if v > 0],
        "seeds": comparison.seeds,
        "fits": [_numbers(comparison, fit) for fit in found.fits],
        "certified": {
            one.quantity: {
                "places": [float(v) for v in one.values],
                "logs": [math.log(numbers(comparison, one.quantity)[v]) for v in one.values],
                "exponent": one.exponent,
            }
            for one in found.certified
            if one.quantity in units
        },
    }


def _numbers(comparison: Comparison, fit: CostFit) -> Data:
    return {
        "learner": short_name(comparison, fit.learner),
        "cost": fit.cost,
        "beside": fit.beside,
        "no_fit": fit.no_fit,
        "points": [
            {
                "place": float(value),
                "cost": float(getattr(run.usage, fit.cost)),
                "counts": value in fit.values,
            }
            for value in comparison.values
            if value > 0
            for run in comparison.of(fit.learner, value)
        ],
        "places": [float(v) for v in fit.values],
        "power": fit.growth and _law(fit.growth.power),
        "exponential": fit.growth and _law(fit.growth.exponential),
        "verdict": fit.growth and fit.growth.verdict,
    }


def _law(law: Law) -> Data:
    return {
        "rate": law.rate,
        "low": law.low,
        "high": law.high,
        "log_constant": law.log_constant,
    }


def draw_scaling(data: Data) -> Data:
    """Draw costs of all runs, the fitted laws with the interval of the exponent, what is certified.

    Filled marks are of sizes at which every seed passed, and are fitted; hollow ones are not. The
    band is what the interval of the exponent allows about the middle of the fitted sizes.
    """
    shown = [cost for cost in COSTS if any(fit["cost"] == cost for fit in data["fits"])]
    names = list(dict.fromkeys(named(fit["learner"]) for fit in data["fits"]))
    charts = [_growth(data, cost, names) for cost in shown]
    lines = max((len(chart["title"]["subtitle"]) for chart in charts), default=0)
    for chart in charts:  # the panels begin at one height
        chart["title"]["subtitle"] += [" "] * (lines - len(chart["title"]["subtitle"]))
    if charts:
        pick_in(charts[0])
    return panels(
        *charts,
        title=f"{named(data['spec'], 80)}, {data['seeds']} seeds",
        notes=[
            "lines: power laws with 95 % intervals; dotted: exponential laws",
            "hollow: not fitted, a seed did not pass; black, dashed: certified",
        ],
    )


def _growth(data: Data, cost: str, names: Sequence[str]) -> Data:
    parameter, style = named(data["parameter"]), by_learner(names)
    fits = [fit for fit in data["fits"] if fit["cost"] == cost]
    kept = dict.fromkeys(  # once, what several seeds spent alike
        (named(fit["learner"]), point["place"], point["cost"], "yes" if point["counts"] else "no")
        for fit in fits
        for point in fit["points"]
        if point["cost"] > 0
    )
    points = [dict(zip(("learner", "place", "cost", "fitted"), one, strict=True)) for one in kept]
    laws = [row for fit in fits if fit["power"] for row in _lines(fit)]
    bounds, said = _certified(data, fits, parameter)
    title, unit = TITLES[cost]
    told = {"learner": "learner", "fitted": "fitted", parameter: "place", unit: "cost"}
    seen = [row["cost"] for row in (*points, *bounds)]
    line: Data = {"color": style["color"], "opacity": FADED}
    band = {"fill": _own(style), "y": {"field": "low"}, "detail": {"field": "learner"}}
    fitted: list[Data] = [
        {
            "mark": {"type": "area", "opacity": 0.12, "clip": True},
            "encoding": {**band, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "clip": True}, "encoding": line},
        {
            "mark": {"type": "line", "strokeDash": [1, 3], "clip": True},
            "encoding": {**line, "y": {"field": "bent"}},
        },
    ]
    return {
        "title": {"text": title, "subtitle": [_told(fit, parameter) for fit in fits] + said},
        "width": WIDE,
        "height": HIGH,
        "encoding": {
            "x": _sizes(parameter, data["places"]),
            "y": logarithmic("cost", unit, seen),
        },
        "data": drawn_of(laws),
        "layer": [
            *(fitted if laws else []),
            *([{"data": drawn_of(bounds), "mark": _bounds(len(bounds))}] if bounds else []),
            {
                "data": drawn_of(points),
                "mark": "point",
                "encoding": {
                    "color": style["color"],
                    "shape": style["shape"],
                    "fill": style["color"],
                    "fillOpacity": _filled("datum.fitted === 'yes'"),
                    "opacity": FADED,
                    "tooltip": tooltip(**told),
                },
            },
        ],
    }


def _bounds(number: int) -> Data:
    """The line of what is certified; a stroke where it is of one size."""
    line: Data = {"type": "line", "color": BOUND, "strokeWidth": 2, "strokeDash": [6, 3]}
    return line | ({"point": {"shape": "stroke", "color": BOUND}} if number == 1 else {})


def _own(style: Data) -> Data:
    """The colour of a learner for an area, which a legend would take for its own."""
    scale = style["color"]["scale"]
    pairs = zip(scale["domain"], scale["range"], strict=True)
    tests = [{"test": {"field": "learner", "equal": name}, "value": hue} for name, hue in pairs]
    return {"condition": tests, "value": GREY}


def _filled(test: str) -> Data:
    return {"condition": {"test": test, "value": 1}, "value": 0}


def _sizes(parameter: str, places: Sequence[float]) -> Data:
    """A logarithmic axis of sizes, with ticks at those that do not stand on one another."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or math.log(place / kept[-1]) > math.log(max(places) / min(places)) / 8:
            kept.append(place)
    axis = logarithmic("place", parameter, places)
    axis["axis"]["values"] = kept
    axis["scale"] |= {"domain": [min(places), max(places)], "padding": 12}
    return axis


def _told(fit: Data, parameter: str) -> str:
    law, name = fit["power"], named(fit["learner"], 24)
    if not law:
        return f"{name}: no fit"
    return f"{name}: {parameter}^{law['rate']:.2f} [{law['low']:.2f}, {law['high']:.2f}]"


def _lines(fit: Data) -> list[Data]:
    """The power law of a fit with what its interval allows, and the exponential one."""
    law, other, places = fit["power"], fit["exponential"], fit["places"]
    middle = sum(map(math.log, places)) / len(places)
    height = law["log_constant"] + law["rate"] * middle
    first, last = math.log(min(places)), math.log(max(places))
    found = []
    for i in range(_POINTS):
        x = first + (last - first) * i / (_POINTS - 1)
        ends = [height + law[name] * (x - middle) for name in ("low", "rate", "high")]
        bent = other["log_constant"] + other["rate"] * math.exp(x)
        if max(*ends, bent) > math.log(MOST):
            continue
        low, cost, high = map(math.exp, ends)
        found.append(
            {
                "learner": named(fit["learner"]),
                "place": math.exp(x),
                "cost": cost,
                "low": min(low, high),
                "high": max(low, high),
                "bent": math.exp(bent),
            }
        )
    return found


def _certified(data: Data, fits: list[Data], parameter: str) -> tuple[list[Data], list[str]]:
    """What is certified of the cost of some fits, and its exponent in words."""
    rows, said = [], []
    for quantity_ in dict.fromkeys(fit["beside"] for fit in fits):
        one = data["certified"].get(quantity_)
        if one:
            rows += [
                {"place": place, "cost": math.exp(log)}
                for place, log in zip(one["places"], one["logs"], strict=True)
                if log < math.log(MOST)
            ]
            power = "" if one["exponent"] is None else f": {parameter}^{one['exponent']:.2f}"
            said.append(f"certified{power}")
    return rows, said


def of_risks(comparison: Comparison) -> Data:
    """Collect the risks of all runs, with who solved and what was spent."""
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "places": [float(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "learners": {
            short_name(comparison, name): [
                {
                    "risks": [r.risk.value for r in runs if r.risk],
                    "solved": sum(r.solved for r in runs),
                    "examples": median(r.usage.examples for r in runs) if runs else None,
                    "seconds": median(r.usage.seconds for r in runs) if runs else None,
                }
                for value in comparison.values
                for runs in [comparison.of(name, value)]
            ]
            for name in comparison.learner_names
        },
    }


def draw_risks(data: Data) -> Data:
    """Draw the median risk with the range over seeds, and the examples that were spent."""
    places, parameter = data["places"], named(data["parameter"])
    rows = [
        {
            "learner": named(name),
            "place": place,
            "risk": max(median(cell["risks"]), _FLOOR) if cell["risks"] else None,
            "low": max(min(cell["risks"], default=0), _FLOOR),
            "high": max(max(cell["risks"], default=0), _FLOOR),
            "solved": cell["solved"],
            "examples": cell["examples"] or None,
        }
        for name, found in data["learners"].items()
        for place, cell in zip(places, found, strict=True)
    ]
    measured = [row for row in rows if row["risk"] is not None]
    style = by_learner(dict.fromkeys(map(named, data["learners"])))
    x = quantity("place", parameter, axis={"values": places, "labelOverlap": True})
    if places and min(places) > 0 and max(places) >= _RATIO * min(places):
        x = _sizes(parameter, places)
    shown = {"learner": "learner", "median risk": "risk", "least": "low", "largest": "high"}
    told = tooltip(**{**shown, "solved": "solved", "examples": "examples", parameter: "place"})
    risks = [value for row in measured for value in (row["risk"], row["low"], row["high"])]
    lines: list[Data] = [{"risk": 1.0, "says": "nothing learned"}]
    lines += [{"risk": SOLVED_BELOW, "says": "solved below", "dy": 9}]
    left = _curves("What was learned", measured, x, style, told)
    left["encoding"]["y"] = logarithmic("risk", "relative risk", [*risks, SOLVED_BELOW, _ROOM])
    left["layer"] = [
        {
            "mark": {"type": "area", "opacity": 0.15},
            "encoding": {
                "fill": _own(style),
                "detail": {"field": "learner"},
                "y": {"field": "low"},
                "y2": {"field": "high"},
            },
        },
        _rules(lines, "risk"),
        *left["layer"],
    ]
    right = _curves("From how many examples", rows, x, style, told)
    right["encoding"]["y"] = logarithmic(
        "examples", "number of examples, median", [row["examples"] or 0 for row in rows]
    )
    pick_in(left)
    return panels(
        left,
        right,
        title=f"{named(data['spec'], 80)}, {data['seeds']} seeds",
        notes=[f"median over the seeds, with their range; a run passes below {SOLVED_BELOW:g}"],
    )


def _curves(title: str, rows: list[Data], x: Data, style: Data, told: list[Data]) -> Data:
    """A panel with a line and marks a learner; whoever takes it adds the axis upwards."""
    line = {"color": style["color"], "strokeDash": style["strokeDash"], "opacity": FADED}
    marks = {"color": style["color"], "shape": style["shape"], "opacity": FADED, "tooltip": told}
    filled = {"fill": style["color"]}
    return {
        "title": title,
        "width": WIDE + 60,
        "height": HIGH,
        "data": drawn_of(rows),
        "encoding": {"x": x},
        "layer": [
            {"mark": "line", "encoding": line},
            {"mark": "point", "encoding": marks | filled},
        ],
    }


def _rules(rows: list[Data], field: str) -> Data:
    """Grey lines across a panel, with what they say at its left end."""
    y = {"field": field, "type": "quantitative"}
    up = {"dy": {"expr": "datum.dy || -5"}}
    return {
        "data": drawn_of(rows),
        "encoding": {"x": {"value": 0}, "y": y},
        "layer": [
            {
                "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
                "encoding": {"x2": {"value": "width"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 3, "color": "#666666", **up},
                "encoding": {"text": {"field": "says"}},
            },
        ],
    }


def of_attacks(comparison: Comparison) -> Data:
    """Collect the seconds of every learner and the estimated bits of every attack, by size."""
    measured: dict[str, list[Data]] = {}
    for cell in cells(comparison):
        entry = {
            "value": plain(cell.value),
            "seconds": cell.enough["seconds"],
            "solved": cell.solved,
            "runs": cell.runs,
        }
        measured.setdefault(short_name(comparison, cell.learner), []).append(entry)
    estimated: dict[str, list[float | None]] = {}
    for i, spec in enumerate(comparison.specs):
        for found in estimate(problem(parse_stored(spec)), spec, only=tuple(_LEARNER)).estimates:
            estimated.setdefault(found.name, [None] * len(comparison.specs))[i] = found.rop
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "measured": measured,
        "estimated": {n: v for n, v in estimated.items() if any(b is not None for b in v)},
    }


def draw_attacks(data: Data) -> Data:
    """Draw seconds that were measured, hollow where not solved, and operations estimated."""
    values, parameter = data["values"], named(data["parameter"])
    seconds = [
        {
            "series": named(name),
            "value": cell["value"],
            "seconds": cell["seconds"],
            "solved": f"{cell['solved']} of {cell['runs']}",
            "most": 2 * cell["solved"] > cell["runs"],
        }
        for name, found in data["measured"].items()
        for cell in found
        if cell["seconds"] > 0
    ]
    bits = [
        {"series": f"{name} (estimated)", "value": value, "bits": found}
        for name, every in data["estimated"].items()
        for value, found in zip(values, every, strict=True)
        if found is not None
    ]
    styles = {named(name): one for name, one in styles_of(data["measured"]).items()}
    for name in data["estimated"]:
        own = style_of(_LEARNER.get(name, name))
        styles[f"{name} (estimated)"] = Style(colour=own.colour, shape=own.shape, dash=(5, 3))
    x = {"field": "value", "type": "ordinal", "sort": values, "title": parameter}
    x["axis"] = {"labelAngle": 0}
    style = by_series(styles)
    told = tooltip(**{"series": "series", parameter: "value"})
    left = _curves("Measured", seconds, x, style, told)
    left["encoding"]["y"] = logarithmic("seconds", "time (s)", [row["seconds"] for row in seconds])
    left["layer"][-1]["encoding"] |= {
        "fillOpacity": _filled("datum.most"),
        "tooltip": [*told, *tooltip(seconds="seconds", solved="solved")],
    }
    pick_in(left, "series")
    right = _curves("Estimated", bits, x, style, [*told, *tooltip(bits="bits")])
    right["encoding"]["y"] = quantity("bits", "log2 of operations (bits)")
    return panels(
        left,
        right,
        title=f"{named(data['spec'], 80)}, {data['seeds']} seeds",
        notes=[
            "measured: what two of three runs stayed within, hollow where at most half solved",
            "estimated: operations by formulas",
        ],
    )


def of_training(comparison: Comparison) -> Data:
    """Collect the training curves of the runs that kept one.

    Raises UsageError where there is none, and where labels are no fair bit, of which alone the loss
    implies how often it is predicted.
    """
    for spec in comparison.specs:
        shares = getattr(parse_stored(spec), "shares", None)
        if shares != (Fraction(1, 2), Fraction(1, 2)):
            raise UsageError(
                f"{spec} given: the figure needs labels of two equally likely levels, as those of "
                "lwr with p=2, lpn, parity"
            )
    curves = []
    for i, spec in enumerate(comparison.specs):
        for name in comparison.learner_names:
            found = [r for r in comparison.of(name, comparison.values[i]) if r.details.get("curve")]
            if not found:
                continue
            curves.append(
                {
                    "spec": spec,
                    "learner": short_name(comparison, name),
                    "value": plain(comparison.values[i]),
                    "runs": [_curve(r.details["curve"]) for r in found[:_CURVES]],
                }
            )
    if not curves:
        raise UsageError("no run in these results kept a training curve: compare with mlp")
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "curves": curves,
    }


def _curve(points: Any) -> Any:
    """The points of a curve, (step, examples, loss) each; raises DamagedFile for anything else."""
    if not isinstance(points, list) or any(
        not isinstance(point, list)
        or len(point) != 3
        or not all(isinstance(v, int | float) and 0 <= v < math.inf for v in point)
        for point in points
    ):
        raise DamagedFile("a training curve in these results is not (step, examples, loss) a point")
    return points


def draw_training(data: Data) -> Data:
    """Draw the advantage that the loss implies against training steps, one line a run."""
    names = [
        f"{named(curve['learner'])}, {named(data['parameter'])}={named(curve['value'])}"
        for curve in data["curves"]
    ]
    rows = [
        {
            "series": name,
            "run": run,
            "step": point[0],
            "advantage": implied_accuracy(point[2]) - 0.5,
        }
        for name, curve in zip(names, data["curves"], strict=True)
        for run, points in enumerate(curve["runs"])
        for point in points
        if point[0] > 0
    ]
    plain_lines = {  # a size each: the learner is mostly the same
        name: Style(colour=series_style(i).colour, shape="stroke") for i, name in enumerate(names)
    }
    chart: Data = {
        "width": 2 * WIDE,
        "height": HIGH + 40,
        "encoding": {
            "x": logarithmic("step", "number of training steps", [row["step"] for row in rows]),
            "y": quantity("advantage", "advantage implied by the loss"),
        },
        "layer": [
            _rules([{"advantage": 0, "says": "a coin"}], "advantage"),
            {
                "data": drawn_of(rows),
                "params": picked("series"),
                "mark": {"type": "line", "strokeWidth": 1},
                "encoding": {
                    "color": by_series(plain_lines)["color"],
                    "detail": {"field": "run"},
                    "opacity": FADED,
                },
            },
        ],
    }
    return panels(
        chart,
        title="How much better than a coin a label is predicted",
        notes=[f"{named(data['spec'], 80)}, {data['seeds']} seeds; a line is a run"],
    )
