"""Figures as bytes: one style, and the same bytes for the same data."""

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Okabe and Ito's palette: told apart with any colour vision; marks differ too.
STYLES = [
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
    ("#000000", "X"),
]


_SETTINGS: Any = {
    "svg.hashsalt": "hardness",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_SERIES = "series "
_INK = "#010203"  # stands for the reader's own colour of text
_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mark of a panel: where it stands in the units of its viewBox, and its values in words."""

    series: int
    x: float
    y: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes for a page: inline SVG whose ink is currentColor, and what can be hovered.

    title: of the axes. series: the names that can be toggled; what belongs to number i stands in
    groups of class "series" with data-series="i". width, height: of the viewBox.
    """

    title: str
    svg: str = field(repr=False)
    width: float
    height: float
    series: tuple[str, ...]
    points: tuple[Point, ...] = field(repr=False)


def panels(size: tuple[float, float], build: Callable[[Any], None], key: str) -> tuple[Panel, ...]:
    """Let `build` draw on a figure, and give each of its axes apart, for a page.

    key: begins every id in the SVG, so that several stand in one page.
    """
    import matplotlib

    ink = dict.fromkeys(_INKED, _INK)
    settings: Any = {**_SETTINGS, **ink, "svg.hashsalt": key, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        build(figure)
        figure.canvas.draw()
        figure.set_layout_engine("none")
        found = []
        for number, axis in enumerate(figure.axes):
            for other in figure.axes:
                other.set_visible(other is axis)
            tight: Any = axis.get_tightbbox()
            box = tight.transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
            out = io.BytesIO()
            figure.savefig(
                out, format="svg", transparent=True, bbox_inches=box, metadata={"Date": None}
            )
            svg = out.getvalue().decode()
            svg = _themed(svg[svg.index("<svg") :], f"{key}-{number}-")
            found.append(
                Panel(
                    title=axis.get_title(),
                    svg=svg,
                    width=float(box.width) * 72,
                    height=float(box.height) * 72,
                    series=(),
                    points=(),
                )
            )
    return tuple(found)


def _themed(svg: str, prefix: str) -> str:
    """Let the page colour the ink, and keep ids from meeting those of other pictures."""
    svg = svg.replace(_INK, "currentColor")
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    return re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}", svg)


def render(size: tuple[float, float], kind: str, build: Callable[[Any], None]) -> bytes:
    """Let `build` draw on a figure of a size in inches, and write it as svg, png or pdf."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        build(figure)
        for artist in figure.findobj(lambda artist: artist.get_gid() is not None):
            artist.set_gid(None)
        out = io.BytesIO()
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        with warnings.catch_warnings():  # a box stands for what the font lacks, of a user's names
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(out, format=kind, metadata=metadata[kind], dpi=150)
        return out.getvalue()


def belongs(series: str, *artists: Any) -> None:
    """Say that artists are part of a series, which a page can hide as a whole."""
    for artist in artists:
        artist.set_gid(f"{_SERIES}{series}")


def named(text: str) -> str:
    """Give a name that a user chose as it stands: $ in it begins no formula.

    A legend leaves out what begins with _, so a space goes before it.

    >>> named("mlp"), named("_mine.py:Net"), named("$x$.py:Net")
    ('mlp', ' _mine.py:Net', '\\\\$x\\\\$.py:Net')
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
