"""The parts of a plan: what each learner does in each group, in lines that costs lie along."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from hardness.compare.jobs import CertificateJob, Job, run_job
from hardness.compare.store.rows import RunRow
from hardness.compare.stress import rung_budget
from hardness.compare.sweep.estimate import Cost, Line, Point, costs, counted, size
from hardness.compare.sweep.probe import Probe, probe
from hardness.compare.sweep.record import Climb, Runs, Sweep
from hardness.lower import Terms
from hardness.oracles import Budget
from hardness.upper import parse_learner
from instances.family import Family
from instances.spec import parse_stored

CERTIFICATES = "certificates"

Range = tuple[float, float]  # of seconds: at least, at most; inf where nothing says


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one learner does in one group, or the certificates: numbers of cells and of runs.

    seconds: of all runs together, one after another. path: of those that must wait for each other,
    the longest run of a group, or the rungs of a climb. basis: cells by how their cost is known.
    peak_bytes: the largest that was seen. at_most: a climb, which may end before. notes: what
    probes could not do.
    """

    group: str
    learner: str
    cells: int
    runs: int
    seconds: Range
    path: Range
    basis: dict[str, int]
    peak_bytes: int | None = None
    at_most: bool = False
    notes: tuple[str, ...] = ()


Measured = dict[tuple[Any, ...], list[tuple[float, int]]]


def measured_cells(rows: Iterable[RunRow]) -> Measured:
    """Gather seconds and peaks of runs that ended by themselves or their budget, cell by cell."""
    found: Measured = defaultdict(list)
    for row in rows:
        if row.bound in ("machine", "memory"):
            continue
        run = row.run
        how = (run.details.get("oracle"), run.details.get("tau"))
        key = (run.spec, run.learner, row.budget, *how)
        found[key].append((run.usage.seconds, run.usage.peak_bytes))
    return found


def lines_of(
    sweep: Sweep, known: dict[str, Family], measured: Measured
) -> tuple[list[tuple[str, str]], list[Line]]:
    """Cut the runs of every group, and the certificates, into lines; name the parts they are in.

    known: the families of all specs. Names of parts: (group, learner).
    """
    most = sweep.limits.seconds or math.inf
    sizes = {spec: size(family) for spec, family in known.items()}
    names: dict[tuple[str, str], int] = {}
    lines: list[Line] = []
    for group in sweep.runs:
        for (learner, _), specs in _grouped(group, known, sizes).items():
            part = names.setdefault((group.title, learner), len(names))
            for budget in group.budgets:
                lines.append(_line(group, part, learner, budget, specs, sizes, measured, most))
    certified = _certified(sweep, known, sizes)
    for (_, terms), specs in certified.items():
        lines.append(
            Line(
                part=names.setdefault(("", CERTIFICATES), len(names)),
                specs=specs,
                sizes=[sizes[spec] for spec in specs],
                runs=1,
                most=most,
                job=partial(_certificate, known, terms),
                measured={},
            )
        )
    return list(names), lines


def _grouped(
    group: Runs, known: dict[str, Family], sizes: dict[str, float]
) -> dict[tuple[str, str], list[str]]:
    """The specs of a group by learner and family, in growing size."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for spec, learner in group.pairs:
        found[learner, known[spec].name].append(spec)
    return {key: sorted(specs, key=sizes.__getitem__) for key, specs in found.items()}


def _certified(
    sweep: Sweep, known: dict[str, Family], sizes: dict[str, float]
) -> dict[tuple[str, Terms], list[str]]:
    """The specs that are certified, by family and terms, in growing size."""
    wanted = {
        (spec, group.terms): None
        for group in sweep.runs
        if group.certify
        for spec, _ in group.pairs
        if known[spec].hardness.evidence == "exact"
    }
    found: dict[tuple[str, Terms], list[str]] = defaultdict(list)
    for spec, terms in wanted:
        found[known[spec].name, terms].append(spec)
    return {key: sorted(specs, key=sizes.__getitem__) for key, specs in found.items()}


def _certificate(known: dict[str, Family], terms: Terms, spec: str) -> Job:
    return CertificateJob(spec=spec, terms=terms, revision=known[spec].revision)


def _line(
    group: Runs,
    part: int,
    learner: str,
    budget: Budget,
    specs: list[str],
    sizes: dict[str, float],
    measured: Measured,
    most: float,
) -> Line:
    """Make the line of a learner's cells in one family within one budget."""
    chosen = parse_learner(learner)
    asks = chosen.access != "examples"
    how = (group.oracle, str(group.tau)) if asks else (None, None)
    points = {}
    for i, spec in enumerate(specs):
        if seen := measured.get((spec, learner, budget, *how)):
            seconds, peaks = zip(*seen, strict=True)
            points[i] = Point(seconds=median(seconds), basis="measured", peak_bytes=max(peaks))

    def job(spec: str) -> Job:
        return run_job(spec, chosen, group.seeds[0], budget, group.oracle, group.tau)

    return Line(
        part=part,
        specs=specs,
        sizes=[sizes[spec] for spec in specs],
        runs=len(group.seeds),
        most=min(most, budget.seconds or math.inf),
        job=job,
        measured=points,
    )


def probed(
    seconds: float, progress: Callable[[int], None], line: Line, places: list[int]
) -> dict[int, Probe]:
    """Do the chosen cells of a line, the small ones first."""
    if not places:
        return {}
    found = probe([line.job(line.specs[i]) for i in places], seconds)
    progress(len(places))
    return dict(zip(places, found, strict=False))  # after one that is cut there is none


def part_of(group: str, learner: str, lines: list[tuple[Line, dict[int, Probe]]]) -> Part:
    """Add up the lines of a part."""
    every: list[Cost] = []
    low = high = 0.0
    peaks: list[int] = []
    notes: list[str] = []
    for line, probes in lines:
        points = {i: _point(one) for i, one in probes.items() if not one.why}
        found = costs(line, points)
        every += found
        low += line.runs * math.fsum(c.low for c in found)
        high += line.runs * math.fsum(c.high for c in found)
        seen = (*line.measured.values(), *points.values())
        peaks += [p.peak_bytes for p in seen if p.peak_bytes is not None]
        notes += [f"{line.specs[i]}: {one.why}" for i, one in probes.items() if one.why]
    return Part(
        group=group,
        learner=learner,
        cells=len(every),
        runs=sum(line.runs * len(line.specs) for line, _ in lines),
        seconds=(low, high),
        path=(max(c.low for c in every), max(c.high for c in every)),
        basis=counted(every),
        peak_bytes=max(peaks, default=None),
        notes=tuple(notes),
    )


def _point(one: Probe) -> Point:
    return Point(seconds=one.seconds, basis="probed", cut=one.cut, peak_bytes=one.peak_bytes)


def climbed(climb: Climb, most: float) -> Iterator[Part]:
    """Bound the climbs of every learner by the budgets of the rungs that it takes."""
    for name in climb.learners:
        learner, longest, rungs = parse_learner(name), 0.0, 0
        for rung, spec in zip(climb.ladder.rungs, climb.ladder.specs, strict=True):
            if learner.supports(parse_stored(spec)):
                break
            longest += min(most, rung_budget(rung, climb.budget).seconds or math.inf)
            rungs += 1
        yield Part(
            group=climb.title,
            learner=name,
            cells=rungs,
            runs=rungs * climb.seeds,
            seconds=(0.0, longest * climb.seeds),
            path=(0.0, longest),
            basis={"at most": rungs},
            at_most=True,
        )
