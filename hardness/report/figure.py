"""The figure with both sides: queries, examples and seconds against the size, one unit a panel."""

from typing import Any

from hardness.compare.both import Comparison
from hardness.compare.run import Run
from hardness.report.canvas import STYLES, named, render
from hardness.report.summary import ASKER, COSTS, Cell, bounds, cells, query_bound, short_name
from hardness.upper import LEARNERS, Outcome
from instances.parameters import plain

_TITLES = {
    "queries": "Statistical queries",
    "examples": "Examples",
    "seconds": "Seconds",
    "risk": "Risk (1 = nothing learned)",
}


def both_sides(comparison: Comparison, kind: str = "svg") -> bytes:
    """Draw the figure as svg, png or pdf; the same bytes for the same comparison.

    Filled marks are runs that solved the instance, hollow ones are runs that did not: their cost is
    what they spent, no measure of what is needed.
    """
    return render((10, 4.1), kind, lambda figure: _build(figure, comparison))


def _build(figure: Any, comparison: Comparison) -> None:
    axes: Any = figure.subplots(1, 3)
    every = cells(comparison)
    handles: dict[str, Any] = {}
    asked = bool(comparison.certificates) or any(run.usage.queries for run in comparison.runs)
    panels = COSTS if asked else ("risk", *COSTS[1:])  # where nobody asks, the risk is the news
    for axis, panel in zip(axes, panels, strict=True):
        _panel(axis, panel, comparison, every, handles)
    shown = [named(short_name(comparison, name)) for name in comparison.learner_names]
    handles = {k: handles[k] for k in sorted(handles, key=lambda k: k not in shown)}
    if any(c.solved < c.runs for c in every):
        from matplotlib.lines import Line2D

        hollow: Any = {
            "color": "0.4",
            "marker": "o",
            "markersize": 5,
            "markerfacecolor": "white",
        }
        handles["hollow: did not solve"] = Line2D([], [], linestyle="none", **hollow)
    # The long lines of what is certified stand in one column, or they would not fit.
    order = sorted(handles, key=lambda name: "certified" not in name)
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="outside lower center",
        ncols=2,
        frameon=False,
    )


def _panel(
    axis: Any, cost: str, comparison: Comparison, every: list[Cell], handles: dict[str, Any]
) -> None:
    values = [float(value) for value in comparison.values]
    for learner, (colour, mark) in _styles(comparison.learner_names).items():
        mine = [c for c in every if c.learner == learner]
        points = [
            (float(value), spent(run, cost), run.outcome is Outcome.SOLVED)
            for value in comparison.values
            for run in comparison.of(learner, value)
        ]
        points = [p for p in points if p[1] > _least(cost)]
        if not points:
            continue
        line = [c for c in mine if c.solved == c.runs]
        axis.plot(
            [float(c.value) for c in line],
            [c.cost(cost) for c in line],
            color=colour,
            linewidth=1.2,
        )
        for solved in (True, False):
            chosen = [p for p in points if p[2] is solved]
            axis.plot(
                [p[0] for p in chosen],
                [p[1] for p in chosen],
                linestyle="none",
                marker=mark,
                markersize=5,
                color=colour,
                markerfacecolor=colour if solved else "white",
            )
        if learner not in handles:
            from matplotlib.lines import Line2D

            handles[named(short_name(comparison, learner))] = Line2D(
                [], [], color=colour, marker=mark, markersize=5, linewidth=1.2
            )
    terms = comparison.terms
    if cost == "queries":
        bound = query_bound(comparison)
        label = (
            f"queries {ASKER[bound]} must be allowed, worst answers within {float(terms.tau):g} "
            f"(certified: risk {terms.risk}, success {terms.success})"
        )
        _bound(axis, comparison, bound, label, handles, "--")
    elif cost == "examples":
        _bound(
            axis,
            comparison,
            "information-floor",
            "examples that any learner must be allowed (certified: same terms)",
            handles,
            ":",
        )
    axis.set_yscale("log")
    seen = [y for line in axis.get_lines() for y in line.get_ydata() if y > _least(cost)]
    if seen:
        axis.set_ylim(min(seen) / 3, max(seen) * 3)
    axis.set_title(_TITLES[cost])
    axis.set_xlabel(f"{comparison.parameter} ({comparison.spec})")
    axis.set_ylabel("relative risk" if cost == "risk" else cost)
    axis.set_xticks(
        values if len(values) <= 8 else values[:: -(-len(values) // 8)],
        [plain(v) for v in comparison.values][:: 1 if len(values) <= 8 else -(-len(values) // 8)],
    )
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)


def spent(run: Run, cost: str) -> float:
    """Return a run's cost in one resource, or its risk; 0 where that was not measured."""
    if cost == "risk":
        return run.risk.value if run.risk else 0.0
    return float(getattr(run.usage, cost))


def _least(cost: str) -> float:
    """Leave out what a log scale cannot show."""
    return 0.0 if cost == "risk" else 1e-9


def _bound(
    axis: Any,
    comparison: Comparison,
    quantity: str,
    label: str,
    handles: dict[str, Any],
    style: str,
) -> None:
    certified = bounds(comparison, quantity)
    found = [
        (float(comparison.values[i]), float(b)) for i, b in enumerate(certified) if 0 < b < 10**300
    ]
    if not found:
        return
    (line,) = axis.plot(
        [v for v, _ in found], [b for _, b in found], color="black", linestyle=style, linewidth=1.8
    )
    axis.fill_between(
        [v for v, _ in found],
        [b for _, b in found],
        [1e-9] * len(found),
        color="black",
        alpha=0.08,
        linewidth=0,
    )
    handles[label] = line


def _styles(learners: list[str]) -> dict[str, tuple[str, str]]:
    """Give a learner the same colour and mark in every figure, whoever stands beside it."""
    names = list(LEARNERS)
    taken: dict[int, str] = {}
    for learner in learners:
        base = learner.partition(":")[0]
        place = names.index(base) if base in names else len(names)
        while place in taken:
            place += 1
        taken[place] = learner
    return {learner: STYLES[place % len(STYLES)] for place, learner in taken.items()}
