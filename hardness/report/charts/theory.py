"""One statement of theory: what was predicted, dashed, beside what was measured."""

from dataclasses import replace
from textwrap import wrap
from typing import Any

from hardness.report.plot import Axis, Data, panels, plot
from hardness.report.style import series_style
from hardness.theory import Finding, Setting
from instances.errors import UsageError

_KINDS: dict[str, Data] = {  # of rows: how they are drawn
    "range": {"marks": ("band",)},
    "end": {"marks": ("line",), "dash": (2, 2)},
    "predicted": {"marks": ("line",), "dash": (5, 3)},
    "measured": {"marks": ("interval", "point")},
}
_WIDE, _HIGH = 420, 260
_TICKS, _LETTERS = 8, 64
_TOLD = "datum.value < 11000 ? format(datum.value, '~g') : format(datum.value, '~s')"  # of ticks


def of_theory(found: Finding) -> Data:
    """Give rows of what is predicted and measured at each setting that has a place along x.

    Rows are of the kind range, between low and high; end, one of these; predicted, a number or the
    end of a bound; or measured, with its interval and whether it meets what is predicted. Raises
    UsageError where no setting has a place.
    """
    rows: list[Data] = []
    bounds = _bounds(found)
    for one in found.points:
        if found.along not in one.at:
            continue
        series = _series(found, one.at)
        at = {"series": series + bounds.get(series, ""), "x": one.at[found.along]}
        said = one.predicted
        ends = [end for end in (said.low, said.high) if end is not None]
        if len(set(ends)) == 2:
            rows.append({"kind": "range", **at, "low": said.low, "high": said.high})
            rows += [{"kind": "end", **at, "y": y, "run": str(i)} for i, y in enumerate(ends)]
        elif ends:
            rows.append({"kind": "predicted", **at, "y": ends[0]})
        told = {"y": one.measured.value, "low": one.measured.low, "high": one.measured.high}
        rows.append({"kind": "measured", **at, **told, "meets": one.verdict != "fails"})
    if not rows:
        raise UsageError(f"statement {found.name} has nothing along {found.along} to draw")
    outside = sum(not one.predicted.within for one in found.points)
    return {
        "name": found.name,
        "title": f"{found.name} ({found.of})",
        "says": found.says,
        "x": found.x,
        "y": found.y,
        "log": found.log,
        "outside": f"{outside} of {len(found.points)}" if outside else "",
        "verdict": found.verdict,
        "rows": rows,
    }


def _series(found: Finding, at: Setting) -> str:
    return f"{found.by} = {at[found.by]}" if found.by in at else found.y


def _bounds(found: Finding) -> dict[str, str]:
    """Say of series of which bounds alone are predicted on which side they are."""
    sides: dict[str, set[tuple[bool, bool]]] = {}
    for one in found.points:
        ends = one.predicted.low is None, one.predicted.high is None
        sides.setdefault(_series(found, one.at), set()).add(ends)
    told = {(True, False): ": at most", (False, True): ": at least"}
    return {name: told[one] for name, [one, *more] in sides.items() if not more and one in told}


def draw_theory(data: Data) -> Data:
    """Draw it in one panel."""
    series = dict.fromkeys(row["series"] for row in data["rows"])
    styles = {name: replace(series_style(i), marks=("point",)) for i, name in enumerate(series)}
    places = dict.fromkeys(row["x"] for row in data["rows"])
    named = [str(one) for one in places] if any(isinstance(one, str) for one in places) else []
    rows = [{**row, "x": str(row["x"])} for row in data["rows"]] if named else data["rows"]

    def axis(at: str) -> Axis:
        held = [row[at] for row in data["rows"] if row["kind"] == "measured"]
        scale: Any = "whole" if at == "x" and all(isinstance(v, int) for v in held) else "linear"
        if at in data["log"] and not (at == "y" and min(held) <= 0):  # no point is lost
            scale = "log"
        scale = "names" if named and at == "x" else scale
        ticks = sorted(places) if at == "x" and not named and len(places) <= _TICKS else ()
        look = {"labelExpr": _TOLD} if ticks else {}
        return Axis(at, data[at], scale=scale, names=named, ticks=ticks, look=look)

    outside = f"; the conditions do not hold at {data['outside']} points" * bool(data["outside"])
    notes = (
        data["says"],
        f"dashed, or shaded between dots: predicted at the points{outside}",
        "points: measured, with 95 % intervals where they are not exact; solid: the interval meets "
        "what is predicted",
    )
    return panels(
        plot(
            rows, x=axis("x"), y=axis("y"), styles=styles, kinds=_KINDS, hollow="meets",
            title=data["verdict"], size=(_WIDE, _HIGH),
        ),
        title=data["title"],
        notes=[line for note in notes for line in wrap(note, _LETTERS)],
        own=True,
    )  # fmt: skip
