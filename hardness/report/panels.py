"""Figures for a page: each of the axes as inline SVG, with what can be hidden and hovered."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hardness.report.canvas import SERIES, drawing
from hardness.report.marks import marks
from hardness.report.powers import plain_powers
from hardness.report.svg import Box, parts

_WIDE = 220.0  # pixels that axes are no wider than, where their ticks have room
_APART = (30.0, 14.0)  # pixels between ticks, across and up


@dataclass(frozen=True, kw_only=True)
class Series:
    """What can be hidden as a whole, as a legend shows it.

    colour: #rrggbb or currentColor. mark: of matplotlib, empty for none. line: "-", "--", "-.",
    ":" or empty for none. Both are empty for an area.
    """

    name: str
    colour: str
    mark: str
    line: str


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mark of a panel: where it stands in the units of its viewBox, and its values in words.

    series: its number, -1 for none. x, y: from the upper left corner.
    """

    series: int
    x: float
    y: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes for a page: inline SVG whose ink is currentColor, and what can be hovered.

    title: of the axes. series: of the whole figure, the same for each of its panels; what belongs
    to number i stands in groups of class "series" with data-series="i". There is no legend in the
    SVG: who shows it makes one of the series. What is white on paper is var(--paper, #fff).
    width, height: of the viewBox, which begins at 0 0.
    """

    title: str
    svg: str = field(repr=False)
    width: float
    height: float
    series: tuple[Series, ...]
    points: tuple[Point, ...] = field(repr=False)


def panels(size: tuple[float, float], build: Callable[[Any], None], key: str) -> tuple[Panel, ...]:
    """Let `build` draw on a figure, and give each of its axes apart, for a page.

    key: begins every id in the SVG, so that several stand in one page.
    """
    settings = {"svg.hashsalt": key, "svg.fonttype": "none", "figure.dpi": 72}
    with drawing(size, build, layout=None, **settings) as figure:
        figure.subplots_adjust(left=0.05, right=0.97, bottom=0.08, top=0.92)
        groups = _groups(figure)
        _narrow(figure)
        for i, group in enumerate(groups):
            for axes in group:
                if axes.get_legend():
                    axes.get_legend().remove()
                axes.set_gid(f"panel {i}")
                plain_powers(axes)
        found = _series(figure.axes)
        _number(figure, {series.name: i for i, series in enumerate(found)})
        out = io.BytesIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        frames = {f"panel {i}": _frame(figure, group) for i, group in enumerate(groups)}
        every = parts(out.getvalue(), frames, key, SERIES)
        names = [series.name for series in found]
        return tuple(
            Panel(
                title=group[0].get_title() or group[0].get_title(loc="left"),
                svg=svg,
                width=round(box.width, 2),
                height=round(box.height, 2),
                series=found,
                points=tuple(
                    Point(
                        series=mark.series,
                        x=round(mark.x - box.left, 2),
                        y=round(mark.y - box.top, 2),
                        text=mark.text,
                    )
                    for axes in group
                    for mark in marks(axes, figure.bbox.height, names)
                ),
            )
            for group, (box, svg) in zip(groups, every, strict=True)
        )


def _groups(figure: Any) -> list[list[Any]]:
    """Put axes together that make one picture: twins, and scales of colours with their maps."""
    groups: list[list[Any]] = []
    homes: dict[int, list[Any]] = {}
    for axes in figure.axes:
        bar = getattr(axes, "_colorbar", None)
        beside = [bar.mappable.axes] if bar else axes._twinned_axes.get_siblings(axes)
        home = next((homes[id(one)] for one in beside if id(one) in homes), None)
        if home is None:
            home = []
            groups.append(home)
        home.append(axes)
        homes[id(axes)] = home
    return groups


def _narrow(figure: Any) -> None:
    """Make a figure smaller about its letters: those of wide axes are too small on a phone."""

    def least(axes: Any) -> float:
        wide = max(_WIDE, _APART[0] * len(axes.get_xticks()))
        high = _APART[1] * len(axes.get_yticks())
        return max(wide / axes.bbox.width, high / axes.bbox.height)

    drawn = [axes for axes in figure.axes if axes.axison and not hasattr(axes, "_colorbar")]
    kept = min(1.0, max(map(least, drawn), default=1.0))
    figure.set_size_inches(figure.get_size_inches() * kept)


def _frame(figure: Any, group: list[Any]) -> Box:
    """What the axes take, names and numbers aside."""
    from matplotlib.transforms import Bbox

    found = Bbox.union([axes.bbox for axes in group])
    return Box(
        left=float(found.x0),
        top=float(figure.bbox.height - found.y1),
        width=float(found.width),
        height=float(found.height),
    )


def _series(every: list[Any]) -> tuple[Series, ...]:
    """Collect the series in the order drawn; what has a label of its own is one."""
    found: dict[str, list[Any]] = {}
    for axes in every:
        for container in axes.containers:
            _adopt(container.get_label(), list(_flat(container)))
        for artist in (*axes.lines, *axes.collections, *axes.patches):
            _adopt(artist.get_label(), [artist])
            gid = artist.get_gid()
            if gid and gid.startswith(SERIES):
                found.setdefault(gid.removeprefix(SERIES), []).append(artist)
    return tuple(_shown(name, artists) for name, artists in found.items())


def _number(figure: Any, numbers: dict[str, int]) -> None:
    """Put numbers for names in gids: a name may hold what XML does not allow."""
    for artist in figure.findobj(lambda artist: (artist.get_gid() or "").startswith(SERIES)):
        artist.set_gid(f"{SERIES}{numbers[artist.get_gid().removeprefix(SERIES)]}")


def _flat(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, tuple | list):
            yield from _flat(part)
        elif part is not None:
            yield part


def _adopt(label: Any, artists: list[Any]) -> None:
    if not isinstance(label, str) or not label or label.startswith("_"):
        return
    for artist in artists:
        if not artist.get_gid():
            artist.set_gid(f"{SERIES}{label.strip()}".replace(r"\$", "$"))


def _shown(name: str, artists: list[Any]) -> Series:
    from matplotlib.colors import to_hex, to_rgba_array
    from matplotlib.lines import Line2D

    lines = [artist for artist in artists if isinstance(artist, Line2D)]
    kinds = [str(line.get_marker()) for line in lines]
    styles = [str(line.get_linestyle()) for line in lines]
    if lines:
        colour = to_hex(lines[0].get_color())
    else:
        faces = to_rgba_array(artists[0].get_facecolor())
        edges = to_rgba_array(artists[0].get_edgecolor())
        colour = to_hex([*faces, *edges, (0, 0, 0, 1)][0])
    return Series(
        name=name,
        colour="currentColor" if colour == "#000000" else colour,
        mark=next((mark for mark in kinds if mark not in ("None", "none", "", " ")), ""),
        line=next((style for style in styles if style not in ("None", "none", "", " ")), ""),
    )
