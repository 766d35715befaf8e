"""Figures of what runs cost: growth, attacks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hardness.lwe.estimate import estimate_all
from hardness.lwe.parameters import parameters_of
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
from hardness.report.style import Style, style_of, styles_of
from hardness.runs import Comparison
from hardness.runs.cells import COSTS
from instances.errors import UsageError
from instances.numbers import outward, write
from instances.spec import parse_stored

_POINTS = 33  # of a fitted line
_LEARNER = {  # that runs what an estimate is about: both have one colour
    "bkw": "bkw",
    "brute-force": "bruteforce",
    "linear-algebra": "modlinear",
    "meet-in-the-middle": "mitm",
    "usvp": "primal",
    "restricted-elimination": "restricted",
}
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


def of_attacks(comparison: Comparison) -> Data:
    """Give the seconds of every learner and the estimated bits of every attack, by size.

    Rows are of the kind measured, of a learner at a size, or estimated, of an attack at a size.
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
        {"kind": "estimated", "attack": found.name, "value": write(value), "bits": found.rop}
        for value, spec in zip(comparison.values, comparison.specs, strict=True)
        for found in estimate_all(
            parameters_of(parse_stored(spec)), spec, only=tuple(_LEARNER)
        ).estimates
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
