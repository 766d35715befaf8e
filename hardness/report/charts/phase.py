"""The phase diagram: where each learner solves, over two parameters, beside what is certified."""

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
from hardness.report.style import Data, captioned, legend_below, panels, shown, styled
from hardness.runs.certified import certificate_of, number, query_bound, terms_of
from hardness.runs.groups import Plane
from hardness.runs.names import brief_spec, short
from hardness.runs.registry import LEARNERS
from hardness.runs.run import Run
from instances import numbers
from instances.numbers import brief, write

SHARE = Fraction(2, 3)  # of the runs that must pass: the success probability of the bounds
QUERIES = 10**6  # the budget of queries where none is known, neither of the runs nor certified
PANELS = 6  # learners of a figure
_BOUND = "#B0590A"
_ROOM = 0.28  # inches across that a cell needs for its numbers
# The certified line, by whether it is about the learner.
_ASKS: dict[bool, Any] = {True: "-", False: "--"}


def phase_rows(plane: Plane) -> Data:
    """Give the phase diagram of a plane of runs, of its first `PANELS` learners.

    A row of the kind cell is of a learner on a spec. A cell is solved if at least `SHARE` of its
    runs solved, and partly solved if some did. Runs that the machine ended, or that could not run,
    count as not solved. A row of the kind certified is of a spec: the exact number of
    queries that a statistical-query learner must be allowed, as text. It is null if no number is
    enough; without a bound there is no row. query_budget: the budget of the runs, or `assumed` if
    none is known.
    """
    specs = tuple(plane.specs.values())
    terms = terms_of(plane.tau)
    found = {spec: certificate_of(spec, terms) for spec in specs}
    known = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    quantity = query_bound(list(known.values()))
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
        "uncertified": _uncertified(found.values(), quantity),
        "rows": [
            {"kind": CERTIFIED, "x": x, "y": y, "queries": None if n is None else write(n)}
            for (x, y), spec in places
            if quantity and spec in known
            for n in [number(known[spec], quantity, terms.success)]
        ],
    }
    queries = plane.rows[0].budget.queries
    data["query_budget"] = queries or assumed(needed(data).values())
    data["budget_given"] = queries is not None
    data["rows"] += [
        {"kind": "cell", "learner": short(name), "asks": asks(name), "x": x, "y": y, **cell}
        for name in plane.learners[:PANELS]
        for (x, y), spec in places
        if (cell := cell_of(runs.get((name, spec), []), spec))
    ]
    return data


def asks(learner: str) -> bool:
    """Return whether a learner is known to ask statistical queries alone: those here say so.

    >>> asks("queries"), asks("elimination"), asks("mine.py:Net")
    (True, False, False)
    """
    name = learner.partition(":")[0]
    return name in LEARNERS and LEARNERS[name].access == "queries"


def label(plane: Plane) -> str:
    """Write what is fixed in the specs of a plane, without defaults, as "parity:noise=0.1"."""
    return brief_spec(next(iter(plane.specs.values())), plane.x, plane.y)


def assumed(certified: Iterable[float]) -> int:
    """Assume a budget of queries that shows the bounds: the largest power of ten below one of them.

    >>> assumed([4, 160]), assumed([0, 1]), assumed([math.inf])
    (100, 1000000, 1000000)
    """
    largest = max((int(n) for n in certified if n < math.inf), default=0)
    return 10 ** (len(str(largest - 1)) - 1) if largest > 1 else QUERIES


def _uncertified(certificates: Iterable[Certificate | str], quantity: str) -> str:
    """Say why nothing is hatched, or a part of the cells cannot be."""
    whys = dict.fromkeys(one for one in certificates if isinstance(one, str))
    mixed = [] if quantity or whys else ["no bound on queries of one kind is there for all cells"]
    return next(iter([*whys, *mixed]), "")


def cell_of(rows: list[Run], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec, and say its state; None where there are none."""
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


def needed(data: Data) -> dict[tuple[str, str], float]:
    """Give the queries certified at each place (x, y) where that says something; inf: none enough.

    >>> of = {"kind": "certified", "x": "8"}
    >>> rows = [of | {"y": "2", "queries": "2"}, of | {"y": "3", "queries": "9"}]
    >>> needed({"quantity": "stat-queries", "rows": [*rows, of | {"y": "4", "queries": None}]})
    {('8', '3'): 9, ('8', '4'): inf}
    """
    found = {
        (row["x"], row["y"]): math.inf
        if row["queries"] is None
        else numbers.parse(row["queries"], int, "queries", any_size=True)
        for row in data["rows"]
        if row["kind"] == CERTIFIED
    }
    silent = {at for at, n in found.items() if n < math.inf and vacuous(data["quantity"], int(n))}
    return {at: n for at, n in found.items() if at not in silent}


@styled
def phase(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw a panel a learner: shares of runs that passed, and the edge of what is certified.

    Beyond the line the certificate asks for more queries than the budget. It is solid for learners
    that ask statistical queries alone, which the bound is about, and dashed for all others.
    """
    learners: dict[str, list[Data]] = {}
    for row in data["rows"]:
        if row["kind"] == "cell":
            learners.setdefault(row["learner"], []).append(row)
    required = needed(data)
    above = np.array(
        [[required.get((x, y), 0) > data["query_budget"] for x in data["xs"]] for y in data["ys"]]
    )
    general = data["quantity"] == "stat-queries"
    figure, axes = panels(len(learners), ax=ax, width=width, ratio=0.85)
    image = None
    for panel, (name, cells) in zip(axes, learners.items(), strict=True):
        image = _draw_cells(panel, data, cells)
        panel.set_title(shown(name, 28))
        about = general and cells[0]["asks"]
        panel.add_collection(
            LineCollection(_edges(above), colors=_BOUND, linewidths=2, linestyles=_ASKS[about])
        )
    if image is not None and ax is None:
        figure.colorbar(image, ax=axes, label="share of runs that solved", shrink=0.8)
    if above.any():
        asking = {general and cells[0]["asks"] for cells in learners.values()}
        least = "the budget" if data["budget_given"] else brief(data["query_budget"], 3)
        told = {
            True: f"certified: more queries than {least}",
            False: "the same line, not about this learner",
        }
        handles = [
            Line2D([], [], color=_BOUND, linewidth=2, linestyle=_ASKS[about], label=told[about])
            for about in (True, False)
            if about in asking
        ]
        legend_below(figure, axes, handles)
    return captioned(figure, _caption(data, bool(above.any())), data)


def _draw_cells(ax: Axes, data: Data, cells: list[Data]) -> Any:
    """Draw shares of passes as colours, with the numbers where there is room."""
    xs, ys = data["xs"], data["ys"]
    share = np.full((len(ys), len(xs)), np.nan)
    for cell in cells:
        if cell["state"] != "could not run":
            share[ys.index(cell["y"]), xs.index(cell["x"])] = cell["passed"] / cell["runs"]
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
    ax.set(xlabel=shown(data["x"]), ylabel=shown(data["y"]))
    _ticks(ax.xaxis, xs)
    _ticks(ax.yaxis, ys)
    ax.grid(visible=False)
    ax.set_facecolor("#EEEEEE")
    wide = ax.figure.get_figwidth() / min(3, max(1, len(ax.figure.axes)))  # type: ignore[union-attr]
    numbered = wide / len(xs) >= _ROOM
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
    axis.set_ticks(range(0, len(names), step), [shown(name, 12) for name in names[::step]])


def _edges(above: np.ndarray) -> list[list[tuple[float, float]]]:
    """Give the sides between cells inside and outside a region, in cells of an image."""
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
    yield f"Where learners solve {shown(data['spec'] or 'the family', 80)}: in a cell, runs that"
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
