"""The figure with both sides: queries, examples and seconds against the size, one unit a panel."""

from typing import Any

from hardness.claims import vacuous
from hardness.report.canvas import belongs, named
from hardness.report.styles import Style, styles_of

Data = dict[str, Any]
SIZE = (10.0, 4.1)
_TITLES = {
    "queries": "Statistical queries",
    "examples": "Examples",
    "seconds": "Time",
    "risk": "Risk (1 = nothing learned)",
}
_UNITS = {
    "queries": "number of queries",
    "examples": "number of examples",
    "seconds": "time (s)",
    "risk": "relative risk",
}
_HIGHEST = 10**300  # what is certified above that is not drawn
_TICKS = 8
_CLOSEST = 0.08  # of the axis, between ticks


def draw_both_sides(figure: Any, data: Data) -> None:
    """Draw a panel a cost: a mark a run, a line through the sizes that all runs solved, bounds."""
    from matplotlib.lines import Line2D

    handles: dict[str, Any] = {}
    styles = styles_of(one["learner"] for one in data["learners"])
    axes = figure.subplots(1, len(data["costs"]), squeeze=False)[0]
    for axis, cost in zip(axes, data["costs"], strict=True):
        for one in data["learners"]:
            _learner(axis, cost, one, styles[one["learner"]])
        _bound(axis, cost, data, handles)
        _finish(axis, cost, data)
    learners = {
        named(one["learner"]): _handle(styles[one["learner"]])
        for one in data["learners"]
        if any(r[cost] and r[cost] > _least(cost) for cost in data["costs"] for r in one["runs"])
    }
    if any(cell["solved"] < cell["runs"] for one in data["learners"] for cell in one["cells"]):
        hollow: Any = {"color": "0.4", "marker": "o", "markersize": 5, "markerfacecolor": "white"}
        learners["hollow: did not solve"] = Line2D([], [], linestyle="none", **hollow)
    handles |= learners  # the long lines of what is certified stand in the first column
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=2 if learners else 1,
        frameon=False,
    )


def _handle(style: Style) -> Any:
    from matplotlib.lines import Line2D

    look: Any = {"color": style.colour, "marker": style.mark, "linestyle": style.line}
    return Line2D([], [], markersize=5, linewidth=1.2, **look)


def _learner(axis: Any, cost: str, one: Data, style: Style) -> None:
    line = [c for c in one["cells"] if c["solved"] == c["runs"] and c[cost]]
    drawn = axis.plot(
        [c["place"] for c in line],
        [c[cost] for c in line],
        color=style.colour,
        linestyle=style.line,
        linewidth=1.2,
    )
    for solved in (True, False):
        chosen = [
            r for r in one["runs"] if r["solved"] is solved and r[cost] and r[cost] > _least(cost)
        ]
        drawn += axis.plot(
            [r["place"] for r in chosen],
            [r[cost] for r in chosen],
            linestyle="none",
            marker=style.mark,
            markersize=5,
            color=style.colour,
            markerfacecolor=style.colour if solved else "white",
        )
    belongs(one["learner"], *drawn)


def _least(cost: str) -> float:
    """Leave out what a log scale cannot show."""
    return 0.0 if cost == "risk" else 1e-9


def _bound(axis: Any, cost: str, data: Data, handles: dict[str, Any]) -> None:
    certified = data["certified"].get(cost)
    if not certified:
        return
    found = [
        (place, float(value))
        for place, value in zip(data["places"], map(int, certified["values"]), strict=True)
        if value < _HIGHEST and not vacuous(certified["quantity"], value)
    ]
    if not found:
        return
    places, values = [p for p, _ in found], [v for _, v in found]
    style = "--" if cost == "queries" else ":"
    marker = {"marker": "_", "markersize": 5} if len(found) == 1 else {}
    (line,) = axis.plot(places, values, color="black", linestyle=style, linewidth=1.8, **marker)
    least = [1e-9] * len(found)
    shade = axis.fill_between(places, values, least, color="black", alpha=0.08, linewidth=0)
    belongs("certified", line, shade)
    handles[certified["label"]] = line


def _finish(axis: Any, cost: str, data: Data) -> None:
    axis.set_yscale("log")
    seen = [y for line in axis.get_lines() for y in line.get_ydata() if y > _least(cost)]
    if seen:
        axis.set_ylim(min(seen) / 3, max(seen) * 3)
    axis.set_title(_TITLES[cost])
    axis.set_xlabel(f"{named(data['parameter'])} ({named(data['spec'])})")
    axis.set_ylabel(_UNITS[cost])
    axis.set_xticks(*_ticks(data["places"], data["values"]))
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)


def _ticks(places: list[float], values: list[str]) -> tuple[list[float], list[str]]:
    """Leave out ticks whose names would touch.

    >>> _ticks([25.0, 50.0, 100.0, 400.0], ["25", "50", "100", "400"])
    ([25.0, 100.0, 400.0], ['25', '100', '400'])
    """
    step = -(-len(places) // _TICKS)
    apart = _CLOSEST * (max(places) - min(places)) if places else 0.0
    kept: list[tuple[float, str]] = []
    for place, value in sorted(zip(places[::step], values[::step], strict=True)):
        if not kept or place - kept[-1][0] >= apart:
            kept.append((place, value))
    return [place for place, _ in kept], [value for _, value in kept]
