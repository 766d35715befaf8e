"""The figure of both sides, of runs and of thresholds, and what figures of comparisons share."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hardness.bounds.quantities import vacuous
from hardness.oracles import Usage
from hardness.report.comparison import ASKER, fit_rows, power, short_name
from hardness.report.plot import Axis, Data, named, panels, plot
from hardness.report.style import BOUND, Style, styles_of
from hardness.report.vega import write
from hardness.runs.cells import COSTS, seen
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison
from hardness.runs.growth import CONFIDENCE
from hardness.runs.least import Least
from hardness.runs.names import Value
from instances import numbers
from instances.errors import UsageError

TITLES = {
    "queries": ("Statistical queries", "number of queries"),
    "examples": ("Examples", "number of examples"),
    "values": ("Membership queries", "number of chosen tokens"),
    "seconds": ("Time", "time (s)"),
    "risk": ("Risk (1 = nothing learned)", "relative risk"),
}
FREE = "membership queries: only the information floor, of labels, binds learners that ask them"
CERTIFIED = "certified"  # the series of what is certified
DASHED = Style(colour=BOUND, dash=(6, 3), marks=("line",), thick=1.35, shown=False)
DOTTED = Style(colour=BOUND, dash=(1, 3), marks=("line",), thick=1.35, shown=False)
_LINES = {"queries": ("dashed", DASHED), "examples": ("dotted", DOTTED)}
# Upwards from where it stands: what is needed is more, and not known.
ARROW = "M0,0L0,-3.5M-.8,-2.5L0,-3.5L.8,-2.5"
_KINDS: dict[str, Data] = {
    CERTIFIED: {},
    "run": {"marks": ("point",)},
    "enough": {"marks": ("line",)},
    "least": {"marks": ("interval", "line", "point")},
    "more": {"marks": ("point",), "shape": ARROW},
}
SEEN = {
    "tokens": "the tokens",
    "z": "z, the product of the tokens",
    "queries": "answers to queries",
}


def head(comparison: Comparison | Least, values: Iterable[Value] | None = None) -> Data:
    """Say of which comparison the rows of a figure are, over which of its sizes."""
    every = comparison.values if values is None else values
    sizes = [value for value in every if value is not None]
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "values": [numbers.write(value) for value in sizes],
        "places": [float(value) for value in sizes],
    }


def about(data: Data) -> str:
    """Write the title of a figure of a comparison."""
    return f"{named(data['spec'], 80)}, {data['seeds']} seeds"


def sizes(data: Data, scale: Any = "linear") -> Axis:
    """Return the axis of sizes, with ticks at those that do not stand on one another."""
    places = sorted(data["places"])
    kept = list(places)
    if scale == "log":
        kept = []
        for place in places:
            apart = math.log(places[-1] / places[0]) / 8
            if not kept or math.log(place / kept[-1]) > apart:
                kept.append(place)
    return Axis("place", named(data["parameter"]), scale=scale, ticks=kept, holds=places)


def both_sides(comparison: Comparison, kind: str = "svg") -> bytes:
    """Draw the figure as svg, png or pdf."""
    return write(draw_both_sides(of_both_sides(comparison)), kind)


def of_both_sides(comparison: Comparison, *thresholds: Least) -> Data:
    """Give what every run spent, what two thirds of a learner's runs stayed within, and bounds.

    Rows are of the kind run, enough (a learner at a size), certified (a cost at a size: its
    value is text, for it may be of any size, and null where no number is enough), or least, see
    `of_least`. Runs may be missing: a learner may lack sizes, and have other numbers of seeds than
    others. Of a learner and a cost that have thresholds, these are shown alone.
    """
    costs: list[str] = [*COSTS] if comparison.learners else [*COSTS[:2]]  # bounds are not on time
    if comparison.learners and not any(run.usage.values for run in comparison.runs):
        costs.remove("values")
    # Where nobody asks queries, the risk is the news.
    asked = bool(comparison.certificates) or any(run.usage.queries for run in comparison.runs)
    terms, needed = comparison.terms, _needed_rows(comparison, thresholds)
    bound = {row["cost"] for row in needed if row["kind"] == CERTIFIED}
    return {
        **head(comparison),
        "costs": costs if asked else ["risk", *costs[1:]],
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "rows": [
            *(
                {
                    "kind": "run",
                    "learner": short_name(comparison, name),
                    "place": float(value),
                    "seed": run.seed,
                    "solved": run.solved,
                    **{cost: float(getattr(run.usage, cost)) for cost in costs},
                    "risk": run.risk.value if run.risk else None,
                }
                for name in comparison.learner_names
                for value in comparison.values
                for run in comparison.of(name, value)
            ),
            *(
                {
                    "kind": "enough",
                    "learner": short_name(comparison, cell.learner),
                    "place": float(cell.value),
                    "solved": cell.solved == cell.runs,
                    **{cost: float(cell.enough[cost]) for cost in COSTS if cost in costs},
                    "risk": cell.risk,
                }
                for cell in comparison.cells
            ),
            *needed,
            *(row for row in _certified(comparison) if row["cost"] not in bound),
        ],
    }


def of_least(*found: Least) -> Data:
    """Give the median threshold of a learner at a size with its interval, and what is certified.

    Rows are of the kind least: the median with its interval from low to high, null where most
    instances, or too many, have no threshold within the most of a run; over: how many have none.
    Raises UsageError for thresholds of one size, or of several families.
    """
    first = found[0]
    return {**head(first), "costs": [c for c in COSTS if c in {one.unit for one in found}]} | {
        "tau": str(first.terms.tau),
        "risk": str(first.terms.risk),
        "success": str(first.terms.success),
        "growth": [said for one in found for said in _grown(one)],
        "rows": _needed_rows(first, found),
    }


def _grown(found: Least) -> list[str]:
    """Write the exponents of thresholds with their intervals, and those that are certified."""
    said = [f"{who} {law}" for who, _, _, law, _ in fit_rows(found)]
    certified = [power(found.parameter, one.exponent) for one in found.scaling.certified]
    return [*said, *(f"certified {one}" for one in certified if one != "-")] if said else []


def _needed_rows(first: Comparison | Least, found: Iterable[Least]) -> list[Data]:
    """Lay thresholds of one family out, the certified numbers of their terms with them."""
    rows: list[Data] = []
    for one in found:
        if (one.spec, one.parameter) != (first.spec, first.parameter) or not one.parameter:
            raise UsageError(
                f"thresholds of {one.spec[:100]} over {one.parameter or 'no parameter'} given: "
                "they are drawn over a parameter, beside others of the same SPEC"
            )
        asked = Usage(examples=0, queries=one.unit == "queries", seconds=0.0, peak_bytes=0)
        for cell in one.cells:
            low, high = cell.interval
            rows.append(
                {
                    "kind": "least",
                    "learner": short_name(one, cell.learner),
                    "sees": seen(cell.learner, cell.spec, asked),
                    "cost": one.unit,
                    "place": float(cell.value or 0),
                    "least": cell.least,
                    "low": low,
                    "high": high,
                    "confidence": round(float(cell.confidence), 3),
                    "over": sum(not t.high for t in cell.thresholds),
                    "seeds": len(cell.thresholds),
                }
            )
        terms = {"risk": str(one.terms.risk), "success": str(one.terms.success)}
        rows += [
            {
                "kind": CERTIFIED,
                "cost": one.unit,
                "quantity": one.quantity,
                "place": float(value or 0),
                "value": str(floor) if isinstance(floor, int) else None,
                **terms,
            }
            for value, floor in zip(one.values, one.floors, strict=True)
            if one.quantity
        ]
    return rows


def _drawn(row: Data) -> list[Data]:
    """Give what is drawn of a threshold: a median with its interval, and an arrow where it ends."""
    least, low, high = (row[name] and max(row[name], 1) for name in ("least", "low", "high"))
    low = max(low or 0, 1)
    own = {**row, row["cost"]: least, "solved": True}
    found = [{**own, "low": low if least else None, "high": (high or least) if least else None}]
    return found if high else [*found, {**own, "kind": "more", row["cost"]: least or low}]


def _certified(comparison: Comparison) -> list[Data]:
    if len(comparison.certificates) != len(comparison.values):
        return []
    every = {
        "queries": query_bound(comparison.certificates) or "csq-queries",
        "examples": "information-floor",
    }
    return [
        {
            "kind": CERTIFIED,
            "cost": cost,
            "quantity": quantity,
            "place": float(size),
            "value": None if value is None else str(value),
        }
        for cost, quantity in every.items()
        for size, value in zip(comparison.values, comparison.bounds(quantity), strict=False)
    ]


def draw_both_sides(data: Data) -> Data:
    """Draw a panel a cost: a mark a run, a line through the sizes that all runs solved, bounds.

    Filled marks are runs whose risk passed, whatever they ended with, hollow ones are runs whose
    risk did not: their cost is what they spent, no measure of what is needed.
    """
    costs = data["costs"]
    needed = [row for row in data["rows"] if row["kind"] == "least"]
    known = {(row["learner"], row["cost"]) for row in needed}
    rows = [
        {
            **row,
            **{c: row.get(c) if (row["learner"], c) not in known else None for c in costs},
            "learner": named(row["learner"]),
        }
        for row in data["rows"]
        if row["kind"] == "run" or (row["kind"] == "enough" and row["solved"])
    ]
    rows += [{**one, "learner": named(row["learner"])} for row in needed for one in _drawn(row)]
    certified = {cost: shown_bounds(data["rows"], cost) for cost in costs}
    styles = styles_of(dict.fromkeys(row["learner"] for row in rows))
    shown = {"learner": "learner", "seed": "seed", "risk": "risk", "solved": "solved"}
    if needed:
        shown |= {"at least": "low", "at most": "high", "without": "over"}
    charts = {
        cost: plot(
            [*certified[cost], *(row for row in rows if row.get("cost", cost) == cost)],
            x=sizes(data),
            y=Axis(cost, TITLES[cost][1], scale="log"),
            by="learner",
            styles={CERTIFIED: _LINES.get(cost, ("", DASHED))[1], **styles},
            kinds=_KINDS,
            hollow="solved",
            told={**shown, named(data["parameter"]): "place", TITLES[cost][1]: cost},
            title=TITLES[cost][0],
        )
        for cost in costs
    }
    hollow = any(row["kind"] == "run" and not row["solved"] for row in rows)
    notes = _told(needed)
    notes += ["hollow: runs that did not solve, at what they spent"] if hollow else []
    notes += [
        f"{look}: {_needed(data, cost, certified[cost][0])}"
        for cost, (look, _) in _LINES.items()
        if certified.get(cost)
    ]
    notes += [FREE] if charts.get("values") else []
    fitted = f"fitted over these sizes ({CONFIDENCE:.0%} interval)"
    notes += [f"{fitted}: {named(one)}" for one in data.get("growth", ())]
    title = named(data["spec"], 80)
    return panels(*charts.values(), title=title, notes=notes, pick="learner")


def _told(needed: list[Data]) -> list[str]:
    """Say what marks of thresholds are, and what their learners see."""
    if not needed:
        return []
    sees: dict[str, dict[str, None]] = {}
    for row in needed:
        sees.setdefault(row["sees"], {})[named(row["learner"])] = None
    views = "; ".join(f"{', '.join(names)}: {SEEN.get(v, v)}" for v, names in sees.items())
    chance = min(row["confidence"] for row in needed)
    said = [
        f"marks: the least with which a run passes, median of {needed[0]['seeds']} instances; "
        f"bars: its interval ({chance:.1%})",
        f"what they see: {views}",
    ]
    if any(row["high"] is None for row in needed):
        said.insert(
            1, "arrows: more, for too many instances have no least within the most of a run"
        )
    return said


def shown_bounds(rows: Iterable[Mapping[str, Any]], cost: str) -> list[Data]:
    """Take what is certified of a cost and says something, as rows of that column."""
    return [
        {**row, "learner": CERTIFIED, cost: int(row["value"])}
        for row in rows
        if row["kind"] == CERTIFIED and row["cost"] == cost and row["value"] is not None
        if not vacuous(row["quantity"], int(row["value"]))
    ]


def _needed(data: Data, cost: str, row: Data) -> str:
    risk, success = (row.get(name, data[name]) for name in ("risk", "success"))
    terms = f"(certified: risk {risk}, success {success})"
    if cost == "examples":
        return f"labels that any learner needs {terms}"
    within = f"worst answers within {data['tau']} {terms}"
    return f"queries that {ASKER[row['quantity']]} needs, {within}"
