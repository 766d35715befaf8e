"""Draw the error after each stage of `staged`: `python dial.py DIR OUT.svg`, DIR of `compare`.

Medians over the seeds of the last error that every stage left on held-out examples, and of the
risk, against the value that was varied.
"""

import sys
from pathlib import Path
from statistics import median

from hardness.report.plot import Axis, panels, plot
from hardness.report.style import series_style
from hardness.report.vega import write
from hardness.runs import Comparison
from instances import numbers

PANELS = {  # by stage; two attempts at a polish are one, and "single" is no stage of the way
    "Held-out error of the stages": ("moment", "hull", "net", "projection"),
    "After the polish, and the risk": ("polish", "risk"),
}


def rows(comparison, stages):
    """Rows of the medians: the value, the stage, the error that it left."""
    for stage in stages:
        for spec, value in zip(comparison.specs, comparison.values, strict=True):
            runs = [run for run in comparison.runs if run.spec == spec]
            found = [error for run in runs if (error := left(run).get(stage)) is not None]
            error = max(median(found), 1e-33) if found else None
            yield {"series": stage, "value": numbers.write(value), "error": error}


def left(run):
    """The last error that every stage of a run left; none of a run that ended before the first."""
    last = {e["stage"].removeprefix("second "): e["error"] for e in run.details.get("errors", [])}
    return last | ({"risk": run.risk.value} if run.risk else {})


if __name__ == "__main__":
    folder, out = sys.argv[1:]
    comparison = Comparison.load(Path(folder) / "results.json")
    values = [numbers.write(value) for value in comparison.values]
    stages = [stage for panel in PANELS.values() for stage in panel]
    charts = [
        plot(
            rows(comparison, shown),
            x=Axis("value", comparison.parameter, scale="names", names=values),
            y=Axis("error", "relative squared error", scale="log"),
            styles={stage: series_style(i) for i, stage in enumerate(stages)},
            title=title,
            size=(310, 200),
        )
        for title, shown in PANELS.items()
    ]
    title = f"{comparison.spec}, medians of {comparison.seeds} seeds"
    Path(out).write_bytes(write(panels(*charts, title=title), "svg"))
    print(f"{out}: {len(values)} values of {comparison.parameter}")
