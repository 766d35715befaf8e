"""The figures of comparisons and thresholds, with functions that figures of comparisons share."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hardness.bounds.quantities import vacuous
from hardness.report.comparison import LEARNER_OF, fit_rows, power, short_name
from hardness.report.style import (
    BOUND_COLOUR,
    LARGEST_DRAWN,
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
    styled,
    styles_of,
)
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison
from hardness.runs.growth import CONFIDENCE
from hardness.runs.least import Least
from hardness.runs.names import Value
from hardness.runs.run import COSTS
from instances import numbers
from instances.errors import UsageError
from instances.spec import kind_of

TITLES = {
    "queries": ("Statistical queries", "number of queries"),
    "examples": ("Examples", "number of examples"),
    "values": ("Membership queries", "number of chosen inputs"),
    "seconds": ("Time", "time (s)"),
    "risk": ("Risk (1: the baseline)", "relative risk"),
}
ONLY_LABEL_BOUND = (
    "Only the information-theoretic bound, on labels, binds learners by membership queries."
)
CERTIFIED = "certified"  # the kind of rows of certified bounds
LINES: dict[str, tuple[str, Any]] = {"queries": ("Dashed", "--"), "examples": ("Dotted", ":")}
VIEW_WORDS = {  # what learners of a view see, in captions
    "tokens": "the tokens",
    "z": "z, the product of the tokens",
    "queries": "answers to queries",
}


def head(comparison: Comparison | Least, values: Iterable[Value] | None = None) -> Data:
    """Make the head of a figure's data: the comparison and its sizes, or some of them."""
    chosen = comparison.values if values is None else values
    sizes = [value for value in chosen if value is not None]
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "values": [numbers.write(value) for value in sizes],
        "places": [float(value) for value in sizes],
    }


def both_sides_rows(comparison: Comparison, *thresholds: Least) -> Data:
    """Make the data of the figure of both sides: costs of learners, and certified bounds.

    A row of kind "run" is a run. A row of kind "enough" has the costs that two thirds of a
    learner's runs at a size stayed within. A row of kind "certified" has the bound on a cost at a
    size, as text, or null if no number suffices. Rows of kind "least" are as in `least_rows`. If a
    learner and a cost have thresholds, only these are drawn. Learners may lack sizes or seeds.
    """
    costs: list[str] = [*COSTS] if comparison.learners else [*COSTS[:2]]  # bounds are not on time
    if comparison.learners and not any(run.membership_queries for run in comparison.runs):
        costs.remove("values")
    terms, needed = comparison.terms, _needed_rows(comparison, thresholds)
    bounded = {row["cost"] for row in needed if row["kind"] == CERTIFIED}
    certified = [row for row in _certified(comparison) if row["cost"] not in bounded]
    # If the panel of queries would be empty, a panel of the risk replaces it.
    has_queries = (
        any(run.queries for run in comparison.runs)
        or any(row["cost"] == "queries" for row in needed)
        or bool(bound_points(certified, "queries"))
        or not comparison.learners
    )
    return {
        **head(comparison),
        "costs": costs if has_queries else ["risk", *costs[1:]],
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
                    **{cost: float(run.used(cost)) for cost in costs},
                    "risk": run.risk if run.risk is not None else None,
                }
                for name in comparison.learner_names
                for value in comparison.values
                for run in comparison.runs_of(name, value)
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
            *certified,
        ],
    }


def least_rows(*thresholds: Least) -> Data:
    """Make the data of the figure of thresholds: medians with intervals, and certified bounds.

    A row of kind "least" is of a learner at a size: the median `least`, and its interval from `low`
    to `high`. `least` and `high` are null if too many instances have no threshold. over: how many
    have none.
    Raises UsageError for thresholds of one size, or of several families.
    """
    first, units = thresholds[0], {least.unit for least in thresholds}
    return {**head(first), "costs": [cost for cost in COSTS if cost in units]} | {
        "tau": str(first.terms.tau),
        "risk": str(first.terms.risk),
        "success": str(first.terms.success),
        "growth": [law for least in thresholds for law in _growth_texts(least)],
        "rows": _needed_rows(first, thresholds),
    }


def _growth_texts(thresholds: Least) -> list[str]:
    """Write the exponents of thresholds with their intervals, and the certified exponents."""
    laws = [f"{learner} {law}" for learner, _, _, law, _ in fit_rows(thresholds)]
    growths = thresholds.scaling.certified
    certified = [power(thresholds.parameter, growth.exponent) for growth in growths]
    return [*laws, *(f"certified {law}" for law in certified if law != "-")] if laws else []


def _needed_rows(first: Comparison | Least, searched: Iterable[Least]) -> list[Data]:
    """Make rows of thresholds, and of the certified bounds at their terms.

    Raises UsageError if they are not over the spec and parameter of `first`.
    """
    rows: list[Data] = []
    for least in searched:
        if (least.spec, least.parameter) != (first.spec, first.parameter) or not least.parameter:
            raise UsageError(
                "thresholds are drawn over a parameter, beside others of the same SPEC, got "
                f"{least.spec[:100]} over {least.parameter or 'no parameter'}"
            )
        for cell in least.cells:
            low, high = cell.interval
            rows.append(
                {
                    "kind": "least",
                    "learner": short_name(least, cell.learner),
                    "sees": cell.view,
                    "cost": least.unit,
                    "place": float(cell.value or 0),
                    "least": cell.least,
                    "low": low,
                    "high": high,
                    "confidence": round(float(cell.confidence), 3),
                    "over": sum(not t.high for t in cell.thresholds),
                    "seeds": len(cell.thresholds),
                }
            )
        terms = {"risk": str(least.terms.risk), "success": str(least.terms.success)}
        rows += [
            {
                "kind": CERTIFIED,
                "cost": least.unit,
                "quantity": least.quantity,
                "place": float(value or 0),
                "value": str(floor) if isinstance(floor, int) else None,
                **terms,
            }
            for value, floor in zip(least.values, least.floors, strict=True)
            if least.quantity
        ]
    return rows


def _certified(comparison: Comparison) -> list[Data]:
    if len(comparison.certificates) != len(comparison.values):
        return []
    quantities = {
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
        for cost, quantity in quantities.items()
        for size, value in zip(comparison.values, comparison.bounds(quantity), strict=False)
    ]


@styled
def both_sides(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw a panel for each cost: a mark for each run, lines through solved sizes, and bounds.

    Filled marks are runs that solved their instance. Hollow marks are runs that did not; their cost
    is what they used, and not an estimate of what is needed.
    """
    costs, rows = data["costs"], data["rows"]
    of_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in _KINDS}
    searched = {(row["learner"], row["cost"]) for row in of_kind["least"]}
    looks = styles_of(row["learner"] for kind in _KINDS for row in of_kind[kind])
    figure, axes = panels(len(costs), ax=ax, width=width)
    for panel, cost in zip(axes, costs, strict=True):
        bounds = bound_points(rows, cost)
        spent = [
            row
            for kind in ("run", "enough")
            for row in of_kind[kind]
            if row.get(cost) is not None and (row["learner"], cost) not in searched
        ]
        needed = [row for row in of_kind["least"] if row["cost"] == cost]
        drawn_costs = [row[cost] for row in spent] + [y for _, y in bounds]
        drawn_costs += [max(row[end] or 1, 1) for row in needed for end in ("least", "low", "high")]
        panel.set(title=TITLES[cost][0], ylabel=TITLES[cost][1])
        floor = cost_axis(panel, drawn_costs, zero=cost == "risk")
        size_axis(panel, data["places"], data["parameter"])
        if bounds:
            _draw_bound(panel, cost, bounds)
        for place, (name, look) in enumerate(looks.items()):
            aside = dodge(panel, place, len(looks))
            least = floor if cost == "risk" else 0.0
            _draw_runs(panel, [r for r in spent if r["learner"] == name], cost, least, look, aside)
            _draw_needed(panel, [r for r in needed if r["learner"] == name], look, aside)
    handles = [entry(legible_name(name), look) for name, look in looks.items()]
    drawn = [cost for cost in LINES if cost in costs and bound_points(rows, cost)]
    handles += [_bound_entry(cost) for cost in drawn]
    legend_below(figure, axes, handles)
    return captioned(figure, _caption(data, of_kind, drawn), data)


@styled
def least(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw median thresholds with their intervals and certified floors, a panel for each cost."""
    figure: Figure = both_sides(data, ax=ax, width=width)
    return figure


_KINDS = ("run", "enough", "least")
_HOLLOW = 6.5  # points: size of a hollow mark, where a filled one has 4.5


def _draw_runs(ax: Axes, rows: list[Data], cost: str, floor: float, look: Look, aside: Any) -> None:
    """Draw the runs of a learner, and a line through the sizes at which all of them solved.

    Hollow marks are larger, so they are visible around a filled mark at the same point.
    """
    drawn = [{**row, cost: max(row[cost], floor)} for row in rows if max(row[cost], floor) > 0]
    line = [row for row in drawn if row["kind"] == "enough"]
    if any(row["solved"] for row in line):
        x, y = (
            [row["place"] for row in line],
            [row[cost] if row["solved"] else np.nan for row in line],
        )
        ax.plot(x, y, look.line, color=look.colour, transform=aside)
    for solved in (True, False):
        runs = [row for row in drawn if row["kind"] == "run" and row["solved"] is solved]
        if runs:
            x, y = ([row[name] for row in runs] for name in ("place", cost))
            face: Data = {} if solved else {"markerfacecolor": "none", "markersize": _HOLLOW}
            ax.plot(x, y, **look.point, **face, transform=aside)


def _draw_needed(ax: Axes, rows: list[Data], look: Look, aside: Any) -> None:
    """Draw medians with their intervals, and an arrow if the interval has no upper end."""
    known = [row for row in rows if row["least"]]
    if known:
        x, y = ([row[name] for row in known] for name in ("place", "least"))
        low = [max(row["low"] or 1, 1) for row in known]
        high = [row["high"] or row["least"] for row in known]
        ends = np.abs(np.array([low, high], float) - np.array(y, float))
        ax.errorbar(x, y, ends, **{**look.point, "linestyle": look.line}, transform=aside)
    for row in rows:
        if not row["high"]:
            place = (row["place"], row["least"] or max(row["low"] or 1, 1))
            arrow = {"arrowstyle": "<-", "color": look.colour, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", place, (0, 16), textcoords="offset points", arrowprops=arrow)


def _draw_bound(ax: Axes, cost: str, points: list[tuple[float, float]]) -> None:
    line = LINES.get(cost, LINES["queries"])[1]
    ax.plot(*zip(*points, strict=True), line, color=BOUND_COLOUR, linewidth=1.6, label=_name(cost))


def _bound_entry(cost: str) -> Line2D:
    return Line2D(
        [], [], color=BOUND_COLOUR, linestyle=LINES[cost][1], linewidth=1.6, label=_name(cost)
    )


def _name(cost: str) -> str:
    return f"certified {cost}"


def bound_points(rows: Iterable[Mapping[str, Any]], cost: str) -> list[tuple[float, float]]:
    """Return pairs of size and certified number of a cost, without vacuous and huge numbers."""
    return [
        (row["place"], float(value))
        for row in rows
        if row["kind"] == CERTIFIED and row["cost"] == cost and row["value"] is not None
        if not vacuous(row["quantity"], value := int(row["value"])) and value < LARGEST_DRAWN
    ]


def _is_vacuous(row: Mapping[str, Any]) -> bool:
    return row["value"] is not None and vacuous(row["quantity"], int(row["value"]))


def _caption(data: Data, of_kind: dict[str, list[Data]], drawn: list[str]) -> Iterable[str]:
    """Yield the sentences of the caption, which explain marks and lines."""
    runs, needed = of_kind["run"], of_kind["least"]
    about = legible_name(data["spec"], 80)
    if runs:
        yield f"Costs of learners on {about}, {data['seeds']} seeds."
        yield "Each mark is a run: filled if it solved the instance, hollow if not."
        yield f"Lines join the costs that a share {data['success']} of the runs did not exceed,"
        yield "at sizes where all of them solved."
    else:
        yield f"What learners need on {about}." if needed else f"Certified bounds for {about}."
    if needed:
        chance = min(row["confidence"] for row in needed)
        yield "The smallest number with which a run solves: median of"
        yield f"{needed[0]['seeds']} instances with its interval ({chance:.1%})."
        if any(row["high"] is None for row in needed):
            yield "Arrows: more; too many instances have no such number within the budget of a run."
        views: dict[str, dict[str, None]] = {}
        for row in needed:
            views.setdefault(row["sees"], {})[legible_name(row["learner"])] = None
        seen = "; ".join(
            f"{', '.join(names)}: {VIEW_WORDS.get(v, v)}" for v, names in views.items()
        )
        yield f"What they see: {seen}."
    for cost in drawn:
        row = next(row for row in data["rows"] if row["kind"] == CERTIFIED and row["cost"] == cost)
        risk, success = (row.get(name, data[name]) for name in ("risk", "success"))
        terms = f"relative risk {risk} with probability {success}"
        if cost == "examples":
            yield f"{LINES[cost][0]}: certified number of labels that any learner needs"
            yield f"for {terms}."
        else:
            yield f"{LINES[cost][0]}: certified number of queries that"
            yield f"{LEARNER_OF[row['quantity']]} needs for {terms}, in the worst case"
            honest = "; answers to these runs were honest, so a run may use fewer"
            yield f"over answers within {data['tau']}{honest if runs or needed else ''}."
    certified = [row for row in data["rows"] if row["kind"] == CERTIFIED]
    for cost in dict.fromkeys(row["cost"] for row in certified if row["cost"] not in drawn):
        if all(_is_vacuous(row) for row in certified if row["cost"] == cost):
            yield f"Certified {cost}: vacuous at all of these sizes."
    if not certified and kind_of(data["spec"].partition(":")[0]) is None:
        yield "Certified bounds for functions in a file are drawn with --family FILE:NAME."
    if "values" in data["costs"]:
        yield ONLY_LABEL_BOUND
    if growth := data.get("growth"):
        laws = "; ".join(map(legible_name, growth))
        yield f"Fitted over these sizes ({CONFIDENCE:.0%} intervals): {laws}."
