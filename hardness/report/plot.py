"""Draw tidy rows: lines, marks, bands, bars, levels, cells and words, in panels of one picture.

A row is a flat dictionary. The column of its series says how it is drawn, by a `Style`. `plot`
makes a panel of rows, `panels` a picture of panels, `hardness.report.vega.write` its svg.

>>> from hardness.report.style import BOUND
>>> rows = [{"learner": "queries", "d": d, "cost": d**2} for d in (4, 8, 16)]
>>> rows += [{"learner": "bound", "d": d, "cost": d} for d in (4, 16)]
>>> styles = {"queries": Style(), "bound": Style(colour=BOUND, dash=(6, 3), marks=("line",))}
>>> one = plot(
...     rows, x=Axis("d", "d"), y=Axis("cost", "number of queries", scale="log"), by="learner",
...     styles=styles, title="Queries",
... )
>>> [layer["mark"]["type"] for layer in one["layer"]]
['line', 'line', 'point', 'point']
>>> picture = panels(one, title="Both sides", notes=["dashed: certified"])
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from textwrap import wrap
from typing import Any, Literal

from hardness.report.style import GREY, INK, Style, pale, styles_of

Data = dict[str, Any]
Rows = Iterable[Mapping[str, Any]]
WIDE, HIGH = 250, 190  # pixels of one of several panels
MOST = 1e300  # what is above that is not drawn
_LONGEST = 40  # characters of a name in a figure
_SERIES = 80  # of a series: a name and what is said of it
_ROOM = 12  # pixels between what is drawn and the ends of an axis
_LETTERS = 52  # of a note, above each panel of a row
_TICKS = 10  # of an axis of whole numbers, at most
_NARROW = 6  # pixels of a cell below which it has no edge
_TAKEN = {  # properties of every JavaScript object, by which Vega does not group
    *("__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf", "__defineGetter__", "__defineSetter__"),
    *("__lookupGetter__", "__lookupSetter__"),
}
_FOLDERS = re.compile(r"(?<![^\s,;=])[^\s,;=]*/(?=[^/\s,;=]+\.py:)")
# Plain numbers from 0.001 to 10000, as 2e6 else: fonts of PDF files lack small raised figures.
_LABELS = (
    "datum.value > 0.0009 && datum.value < 11000 ? format(datum.value, '~g') : "
    "replace(format(datum.value, '.0e'), '+', '')"
)
_POWERS = (
    "datum.value > -3.1 && datum.value < 4.1 ? format(pow(10, datum.value), '~g') : "
    "'1e' + datum.value"
)
_SPAN: Data = {"y": {"field": "low"}, "y2": {"field": "high"}}
_FACE: Data = {"clip": True, "fillOpacity": 0.15, "strokeOpacity": 0}
# Marks of a style: their order from below, their mark in Vega-Lite, its look and its channels.
_MARKS: dict[str, tuple[int, str, Data, Data]] = {
    "band": (1, "area", _FACE, _SPAN),
    "rect": (1, "rect", _FACE, {**_SPAN, "x2": {"field": "end"}}),
    "tick": (1, "tick", {"thickness": 4, "bandSize": 14}, {}),
    "bar": (2, "bar", {"clip": True}, {"x2": {"field": "end"}, "y2": {"field": "base"}}),
    "interval": (2, "rule", {}, _SPAN),
    "level": (2, "rule", {}, {"x": None}),
    "wall": (2, "rule", {}, {"y": None}),
    "line": (2, "line", {"clip": True, "order": False}, {}),  # as the rows stand
    "point": (3, "point", {"opacity": 1}, {}),
    "text": (4, "text", {}, {"text": {"field": "says"}}),
}
_PICK = "pick"  # the series that a reader of the page chose in the legend
_FADED: Data = {"condition": {"param": _PICK, "value": 1, "empty": True}, "value": 0.06}


@dataclass(frozen=True)
class Axis:
    """A column of rows, and the axis along which it lies.

    scale: "whole" has whole numbers, "powers" logarithms to base 10 of numbers that no float holds,
    "names" the texts of `names` in their order, "cells" these without room between. domain: its
    ends. ticks: where they stand. holds: values that it reaches to as well. look: more properties
    of Vega's axis.
    """

    column: str
    title: str = ""
    _: KW_ONLY
    scale: Literal["linear", "log", "whole", "powers", "names", "cells"] = "linear"
    domain: tuple[float, float] | None = None
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()
    holds: Sequence[float] = ()
    look: Mapping[str, Any] = field(default_factory=dict)

    def encoded(self, values: Iterable[float | None]) -> Data:
        """Return it as an encoding of Vega-Lite that holds values; it has two ticks at least."""
        if self.scale in ("names", "cells"):
            return _ordinal(self)
        held = [v for v in (*values, *self.holds) if v is not None]
        if self.scale == "log":
            found = _logarithmic(*(self.domain or decades(held)))
        else:
            low, high = self.domain or _ends(held, self.scale)
            found = _linear(low, high, self.scale)
        ticks = sorted({v for v in self.ticks if not held or min(held) <= v <= max(held)})
        axis: Data = {"values": ticks, "labelOverlap": True} if len(ticks) > 1 else {}
        if axis and self.scale == "linear" and all(float(tick).is_integer() for tick in ticks):
            axis["format"] = ",d"  # by the step between few ticks Vega would write 6.0
        if self.domain:
            found["scale"] |= {"domain": list(self.domain), "padding": 0}
        elif len(ticks) > 1 and self.scale == "log":
            found["scale"] |= {"domain": [min(held), max(held)], "padding": _ROOM}
        axis = {**found["axis"], **axis, **self.look}
        return {**found, "field": self.column, "title": self.title, "axis": axis}


def named(text: str, longest: int = _LONGEST) -> str:
    """Give a name that a user chose so that a figure can show it: in one line, not too long.

    Folders of files of code are left out. What is changed otherwise has a digest of the name in it:
    figures tell series apart by what is shown.

    >>> named("mlp"), named("a" * 30 + "b" * 30), named("my/own.py:Net:width=3")
    ('mlp', 'aaaaaaaaaaaaaaa…d1d54f81…bbbbbbbbbbbbbb', 'own.py:Net:width=3')
    >>> named("a" + chr(10) + chr(0x202E) + "b"), named("constructor")
    ('a??b…8760d85d…', "'constructor'")
    """
    if text in _TAKEN:
        return f"'{text}'"
    short = _FOLDERS.sub("", text)
    shown = "".join(c if c.isprintable() else "?" for c in short)
    if shown == short and len(short) <= longest:
        return short
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    half = longest // 2 - 5
    if len(shown) <= 2 * half:
        return f"{shown}…{digest}…"
    return f"{shown[:half]}…{digest}…{shown[1 - half :]}"


def plot(
    rows: Rows,
    *,
    x: Axis,
    y: Axis,
    by: str = "series",
    styles: Mapping[str, Style] | None = None,
    kinds: Mapping[str, Mapping[str, Any]] | None = None,
    title: Any = "",
    hollow: str = "",
    told: Mapping[str, str] | None = None,
    more: Iterable[Data] = (),
    size: tuple[float, float] = (WIDE, HIGH),
) -> Data:
    """Draw rows in one panel: each series by the marks of its style, the first below the others.

    Marks are line and point of x and y; bar of y at x; band and interval from the columns low to
    high; rect from x to the column end, from low to high; tick; level, across at y; wall, upright
    at x; text of the column says, which a level has too. None breaks a line, as does what a
    logarithmic axis cannot hold; a line of one point is a stroke. Lines are by the column run, too.

    by: the column of series, which must be in `styles`; of learners where these are not given.
    kinds: by the column kind of a row, what differs from the style of its series, as marks or dash;
    rows of a kind that is not there are not drawn. hollow: the column of truths without which a
    point is hollow. told: columns that a page shows of a point, by what they are called. more:
    layers above all. Returns {} where no row can be drawn.
    """
    found = [_clean(row, x, y) for row in rows if not kinds or row.get("kind") in kinds]
    styles = styles_of(dict.fromkeys(row[by] for row in found)) if styles is None else styles
    looks = {_named(name, _SERIES): style for name, style in styles.items()}
    groups: dict[tuple[str, str], list[Data]] = {}
    for row in found:
        groups.setdefault((row.get(by, ""), row.get("kind", "")), []).append(row)
    points: Data = {"tooltip": tooltip(told)} if told else {}
    if hollow:
        solid = {"test": {"field": hollow, "equal": True}, "value": 1}
        points["fillOpacity"] = {"condition": solid, "value": 0}
    layers: list[tuple[int, Data]] = []
    seen: dict[str, list[float | None]] = {"x": [], "y": []}
    order, empty = list(looks), True
    for (name, kind), own in sorted(groups.items(), key=lambda item: order.index(item[0][0])):
        style = replace(looks[name], **(kinds or {}).get(kind, {}))
        for mark in style.marks:
            across, up = _reach(own, mark, style, x.column, y.column)
            if not (across or mark == "level") or not (up or mark == "wall"):
                continue
            seen["x"] += across
            seen["y"] += up
            empty = empty and mark == "level"
            held = _bars(own, style, x, y) if mark == "bar" else own
            layers += [(_MARKS[mark][0], one) for one in _layers(held, mark, style, points)]
    if empty:
        return {}
    layers.sort(key=lambda pair: pair[0])
    return {
        "title": title,
        "width": size[0],
        "height": size[1],
        "encoding": {"x": x.encoded(seen["x"]), "y": y.encoded(seen["y"])},
        "layer": [*(one for _, one in layers), *_legend(looks, by), *more],
    }


def panels(
    *charts: Data,
    title: str,
    notes: Iterable[str] = (),
    columns: int = 3,
    pick: str = "",
    own: bool = False,
) -> Data:
    """Lay panels out beside each other under a title and notes; empty ones are left out.

    pick: the column of series that a reader of a page chooses in the one legend below. own: every
    panel has its own legend instead. Rows that several layers draw stand in it once.
    """
    drawn = [json.loads(json.dumps(chart)) for chart in charts if chart]  # they share parts
    legends = [one for chart in drawn for one in chart.get("layer", ()) if one.get("name")]
    for i, legend in enumerate(legends):
        legend["name"] = f"legend{i}"
        if own:
            shape: Data = {"columns": 1, "symbolOffset": 4, "labelOffset": 8}
            for channel in legend["encoding"].values():
                channel["legend"] |= shape
    if pick and legends:
        select = {"type": "point", "fields": [pick]}
        legends[0]["params"] = [{"name": _PICK, "select": select, "bind": "legend"}]
        for layer in (one for chart in drawn for one in chart["layer"]):
            if any(pick in row for row in layer.get("data", {}).get("values", ())):
                layer["encoding"] = {**layer.get("encoding", {}), "opacity": _FADED}
    most = _LETTERS * min(columns, max(2, len(drawn)))
    told = [line for note in notes for line in wrap(note, most)]
    found: Data = {"title": {"text": title, "subtitle": told}, "concat": drawn}
    found |= {"columns": columns, "datasets": _once(drawn)}
    scales: Data = dict.fromkeys(("color", "fill", "shape", "strokeDash"), "independent")
    return {**found, "resolve": {"scale": scales}} if own else found


def present(
    rows: Iterable[Mapping[str, Any]], styles: Mapping[str, Style], by: str = "series"
) -> dict[str, Style]:
    """Return the styles of the series that rows have, in the order of the styles."""
    names = {row.get(by) for row in rows}
    return {name: style for name, style in styles.items() if name in names}


def cells(
    rows: Rows,
    *,
    x: Axis,
    y: Axis,
    colour: Data,
    says: Mapping[str, Data],
    ink: Data | None = None,
    edge: str = GREY,
    told: Mapping[str, str] | None = None,
    title: Any = "",
    size: tuple[float, float] = (WIDE, HIGH),
    between: Iterable[Data] = (),
    apart: bool = False,
) -> Data:
    """Draw a row as a cell with a face, and texts in it: columns, by properties of their marks.

    x, y: axes of names. ink: the encoding of the texts' colour. between: layers above the cells and
    below the texts; apart: which have a scale upwards of their own. Returns {} for no rows.
    """
    found = [_clean(row, x, y) for row in rows]
    if not found:
        return {}
    x, y = (replace(axis, scale="cells") for axis in (x, y))
    data = {"values": found}
    narrow = min(size[0] / len(x.names), size[1] / len(y.names)) < _NARROW
    rect = {"type": "rect", "stroke": edge, "strokeWidth": 0 if narrow else 0.5}
    face = {"fill": colour, "tooltip": tooltip(told or {})}
    places = {"x": x.encoded(()), "y": y.encoded(())}
    own: Data = {"y": places["y"] | {"axis": None}} if apart else {}
    texts = [
        {
            "data": data,
            "mark": {"type": "text", "tooltip": None, **mark},
            "encoding": {**own, "text": {"field": column}, "color": ink or {"value": INK}},
        }
        for column, mark in says.items()
    ]
    panel = {
        "title": title,
        "width": size[0],
        "height": size[1],
        "encoding": places,
        "layer": [{"data": data, "mark": rect, "encoding": face}, *between, *texts],
    }
    return {**panel, "resolve": {"scale": {"y": "independent"}}} if apart else panel


def tooltip(told: Mapping[str, str]) -> list[Data]:
    """Return what a page shows of a mark under the pointer: columns by the name that is shown."""
    return [{"field": column, "title": title} for title, column in told.items()]


def _clean(row: Mapping[str, Any], x: Axis, y: Axis) -> Data:
    """A row as Vega takes it: names that are harmless, and numbers that the axes can hold."""
    places = {"x": x, "y": y}
    logs = {axis.column for axis in places.values() if axis.scale == "log"}
    logs |= {"low", "high"} if y.scale == "log" else set()

    def held(column: str, value: Any) -> Any:
        if isinstance(value, str):
            return value if column == "says" else _named(value, _SERIES)
        if isinstance(value, float | int) and not isinstance(value, bool):
            kept = -MOST < value < MOST and not (column in logs and value <= 0)
            return (value if abs(value) < 2**53 else float(value)) if kept else None
        return value

    return {column: held(column, value) for column, value in row.items()}


_named = lru_cache(4096)(named)


def _reach(
    rows: list[Data], mark: str, style: Style, x: str, y: str
) -> tuple[list[Any], list[Any]]:
    """What a mark of rows takes of both axes."""
    columns = {"rect": (x, "end"), "level": ()}.get(mark, (x,))
    across = [row[name] for row in rows for name in columns if row.get(name) is not None]
    if mark == "bar":
        across = [v + side * style.wide / 2 for v in across for side in (-1, 1)]
    columns = ("low", "high") if "y2" in _MARKS[mark][3] and mark != "bar" else (y,)
    up = [row.get(name) for row in rows for name in columns if mark != "wall"]
    return across, [v for v in up if v is not None]


def _bars(rows: list[Data], style: Style, x: Axis, y: Axis) -> list[Data]:
    """Rows with both sides of a bar, and its foot."""
    half, base = style.wide / 2, y.domain[0] if y.domain else 0
    known = [(row, row[x.column]) for row in rows if row[x.column] is not None]
    return [{**row, x.column: at - half, "end": at + half, "base": base} for row, at in known]


def _layers(rows: list[Data], mark: str, style: Style, points: Data) -> list[Data]:
    """The layer of one mark of a series, and for levels that of their texts."""
    _, kind, look, channels = _MARKS[mark]
    drawn: Data = {"type": kind, "color": style.colour, **look}
    layer: Data = {"data": {"values": rows}, "mark": drawn, "encoding": dict(channels)}
    if mark == "line" and len(rows) == 1 and "point" not in style.marks:
        stroke = {"type": "point", "shape": "stroke", "color": style.colour, "size": 150}
        return [{**layer, "mark": stroke}]
    if mark in ("line", "level", "wall"):
        drawn |= {"strokeWidth": 1.5 * style.thick, "strokeDash": list(style.dash) or [1, 0]}
    if mark in ("line", "band") and style.step:
        drawn["interpolate"] = style.step
    if mark == "line" and "run" in rows[0]:
        layer["encoding"]["detail"] = {"field": "run"}
    if mark == "point":
        drawn |= {"shape": style.shape, "fill": style.colour}
        layer["encoding"] |= points
    if mark != "level" or not any("says" in row for row in rows):
        return [layer]
    text = {"type": "text", "align": "left", "dx": 3, "color": style.colour}
    text["dy"] = {"expr": "datum.dy || -5"}
    said = {"x": {"value": 0}, "text": {"field": "says"}}
    return [layer, {**layer, "mark": text, "encoding": said}]


def _legend(styles: Mapping[str, Style], by: str) -> list[Data]:
    """A layer of no marks, for its legend."""
    shown = {name: style for name, style in styles.items() if name and style.shown}
    if not shown:
        return []
    every = list(shown.values())
    hues = [
        pale(one.colour) if one.marks == ("band",) or "rect" in one.marks else one.colour
        for one in every
    ]
    ranges: dict[str, list[Any]] = {
        "color": hues,
        "fill": hues,
        "shape": [one.symbol for one in every],
        "strokeDash": [list(one.dash) or [1, 0] for one in every],
    }
    room = {"symbolOffset": 4, "labelOffset": 8} if any(one.stroke for one in every) else {}
    encoding = {
        channel: {
            "field": by,
            "type": "nominal",
            "scale": {"domain": list(shown), "range": values},
            "legend": {"title": None, **room},
        }
        for channel, values in ranges.items()
    }
    mark = {"type": "point", "opacity": 1}
    return [{"name": "legend", "data": {"values": []}, "mark": mark, "encoding": encoding}]


def _once(charts: list[Data]) -> Data:
    """Take the rows that stand in several layers out of these, by name."""
    every: dict[str, list[Data]] = {}
    for layer in (one for chart in charts for one in (chart, *chart.get("layer", ()))):
        if values := layer.get("data", {}).get("values"):
            every.setdefault(json.dumps(values), []).append(layer)
    found: Data = {}
    for layers in every.values():
        if len(layers) > 1:
            name = f"rows{len(found)}"
            found[name] = layers[0]["data"]["values"]
            for layer in layers:
                layer["data"] = {"name": name}
    return found


def _ordinal(axis: Axis) -> Data:
    shown = [named(name) for name in axis.names]
    look: Data = {"labelAngle": 0}
    scale: Data = {"domain": shown}
    if axis.scale == "cells":
        look |= {"labelOverlap": True, "ticks": False, "grid": False}
        scale |= {"paddingInner": 0, "paddingOuter": 0}
    found = {"field": axis.column, "type": "ordinal", "sort": shown, "scale": scale}
    return {**found, "title": axis.title, "axis": look | dict(axis.look)}


def _ends(values: list[float], scale: str) -> tuple[float, float]:
    """The ends of an axis, which are not one."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if scale == "powers":
        low, high = math.floor(low), math.ceil(high)
    if low < high:
        return low, high
    apart = 1 if float(low).is_integer() else abs(low) / 10
    return low - apart, high + apart


def _linear(low: float, high: float, scale: str) -> Data:
    """A linear axis that need not begin at 0."""
    axis: Data = {}
    if scale in ("whole", "powers"):
        axis = {"values": _whole(low, high), "format": "d"}
    if scale == "powers":
        axis["labelExpr"] = _POWERS
    ends = {"domain": [low, high], "zero": False, "nice": False, "padding": _ROOM}
    return {"type": "quantitative", "scale": ends, "axis": axis}


def _whole(low: float, high: float) -> list[int]:
    """Return whole numbers between two, a few.

    >>> _whole(-0.5, 3.2), _whole(0, 28)
    ([0, 1, 2, 3], [0, 5, 10, 15, 20, 25])
    """
    sizes = (step * 10**power for power in itertools.count() for step in (1, 2, 5))
    step = next(size for size in sizes if high - low <= size * _TICKS)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


def decades(values: Iterable[float]) -> tuple[float, float]:
    """Return the ends of a logarithmic axis around values, a decade apart at least.

    >>> decades([3.0, 500.0]), decades([])
    ((1.5, 1000.0), (0.1, 10.0))
    """
    seen = [value for value in values if 0 < value < MOST]
    low, high = (min(seen) / 2, max(seen) * 2) if seen else (0.1, 10.0)
    if high < 10 * low:
        centre = (low * high) ** 0.5
        low, high = centre / 10**0.5, centre * 10**0.5
    return low, high


def _logarithmic(low: float, high: float) -> Data:
    """A logarithmic axis between two values.

    Ticks are 1, 2 and 5 times powers of ten over two decades, and powers of ten else.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    apart = max((last - first) // 6, 1)
    ticks = [step * 10.0**e for e in range(first, last + 1, apart) for step in steps]
    axis = {"values": [tick for tick in ticks if low <= tick <= high], "labelExpr": _LABELS}
    scale = {"type": "log", "domain": [low, high], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": axis}
