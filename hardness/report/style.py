"""The style of figures: one colour and marker for each learner, axes, legends, captions.

Figures are made without pyplot, so nothing global changes and threads may draw at once. The caller
may change limits, fonts or a title on the figure that is returned.
"""

import hashlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, get_args

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from instances.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")
Data = dict[str, Any]
Kind = Literal["svg", "pdf", "png"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PAGE = 6.8  # inches: width of the text of a paper, over both columns
_PANEL = 2.1  # inches: least width of a panel

# Found by a search. Each has a contrast of at least 3 on white. Any two differ by at least 22 in
# CIELAB, also as seen with each kind of colour blindness. Learners differ in their markers too.
COLOURS = ("#025CDF", "#C8132E", "#2DA867", "#A14E9C", "#D57204", "#676767")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#222222"
BOUND_COLOUR = "#000000"  # of certified lines
GREY = "#8A8A8A"
# A box behind text that makes it readable on every background.
TEXT_BOX = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.6, "linewidth": 0}
LARGEST_DRAWN = 1e300  # larger numbers are left out of figures
_RC: Any = {
    **{"font.size": 8, "axes.titlesize": 8.5, "axes.titleweight": "bold", "legend.fontsize": 8},
    **{"axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False},
    **{"axes.grid": True, "axes.grid.axis": "y", "grid.color": "#E4E4E4", "axes.axisbelow": True},
    **{"lines.markersize": 4.5, "lines.linewidth": 1.2, "lines.markeredgewidth": 1.1},
    **{"legend.frameon": False, "legend.handlelength": 2.4, "hatch.linewidth": 0.6},
    **{"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK},
    **{"ytick.color": INK, "savefig.facecolor": "white"},
}
# For files: fonts are embedded, and equal figures give equal bytes.
_SAVED: Any = {"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "hardness"}
_TIMES: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
_ABOUT = {"svg": "Description", "pdf": "Subject"}  # metadata field of the caption
# Indexes of colour and marker. Learners that often share a figure differ in both, and no two
# learners have the same pair.
_BUILT_IN = {
    "queries": (0, 0),
    "elimination": (1, 1),
    "lowdegree": (2, 2),
    "student": (3, 3),
    "mlp": (4, 6),
    "pooled": (5, 4),
    "staged": (0, 2),
    "levenberg": (5, 0),
    "transformer": (0, 4),
    "attention": (1, 3),
    "linear": (1, 6),
    "lifted": (2, 1),
    "bruteforce": (0, 1),
    "mitm": (5, 3),
    "restricted": (1, 5),
    "bkw": (4, 4),
    "modlinear": (1, 4),
    "primal": (3, 0),
    "dual": (3, 4),
    "trivial": (5, 6),
    "flips": (3, 5),
}
# Marker and line of the second, third, ... setting of a learner in one figure. No learner has them
# as its own.
_VARIANTS = (("*", "--"), (">", "-."), ("p", ":"), ("<", "--"), ("h", "-."), ("d", ":"))


@dataclass(frozen=True, kw_only=True)
class Look:
    """The look of a series: colour as #RRGGBB, marker and line style of matplotlib."""

    colour: str = COLOURS[0]
    marker: str = "o"
    line: str = "-"

    @property
    def point(self) -> dict[str, Any]:
        """The arguments of `Axes.plot` for markers without a line."""
        return {"color": self.colour, "marker": self.marker, "linestyle": "none"}


class CaptionedFigure(Figure):
    """A figure of matplotlib with its caption, and the rows that it is drawn from.

    Attributes:
        caption: describes the figure; it is not part of the picture.
        rows: the tidy rows, flat dictionaries.
    """

    caption: str = ""
    rows: Sequence[Data] = ()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the figure with its fonts embedded; equal figures give equal files.

        Args:
            fname: a path or an open file.
            options: those of `Figure.savefig`.
        """
        named = Path(fname).suffix[1:] if isinstance(fname, str | Path) else ""
        kind = str(options.get("format") or named).lower()
        if kind in _TIMES:
            about = {_ABOUT[kind]: self.caption} if self.caption else {}
            options = {"metadata": {**_TIMES[kind], **about}, **options}
        with mpl.rc_context(_SAVED), _missing_glyphs():
            super().savefig(fname, **options)

    def file(self, kind: str, **options: Any) -> bytes:
        """Return the bytes of the file that `savefig` writes; kind: "svg", "pdf" or "png"."""
        buffer = io.BytesIO()
        self.savefig(buffer, format=kind, **options)
        return buffer.getvalue()

    def svg(self) -> str:
        """Return the figure as an SVG element for a web page, with its texts as text."""
        buffer = io.StringIO()
        with mpl.rc_context(_SAVED | {"svg.fonttype": "none"}), _missing_glyphs():
            super().savefig(buffer, format="svg", metadata=_TIMES["svg"] | {"Creator": None})
        return buffer.getvalue()[buffer.getvalue().index("<svg") :]

    def _repr_html_(self) -> str:
        """Show the figure and its caption in a notebook."""
        from html import escape

        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{self.svg()}{caption}</figure>"


@contextmanager
def _missing_glyphs() -> Iterator[None]:
    """Ignore warnings of letters in a user's names that the font lacks; a box is drawn instead."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw in the style of this module, whatever matplotlib's settings are."""

    @wraps(draw)
    def drawn(*arguments: P.args, **named: P.kwargs) -> R:
        with mpl.rc_context(_RC):
            return draw(*arguments, **named)

    return drawn


def panels(
    count: int,
    *,
    ax: Any = None,
    width: float | None = None,
    columns: int = 3,
    ratio: float = 0.82,
    single: float = 4.2,
) -> tuple[Figure, list[Axes]]:
    """Make a figure with a number of axes, or use the given axes.

    Args:
        count: number of panels.
        ax: axes to draw into, one or a sequence of `count`.
        width: of the figure in inches; in a narrow figure panels are below each other.
        columns: most panels in a row.
        ratio: height of a panel divided by its width.
        single: width of a figure of one panel in inches, without `width`.

    Returns:
        The figure, and its axes in order.

    Raises:
        UsageError: for another number of axes, or a width below 1 inch.
    """
    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != count:
            raise UsageError(f"ax must hold {count} axes, one a panel, got {len(axes)}")
        return axes[0].figure, axes
    width = (single if count == 1 else PAGE) if width is None else width
    if not 1 <= width <= 100:
        raise UsageError(f"the width must be between 1 and 100 inches, got {width:g}")
    across = max(1, min(columns, count, int(width / _PANEL)))
    down = -(-count // across)
    height = max(1.5, min(3.4, ratio * width / across)) * down + 0.55
    figure = CaptionedFigure(figsize=(width, height), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for spare in places[count:]:
        spare.remove()
    return figure, list(places[:count])


def captioned(figure: Figure, caption: Iterable[str], data: Data) -> Figure:
    """Attach caption and rows to a figure that this module made; other figures stay unchanged."""
    if isinstance(figure, CaptionedFigure):
        figure.caption = " ".join(" ".join(filter(None, caption)).split())
        figure.rows = data["rows"]
    return figure


def legend_below(figure: Figure, axes: Sequence[Axes], handles: Sequence[Any]) -> None:
    """Put one legend of all panels below them; if the axes are the caller's, into the last."""
    if not handles:
        return
    longest = max(len(str(handle.get_label())) for handle in handles)
    room = figure.get_figwidth() if isinstance(figure, CaptionedFigure) else 3.3
    columns = max(1, min(len(handles), int(room / (0.5 + 0.058 * longest))))
    labels = [str(handle.get_label()) for handle in handles]
    if isinstance(figure, CaptionedFigure):
        figure.legend(handles, labels, loc="outside lower left", ncols=columns)
    else:
        axes[-1].legend(handles, labels, ncols=columns)


def entry(label: str, look: Look, *, line: bool = True) -> Line2D:
    """Make the legend entry of a series."""
    marks = {**look.point, "linestyle": look.line if line else "none"}
    return Line2D([], [], label=label, **marks)


def dodge(ax: Axes, index: int, count: int) -> Any:
    """Return a transform that moves one of several series aside, so that none hides another.

    The data keep their values; only the drawing moves, by a few points.
    """
    step = min(2.2, 12 / max(count, 1))
    shift = step * (index - (count - 1) / 2) / 72
    return ax.transData + ScaledTranslation(shift, 0, ax.figure.dpi_scale_trans)


def size_axis(ax: Axes, sizes: Sequence[float], label: str, *, log: bool = False) -> None:
    """Put ticks of the horizontal axis at the sizes that were run, without overlapping ones.

    Beyond the first and the last size there is room for marks that `dodge` moves aside.
    """
    ax.set_xlabel(legible_name(label))
    sizes = sorted(set(sizes))
    if log:
        ax.set_xscale("log")
    places = np.log(sizes) if log else np.asarray(sizes, float)
    apart = (places[-1] - places[0]) / 8 if len(sizes) > 1 else 0
    kept: list[int] = []
    for i, place in enumerate(places):
        if not kept or place - places[kept[-1]] >= 0.999 * apart:
            kept.append(i)
    ax.xaxis.set_major_locator(FixedLocator([sizes[i] for i in kept]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    room = 0.14 * (places[-1] - places[0]) or (0.1 if log else 0.5)
    low, high = places[0] - room, places[-1] + room
    ax.set_xlim(*(np.exp([low, high]) if log else (low, high)))


def cost_axis(ax: Axes, values: Iterable[float], *, zero: bool = False) -> float:
    """Make the vertical axis logarithmic over whole decades, with a marked floor for zeros.

    Args:
        ax: the axes.
        values: the values that are drawn.
        zero: whether values of 0 are drawn, at the floor.

    Returns:
        The height at which 0 is drawn: a dotted line labelled 0, below all other values.
    """
    drawn = [v for v in values if v and 0 < v < LARGEST_DRAWN]
    low = int(np.floor(np.log10(min(drawn)) + 1e-9)) if drawn else 0
    high = int(np.ceil(np.log10(max(drawn)) - 1e-9)) if drawn else 1
    high = max(high, low + 1)
    has_zero = zero and any(v == 0 for v in values)
    floor = 10.0 ** (low - max(1, (high - low) // 4))
    step = -(-(high - low) // 6)
    ticks = [10.0**e for e in range(low, high + 1, step)]
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator([floor, *ticks] if has_zero else ticks))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_formatter(NullFormatter())
    if has_zero:
        ax.axhline(floor, color=GREY, linestyle=":", linewidth=0.8)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v <= floor else _power(v)))
    else:
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: _power(v)))
    margin = 10 ** (0.06 * (high - (np.log10(floor) if has_zero else low)))
    ax.set_ylim((floor if has_zero else 10.0**low) / margin, 10.0**high * margin)
    return floor


def _power(value: float) -> str:
    exponent = round(float(np.log10(value)))
    if -4 <= exponent <= 4:
        return f"{value:g}"
    return f"$10^{{{exponent}}}$"


def legible_name(text: str, longest: int = 40) -> str:
    """Write a name that a user chose so that a figure can show it: on one line, not too long.

    The folder of a code file is left out, and matplotlib reads no part as a formula.

    >>> legible_name("mlp"), legible_name("my/own.py:Net:width=3"), legible_name("a" * 50, 9)
    ('mlp', 'own.py:Net:width=3', 'aaaa…aaaa')
    """
    head, colon, rest = text.partition(".py:")
    text = head.rpartition("/")[2] + colon + rest if colon else text
    text = "".join(c if c.isprintable() else "?" for c in text)
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]}…{text[-half:]}"
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # a legend leaves out labels with _ first


def style_of(learner: str) -> Look:
    """Return the look of a learner alone in a figure, which does not depend on its parameters.

    >>> style_of("queries") == style_of("queries:batch=3"), style_of("a.py:B").marker in MARKERS
    (True, True)
    """
    base = _base(learner)
    return _usual_look(base, _place(base))


def styles_of(learners: Iterable[str]) -> dict[str, Look]:
    """Return the looks of the learners of one figure, no two of them equal.

    A learner has its own look. If it is there with several settings, the first of these, ordered by
    length and text, has this look. The others have its colour with other markers and lines. A
    learner from a file gets the colour and the marker that fewest others of the figure have.

    >>> looks = styles_of(["lowdegree:degree=2", "lowdegree:degree=1", "queries"])
    >>> looks["queries"] == style_of("queries"), looks["lowdegree:degree=2"].line
    (True, '--')
    """
    groups: dict[str, list[str]] = {}
    names = list(dict.fromkeys(learners))
    for learner in names:
        groups.setdefault(_base(learner), []).append(learner)
    taken: list[Look] = []
    looks: dict[str, Look] = {}
    for base in sorted(groups, key=lambda name: (name not in _BUILT_IN, name)):
        first = _usual_look(base, _place(base)) if base in _BUILT_IN else _free(_place(base), taken)
        taken.append(first)
        for i, learner in enumerate(sorted(groups[base], key=lambda text: (len(text), text))):
            looks[learner] = _variant(first, i)
    return {learner: looks[learner] for learner in names}


def series_look(number: int) -> Look:
    """Return the look of the number-th line of a figure whose lines are not learners."""
    return Look(colour=COLOURS[number % len(COLOURS)], marker=MARKERS[number % len(MARKERS)])


def _free(place: int, used: list[Look]) -> Look:
    """Return the look, in order from a place on, that shares least with those used already."""
    colours, markers = ([getattr(look, part) for look in used] for part in ("colour", "marker"))
    candidates = (series_look(place + i) for i in range(len(COLOURS) * len(MARKERS)))

    def shared(look: Look) -> tuple[bool, int, int]:
        return look in used, colours.count(look.colour), markers.count(look.marker)

    return min(candidates, key=shared)


def _usual_look(base: str, place: int) -> Look:
    if base in _BUILT_IN:
        colour, marker = _BUILT_IN[base]
        return Look(colour=COLOURS[colour], marker=MARKERS[marker])
    return series_look(place)


def _variant(first: Look, number: int) -> Look:
    if not number:
        return first
    marker, line = _VARIANTS[(number - 1) % len(_VARIANTS)]
    return Look(colour=first.colour, marker=marker, line=line)


def _base(learner: str) -> str:
    """Return the name of a learner without parameters, and for a file without its folder.

    >>> _base("lowdegree:degree=2"), _base("a/b.py:Net:width=3")
    ('lowdegree', 'b.py:Net')
    """
    from instances.userfile import split

    try:
        file = split(learner)
    except UsageError:  # rows may have any text
        return learner
    if file is None:
        return learner.partition(":")[0]
    return f"{file.path.name}:{file.name}"


def _place(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:4])
