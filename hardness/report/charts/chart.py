"""Charts in the grammar of Vega-Lite: written for a paper or a talk, and given to a page.

A figure is a function of its numbers that returns a chart, which is a description in Vega-Lite 6
as a dictionary. What a user named comes through `named`.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hardness.report.charts.style import Look, Style, config, styles_of

Data = dict[str, Any]
Kind = Literal["svg", "pdf", "png"]
KINDS: tuple[Kind, ...] = ("svg", "pdf", "png")
LOOKS: tuple[Look, ...] = ("paper", "talk")
WIDE, HIGH = 250, 190  # pixels of one of several panels
MOST = 1e300  # what is certified above that is not drawn
PICK = "pick"  # the series that a reader of the page chose in the legend
_VERSION = "v6_1"
_LONGEST = 40  # characters of a name in a figure
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="([\d.]+)" viewBox="[-\d. ]+"')
_CLIP = re.compile(r'(id="|url\(#)(clip\d+)')
_TAKEN = {  # properties of every JavaScript object, by which Vega does not group
    *("__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf", "__defineGetter__", "__defineSetter__"),
    *("__lookupGetter__", "__lookupSetter__"),
}
_FULL_HD = 1920.5  # dots across, of a talk as png: halves are left out
# Plain numbers from 0.001 to 10000, as 2e6 else: fonts of PDF files lack small raised figures.
_LABELS = (
    "datum.value > 0.0009 && datum.value < 11000 ? format(datum.value, '~g') : "
    "replace(format(datum.value, '.0e'), '+', '')"
)
_DENSE = 2.0  # dots a pixel, of a paper as png


def write(chart: Data, kind: str, look: Look = "paper") -> bytes:
    """Draw a chart as svg, png or pdf.

    look: "paper" and "page" keep the size; "talk" is 16:9 with larger letters and lines.
    """
    import vl_convert

    svg = _svg(complete(chart, look))
    if look == "talk":
        wide, high = _size(svg)
        stretched = _stretched(chart, min(max(wide * 9 / 16 / high, 1.0), 2.0))
        svg = _wide_screen(_svg(complete(stretched, look)))
    if kind == "svg":
        return svg.encode()
    if kind == "pdf":
        return bytes(vl_convert.svg_to_pdf(svg))
    scale = _FULL_HD / _size(svg)[0] if look == "talk" else _DENSE
    return bytes(vl_convert.svg_to_png(svg, scale=scale))


def _svg(chart: Data) -> str:
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(chart, vl_version=_VERSION))
    names: dict[str, str] = {}  # Vega counts clips over a process: here over a picture
    return _CLIP.sub(lambda found: found[1] + names.setdefault(found[2], f"clip{len(names)}"), svg)


def _size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found, "vl-convert writes the size of a picture into its first element"
    return float(found[2]), float(found[3])


def _stretched(chart: Any, factor: float) -> Any:
    """Make the panels of a chart higher."""
    if isinstance(chart, list):
        return [_stretched(one, factor) for one in chart]
    if not isinstance(chart, dict):
        return chart
    return {
        key: one * factor
        if key == "height" and isinstance(one, int | float)
        else one
        if key in ("data", "datasets")
        else _stretched(one, factor)
        for key, one in chart.items()
    }


def complete(chart: Data, look: Look = "page") -> Data:
    """Return the chart with the style of a look in it, as a page's script takes it."""
    schema = "https://vega.github.io/schema/vega-lite/v6.json"  # a name: nothing is fetched
    return {"$schema": schema, **chart, "config": config(look)}


def _wide_screen(svg: str) -> str:
    """Put a picture in the middle of a white page of 16:9.

    >>> _wide_screen('<svg width="90" height="90" viewBox="0 0 90 90"></svg>')[:60]
    '<svg width="160" height="90" viewBox="-35 0 160 90"><rect x='
    """
    wide, high = _size(svg)
    width, height = max(wide, high * 16 / 9), max(high, wide * 9 / 16)
    x, y = (wide - width) / 2, (high - height) / 2
    paper = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="white"/>'
    box = f'width="{width:g}" height="{height:g}" viewBox="{x:g} {y:g} {width:g} {height:g}"'
    head, rest = svg[: svg.index(">") + 1], svg[svg.index(">") + 1 :]
    return _SIZE.sub(lambda found: f"<svg{found[1]} {box}", head) + paper + rest


def named(text: str, longest: int = _LONGEST) -> str:
    """Give a name that a user chose so that a figure can show it: in one line, not too long.

    What is changed has a digest of the name in it: figures tell series apart by what is shown.

    >>> named("mlp"), named("a" * 30 + "b" * 30)
    ('mlp', 'aaaaaaaaaaaaaaa…d1d54f81…bbbbbbbbbbbbbb')
    >>> named("a" + chr(10) + chr(0x202E) + "b"), named("constructor")
    ('a??b…8760d85d…', "'constructor'")
    """
    if text in _TAKEN:
        return f"'{text}'"
    shown = "".join(c if c.isprintable() else "?" for c in text)
    if shown == text and len(text) <= longest:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    half = longest // 2 - 5
    if len(text) <= 2 * half:
        return f"{shown}…{digest}…"
    return f"{shown[:half]}…{digest}…{shown[1 - half :]}"


def drawn_of(rows: Iterable[Mapping[str, Any]]) -> Data:
    """Return rows as the data of a chart."""
    return {"values": [dict(row) for row in rows]}


def panels(*charts: Data, title: str, notes: Iterable[str] = (), columns: int = 3) -> Data:
    """Lay charts out beside each other under a title and notes, with one legend below."""
    found = {"title": {"text": title, "subtitle": list(notes)}}
    return {**found, "concat": list(charts), "columns": columns}


def picked(field: str = "learner") -> list[Data]:
    """Return the parameter by which a page shows only the series that are clicked in the legend."""
    return [{"name": PICK, "select": {"type": "point", "fields": [field]}, "bind": "legend"}]


def pick_in(panel: Data, field: str = "learner") -> None:
    """Let the legend of a layered panel pick series: its first layer of the legend must say so."""
    layers = (one for one in panel["layer"] if "encoding" in one)
    first = next(one for one in layers if one["encoding"].get("color", {}).get("field") == field)
    first["params"] = picked(field)


FADED: Data = {"condition": {"param": PICK, "value": 1, "empty": True}, "value": 0.06}


def by_learner(names: Iterable[str], field: str = "learner") -> Data:
    """Return the encodings colour, shape and dash of learners, in one legend.

    names: as they stand in the rows, and so as the legend shows them; see `named`.
    """
    return by_series(styles_of(names), field)


def by_series(styles: Mapping[str, Style], field: str = "series") -> Data:
    """Return the encodings colour, shape and dash of series of given styles, in one legend."""
    found = list(styles.values())
    ranges: dict[str, list[Any]] = {
        "color": [style.colour for style in found],
        "shape": [style.shape for style in found],
        "strokeDash": [list(style.dash) or [1, 0] for style in found],
    }
    return {
        channel: {
            "field": field,
            "type": "nominal",
            "scale": {"domain": list(styles), "range": values},
            "legend": {"title": None} if found else None,
        }
        for channel, values in ranges.items()
    }


def powers() -> Data:
    """Return the axis of logarithms to base 10, of numbers that no float holds."""
    plain = "datum.value > -3.1 && datum.value < 4.1 ? format(pow(10, datum.value), '~g')"
    return {"labelExpr": f"{plain} : '1e' + datum.value"}


def quantity(field: str, title: str, **rest: Any) -> Data:
    """Return the encoding of a number on a linear axis that need not begin at 0."""
    scale = {"zero": False, **rest.pop("scale", {})}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, **rest}


def ordinal(field: str, title: str, values: Iterable[str]) -> Data:
    """Return the encoding of the rows or the columns of cells, in the order of `values`."""
    shown = [named(value) for value in values]
    axis = {"labelAngle": 0, "labelOverlap": True, "ticks": False, "grid": False}
    scale = {"domain": shown, "paddingInner": 0, "paddingOuter": 0}
    found = {"type": "ordinal", "title": named(title), "axis": axis, "scale": scale}
    return {"field": field, "sort": shown, **found}


def logarithmic(field: str, title: str, values: Iterable[float], /, **axis: Any) -> Data:
    """Return the encoding of a number on a logarithmic axis around `values`, a decade at least.

    Ticks are 1, 2 and 5 times powers of ten over two decades, and powers of ten else.
    """
    seen = [value for value in values if 0 < value < MOST]
    low, high = (min(seen) / 2, max(seen) * 2) if seen else (0.1, 10.0)
    if high < 10 * low:
        centre = (low * high) ** 0.5
        low, high = centre / 10**0.5, centre * 10**0.5
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    apart = max((last - first) // 6, 1)
    ticks = [step * 10.0**e for e in range(first, last + 1, apart) for step in steps]
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {
            "title": title,
            "values": [tick for tick in ticks if low <= tick <= high],
            "labelExpr": _LABELS,
            **axis,
        },
    }


def tooltip(**fields: str) -> list[Data]:
    """Return what a page shows of a mark under the pointer: fields by the name that is shown."""
    return [{"field": field, "title": title.replace("_", " ")} for title, field in fields.items()]
