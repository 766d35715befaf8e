"""Figures of in-context regression: losses and steps of linear attention by number of layers."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hardness.icl.steps import Exact, Solved
from hardness.icl.train import Curves
from hardness.report.icl import CURVES, MOST_POLYNOMIALS
from hardness.report.style import INK, Data, captioned, panels, series_look, styled
from hardness.report.text import count
from instances.disk import damage_words
from instances.errors import DamagedFile, UsageError

Rows = list[Data]
Picture = tuple[str, list[str], list[Data]]  # a title, notes and panels with their rows
_LEVELS = (":", "--", "-.", "-")  # line styles of horizontal levels, in their order


def curves_rows(data: Data) -> Data:
    """Make rows of the losses of `hardness icl curves`; raises UsageError for another study."""
    return _rows(data, Curves, "icl curves", _curves)


def steps_rows(data: Data) -> Data:
    """Make rows of the results of `hardness icl steps`; raises UsageError for another study.

    A row has a panel, a series, x and y, or low and high, and a kind, by which it is drawn.
    """
    return _rows(data, Exact, "icl steps", _exact)


def _rows(data: Data, study: Any, kind: str, collect: Callable[[Any], Picture]) -> Data:
    if data.get("format") != 1 or not str(data.get("kind")).startswith("icl "):
        raise DamagedFile("this results.json holds no study of `hardness icl ... --out DIR`")
    if data["kind"] != kind:
        raise UsageError(
            f"this is a study of `hardness {data['kind']}`: `hardness {kind}` is needed"
        )
    try:
        title, notes, parts = collect(msgspec.convert(data, study))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(
            f"this results.json is no whole study ({damage_words(error)}): make it again "
            f"with `hardness {kind} --out DIR`"
        ) from error
    rows = [{"panel": part["title"], **row} for part in parts for row in part.pop("rows")]
    return {"kind": kind, "title": title, "notes": notes, "panels": parts, "rows": rows}


@styled
def icl_curves(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw the loss against the number of layers; sampled losses have intervals."""
    return _draw(data, "Loss of linear attention by the number of layers:", ax, width)


@styled
def icl_steps(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw the best residual polynomials over the spectrum, and exact losses by layers."""
    return _draw(data, "Best steps of gradient descent by linear attention:", ax, width)


def _draw(data: Data, about: str, ax: Any, width: float | None) -> Figure:
    figure, axes = panels(len(data["panels"]), ax=ax, width=width, ratio=0.95, single=5.0)
    for panel, part in zip(axes, data["panels"], strict=True):
        rows = [row for row in data["rows"] if row["panel"] == part["title"]]
        panel.set(title=part["title"], xlabel=part["x"], ylabel=part["y"])
        names = list(dict.fromkeys(row["series"] for row in rows))
        straight = [row["series"] for row in rows if row["kind"] in ("level", "density")]
        straight = list(dict.fromkeys(straight))
        for name in names:
            of_series = [row for row in rows if row["series"] == name]
            if name in straight:
                _draw_straight(panel, name, of_series, _LEVELS[straight.index(name) % len(_LEVELS)])
            else:
                _draw_series(panel, name, of_series, names.index(name) - len(straight))
        for axis in part.get("log", ""):
            getattr(panel, f"set_{axis}scale")("log")
        for axis in part.get("whole", ""):
            getattr(panel, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))
        for axis, ends in part.get("domains", {}).items():
            getattr(panel, f"set_{axis}lim")(ends)
        panel.legend(loc="upper left", bbox_to_anchor=(0, -0.22), fontsize=7)
    return captioned(figure, [about, f"{data['title']}.", *(f"{n}." for n in data["notes"])], data)


def _draw_straight(ax: Axes, name: str, rows: Rows, line: str) -> None:
    """Draw a horizontal level, or a filled density."""
    if rows[0]["kind"] == "level":
        ax.axhline(rows[0]["y"], color=INK, linestyle=line, label=name)
        return
    x, low, high = ([row[column] for row in rows] for column in ("x", "low", "high"))
    ax.fill_between(x, low, high, step="post", color=INK, alpha=0.15, linewidth=0, label=name)


def _draw_series(ax: Axes, name: str, rows: Rows, place: int) -> None:
    """Draw a series by the kinds of its rows; only the first kind is in the legend."""
    look = series_look(max(place, 0))
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = [row for row in rows if row["kind"] == kind]
        label = name if kind == rows[0]["kind"] else None
        x = [row["x"] for row in of_kind]
        y = [math.nan if row["y"] is None else row["y"] for row in of_kind]
        if kind == "text":
            for row in of_kind:
                place_of = (row["x"], row["y"])
                ax.text(*place_of, row["says"], color=look.colour, fontsize=7, ha="right")
            continue
        marker = "" if kind in ("line", "dotted") else look.marker
        line = {"point": "none", "alone": "none", "dotted": ":"}.get(kind, "-")
        style: Any = {"color": look.colour, "marker": marker, "linestyle": line, "label": label}
        if "low" in of_kind[0]:
            ends = np.abs([[row[end] - row["y"] for row in of_kind] for end in ("low", "high")])
            ax.errorbar(x, y, ends, **style)
        else:
            ax.plot(x, y, **style)


def _series(
    name: str, kind: str, x: Iterable[Any] = (), y: Iterable[Any] = (), **ends: Iterable[Any]
) -> Rows:
    """Make the rows of a series; ends: the columns low and high, or says, the words of a text."""
    columns = {"x": list(x), "y": list(y), **{end: list(values) for end, values in ends.items()}}
    kept = {column: values for column, values in columns.items() if values}
    return [
        {"series": name, "kind": kind, **dict(zip(kept, row, strict=True))}
        for row in zip(*kept.values(), strict=True)
    ]


def _level(name: str, y: float) -> Rows:
    return _series(name, "level", y=[y])


def _panel(title: str, x: str, y: str, rows: Rows, **look: Any) -> Data:
    """Make a panel; look: the axes that are logarithmic ("log") or whole, and their "domains"."""
    return {"title": title, "x": x, "y": y, **look, "rows": rows}


def _noise(exact: Exact) -> str:
    return f", label noise {exact.noise:g}" if exact.noise else ""


def _exact(exact: Exact) -> Picture:
    """Make the panels of the best residual polynomials, and of losses by layers."""
    heights, edges = np.array(exact.density.heights), np.array(exact.density.edges)
    right = float(edges[1:][heights > 1e-3 * heights.max()].max())
    tall = (heights / heights.max()).tolist()
    low = [0.0] * len(edges)
    rows = _series("mean spectrum (sampled)", "density", edges, low=low, high=[*tall, tall[-1]])
    t = np.linspace(0, right, 300)
    for best in exact.best[:MOST_POLYNOMIALS]:
        values = np.polynomial.polynomial.polyval(t, best.polynomial).tolist()
        name = count(len(best.steps), "layer")
        roots = [1 / a for a in best.steps if 1 / a <= right] if best.real else []
        rows += _series(name, "line", t.tolist(), [v if v <= 1.01 else None for v in values])
        rows += _series(name, "point", roots, [0] * len(roots))
    polynomials = _panel(
        "Best residual polynomials, roots at 1 / step",
        "eigenvalue t of S",
        "residual p(t); density, scaled to 1",
        rows,
        domains={"x": (0.0, right), "y": (-0.75, 1.05)},
    )
    title = f"n = {exact.n} points, d = {exact.d}{_noise(exact)}, task covariance C^-1"
    return title, [], [polynomials, _layers(exact)]


def _layers(exact: Exact) -> Data:
    models: dict[str, Sequence[Solved]] = {
        "one common step": exact.common,
        "best steps": exact.best,
        "GD++ (best found)": exact.plusplus,
    }
    known = [one.loss for solved in models.values() for one in solved]
    low = min(v for v in (*known, exact.floor or math.inf) if v > 0)
    rows = _level("predicting 0", exact.none)
    rows += _level("best predictor", exact.floor) if exact.floor else []
    for name, solved in models.items():
        rows += _series(name, "curve", exact.layers[: len(solved)], [one.loss for one in solved])
    bulk = [one.loss for one in exact.chebyshev]
    for name, losses in ("Chebyshev steps on the bulk", bulk), (_LIMIT, exact.limit):
        rows += _series(name, "dotted", exact.layers, losses) if losses else []
    return _panel(
        "Exact loss against the number of layers",
        "number of layers L",
        "loss E (prediction − <w, x>)²",
        rows,
        log="y",
        whole="x",
        domains={"y": (0.7 * low, 2 * max(exact.none, *known))},
    )


def _curves(curves: Curves) -> Picture:
    """Make the panel of losses by layers; sampled losses have 99 % intervals."""
    rows, losses = [], [point.loss for point in curves.points]
    top = 2 * max(losses)
    for name in CURVES:
        points = [point for point in curves.points if point.name == name]
        x, y = [point.layers for point in points], [point.loss for point in points]
        ends = [(max(p.interval[0], p.loss / 1000), p.interval[1]) for p in points if p.interval]
        if points and not ends:
            rows += _series(f"{name}, exact", "curve", x, y)
            continue
        series = f"{name}, fresh samples"
        low, high = ([end[side] for end in ends] for side in (0, 1))
        rows += _series(series, "alone", x, y, low=low, high=high)
        for p in points:
            if p.rare and p.rare.value > 2 * p.loss:
                place = min(p.rare.value, max(top / 400, 3 * p.loss))  # above its point
                top = max(top, 4 * place)
                words = [f"rare prompts: {p.rare.value:.1g}"]
                rows += _series(series, "text", [p.layers], [place], says=words)
    chart = _panel(
        "Loss of linear attention by layers",
        "number of layers",
        "mean squared error",
        rows,
        log="y",
        whole="x",
        domains={"y": (min(losses) / 3, top)},
    )
    about = f"d = {curves.d}, n = {curves.n}, noise {curves.noise:g}"
    return about, ["intervals: 99 %"], [chart]


_LIMIT = "best steps, n, d to infinity"
