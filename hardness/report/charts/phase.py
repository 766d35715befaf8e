"""The phase diagram: where each learner solves, over two parameters, with certified bounds."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hardness.bounds import Certificate
from hardness.bounds.quantities import vacuous
from hardness.report.charts.runs import CERTIFIED
from hardness.report.style import Data, captioned, legend_below, legible_name, panels, styled
from hardness.runs.certified import certificate_of, number, query_bound, terms_of
from hardness.runs.groups import Plane
from hardness.runs.names import brief_spec, short
from hardness.runs.registry import LEARNERS
from hardness.runs.run import Run
from instances import numbers
from instances.numbers import brief, write

SHARE = Fraction(2, 3)  # of the runs that must solve: the success probability of the bounds
QUERIES = 10**6  # assumed budget of queries, if neither the runs nor the bounds give one
PANELS = 6  # most learners of a figure
_BOUND_COLOUR = "#B0590A"
_LEAST_CELL = 0.28  # inches: least width of a cell with numbers
# The style of the certified line, by whether the bound applies to the learner.
_LINE_STYLES: dict[bool, Any] = {True: "-", False: "--"}


def phase_rows(plane: Plane) -> Data:
    """Make the data of the phase diagram of a plane of runs, for its first `PANELS` learners.

    A row of kind "cell" is of a learner on a spec. A cell is solved if at least `SHARE` of its runs
    solved, and partly solved if some did. Runs that the machine ended, or that could not run, count
    as not solved. A row of kind "certified" is of a spec: the number of queries that a
    statistical-query learner needs, as text, or null if no number suffices. Without a bound there
    is no row. query_budget: the budget of the runs, or `assumed` if they have none.
    """
    specs = tuple(plane.specs.values())
    terms = terms_of(plane.tau)
    results = {spec: certificate_of(spec, terms) for spec in specs}
    certificates = {spec: made for spec, made in results.items() if isinstance(made, Certificate)}
    quantity = query_bound(list(certificates.values()))
    runs: dict[tuple[str, str], list[Run]] = {}
    for run in plane.rows:
        runs.setdefault((run.learner, run.spec), []).append(run)
    places = [((write(x), write(y)), spec) for (x, y), spec in plane.specs.items()]
    data: Data = {
        "spec": label(plane),
        "x": plane.x,
        "y": plane.y,
        "xs": [write(x) for x in plane.xs],
        "ys": [write(y) for y in plane.ys],
        "share": str(SHARE),
        "more": len(plane.learners[PANELS:]),
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "quantity": quantity,
        "uncertified": _uncertified(results.values(), quantity),
        "rows": [
            {"kind": CERTIFIED, "x": x, "y": y, "queries": None if n is None else write(n)}
            for (x, y), spec in places
            if quantity and spec in certificates
            for n in [number(certificates[spec], quantity, terms.success)]
        ],
    }
    queries = plane.rows[0].budget.queries
    data["query_budget"] = queries or assumed(certified_queries(data).values())
    data["budget_given"] = queries is not None
    data["rows"] += [
        {"kind": "cell", "learner": short(name), "asks": only_queries(name), "x": x, "y": y, **cell}
        for name in plane.learners[:PANELS]
        for (x, y), spec in places
        if (cell := cell_of(runs.get((name, spec), []), spec))
    ]
    return data


def only_queries(learner: str) -> bool:
    """Return whether a learner is built in and asks only statistical queries.

    >>> only_queries("queries"), only_queries("elimination"), only_queries("mine.py:Net")
    (True, False, False)
    """
    name = learner.partition(":")[0]
    return name in LEARNERS and LEARNERS[name].access == "queries"


def label(plane: Plane) -> str:
    """Write the fixed part of the specs of a plane, without defaults, as "parity:noise=0.1"."""
    return brief_spec(next(iter(plane.specs.values())), plane.x, plane.y)


def assumed(certified: Iterable[float]) -> int:
    """Choose a budget of queries that shows the bounds: the largest power of ten below the largest.

    >>> assumed([4, 160]), assumed([0, 1]), assumed([math.inf])
    (100, 1000000, 1000000)
    """
    largest = max((int(n) for n in certified if n < math.inf), default=0)
    return 10 ** (len(str(largest - 1)) - 1) if largest > 1 else QUERIES


def _uncertified(certificates: Iterable[Certificate | str], quantity: str) -> str:
    """Return the first reason why some cell has no bound on queries; empty if all have one."""
    reasons = dict.fromkeys(made for made in certificates if isinstance(made, str))
    mixed = (
        [] if quantity or reasons else ["no bound on queries of one kind is there for all cells"]
    )
    return next(iter([*reasons, *mixed]), "")


def cell_of(rows: list[Run], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec, with the state of the cell; None without runs."""
    if not rows or spec is None:
        return None
    kept = [row for row in rows if row.limited_by != "machine"]
    number = sum(row.solved for row in kept)
    state = "not solved"
    if not kept:
        state = "could not run"
    elif number >= SHARE * len(rows):
        state = "solved"
    elif number:
        state = "partly"
    return {
        "spec": spec,
        "passed": number,
        "runs": len(rows),
        "ended_by_machine": len(rows) - len(kept),
        "state": state,
    }


def certified_queries(data: Data) -> dict[tuple[str, str], float]:
    """Return the certified queries at each point (x, y) where they are not vacuous.

    The value is infinite if no number of queries suffices.

    >>> of = {"kind": "certified", "x": "8"}
    >>> rows = [of | {"y": "2", "queries": "2"}, of | {"y": "3", "queries": "9"}]
    >>> rows.append(of | {"y": "4", "queries": None})
    >>> certified_queries({"quantity": "stat-queries", "rows": rows})
    {('8', '3'): 9, ('8', '4'): inf}
    """
    queries = {
        (row["x"], row["y"]): math.inf
        if row["queries"] is None
        else numbers.parse(row["queries"], int, "queries", any_size=True)
        for row in data["rows"]
        if row["kind"] == CERTIFIED
    }
    quantity = data["quantity"]
    trivial = {at for at, n in queries.items() if n < math.inf and vacuous(quantity, int(n))}
    return {at: n for at, n in queries.items() if at not in trivial}


@styled
def phase(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw a panel for each learner: the fraction of runs that solved, and the certified line.

    Beyond the line, the certified number of queries is above the budget. It is solid for learners
    that ask only statistical queries, to which the bound applies, and dashed for others.
    """
    learners: dict[str, list[Data]] = {}
    for row in data["rows"]:
        if row["kind"] == "cell":
            learners.setdefault(row["learner"], []).append(row)
    required = certified_queries(data)
    above = np.array(
        [[required.get((x, y), 0) > data["query_budget"] for x in data["xs"]] for y in data["ys"]]
    )
    general = data["quantity"] == "stat-queries"
    figure, axes = panels(len(learners), ax=ax, width=width, ratio=0.85)
    image = None
    for panel, (name, cells) in zip(axes, learners.items(), strict=True):
        image = _draw_cells(panel, data, cells)
        panel.set_title(legible_name(name, 28))
        about = general and cells[0]["asks"]
        panel.add_collection(
            LineCollection(
                _edges(above), colors=_BOUND_COLOUR, linewidths=2, linestyles=_LINE_STYLES[about]
            )
        )
    if image is not None and ax is None:
        figure.colorbar(image, ax=axes, label="share of runs that solved", shrink=0.8)
    if above.any():
        asking = {general and cells[0]["asks"] for cells in learners.values()}
        least = "the budget" if data["budget_given"] else brief(data["query_budget"], 3)
        labels = {
            True: f"certified: more queries than {least}",
            False: "the same line, not about this learner",
        }
        handles = [
            Line2D(
                [],
                [],
                color=_BOUND_COLOUR,
                linewidth=2,
                linestyle=_LINE_STYLES[about],
                label=labels[about],
            )
            for about in (True, False)
            if about in asking
        ]
        legend_below(figure, axes, handles)
    return captioned(figure, _caption(data, bool(above.any())), data)


def _draw_cells(ax: Axes, data: Data, cells: list[Data]) -> Any:
    """Draw fractions of solved runs as colours, with the numbers if there is room."""
    xs, ys = data["xs"], data["ys"]
    share = np.full((len(ys), len(xs)), np.nan)
    for cell in cells:
        if cell["state"] != "could not run":
            share[ys.index(cell["y"]), xs.index(cell["x"])] = cell["passed"] / cell["runs"]
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
    ax.set(xlabel=legible_name(data["x"]), ylabel=legible_name(data["y"]))
    _ticks(ax.xaxis, xs)
    _ticks(ax.yaxis, ys)
    ax.grid(visible=False)
    ax.set_facecolor("#EEEEEE")
    wide = ax.figure.get_figwidth() / min(3, max(1, len(ax.figure.axes)))  # type: ignore[union-attr]
    numbered = wide / len(xs) >= _LEAST_CELL
    for cell in cells:
        dark = cell["passed"] > 0.6 * cell["runs"]
        counted = f"{cell['passed']}/{cell['runs']}" if numbered else ""
        ax.text(
            xs.index(cell["x"]),
            ys.index(cell["y"]),
            "×" if cell["state"] == "could not run" else counted,
            color="white" if dark else "black",
            fontsize=6.5,
            ha="center",
            va="center",
        )
    return image


def _ticks(axis: Any, names: Sequence[str]) -> None:
    """Put names at cells, at most ten of them."""
    step = -(-len(names) // 10)
    axis.set_ticks(range(0, len(names), step), [legible_name(name, 12) for name in names[::step]])


def _edges(above: np.ndarray) -> list[list[tuple[float, float]]]:
    """Return the segments between cells inside and outside a region, in units of cells."""
    rows, columns = above.shape
    sides = []
    for y in range(rows):
        for x in range(columns):
            if x + 1 < columns and above[y, x] != above[y, x + 1]:
                sides.append([(x + 0.5, y - 0.5), (x + 0.5, y + 0.5)])
            if y + 1 < rows and above[y, x] != above[y + 1, x]:
                sides.append([(x - 0.5, y + 0.5), (x + 0.5, y + 0.5)])
    return sides


def _caption(data: Data, bounded: bool) -> Iterable[str]:
    about = legible_name(data["spec"] or "the family", 80)
    yield f"Where learners solve {about}: in a cell, runs that"
    yield f"solved in time of all runs; a bound is about success {data['share']}. Grey: not run;"
    yield "×: could not run, or ended by the machine."
    if data["more"]:
        yield f"Not shown: {data['more']} more learners, which --where chooses."
    most = data["query_budget"]
    budget = "1 query" if most == 1 else f"{brief(most, 3)} queries"
    budget += "" if data["budget_given"] else " (assumed, as the runs have no budget of queries)"
    if bounded:
        kind = "statistical" if data["quantity"] == "stat-queries" else "correlational"
        yield f"Beyond the line {kind}-query learners need more than the budget of {budget}"
        yield f"to reach relative risk {data['risk']} with probability {data['success']},"
        yield f"in the worst case over answers within {data['tau']}."
        yield "The bound says nothing of other learners (dashed); a solved cell"
        yield "beyond it contradicts nothing, since answers to the runs were honest."
    elif data["uncertified"]:
        yield f"No line: {data['uncertified']}."
    else:
        yield f"No line: no certified number is above the budget of {budget}."
