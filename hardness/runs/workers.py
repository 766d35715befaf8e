"""Who does jobs: worker processes of this machine, or the workers of a dask cluster.

Both take a batch and give a future, and say of one whose worker ended that it `Died`. Of this
machine each worker is an executor of the standard library with one process: it sees any end of it,
exit code 0 too, and shares no lock that a process could take along. (One `pebble.ProcessPool` was
tried: a worker that exits with code 0 is never missed, and one that is killed while it holds the
lock of their common pipe stops all.)
"""

import hashlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TypeVar

from hardness.learners.boundary import die_with_parent
from hardness.oracles.budget import restart_peak
from hardness.runs.registry import KEYS, OBJECTS
from instances.errors import ToolkitError, UsageError
from instances.lazy import require_extra
from instances.spec import USER_FAMILIES, resolve
from instances.userfile import USER_FILES, pickled

Task = TypeVar("Task")
Result = TypeVar("Result")

NAME = "hardness-worker"  # of a worker process, as `ps` and `top` show it
_KEPT = 4096  # bytes of what is printed
_FIRST_TO_GO = "500"  # of 1000: where memory runs out the system ends this process, not its owner
_ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"PYTHONHASHSEED": "0"}
_PATIENCE = 30  # seconds that a scheduler may take to answer
_starting, _at_work = threading.Lock(), threading.Lock()


class Died(Exception):
    """The worker of a batch ended before it gave a result: why."""


def packed(work: Callable[[Task], Result], argument: Task) -> bytes:
    """Pack a call for a worker, with a user's own families and learners; raises UsageError."""
    return pickle.dumps((carried(), pickled((work, argument), "what is to be done")))


def perform(batch: bytes) -> Any:
    """In a worker: do what was packed, one thing at a time in a process."""
    with _at_work:
        own, call = pickle.loads(batch)
        know(own)
        work, given = pickle.loads(call)
        return work(given)


# A user's own families and learners go to workers by cloudpickle. What stands in a file is executed
# there if the file is there as it was; anything else goes by value. What cannot go is known before
# anything starts: then all runs are done in this process.


def hindrance(specs: Iterable[str], learners: Iterable[str]) -> str:
    """Say why another process cannot have an object of a user that runs need; empty if it can.

    specs, learners: of the runs, by their names.

    >>> hindrance(["parity:d=8,m=2"], ["elimination"])
    ''
    """
    families = {spec.partition(":")[0] for spec in specs}
    mine = {name: USER_FAMILIES[name] for name in families if name in USER_FAMILIES}
    objects: dict[str, Any] = {name: one for name, one in mine.items() if not one.sha256}
    objects |= {name: OBJECTS[name] for name in learners if name in OBJECTS}
    try:
        for name, value in objects.items():
            pickled(value, name)
    except UsageError as error:
        return str(error)
    return ""


def carried() -> bytes:
    """Pickle the families and learners that a user gave to this process, but for what cannot be."""
    keys = tuple(KEYS.items())
    return _carried(
        tuple(USER_FAMILIES.items()), tuple(OBJECTS.items()), frozenset(USER_FILES), keys
    )


@lru_cache(1)
def _carried(
    families: Iterable[Any],
    learners: Iterable[Any],
    files: frozenset[str],
    keys: tuple[tuple[str, str], ...],
) -> bytes:
    tables = list[dict[str, Any]]()
    for table in (families, learners):
        tables.append({})
        for name, value in table:
            place = (value.path, value.defined, value.sha256) if table is families else None
            with suppress(UsageError):  # which is refused where it is used
                tables[-1][name] = place, None
                tables[-1][name] = place, pickled(value, name)
    return pickle.dumps((*tables, files, dict(keys)))


@lru_cache(1)
def know(objects: bytes) -> None:
    """In a worker process: know what `carried` packed, and nothing else of a user."""
    families, learners, files, keys = pickle.loads(objects)
    USER_FILES.clear()
    USER_FILES.update(files)
    KEYS.clear()
    KEYS.update(keys)
    for here, there in ((USER_FAMILIES, families), (OBJECTS, learners)):
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


# Processes of this machine


class Local:
    """So many worker processes, each started where it is needed and again where it ended."""

    def __init__(self, count: int) -> None:
        """Start nothing yet."""
        self._workers = [_Worker() for _ in range(count)]
        self._busy: dict[Future[Any], _Worker] = {}

    def room(self, flying: int) -> bool:
        """Whether a worker is idle."""
        return flying < len(self._workers)

    def submit(self, batch: bytes) -> "Future[Any]":
        """Have an idle worker do a batch."""
        busy = set(map(id, self._busy.values()))
        worker = next(one for one in self._workers if id(one) not in busy)
        future = worker.submit(batch)
        self._busy[future] = worker
        return future

    def result(self, future: "Future[Any]") -> Any:
        """Give what a batch came to."""
        worker = self._busy.pop(future)
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            why = worker.ended()
            raise Died(why) from error

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()


class _Worker:
    """A worker process."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self._printed: IO[bytes] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None  # of its learners from files

    def submit(self, batch: bytes) -> "Future[Any]":
        if self._executor is not None:
            with suppress(BrokenProcessPool):  # it was killed while it was idle
                return self._executor.submit(perform, batch)
            self.close()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115
        path = f"/proc/{os.getpid()}/fd/{self._printed.fileno()}"
        self._scratch = tempfile.TemporaryDirectory(
            prefix="hardness-worker-", ignore_cleanup_errors=True
        )
        context = multiprocessing.get_context("spawn")
        arguments = os.getpid(), path, self._scratch.name
        self._executor = ProcessPoolExecutor(1, context, _begin, arguments)
        with inherited():
            before = set(multiprocessing.active_children())
            try:
                future = self._executor.submit(perform, batch)
            except OSError as error:
                raise ToolkitError(f"no worker process could be started: {error}") from error
            [self._process] = set(multiprocessing.active_children()) - before
        return future

    def ended(self) -> str:
        """Say how the process ended and what it printed last."""
        if self._executor is not None:  # whose thread may be the one that learns the exit code
            self._executor.shutdown(wait=True)
        code = self._process.exitcode if self._process else None
        said = f"its process {_ending(code)}{self._last_words()}"
        self.close()
        return said

    def close(self) -> None:
        if self._process is not None:
            with suppress(ValueError):  # closed
                self._process.kill()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._printed is not None:
            self._printed.close()
        if self._scratch is not None:
            self._scratch.cleanup()
        self._executor = self._process = self._printed = self._scratch = None

    def _last_words(self) -> str:
        if self._printed is None:
            return ""
        end = os.fstat(self._printed.fileno()).st_size
        printed = os.pread(self._printed.fileno(), _KEPT, max(0, end - _KEPT))
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        shown = "".join(c if c.isprintable() else "?" for c in lines[-1][:200]) if lines else ""
        return f"; it last printed: {shown}" if shown else ""


def _begin(owner: int, printed: str, scratch: str) -> None:
    """Prepare a worker process: it ends with the thread that owns it, and prints to a file.

    It is killed where it is no longer needed: its owner removes its folder for what is passing.
    """
    tempfile.tempdir = scratch
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
    restart_peak()


def _ending(code: int | None) -> str:
    """Describe the exit code of a process: negative for a signal, None for what is not known."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"exited with code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"was killed by {known.get(-code, f'signal {-code}')}"


@contextmanager
def _later(*names: signal.Signals) -> Iterator[None]:
    """Inside, signals wait: a process that starts gets all that it is told, and is known to us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {name: signal.getsignal(name) for name in names}
    handlers = {name: one for name, one in handlers.items() if callable(one)}
    for name in handlers:
        signal.signal(name, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for name, one in handlers.items():
            signal.signal(name, one)
        for number in came:
            signal.raise_signal(number)


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
            with _later(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                yield
        finally:
            sys.modules["__main__"] = main
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


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
    waiting, flying = list(enumerate(tasks))[::-1], dict[Future[Any], int]()
    workers = Local(min(jobs, len(tasks)))
    try:
        while waiting or flying:
            while waiting and workers.room(len(flying)):
                index, task = waiting.pop()
                flying[workers.submit(packed(work, task))] = index
            future = next(as_completed(flying))
            yield flying.pop(future), workers.result(future)
    except Died as error:
        raise ToolkitError(
            "a worker process was killed, by the system where memory ran out: use fewer --jobs or "
            f"smaller sizes ({error})"
        ) from error
    finally:
        workers.close()


# A dask cluster


class Dask:
    """The workers of a cluster of the user's own, which a scheduler names; its TLS is dask's."""

    def __init__(self, address: str) -> None:
        """Ask the scheduler; raises ToolkitError where none answers, or it has no worker."""
        self._dask = require_extra("distributed", "a dask cluster")
        try:
            self._client = self._dask.Client(address, timeout=_PATIENCE, set_as_default=False)
        except Exception as error:  # of the many kinds that dask raises
            said = " ".join(str(error).split())[:200]
            raise ToolkitError(
                f"{address}: no dask scheduler answers there: start one by `dask scheduler`, or "
                f"name another ({type(error).__name__}: {said})"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except Exception as error:
            self._client.close()
            raise ToolkitError(
                f"{address}: the scheduler has no worker: start some by `dask worker {address}`"
            ) from error
        self._slots, self._looked = 0, 0.0

    def room(self, flying: int) -> bool:
        """Whether fewer than two batches a thread are with the cluster."""
        from hardness.oracles import clock

        if clock.now() - self._looked > 1:
            with self._reached():
                self._slots, self._looked = sum(self._client.nthreads().values()), clock.now()
        return flying < 2 * max(1, self._slots)

    def submit(self, batch: bytes) -> "Future[Any]":
        """Have a worker of the cluster do a batch."""
        future: Future[Any] = self._client.submit(perform, batch, pure=False)
        return future

    def result(self, future: "Future[Any]") -> Any:
        """Give what a batch came to."""
        try:
            with self._reached():
                return future.result()
        except self._dask.scheduler.KilledWorker as error:
            raise Died(
                f"the workers that did it ended ({' '.join(str(error).split())[:120]})"
            ) from error
        except (ImportError, AttributeError) as error:
            raise ToolkitError(
                f"a worker of the cluster cannot do it ({error}): install the same version there"
            ) from error

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Inside, a scheduler that is gone is one line."""
        try:
            yield
        except (CancelledError, self._dask.CancelledError, OSError) as error:
            raise ToolkitError(
                f"the dask scheduler is gone ({type(error).__name__}): what was done is kept"
            ) from error

    def close(self) -> None:
        """Let go of the cluster, and take back what it has not done."""
        with suppress(Exception):  # whatever a cluster that is gone says
            self._client.close(timeout=5)


def fault(error: BaseException) -> str:
    """Describe an exception that is a fault of ours, with its last place."""
    places = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return " ".join(f"{type(error).__name__}: {error}{where}".split())[:500]
