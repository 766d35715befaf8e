"""Tasks spread over processes: the same results for any number of workers."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def execute(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Do every task, on `jobs` processes where it is above 1: its index and result, as it is done.

    work: a function of a module; what it does must depend on its task alone. Workers never see
    Ctrl-C: the caller does, and ends them.

    >>> list(execute(abs, [-1, 2], jobs=1))
    [(0, 1), (1, 2)]
    """
    if jobs == 1 or len(tasks) < 2:
        yield from ((i, work(task)) for i, task in enumerate(tasks))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        with _interrupts_held():
            pending = {pool.submit(work, task): i for i, task in enumerate(tasks)}
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
