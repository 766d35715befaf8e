"""What a sweep would do, and what that may take, before anything of it starts."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from hardness.compare.jobs import CertificateJob, run_job
from hardness.compare.store.rows import RunRow
from hardness.compare.stress import rung_budget
from hardness.compare.sweep.estimate import Cost, Line, Point, chosen, costs, counted, size
from hardness.compare.sweep.probe import Probe, probe
from hardness.compare.sweep.record import Climb, Gram, Runs, Sweep
from hardness.oracles import Budget
from hardness.upper import parse_learner
from instances.family import Family
from instances.spec import parse_stored

FORMAT = "hardness-plan/1"
_RUN_BYTES, _CERTIFICATE_BYTES = 300, 5000  # in a store, about
_CERTIFICATES = "certificates"

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


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep would do on `jobs` slots; its seconds are those of jobs alone, without retries.

    blocks: parts of each Gram matrix, 0 where they are not counted yet.
    """

    sweep: Sweep
    parts: tuple[Part, ...]
    blocks: tuple[int, ...]
    jobs: int
    probes: int
    probe_seconds: float

    @property
    def certificates(self) -> int:
        """How many certificates there are."""
        return sum(part.runs for part in self.parts if part.learner == _CERTIFICATES)

    @property
    def seconds(self) -> Range:
        """CPU seconds of all jobs but Gram matrices, one after another."""
        low, high = (
            zip(*(part.seconds for part in self.parts), strict=True) if self.parts else ((), ())
        )
        return sum(low), sum(high)

    @property
    def wall(self) -> Range:
        """Seconds on the slots: at least the work shared evenly, or the longest chain of jobs.

        At most work / slots + (1 - 1 / slots) x that chain, in whatever order jobs start as long
        as no slot stays idle while one could. [Gra66]
        """
        low, high = self.seconds
        chain = [max((part.path[i] for part in self.parts), default=0.0) for i in (0, 1)]
        most = high / self.jobs + (1 - 1 / self.jobs) * chain[1] if high < math.inf else high
        return max(low / self.jobs, chain[0]), most

    @property
    def peak_bytes(self) -> int | None:
        """The largest resident memory of a worker that was seen; None where none was looked at."""
        return max((p.peak_bytes for p in self.parts if p.peak_bytes is not None), default=None)

    @property
    def store_bytes(self) -> int:
        """About how large the store becomes: runs, certificates and halves of Gram matrices."""
        grams = sum(4 * gram.members**2 for gram in self.sweep.grams)
        return _RUN_BYTES * self.sweep.count + _CERTIFICATE_BYTES * self.certificates + grams

    def to_json(self) -> dict[str, Any]:
        """Write the plan; seconds that nothing bounds are null."""
        limits = self.sweep.limits
        return {
            "format": FORMAT,
            "name": self.sweep.name,
            "runs": self.sweep.count,
            "certificates": self.certificates,
            "parts": [
                asdict(p) | {"seconds": _finite(p.seconds), "path": _finite(p.path)}
                for p in self.parts
            ],
            "grams": [
                asdict(gram) | {"blocks": blocks}
                for gram, blocks in zip(self.sweep.grams, self.blocks, strict=True)
            ],
            "left_out": list(_left_out(self.sweep)),
            "limits": asdict(limits),
            "jobs": self.jobs,
            "cpu_seconds": _finite(self.seconds),
            "wall_seconds": _finite(self.wall),
            "peak_bytes": self.peak_bytes,
            "store_bytes": self.store_bytes,
            "probes": self.probes,
            "probe_seconds": self.probe_seconds,
        }


def plan(
    sweep: Sweep,
    store: Iterable[RunRow] | None = None,
    probe: float = 1.0,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    blocks: Callable[[Gram], int] = lambda gram: 0,
) -> Plan:
    """Count what a sweep would do, and estimate its cost from a store's runs, probes and budgets.

    probe: seconds that each of at most 20 real runs may take; 0 for none. blocks: counts the parts
    of a Gram matrix. Nothing is written.
    """
    measured = _measured(store or ())
    known = {
        spec: parse_stored(spec)
        for spec in dict.fromkeys(s for g in sweep.runs for s, _ in g.pairs)
    }
    sizes = {spec: size(family) for spec, family in known.items()}
    most = sweep.limits.seconds or math.inf
    names, lines = _lines(sweep, known, sizes, measured, most)
    places = chosen(lines) if probe > 0 else [[] for _ in lines]
    with ThreadPoolExecutor(jobs) as pool:
        probes = list(pool.map(partial(_probed, probe, progress), lines, places))
    parts = []
    for index, (group, learner) in enumerate(names):
        mine = [i for i, line in enumerate(lines) if line.part == index]
        parts.append(_part(group, learner, [(lines[i], probes[i]) for i in mine]))
    parts += [part for climb in sweep.climbs for part in _climbed(climb, most)]
    return Plan(
        sweep=sweep,
        parts=tuple(parts),
        blocks=tuple(map(blocks, sweep.grams)),
        jobs=jobs,
        probes=sum(map(len, places)),
        probe_seconds=probe,
    )


Measured = dict[tuple[Any, ...], list[tuple[float, int]]]
Names = list[tuple[str, str]]  # of parts: group and learner


def _measured(rows: Iterable[RunRow]) -> Measured:
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


def _lines(
    sweep: Sweep, known: dict[str, Family], sizes: dict[str, float], measured: Measured, most: float
) -> tuple[Names, list[Line]]:
    """Cut the runs of every group, and the certificates, into lines; name the parts they are in."""
    names: Names = []
    lines: list[Line] = []
    certified: dict[tuple[str, Any], None] = {}
    for group in sweep.runs:
        apart: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for spec, learner in group.pairs:
            apart[learner][known[spec].name].append(spec)
            if group.certify and known[spec].hardness.evidence == "exact":
                certified[spec, group.terms] = None
        for learner, families in apart.items():
            names.append((group.title, learner))
            for specs in families.values():
                specs.sort(key=sizes.__getitem__)
                for budget in group.budgets:
                    lines.append(
                        _line(group, len(names) - 1, learner, budget, specs, sizes, measured, most)
                    )
    groups: dict[tuple[str, Any], list[str]] = defaultdict(list)
    for spec, terms in certified:
        groups[known[spec].name, terms].append(spec)
    if groups:
        names.append(("", _CERTIFICATES))
    for (_, terms), specs in groups.items():
        specs.sort(key=sizes.__getitem__)
        lines.append(
            Line(
                part=len(names) - 1,
                specs=specs,
                sizes=[sizes[s] for s in specs],
                runs=1,
                most=most,
                job=lambda spec, terms=terms: CertificateJob(
                    spec=spec, terms=terms, revision=known[spec].revision
                ),
                measured={},
            )
        )
    return names, lines


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
    asks = chosen.access == "queries"
    how = (group.oracle, str(group.tau)) if asks else (None, None)
    points = {}
    for i, spec in enumerate(specs):
        if seen := measured.get((spec, learner, budget, *how)):
            seconds, peaks = zip(*seen, strict=True)
            points[i] = Point(seconds=median(seconds), basis="measured", peak_bytes=max(peaks))
    first = group.seeds[0]
    return Line(
        part=part,
        specs=specs,
        sizes=[sizes[spec] for spec in specs],
        runs=len(group.seeds),
        most=min(most, budget.seconds or math.inf),
        job=lambda spec: run_job(spec, chosen, first, budget, group.oracle, group.tau),
        measured=points,
    )


def _probed(
    seconds: float, progress: Callable[[int], None], line: Line, places: list[int]
) -> dict[int, Probe]:
    """Do the chosen cells of a line, the small ones first."""
    if not places:
        return {}
    found = probe([line.job(line.specs[i]) for i in places], seconds)
    progress(len(places))
    return dict(zip(places, found, strict=True))


def _part(group: str, learner: str, lines: list[tuple[Line, dict[int, Probe]]]) -> Part:
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


def _climbed(climb: Climb, most: float) -> Iterator[Part]:
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


def _left_out(sweep: Sweep) -> Iterator[dict[str, Any]]:
    """What cannot run, learner by learner, with the first of the reasons."""
    for group in sweep.runs:
        learners: dict[str, dict[str, Any]] = {}
        for learner, why, specs in group.left_out:
            one = learners.setdefault(
                learner,
                {"group": group.title, "learner": learner, "specs": 0, "reasons": 0, "why": why},
            )
            one["specs"] += specs
            one["reasons"] += 1
        yield from learners.values()


def _finite(given: Range) -> list[float | None]:
    return [value if value < math.inf else None for value in given]
