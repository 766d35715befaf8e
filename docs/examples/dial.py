"""Draw the error after each stage of `staged`: `python dial.py DIR OUT.svg`, DIR of `compare`.

Medians over the seeds of the last error that every stage left on held-out examples, and of the
risk, against the value that was varied.
"""

import sys
from pathlib import Path
from statistics import median

from hardness.report.stored import comparison_of
from hardness.report.style import cost_axis, panels, series_look, styled
from instances import numbers

PANELS = {  # by stage; two attempts at a polish are one, and "single" is no stage of the way
    "Held-out error of the stages": ("moment", "hull", "net", "projection"),
    "After the polish, and the risk": ("polish", "risk"),
}


def medians(comparison, stage):
    """Medians of the errors that a stage left, by value; none where no run came so far."""
    for spec in comparison.specs:
        runs = [run for run in comparison.runs if run.spec == spec]
        errors = [error for run in runs if (error := left(run).get(stage)) is not None]
        yield max(median(errors), 1e-33) if errors else None


def left(run):
    """The last error that every stage of a run left; none of a run that ended before the first."""
    last = {e["stage"].removeprefix("second "): e["error"] for e in run.details.get("errors", [])}
    return last | ({"risk": run.risk} if run.risk is not None else {})


@styled
def draw(comparison):
    """Draw a panel a group of stages."""
    figure, axes = panels(len(PANELS))
    values = [numbers.write(value) for value in comparison.values]
    looks = {stage: series_look(i) for i, stage in enumerate(sum(PANELS.values(), ()))}
    for ax, (title, stages) in zip(axes, PANELS.items(), strict=True):
        lines = {stage: list(medians(comparison, stage)) for stage in stages}
        ax.set(title=title, xlabel=comparison.parameter, ylabel="relative squared error")
        cost_axis(ax, [y for line in lines.values() for y in line])
        for stage, line in lines.items():
            look = looks[stage]
            ax.plot(values, line, color=look.colour, marker=look.marker, label=stage)
        ax.legend()
    figure.caption = f"{comparison.spec}, medians of {comparison.seeds} seeds."
    return figure


if __name__ == "__main__":
    folder, out = sys.argv[1:]
    comparison = comparison_of(Path(folder))
    draw(comparison).savefig(out)
    print(f"{out}: {len(comparison.values)} values of {comparison.parameter}")
