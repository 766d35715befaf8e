"""A panel of series: lines, marks, bars, bands and levels, with one legend."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hardness.report.charts.chart import (
    HIGH,
    WIDE,
    Data,
    by_series,
    drawn_of,
    logarithmic,
    panels,
    powers,
    quantity,
)
from hardness.report.charts.style import COLOURS, GREY, INK, RING, Style, pale

__all__ = ["RING", "pale"]
Number = float | None
WHOLE: Data = {"format": "d"}  # an axis of whole numbers
_LINE = "M-1.8,0L1.8,0"  # in a legend
_LEGEND = {"title": None, "columns": 1, "symbolOffset": 4, "labelOffset": 8}
_ROOM = 8  # pixels between what is drawn and the ends of an axis
_TICKS = 10  # of an axis of whole numbers, at most
_TYPES = {"band": "area", "interval": "rule", "level": "rule", "wall": "rule"}
_KEY = {"type": "point", "opacity": 1}
_FLOOR = 0.25  # of the height of a panel: the tallest bar of shares at its foot


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A series of a panel: its points, how they are drawn, and its entry in the legend.

    name: "" for none in the legend. y: None breaks a line. low, high: ends of bands and intervals.
    marks: any of line, point, bar, band, interval, level (across at each y), wall (upright at each
    x). stepped: "step" where a value holds around its x, "step-after" where
    it holds until the next. wide: a bar, in units of x. thick: a line, over others.
    """

    name: str = ""
    x: Sequence[Number] = ()
    y: Sequence[Number] = ()
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    marks: tuple[str, ...] = ("line", "point")
    colour: str = COLOURS[0]
    shape: str = "circle"
    dash: tuple[int, ...] = ()
    stepped: str = ""
    wide: float = 0.8
    thick: float = 1.0

    @property
    def style(self) -> Style:
        """How the legend shows it."""
        if "point" in self.marks:
            return Style(colour=self.colour, shape=self.shape)
        if self.marks == ("band",):
            return Style(colour=pale(self.colour), shape="square")
        if self.marks == ("bar",):
            return Style(colour=self.colour, shape="square")
        return Style(colour=self.colour, shape=_LINE, dash=self.dash)


def level(name: str, y: float, colour: str = GREY, dash: tuple[int, ...] = (2, 3)) -> Trace:
    """Return a line across a panel."""
    return Trace(name=name, y=[y], marks=("level",), colour=colour, dash=dash)


def wall(name: str, *x: float, colour: str = GREY, dash: tuple[int, ...] = (5, 3)) -> Trace:
    """Return lines upright in a panel."""
    return Trace(name=name, x=x, marks=("wall",), colour=colour, dash=dash)


def words(x: float, y: float, text: str, colour: str = INK, **mark: Any) -> Data:
    """Return a text at a place of a panel."""
    place = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative"},
    }
    return {
        "data": drawn_of([{"x": x, "y": y}]),
        "mark": {
            "type": "text",
            "text": text.split("\n"),
            "color": colour,
            "align": "left",
            **mark,
        },
        "encoding": place,
    }


def panel(
    traces: Iterable[Trace],
    *,
    title: str,
    x: str,
    y: str,
    log: str = "",
    domains: Mapping[str, tuple[float, float]] | None = None,
    axes: Mapping[str, Data] | None = None,
    more: Sequence[Data] = (),
    size: tuple[float, float] = (WIDE, HIGH),
) -> Data:
    """Draw traces in one panel, the first below the others.

    x, y: names of the axes. log: which of them are logarithmic, as "xy"; what is not positive is
    left out there. domains, axes: ends and properties by axis. more: layers above all. size: of
    the panel in pixels.
    """
    held = [_held(trace, log) for trace in traces]
    places = {
        "x": _axis("x", x, [v for one in held for v in _widths(one)], log, domains, axes),
        "y": _axis("y", y, [v for one in held for v in _heights(one)], log, domains, axes),
    }
    found = [(mark, _layer(one, mark, places)) for one in held for mark in one.marks]
    found.sort(key=lambda pair: pair[0] != "band")  # below all
    legend = _legend({one.name: one.style for one in held if one.name})
    return {
        "title": title,
        "width": size[0],
        "height": size[1],
        "layer": [*(layer for _, layer in found), *legend, *more],
    }


def _legend(styles: Mapping[str, Style]) -> list[Data]:
    """A layer of no marks, for its legend."""
    series = by_series(styles)
    channels = {**series, "fill": series["color"]}
    encoding = {name: {**channel, "legend": _LEGEND} for name, channel in channels.items()}
    return [{"data": drawn_of([]), "mark": _KEY, "encoding": encoding}] if styles else []


def beside(*charts: Data, title: str, notes: Iterable[str] = (), columns: int = 3) -> Data:
    """Lay panels out whose legends are their own."""
    own = dict.fromkeys(("color", "fill", "shape", "strokeDash"), "independent")
    return {**panels(*charts, title=title, notes=notes, columns=columns), "resolve": {"scale": own}}


def foot(
    name: str, edges: Sequence[float], share: Sequence[float], domain: tuple[float, float]
) -> Trace:
    """Return shares as grey stairs at the foot of a panel of a given y domain."""
    low, high = domain
    most = max(share)
    tall = [low + _FLOOR * (high - low) * v / most for v in [*share, share[-1]]]
    return Trace(
        name=f"{name}, up to {most:.2g}",
        x=edges,
        low=[low] * len(tall),
        high=tall,
        marks=("band",),
        stepped="step-after",
        colour=INK,
    )


def reach(values: Iterable[Number], room: float = 0.05) -> tuple[float, float]:
    """Return the ends of an axis that holds values with some room on both sides."""
    known = [v for v in values if v is not None and math.isfinite(v)]
    low, high = min(known), max(known)
    apart = room * (high - low or abs(high) or 1.0)
    return low - apart, high + apart


def _held(trace: Trace, log: str) -> Trace:
    """The trace with None where an axis cannot hold a value."""

    def held(values: Sequence[Number], axis: str) -> list[Number]:
        return [
            None if v is None or not math.isfinite(v) or (axis in log and v <= 0) else v
            for v in values
        ]

    return replace(
        trace,
        x=held(trace.x, "x"),
        y=held(trace.y, "y"),
        low=held(trace.low, "y"),
        high=held(trace.high, "y"),
    )


def _heights(trace: Trace) -> list[Number]:
    return [*trace.y, *trace.low, *trace.high]


def _widths(trace: Trace) -> list[Number]:
    wide = trace.wide / 2 if "bar" in trace.marks else 0.0
    return [v + side for v in trace.x if v is not None for side in (-wide, wide)]


def _axis(field: str, title: str, values: list[Number], log: str, domains: Any, axes: Any) -> Data:
    known = [v for v in values if v is not None]
    domain = (domains or {}).get(field)
    extra = (axes or {}).get(field, {})
    if field in log:
        found = logarithmic(field, title, domain or known, **extra)
    else:
        if extra in (WHOLE, powers()) and known:
            extra = {**extra, "values": _whole(*(domain or (min(known), max(known))))}
        found = quantity(field, title, axis=extra, scale={"padding": _ROOM, "nice": False})
    if domain:
        found["scale"] = {**found["scale"], "domain": list(domain), "nice": False, "padding": 0}
    return found


def _whole(low: float, high: float) -> list[int]:
    """Return whole numbers between two, a few.

    >>> _whole(-0.5, 3.2), _whole(0, 28)
    ([0, 1, 2, 3], [0, 5, 10, 15, 20, 25])
    """
    sizes = (step * 10**power for power in itertools.count() for step in (1, 2, 5))
    step = next(size for size in sizes if high - low <= size * _TICKS)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


def _layer(trace: Trace, mark: str, places: Data) -> Data:
    x, y = places["x"], places["y"]
    drawn: Data = {"type": _TYPES.get(mark, mark), "color": trace.colour}
    encoding: Data = {"x": x, "y": y}
    columns = {"x": trace.x, "y": trace.y, "low": trace.low, "high": trace.high}
    whole = max(map(len, columns.values()))
    full = {key: values for key, values in columns.items() if len(values) == whole}
    rows: list[Data] = [{key: values[i] for key, values in full.items()} for i in range(whole)]
    drawn |= {"clip": True} if mark in ("line", "band", "bar") else {}
    drawn |= {"shape": trace.shape, "filled": True, "opacity": 1} if mark == "point" else {}
    if mark in ("line", "level", "wall"):
        drawn |= {"strokeWidth": 1.5 * trace.thick, "strokeDash": list(trace.dash) or [1, 0]}
    drawn |= {"order": False} if mark == "line" else {}  # as the points stand
    drawn |= {"interpolate": trace.stepped} if trace.stepped and mark in ("line", "band") else {}
    if mark in ("band", "interval"):
        encoding |= {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    if mark == "band":
        drawn |= {"color": pale(trace.colour), "line": False, "blend": "multiply"}
    if mark == "bar":
        base = y["scale"].get("domain", [0])[0]
        half = trace.wide / 2
        rows = [
            {"x": at - half, "end": at + half, "y": tall, "base": base}
            for at, tall in zip(trace.x, trace.y, strict=True)
            if at is not None
        ]
        encoding |= {"x2": {"field": "end"}, "y2": {"field": "base"}}
    if mark in ("level", "wall"):
        del encoding["x" if mark == "level" else "y"]
    return {"data": drawn_of(rows), "mark": drawn, "encoding": encoding}
