"""Draw runs of noisy gradient descent beside the bound: `python descent.py SPEC OUT.svg`.

Left: how often the strongest model succeeds by steps, under what the bound allows any model. Right:
the steps for success 2/3 by the number of members, as d grows to that of SPEC.
"""

import sys
from pathlib import Path

from hardness.report.plot import Axis, panels, plot
from hardness.report.style import COLOURS, Style
from hardness.report.vega import write
from hardness.runs.descent import descent_sizes
from instances import parse

BLUE, RED, GREEN = COLOURS[:3]
RUNS, BOUND, ENOUGH = "runs", "bound", "8 M ln M σ²/(ρG)² steps"
STYLES = {
    RUNS: Style(colour=BLUE, marks=("interval", "line", "point")),
    BOUND: Style(colour=RED, shape="square", marks=("band", "line")),
    ENOUGH: Style(colour=GREEN, dash=(5, 3), marks=("line",)),
}


def success(study):
    """Rows of the left panel: runs with their interval, and what the bound allows."""
    for point in study.points:
        low, high = point.interval
        share = point.right / point.runs
        yield {"series": RUNS, "steps": point.steps, "share": share, "low": low, "high": high}
    for steps, most in study.curve:
        if most < 1:  # else all is allowed
            yield {"series": BOUND, "steps": steps, "share": most, "low": most, "high": 1}


def needed(studies):
    """Rows of the right panel: steps that runs took, and that the bound asks for."""
    for study in studies:
        found = {RUNS: study.reached, BOUND: study.needed, ENOUGH: study.enough}
        for series, steps in found.items():
            yield {"series": series, "members": study.members, "steps": steps and float(steps)}


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    studies = descent_sizes(parse(spec))
    steps = Axis("steps", "number of steps", scale="log")
    look = {"styles": STYLES, "size": (330, 220)}
    left = plot(
        success(studies[-1]),
        x=steps,
        y=Axis("share", f"probability of risk {studies[-1].risk} or less", domain=(0, 1.02)),
        title="How often a run succeeds",
        **look,
    )
    right = plot(
        needed(studies),
        x=Axis("members", "number of members M", scale="log"),
        y=steps,
        title=f"Steps for success {studies[-1].success}",
        **look,
    )
    notes = [
        "red: what the bound on any model and rule excludes; lines: 95 % intervals of the runs"
    ]
    Path(out).write_bytes(write(panels(left, right, title=spec, notes=notes), "svg"))
    print(f"{out}: {len(studies)} sizes up to {studies[-1].members} members")
