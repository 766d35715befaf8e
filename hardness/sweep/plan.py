"""What a sweep would do, before anything of it starts: counts, and times where they are known.

A run takes what a store says of runs of the same learner, spec and budget, or at most what its
budget and the limit of an attempt allow. Nothing is guessed in between.
"""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

from hardness.oracles import Budget
from hardness.runs.run import Run
from hardness.runs.stress import rung_budget
from hardness.sweep.file import Climb, Gram, Runs, Sweep
from hardness.sweep.gram import gram_cut
from hardness.sweep.jobs import CertificateJob, RunJob, origin
from hardness.upper import parse_learner
from instances.spec import file_of, kind_of, parse_stored

FORMAT = "hardness-plan/2"
CERTIFICATES = "certificates"
_RUN_BYTES, _CERTIFICATE_BYTES = 300, 5000  # in a store, about

Range = tuple[float, float]  # of seconds: at least, at most; inf where nothing says
Measured = dict[tuple[Any, ...], list[float]]  # seconds of runs by cell
_SEED = '"seed":0,'  # quotes inside of JSON strings are escaped: it stands there once


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A learner on a spec within a budget: the jobs of all its seeds; `first` is that of seed 0."""

    first: RunJob

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return self.first.spec

    @property
    def learner(self) -> str:
        """The canonical learner."""
        return self.first.learner

    @property
    def budget(self) -> Budget:
        """The budget of every run."""
        return self.first.budget

    def job(self, seed: int) -> RunJob:
        """Make the job of a seed."""
        return replace(self.first, seed=seed)

    def keys(self, seeds: Iterable[int]) -> Iterator[str]:
        """Hash the content of jobs: `job(seed).key` of each seed, without making the jobs.

        >>> from hardness.sweep.jobs import run_job
        >>> one = run_job("parity:d=8,m=2", parse_learner("queries"), 0, Budget(queries=9))
        >>> list(Cell(first=one).keys([7])) == [Cell(first=one).job(7).key]
        True
        """
        start, end = self._around
        for seed in seeds:
            found = start.copy()
            found.update(b"%d%b" % (seed, end))
            yield found.hexdigest()[:32]

    @cached_property
    def _around(self) -> tuple[Any, bytes]:
        """What is hashed before the seed, and the text behind it."""
        content = [self.first.kind, replace(self.first, seed=0).to_json()]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        before, after = text.split(_SEED)
        return hashlib.sha256((before + _SEED[:-2]).encode()), ("," + after).encode()


def cells(runs: Runs) -> Iterator[Cell]:
    """List the cells of a group: pairs in their order, within a pair the budgets in theirs.

    No spec is read again: they are canonical. Raises UsageError for a learner's file that is gone.
    """
    known: dict[str, tuple[int, bool, str | None]] = {}
    for spec, name in runs.pairs:
        if name not in known:
            learner = parse_learner(name)
            known[name] = (learner.revision, learner.access != "examples", origin(learner))
        revision, asks, whose = known[name]
        kind: Any = kind_of(spec.partition(":")[0])
        for budget in runs.budgets:
            first = RunJob(
                spec=spec,
                learner=name,
                seed=0,
                budget=budget,
                oracle=runs.oracle if asks else None,
                tau=runs.tau if asks else None,
                revisions=(kind.revision, revision),
                origin=whose,
                family=file_of(kind.name),
            )
            yield Cell(first=first)


def certificates(group: Runs) -> list[CertificateJob]:
    """List the certificates of a group: of every spec of which a bound is proved."""
    jobs: list[CertificateJob] = []
    for spec in dict.fromkeys(spec for spec, _ in group.pairs):
        family = parse_stored(spec)
        if family.hardness.evidence == "exact":
            terms = group.terms
            jobs.append(
                CertificateJob(
                    spec=spec, terms=terms, revision=family.revision, file=file_of(family.name)
                )
            )
    return jobs


@dataclass(frozen=True, kw_only=True)
class Part:
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


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep would do. blocks: parts of each Gram matrix."""

    sweep: Sweep
    parts: tuple[Part, ...]
    blocks: tuple[int, ...]

    @property
    def certificates(self) -> int:
        """How many certificates there are."""
        return sum(part.runs for part in self.parts if part.learner == CERTIFICATES)

    @property
    def seconds(self) -> Range:
        """Seconds of all jobs but Gram matrices, one after another, without retries."""
        return sum(p.seconds[0] for p in self.parts), sum(p.seconds[1] for p in self.parts)

    @property
    def store_bytes(self) -> int:
        """About how large the store becomes: runs, certificates and halves of Gram matrices."""
        grams = sum(4 * gram.members**2 for gram in self.sweep.grams)
        return _RUN_BYTES * self.sweep.count + _CERTIFICATE_BYTES * self.certificates + grams

    def to_json(self) -> dict[str, Any]:
        """Write the plan; seconds that nothing bounds are null."""
        return {
            "format": FORMAT,
            "name": self.sweep.name,
            "runs": self.sweep.count,
            "certificates": self.certificates,
            "parts": [asdict(p) | {"seconds": _finite(p.seconds)} for p in self.parts],
            "grams": [
                asdict(gram) | {"blocks": blocks}
                for gram, blocks in zip(self.sweep.grams, self.blocks, strict=True)
            ],
            "left_out": list(_left_out(self.sweep)),
            "limits": asdict(self.sweep.limits),
            "job_seconds": _finite(self.seconds),
            "store_bytes": self.store_bytes,
        }


def plan(sweep: Sweep, store: Iterable[Run] = ()) -> Plan:
    """Count what a sweep would do, with times from a store's runs; nothing is run or written."""
    measured = _measured(store)
    most = sweep.limits.seconds or math.inf
    parts = [part for group in sweep.runs for part in _runs(group, measured, most)]
    keys = {job.key for group in sweep.runs if group.certify for job in certificates(group)}
    if keys:
        n = len(keys)
        parts.append(Part(group="", learner=CERTIFICATES, cells=n, runs=n, seconds=(0.0, n * most)))
    parts += [part for climb in sweep.climbs for part in _climb(climb, most)]
    return Plan(sweep=sweep, parts=tuple(parts), blocks=tuple(map(_blocks, sweep.grams)))


def _measured(rows: Iterable[Run]) -> Measured:
    """Gather seconds of runs that ended by themselves or their budget, cell by cell."""
    found: Measured = defaultdict(list)
    for row in rows:
        if row.bound not in ("machine", "memory"):
            how = row.details
            key = (row.spec, row.learner, row.budget, how.get("oracle"), how.get("tau"))
            found[key].append(row.usage.seconds)
    return found


def _runs(group: Runs, measured: Measured, most: float) -> Iterator[Part]:
    """Add up the cells of every learner of a group."""
    found: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    for cell in cells(group):
        tau = None if cell.first.tau is None else str(cell.first.tau)
        seen = measured.get((cell.spec, cell.learner, cell.budget, cell.first.oracle, tau))
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


def _climb(climb: Climb, most: float) -> Iterator[Part]:
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
            at_most=True,
        )


def _blocks(gram: Gram) -> int:
    """Count the parts that a Gram matrix is cut into."""
    return gram_cut(gram.spec, gram.members, gram.samples, gram.confidence, gram.seed).parts


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
