"""Draw the error after each stage of `staged`: `python dial.py DIR OUT.svg`, DIR of `compare`.

Medians over the seeds of the last error that every stage left on held-out examples, and of the
risk, against the value that was varied.
"""

import sys
from pathlib import Path

from hardness.report.vega import write
from hardness.runs import Comparison
from instances.parameters import plain

PANELS = {  # two attempts at a polish are one stage; "single" is no stage of the way
    **dict.fromkeys(("moment", "hull", "net", "projection"), "Held-out error of the stages"),
    **dict.fromkeys(("polish", "risk"), "After the polish, and the risk"),
}


def rows(comparison):
    """Rows of all runs: the value, the stage, the error that it left."""
    for run in comparison.runs:
        value = plain(comparison.values[comparison.specs.index(run.spec)])
        errors = run.details.get("errors", [])  # none of a run that ended before the first
        last = {e["stage"].removeprefix("second "): e["error"] for e in errors}
        if run.risk:
            last["risk"] = run.risk.value
        for stage, error in last.items():
            if stage in PANELS:
                yield {"value": value, "stage": stage, "error": max(error, 1e-33)}


if __name__ == "__main__":
    folder, out = sys.argv[1:]
    comparison = Comparison.load(Path(folder) / "results.json")
    found, values = list(rows(comparison)), list(map(plain, comparison.values))
    x = {"field": "value", "type": "ordinal", "sort": values, "title": comparison.parameter}
    x["axis"] = {"labelAngle": 0}
    y = {"field": "error", "type": "quantitative", "aggregate": "median", "scale": {"type": "log"}}
    y |= {"title": "relative squared error", "axis": {"format": "~e", "tickCount": 6}}
    panels = [
        {
            "title": title,
            "width": 310,
            "height": 200,
            "data": {"values": [row for row in found if PANELS[row["stage"]] == title]},
            "mark": {"type": "line", "point": True},
            "encoding": {"x": x, "y": y, "color": {"field": "stage", "sort": list(PANELS)}},
        }
        for title in dict.fromkeys(PANELS.values())
    ]
    title = f"{comparison.spec}, medians of {comparison.seeds} seeds"
    Path(out).write_bytes(write({"title": title, "hconcat": panels}, "svg"))
    print(f"{out}: {len(comparison.values)} values of {comparison.parameter}")
