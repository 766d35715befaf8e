"""Tasks in worker processes: the same results on any number of them, and Ctrl-C leaves none."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def execute(
    function: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Apply a function to tasks, in this process or in `jobs` others: (index, result), as they end.

    The function and the tasks are pickled: a function of a module, and records.
    """
    if jobs == 1 or len(tasks) < 2:
        yield from ((i, function(task)) for i, task in enumerate(tasks))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        with _interrupts_held():
            pending = {pool.submit(function, task): i for i, task in enumerate(tasks)}
        try:
            for future in as_completed(pending):
                yield pending[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start workers that never see Ctrl-C: the driver alone does, and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
