"""A sweep from its beginning, or from where it stopped: jobs go to an engine, rows to a store.

sources --jobs--> engine --finished--> rows --one transaction--> store

The driver is the only process that writes. It keeps the engine a few jobs ahead, writes what is
done several times a second, each time in one transaction with the state of the sweep, and nothing
else. So whatever is killed, the store holds what was finished, and who starts again does the rest.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hardness.learners.boundary import require_out_of_reach
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import clock
from hardness.runs.columns import runs_frame
from hardness.runs.least import Least
from hardness.runs.processes import HardLimits
from hardness.runs.registry import parse_learner
from hardness.runs.rows import THRESHOLDS, Progress, Row, SweepRow, ThresholdRow
from hardness.runs.run import Run
from hardness.runs.stress import BITS, Climber, Stress, climb_of, next_rung
from hardness.sweep.cluster import engine_of
from hardness.sweep.file import Climbs, Grid, Sweep
from hardness.sweep.jobs import CertificateJob, Finished, Job, RunJob, SearchJob, job_of
from hardness.sweep.pool import Engine
from hardness.sweep.store import FAILED, Writer, opened, read
from instances.errors import ToolkitError
from instances.limits import available_memory
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from pandas import DataFrame

PACE = 0.2  # seconds between writings: what is done waits no longer
_TASK = 0.5  # seconds that a task of several short jobs takes
_RATE = 200  # tasks a second, no more of which a scheduler is asked for
_SHOWN = 20  # of what is missing


@dataclass(frozen=True, kw_only=True, repr=False)
class Ended(Result):
    """How a sweep ended; missing: what could not be done and has no row, the first few in words.

    Its runs are in the store, and its table is read from there.
    """

    name: str
    store: Path
    progress: Progress
    missing: tuple[str, ...]

    indent: ClassVar[int | None] = None  # the last of the lines of JSON that say how far it is

    def counts(self) -> dict[str, dict[str, int]]:
        """Count all runs in the store by learner and outcome."""
        with read(self.store) as found:
            return found.counts()

    def to_dict(self) -> dict[str, Any]:
        """Give its jobs in numbers, with the outcomes of all runs in the store by learner."""
        return {
            **self.progress.to_dict(),
            "event": "finished",
            "name": self.name,
            "store": str(self.store),
            "missing": list(self.missing),
            "outcomes": self.counts(),
        }

    def require(self) -> None:
        """Raise ToolkitError where something of it could not be done."""
        if self.missing:
            raise ToolkitError(f"{len(self.missing)} of what was asked could not be done")

    def _rows(self) -> list[TableRow]:
        at = self.progress
        return [
            {
                "jobs": label,
                "planned": planned,
                "done": at.done.get(label, 0),
                "failed": at.failed.get(label, 0),
            }
            for label, planned in at.planned.items()
        ]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs in the store: one row a run."""
        with read(self.store) as found:
            return runs_frame(found.runs())


class Interrupted(Exception):
    """A sweep was cut, by Ctrl-C or by what could not be done: its cause says which."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(f"{progress.finished} of {progress.total} jobs are done")
        self.progress = progress


Report = Callable[[Progress], None]


def run_sweep(
    sweep: Sweep,
    store: Path,
    engine: str = "local",
    jobs: int = 1,
    resume: bool = False,
    retry: bool = False,
    report: Report = lambda progress: None,
) -> Ended:
    """Do what is left of a sweep; what the store holds is not run again.

    resume: go on in a store that holds runs. retry: runs that failed are run again. Raises
    AlreadyExists for such a store without it, ToolkitError where the store or the engine cannot be
    used, and Interrupted, with all that was finished in the store.
    """
    for climbs in (one for one in sweep.climbs if one.base_seed is None):
        for learner in map(innermost, map(parse_learner, climbs.learners)):
            if isinstance(learner, SubprocessLearner):
                require_out_of_reach(learner.file, store)
    with engine_of(engine, jobs) as at, opened(store, resume) as writer:
        return Driver(sweep, writer, at, retry).drive(report)


# The jobs of a part of a sweep, one after another; None where none can begin before results are
# there. The first None comes when the part has counted its jobs.
Source = Iterator[Job | None]


class Driver:
    """A sweep at work.

    In the order of a job's way: from its source to the engine, back, and as a row to the store.
    What is to be done besides certificates, cells and climbs is one more source.
    """

    def __init__(self, sweep: Sweep, writer: Writer, engine: Engine, retry: bool = False) -> None:
        self._sweep, self._writer, self._engine = sweep, writer, engine
        self._earlier = writer.sweep(sweep.sha256)
        failed = writer.failed()
        self._again = failed if retry else set[str]()  # in the store, and to be run again
        self._counts = JobCounts(writer.finished() - self._again, failed)
        self._row = _row(sweep, self._earlier, engine)
        self._rows: list[Row] = []  # not written yet
        self._fresh: dict[str, Row] = {}  # those of them, but for certificates
        self._written = clock.now()
        self._broken = False  # nothing more is written, for the store took none
        self._missing: list[str] = []
        engine.limits = _hard_limits(sweep.limits, engine)
        self._sources: list[Source] = [
            *(self._listed(group.certificates) for group in sweep.grids),
            *map(self._cells, sweep.grids),
            *(self._climb(group, name) for group in sweep.climbs for name in group.learners),
            *(
                self._least(group, *cell)
                for group in sweep.least
                for cell in product(group.specs, group.learner_names)
            ),
        ]
        for source in self._sources:
            next(source, None)
        self._kept = self._counts.progress()

    def drive(self, report: Report = lambda progress: None) -> Ended:
        """Do all that the store lacks; raises Interrupted, with all that was finished."""
        try:
            self._write()
            busy = True
            while busy:
                sent = self._fill()
                busy = self._land(PACE) or sent or self._engine.flying > 0
                if clock.now() - self._written >= PACE:
                    self._write()
                report(self._counts.progress())
            self._write()
            self._write("finished")
        except BaseException as error:
            self._engine.abort()
            self._land(rescue=True)
            cut = isinstance(error, KeyboardInterrupt)
            if not self._broken:
                self._write("interrupted" if cut else "failed")
            if cut or isinstance(error, ToolkitError):
                raise Interrupted(self._kept) from error
            raise
        report(self._kept)
        return Ended(
            name=self._sweep.name,
            store=self._writer.path,
            progress=self._kept,
            missing=tuple(self._missing[:_SHOWN]),
        )

    # Where jobs come from

    def _listed(self, jobs: Sequence[Job]) -> Source:
        """Give jobs that are no runs of cells, as certificates: each is known by itself."""
        for job in jobs:
            self._counts.plan(job.label, [job.key])
        yield None
        yield from (job for job in jobs if self._counts.begin(job.key))

    def _cells(self, group: Grid) -> Source:
        """Give the runs of a group: the first seed of every cell, then the second, and so on."""
        for cell in group.cells:
            keys = list(map(cell.keys, group.seeds))
            self._counts.plan(cell.label, keys, cell.spec)
        yield None
        name = self._sweep.named(group)
        for seed in group.seeds:
            for cell in group.cells:
                if self._counts.begin(cell.keys(seed)):
                    yield cell.with_seed(seed, group=name, axes=group.axes)

    def _climb(self, group: Climbs, asked: str) -> Source:
        """Give the runs of one learner on its way up: they are counted as rungs are reached."""
        climb, base = climb_of(asked), self._row.climbs[self._sweep.named(group)]["base_seed"]
        while True:
            climb, planned = next_rung(climb, group.ladder, group.seeds, base, group.budget)
            if not planned:
                self._counts.open_ended.discard((group.title, asked))
                return
            self._counts.open_ended.add((group.title, asked))
            jobs = list(map(job_of, planned))
            trials = yield from self._done(jobs, first=not climb.rungs)
            climb = climb.tried(planned, trials)

    def _least(self, group: Least, spec: str, learner: str) -> Source:
        """Give the searches of a learner at a size: pilots, then those that count."""
        self._counts.count(THRESHOLDS, group.seeds, 0, spec)
        pilots = list(map(job_of, group.searches_of(spec, learner)))
        said = yield from self._done(pilots, first=True)
        self._counts.count(THRESHOLDS, -group.seeds, 0, spec)
        jobs = list(map(job_of, group.searches_of(spec, learner, said)))
        yield from self._done(jobs, first=False)

    def _done(
        self, jobs: Sequence[RunJob | SearchJob], first: bool
    ) -> Generator[Job | None, None, list[Any]]:
        """Give jobs of which one spec's results are wanted before others begin, and take them.

        first: nothing of this source was counted before.
        """
        self._counts.plan(jobs[0].label, [job.key for job in jobs], jobs[0].spec)
        if first:
            yield None
        yield from (job for job in jobs if self._counts.begin(job.key))
        done: list[Any] = []
        while len(done) < len(jobs):
            job = jobs[len(done)]
            row: Any = self._look(job)
            if row:
                done.append(job.held(row, self._writer.path))
            else:
                yield None
        return done

    def _look(self, job: RunJob | SearchJob) -> Row | None:
        """Find a run or a threshold that is done, written or not."""
        found: Row | None = self._fresh.get(job.key)
        if found or job.key in self._again:
            return found
        found = self._writer.row(job.table, job.key)
        return found

    # To the engine and back

    def _fill(self) -> bool:
        """Hand over what there is room for; return whether there was anything."""
        any_sent = False
        while self._engine.room and (jobs := self._several()):
            self._engine.send(jobs)
            any_sent = True
        return any_sent

    def _several(self) -> list[Job]:
        """Take the next job, and where jobs are short more of its source, to be done together."""
        batch, seconds = self._engine.batch, max(_TASK, self._engine.slots / _RATE)
        for source in self._sources:
            if job := next(source, None):
                mean = self._counts.mean(job.label) if batch > 1 else None
                most = max(1, min(batch, int(seconds / mean))) if mean else 1
                return [job, *takewhile(bool, islice(source, most - 1))]  # type: ignore[list-item]
        return []

    def _land(self, timeout: float = 0.0, rescue: bool = False) -> bool:
        """Take what has ended; return whether anything had. See `Engine.land`."""
        any_landed = self._engine.land(timeout, rescue)
        while landed := self._engine.landed:
            self._take(*landed[0])
            landed.popleft()
        return any_landed

    # To the store

    def _take(self, job: Job, finished: Finished) -> None:
        """Count what became of a job, and keep it to be written."""
        row = job.row(finished)
        if row:
            self._rows.append(row)
        elif finished.failure:
            self._missing.append(f"{job.label}: {finished.failure}: {finished.why}")
        failed = finished.failure is not None
        if isinstance(row, Run | ThresholdRow):
            self._fresh[row.key] = row
            self._again.discard(row.key)
            failed |= isinstance(row, Run) and row.outcome.value in FAILED
        of = "" if isinstance(job, CertificateJob) else job.spec
        self._counts.add(job.label, finished.seconds, failed, of)

    def _write(
        self, state: Literal["running", "finished", "interrupted", "failed"] = "running"
    ) -> None:
        """Write all rows with the state of the sweep, or none; raises ToolkitError."""
        progress = self._counts.progress()
        self._row = replace(
            self._row,
            state=state,
            planned=progress.planned,
            done=progress.done,
            failed=progress.failed,
            updated=time.time(),
            remaining_seconds=progress.remaining,
        )
        try:
            self._writer.write(self._rows, self._row)
        except ToolkitError:
            self._broken = True
            raise
        self._rows, self._fresh, self._kept = [], {}, progress
        self._written = clock.now()


def _row(sweep: Sweep, earlier: SweepRow | None, engine: Engine) -> SweepRow:
    """Write down a sweep before it begins: base seeds are drawn once, and kept."""
    climbs: dict[str, Any] = {}
    for one in sweep.climbs:
        name = sweep.named(one)
        held = earlier.climbs.get(name, {}).get("base_seed") if earlier else None
        drawn = held if isinstance(held, int) else secrets.randbits(BITS)
        climbs[name] = Stress(
            ladder=one.ladder,
            learners=tuple(Climber(asked=learner) for learner in one.learners),
            seeds=one.seeds,
            base_seed=drawn if one.base_seed is None else one.base_seed,
            seed_source="given",
            budget=one.budget,
            finished=True,
        ).filed()
    begun = SweepRow(
        name=sweep.name,
        text=sweep.text,
        engine=engine.name,
        slots=engine.slots,
        climbs=climbs,
        least={f"least {i} of {sweep.sha256[:8]}": g.filed() for i, g in enumerate(sweep.least, 1)},
    )
    return replace(begun, started=earlier.started) if earlier else begun


def _hard_limits(limits: HardLimits, engine: Engine) -> HardLimits:
    """Fill in the limit of memory: a fair part of what is free, where the workers are here."""
    if limits.memory_bytes is not None or ":" in engine.name:
        return limits
    return replace(limits, memory_bytes=int(0.8 * available_memory() / engine.slots))


_ENOUGH = 3  # jobs, from which the time of others like them is estimated


class JobCounts:
    """What is planned, begun and done: a job counts once and begins once, whoever asks for it.

    >>> counts = JobCounts(begun={"x"})
    >>> counts.plan("a", ["x", "y", "z", "v", "w"]); counts.begin("x"), counts.begin("y")
    (False, True)
    >>> for seconds in (1.5, 1.0, 2.0): counts.add("a", seconds)
    >>> counts.at(6.0).done, counts.at(6.0).remaining
    ({'a': 4}, 2.0)

    open_ended: climbs, of which it is not known how many jobs there will be.
    """

    def __init__(self, begun: Iterable[str] = (), failed: Iterable[str] = ()) -> None:
        """begun: keys of jobs done before; failed: of runs that failed."""
        self._begun, self._before = set(begun), set(failed)
        self._counted = set[str]()
        self._planned, self._done, self._failed = Counter[str](), Counter[str](), Counter[str]()
        self.open_ended = set[tuple[str, str]]()
        # By label and spec: jobs that are left; how many were done now, and their seconds.
        self._left = Counter[tuple[str, str]]()
        self._seconds: dict[tuple[str, str], list[float]] = {}
        self._start = clock.now()

    def begin(self, key: str) -> bool:
        """Take a job on; False where it was begun before."""
        if key in self._begun:
            return False
        self._begun.add(key)
        return True

    def begun(self, key: str) -> bool:
        """Return whether a job was begun, or done before."""
        return key in self._begun

    def plan(self, label: str, keys: Sequence[str], spec: str = "") -> None:
        """Plan jobs on one spec that nobody has counted yet, and note those that are done."""
        new = [key for key in keys if key not in self._counted]
        self._counted.update(new)
        done = [key for key in new if key in self._begun]
        self.count(label, len(new), len(done), spec)
        self._failed[label] += sum(key in self._before for key in done)

    def count(self, label: str, planned: int, done: int, spec: str = "") -> None:
        """Plan jobs by their number alone."""
        self._left[label, spec] += planned - done
        self._planned[label] += planned
        self._done[label] += done

    def add(self, label: str, seconds: float, failed: bool = False, spec: str = "") -> None:
        """Count a job that was done now."""
        self._done[label] += 1
        self._failed[label] += failed
        self._left[label, spec] -= 1
        timed = self._seconds.setdefault((label, spec), [0, 0.0])
        timed[0] += 1
        timed[1] += seconds

    def mean(self, label: str) -> float | None:
        """Mean seconds of the jobs of a label that were done now; None without any."""
        found = [timed for (name, _), timed in self._seconds.items() if name == label]
        return sum(s for _, s in found) / sum(n for n, _ in found) if found else None

    def progress(self) -> Progress:
        """Sum up, now."""
        return self.at(clock.now() - self._start)

    def at(self, elapsed: float) -> Progress:
        """Sum up after so many seconds."""
        return Progress(
            planned=dict(self._planned),
            done={label: self._done[label] for label in self._planned},
            failed={label: n for label, n in self._failed.items() if n},
            elapsed=elapsed,
            remaining=self._remaining(elapsed),
        )

    def _remaining(self, elapsed: float) -> float | None:
        """Estimate the seconds that are left: as long a job as others of its learner and spec took.

        None while of a learner and spec under three were done now, or a climb goes on.
        """
        left = {cell: n for cell, n in self._left.items() if n > 0}
        if not left:
            return 0.0
        known = {cell for cell, (n, _) in self._seconds.items() if n >= _ENOUGH}
        if self.open_ended or not left.keys() <= known:
            return None
        means = {cell: self._seconds[cell][1] / self._seconds[cell][0] for cell in left}
        spent = sum(seconds for _, seconds in self._seconds.values())
        work = sum(n * means[cell] for cell, n in left.items())
        if not spent:
            return None
        # At the end some workers wait for the longest job: for half of it, on average.
        at_once = max(spent / elapsed, 1.0) if elapsed else 1.0
        return elapsed * work / spent + max(means.values()) / 2 * (1 - 1 / at_once)
