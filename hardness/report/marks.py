"""What can be hovered in a pair of axes: every visible mark, with its values in words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hardness.report.canvas import SERIES

_UNITS = ("s", "bits")
_NONE = ("None", "none", "", " ")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mark in dots from the upper left corner of its figure; series: -1 for none."""

    series: int
    x: float
    y: float
    text: str


def marks(axes: Any, height: float, names: list[str]) -> Iterator[Mark]:
    """Find the marks of lines, the dots of scatter plots and the ends of bars.

    height: of the figure, in dots. names: of the series; artists have their numbers as gids.
    """
    import numpy as np

    if not axes.axison and not axes.lines:
        return
    frame = axes.bbox.padded(1)
    x_words, y_words = _reader(axes.xaxis), _reader(axes.yaxis)
    for artist, places, move in _placed(axes):
        if not artist.get_visible() or not len(places):
            continue
        gid = artist.get_gid() or ""
        series = int(gid.removeprefix(SERIES)) if gid.startswith(SERIES) else -1
        begin = f"{names[series]}: " if series >= 0 else ""
        known = np.isfinite(places).all(axis=1)
        seen = move.transform(np.where(known[:, None], places, 1.0))
        for (x, y), (left, up), there in zip(places, seen, known, strict=True):
            if there and np.isfinite((left, up)).all() and frame.contains(left, up):
                yield Mark(
                    series=series,
                    x=float(left),
                    y=float(height - up),
                    text=f"{begin}{x_words(float(x))}, {y_words(float(y))}",
                )


def _placed(axes: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Give artists with the places of their marks and what moves these onto the figure."""
    import numpy as np
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer

    for line in axes.lines:
        if line.get_marker() not in _NONE:
            x, y = (np.atleast_1d(np.asarray(v, dtype=float)) for v in line.get_data())
            yield line, np.stack((x, y), axis=1), line.get_transform()
    for dots in axes.collections:
        if isinstance(dots, PathCollection):
            yield dots, np.asarray(dots.get_offsets(), dtype=float), dots.get_offset_transform()
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            for bar in bars:
                place = (bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height())
                yield bar, np.array([place], dtype=float), axes.transData


def _reader(axis: Any) -> Any:
    """Say a value of an axis: "examples = 1 723 788", "time = 0.012 s", or the name of its tick."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    label = " ".join(axis.get_label_text().split())
    found = re.fullmatch(r"(.*?) \((.*)\)", label)
    name, unit = found.groups() if found else (label, "")
    name = name.replace(r"\$", "$").removeprefix("number of ").strip()
    end = f" {unit}" if unit in _UNITS else ""
    names: dict[float, str] = {}
    formatter, locator = axis.get_major_formatter(), axis.get_major_locator()
    if isinstance(formatter, FixedFormatter) and isinstance(locator, FixedLocator):
        places = axis.get_majorticklocs()
        ticks = zip(places, formatter.seq, strict=False)
        names = {float(place): str(text).partition("\n")[0] for place, text in ticks}

    def read(value: float) -> str:
        words = names.get(value) or f"{plain_number(value)}{end}"
        return f"{name} = {words}" if name else words

    return read


def plain_number(value: float) -> str:
    """Write a number for people: whole ones in full with commas, others to four digits.

    >>> plain_number(1723788.0), plain_number(0.0123456), plain_number(3e15)
    ('1,723,788', '0.01235', '3e+15')
    """
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}"
