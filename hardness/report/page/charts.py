"""The charts of a page: data, facts and command of each; nothing is drawn."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hardness.report.charts.phase import label, needed
from hardness.report.comparison import ASKER
from hardness.report.figures import FIGURES
from hardness.report.page.material import Chart, Data, Facts, Material
from hardness.runs.certified import query_bound
from hardness.runs.groups import Line, Plane
from hardness.runs.names import brief_spec, short
from hardness.runs.run import Run
from instances.errors import DamagedFile
from instances.numbers import write

MOST = 6  # charts of a kind: a page of more is neither read nor loaded in a moment
_TITLES = {
    "both-sides": "Both sides of",
    "phase": "Phase diagram of",
    "scaling": "Growth of costs on",
    "stages": "Stages of",
    "least": "Least examples or queries on",
}


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """A figure that the page may show: its data are collected where it does.

    source: what the figure is drawn from. where: which runs of the page's source these are. facts:
    of its caption. command: where it is not drawn from the page's source.
    """

    name: str
    of: str
    words: str
    where: str
    source: Any = field(repr=False)
    facts: Facts = field(default_factory=dict)
    command: str = ""


def charts(material: Material, lines: Sequence[Line]) -> tuple[list[Chart], list[tuple[str, str]]]:
    """Make the charts of all sections, at most `MOST` each, and name the commands of the others.

    lines: in the order in which they are shown.
    """
    fitted = [line for line in lines if line.comparison.scaling.laws]
    planes = sorted(material.planes, key=lambda plane: -len(plane.rows))
    every = [
        [_of("both-sides", line) for line in lines],
        [_phase(material, plane) for plane in planes],
        [_of("scaling", line) for line in fitted],
        [_stages(line, run) for line in lines for run in staged_runs(line)],
        [
            _Wanted(
                name="least",
                of=found[0].spec,
                words=name,
                where=f"least == {name!r}" if name else "",
                source=found,
            )
            for name, found in material.least.items()
            if found[0].parameter
        ],
    ]
    shown, left_out = [], []
    for wanted in every:
        shown += [_chart(material, one, place) for place, one in enumerate(wanted[:MOST], 1)]
        left_out += [
            (f"figure {one.name} of {one.words}", _command(material, one)) for one in wanted[MOST:]
        ]
    return shown, left_out


def _chart(material: Material, wanted: _Wanted, place: int) -> Chart:
    data = FIGURES[wanted.name].rows(wanted.source)
    return Chart(
        key=f"{wanted.name}-{place}",
        name=wanted.name,
        section=wanted.name,
        title=f"{_TITLES[wanted.name]} {wanted.of}",
        data=data,
        command=_command(material, wanted),
        facts=wanted.facts or (_hatched(data) if wanted.name == "phase" else {}),
        choice=wanted.words,
    )


def _command(material: Material, wanted: _Wanted) -> str:
    """Write the command that draws a figure again, quoted for a shell."""
    name, choice = wanted.name, ["--where", wanted.where] if wanted.where else []
    own = ["hardness", "figure", name, material.source, *choice, "--out", f"{name}.svg"]
    return wanted.command or shlex.join(own)


def _of(name: str, line: Line) -> _Wanted:
    comparison = line.comparison
    facts = {
        "terms": comparison.terms,
        "asker": ASKER[query_bound(comparison.certificates) or "csq-queries"],
        "certified": bool(comparison.certificates),
        "why": line.uncertified,
    }
    return _Wanted(
        name=name,
        of=comparison.spec,
        words=line.where,
        where=line.where,
        source=comparison,
        facts=facts,
    )


def _phase(material: Material, plane: Plane) -> _Wanted:
    return _Wanted(
        name="phase",
        of=label(plane),
        words=plane.where,
        where=plane.where,
        source=(plane, material.certifier),
    )


def _hatched(data: Data) -> Facts:
    """Say of the numbers of a phase diagram whether anything is hatched."""
    return {**data, "hatched": any(n > data["query_budget"] for n in needed(data).values())}


def _stages(line: Line, run: Run) -> _Wanted:
    """Show the stages in one run, which is learned again."""
    learn = ["hardness", "learn", run.learner, run.spec, "--seed", str(run.seed)]
    for name in ("examples", "seconds"):
        limit = getattr(run.budget, name)
        learn += [f"--budget-{name}", write(limit)] if limit is not None else []
    draw = ["hardness", "figure", "stages", "run.json", "--out", "stages.svg"]
    return _Wanted(
        name="stages",
        of=f"{short(run.learner)} on {brief_spec(run.spec)}, seed {run.seed}",
        words=", ".join(filter(None, (line.where, brief_spec(run.spec)))),
        where="",
        source=run.to_dict(),
        command=f"{shlex.join([*learn, '--out', 'run.json'])} && {shlex.join(draw)}",
    )


def staged_runs(line: Line) -> list[Run]:
    """Find the run of median risk of the staged learner at the largest size where it has one.

    Runs that ended before a stage have no figure, and do not count.
    """
    for spec in reversed(line.comparison.specs):
        runs = [run for run in line.comparison.runs if run.spec == spec and _is_staged(run)]
        runs.sort(key=lambda run: (run.risk.value if run.risk else float("inf"), run.seed))
        if runs:
            return [runs[(len(runs) - 1) // 2]]
    return []


def _is_staged(run: Run) -> bool:
    """Whether a run has what the figure of the stages shows."""
    if run.learner.partition(":")[0] != "staged":
        return False
    try:
        FIGURES["stages"].rows(run.to_dict())
    except DamagedFile:  # it ended before a stage, or is none of this package's
        return False
    return True
