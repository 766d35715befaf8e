"""The drawing of a phase diagram from its numbers alone: a panel a learner, a cell a spec."""

from typing import Any

from hardness.report.canvas import belongs, named
from hardness.report.phase import Data, infeasible

SIZE = (10.0, 6.4)
_BOUND = "#B0590A"
INFEASIBLE = "certified infeasible"
# Face, ink and mark of a state; the marks tell them apart without colour. No ink is a grey or white
# that a page would turn with its theme, for the faces stay.
_LOOKS = {
    "solved": ("#0B559F", "#FCFEFF", "●"),
    "partly": ("#9BC8E8", "#0F1012", "◐"),
    "not solved": ("#F4F1EA", "#0F1012", "○"),
    "could not run": ("#DCDDDF", "#0F1012", "×"),
}


def draw_phase(figure: Any, data: Data) -> None:
    """Draw a panel a learner; hatched where a bound says that its budget of queries is too small.

    Learners that ask statistical queries alone are hatched. The others, of which the bound says
    nothing, have the edge of that region alone, dashed.
    """
    number = max(len(data["learners"]), 1)
    columns = number if number < 4 else -(-number // 2)
    every = figure.subplots(-(-number // columns), columns, squeeze=False).ravel()
    for place, axis in enumerate(every):
        if place < len(data["learners"]):
            _panel(axis, data, data["learners"][place])
        else:
            axis.remove()
    figure.suptitle(_title(data), fontsize=9)
    handles = _legend(data)
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)


def _title(data: Data) -> str:
    """Name the family, and the budget that the hatching is about."""
    shown = f"{named(data['spec'], 80)}: solved is at least {data['share']} of the runs passed"
    if any(infeasible(data, i, j) for i in range(len(data["ys"])) for j in range(len(data["xs"]))):
        whose = "that of the runs" if data["budget_given"] else "assumed, none is known of the runs"
        shown += f"\nbudget of queries {data['query_budget']:,}"
        shown += f" ({whose}); risk {data['risk']}, success {data['success']}, worst answers"
        shown += f" within {data['tau']}"
    return shown


def _panel(axis: Any, data: Data, learner: Data) -> None:
    from matplotlib.patches import Rectangle

    xs, ys = data["xs"], data["ys"]
    room = len(xs) <= 12 and len(ys) <= 10
    for i, line in enumerate(learner["cells"]):
        for j, cell in enumerate(line):
            if cell is not None:
                face, ink, mark = _LOOKS[cell["state"]]
                square = Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=face, edgecolor="#8A8A8A", lw=0.5
                )
                belongs(cell["state"], axis.add_patch(square))
                text = f"{cell['passed']}/{cell['runs']}"
                shown = text if room and cell["state"] != "could not run" else mark
                axis.text(j, i, shown, color=ink, ha="center", va="center", fontsize=8, zorder=4)
            if infeasible(data, i, j):
                _certify(axis, data, i, j, learner["asks"])
    axis.set_xlim(-0.5, len(xs) - 0.5)
    axis.set_ylim(-0.5, len(ys) - 0.5)
    step = 1 if len(xs) <= 12 else -(-len(xs) // 12)
    axis.set_xticks(range(0, len(xs), step), xs[::step])
    axis.set_yticks(range(len(ys)), ys if data["y"] else [""])
    axis.set_xlabel(data["x"])
    axis.set_ylabel(data["y"])
    axis.tick_params(length=0)
    axis.set_box_aspect(min(1.0, max(0.3, len(ys) / len(xs))))
    axis.set_title(named(learner["learner"]) + (", asks queries" if learner["asks"] else ""))


def _certify(axis: Any, data: Data, i: int, j: int, asks_queries: bool) -> None:
    """Hatch a cell, or draw those of its sides beyond which the region ends."""
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    if asks_queries and data["quantity"] == "stat-queries":
        hatched = Rectangle(
            (j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor=_BOUND, lw=0, zorder=3
        )
        belongs(INFEASIBLE, axis.add_patch(hatched))
        return
    rows, columns = len(data["ys"]), len(data["xs"])
    for di, dj in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        a, b = i + di, j + dj
        if 0 <= a < rows and 0 <= b < columns and not infeasible(data, a, b):
            centre, half = (j + dj / 2, i + di / 2), (di / 2, dj / 2)
            drawn = axis.plot(
                [centre[0] - half[0], centre[0] + half[0]],
                [centre[1] - half[1], centre[1] + half[1]],
                color=_BOUND,
                linestyle="--",
                linewidth=1.4,
                zorder=5,
                path_effects=[withStroke(linewidth=3.4, foreground="white")],
            )
            belongs(INFEASIBLE, *drawn)


def _legend(data: Data) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shares = {
        "solved": f"solved: at least {data['share']} of the runs passed",
        "partly": "partly: fewer",
        "not solved": "not solved: none passed",
        "could not run": "× could not run, or the machine ended all of them",
    }
    seen = {c["state"] for one in data["learners"] for line in one["cells"] for c in line if c}
    found: list[Any] = [
        Patch(facecolor=face, edgecolor="#8A8A8A", label=shares[state])
        for state, (face, _, _) in _LOOKS.items()
        if state in seen
    ]
    cells = [(i, j) for i in range(len(data["ys"])) for j in range(len(data["xs"]))]
    if any(infeasible(data, i, j) for i, j in cells):
        kind = "statistical" if data["quantity"] == "stat-queries" else "correlational"
        if data["quantity"] == "stat-queries" and any(one["asks"] for one in data["learners"]):
            found.append(
                Patch(
                    facecolor="white",
                    edgecolor=_BOUND,
                    hatch="////",
                    label="certified: needs more queries than the budget, worst answers",
                )
            )
        found.append(
            Line2D(
                [],
                [],
                color=_BOUND,
                linestyle="--",
                label=f"edge of that region for {kind}-query learners; no bound for this learner",
            )
        )
    return found
