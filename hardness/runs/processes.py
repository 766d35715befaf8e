"""Functions on other processes: how processes are started, and tasks spread over several."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import ModuleType
from typing import TypeVar

from hardness.upper.isolated.init import DEATH_SIGNAL, prctl
from instances.errors import ToolkitError

Task = TypeVar("Task")
Result = TypeVar("Result")

_ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"PYTHONHASHSEED": "0"}
_starting = threading.Lock()


def execute(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Do every task, on `jobs` processes where it is above 1: its index and result, as it is done.

    work: a function of a module, or a partial one; what it does must depend on its task alone.
    Raises ToolkitError where a process was killed.

    >>> list(execute(abs, [-1, 2], jobs=1))
    [(0, 1), (1, 2)]
    """
    if jobs == 1 or len(tasks) < 2:
        yield from enumerate(map(work, tasks))
        return
    with ProcessPoolExecutor(
        min(jobs, len(tasks)),
        multiprocessing.get_context("spawn"),
        initializer=prctl,  # so that none outlives this process
        initargs=(DEATH_SIGNAL, signal.SIGKILL),
    ) as pool:
        try:
            with inherited():
                pending = {pool.submit(work, task): i for i, task in enumerate(tasks)}
            for future in as_completed(pending):
                yield pending[future], future.result()
        except BrokenProcessPool as error:
            raise ToolkitError(
                "a worker process was killed, by the system where memory ran out: use fewer --jobs "
                "or smaller sizes"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


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
