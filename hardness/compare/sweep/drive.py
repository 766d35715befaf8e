"""Driving a sweep: jobs go to an engine, what they give goes to the store, whatever happens.

The driver is the only process that writes. It keeps the engine a few jobs ahead, writes what is
done several times a second, each time in one transaction with the state of the sweep, and nothing
else. So whatever is killed, the store holds what was finished, and who starts again does the rest.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from hardness.compare.engines import Engine, Limits
from hardness.compare.store.conflict import FAILED
from hardness.compare.store.connect import DiskFull
from hardness.compare.store.rows import Row, RunRow
from hardness.compare.sweep.flight import Flight, Sent
from hardness.compare.sweep.ledger import PACE, Ledger
from hardness.compare.sweep.strands import Strand
from hardness.compare.sweep.tally import Progress, Tally
from instances.errors import ToolkitError

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
    strands: Sequence[Strand],
    tally: Tally,
    ledger: Ledger,
    engine: Engine,
    limits: Limits,
    report: Report = lambda progress: None,
    closing: Callable[[], Sequence[Row]] = tuple,
) -> Ended:
    """Do all jobs of all strands; raises Interrupted, with all that was finished being written.

    closing: gives what is to be written at the end, when all jobs are.
    """
    flight = Flight(engine, limits)
    desk = _Desk(flight, tally, ledger)
    try:
        ledger.write(desk.progress())
        while True:
            sent = _fill(flight, strands, tally, engine.batch)
            flight.land(PACE)
            landed = desk.take()
            if ledger.due or not flight.tasks:
                ledger.write(desk.progress())
                more = [row for strand in strands for row in strand.last()]
                ledger.add(more)
                if not (sent or landed or more or flight.tasks):
                    break
            report(desk.progress())
        ledger.add(closing())
        ledger.write(desk.progress(), "finished")
    except BaseException as error:
        engine.abort()
        flight.rescue()
        desk.take()
        if not ledger.broken:
            cut = isinstance(error, KeyboardInterrupt)
            with suppress(DiskFull):  # said before, and all that was finished then is written
                ledger.write(desk.progress(), "interrupted" if cut else "failed")
        if isinstance(error, KeyboardInterrupt | ToolkitError):
            raise Interrupted(desk.progress()) from error
        raise
    report(desk.progress())
    return Ended(progress=desk.progress(), missing=tuple(desk.missing[:_SHOWN]))


class _Desk:
    """Where what came back is taken and counted."""

    def __init__(self, flight: Flight, tally: Tally, ledger: Ledger) -> None:
        self._flight, self._tally, self._ledger = flight, tally, ledger
        self._start = self._last = time.monotonic()  # last: when a job came back
        self.missing: list[str] = []

    def progress(self) -> Progress:
        """Sum up."""
        now = time.monotonic()
        return self._tally.at(now - self._start, now - self._last)

    def take(self) -> bool:
        """Take what came back, one after the other: none is lost if this is interrupted."""
        landed = self._flight.landed
        if not landed:
            return False
        self._last = time.monotonic()
        while landed:
            strand, job, finished = landed[0]
            rows = strand.take(job, finished)
            self._ledger.add(rows)
            if finished.failure and not rows:
                self.missing.append(f"{job.label}: {finished.failure}: {finished.why}")
            failed = finished.failure is not None or any(
                isinstance(row, RunRow) and row.run.outcome.value in FAILED for row in rows
            )
            self._tally.add(job.label, finished.seconds, failed=failed)
            landed.popleft()
        return True


def _fill(flight: Flight, strands: Sequence[Strand], tally: Tally, batch: int) -> bool:
    """Hand over what there is room for; say whether there was anything."""
    any_sent = False
    while flight.room:
        sent = _several(strands, tally, batch, max(_TASK, flight.slots / _RATE))
        if not sent:
            break
        flight.send(sent)
        any_sent = True
    return any_sent


def _several(strands: Sequence[Strand], tally: Tally, batch: int, seconds: float) -> list[Sent]:
    """Take the next job, and where jobs are short more of its strand, of so many seconds in all."""
    for strand in strands:
        job = strand.next()
        if job is None:
            continue
        mean = tally.mean(job.label) if batch > 1 else None
        most = max(1, min(batch, int(seconds / mean))) if mean else 1
        sent: list[Sent] = [(strand, job)]
        while len(sent) < most and (job := strand.next()):
            sent.append((strand, job))
        return sent
    return []
