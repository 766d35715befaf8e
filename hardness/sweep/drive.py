"""Driving a sweep: jobs go to an engine, what they give goes to the store, whatever happens.

The driver is the only process that writes. It keeps the engine a few jobs ahead, writes what is
done several times a second, each time in one transaction with the state of the sweep, and nothing
else. So whatever is killed, the store holds what was finished, and who starts again does the rest.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Literal

from hardness.runs.rows import Row, SweepRow
from hardness.runs.run import Run
from hardness.sweep.jobs import Job
from hardness.sweep.pool import Batch, Engine, Finished, Limits
from hardness.sweep.sources import JobSource
from hardness.sweep.store.conflict import FAILED
from hardness.sweep.store.writer import Writer
from hardness.sweep.tally import Progress, Tally
from instances.errors import ToolkitError

PACE = 0.2  # seconds between writings: what is done waits no longer


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


_AHEAD = 2  # tasks for each slot: one at work, one waiting
_ASKED = 5.0  # seconds after which an engine is asked again how many slots it has
_ALONE = 600.0  # seconds without any, after which nobody is waited for

Sent = tuple[JobSource, Job]
Landed = tuple[JobSource, Job, Finished]


class InFlight:
    """Tasks that an engine has; whatever becomes of one comes back through one queue.

    slots: how many jobs the engine did at once when it was last asked, at least 1. tasks: in the
    air.
    """

    def __init__(self, engine: Engine, limits: Limits) -> None:
        """Begin with none."""
        self._engine, self._limits = engine, limits
        self._back: SimpleQueue[tuple[Sequence[Sent], Sequence[str], Batch]] = SimpleQueue()
        self.slots = max(1, engine.slots)
        self._asked = self._seen = time.monotonic()
        self.tasks = 0
        self.landed: deque[Landed] = deque()  # come back, and not taken by the driver yet

    @property
    def room(self) -> bool:
        """Whether the engine should have more; raises ToolkitError where it lost all its slots."""
        if time.monotonic() - self._asked > _ASKED:  # workers of a cluster come and go
            there, self._asked = self._engine.slots, time.monotonic()
            self.slots = max(1, there)
            if there:
                self._seen = self._asked
            elif self._asked - self._seen > _ALONE:
                raise ToolkitError(
                    f"{self._engine.name} has had no workers for {_ALONE / 60:.0f} minutes: start "
                    "some and resume"
                )
        return self.tasks < _AHEAD * self.slots

    def send(self, jobs: Sequence[Sent]) -> None:
        """Hand jobs over as one task; raises ToolkitError where the engine takes none."""
        payloads = [json.dumps({"kind": job.kind, **job.to_json()}) for _, job in jobs]
        future = self._engine.submit(payloads, self._limits)
        self.tasks += 1
        future.add_done_callback(lambda done: self._back.put((jobs, payloads, done)))

    def land(self, timeout: float) -> None:
        """Wait for tasks to end, at most `timeout` seconds; all that have are in `landed`.

        Raises ToolkitError where the engine has lost them.
        """
        wait = timeout
        while self.tasks:
            try:
                jobs, payloads, future = self._back.get(block=wait > 0, timeout=wait or None)
            except Empty:
                break
            wait = 0.0
            self.tasks -= 1
            self._take(jobs, self._engine.collect(future, payloads))

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
                self._take(jobs, self._engine.collect(future, payloads))

    def _take(self, jobs: Sequence[Sent], results: Sequence[Finished]) -> None:
        self.landed += [(s, j, f) for (s, j), f in zip(jobs, results, strict=True)]


_TASK = 0.5  # seconds that a task of several short jobs takes
_RATE = 200  # tasks a second, no more of which a scheduler is asked for
_SHOWN = 20  # of what is missing

Report = Callable[[Progress], None]


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


def drive(
    sources: Sequence[JobSource],
    tally: Tally,
    buffer: WriteBuffer,
    engine: Engine,
    limits: Limits,
    report: Report = lambda progress: None,
    closing: Callable[[], Sequence[Row]] = tuple,
) -> Ended:
    """Do all jobs of all sources; raises Interrupted, with all that was finished being written.

    closing: gives what is to be written at the end, when all jobs are.
    """
    in_flight = InFlight(engine, limits)
    sink = _ResultSink(in_flight, tally, buffer)
    try:
        buffer.write(sink.progress())
        while True:
            sent = _fill(in_flight, sources, tally, engine.batch)
            in_flight.land(PACE)
            landed = sink.take()
            if buffer.due or not in_flight.tasks:
                buffer.write(sink.progress())
                more = [row for source in sources for row in source.last()]
                buffer.add(more)
                if not (sent or landed or more or in_flight.tasks):
                    break
            report(sink.progress())
        buffer.add(closing())
        buffer.write(sink.progress(), "finished")
    except BaseException as error:
        engine.abort()
        in_flight.rescue()
        sink.take()
        if not buffer.broken:
            cut = isinstance(error, KeyboardInterrupt)
            buffer.write(sink.progress(), "interrupted" if cut else "failed")
        if isinstance(error, KeyboardInterrupt | ToolkitError):
            kept = buffer.kept if buffer.broken else None
            raise Interrupted(kept or sink.progress()) from error
        raise
    report(sink.progress())
    return Ended(progress=sink.progress(), missing=tuple(sink.missing[:_SHOWN]))


class _ResultSink:
    """Where what came back is taken and counted."""

    def __init__(self, in_flight: InFlight, tally: Tally, buffer: WriteBuffer) -> None:
        self._in_flight, self._tally, self._buffer = in_flight, tally, buffer
        self._start = self._last = time.monotonic()  # last: when a job came back
        self.missing: list[str] = []

    def progress(self) -> Progress:
        """Sum up."""
        now = time.monotonic()
        return self._tally.at(now - self._start, now - self._last)

    def take(self) -> bool:
        """Take what came back, one after the other: none is lost if this is interrupted."""
        landed = self._in_flight.landed
        if not landed:
            return False
        self._last = time.monotonic()
        while landed:
            source, job, finished = landed[0]
            rows = source.take(job, finished)
            self._buffer.add(rows)
            if finished.failure and not rows:
                self.missing.append(f"{job.label}: {finished.failure}: {finished.why}")
            failed = finished.failure is not None or any(
                isinstance(row, Run) and row.outcome.value in FAILED for row in rows
            )
            self._tally.add(job.label, finished.seconds, failed=failed)
            landed.popleft()
        return True


def _fill(in_flight: InFlight, sources: Sequence[JobSource], tally: Tally, batch: int) -> bool:
    """Hand over what there is room for; say whether there was anything."""
    any_sent = False
    while in_flight.room:
        sent = _several(sources, tally, batch, max(_TASK, in_flight.slots / _RATE))
        if not sent:
            break
        in_flight.send(sent)
        any_sent = True
    return any_sent


def _several(sources: Sequence[JobSource], tally: Tally, batch: int, seconds: float) -> list[Sent]:
    """Take the next job, and where jobs are short more of its source, of so many seconds in all."""
    for source in sources:
        job = source.next()
        if job is None:
            continue
        mean = tally.mean(job.label) if batch > 1 else None
        most = max(1, min(batch, int(seconds / mean))) if mean else 1
        sent: list[Sent] = [(source, job)]
        while len(sent) < most and (job := source.next()):
            sent.append((source, job))
        return sent
    return []
