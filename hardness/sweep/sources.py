"""Where the jobs of a sweep come from, and what their results become.

A source gives jobs one after another: the runs of a group, its certificates, the rungs of climbs,
the parts of a Gram matrix. What one asks for and another has begun is done once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from hardness.oracles import Usage
from hardness.runs.machine import machine, versions
from hardness.runs.rows import CertificateRow, FigureRow, PartRow, Row
from hardness.runs.run import Run
from hardness.runs.stress import TERMS, Trials, instance_seeds, rung_budget
from hardness.runs.stress import Climb as Climbed
from hardness.sweep.cells import Cell
from hardness.sweep.file import Climb
from hardness.sweep.gram import GramCut
from hardness.sweep.jobs import CertificateJob, Job, RunJob, run_job
from hardness.sweep.pool import Failure, Finished
from hardness.sweep.tally import Tally
from hardness.upper import Outcome, learner_spec, parse_learner
from instances.spec import parse_stored

_OUTCOMES: dict[Failure, Outcome] = {
    "died": Outcome.CRASHED,
    "overdue": Outcome.OVERDUE,
    "memory": Outcome.MEMORY_SPENT,
    "raised": Outcome.RAISED,
    "refused": Outcome.REFUSED,
}


def run_of(job: RunJob, finished: Finished) -> Run:
    """Make the run of a job, also of one that its worker did not live to end.

    >>> job = RunJob(spec="parity:d=8,m=2,noise=0,rho=2", learner="trivial", seed=0,
    ...              revisions=(1, 1))
    >>> found = run_of(job, Finished(key=job.key, failure="overdue", why="60 s", attempts=3))
    >>> found.outcome.value, found.bound, found.reproducible
    ('overdue', 'machine', False)
    """
    if finished.result is not None:
        return Run.from_json(finished.result, job.budget, key=job.key, attempts=finished.attempts)
    family, learner = job.revisions
    how = {} if job.oracle is None else {"tau": str(job.tau), "oracle": job.oracle}
    return Run(
        spec=job.spec,
        learner=job.learner,
        seed=job.seed,
        budget=job.budget,
        outcome=_OUTCOMES[finished.failure or "died"],
        risk=None,
        usage=Usage(examples=0, queries=0, seconds=float(finished.seconds), peak_bytes=0),
        secret_recovered=None,
        details={"why": finished.why, **how},
        revisions={"family": family, "learner": learner},
        versions=versions(),
        machine=machine(),
        attempts=finished.attempts,
        key=job.key,
    )


@dataclass(kw_only=True)
class Known:
    """What sources know of one another: a job is counted once and begun once, whoever asks for it.

    begun: keys of jobs that are done or being done. failed: keys of runs that failed before. look:
    finds the row of a run that is done.
    """

    begun: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    look: Callable[[str], Run | None] = lambda key: None

    def begin(self, key: str) -> bool:
        """Take a job on; False where it was begun before."""
        if key in self.begun:
            return False
        self.begun.add(key)
        return True

    def count(self, keys: Sequence[str], label: str, tally: Tally) -> None:
        """Plan jobs that nobody has counted yet, and note those that are done."""
        new = [key for key in keys if key not in self.counted]
        self.counted.update(new)
        done = [key for key in new if key in self.begun]
        failed = sum(key in self.failed for key in done)
        tally.plan(label, len(new), done=len(done), failed=failed)


class JobSource(Protocol):
    """The jobs of a group, one after another; some become known only by results."""

    def next(self) -> Job | None:
        """Return the next job that can begin, or None where there is none now."""

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Turn the result of a job that `next` gave into rows."""

    def last(self) -> list[Row]:
        """Return rows that need all rows so far to be written, once; asked after each writing."""


class RunSource:
    """Runs of cells: the first seed of every cell, then the second, and so on."""

    def __init__(
        self, cells: Sequence[Cell], seeds: Sequence[int], known: Known, tally: Tally
    ) -> None:
        """Count what there is to do."""
        self._known = known
        for cell in cells:
            known.count(list(cell.keys(seeds)), cell.learner, tally)
        self._jobs = self._each(cells, seeds)

    def _each(self, cells: Sequence[Cell], seeds: Sequence[int]) -> Iterator[Job]:
        for seed in seeds:
            for cell in cells:
                if self._known.begin(next(iter(cell.keys((seed,))))):
                    yield cell.job(seed)

    def next(self) -> Job | None:
        """Return the next run."""
        return next(self._jobs, None)

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a run down, whatever became of it."""
        assert isinstance(job, RunJob)
        return [run_of(job, finished)]

    def last(self) -> list[Row]:
        """Nothing is left to do."""
        return []


class CertificateSource:
    """The certificates of specs."""

    def __init__(self, jobs: Sequence[CertificateJob], known: Known, tally: Tally) -> None:
        """Count what there is to do."""
        known.count([job.key for job in jobs], CertificateJob.label, tally)
        self._jobs = (job for job in jobs if known.begin(job.key))

    def next(self) -> Job | None:
        """Return the next certificate to make."""
        return next(self._jobs, None)

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a certificate down; nothing where there is none, so that it is tried again."""
        assert isinstance(job, CertificateJob)
        if finished.result is None:
            return []
        terms = job.to_json()["terms"]
        return [
            CertificateRow(key=job.key, spec=job.spec, terms=terms, certificate=finished.result)
        ]

    def last(self) -> list[Row]:
        """Nothing is left to do."""
        return []


class Climber:
    """One learner on its way up."""

    def __init__(
        self, group: Climb, base_seed: int, asked: str, known: Known, tally: Tally
    ) -> None:
        """Stand before the first rung."""
        self.learner = parse_learner(asked)
        self.climbed = Climbed(
            learner=learner_spec(self.learner), asked=asked, reference=False, rungs=()
        )
        self._group, self._base, self._known, self._tally = group, base_seed, known, tally
        self._jobs: dict[str, RunJob] = {}
        self._runs: dict[str, Run] = {}

    @property
    def over(self) -> bool:
        """Whether there is no rung left to try."""
        return not self.climbed.climbing or len(self.climbed.rungs) == len(self._group.ladder.rungs)

    def next(self) -> RunJob | None:
        """Return a run of this rung, or of one that follows where all of it was done before."""
        while not self.over:
            if not self._jobs and not self.enter():
                return None
            for key, job in self._jobs.items():
                row = None if key in self._runs else self._known.look(key)
                if row:
                    self._runs[key] = row
                elif self._known.begin(key):
                    return job
            if len(self._runs) < len(self._jobs):
                return None
            self._leave()
        return None

    def enter(self) -> bool:
        """Prepare the runs of the next rung, unless its family is not taken."""
        at = len(self.climbed.rungs)
        rung, spec = self._group.ladder.rungs[at], self._group.ladder.specs[at]
        reason = self.learner.supports(parse_stored(spec))
        if reason:
            self.climbed = replace(self.climbed, unsupported=reason)
            return False
        budget = rung_budget(rung, self._group.budget)
        seeds = instance_seeds(self._base, spec, self._group.seeds)
        jobs = [run_job(spec, self.learner, seed, budget, tau=TERMS.tau) for seed in seeds]
        self._jobs, self._runs = {job.key: job for job in jobs}, {}
        self._known.count(list(self._jobs), self.climbed.learner, self._tally)
        return True

    def _leave(self) -> None:
        """Write the trials of the rung down."""
        job = next(iter(self._jobs.values()))
        trials = tuple(self._runs[key] for key in self._jobs)
        rung = Trials(spec=job.spec, budget=job.budget, trials=trials)
        self.climbed = replace(self.climbed, rungs=(*self.climbed.rungs, rung))
        self._jobs = {}


class ClimbSource:
    """All learners of a group, each on its own: jobs are counted as rungs are reached."""

    def __init__(
        self, group: Climb, base_seed: int, known: Known, tally: Tally, sweep: str
    ) -> None:
        """Let every learner stand before the first rung; sweep: the SHA-256 of its file."""
        self._group, self._base, self._sweep = group, base_seed, sweep
        self._climbers = [Climber(group, base_seed, name, known, tally) for name in group.learners]
        for climber in self._climbers:
            climber.enter()  # so that its runs are counted
        self._written = False

    def next(self) -> Job | None:
        """Return a run of the first learner that has one."""
        for climber in self._climbers:
            job = climber.next()
            if job:
                return job
        return None

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a run down; the climbers find it when they are asked for the next."""
        assert isinstance(job, RunJob)
        return [run_of(job, finished)]

    def last(self) -> list[Row]:
        """Write down how far each climbed, when all are over."""
        if self._written or not all(climber.over for climber in self._climbers):
            return []
        self._written = True
        group = self._group
        return [
            FigureRow(
                name=f"{group.title} of {self._sweep[:8]}",
                data={
                    "ladder": group.ladder.name,
                    "rungs": list(group.ladder.specs),
                    "seeds": group.seeds,
                    "base_seed": self._base,
                    "climbs": [_timeless(climber.climbed.to_json()) for climber in self._climbers],
                },
            )
        ]


def _timeless(climb: dict[str, Any]) -> dict[str, Any]:
    """Leave out the medians of times: equal runs give equal data."""
    rungs = [{k: v for k, v in rung.items() if k != "median_seconds"} for rung in climb["rungs"]]
    return climb | {"rungs": rungs}


class Kept(Protocol):
    """Where the parts are kept that are written."""

    def parts(self, whole: str) -> Iterator[PartRow]:
        """Yield the parts of a job in their order."""

    def part_indices(self, whole: str) -> set[int]:
        """Return which parts of a job are finished."""


class GramSource:
    """The parts of one matrix."""

    def __init__(self, cut: GramCut, known: Known, tally: Tally, kept: Kept) -> None:
        """Begin with the parts that are kept; with none, where the whole is there."""
        self._cut, self._kept = cut, kept
        self._over = not known.begin(cut.key)
        self._there = set[int]() if self._over else kept.part_indices(cut.key)
        self._missing = iter(() if self._over else sorted(set(range(cut.parts)) - self._there))
        self._sent: dict[str, int] = {}
        tally.plan(cut.label, cut.parts, done=cut.parts if self._over else len(self._there))

    def next(self) -> Job | None:
        """Return the next part that is not there."""
        index = next(self._missing, None)
        if index is None:
            return None
        part = self._cut.part(index)
        self._sent[part.key] = index
        return part

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Keep what a part gave; after one that could not be done no more are sent."""
        if finished.result is None:
            self._missing = iter(())
            return []
        index = self._sent[job.key]
        self._there.add(index)
        content = self._cut.content(finished.result)
        return [PartRow(whole=self._cut.key, index=index, content=content)]

    def last(self) -> list[Row]:
        """Put the parts together, once all are written."""
        if self._over or len(self._there) < self._cut.parts:
            return []
        self._over = True
        return [self._cut.assemble(self._kept.parts(self._cut.key))]
