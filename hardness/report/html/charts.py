"""Charts of a page: their panels as inline SVG, and what is downloaded, packed."""

import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from hardness.report.figures import draw, screen
from hardness.report.html import planes
from hardness.report.html.swatches import swatch
from hardness.report.html.text import csv_of, harmless, short
from hardness.report.panels import Panel
from hardness.report.parts.records import Chart, Table

_NOTES = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>]*>", re.DOTALL)
_FRACTION = re.compile(r"(\d\.\d\d)\d+")
_USE = re.compile(r'<use (x="[^"]*" y="[^"]*") (style="[^"]*") (href="[^"]*")/>')
_ALIKE = re.compile(
    r'<use x="[^"]*" y="[^"]*" (style="[^"]*" href="[^"]*")/>(?:<use x="[^"]*" y="[^"]*" \1/>)+'
)
_NUMBER = re.compile(r"[-+./\de]*")
_ROWS = 200
_LONGEST = 200  # characters that a legend has room for
_DRAWN = re.compile(r' (?:d|transform|x|y|points|viewBox)="[^"]*"', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A chart with its axes drawn for the page, and what the script is told of them.

    series: every name that can be toggled, with its swatch. rows: the first of its table.
    """

    chart: Chart
    pictures: tuple[Markup, ...] = field(repr=False)
    panels: tuple[Panel, ...]
    series: tuple[tuple[str, Markup], ...]
    rows: Table = field(repr=False)
    told: dict[str, Any] = field(repr=False)


def drawn(chart: Chart) -> Drawn:
    """Draw a chart for the page, and pack the figure of a paper and the data beside it."""
    data = drawable(chart.data)
    panels = screen(chart.name, data, chart.key)
    paper = draw(chart.name, data, "svg").decode()
    plane = planes.told(data, panels) if chart.name == "phase" else None
    series = [(one.name, swatch(one.colour, one.mark, one.line)) for one in panels[0].series]
    if plane and plane["series"] == len(series):
        series.append((planes.INFEASIBLE, swatch("currentColor", "", "")))
    return Drawn(
        chart=chart,
        pictures=tuple(slim(panel.svg) for panel in panels),
        panels=panels,
        series=tuple(series),
        rows=replace(chart.table, rows=chart.table.rows[:_ROWS]),
        told={
            "key": chart.key,
            "panels": [_told(panel) for panel in panels],
            "plane": plane,
            "packed": packed({"svg": paper, "csv": csv_of(chart.table)}),
        },
    )


def drawable(data: Any) -> Any:
    """Spell out in a figure's data what no font draws, and shorten names that leave it no room.

    >>> drawable({"a\\x00": [1, "9" * 400, "W" * 400]})["a‹U+0000›"][2]
    'WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW… (400 characters)'
    """
    if isinstance(data, dict):
        return {drawable(key): drawable(one) for key, one in data.items()}
    if isinstance(data, list | tuple):
        return [drawable(one) for one in data]
    if not isinstance(data, str):
        return data
    is_name = len(data) > _LONGEST and not _NUMBER.fullmatch(data)
    return short(data, 40) if is_name else harmless(data)


def _told(panel: Panel) -> dict[str, Any]:
    """Collect the marks of a panel; what stands several times in one place is counted."""
    places = Counter((p.series, round(p.x, 1), round(p.y, 1), p.text) for p in panel.points)
    return {
        "points": [
            [series, x, y, harmless(text) + (f" ({times} times)" if times > 1 else "")]
            for (series, x, y, text), times in places.items()
        ]
    }


def packed(data: Any) -> str:
    """Pack JSON with gzip, in base64: the same text for the same data."""
    text = json.dumps(data, allow_nan=False).encode()
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


def slim(svg: str) -> Markup:
    """Write matplotlib's SVG smaller: what marks in a row share stands once, and no mark twice.

    >>> one = '<use x="1" y="2" style="fill:#000" href="#a" />'
    >>> slim(one + one + one.replace("2", "3")).count("<use"), slim(one * 2).count("style")
    (2, 1)
    """
    svg = _NOTES.sub("", svg)
    svg = _DRAWN.sub(lambda found: _FRACTION.sub(r"\1", found[0]), svg)
    svg = re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").replace(" />", "/>")
    return Markup(_ALIKE.sub(_shared, svg))


def _shared(row: re.Match[str]) -> str:
    uses = dict.fromkeys(_USE.findall(row[0]))
    style = next(iter(uses))[1]
    drawn = "".join(f"<use {place} {target}/>" for place, _, target in uses)
    return f"<g {style}>{drawn}</g>"
