"""Jobs on worker processes, each held to hard limits from outside.

driver --submit(payloads)--> thread, here or of a dask worker --pebble--> its own worker process

The thread that owns a worker process counts attempts and ends it at a limit, so deaths, hangs and
memory have the same outcomes on every engine. A worker process ends when its owner is gone.
"""

import json
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

import psutil
from pebble import ProcessPool

from hardness.oracles import clock
from hardness.oracles.budget import restart_peak
from hardness.runs.processes import inherited
from hardness.sweep.jobs import content_key, read_job
from hardness.upper.isolated.init import DEATH_SIGNAL, below, prctl
from instances.errors import ToolkitError, UsageError
from instances.limits import readable_bytes

# died: its process ended, by a signal or by itself. overdue: over its hard limit of seconds.
# memory: over its hard limit. raised: an exception that is a fault. refused: a ToolkitError, such
# as a size that does not fit here.
Failure = Literal["died", "overdue", "memory", "raised", "refused"]

NAME = "hardness-worker"  # of a worker process, as `ps` and `top` show it
_LOOK = 0.1  # seconds between two looks at a worker process
_START = 120.0  # seconds for its imports, on a machine that does much else
_LONGEST = 1000  # characters of why
_KEPT = 4096  # bytes of what is printed
_FIRST_TO_GO = "500"  # of 1000: where memory runs out the system ends this process, not its owner


class Aborted(ToolkitError):
    """An engine was told to stop: what ran is neither done nor a failure, and may be done again."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The hard limits of one attempt, held from outside, and how often a job is tried again.

    seconds: of wall-clock time; memory_bytes: resident, of the worker process and all below it;
    None is no limit. retries: after a process that died, or was ended at a limit. Raises UsageError
    out of range.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    retries: int = 2

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_bytes"):
            given = getattr(self, name)
            if given is not None and not 0 < given < 2**63:
                raise UsageError(f"a limit of {given} {name} given: it must be above 0")
        if not 0 <= self.retries <= 100:
            raise UsageError(f"retries={self.retries} given: 0 to 100")


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a job: `result` is what it gave, or None with the failure and why.

    attempts: from 1. seconds: of the last one, wall clock, of the job alone. where: host and
    process that did it.
    """

    key: str
    result: dict[str, Any] | None = None
    failure: Failure | None = None
    why: str = ""
    attempts: int = 1
    seconds: float = 0.0
    where: str = ""


Answer = Callable[[str], dict[str, Any]]
Work = Callable[[Sequence[str], Limits], list[Finished]]
Batch = Future[list[Finished]]


def key_of(payload: str) -> str:
    """Return the content key of the job of a payload, {"kind": ..., **job.to_dict()} as text."""
    given = json.loads(payload)
    return content_key(given.pop("kind"), given)


# In the worker process


def answer(payload: str, read: Callable[[dict[str, Any]], Any] = read_job) -> dict[str, Any]:
    """Do the job of a payload: what `Finished` says of it, whatever the job raises.

    >>> answer('{"kind": "none"}')["failure"]
    'raised'
    """
    restart_peak()
    start = clock.now()
    try:
        result = json.loads(json.dumps(read(json.loads(payload)).do(), allow_nan=False))
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


def _begin(owner: int, printed: str) -> None:
    """Prepare a worker process: it ends with the thread that owns it, and prints to a file."""
    os.setsid()  # Ctrl-C is the driver's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    prctl(DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != owner:
        os._exit(1)
    with suppress(OSError):  # elsewhere than on Linux
        Path("/proc/self/comm").write_text(NAME)
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    try:
        to = os.open(printed, os.O_WRONLY | os.O_APPEND)
    except OSError:
        to = os.open(os.devnull, os.O_WRONLY)
    os.dup2(to, 1)
    os.dup2(to, 2)
    restart_peak()  # which opens what a learner's process may close


# In the thread that owns it


class Worker:
    """A worker process that does one job after another, started where it is needed.

    answer: what it does with a payload, a function of a module. For one thread at a time, and for
    as long as the thread that did the first job lives.

    >>> worker = Worker()
    >>> worker.do('{"kind": "none"}', Limits()).failure
    'raised'
    >>> worker.close()
    """

    def __init__(self, answer: Answer = answer) -> None:
        """Start nothing yet."""
        self._answer = answer
        self._pool: ProcessPool | None = None
        self._process: BaseProcess | None = None
        self._where = ""
        self._printed: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, where there is one."""
        return self._process.pid if self._process else None

    def do(
        self, payload: str, limits: Limits, stopped: Callable[[], bool] = lambda: False
    ) -> Finished:
        """Do the job of a payload, again where its process ended; raises Aborted once `stopped`.

        payload: {"kind": ..., **job.to_dict()} as text.
        """
        key = key_of(payload)
        for attempt in range(1, limits.retries + 2):
            try:
                pool, printed = self._ready(stopped)
                os.ftruncate(printed.fileno(), 0)
                task = pool.schedule(self._answer, (payload,))
                done = self._result(task, limits, stopped)
                return Finished(key=key, attempts=attempt, where=self._where, **done)
            except (_Ended, RuntimeError, ValueError) as error:
                if not isinstance(error, _Ended):  # of pebble: it did not start, or ended at once
                    said = " ".join(str(error.__cause__ or error).split())
                    error = _Ended("died", f"no process could be started: {said}")
                finished = Finished(
                    key=key,
                    failure=error.failure,
                    why=f"{error.why}{self._last_words()}",
                    attempts=attempt,
                    seconds=error.seconds,
                    where=self._where,
                )
                self.close()
        return finished

    def close(self) -> None:
        """End the process; the next job starts another. What is below it sees that it is gone."""
        if self._process is not None:
            self._process.kill()
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()
        if self._printed is not None:
            self._printed.close()
        self._pool = self._process = self._printed = None

    def _ready(self, stopped: Callable[[], bool]) -> tuple[ProcessPool, IO[bytes]]:
        """Start the process, where it is not there: its pool, and the file that it prints to."""
        if stopped():
            self._abort()
        if not (self._pool and self._pool.active and self._process and self._process.is_alive()):
            self.close()
            self._printed = tempfile.TemporaryFile()  # noqa: SIM115
            path = f"/proc/{os.getpid()}/fd/{self._printed.fileno()}"
            # A pool of one process: what several share breaks when one of them is killed.
            self._pool = ProcessPool(1, 0, _begin, (os.getpid(), path), _Context())
            with inherited():
                started = self._pool.schedule(os.getpid)
            pid = self._result(started, Limits(), stopped)  # once its imports are done
            [self._process] = [one for one in multiprocessing.active_children() if one.pid == pid]
            self._where = f"{socket.gethostname()}:{pid}"
        assert self._printed is not None
        return self._pool, self._printed

    def _result(self, task: "Future[Any]", limits: Limits, stopped: Callable[[], bool]) -> Any:
        """Wait for what a task gives; raises _Ended where its process did, or at a limit."""
        start = clock.now()
        while not wait([task], _LOOK).done:
            used = clock.now() - start
            if stopped():
                self._abort()
            if self._process is None:
                if used > _START:
                    raise _Ended("died", f"its process did not start within {_START:g} s", used)
            elif not self._process.is_alive():
                wait([task], 2 * _LOOK)  # what it gave may be on its way
                break
            elif limits.seconds is not None and used > limits.seconds:
                raise _Ended("overdue", f"it took over {limits.seconds:g} s", used)
            elif limits.memory_bytes is not None:
                held = resident(self._process.pid or 0, limits.memory_bytes)
                if held > limits.memory_bytes:
                    shown = f"{readable_bytes(held)}, over {readable_bytes(limits.memory_bytes)}"
                    raise _Ended("memory", f"it held {shown}, after {used:.2f} s", used)
        used = clock.now() - start
        error = task.exception() if task.done() else None
        if task.done() and error is None:
            return task.result()
        code = self._process.exitcode if self._process else None
        raise _Ended("died", f"its process {_ending(code)} after {used:.2f} s", used)

    def _abort(self) -> NoReturn:
        self.close()
        raise Aborted("the engine was told to stop")

    def _last_words(self) -> str:
        """Return the last line that the process printed."""
        assert self._printed is not None
        end = os.fstat(self._printed.fileno()).st_size
        printed = os.pread(self._printed.fileno(), _KEPT, max(0, end - _KEPT))
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        shown = "".join(c if c.isprintable() else "?" for c in lines[-1][:200]) if lines else ""
        return f"; it last printed: {shown}" if shown else ""


class _Ended(Exception):
    """A worker process ended, or has to."""

    def __init__(self, failure: Failure, why: str, seconds: float = 0.0) -> None:
        super().__init__(why)
        self.failure, self.why, self.seconds = failure, why, seconds


class _NoLock:
    """The lock of a pipe that one worker process uses: one that is killed cannot keep it.

    Nor does a driver that is killed leave a semaphore behind, of which Python would warn.
    """

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        return True

    def release(self) -> None:
        pass


class _Context(SpawnContext):
    def RLock(self) -> Any:
        return _NoLock()


def _ending(code: int | None) -> str:
    """Describe the exit code of a process: negative for a signal, None for what is not known."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"exited with code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"was killed by {known.get(-code, f'signal {-code}')}"


def resident(root: int, limit: int) -> int:
    """Return the resident bytes of a process and all below it.

    Above the limit, of a page that n of them share each counts 1/n, where the system tells.
    """
    tree = [root, *below(root)]
    held = sum(_bytes(pid, "rss") for pid in tree)
    return held if held <= limit or len(tree) == 1 else sum(_bytes(pid, "pss") for pid in tree)


def _bytes(pid: int, which: Literal["rss", "pss"]) -> int:
    with suppress(psutil.Error):  # it is gone
        process = psutil.Process(pid)
        if which == "pss":
            with suppress(psutil.AccessDenied, AttributeError):  # closed to us, or not on Linux
                return process.memory_full_info().pss
        return process.memory_info().rss
    return 0


# Engines, for the driver


class Engine:
    """Where jobs are done: `work` on an executor whose workers are threads, here or elsewhere.

    name: as in messages and in a store. batch: how many jobs one task may usefully hold where they
    are short, 1 where a task costs next to nothing.
    """

    def __init__(
        self, name: str, executor: Executor, work: Work, slots: int, batch: int = 1
    ) -> None:
        self.name, self.executor, self.batch, self.stopped = name, executor, batch, False
        self._slots, self._work = slots, work

    @property
    def slots(self) -> int:
        """How many jobs it does at once, now."""
        return self._slots

    def submit(self, payloads: Sequence[str], limits: Limits) -> Batch:
        """Hand over jobs as one task; `collect` takes its future. Raises ToolkitError.

        payloads: {"kind": ..., **job.to_dict()} as texts.
        """
        try:
            return self.executor.submit(self._work, payloads, limits)
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
    mine = threading.local()
    workers: list[Worker] = []

    def work(payloads: Sequence[str], limits: Limits) -> list[Finished]:
        if not hasattr(mine, "worker"):
            mine.worker = Worker(answer)
            workers.append(mine.worker)
        return [mine.worker.do(one, limits, lambda: engine.stopped) for one in payloads]

    engine = Engine("local", ThreadPoolExecutor(jobs, "worker"), work, jobs)
    try:
        yield engine
    finally:
        engine.abort()
        engine.executor.shutdown()
        for worker in workers:
            worker.close()


def require_jobs(jobs: int) -> None:
    """Refuse a number of workers that cannot be meant; raises UsageError."""
    if not 1 <= jobs <= 4096:
        raise UsageError(f"jobs={jobs} given: 1 to 4096, one for each core is best")
