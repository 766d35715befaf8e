"""Figures as bytes: one style, and the same bytes for the same data."""

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from hardness.report.powers import plain_powers
from hardness.report.styles import COLOURS, MARKS

STYLES = list(zip((*COLOURS, "#000000"), MARKS, strict=True))  # of lines that are no learners

Kind = Literal["svg", "pdf", "png"]
Look = Literal["paper", "talk"]
KINDS: tuple[Kind, ...] = ("svg", "pdf", "png")
LOOKS: tuple[Look, ...] = ("paper", "talk")

SERIES = "series "  # begins the gid of what belongs to a series
_SETTINGS: Any = {
    "svg.hashsalt": "hardness",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# A talk is 16:9, and is shown on the whole screen: what is drawn on less room looks larger there.
_SHRUNK = 0.75
_TICKS = 5
_GAP = 0.03  # inches between an axis and a legend below it
_METADATA: dict[str, Any] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
_LONGEST = 40  # characters of a name in a figure
_FULL_HD = 1920  # dots across, of a talk as png


def render(
    size: tuple[float, float], kind: str, build: Callable[[Any], None], look: Look = "paper"
) -> bytes:
    """Let `build` draw on a figure of a size in inches, and write it as svg, png or pdf.

    look: "paper" keeps the size; "talk" is 16:9 with letters and lines about 1.8 times as large
    beside the figure, and fewer ticks.
    """
    if look == "talk":
        width = _SHRUNK * max(size[0], 8.0)
        size = (width, width * 9 / 16)
    dots = _FULL_HD / size[0] if look == "talk" else 150
    with drawing(size, build) as figure:
        for axes in figure.axes:
            plain_powers(axes)
            for artist in axes.get_children():
                artist.set_gid(None)
        if look == "talk":
            _fewer_ticks(figure)
        _fit(figure)
        if look == "talk":
            _free_legends(figure)
            _fit(figure)  # what has less room beside legends
        out = io.BytesIO()
        figure.savefig(out, format=kind, metadata=_METADATA[kind], dpi=dots)
        return out.getvalue()


@contextmanager
def drawing(
    size: tuple[float, float], build: Callable[[Any], None], layout: Any = "constrained", **rc: Any
) -> Iterator[Any]:
    """Give a figure that `build` has drawn on, within the settings that hold for all figures."""
    import matplotlib

    settings: Any = {**_SETTINGS, **rc}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        # A box stands for what the font lacks, of a user's names.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout=layout)
        FigureCanvasAgg(figure)
        build(figure)
        yield figure


def _fewer_ticks(figure: Any, most: int = _TICKS) -> None:
    """Keep at most so many ticks on an axis: of those that were set, every second, third, .."""
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

    for axis in (one for axes in figure.axes for one in (axes.xaxis, axes.yaxis)):
        locator = axis.get_major_locator()
        if isinstance(locator, FixedLocator):
            places, names = axis.get_ticklocs(), [t.get_text() for t in axis.get_ticklabels()]
            step = -(-len(places) // (most + 2))
            if step > 1:
                axis.set_ticks(places[::step], names[::step])
        elif isinstance(locator, LogLocator):
            locator.set_params(numticks=most)
            low, high = axis.get_view_interval()
            if high > 10 * low:
                axis.set_minor_formatter(NullFormatter())
        elif isinstance(locator, MaxNLocator):
            locator.set_params(nbins=most)


def _fit(figure: Any) -> None:
    """Break titles and names of axes into lines where they are wider than their room."""
    said = [figure._suptitle] if getattr(figure, "_suptitle", None) else []
    told: list[tuple[Any, float]] = [(text, 0.98) for text in said]
    wide = figure.bbox.width
    figure.get_layout_engine().execute(figure)  # all that a drawing moves, without the drawing
    for axes in figure.axes:
        room = axes.get_window_extent()
        share = 1.12 * room.width / wide
        told += [(axes.title, share), (axes._left_title, share), (axes.xaxis.label, share)]
        told += [(axes.yaxis.label, 1.12 * room.height / wide)]
    for text, share in told:
        words, box = text.get_text(), text.get_window_extent()
        length = max(box.width, box.height) / wide
        lines = max(words.count("\n") + 1, 1)
        if not words or lines > 1 or "$" in words.replace(r"\$", "") or length <= share:
            continue
        text.set_text(folded(words, max(int(len(words) * share / length), 12)))


def _free_legends(figure: Any) -> None:
    """Put legends that hide something, or are wider than their axes, below these; break long lines.

    Letters are larger in a talk, so that what fits in a paper may not.
    """
    from matplotlib.transforms import ScaledTranslation

    found = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    for legend in found:  # a wide one would leave its axes no room, which is measured first
        legend.set_in_layout(False)
    figure.draw_without_rendering()
    for legend in found:
        axes = legend.axes
        box, room = legend.get_window_extent(), axes.get_window_extent()
        down = (axes.get_tightbbox().y0 - room.y0) / figure.dpi - _GAP
        legend.set_in_layout(True)
        inside = room.x0 <= box.x0 and box.x1 <= room.x1
        beside = any(box.overlaps(text.get_window_extent()) for text in axes.texts)
        if box.width > 0.7 * room.width or not inside or beside:
            below = ScaledTranslation(0, down, figure.dpi_scale_trans)  # whatever room is left
            legend.set_loc("upper center")
            legend.set_bbox_to_anchor((0.5, 0), axes.transAxes + below)
    for legend in figure.legends:
        long = legend.get_window_extent().width / figure.bbox.width
        texts = legend.get_texts()
        most = max((len(text.get_text()) for text in texts), default=0)
        for text in texts if long > 1 else ():
            text.set_text(textwrap.fill(text.get_text(), max(int(most / long / 1.5), 24)))


def folded(text: str, width: int) -> str:
    """Break a text into lines at blanks and behind commas, so that a spec keeps its words whole.

    >>> folded("n (lwe:q=1009,error=uniform,width=2)", 20)
    'n (lwe:q=1009,\\nerror=uniform,\\nwidth=2)'
    """
    lines = [""]
    for part in re.findall(r"[^,\s]+,*\s*|,+\s*|\s+", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    cut = (
        textwrap.wrap(line, max(width, 1)) if len(line) > 2 * width else [line] for line in lines
    )
    return "\n".join(line.strip() for pieces in cut for line in pieces)


def belongs(series: str, *artists: Any) -> None:
    """Say that artists are part of a series, which a page can hide as a whole."""
    for artist in artists:
        artist.set_gid(f"{SERIES}{series}")


def named(text: str, longest: int = _LONGEST) -> str:
    """Give a name that a user chose so that a figure can show it: in one line, not too long.

    $ in it begins no formula. A legend leaves out what begins with _, so a space goes before it.

    >>> named("mlp"), named("_mine.py:Net"), named("$x$.py:Net")
    ('mlp', ' _mine.py:Net', '\\\\$x\\\\$.py:Net')
    >>> named("a" * 30 + "b" * 30)
    'aaaaaaaaaaaaaaaaaaaa…bbbbbbbbbbbbbbbbbbb'
    >>> named("a" + chr(10) + chr(0x202E) + "b")
    'a??b'
    """
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-((longest - 1) // 2) :]}"
    text = re.sub(r"\$", r"\\$", "".join(c if c.isprintable() else "?" for c in text))
    return f" {text}" if text.startswith("_") else text
