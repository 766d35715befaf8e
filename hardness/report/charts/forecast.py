"""Attacks beside their estimates: blocks and seconds, each against what was estimated."""

from dataclasses import replace

from hardness.report.plot import HIGH, WIDE, Axis, Data, panels, plot
from hardness.report.style import BOUND, Style, series_style
from hardness.runs.forecast import Forecasts
from instances.errors import UsageError

_EQUAL = "as estimated"
_SIZE = (WIDE + 40, HIGH + 60)


def of_forecast(found: Forecasts) -> Data:
    """Give a row for each setting and attack: estimated, and the median and range over the runs.

    Blocks are of runs that found the secret; medians None where half did not. Raises UsageError
    where nothing was run.
    """
    if not found.rows:
        raise UsageError("no attack of this forecast was run: there is nothing to draw")
    rows = []
    for row in found.rows:
        took = [run.usage.seconds for run in row.runs]
        blocks = [run.details["block"] for run in row.runs if run.secret_recovered]
        rows.append(
            {
                "setting": row.setting,
                "attack": row.attack,
                "block": row.beta,
                "measured block": row.measured("block"),
                "least block": min(blocks, default=None),
                "largest block": max(blocks, default=None),
                "seconds": row.seconds(found.operation),
                "measured seconds": row.measured("seconds"),
                "least seconds": min(took),
                "largest seconds": max(took),
                "found": row.result.recovered,
                "runs": len(row.runs),
            }
        )
    return {"model": found.model, "title": "Attacks beside their estimates", "rows": rows}


def draw_forecast(data: Data) -> Data:
    """Draw blocks and seconds against the estimated ones, one mark an attack, and the diagonal."""
    names = list(dict.fromkeys(row["attack"] for row in data["rows"]))
    styles = {n: replace(series_style(i), marks=("interval", "point")) for i, n in enumerate(names)}
    styles = {_EQUAL: Style(colour=BOUND, dash=(5, 3), marks=("line",)), **styles}
    return panels(
        _panel(data, "block", "block size", styles),
        _panel(data, "seconds", "time (s)", styles),
        title=data["title"],
        notes=[
            "medians over the seeds, with the range of the runs; blocks of runs that found the "
            "secret, hollow where some did not",
            f"seconds: operations as {data['model']} counts them, times the seconds of one here",
        ],
        pick="attack",
    )


def _panel(data: Data, what: str, unit: str, styles: dict[str, Style]) -> Data:
    rows = [
        {
            **{name: row[name] for name in ("setting", "attack")},
            "x": row[what],
            "y": row[f"measured {what}"],
            "low": row[f"least {what}"],
            "high": row[f"largest {what}"],
            "all": row["found"] == row["runs"],
            "share": f"{row['found']} of {row['runs']}",
        }
        for row in data["rows"]
        if row[what] is not None and row[f"measured {what}"] is not None
    ]
    ends = sorted(v for row in rows for v in (row["x"], row["y"]))
    line = [{"attack": _EQUAL, "x": v, "y": v} for v in (ends[:1] + ends[-1:])]
    return plot(
        [*line, *rows],
        x=Axis("x", f"{unit}, estimated", scale="log" if what == "seconds" else "whole"),
        y=Axis("y", f"{unit}, measured", scale="log" if what == "seconds" else "whole"),
        by="attack",
        styles=styles,
        hollow="all",
        told={"setting": "setting", "attack": "attack", "estimated": "x", "measured": "y"}
        | {"found": "share"},
        title=what.capitalize() + "s" * (what == "block"),
        size=_SIZE,
    )
