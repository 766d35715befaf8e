"""One statement of theory: what was predicted, dashed, beside what was measured."""

from dataclasses import replace
from typing import Any

from hardness.report.plot import Axis, Data, panels, plot
from hardness.report.style import series_style
from hardness.theory import Finding
from instances.errors import UsageError

_KINDS: dict[str, Data] = {  # of rows: how they are drawn
    "range": {"marks": ("band",)},
    "predicted": {"marks": ("line",), "dash": (5, 3)},
    "measured": {"marks": ("interval", "point")},
}
_WIDE, _HIGH = 420, 260


def of_theory(found: Finding) -> Data:
    """Give rows of what is predicted and measured at each setting that has a place along x.

    Rows are of the kind range, between low and high; predicted, a number or the end of a bound; or
    measured, with its interval and whether it meets what is predicted. Raises UsageError where no
    setting has a place.
    """
    rows: list[Data] = []
    for one in found.points:
        if found.along not in one.at:
            continue
        series = f"{found.by} = {one.at[found.by]}" if found.by in one.at else found.y
        at = {"series": series, "x": one.at[found.along]}
        said = one.predicted
        ends = [end for end in (said.low, said.high) if end is not None]
        if len(set(ends)) == 2:
            rows.append({"kind": "range", **at, "low": said.low, "high": said.high})
        elif ends:
            rows.append({"kind": "predicted", **at, "y": ends[0]})
        told = {"y": one.measured.value, "low": one.measured.low, "high": one.measured.high}
        rows.append({"kind": "measured", **at, **told, "meets": one.holds is not False})
    if not rows:
        raise UsageError(f"statement {found.name} has nothing along {found.along} to draw")
    kinds = {(p.predicted.low is None, p.predicted.high is None) for p in found.points}
    bound = {(True, False): "at most", (False, True): "at least"}
    of = {bound[one] for one in kinds if one in bound}
    head = {"name": found.name, "title": f"{found.name} ({found.of})", "x": found.x}
    rest = {"y": found.y, "log": found.log, "bounds": " or ".join(sorted(of))}
    return {**head, **rest, "verdict": found.verdict, "rows": rows}


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
        return Axis(at, data[at], scale="names" if named and at == "x" else scale, names=named)

    bounds = f" {data['bounds']}" if data["bounds"] else ""
    return panels(
        plot(
            rows, x=axis("x"), y=axis("y"), styles=styles, kinds=_KINDS, hollow="meets",
            title=data["verdict"], size=(_WIDE, _HIGH),
        ),
        title=data["title"],
        notes=[
            f"dashed or shaded: predicted{bounds and ','}{bounds}",
            "points: measured, with intervals; hollow: not as predicted",
        ],
    )  # fmt: skip
