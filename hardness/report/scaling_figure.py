"""The figure of fitted growth: costs against the size, both axes logarithmic, one unit a panel."""

import math
from typing import Any

import numpy as np

from hardness.report.canvas import belongs, named
from hardness.report.styles import Style, styles_of
from hardness.report.summary import short_name
from hardness.runs import Comparison, Scaling, scaling
from hardness.runs.fits import COSTS, CostFit, numbers
from hardness.runs.growth import Law
from instances.errors import UsageError
from instances.parameters import plain

Data = dict[str, Any]
_TITLES = {"queries": "Statistical queries", "examples": "Examples", "seconds": "Time"}
_UNITS = {
    "queries": "number of queries",
    "examples": "number of examples",
    "seconds": "time (s)",
}


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


def draw_scaling(figure: Any, data: Data) -> None:
    """Draw costs of all runs, the fitted laws with the interval of the exponent, what is certified.

    Filled marks are of sizes at which every seed passed, and are fitted; hollow ones are not. The
    band is what the interval of the exponent allows about the middle of the fitted sizes.
    """
    shown = [cost for cost in COSTS if any(fit["cost"] == cost for fit in data["fits"])]
    styles = styles_of(fit["learner"] for fit in data["fits"])
    every = figure.subplots(1, len(shown), squeeze=False)[0]
    for axis, cost in zip(every, shown, strict=True):
        fits = [fit for fit in data["fits"] if fit["cost"] == cost]
        for fit in fits:
            _costs(axis, fit, data["parameter"], styles[fit["learner"]])
        for quantity in dict.fromkeys(fit["beside"] for fit in fits):
            if quantity in data["certified"]:
                _certified(axis, data["certified"][quantity], data["parameter"])
        _finish(axis, cost, data)
    figure.suptitle(
        f"{named(data['spec'])}, {data['seeds']} seeds. Lines: power laws with 95 % intervals; "
        "dotted: exponential laws; hollow: not fitted, a seed did not pass",
        fontsize=9,
    )


def _costs(axis: Any, fit: Data, parameter: str, style: Style) -> None:
    colour, mark, drawn = style.colour, style.mark, []
    for counts in (True, False):
        chosen = [p for p in fit["points"] if p["counts"] is counts and p["cost"] > 0]
        drawn += axis.plot(
            [p["place"] for p in chosen],
            [p["cost"] for p in chosen],
            linestyle="none",
            marker=mark,
            markersize=4,
            color=colour,
            markerfacecolor=colour if counts else "white",
            alpha=0.7,
        )
    law, label = fit["power"], f"{named(fit['learner'])}: no fit"
    if law:
        places = np.geomspace(min(fit["places"]), max(fit["places"]), 33)
        middle = sum(map(math.log, fit["places"])) / len(fit["places"])
        height = law["log_constant"] + law["rate"] * middle
        low, line, high = (
            [math.exp(height + law[name] * (math.log(x) - middle)) for x in places]
            for name in ("low", "rate", "high")
        )
        band = axis.fill_between(
            places, list(map(min, low, high)), list(map(max, low, high)),
            color=colour, alpha=0.12, linewidth=0,
        )  # fmt: skip
        drawn += axis.plot(places, line, color=colour, linewidth=1.2)
        drawn.append(band)
        other = fit["exponential"]
        bent = [math.exp(other["log_constant"] + other["rate"] * x) for x in places]
        drawn += axis.plot(places, bent, color=colour, linewidth=1, linestyle=":")
        label = (
            f"{named(fit['learner'])}: {parameter}^{law['rate']:.2f} "
            f"[{law['low']:.2f}, {law['high']:.2f}]"
        )
    drawn += axis.plot([], [], color=colour, marker=mark, markersize=4, linewidth=1.2, label=label)
    belongs(fit["learner"], *drawn)


def _certified(axis: Any, found: Data, parameter: str) -> None:
    kept = [
        (x, math.exp(y)) for x, y in zip(found["places"], found["logs"], strict=True) if y < 690
    ]
    exponent = "" if found["exponent"] is None else f": {parameter}^{found['exponent']:.2f}"
    drawn = axis.plot(
        [x for x, _ in kept],
        [y for _, y in kept],
        color="black",
        linestyle="--",
        linewidth=1.6,
        label=f"certified{exponent}",
    )
    belongs("certified", *drawn)


def _finish(axis: Any, cost: str, data: Data) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    places, names = data["places"], data["values"]
    kept: list[int] = []
    for i, place in enumerate(places):  # those that do not stand on one another
        if not kept or math.log(place / places[kept[-1]]) > math.log(places[-1] / places[0]) / 8:
            kept.append(i)
    axis.set_xticks([places[i] for i in kept], [names[i] for i in kept], minor=False)
    axis.set_xticks([], minor=True)
    axis.set_xlabel(named(data["parameter"]))
    axis.set_ylabel(_UNITS[cost])
    axis.set_title(_TITLES[cost])
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
    axis.legend(frameon=False, fontsize=7, loc="upper left")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend
