"""Figures of what runs cost and what they learned: growth, risks, attacks, training."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np

from hardness.cost.attacks import estimate
from hardness.cost.problem import problem
from hardness.report.charts.runs import (
    CERTIFIED,
    DASHED,
    TITLES,
    about,
    head,
    shown_bounds,
    sizes,
)
from hardness.report.comparison import short_name
from hardness.report.plot import HIGH, MOST, WIDE, Axis, Data, decades, named, panels, plot
from hardness.report.style import Style, level, series_style, style_of, styles_of
from hardness.runs import Comparison
from hardness.runs.cells import COSTS
from hardness.runs.distinguish import implied_accuracy
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.run import Run
from instances.errors import DamagedFile, UsageError
from instances.parameters import plain
from instances.spec import parse_stored
from instances.text import outward

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
_BESIDE = (WIDE + 60, HIGH)  # pixels of one of two panels


def of_scaling(comparison: Comparison) -> Data:
    """Give what all runs cost, the fitted laws and certified numbers; raises UsageError.

    Rows are of the kind run, with whether its size is fitted; law, of a learner and cost: exponent
    with its interval, log of the constant, or why there is no fit; certified; and certified law.
    There must be a size above 0.
    """
    above = [value for value in comparison.values if value > 0]
    if not above:
        raise UsageError(
            f"no {comparison.parameter} above 0 in these results: a log axis needs one"
        )
    found = comparison.scaling
    beside = {fit.beside: fit.cost for fit in found.fits if fit.beside}
    rows: list[Data] = []
    for fit in found.fits:
        of: Data = {"learner": short_name(comparison, fit.learner), "cost": fit.cost}
        law = fit.law
        rows += [
            {
                "kind": "run",
                **of,
                "place": float(value),
                "amount": float(getattr(run.usage, fit.cost)),
                "fitted": value in fit.values,
            }
            for value in above
            for run in comparison.of(fit.learner, value)
        ]
        rows.append(
            {
                "kind": "law",
                **of,
                "exponent": law and law.exponent,
                "low": law and law.low,
                "high": law and law.high,
                "log_constant": law and law.log_constant,
                "no_fit": fit.no_fit,
            }
        )
    for one in found.certified:
        if one.quantity in beside:
            own: Data = {"cost": beside[one.quantity], "quantity": one.quantity}
            every = comparison.bounds(one.quantity)
            values = dict(zip(comparison.values, every, strict=True))
            rows += [
                {"kind": CERTIFIED, **own, "place": float(v), "value": str(values[v])}
                for v in one.values
            ]
            rows.append({"kind": "certified law", **own, "exponent": one.exponent})
    return {**head(comparison, above), "rows": rows}


def draw_scaling(data: Data) -> Data:
    """Draw costs of all runs, the fitted laws with the interval of the exponent, what is certified.

    Filled marks are of sizes at which every seed passed, and are fitted; hollow ones are not. The
    band is what the interval of the exponent allows about the middle of the fitted sizes.
    """
    learners = dict.fromkeys(named(row["learner"]) for row in data["rows"] if "learner" in row)
    charts = [_growth(data, cost, {CERTIFIED: DASHED, **styles_of(learners)}) for cost in COSTS]
    told = [chart["title"]["subtitle"] for chart in charts if chart]
    rows = data["rows"]
    fitted = any(row["kind"] == "law" and row["exponent"] is not None for row in rows)
    shown = any(shown_bounds(rows, cost) for cost in COSTS)
    certified = ["black, dashed: certified"] if shown else []
    for lines in told:  # the panels begin at one height
        lines += [" "] * (max(map(len, told)) - len(lines))
    return panels(
        *charts,
        title=about(data),
        notes=[
            *(["lines: power laws with 95 % intervals"] if fitted else []),
            "; ".join(["hollow: not fitted, a seed did not pass", *certified]),
        ],
        pick="learner",
    )


def _growth(data: Data, cost: str, styles: dict[str, Style]) -> Data:
    parameter, (title, unit) = named(data["parameter"]), TITLES[cost]
    rows = [row for row in data["rows"] if row["cost"] == cost]
    runs = [row for row in rows if row["kind"] == "run" and row["amount"] > 0]
    bounds = [{**row, "amount": row[cost]} for row in shown_bounds(rows, cost) if row[cost] < MOST]
    laws = [law for law in rows if law["kind"] == "law"]
    once = {  # what several seeds spent alike
        tuple(row.items()): row | {"learner": named(row["learner"])} for row in runs
    }
    seen = [float(row["amount"]) for row in (*runs, *bounds)]
    return plot(
        [*bounds, *(point for law in laws for point in _line(law, runs)), *once.values()],
        x=sizes(data, "log"),
        y=Axis("amount", unit, scale="log", domain=decades(seen)),
        by="learner",
        styles=styles,
        kinds={CERTIFIED: {}, "law": {"marks": ("band", "line")}, "run": {"marks": ("point",)}},
        hollow="fitted",
        told={"learner": "learner", "fitted": "fitted", parameter: "place", unit: "amount"},
        title={"text": title, "subtitle": [*_told(rows, parameter, bool(bounds))]},
    )


def _told(rows: list[Data], parameter: str, bound: bool) -> Iterator[str]:
    """Write the exponents of a panel."""
    for row in rows:
        power = None if row.get("exponent") is None else f"{parameter}^{row['exponent']:.2f}"
        if row["kind"] == "law":
            within = power and f"{power} [{outward(row['low'], row['high'], '.2f')}]"
            yield f"{named(row['learner'], 24)}: {within or 'no fit'}"
        elif row["kind"] == "certified law" and bound:
            yield f"certified: {power}" if power else "certified"


def _line(law: Data, runs: list[Data]) -> list[Data]:
    """Points of a power law over the sizes that it is fitted to, with what its interval allows."""
    fitted = {row["place"] for row in runs if row["fitted"] and row["learner"] == law["learner"]}
    if law["exponent"] is None or not fitted:
        return []
    logs = np.log(sorted(fitted))
    x = np.linspace(logs[0], logs[-1], _POINTS)
    height = law["log_constant"] + law["exponent"] * logs.mean()
    low, middle, high = np.exp(
        height + np.outer([law[name] for name in ("low", "exponent", "high")], x - logs.mean())
    )
    return [
        {
            "kind": "law",
            "learner": named(law["learner"]),
            **dict(zip(_LAW, map(float, one), strict=True)),
        }
        for one in zip(np.exp(x), middle, np.minimum(low, high), np.maximum(low, high), strict=True)
    ]


_LAW = ("place", "amount", "low", "high")


def of_risks(comparison: Comparison) -> Data:
    """Give the risks of a learner at a size: median and range over the runs, who solved, costs."""
    return {
        **head(comparison),
        "rows": [
            {
                "learner": short_name(comparison, name),
                "place": float(value),
                "runs": len(runs),
                "solved": sum(run.solved for run in runs),
                "risk": median(risks) if risks else None,
                "low": min(risks, default=None),
                "high": max(risks, default=None),
                "examples": median(run.usage.examples for run in runs) if runs else None,
                "seconds": median(run.usage.seconds for run in runs) if runs else None,
            }
            for name in comparison.learner_names
            for value in comparison.values
            for runs in [comparison.of(name, value)]
            for risks in [[run.risk.value for run in runs if run.risk]]
        ],
    }


def draw_risks(data: Data) -> Data:
    """Draw the median risk with the range over seeds, and the examples that were spent."""
    places, parameter = data["places"], named(data["parameter"])
    far = places and min(places) > 0 and max(places) >= _RATIO * min(places)
    styles = styles_of(dict.fromkeys(named(row["learner"]) for row in data["rows"]))
    ranged = {n: replace(one, marks=("band", "line", "point")) for n, one in styles.items()}
    rows = [
        {**row, "learner": named(row["learner"])}
        | {name: row[name] and max(row[name], _FLOOR) for name in ("risk", "low", "high")}
        for row in data["rows"]
    ]
    levels: list[Data] = [{"learner": "", "risk": 1.0, "says": "nothing learned"}]
    levels.append({"learner": "", "risk": SOLVED_BELOW, "says": "solved below", "dy": 9})
    told = {"learner": "learner", "median risk": "risk", "least": "low", "largest": "high"}
    told |= {"solved": "solved", "examples": "examples", parameter: "place"}
    common: Data = {"by": "learner", "told": told, "size": _BESIDE}
    common["x"] = sizes(data, "log" if far else "linear")
    return panels(
        plot(
            [*levels, *rows],
            y=Axis("risk", "relative risk", scale="log", holds=(SOLVED_BELOW, _ROOM)),
            styles={"": level(dash=(4, 3)), **ranged},
            title="What was learned",
            **common,
        ),
        plot(
            rows,
            y=Axis("examples", "number of examples, median", scale="log"),
            styles=styles,
            title="From how many examples",
            **common,
        ),
        title=about(data),
        notes=[f"median over the seeds, with their range; a run passes below {SOLVED_BELOW:g}"]
        if any(row["risk"] for row in rows)
        else ["no risk above 0: a logarithm shows none"],
        pick="learner",
    )


def of_attacks(comparison: Comparison) -> Data:
    """Give the seconds of every learner and the estimated bits of every attack, by size.

    Rows are of the kind measured, of a learner at a size, or estimated, of an attack at a size.
    """
    measured = [
        {
            "kind": "measured",
            "learner": short_name(comparison, cell.learner),
            "value": plain(cell.value),
            "seconds": cell.enough["seconds"],
            "solved": cell.solved,
            "runs": cell.runs,
        }
        for cell in comparison.cells
    ]
    estimated = [
        {"kind": "estimated", "attack": found.name, "value": plain(value), "bits": found.rop}
        for value, spec in zip(comparison.values, comparison.specs, strict=True)
        for found in estimate(problem(parse_stored(spec)), spec, only=tuple(_LEARNER)).estimates
        if found.rop is not None
    ]
    return {**head(comparison), "rows": measured + estimated}


def draw_attacks(data: Data) -> Data:
    """Draw seconds that were measured, hollow where not solved, and operations estimated."""
    parameter = named(data["parameter"])
    measured = [
        {**row, "learner": named(row["learner"]), "most": 2 * row["solved"] > row["runs"]}
        | {"passed": f"{row['solved']} of {row['runs']}"}
        for row in data["rows"]
        if row["kind"] == "measured"
    ]
    estimated = [
        row | {"learner": f"{row['attack']} (estimated)"}
        for row in data["rows"]
        if row["kind"] == "estimated"
    ]
    styles = styles_of(dict.fromkeys(row["learner"] for row in measured))
    for row in estimated:
        own = style_of(_LEARNER.get(row["attack"], row["attack"]))
        styles[row["learner"]] = replace(own, dash=(5, 3))
    common: Data = {"by": "learner", "styles": styles, "size": _BESIDE}
    common["x"] = Axis("value", parameter, scale="names", names=data["values"])
    told = {"series": "learner", parameter: "value"}
    return panels(
        plot(
            measured,
            y=Axis("seconds", "time (s)", scale="log"),
            hollow="most",
            told={**told, "seconds": "seconds", "solved": "passed"},
            title="Measured",
            **common,
        ),
        plot(
            estimated,
            y=Axis("bits", "log2 of operations (bits)"),
            told={**told, "bits": "bits"},
            title="Estimated",
            **common,
        ),
        title=about(data),
        notes=[
            "measured: what two of three runs stayed within, hollow where at most half solved",
            "estimated: operations by formulas",
        ],
        pick="learner",
    )


def of_training(comparison: Comparison) -> Data:
    """Give the points of the training curves of the runs that kept one.

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
    rows = [
        {"learner": short_name(comparison, name), "value": plain(value), "run": i, **point}
        for value in comparison.values
        for name in comparison.learner_names
        for i, curve in enumerate(_curves(comparison.of(name, value)))
        for point in curve
    ]
    if not rows:
        raise UsageError("no run in these results kept a training curve: compare with mlp")
    return {**head(comparison), "rows": rows}


def _curves(runs: Iterable[Run]) -> Iterator[list[Data]]:
    """Yield the curves of some runs; raises DamagedFile for what is no curve."""
    kept = [run.details["curve"] for run in runs if run.details.get("curve")]
    for curve in kept[:_CURVES]:
        try:
            if not all(0 <= value < math.inf for point in curve for value in point):
                raise ValueError("a value that is none of a curve")
            yield [
                {"step": step, "examples": examples, "loss": loss} for step, examples, loss in curve
            ]
        except (TypeError, ValueError) as error:
            raise DamagedFile(
                "a training curve in these results is not (step, examples, loss) a point"
            ) from error


def draw_training(data: Data) -> Data:
    """Draw the advantage that the loss implies against training steps, one line a run."""
    rows = [
        {
            "series": f"{named(row['learner'])}, {data['parameter']}={row['value']}",
            "run": row["run"],
            "step": row["step"],
            "advantage": implied_accuracy(row["loss"]) - 0.5,
        }
        for row in data["rows"]
        if row["step"] > 0
    ]
    names = dict.fromkeys(row["series"] for row in rows)
    styles = {  # a size each: the learner is mostly the same
        name: Style(colour=series_style(i).colour, shape="stroke", marks=("line",), thick=0.67)
        for i, name in enumerate(names)
    }
    chart = plot(
        [{"series": "", "advantage": 0, "says": "a coin"}, *rows],
        x=Axis("step", "number of training steps", scale="log"),
        y=Axis("advantage", "advantage implied by the loss"),
        styles={"": level(dash=(4, 3)), **styles},
        size=(2 * WIDE, HIGH + 40),
    )
    return panels(
        chart,
        title="How much better than a coin a label is predicted",
        notes=[f"{about(data)}; a line is a run"],
        pick="series",
    )
