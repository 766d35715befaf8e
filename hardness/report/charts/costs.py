"""Figures of the costs of runs: growth with size, and attacks compared with estimates."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardness.lwe.estimate import estimate_all
from hardness.lwe.parameters import parameters_of
from hardness.report.charts.runs import CERTIFIED, TITLES, bound_points, head
from hardness.report.comparison import short_name
from hardness.report.style import (
    BOUND_COLOUR,
    Data,
    Look,
    captioned,
    cost_axis,
    dodge,
    entry,
    legend_below,
    legible_name,
    panels,
    size_axis,
    style_of,
    styled,
    styles_of,
)
from hardness.runs import Comparison
from hardness.runs.run import COSTS
from instances.errors import UsageError
from instances.numbers import outward, write
from instances.spec import parse_stored

_POINTS = 33  # of a fitted line
_LEARNER = {  # the learner that runs the attack of an estimate: both have the same colour
    "bkw": "bkw",
    "brute-force": "bruteforce",
    "linear-algebra": "modlinear",
    "meet-in-the-middle": "mitm",
    "usvp": "primal",
    "restricted-elimination": "restricted",
}


def scaling_rows(comparison: Comparison) -> Data:
    """Make rows of the costs of all runs, of fitted laws, and of certified numbers and their laws.

    A row of kind "run" tells whether its size is fitted. A row of kind "law" has for a learner and
    a cost the exponent with its interval and the constant, or why there is no fit. Other kinds are
    "certified" and "certified law". Raises UsageError if no size is above 0.
    """
    above = [value for value in comparison.values if value > 0]
    if not above:
        raise UsageError(
            f"no {comparison.parameter} above 0 in these results: a log axis needs one"
        )
    scaling = comparison.scaling
    cost_of = {fit.beside: fit.cost for fit in scaling.fits if fit.beside}
    rows: list[Data] = []
    for fit in scaling.fits:
        subject: Data = {"learner": short_name(comparison, fit.learner), "cost": fit.cost}
        law = fit.law
        rows += [
            {
                "kind": "run",
                **subject,
                "place": float(value),
                "amount": float(run.used(fit.cost)),
                "fitted": value in fit.values,
            }
            for value in above
            for run in comparison.runs_of(fit.learner, value)
        ]
        rows.append(
            {
                "kind": "law",
                **subject,
                "exponent": law and law.exponent,
                "low": law and law.low,
                "high": law and law.high,
                "log_constant": law and law.log_constant,
                "no_fit": fit.no_fit,
            }
        )
    for growth in scaling.certified:
        if growth.quantity in cost_of:
            subject = {"cost": cost_of[growth.quantity], "quantity": growth.quantity}
            bounds = dict(zip(comparison.values, comparison.bounds(growth.quantity), strict=True))
            rows += [
                {"kind": CERTIFIED, **subject, "place": float(v), "value": str(bounds[v])}
                for v in growth.values
            ]
            rows.append({"kind": "certified law", **subject, "exponent": growth.exponent})
    return {**head(comparison, above), "rows": rows}


@styled
def scaling(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw costs of all runs, fitted laws with a band, and certified numbers, over log axes.

    Filled marks are at fitted sizes, where every seed solved, and hollow marks at other sizes. The
    band shows the interval of the exponent, with all lines through the middle of the fitted sizes.
    """
    rows = data["rows"]
    runs = [row for row in rows if row["kind"] == "run" and row["amount"] > 0]
    costs = [cost for cost in COSTS if any(row["cost"] == cost for row in runs)] or ["examples"]
    looks = styles_of(row["learner"] for row in rows if "learner" in row)
    figure, axes = panels(len(costs), ax=ax, width=width)
    for panel, cost in zip(axes, costs, strict=True):
        title, unit = TITLES[cost]
        panel.set(title=title, ylabel=unit)
        bounds = bound_points(rows, cost)
        spent = [row for row in runs if row["cost"] == cost]
        cost_axis(panel, [*(row["amount"] for row in spent), *(y for _, y in bounds)])
        size_axis(panel, data["places"], data["parameter"], log=True)
        if bounds:
            x, y = zip(*bounds, strict=True)
            panel.plot(x, y, "--", color=BOUND_COLOUR, linewidth=1.6, label=CERTIFIED)
        laws = {row["learner"]: row for row in rows if row["kind"] == "law" and row["cost"] == cost}
        for place, (name, look) in enumerate(looks.items()):
            shift = dodge(panel, place, len(looks))
            own = [row for row in spent if row["learner"] == name]
            for fitted in (True, False):
                points = {(r["place"], r["amount"]) for r in own if r["fitted"] is fitted}
                if points:
                    face = look.colour if fitted else "none"
                    x, y = zip(*sorted(points), strict=True)
                    panel.plot(x, y, **look.point, markerfacecolor=face, transform=shift)
            if name in laws:
                _draw_law(panel, laws[name], own, look)
    handles = [entry(legible_name(name), look) for name, look in looks.items()]
    if any(bound_points(rows, cost) for cost in costs):
        handles.append(entry("certified", Look(colour=BOUND_COLOUR, marker="", line="--")))
    legend_below(figure, axes, handles)
    return captioned(figure, _scaling_caption(data, costs), data)


def _draw_law(ax: Axes, law: Data, runs: list[Data], look: Look) -> None:
    """Draw a power law over the sizes that it is fitted to, with the band of its interval."""
    fitted = sorted({row["place"] for row in runs if row["fitted"]})
    if law["exponent"] is None or not fitted:
        return
    logs = np.log(fitted)
    x = np.linspace(logs[0], logs[-1], _POINTS)
    height = law["log_constant"] + law["exponent"] * logs.mean()
    slopes = [law[name] for name in ("low", "exponent", "high")]
    low, middle, high = np.exp(height + np.outer(slopes, x - logs.mean()))
    ax.plot(np.exp(x), middle, look.line, color=look.colour)
    ends = np.minimum(low, high), np.maximum(low, high)
    ax.fill_between(np.exp(x), *ends, color=look.colour, alpha=0.15, linewidth=0)


def _scaling_caption(data: Data, costs: Sequence[str]) -> Iterable[str]:
    rows, parameter = data["rows"], legible_name(data["parameter"])
    yield f"Growth of costs on {legible_name(data['spec'], 80)}, {data['seeds']} seeds."
    yield "Filled marks: sizes with every seed solved, which are fitted; hollow: other sizes."
    yield "Lines: power laws over the fitted sizes, with 95 % intervals;"
    yield "they say nothing of larger sizes."
    for cost in costs:
        laws = [
            f"{legible_name(row['learner'], 24)} {_law(row, parameter)}"
            for row in rows
            if row["kind"] == "law" and row["cost"] == cost
        ]
        laws += [
            f"certified {parameter}^{row['exponent']:.2f}"
            for row in rows
            if row["kind"] == "certified law"
            and row["cost"] == cost
            and row["exponent"] is not None
        ]
        if laws:
            yield f"{cost.capitalize()}: {'; '.join(laws)}."


def _law(row: Data, parameter: str) -> str:
    if row["exponent"] is None:
        return "no fit"
    return f"{parameter}^{row['exponent']:.2f} [{outward(row['low'], row['high'], '.2f')}]"


def attacks_rows(comparison: Comparison) -> Data:
    """Make rows of the seconds of each learner and the estimated bits of each attack, by size.

    The kind of a row is "measured" for a learner, and "estimated" for an attack.
    """
    measured = [
        {
            "kind": "measured",
            "learner": short_name(comparison, cell.learner),
            "value": write(cell.value),
            "seconds": cell.enough["seconds"],
            "solved": cell.solved,
            "runs": cell.runs,
        }
        for cell in comparison.cells
    ]
    estimated = [
        {"kind": "estimated", "attack": estimate.name, "value": write(value), "bits": estimate.rop}
        for value, spec in zip(comparison.values, comparison.specs, strict=True)
        for estimate in estimate_all(
            parameters_of(parse_stored(spec)), spec, only=tuple(_LEARNER)
        ).estimates
        if estimate.rop is not None
    ]
    return {**head(comparison), "rows": measured + estimated}


@styled
def attacks(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw measured seconds, hollow unless most runs solved, and estimated operations."""
    measured = [row for row in data["rows"] if row["kind"] == "measured"]
    estimated = [row for row in data["rows"] if row["kind"] == "estimated"]
    looks = styles_of(row["learner"] for row in measured)
    models = {row["attack"]: _model(row["attack"]) for row in estimated}
    figure, [left, right] = panels(2, ax=ax, width=width, ratio=0.7)
    places = dict(zip(data["values"], data["places"], strict=True))
    left.set(title="Measured", ylabel="time (s)")
    cost_axis(left, [row["seconds"] for row in measured])
    right.set(title="Estimated", ylabel="log2 of operations (bits)")
    for panel in (left, right):
        size_axis(panel, data["places"], data["parameter"])
    for name, look in looks.items():
        of_name = [row for row in measured if row["learner"] == name and row["seconds"] > 0]
        x, y = [places[row["value"]] for row in of_name], [row["seconds"] for row in of_name]
        left.plot(x, y, look.line, color=look.colour, label=legible_name(name))
        for solved in (True, False):
            marked = [row for row in of_name if (2 * row["solved"] > row["runs"]) is solved]
            x, y = [places[row["value"]] for row in marked], [row["seconds"] for row in marked]
            left.plot(x, y, **look.point, markerfacecolor=look.colour if solved else "none")
    for name, look in models.items():
        of_name = [row for row in estimated if row["attack"] == name]
        x, y = [places[row["value"]] for row in of_name], [row["bits"] for row in of_name]
        right.plot(x, y, **{**look.point, "linestyle": look.line}, label=name)
    handles = [entry(legible_name(name), look) for name, look in looks.items()]
    handles += [entry(f"{name} (estimated)", look) for name, look in models.items()]
    legend_below(figure, [left, right], handles)
    caption = [
        f"Attacks on {legible_name(data['spec'], 80)}, {data['seeds']} seeds.",
        "Measured: seconds that two of three runs stayed within, hollow where at most half of",
        "the runs solved. Estimated: operations by formulas; one colour is one attack.",
    ]
    return captioned(figure, caption, data)


def _model(attack: str) -> Look:
    """Return the look of an estimate: that of the learner that runs the attack, with dashes."""
    look = style_of(_LEARNER.get(attack, attack))
    return Look(colour=look.colour, marker=look.marker, line="--")
