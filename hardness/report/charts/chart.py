"""Charts in the grammar of Vega-Lite: written for a paper or a talk, and given to a page.

A figure is a function of its numbers that returns a chart, which is a description in Vega-Lite 6
as a dictionary. What a user named comes through `named`.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hardness.report.charts.style import Style, styles_of
from hardness.report.plot import HIGH, MOST, WIDE, Data, named
from hardness.report.vega import complete, write

__all__ = ["HIGH", "MOST", "WIDE", "Data", "complete", "named", "write"]

PICK = "pick"  # the series that a reader of the page chose in the legend
# Plain numbers from 0.001 to 10000, as 2e6 else: fonts of PDF files lack small raised figures.
_LABELS = (
    "datum.value > 0.0009 && datum.value < 11000 ? format(datum.value, '~g') : "
    "replace(format(datum.value, '.0e'), '+', '')"
)


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
