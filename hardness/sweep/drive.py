"""A sweep from its beginning, or from where it stopped: jobs go to an engine, rows to a store.

sources --tasks--> engine --finished--> rows --one transaction--> store

The driver is the only process that writes. It keeps the engine a few jobs ahead, writes what is
done several times a second, each time in one transaction with the state of the sweep, and nothing
else. So whatever is killed, the store holds what was finished, and who starts again does the rest.
"""

import json
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hardness.oracles import Usage, clock
from hardness.runs.columns import runs_frame
from hardness.runs.machine import machine, versions
from hardness.runs.rows import CertificateRow, FigureRow, Progress, Row, SweepRow
from hardness.runs.run import Run
from hardness.runs.stress import BITS, climb_of, next_rung
from hardness.runs.stress import Climb as Climbed
from hardness.sweep.cluster import engine_of
from hardness.sweep.figures import phase
from hardness.sweep.file import Climb, Runs, Sweep
from hardness.sweep.jobs import CertificateJob, Job, RunJob, key_by_seed, run_job
from hardness.sweep.pool import Batch, Engine, Failure, Finished, Limits
from hardness.sweep.store import FAILED, Writer, create, read, reopen
from hardness.upper import Outcome, parse_learner
from hardness.upper.isolated import SubprocessLearner
from hardness.upper.isolated.contain import require_out_of_reach
from instances.errors import AlreadyExists, DamagedFile, ToolkitError
from instances.limits import available_memory
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from pandas import DataFrame

PACE = 0.2  # seconds between writings: what is done waits no longer
_AHEAD = 2  # tasks for each slot: one at work, one waiting
_ASKED = 5.0  # seconds after which an engine is asked again how many slots it has
_ALONE = 600.0  # seconds without any, after which nobody is waited for
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

    _words: ClassVar[str] = "hardness.report.sweep_status.ended_words"
    indent: ClassVar[int | None] = None  # the last of the lines of JSON that say how far it is

    def counts(self) -> dict[str, dict[str, int]]:
        """Count all runs in the store by learner and outcome."""
        with read(self.store) as found:
            return {learner: dict(ends) for learner, ends in found.counts().items()}

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

    def _summary(self) -> tuple[str, list[TableRow]]:
        at = self.progress
        missing = f", {len(self.missing)} not done" if self.missing else ""
        title = f"{self.name}: {at.finished} of {at.total} jobs done{missing}, in {self.store}"
        return title, [
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
    for climb in (one for one in sweep.climbs if one.base_seed is None):
        for learner in map(parse_learner, climb.learners):
            if isinstance(learner, SubprocessLearner):
                require_out_of_reach(learner.file, store)
    with engine_of(engine, jobs) as at, open_store(store, resume) as writer:
        return Driver(sweep, writer, at, retry).drive(report)


def open_store(path: Path, resume: bool) -> Writer:
    """Open a store to be written; raises AlreadyExists for one with runs, unless they are meant."""
    if not path.exists():
        return create(path)
    writer = reopen(path)
    if not resume and not writer.empty:
        writer.close()
        raise AlreadyExists(
            f"{path} holds runs: add --resume to do what is missing, or name another file"
        )
    return writer


# Who does what


@dataclass(frozen=True)
class Task:
    """A job, and what its result is kept as: None where it is not kept, and is tried again."""

    job: Job
    row: Callable[[Finished], Row | None]


# The tasks of a part of a sweep, one after another; None where none can begin before results are
# there. The first None comes when the part has counted its jobs.
Source = Iterator[Task | None]


class Driver:
    """A sweep at work.

    In the order of a job's way: from its source to the engine, back, and as a row to the store.
    """

    def __init__(self, sweep: Sweep, writer: Writer, engine: Engine, retry: bool = False) -> None:
        self._sweep, self._writer, self._engine = sweep, writer, engine
        self._earlier = writer.sweep(sweep.sha256)
        failed = writer.failed()
        self._again = failed if retry else set[str]()  # in the store, and to be run again
        self._counts = JobCounts(writer.keys() - self._again, failed)
        self._row = _row(sweep, self._earlier, engine)
        self._rows: list[Row] = []  # not written yet
        self._runs: dict[str, Run] = {}  # those of them
        self._written = clock.now()
        self._wrote = self._broken = False  # something new; nothing more, for the store took none
        self._missing: list[str] = []
        self._limits = _hard_limits(sweep.limits, engine)
        self._slots = max(1, engine.slots)
        self._asked = self._seen = clock.now()
        self._flying = 0  # tasks that the engine has
        self._back: SimpleQueue[tuple[Sequence[Task], Sequence[str], Batch]] = SimpleQueue()
        self._landed: deque[tuple[Task, Finished]] = deque()
        self._climbs: dict[tuple[str, str], Climbed] = {}
        self._sources: list[Source] = [
            *map(self._certificates, sweep.runs),
            *map(self._cells, sweep.runs),
            *(self._climb(climb, name) for climb in sweep.climbs for name in climb.learners),
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
                busy = self._land(PACE) or sent or self._flying > 0
                if clock.now() - self._written >= PACE:
                    self._write()
                report(self._counts.progress())
            self._write()
            if self._wrote or not (self._earlier and self._earlier.state == "finished"):
                self._rows += self._figures()
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

    def _certificates(self, group: Runs) -> Source:
        """Give the certificates of a group's specs."""
        self._counts.plan(CertificateJob.label, [job.key for job in group.certificates])
        yield None
        for job in group.certificates:
            if self._counts.begin(job.key):
                yield Task(job, partial(_certificate_row, job))

    def _cells(self, group: Runs) -> Source:
        """Give the runs of a group: the first seed of every cell, then the second, and so on."""
        cells = [(cell, key_by_seed(cell)) for cell in group.cells]
        for cell, key in cells:
            self._counts.plan(cell.learner, list(map(key, group.seeds)), cell.spec)
        self._require_own(cells, group.seeds)
        yield None
        for seed in group.seeds:
            for cell, key in cells:
                if self._counts.begin(key(seed)):
                    job = replace(cell, seed=seed)
                    yield Task(job, partial(run_of, job))

    def _require_own(
        self, cells: Sequence[tuple[RunJob, Callable[[int], str]]], seeds: Sequence[int]
    ) -> None:
        """Refuse a store in which a run stands under the key of another; raises DamagedFile."""
        done = {name for _, key in cells for name in map(key, seeds) if self._counts.begun(name)}
        if not done:
            return
        keys: dict[tuple[str, str], list[Callable[[int], str]]] = {}
        for cell, key in cells:
            keys.setdefault((cell.spec, cell.learner), []).append(key)
        for name, spec, learner, seed in self._writer.owners():
            own = keys.get((spec, learner), []) if isinstance(seed, int) else []
            if name in done and all(key(seed) != name for key in own):
                raise DamagedFile(
                    f"{self._writer.path} holds a run of {learner} on {spec}, seed {seed}, under "
                    f"the key of another job, {name}: it was changed"
                )

    def _climb(self, group: Climb, asked: str) -> Source:
        """Give the runs of one learner on its way up: they are counted as rungs are reached."""
        climb, learner = climb_of(asked), parse_learner(asked)
        base = self._row.base_seeds[group.title]
        while True:
            climb, planned = next_rung(climb, group.ladder, group.seeds, base, group.budget)
            self._climbs[group.title, asked] = climb
            if not planned:
                self._counts.open_ended.discard((group.title, asked))
                return
            jobs = [
                run_job(one.spec, learner, one.seed, one.budget, tau=one.tau) for one in planned
            ]
            self._counts.open_ended.add((group.title, asked))
            self._counts.plan(climb.learner, [job.key for job in jobs], jobs[0].spec)
            if not climb.rungs:
                yield None
            for job in jobs:
                if self._counts.begin(job.key):
                    yield Task(job, partial(run_of, job))
            trials: list[Run] = []
            while len(trials) < len(jobs):
                job = jobs[len(trials)]
                run = self._look(job.key)
                if run:
                    trials.append(job.require_own(run, self._writer.path))
                else:
                    yield None
            climb = climb.tried(planned, trials)

    def _look(self, key: str) -> Run | None:
        """Find a run that is done, written or not."""
        return self._runs.get(key) or (None if key in self._again else self._writer.run(key))

    # To the engine and back

    def _fill(self) -> bool:
        """Hand over what there is room for; return whether there was anything."""
        any_sent = False
        while self._room and (tasks := self._several()):
            payloads = [json.dumps({"kind": t.job.kind, **t.job.to_dict()}) for t in tasks]
            future = self._engine.submit(payloads, self._limits)
            self._flying += 1
            future.add_done_callback(partial(self._ended, tasks, payloads))
            any_sent = True
        return any_sent

    def _ended(self, tasks: Sequence[Task], payloads: Sequence[str], batch: Batch) -> None:
        self._back.put((tasks, payloads, batch))

    @property
    def _room(self) -> bool:
        """Whether the engine should have more; raises ToolkitError where it lost all its slots."""
        if clock.now() - self._asked > _ASKED:  # workers of a cluster come and go
            there, self._asked = self._engine.slots, clock.now()
            self._slots = max(1, there)
            if there:
                self._seen = self._asked
            elif self._asked - self._seen > _ALONE:
                raise ToolkitError(
                    f"{self._engine.name} has had no workers for {_ALONE / 60:.0f} minutes: start "
                    "some and resume"
                )
        return self._flying < _AHEAD * self._slots

    def _several(self) -> list[Task]:
        """Take the next task, and where jobs are short more of its source, to be done together."""
        batch, seconds = self._engine.batch, max(_TASK, self._slots / _RATE)
        for source in self._sources:
            if task := next(source, None):
                mean = self._counts.mean(task.job.label) if batch > 1 else None
                most = max(1, min(batch, int(seconds / mean))) if mean else 1
                tasks = [task]
                while len(tasks) < most and (task := next(source, None)):
                    tasks.append(task)
                return tasks
        return []

    def _land(self, timeout: float = 0.0, rescue: bool = False) -> bool:
        """Take what has ended, waiting for the first; return whether anything had.

        rescue: after the engine was told to stop or has failed: what did not end well is neither
        done nor a failure, and is done another time. Else raises ToolkitError if a task is lost.
        """
        any_landed = bool(self._landed)  # if this was interrupted before
        while self._flying:
            wait = 0.0 if any_landed else timeout
            try:
                tasks, payloads, batch = self._back.get(block=wait > 0, timeout=wait or None)
            except Empty:
                break
            self._flying -= 1
            if rescue and (batch.cancelled() or batch.exception()):
                continue
            any_landed = True
            self._landed += zip(tasks, self._engine.collect(batch, payloads), strict=True)
        while self._landed:
            self._take(*self._landed[0])
            self._landed.popleft()
        return any_landed

    # To the store

    def _take(self, task: Task, finished: Finished) -> None:
        """Count what became of a job, and keep it to be written."""
        row = task.row(finished)
        if row:
            self._rows.append(row)
        elif finished.failure:
            self._missing.append(f"{task.job.label}: {finished.failure}: {finished.why}")
        failed = finished.failure is not None
        if isinstance(row, Run):
            self._runs[row.key] = row
            self._again.discard(row.key)
            failed |= row.outcome.value in FAILED
        of = task.job.spec if isinstance(task.job, RunJob) else ""
        self._counts.add(task.job.label, finished.seconds, failed, of)

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
        self._wrote |= bool(self._rows)
        self._rows, self._runs, self._kept = [], {}, progress
        self._written = clock.now()

    def _figures(self) -> Iterator[Row]:
        """Collect what is drawn of a finished sweep: how far each climbed, and phases."""
        for group in self._sweep.climbs:
            yield FigureRow(
                name=f"{group.title} of {self._sweep.sha256[:8]}",
                data={
                    "ladder": group.ladder.name,
                    "rungs": list(group.ladder.specs),
                    "seeds": group.seeds,
                    "base_seed": self._row.base_seeds[group.title],
                    "climbs": [
                        _timeless(self._climbs[group.title, name].to_dict())
                        for name in group.learners
                    ],
                },
            )
        with read(self._writer.path) as found:
            yield phase(found.runs(), found.certificates())


def _row(sweep: Sweep, earlier: SweepRow | None, engine: Engine) -> SweepRow:
    """Write down a sweep before it begins: base seeds are drawn once, and kept."""
    drawn = earlier.base_seeds if earlier else {}
    seeds = {
        climb.title: drawn.get(climb.title, secrets.randbits(BITS))
        if climb.base_seed is None
        else climb.base_seed
        for climb in sweep.climbs
    }
    now = time.time()
    return SweepRow(
        name=sweep.name,
        sha256=sweep.sha256,
        text=sweep.text,
        engine=engine.name,
        slots=engine.slots,
        state="running",
        planned={},
        done={},
        failed={},
        started=earlier.started if earlier else now,
        updated=now,
        base_seeds=seeds,
    )


def _hard_limits(limits: Limits, engine: Engine) -> Limits:
    """Fill in the limit of memory: a fair part of what is free, where the workers are here."""
    if limits.memory_bytes is not None or ":" in engine.name:
        return limits
    return replace(limits, memory_bytes=int(0.8 * available_memory() / engine.slots))


def _certificate_row(job: CertificateJob, finished: Finished) -> CertificateRow | None:
    if finished.result is None:
        return None
    terms = job.terms.to_dict()
    return CertificateRow(key=job.key, spec=job.spec, terms=terms, certificate=finished.result)


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
        known: Any = {"key": job.key, "attempts": finished.attempts}
        try:
            return Run.from_json(finished.result, job.budget, **known)
        except ValueError as error:
            finished = replace(finished, failure="raised", why=f"no run came of it: {error}")
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


def _timeless(climb: dict[str, Any]) -> dict[str, Any]:
    """Leave out the medians of times: equal runs give equal data."""
    rungs = [{k: v for k, v in rung.items() if k != "median_seconds"} for rung in climb["rungs"]]
    return climb | {"rungs": rungs}


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
