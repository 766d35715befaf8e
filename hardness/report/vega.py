"""Pictures of charts in Vega-Lite 6: svg, png and pdf, for a paper or a talk, and for a page."""

import re
from typing import Any, Literal

from hardness.report.style import Look, config
from instances.text import printable

Data = dict[str, Any]
Kind = Literal["svg", "pdf", "png"]
KINDS: tuple[Kind, ...] = ("svg", "pdf", "png")
_VERSION = "v6_1"
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="([\d.]+)" viewBox="[-\d. ]+"')
_COUNTED = re.compile(r'(id="|url\(#)(clip|gradient_)(\d+)')
_FULL_HD = 1920.5  # dots across, of a talk as png: halves are left out
_DENSE = 2.0  # dots a pixel, of a paper as png


def write(chart: Data, kind: str, look: Look = "paper") -> bytes:
    """Draw a chart as svg, png or pdf.

    look: "paper" keeps the size; "talk" is 16:9 with larger letters and lines.
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


def complete(chart: Data, look: Look = "paper") -> Data:
    """Return the chart with the style of a look in it, as a page's script takes it.

    Its texts are printable: control characters, which files may hold, end the process that draws.
    """
    schema = "https://vega.github.io/schema/vega-lite/v6.json"  # a name: nothing is fetched
    return {"$schema": schema, **_shown(chart), "config": config(look)}


def _shown(chart: Any) -> Any:
    """Make every text of a chart printable.

    >>> _shown({"title": ["a" + chr(27), 1]})
    {'title': ['a?', 1]}
    """
    if isinstance(chart, str):
        return chart if chart.isprintable() else printable(chart)
    if isinstance(chart, dict):
        return {_shown(key): _shown(one) for key, one in chart.items()}
    return [_shown(one) for one in chart] if isinstance(chart, list | tuple) else chart


def _svg(chart: Data) -> str:
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(chart, vl_version=_VERSION))
    places: dict[str, int] = {}  # Vega counts them over a process: here over a picture

    def own(found: re.Match[str]) -> str:
        begun, kind, number = found.groups()
        return f"{begun}{kind}{places.setdefault(kind + number, len(places))}"

    return _COUNTED.sub(own, svg)


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
