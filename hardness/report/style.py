"""How figures look: one style for paper, talk and page; one colour and one mark a learner."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from instances.errors import UsageError

Look = Literal["paper", "talk"]

# Found by a search: a contrast of 3 at least on white, and colours 22 apart at least in CIELAB as
# they are seen with any kind of colour blindness; shapes tell learners apart as well.
COLOURS = ("#025CDF", "#C8132E", "#2DA867", "#A14E9C", "#D57204", "#676767")
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",  # a saltire
)
INK = "#222222"
BOUND = "#000000"  # of certified lines
GREY = "#8A8A8A"
PALE = "#D0D0D0"
_GRID = "#E4E4E4"
_LINE = "M-1.8,0L1.8,0"  # in a legend
# Those that mostly stand beside each other differ in both; no two are equal.
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
# Of a learner's second, third, .. parameters in one figure; no learner has these marks as its own.
_VARIANTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (
        "M0,-1L.22,-.31L.95,-.31L.36,.12L.59,.81L0,.38L-.59,.81L-.36,.12L-.95,-.31L-.22,-.31Z",
        (6, 3),
    ),
    ("triangle-right", (6, 2, 1, 2)),
    ("M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z", (1, 2)),
    ("triangle-left", (6, 3)),
    ("M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z", (6, 2, 1, 2)),
    ("M0,-1L.6,0L0,1L-.6,0Z", (1, 2)),
)


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a series is drawn: #RRGGBB, a shape of Vega (a name or an SVG path), dashes in pixels.

    marks: as `plot` lists them. step: "step" where a value holds around its x, "step-after" where
    it holds until the next. wide: a bar, in units of x. thick: a line, over others. shown: in the
    legend.
    """

    colour: str = COLOURS[0]
    shape: str = "circle"
    dash: tuple[int, ...] = ()
    marks: tuple[str, ...] = ("line", "point")
    step: str = ""
    wide: float = 0.8
    thick: float = 1.0
    shown: bool = True

    @property
    def stroke(self) -> bool:
        """Whether a legend shows it as a stroke."""
        return self.symbol == _LINE

    @property
    def symbol(self) -> str:
        """Its shape in a legend: its mark, a square of what has a face, or a stroke."""
        if "point" in self.marks:
            return self.shape
        return "square" if self.marks[0] in ("band", "bar", "rect") else _LINE


def pale(colour: str) -> str:
    """Return the colour of a band.

    >>> pale("#000000"), pale("#FFFFFF")
    ('#d9d9d9', '#ffffff')
    """
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.15 * (255 - v)):02x}" for v in parts)


def wall(colour: str = GREY, dash: tuple[int, ...] = (5, 3), **rest: Any) -> Style:
    """Return the style of lines upright in a panel, at every x of its rows."""
    return Style(colour=colour, dash=dash, marks=("wall",), **rest)


def style_of(learner: str) -> Style:
    """Return the style of a learner that stands alone, by its name, parameters aside.

    >>> style_of("queries") == style_of("queries:batch=3"), style_of("a.py:B").shape in SHAPES
    (True, True)
    """
    base = _base(learner)
    return _own(base, _place(base))


def styles_of(learners: Iterable[str]) -> dict[str, Style]:
    """Return the styles of learners that stand in one figure, no two of them equal.

    A learner has its own style. Where it stands there with several parameters, the first of these
    in order of their text has it, the others have its colour with marks and lines of their own.
    A learner from a file moves on from its own to the colour, then the mark, that fewest others of
    the figure have.

    >>> found = styles_of(["lowdegree:degree=2", "lowdegree:degree=1", "queries"])
    >>> found["queries"] == style_of("queries"), found["lowdegree:degree=2"].dash
    (True, (6, 3))
    """
    groups: dict[str, list[str]] = {}
    names = list(dict.fromkeys(learners))
    for learner in names:
        groups.setdefault(_base(learner), []).append(learner)
    taken: list[Style] = []
    found: dict[str, Style] = {}
    for base in sorted(groups, key=lambda name: (name not in _BUILT_IN, name)):
        own = _own(base, _place(base)) if base in _BUILT_IN else _free(_place(base), taken)
        taken.append(own)
        for i, learner in enumerate(sorted(groups[base], key=lambda text: (len(text), text))):
            found[learner] = _variant(own, i)
    return {learner: found[learner] for learner in names}


def series_style(number: int) -> Style:
    """Return the style of the number-th line of a figure whose lines are no learners."""
    return Style(colour=COLOURS[number % len(COLOURS)], shape=SHAPES[number % len(SHAPES)])


def _free(place: int, taken: list[Style]) -> Style:
    """The style from a place on that those of a figure have least in common with."""
    colours, shapes = ([getattr(one, part) for one in taken] for part in ("colour", "shape"))
    every = (series_style(place + i) for i in range(len(COLOURS) * len(SHAPES)))

    def shared(one: Style) -> tuple[bool, int, int]:
        return one in taken, colours.count(one.colour), shapes.count(one.shape)

    return min(every, key=shared)


def _own(base: str, place: int) -> Style:
    """The style of a built-in learner, or the style at a place of one that is not."""
    if base in _BUILT_IN:
        colour, shape = _BUILT_IN[base]
        return Style(colour=COLOURS[colour], shape=SHAPES[shape])
    return series_style(place)


def _variant(own: Style, number: int) -> Style:
    if not number:
        return own
    shape, dash = _VARIANTS[(number - 1) % len(_VARIANTS)]
    return Style(colour=own.colour, shape=shape, dash=dash)


def _base(learner: str) -> str:
    """The name without its parameters; of a file, without the folders it stands in.

    >>> _base("lowdegree:degree=2"), _base("a/b.py:Net:width=3")
    ('lowdegree', 'b.py:Net')
    """
    from instances.userfile import split

    try:
        found = split(learner)
    except UsageError:  # a figure may hold any text
        return learner
    if found is None:
        return learner.partition(":")[0]
    return f"{found.path.name}:{found.name}"


def _place(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:4])


def config(look: Look) -> dict[str, Any]:
    """Return Vega-Lite's configuration of a look: letters, lines and legends."""
    scale = 1.6 if look == "talk" else 1.0
    small, normal, large = 10 * scale, 11 * scale, 12 * scale
    return {
        "font": "sans-serif",
        "background": "white",
        "padding": 8,
        "view": {"stroke": None},
        "axis": {
            "domainColor": INK,
            "tickColor": INK,
            "gridColor": _GRID,
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "labelFontSize": small,
            "titleFontSize": normal,
            "labelLimit": 260 * scale,
            "titleLimit": 600,
        },
        "axisX": {"grid": False},
        "legend": {
            "orient": "bottom",
            "direction": "horizontal",
            "columns": 3,
            "labelFontSize": normal,
            "titleFontSize": normal,
            "titleFontWeight": "normal",
            "labelLimit": 900,
            "symbolSize": 70 * scale,
            "symbolStrokeWidth": 1.5 * scale,
        },
        "title": {
            "color": INK,
            "fontSize": large,
            "subtitleColor": INK,
            "subtitleFontSize": normal,
            "anchor": "start",
            "fontWeight": "bold",
            "offset": 8,
        },
        "header": {"labelFontSize": normal, "titleFontSize": normal, "titleFontWeight": "normal"},
        "line": {"strokeWidth": 1.5 * scale},
        "rule": {"strokeWidth": 1.2 * scale, "color": INK},
        "point": {"size": 45 * scale, "strokeWidth": 1.5 * scale},
        "text": {"fontSize": small, "color": INK},
        "concat": {"spacing": 24},
    }
