"""Workers that do jobs: processes of this machine (`Local`), or a dask cluster (`Dask`).

Both take a batch of jobs and return a future. If the worker of a batch ended, its result raises
`Died`. A local worker is an executor of the standard library with one process. It notices every end
of the process, also exit code 0, and shares no lock with other workers. One `pebble.ProcessPool`
for all was tried: it does not notice a worker that exits with code 0. A worker that is killed while
it holds the lock of the common pipe blocks all others.
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
_OUTPUT_BYTES = 4096  # read from the end of what a worker printed
_OOM_SCORE = "500"  # of 1000: if memory runs out, the system ends the worker and not its owner
_ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"PYTHONHASHSEED": "0"}
_ANSWER_SECONDS = 30  # for a scheduler to answer
_starting, _at_work = threading.Lock(), threading.Lock()


class Died(Exception):
    """The worker of a batch ended before it gave a result; the text says why."""


def packed(work: Callable[[Task], Result], argument: Task) -> bytes:
    """Pickle a call for a worker, with the families and learners that the user defined.

    Raises UsageError if the call cannot be pickled.
    """
    return pickle.dumps((user_objects(), pickled((work, argument), "what is to be done")))


def perform(batch: bytes) -> Any:
    """Do a packed call in a worker, one call at a time in a process."""
    with _at_work:
        objects, call = pickle.loads(batch)
        load_user_objects(objects)
        work, argument = pickle.loads(call)
        return work(argument)


# Families and learners that a user defined go to workers by cloudpickle. A family of a file is
# defined there by executing the file, if the worker has the same one. Everything else goes by
# value. `hindrance` finds objects that cannot be pickled before anything starts. Then this process
# does all runs.


def hindrance(specs: Iterable[str], learners: Iterable[str]) -> str:
    """Return why an object that runs need cannot be sent to another process; empty if it can.

    specs, learners: the names in the runs.

    >>> hindrance(["parity:d=8,m=2"], ["elimination"])
    ''
    """
    families = {spec.partition(":")[0] for spec in specs}
    own = {name: USER_FAMILIES[name] for name in families if name in USER_FAMILIES}
    objects: dict[str, Any] = {name: family for name, family in own.items() if not family.sha256}
    objects |= {name: OBJECTS[name] for name in learners if name in OBJECTS}
    try:
        for name, value in objects.items():
            pickled(value, name)
    except UsageError as error:
        return str(error)
    return ""


def user_objects() -> bytes:
    """Pickle the families and learners that the user defined in this process.

    Objects that cannot be pickled are left out.
    """
    keys = tuple(KEYS.items())
    return _pickled_tables(
        tuple(USER_FAMILIES.items()), tuple(OBJECTS.items()), frozenset(USER_FILES), keys
    )


@lru_cache(1)
def _pickled_tables(
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
            with suppress(UsageError):  # refused when a run needs it
                tables[-1][name] = place, None
                tables[-1][name] = place, pickled(value, name)
    return pickle.dumps((*tables, files, dict(keys)))


@lru_cache(1)
def load_user_objects(objects: bytes) -> None:
    """Replace the user's families and learners of this worker by those of `user_objects`."""
    families, learners, files, keys = pickle.loads(objects)
    USER_FILES.clear()
    USER_FILES.update(files)
    KEYS.clear()
    KEYS.update(keys)
    for table, sent in ((USER_FAMILIES, families), (OBJECTS, learners)):
        table.clear()
        for name, (place, value) in sent.items():
            if not (place and _executed(*place)) and value:
                with suppress(Exception):  # raised by the user's object, which stays unknown then
                    table[name] = pickle.loads(value)


def _executed(path: Path, defined: str, sha256: str | None) -> bool:
    """Define a family by executing its file, if this machine has the same file; say if it did."""
    try:
        same = sha256 and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False
    with suppress(UsageError):  # the file needs something that is missing: take the pickled value
        if same:
            resolve(f"{path}:{defined}", lacking=True)
            return True
    return False


# Processes of this machine


class Local:
    """A number of worker processes, each started when it is first needed and again if it ended."""

    def __init__(self, count: int) -> None:
        """Prepare `count` workers, without starting a process."""
        self._workers = [_Worker() for _ in range(count)]
        self._busy: dict[Future[Any], _Worker] = {}

    def room(self, submitted: int) -> bool:
        """Whether a worker is idle while this number of batches is submitted."""
        return submitted < len(self._workers)

    def submit(self, batch: bytes) -> "Future[Any]":
        """Let an idle worker do a batch."""
        busy = set(map(id, self._busy.values()))
        worker = next(worker for worker in self._workers if id(worker) not in busy)
        future = worker.submit(batch)
        self._busy[future] = worker
        return future

    def result(self, future: "Future[Any]") -> Any:
        """Return the result of a batch; raises Died if its worker ended."""
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
    """A worker process, with a file for what it prints and a folder for temporary files."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self._printed: IO[bytes] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None  # for learners from files

    def submit(self, batch: bytes) -> "Future[Any]":
        if self._executor is not None:
            with suppress(BrokenProcessPool):  # the process was killed while it was idle
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
        with start_context():
            before = set(multiprocessing.active_children())
            try:
                future = self._executor.submit(perform, batch)
            except OSError as error:
                raise ToolkitError(f"no worker process could be started: {error}") from error
            [self._process] = set(multiprocessing.active_children()) - before
        return future

    def ended(self) -> str:
        """Describe how the process ended and what it printed last."""
        if self._executor is not None:  # its thread may be the one that reads the exit code
            self._executor.shutdown(wait=True)
        code = self._process.exitcode if self._process else None
        text = f"its process {_ending(code)}{self._last_line()}"
        self.close()
        return text

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

    def _last_line(self) -> str:
        if self._printed is None:
            return ""
        end = os.fstat(self._printed.fileno()).st_size
        printed = os.pread(self._printed.fileno(), _OUTPUT_BYTES, max(0, end - _OUTPUT_BYTES))
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        last = "".join(c if c.isprintable() else "?" for c in lines[-1][:200]) if lines else ""
        return f"; it last printed: {last}" if last else ""


def _begin(owner: int, printed: str, scratch: str) -> None:
    """Prepare a worker process: it ends with the thread that started it, and prints to a file.

    owner: the process id of the owner. printed, scratch: paths of its file and its folder. When it
    is no longer needed it is killed, so the owner removes the folder.
    """
    tempfile.tempdir = scratch
    os.setsid()  # Ctrl-C is the owner's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    if os.getppid() != owner:
        os._exit(1)
    with suppress(OSError):  # not on Linux
        Path("/proc/self/comm").write_text(NAME)
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    try:
        output = os.open(printed, os.O_WRONLY | os.O_APPEND)
    except OSError:
        output = os.open(os.devnull, os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    restart_peak()


def _ending(code: int | None) -> str:
    """Describe the exit code of a process: negative for a signal, None if it is not known."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"exited with code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"was killed by {names.get(-code, f'signal {-code}')}"


@contextmanager
def _delayed(*names: signal.Signals) -> Iterator[None]:
    """Delay signals until the block ends, so that none interrupts the start of a process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers = {name: signal.getsignal(name) for name in names}
    handlers = {name: handler for name, handler in handlers.items() if callable(handler)}
    for name in handlers:
        signal.signal(name, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for name, handler in handlers.items():
            signal.signal(name, handler)
        for number in received:
            signal.raise_signal(number)


@contextmanager
def start_context() -> Iterator[None]:
    """Let processes that start in the block use one BLAS thread and ignore Ctrl-C.

    They do not import the main module of this process either.
    """
    current = multiprocessing.current_process()
    if current.daemon:  # a worker of dask: a daemon could not start processes
        current.daemon = False
    with _starting:
        resource_tracker.ensure_running()  # if it started later, it would unblock signals
        before = {name: os.environ.get(name) for name in _ENVIRONMENT}
        signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        os.environ.update(_ENVIRONMENT)
        try:
            with _delayed(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                yield
        finally:
            sys.modules["__main__"] = main
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def execute(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Yield the index and result of each task when it is done, on `jobs` processes.

    work: its result must depend on its task alone. With jobs=1 or a single task, this process does
    the work. Raises ToolkitError if a process was killed.

    >>> list(execute(abs, [-1, 2], jobs=1))
    [(0, 1), (1, 2)]
    """
    if jobs == 1 or len(tasks) < 2:
        yield from enumerate(map(work, tasks))
        return
    waiting, running = list(enumerate(tasks))[::-1], dict[Future[Any], int]()
    workers = Local(min(jobs, len(tasks)))
    try:
        while waiting or running:
            while waiting and workers.room(len(running)):
                index, task = waiting.pop()
                running[workers.submit(packed(work, task))] = index
            future = next(as_completed(running))
            yield running.pop(future), workers.result(future)
    except Died as error:
        raise ToolkitError(
            "a worker process was killed, by the system where memory ran out: use fewer --jobs or "
            f"smaller sizes ({error})"
        ) from error
    finally:
        workers.close()


# A dask cluster


class Dask:
    """The workers of the user's dask cluster; connections are secured by dask's own settings."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler; raises ToolkitError if none answers or it has no worker."""
        self._dask = require_extra("distributed", "a dask cluster")
        try:
            self._client = self._dask.Client(address, timeout=_ANSWER_SECONDS, set_as_default=False)
        except Exception as error:  # dask raises many kinds
            reason = " ".join(str(error).split())[:200]
            raise ToolkitError(
                f"{address}: no dask scheduler answers there: start one by `dask scheduler`, or "
                f"name another ({type(error).__name__}: {reason})"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_ANSWER_SECONDS)
        except Exception as error:
            self._client.close()
            raise ToolkitError(
                f"{address}: the scheduler has no worker: start some by `dask worker {address}`"
            ) from error
        self._slots, self._looked = 0, 0.0

    def room(self, submitted: int) -> bool:
        """Whether fewer than two batches for each thread of the cluster are submitted."""
        from hardness.oracles import clock

        if clock.now() - self._looked > 1:
            with self._reached():
                self._slots, self._looked = sum(self._client.nthreads().values()), clock.now()
        return submitted < 2 * max(1, self._slots)

    def submit(self, batch: bytes) -> "Future[Any]":
        """Let a worker of the cluster do a batch."""
        future: Future[Any] = self._client.submit(perform, batch, pure=False)
        return future

    def result(self, future: "Future[Any]") -> Any:
        """Return the result of a batch; raises Died if its workers ended."""
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
        """Raise ToolkitError with one line if the scheduler cannot be reached in the block."""
        try:
            yield
        except (CancelledError, self._dask.CancelledError, OSError) as error:
            raise ToolkitError(
                f"the dask scheduler is gone ({type(error).__name__}): what was done is kept"
            ) from error

    def close(self) -> None:
        """Disconnect from the cluster, which cancels the batches that are not done."""
        with suppress(Exception):  # whatever dask raises if the cluster is gone
            self._client.close(timeout=5)


def describe_fault(error: BaseException) -> str:
    """Describe an exception of this toolkit's own code, with the file and line that raised it."""
    places = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return " ".join(f"{type(error).__name__}: {error}{where}".split())[:500]
