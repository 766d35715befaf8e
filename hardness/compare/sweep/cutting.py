"""Jobs that were cut: their parts in any order, put together when enough of them are there."""

from collections.abc import Iterator
from typing import Protocol

from hardness.compare.engines import Finished
from hardness.compare.jobs import Cut, Job, RunJob
from hardness.compare.store.rows import PartRow, Row, SpentRow, WholeRow
from hardness.compare.sweep.ends import run_row
from hardness.compare.sweep.strands import Known
from hardness.compare.sweep.tally import Tally


class Kept(Protocol):
    """Where the parts are kept that are written."""

    def parts(self, whole: str) -> Iterator[PartRow]:
        """Yield the parts of a job in their order."""


class CutStrand:
    """The parts of one job that was cut. run: the run that they make, if it is one."""

    def __init__(
        self, cut: Cut, known: Known, tally: Tally, kept: Kept, run: RunJob | None = None
    ) -> None:
        """Begin with the parts that are kept; with none, where the whole is there."""
        self._cut, self._kept, self._run, self._tally = cut, kept, run, tally
        self._count = cut.parts
        self._ends: dict[int, bool] = {}
        self._sent: dict[str, int] = {}
        self._failed = False
        self._over = not known.begin(run.key if run else cut.key)
        if not self._over:
            self._ends = {p.index: cut.ends(p.content) for p in kept.parts(cut.key)}
        done = self._count if self._over else len(self._ends)
        tally.plan(cut.label, self._count, done=done)
        self._next = self._front = 0  # the next to send; all before the front are there

    def next(self) -> Job | None:
        """Return the next part that is not there."""
        while not (self._over or self._failed) and self._next < self._count and not self._settled:
            index, self._next = self._next, self._next + 1
            if index not in self._ends:
                part = self._cut.part(index)
                self._sent[part.key] = index
                return part
        return None

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Keep what a part gave; after one that could not be done no more are sent.

        That one may lie behind the part that ends the job: the run that others make then takes the
        place of the failure.
        """
        index = self._sent[job.key]
        if self._over:  # and so planned no more
            self._tally.plan(self._cut.label, 1)
        if finished.result is None:
            self._failed = True
            return [run_row(self._run, finished)] if self._run else []
        if self._over:
            return []
        content = self._cut.content(finished.result)
        self._ends[index] = self._cut.ends(content)
        return [PartRow(whole=self._cut.key, index=index, content=content)]

    def last(self) -> list[Row]:
        """Put the parts together, once all that count are written."""
        if self._over or not self._settled:
            return []
        self._over = True
        self._tally.plan(self._cut.label, len(self._ends) - self._count)
        found = self._cut.assemble(self._kept.parts(self._cut.key))
        if isinstance(found, WholeRow):
            return [found]
        assert self._run is not None
        row = run_row(self._run, Finished(key=self._run.key, result=found))
        return [row, SpentRow(whole=self._cut.key)]

    @property
    def _settled(self) -> bool:
        """Whether all parts are there, or all up to the first that ends the job."""
        while self._ends.get(self._front) is False:
            self._front += 1
        return self._front == self._count or self._front in self._ends
