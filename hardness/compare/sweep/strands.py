"""The strands of a sweep: the jobs of a group in their order, and what their results become."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hardness.compare.engines import Finished
from hardness.compare.jobs import CertificateJob, Job, RunJob
from hardness.compare.store.rows import CertificateRow, Row, RunRow
from hardness.compare.sweep.cells import Cell
from hardness.compare.sweep.ends import run_row
from hardness.compare.sweep.tally import Tally


@dataclass(kw_only=True)
class Known:
    """What strands know of one another: a job is counted once and begun once, whoever asks for it.

    begun: keys of jobs that are done or being done. failed: keys of runs that failed before. look:
    finds the row of a run that is done.
    """

    begun: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    look: Callable[[str], RunRow | None] = lambda key: None

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


class Strand(Protocol):
    """The jobs of a group, one after another; some become known only by results."""

    def next(self) -> Job | None:
        """Return the next job that can begin, or None where there is none now."""

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Turn the result of a job that `next` gave into rows."""

    def last(self) -> list[Row]:
        """Return rows that need all rows so far to be written, once; asked after each writing."""


class RunStrand:
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
        return [run_row(job, finished)]

    def last(self) -> list[Row]:
        """Nothing is left to do."""
        return []


class CertificateStrand:
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
