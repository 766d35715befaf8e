"""The chart of the stages of the provable learner, in one run."""

import shlex

from hardness.report.parts.chart_words import joined
from hardness.report.parts.material import Material
from hardness.report.parts.records import Cell, Chart, Table
from hardness.report.stages import of_run
from hardness.runs.run import Run
from hardness.runs.table import Slice
from instances.errors import DamagedFile
from instances.parameters import plain

_SAY = (
    "What the stages of the provable learner saw in the run of median risk, of the runs at the "
    "largest size that came through its stages: eigenvalues with the gap that counts the heads, "
    "residuals with what was accepted, and the error on held-out examples after each stage."
)


def stage_chart(material: Material, one: Slice, place: int) -> Chart:
    """Make the chart of the stages in one run of a slice, which `staged_runs` has found."""
    run = staged_runs(one)[0]
    data = of_run(run.to_dict())
    rows: list[tuple[Cell, ...]] = [
        (error["stage"], error["examples"], error["error"]) for error in data["errors"]
    ]
    learn = ["hardness", "learn", run.learner, run.spec, "--seed", str(run.seed)]
    for name in ("examples", "seconds"):
        given = getattr(run.budget, name)
        learn += [f"--budget-{name}", plain(given)] if given is not None else []
    draw = ["hardness", "figure", "stages", "run.json", "--out", "stages.svg"]
    return Chart(
        key=f"stages-{place}",
        name="stages",
        section="stages",
        title=f"Stages of {run.learner} on {run.spec}, seed {run.seed}",
        caption=_SAY,
        alt=f"{data['heads']} heads; {len(data['eigenvalues'])} eigenvalues; errors after "
        + ", ".join(f"{stage} {error:.2g}" for stage, _, error in rows)
        + ".",
        data=data,
        table=Table(header=("stage", "examples", "relative squared error"), rows=tuple(rows)),
        command=f"{shlex.join([*learn, '--out', 'run.json'])} && {shlex.join(draw)}",
        choice=joined(one.words, run.spec),
    )


def staged_runs(one: Slice) -> list[Run]:
    """Find the run of median risk of the staged learner at the largest size where it has one.

    Runs that ended before a stage have no figure, and do not count.
    """
    for spec in reversed(one.comparison.specs):
        found = [run for run in one.comparison.runs if run.spec == spec and _is_staged(run)]
        found.sort(key=lambda run: (run.risk.value if run.risk else float("inf"), run.seed))
        if found:
            return [found[(len(found) - 1) // 2]]
    return []


def _is_staged(run: Run) -> bool:
    """Whether a run has what the figure of the stages shows."""
    if run.learner.partition(":")[0] != "staged":
        return False
    try:
        of_run(run.to_dict())
    except DamagedFile:  # it ended before a stage, or is none of this package's
        return False
    return True
