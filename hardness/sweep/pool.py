"""Engines: where jobs are done, on worker processes here or elsewhere.

driver --send(jobs)--> thread, here or of a dask worker --> its own worker process

The thread that owns a worker process counts attempts and ends it at a limit, so deaths, hangs and
memory have the same outcomes on every engine.
"""

import json
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from hardness.oracles import clock
from hardness.oracles.budget import restart_peak
from hardness.runs.processes import Aborted, HardLimits, ProcessEnded, Worker, Workers
from hardness.sweep.jobs import Finished, Job, read_job
from instances.errors import ToolkitError, UsageError

_LONGEST = 1000  # characters of why
_AHEAD = 2  # tasks for each slot: one at work, one waiting
_ASKED = 5.0  # seconds after which an engine is asked again how many slots it has
_ALONE = 600.0  # seconds without any, after which nobody is waited for

Answer = Callable[[str], dict[str, Any]]
Work = Callable[[Sequence[str], HardLimits], list[Finished]]
Batch = Future[list[Finished]]


def answer(payload: str, read: Callable[[str], Any] = read_job) -> dict[str, Any]:
    """In a worker process: do the job of a payload; what `Finished` says of it, whatever it raises.

    >>> answer('{"kind": "none"}')["failure"]
    'raised'
    """
    restart_peak()
    start = clock.now()
    try:
        result = json.loads(json.dumps(read(payload).do(), allow_nan=False))
        done = {"result": result}
    except (ToolkitError, MemoryError) as error:
        done = {"failure": "refused", "why": str(error) or type(error).__name__}
    except BaseException as error:  # SystemExit too: a job does not end the worker
        done = {"failure": "raised", "why": f"{type(error).__name__}: {error}{_place(error)}"}
    if "why" in done:
        done["why"] = " ".join(done["why"].split())[:_LONGEST]
    return done | {"seconds": clock.now() - start}


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def attempt(
    worker: Worker,
    payload: str,
    limits: HardLimits,
    stopped: Callable[[], bool] = lambda: False,
    answer: Answer = answer,
) -> Finished:
    """Have a worker do a job, again where its process ended; raises Aborted once `stopped`.

    >>> worker = Worker()
    >>> attempt(worker, '{"kind": "none"}', HardLimits()).failure
    'raised'
    >>> worker.close()
    """
    for count in range(1, limits.retries + 2):
        try:
            done = worker.call(answer, payload, limits, stopped)
            return Finished(attempts=count, where=worker.where, **done)
        except ProcessEnded as ended:
            finished = Finished(
                failure=ended.failure,
                why=ended.why,
                attempts=count,
                seconds=ended.seconds,
                where=worker.where,
            )
    return finished


class Engine:
    """Where jobs are done: `work` on an executor whose workers are threads, here or elsewhere.

    name: as in messages and in a store. batch: how many jobs one task may usefully hold where they
    are short, 1 where a task costs next to nothing. limits: of every job that is sent from now on.
    flying: tasks under way. landed: jobs that have ended, to be taken from its left.
    """

    def __init__(
        self, name: str, executor: Executor, work: Work, slots: int, batch: int = 1
    ) -> None:
        self.name, self.executor, self.batch, self.stopped = name, executor, batch, False
        self.limits, self.flying = HardLimits(), 0
        self.landed: deque[tuple[Job, Finished]] = deque()
        self._work, self._slots = work, slots
        self._asked = self._seen = clock.now()
        self._back: SimpleQueue[tuple[Sequence[Job], Sequence[str], Batch]] = SimpleQueue()

    @property
    def slots(self) -> int:
        """How many jobs it does at once, when it was asked last."""
        return self._slots

    @property
    def room(self) -> bool:
        """Whether it should have more; raises ToolkitError where it lost all its slots."""
        if clock.now() - self._asked > _ASKED:  # workers of a cluster come and go
            self._slots, self._asked = self._count(), clock.now()
            if self._slots:
                self._seen = self._asked
            elif self._asked - self._seen > _ALONE:
                raise ToolkitError(
                    f"{self.name} has had no workers for {_ALONE / 60:.0f} minutes: start some and "
                    "resume"
                )
        return self.flying < _AHEAD * max(1, self._slots)

    def send(self, jobs: Sequence[Job]) -> None:
        """Hand jobs over as one task."""
        payloads = [job.payload() for job in jobs]
        future = self.submit(payloads)
        self.flying += 1
        future.add_done_callback(lambda batch: self._back.put((jobs, payloads, batch)))

    def land(self, timeout: float = 0.0, rescue: bool = False) -> bool:
        """Take in what has ended, waiting for the first; return whether anything had.

        rescue: after it was told to stop or has failed: what did not end well is neither done nor a
        failure, and is done another time. Else raises ToolkitError if a task is lost.
        """
        any_landed = bool(self.landed)  # if this was interrupted before
        while self.flying:
            wait = 0.0 if any_landed else timeout
            try:
                jobs, payloads, batch = self._back.get(block=wait > 0, timeout=wait or None)
            except Empty:
                break
            self.flying -= 1
            if rescue and (batch.cancelled() or batch.exception()):
                continue
            any_landed = True
            self.landed += zip(jobs, self.collect(batch, payloads), strict=True)
        return any_landed

    def submit(self, payloads: Sequence[str]) -> Batch:
        """Hand over payloads as one task; `collect` takes its future. Raises ToolkitError."""
        try:
            return self.executor.submit(self._work, payloads, self.limits)
        except Exception as error:
            raise self._lost(error) from error

    def collect(self, future: Batch, payloads: Sequence[str]) -> list[Finished]:
        """Take what became of the jobs of a task, in their order; raises ToolkitError.

        Aborted where it was told to stop; another where the engine itself is gone.
        """
        try:
            return future.result()
        except Exception as error:  # a task that was cancelled too
            if self.stopped or isinstance(error, Aborted):
                raise Aborted(f"{self.name} was told to stop") from error
            return self._died(error, payloads)

    def abort(self) -> None:
        """Drop what waits and end what runs; nothing can be submitted after it."""
        self.stopped = True
        self.executor.shutdown(wait=False, cancel_futures=True)

    def _count(self) -> int:
        """Ask how many slots there are now."""
        return self._slots

    def _died(self, error: BaseException, payloads: Sequence[str]) -> list[Finished]:
        """Say what an exception of a task means for its jobs; raises what it means for all."""
        raise self._lost(error) from error

    def _lost(self, error: BaseException) -> ToolkitError:
        said = " ".join(str(error).split())[:300]
        return ToolkitError(f"{self.name} failed: {type(error).__name__}: {said}")


@contextmanager
def local(jobs: int, answer: Answer = answer) -> Iterator[Engine]:
    """Do `jobs` jobs at once on this machine; raises UsageError. Ends what runs at the end.

    >>> with local(1) as engine:
    ...     engine.name, engine.slots
    ('local', 1)
    """
    require_jobs(jobs)
    with Workers(jobs) as workers:

        def work(payloads: Sequence[str], limits: HardLimits) -> list[Finished]:
            mine = workers.mine
            return [attempt(mine, one, limits, lambda: engine.stopped, answer) for one in payloads]

        engine = Engine("local", workers.threads, work, jobs)
        try:
            yield engine
        finally:
            engine.abort()


def require_jobs(jobs: int) -> None:
    """Refuse a number of workers that cannot be meant; raises UsageError."""
    if not 1 <= jobs <= 4096:
        raise UsageError(f"jobs={jobs} given: 1 to 4096, one for each core is best")
