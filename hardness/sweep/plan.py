"""What a sweep would do, before anything of it starts: counts, and times where they are known.

A run takes what a store says of runs of the same learner, spec and budget, or at most what its
budget and the limit of an attempt allow. Nothing is guessed in between.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from statistics import median
from typing import Any

from hardness.runs.least import PILOTS, Least
from hardness.runs.record import Record, json_of
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run
from hardness.runs.stress import rung_budget
from hardness.sweep.file import Climbs, Grid, Sweep
from hardness.sweep.jobs import CertificateJob
from instances.result import TableRow
from instances.spec import parse_stored

_RUN_BYTES, _CERTIFICATE_BYTES = 300, 5000  # in a store, about

Range = tuple[float, float]  # of seconds: at least, at most; inf where nothing says
Measured = dict[tuple[Any, ...], list[float]]  # seconds of runs by cell


class Part(Record, frozen=True, kw_only=True):
    """What one learner does in one group, or the certificates.

    cells: specs x budgets; measured: those with a run in the store. seconds: of all runs, one after
    another. at_most: a climb, which may end before.
    """

    group: str
    learner: str
    cells: int
    runs: int
    seconds: Range
    measured: int = 0
    at_most: bool = False


class Plan(Record, frozen=True, kw_only=True):
    """What a sweep would do."""

    sweep: Sweep
    parts: tuple[Part, ...]

    @property
    def certificates(self) -> int:
        """How many certificates there are."""
        return sum(part.runs for part in self.parts if part.learner == CertificateJob.label)

    @property
    def seconds(self) -> Range:
        """Seconds of all jobs, one after another, without retries."""
        return sum(p.seconds[0] for p in self.parts), sum(p.seconds[1] for p in self.parts)

    @property
    def store_bytes(self) -> int:
        """About how large the store becomes: runs and certificates."""
        return _RUN_BYTES * self.sweep.count + _CERTIFICATE_BYTES * self.certificates

    def _rows(self) -> list[TableRow]:
        return [
            {
                "learner": part.learner,
                "group": part.group,
                "runs": part.runs,
                "at least s": part.seconds[0],
                "at most s": json_of(part.seconds[1]),
            }
            for part in self.parts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Write the plan; seconds that nothing bounds are null."""
        found = {
            "format": "hardness-plan/3",
            "name": self.sweep.name,
            "runs": self.sweep.count,
            "certificates": self.certificates,
            "parts": self.parts,
            "left_out": [
                {"group": group.title, **asdict(one)}
                for group in self.sweep.grids
                for one in group.left_out
            ],
            "limits": self.sweep.limits,
            "job_seconds": self.seconds,
            "store_bytes": self.store_bytes,
        }
        return dict(json_of(found))


def plan(sweep: Sweep, store: Iterable[Run] = ()) -> Plan:
    """Count what a sweep would do, with times from a store's runs; nothing is run or written."""
    measured: Measured = defaultdict(list)
    for row in store:
        if row.bound not in ("machine", "memory"):
            key = (row.details.get("oracle"), row.details.get("tau"))
            measured[row.spec, row.learner, row.budget, *key].append(row.usage.seconds)
    most = sweep.limits.seconds or math.inf
    parts = [part for group in sweep.grids for part in _runs(group, measured, most)]
    if n := len({job.key for group in sweep.grids for job in group.certificates}):
        label = CertificateJob.label
        parts.append(Part(group="", learner=label, cells=n, runs=n, seconds=(0.0, n * most)))
    parts += [_climb(climbs, name, most) for climbs in sweep.climbs for name in climbs.learners]
    parts += [
        _searches(group, f"least {i}", name, most)
        for i, group in enumerate(sweep.least, 1)
        for name in group.learners
    ]
    return Plan(sweep=sweep, parts=tuple(parts))


def _runs(group: Grid, measured: Measured, most: float) -> Iterator[Part]:
    """Add up the cells of every learner of a group."""
    found: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    for cell in group.cells:
        tau = None if cell.tau is None else str(cell.tau)
        seen = measured.get((cell.spec, cell.learner, cell.budget, cell.oracle, tau))
        low, high = 0.0, min(most, cell.budget.seconds or math.inf)
        if seen:
            low = high = median(seen)
        found[cell.learner].append((bool(seen), low, high))
    for learner, every in found.items():
        known, least, longest = zip(*every, strict=True)
        seeds = len(group.seeds)
        yield Part(
            group=group.title,
            learner=learner,
            cells=len(every),
            runs=len(every) * seeds,
            seconds=(seeds * math.fsum(least), seeds * math.fsum(longest)),
            measured=sum(known),
        )


def _searches(group: Least, title: str, name: str, most: float) -> Part:
    """Count the searches of a learner: how many runs each takes is not known before."""
    cells = len(group.specs)
    count = cells * (group.seeds + PILOTS)
    label, seconds = f"least of {name}", (0.0, count * most)
    return Part(group=title, learner=label, cells=cells, runs=count, seconds=seconds)


def _climb(climbs: Climbs, name: str, most: float) -> Part:
    """Bound a learner's climb by the budgets of the rungs that it takes."""
    learner, longest, rungs = parse_learner(name), 0.0, 0
    for rung, spec in zip(climbs.ladder.rungs, climbs.ladder.specs, strict=True):
        if learner.supports(parse_stored(spec)):
            break
        longest += min(most, rung_budget(rung, climbs.budget).seconds or math.inf)
        rungs += 1
    return Part(
        group=climbs.title,
        learner=name,
        cells=rungs,
        runs=rungs * climbs.seeds,
        seconds=(0.0, longest * climbs.seeds),
        at_most=True,
    )
