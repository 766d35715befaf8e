"""Worker processes, each owned by a thread that holds it to hard limits from outside.

thread --pebble--> its own process

A process that dies, hangs or takes too much memory is ended, and its owner says what happened. It
ends itself when its owner is gone.
"""

import hashlib
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Literal, NoReturn, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from hardness.learners.boundary import below, die_with_parent, memory
from hardness.oracles import clock
from hardness.oracles.budget import restart_peak
from hardness.runs.registry import OBJECTS
from instances.errors import ToolkitError, UsageError
from instances.limits import readable_bytes
from instances.spec import OWN, resolve
from instances.userfile import FILES, pickled

Task = TypeVar("Task")
Result = TypeVar("Result")

NAME = "hardness-worker"  # of a worker process, as `ps` and `top` show it
_LOOK = 0.1  # seconds between two looks at a worker process
_START = 120.0  # seconds for its imports, on a machine that does much else
_KEPT = 4096  # bytes of what is printed
_FIRST_TO_GO = "500"  # of 1000: where memory runs out the system ends this process, not its owner
_ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"PYTHONHASHSEED": "0"}
_DIED = (ProcessExpired, BrokenProcessPool)  # what pebble raises where a process died
_starting = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class HardLimits:
    """The hard limits of one attempt, held from outside, and how often a job is tried again.

    seconds: of wall-clock time; memory_bytes: resident, of the worker process and all below it;
    None is no limit. retries: after a process that died, or was ended at a limit.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    retries: int = 0


UNLIMITED = HardLimits()


class ProcessEnded(Exception):
    """A worker process ended before it gave a result, or had to be ended.

    failure: it died, by a signal or by itself; was overdue, or took too much memory. seconds: since
    it was given what to do.
    """

    def __init__(
        self, failure: Literal["died", "overdue", "memory"], why: str, seconds: float = 0.0
    ) -> None:
        super().__init__(why)
        self.failure, self.why, self.seconds = failure, why, seconds


class Aborted(ToolkitError):
    """Workers were told to stop: what ran is neither done nor a failure, and may be done again."""


def execute(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Do every task, on `jobs` processes where it is above 1: its index and result, as it is done.

    work: what it does must depend on its task alone.
    Raises ToolkitError where a process was killed.

    >>> list(execute(abs, [-1, 2], jobs=1))
    [(0, 1), (1, 2)]
    """
    if jobs == 1 or len(tasks) < 2:
        yield from enumerate(map(work, tasks))
        return
    with Workers(min(jobs, len(tasks))) as workers:
        pending = {workers.submit(work, task): i for i, task in enumerate(tasks)}
        for future in as_completed(pending):
            try:
                found = future.result()
            except ProcessEnded as error:
                raise ToolkitError(
                    "a worker process was killed, by the system where memory ran out: use fewer "
                    "--jobs or smaller sizes"
                ) from error
            yield pending[future], found


class Workers:
    """So many worker processes, started where they are needed, and the threads that own them."""

    def __init__(self, count: int) -> None:
        """Start nothing yet."""
        self.threads = ThreadPoolExecutor(count, "worker")
        self.stopped = False
        self._mine = threading.local()
        self._all: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.threads.shutdown()
        for worker in self._all:
            worker.close()

    @property
    def mine(self) -> "Worker":
        """The worker of this thread."""
        if not hasattr(self._mine, "worker"):
            self._mine.worker = Worker()
            self._all.append(self._mine.worker)
        found: Worker = self._mine.worker
        return found

    def submit(self, work: Callable[[Task], Result], given: Task) -> "Future[Result]":
        """Have a worker call a function: its result, or what it or `Worker` raises."""
        return self.threads.submit(
            lambda: self.mine.call(work, given, stopped=lambda: self.stopped)
        )

    def stop(self) -> None:
        """Drop what waits and end what runs."""
        self.stopped = True
        self.threads.shutdown(wait=False, cancel_futures=True)


class Worker:
    """A worker process that does one thing after another, started where it is needed.

    For one thread at a time, and for as long as the thread that called it first lives.

    where: host and process that did the last call. own: what its process is to know, pickled.

    >>> worker = Worker()
    >>> worker.call(abs, -1)
    1
    >>> worker.close()
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self.where, self.own = "", own_pickled
        self._pool: ProcessPool | None = None
        self._process: BaseProcess | None = None
        self._printed: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, where there is one."""
        return self._process.pid if self._process else None

    def call(
        self,
        work: Callable[[Task], Result],
        given: Task,
        limits: HardLimits = UNLIMITED,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Call a function there, and raise what it raises.

        The process knows the families and learners that this one was given. Raises UsageError for
        what cannot be handed over, ProcessEnded, with what the process printed last, and Aborted
        once `stopped`.
        """
        own = self.own()
        call = pickled((work, given), "what is to be done")
        try:
            try:
                pool, printed = self._ready(stopped)
                os.ftruncate(printed.fileno(), 0)
                task = pool.schedule(_perform, (own, call))
            except (RuntimeError, ValueError) as error:  # of pebble
                said = " ".join(str(error.__cause__ or error).split())
                raise ProcessEnded("died", f"no process could be started: {said}") from error
            return self._result(task, limits, stopped)
        except ProcessEnded as ended:
            ended.why += self._last_words()
            self.close()
            raise

    def close(self) -> None:
        """End the process; the next call starts another. What is below it sees that it is gone."""
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
            pid = self._result(started, UNLIMITED, stopped)  # once its imports are done
            [self._process] = [one for one in multiprocessing.active_children() if one.pid == pid]
            self.where = f"{socket.gethostname()}:{pid}"
        assert self._printed is not None
        return self._pool, self._printed

    def _result(self, task: "Future[Any]", limits: HardLimits, stopped: Callable[[], bool]) -> Any:
        """Wait for what a task gives; raises ProcessEnded where its process did, or at a limit."""
        start = clock.now()
        while not wait([task], _LOOK).done:
            used = clock.now() - start
            if stopped():
                self._abort()
            if self._process is None:
                if used > _START:
                    said = f"its process did not start within {_START:g} s"
                    raise ProcessEnded("died", said, used)
            elif not self._process.is_alive():
                wait([task], 2 * _LOOK)  # what it gave may be on its way
                break
            elif limits.seconds is not None and used > limits.seconds:
                raise ProcessEnded("overdue", f"it took over {limits.seconds:g} s", used)
            elif limits.memory_bytes is not None:
                held = resident(self._process.pid or 0, limits.memory_bytes)
                if held > limits.memory_bytes:
                    shown = f"{readable_bytes(held)}, over {readable_bytes(limits.memory_bytes)}"
                    raise ProcessEnded("memory", f"it held {shown}, after {used:.2f} s", used)
        used = clock.now() - start
        if task.done() and not isinstance(task.exception(), _DIED):
            return task.result()
        code = self._process.exitcode if self._process else None
        raise ProcessEnded("died", f"its process {_ending(code)} after {used:.2f} s", used)

    def _abort(self) -> NoReturn:
        self.close()
        raise Aborted("workers were told to stop")

    def _last_words(self) -> str:
        """Return the last line that the process printed."""
        if self._printed is None:
            return ""
        end = os.fstat(self._printed.fileno()).st_size
        printed = os.pread(self._printed.fileno(), _KEPT, max(0, end - _KEPT))
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        shown = "".join(c if c.isprintable() else "?" for c in lines[-1][:200]) if lines else ""
        return f"; it last printed: {shown}" if shown else ""


def own_pickled() -> bytes:
    """Pickle families and learners that a user gave to this process, but for what cannot be."""
    return _own(tuple(OWN.items()), tuple(OBJECTS.items()), frozenset(FILES))


@lru_cache(1)
def _own(families: Iterable[Any], learners: Iterable[Any], files: frozenset[str]) -> bytes:
    tables = list[dict[str, Any]]()
    for table in (families, learners):
        tables.append({})
        for name, value in table:
            place = (value.path, value.defined, value.sha256) if table is families else None
            with suppress(UsageError):  # which is refused where it is used
                tables[-1][name] = place, None
                tables[-1][name] = place, pickled(value, name)
    return pickle.dumps((*tables, files))


@lru_cache(1)
def _know(own: bytes) -> None:
    """In a worker process: know what its owner was given, and nothing else."""
    families, learners, files = pickle.loads(own)
    FILES.clear()
    FILES.update(files)
    for here, there in ((OWN, families), (OBJECTS, learners)):
        here.clear()
        for name, (place, value) in there.items():
            if not (place and _executed(*place)) and value:
                with suppress(Exception):  # of a user's object, unknown then to who asks for it
                    here[name] = pickle.loads(value)


def _executed(path: Path, defined: str, sha256: str | None) -> bool:
    """Know a family by executing its file, if this machine has it as it was."""
    try:
        same = sha256 and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False
    with suppress(UsageError):  # it needs what is not here: then by value
        if same:
            resolve(f"{path}:{defined}", lacking=True)
            return True
    return False


def _perform(own: bytes, call: bytes) -> Any:
    """In a worker process: call a function, as its owner would."""
    _know(own)
    work, given = pickle.loads(call)
    return work(given)


def _begin(owner: int, printed: str) -> None:
    """Prepare a worker process: it ends with the thread that owns it, and prints to a file."""
    os.setsid()  # Ctrl-C is the owner's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
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


class _NoLock:
    """The lock of a pipe that one worker process uses: one that is killed cannot keep it.

    Nor does an owner that is killed leave a semaphore behind, of which Python would warn.
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
    """Return the resident bytes of a process and all below it; on Linux alone.

    Above the limit, of a page that n of them share each counts 1/n, where the system tells.
    """
    tree = [root, *below(root)]
    held = {pid: memory(pid, "VmRSS") for pid in tree}
    if sum(held.values()) <= limit or len(tree) == 1:
        return sum(held.values())
    return sum(memory(pid, "Pss", "smaps_rollup") or held[pid] for pid in tree)


@contextmanager
def inherited() -> Iterator[None]:
    """Inside, processes start with one thread for BLAS, without Ctrl-C, without our main module."""
    here = multiprocessing.current_process()
    if here.daemon:  # a worker of dask, which could have no processes of its own
        here.daemon = False
    with _starting:
        resource_tracker.ensure_running()  # it would let signals through again
        kept = {name: os.environ.get(name) for name in _ENVIRONMENT}
        signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        os.environ.update(_ENVIRONMENT)
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
