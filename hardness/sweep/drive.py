"""A sweep from its beginning, or from where it stopped: jobs go to an engine, rows to a store.

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
from typing import Any, Literal

from hardness.oracles import Usage
from hardness.runs.machine import machine, versions
from hardness.runs.rows import CertificateRow, FigureRow, PartRow, Progress, Row, SweepRow
from hardness.runs.run import Run
from hardness.runs.stress import BITS, TERMS, Trials, instance_seeds, rung_budget
from hardness.runs.stress import Climb as Climbed
from hardness.sweep.cluster import engine_of
from hardness.sweep.figures import phase
from hardness.sweep.file import Climb, Runs, Sweep
from hardness.sweep.gram import GramCut, gram_cut
from hardness.sweep.jobs import CertificateJob, Job, RunJob, run_job
from hardness.sweep.plan import cells, certificates
from hardness.sweep.pool import Batch, Engine, Failure, Finished, Limits
from hardness.sweep.store import FAILED, Writer, create, read, reopen
from hardness.upper import Outcome, learner_spec, parse_learner
from instances.errors import AlreadyExists, ToolkitError
from instances.limits import available_memory
from instances.spec import parse_stored

PACE = 0.2  # seconds between writings: what is done waits no longer
_AHEAD = 2  # tasks for each slot: one at work, one waiting
_ASKED = 5.0  # seconds after which an engine is asked again how many slots it has
_ALONE = 600.0  # seconds without any, after which nobody is waited for
_TASK = 0.5  # seconds that a task of several short jobs takes
_RATE = 200  # tasks a second, no more of which a scheduler is asked for
_SHOWN = 20  # of what is missing
_PATIENCE = 2.0  # seconds that an estimate may be late


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a sweep ended; missing: what could not be done and has no row, the first few in words."""

    progress: Progress
    missing: tuple[str, ...]


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
    with engine_of(engine, jobs) as at, open_store(store, resume) as writer:
        return drive(sweep, writer, at, retry, report)


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


def drive(
    sweep: Sweep,
    writer: Writer,
    engine: Engine,
    retry: bool = False,
    report: Report = lambda progress: None,
) -> Ended:
    """Do all jobs of a sweep that a store lacks; raises Interrupted, with all that was finished."""
    earlier = writer.sweep(sweep.sha256)
    failed = writer.failed()
    again = failed if retry else set()
    begun = writer.keys()
    tally = Tally(engine.slots, begun - again, failed)
    buffer = WriteBuffer(writer, _row(sweep, earlier, engine), again)
    sources = _sources(sweep, tally, buffer, writer)
    in_flight = InFlight(engine, _hard_limits(sweep.limits, engine), tally)
    missing: list[str] = []
    try:
        buffer.write(tally.progress())
        while True:
            sent = in_flight.fill(sources)
            in_flight.land(PACE)
            landed = _take(in_flight, tally, buffer, missing)
            if buffer.due or not in_flight.tasks:
                buffer.write(tally.progress())
                more = [row for source in sources for row in source.last()]
                buffer.add(more)
                if not (sent or landed or more or in_flight.tasks):
                    break
            report(tally.progress())
        if buffer.wrote or not (earlier and earlier.state == "finished"):
            buffer.add(_figures(sweep, sources, writer))
        buffer.write(tally.progress(), "finished")
    except BaseException as error:
        engine.abort()
        in_flight.rescue()
        _take(in_flight, tally, buffer, missing)
        cut = isinstance(error, KeyboardInterrupt)
        if not buffer.broken:
            buffer.write(tally.progress(), "interrupted" if cut else "failed")
        if cut or isinstance(error, ToolkitError):
            kept = buffer.kept if buffer.broken else None
            raise Interrupted(kept or tally.progress()) from error
        raise
    report(tally.progress())
    return Ended(progress=tally.progress(), missing=tuple(missing[:_SHOWN]))


def _take(in_flight: "InFlight", tally: "Tally", buffer: "WriteBuffer", missing: list[str]) -> bool:
    """Take what came back, one after the other: none is lost if this is interrupted."""
    if not in_flight.landed:
        return False
    while in_flight.landed:
        source, job, finished = in_flight.landed[0]
        rows = source.take(job, finished)
        buffer.add(rows)
        if finished.failure and not rows:
            missing.append(f"{job.label}: {finished.failure}: {finished.why}")
        failed = finished.failure is not None or any(
            isinstance(row, Run) and row.outcome.value in FAILED for row in rows
        )
        tally.add(job.label, finished.seconds, failed=failed)
        in_flight.landed.popleft()
    return True


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


# Where jobs come from, and what their results become.


class JobSource:
    """The jobs of a part of a sweep, one after another; some become known only by results."""

    def next(self) -> Job | None:
        """Return the next job that can begin, or None where there is none now."""
        raise NotImplementedError

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Turn the result of a job that `next` gave into rows."""
        raise NotImplementedError

    def last(self) -> list[Row]:
        """Return rows that need all rows so far to be written, once; asked after each writing."""
        return []


def _sources(
    sweep: Sweep, tally: "Tally", buffer: "WriteBuffer", writer: Writer
) -> list[JobSource]:
    """Lay out what is left of a sweep: certificates before runs, then climbs, then matrices."""
    found: list[JobSource] = [Certificates(group, tally) for group in sweep.runs if group.certify]
    found += [Cells(group, tally) for group in sweep.runs]
    for climb in sweep.climbs:
        base = buffer.sweep.base_seeds[climb.title]
        found += [Climber(climb, base, name, tally, buffer.look) for name in climb.learners]
    for gram in sweep.grams:
        cut = gram_cut(gram.spec, gram.members, gram.samples, gram.confidence, gram.seed)
        found.append(Matrix(cut, tally, writer))
    return found


class Certificates(JobSource):
    """The certificates of a group's specs."""

    def __init__(self, group: Runs, tally: "Tally") -> None:
        """Count what there is to do."""
        jobs = certificates(group)
        tally.plan(CertificateJob.label, [job.key for job in jobs])
        self._jobs = (job for job in jobs if tally.begin(job.key))

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


class Cells(JobSource):
    """The runs of a group: the first seed of every cell, then the second, and so on."""

    def __init__(self, group: Runs, tally: "Tally") -> None:
        """Count what there is to do."""
        every = list(cells(group))
        for cell in every:
            tally.plan(cell.learner, list(cell.keys(group.seeds)))
        self._jobs = (
            cell.job(seed)
            for seed in group.seeds
            for cell in every
            if tally.begin(next(iter(cell.keys((seed,)))))
        )

    def next(self) -> Job | None:
        """Return the next run."""
        return next(self._jobs, None)

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a run down, whatever became of it."""
        assert isinstance(job, RunJob)
        return [run_of(job, finished)]


class Climber(JobSource):
    """One learner on its way up a ladder: jobs are counted as rungs are reached."""

    def __init__(
        self,
        group: Climb,
        base_seed: int,
        asked: str,
        tally: "Tally",
        look: Callable[[str], Run | None],
    ) -> None:
        """Stand on the first rung. look: finds a run that is done by its key."""
        self.learner = parse_learner(asked)
        self.climbed = Climbed(
            learner=learner_spec(self.learner), asked=asked, reference=False, rungs=()
        )
        self.group = group
        self.base_seed, self._tally, self._look = base_seed, tally, look
        self._jobs: dict[str, RunJob] = {}
        self._runs: dict[str, Run] = {}
        self._enter()  # so that its runs are counted

    @property
    def over(self) -> bool:
        """Whether there is no rung left to try."""
        return not self.climbed.climbing or len(self.climbed.rungs) == len(self.group.ladder.rungs)

    def next(self) -> Job | None:
        """Return a run of this rung, or of one that follows where all of it was done before."""
        while not self.over:
            if not self._jobs and not self._enter():
                return None
            for key, job in self._jobs.items():
                run = None if key in self._runs else self._look(key)
                if run:
                    self._runs[key] = run
                elif self._tally.begin(key):
                    return job
            if len(self._runs) < len(self._jobs):
                return None
            self._leave()
        return None

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a run down; `next` finds it when it is asked again."""
        assert isinstance(job, RunJob)
        return [run_of(job, finished)]

    def _enter(self) -> bool:
        """Prepare the runs of the next rung, unless its family is not taken."""
        at = len(self.climbed.rungs)
        rung, spec = self.group.ladder.rungs[at], self.group.ladder.specs[at]
        reason = self.learner.supports(parse_stored(spec))
        if reason:
            self.climbed = replace(self.climbed, unsupported=reason)
            return False
        budget = rung_budget(rung, self.group.budget)
        seeds = instance_seeds(self.base_seed, spec, self.group.seeds)
        jobs = [run_job(spec, self.learner, seed, budget, tau=TERMS.tau) for seed in seeds]
        self._jobs, self._runs = {job.key: job for job in jobs}, {}
        self._tally.plan(self.climbed.learner, list(self._jobs))
        return True

    def _leave(self) -> None:
        """Write the trials of the rung down."""
        job = next(iter(self._jobs.values()))
        trials = tuple(self._runs[key] for key in self._jobs)
        rung = Trials(spec=job.spec, budget=job.budget, trials=trials)
        self.climbed = replace(self.climbed, rungs=(*self.climbed.rungs, rung))
        self._jobs = {}


class Matrix(JobSource):
    """The parts of one sampled Gram matrix."""

    def __init__(self, cut: GramCut, tally: "Tally", writer: Writer) -> None:
        """Begin with the parts that are kept; with none, where it is put together already."""
        self._cut, self._writer = cut, writer
        self._over = not tally.begin(cut.key)
        self._there = set[int]() if self._over else writer.part_indices(cut.key)
        self._missing = iter(() if self._over else sorted(set(range(cut.parts)) - self._there))
        self._sent: dict[str, int] = {}
        tally.count(cut.label, cut.parts, cut.parts if self._over else len(self._there))

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
        return [PartRow(artifact=self._cut.key, number=index, content=content)]

    def last(self) -> list[Row]:
        """Put the parts together, once all are written."""
        if self._over or len(self._there) < self._cut.parts:
            return []
        self._over = True
        return [self._cut.assemble(self._writer.parts(self._cut.key))]


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


def _figures(sweep: Sweep, sources: Sequence[JobSource], writer: Writer) -> Iterator[Row]:
    """Collect what is drawn of a finished sweep: how far each climbed, and the phase diagram."""
    climbers = [source for source in sources if isinstance(source, Climber)]
    for group in sweep.climbs:
        mine = [one for one in climbers if one.group is group]
        yield FigureRow(
            name=f"{group.title} of {sweep.sha256[:8]}",
            data={
                "ladder": group.ladder.name,
                "rungs": list(group.ladder.specs),
                "seeds": group.seeds,
                "base_seed": mine[0].base_seed,
                "climbs": [_timeless(one.climbed.to_json()) for one in mine],
            },
        )
    with read(writer.path) as found:
        yield phase(found.runs(), found.certificates())


def _timeless(climb: dict[str, Any]) -> dict[str, Any]:
    """Leave out the medians of times: equal runs give equal data."""
    rungs = [{k: v for k, v in rung.items() if k != "median_seconds"} for rung in climb["rungs"]]
    return climb | {"rungs": rungs}


# What the driver holds.


class Tally:
    """What is planned, begun and done: a job counts once and begins once, whoever asks for it.

    >>> tally = Tally(slots=2, begun={"x"})
    >>> tally.plan("a", ["x", "y", "z"]); tally.begin("x"), tally.begin("y")
    (False, True)
    >>> tally.add("a", 1.5); tally.at(2.0).done, tally.at(2.0).remaining
    ({'a': 2}, 0.75)
    """

    def __init__(self, slots: int, begun: Iterable[str] = (), failed: Iterable[str] = ()) -> None:
        """slots: jobs at once. begun: keys of jobs done before; failed: of runs that failed."""
        self.slots, self._begun, self._before = slots, set(begun), set(failed)
        self._counted = set[str]()
        self._planned, self._done, self._failed = Counter[str](), Counter[str](), Counter[str]()
        self._seconds: Counter[str] = Counter()
        self._timed: Counter[str] = Counter()
        self._start = self._last = time.monotonic()

    def begin(self, key: str) -> bool:
        """Take a job on; False where it was begun before."""
        if key in self._begun:
            return False
        self._begun.add(key)
        return True

    def plan(self, label: str, keys: Sequence[str]) -> None:
        """Plan jobs that nobody has counted yet, and note those that are done."""
        new = [key for key in keys if key not in self._counted]
        self._counted.update(new)
        done = [key for key in new if key in self._begun]
        self.count(label, len(new), len(done))
        self._failed[label] += sum(key in self._before for key in done)

    def count(self, label: str, planned: int, done: int) -> None:
        """Plan jobs by their number alone."""
        self._planned[label] += planned
        self._done[label] += done

    def add(self, label: str, seconds: float, failed: bool = False) -> None:
        """Count a job that was done now."""
        self._done[label] += 1
        self._failed[label] += failed
        self._seconds[label] += seconds  # type: ignore[assignment]
        self._timed[label] += 1
        self._last = time.monotonic()

    def mean(self, label: str) -> float | None:
        """Mean seconds of a job of a label, of any where none of it was timed; None without any."""
        timed = self._timed[label]
        if timed:
            return self._seconds[label] / timed
        total = sum(self._timed.values())
        return sum(self._seconds.values()) / total if total else None

    def progress(self) -> Progress:
        """Sum up, now."""
        now = time.monotonic()
        return self.at(now - self._start, now - self._last)

    def at(self, elapsed: float, quiet: float = 0.0) -> Progress:
        """Sum up. quiet: seconds since a job ended; more than is left means that means mislead.

        >>> tally = Tally(slots=1)
        >>> tally.count("gram", 2, 0); tally.add("gram", 0.5)
        >>> tally.at(1.0, quiet=0.1).remaining, tally.at(9.0, quiet=8.5).remaining
        (0.5, None)
        """
        missing = {label: n - self._done[label] for label, n in self._planned.items()}
        each = {label: self.mean(label) for label, n in missing.items() if n > 0}
        left = sum(missing[label] * mean for label, mean in each.items() if mean is not None)
        left /= self.slots
        known = None not in each.values() and (not each or quiet <= left + _PATIENCE)
        return Progress(
            planned=dict(self._planned),
            done={label: self._done[label] for label in self._planned},
            failed={label: n for label, n in self._failed.items() if n},
            elapsed=elapsed,
            remaining=left if known else None,
        )


class WriteBuffer:
    """Rows on their way into a store, which hold until a transaction with them has ended."""

    def __init__(self, writer: Writer, sweep: SweepRow, again: set[str]) -> None:
        """Begin; again: keys of runs in the store that are to be run again."""
        self._writer, self._again = writer, again
        self.sweep = sweep
        self._rows: list[Row] = []
        self._runs: dict[str, Run] = {}
        self._last = time.monotonic()
        self.broken = False  # a writing went wrong: the store takes no more
        self.wrote = False  # something that was not there
        self.kept: Progress | None = None  # what the store holds

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows to be written."""
        for row in rows:
            self._rows.append(row)
            if isinstance(row, Run):
                self._runs[row.key] = row
                self._again.discard(row.key)

    def look(self, key: str) -> Run | None:
        """Find a run that is done, written or not."""
        return self._runs.get(key) or (None if key in self._again else self._writer.run(key))

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self._last >= PACE

    def write(
        self,
        progress: Progress,
        state: Literal["running", "finished", "interrupted", "failed"] = "running",
    ) -> None:
        """Write all rows with the state of the sweep, or none; raises ToolkitError."""
        self.sweep = replace(
            self.sweep,
            state=state,
            planned=progress.planned,
            done=progress.done,
            failed=progress.failed,
            updated=time.time(),
            remaining_seconds=progress.remaining,
        )
        try:
            self._writer.write(self._rows, self.sweep)
        except ToolkitError:
            self.broken = True
            raise
        self.wrote |= bool(self._rows)
        self.kept = progress
        self._rows, self._runs = [], {}
        self._last = time.monotonic()


Sent = tuple[JobSource, Job]
Landed = tuple[JobSource, Job, Finished]


class InFlight:
    """Tasks that an engine has; whatever becomes of one comes back through one queue.

    tasks: in the air. landed: jobs that have come back and are not taken yet.
    """

    def __init__(self, engine: Engine, limits: Limits, tally: Tally) -> None:
        """Begin with none."""
        self._engine, self._limits, self._tally = engine, limits, tally
        self._back: SimpleQueue[tuple[Sequence[Sent], Sequence[str], Batch]] = SimpleQueue()
        self._slots = max(1, engine.slots)
        self._asked = self._seen = time.monotonic()
        self.tasks = 0
        self.landed: deque[Landed] = deque()

    @property
    def room(self) -> bool:
        """Whether the engine should have more; raises ToolkitError where it lost all its slots."""
        if time.monotonic() - self._asked > _ASKED:  # workers of a cluster come and go
            there, self._asked = self._engine.slots, time.monotonic()
            self._slots = max(1, there)
            if there:
                self._seen = self._asked
            elif self._asked - self._seen > _ALONE:
                raise ToolkitError(
                    f"{self._engine.name} has had no workers for {_ALONE / 60:.0f} minutes: start "
                    "some and resume"
                )
        return self.tasks < _AHEAD * self._slots

    def fill(self, sources: Sequence[JobSource]) -> bool:
        """Hand over what there is room for, as tasks; say whether there was anything."""
        any_sent = False
        while self.room and (jobs := self._several(sources)):
            payloads = [json.dumps({"kind": job.kind, **job.to_json()}) for _, job in jobs]
            future = self._engine.submit(payloads, self._limits)
            self.tasks += 1
            future.add_done_callback(partial(self._ended, jobs, payloads))
            any_sent = True
        return any_sent

    def _ended(self, jobs: Sequence[Sent], payloads: Sequence[str], future: Batch) -> None:
        self._back.put((jobs, payloads, future))

    def _several(self, sources: Sequence[JobSource]) -> list[Sent]:
        """Take the next job, and where jobs are short more of its source, for one task."""
        batch, seconds = self._engine.batch, max(_TASK, self._slots / _RATE)
        for source in sources:
            job = source.next()
            if job is None:
                continue
            mean = self._tally.mean(job.label) if batch > 1 else None
            most = max(1, min(batch, int(seconds / mean))) if mean else 1
            sent: list[Sent] = [(source, job)]
            while len(sent) < most and (job := source.next()):
                sent.append((source, job))
            return sent
        return []

    def land(self, timeout: float) -> None:
        """Wait for tasks to end, at most so many seconds; raises ToolkitError if any is lost."""
        wait = timeout
        while self.tasks:
            try:
                jobs, payloads, future = self._back.get(block=wait > 0, timeout=wait or None)
            except Empty:
                break
            wait = 0.0
            self.tasks -= 1
            self._collect(jobs, payloads, future)

    def rescue(self) -> None:
        """Take what has ended by now, after the engine was told to stop or has failed."""
        while self.tasks:
            try:
                jobs, payloads, future = self._back.get_nowait()
            except Empty:
                break
            self.tasks -= 1
            # Else it is neither done nor a failure: it is done again another time.
            if not future.cancelled() and future.exception() is None:
                self._collect(jobs, payloads, future)

    def _collect(self, jobs: Sequence[Sent], payloads: Sequence[str], future: Batch) -> None:
        finished = self._engine.collect(future, payloads)
        self.landed += [(s, j, f) for (s, j), f in zip(jobs, finished, strict=True)]
