"""Tasks spread over processes: the same results for any number of workers."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

from instances.errors import ToolkitError

Task = TypeVar("Task")
Result = TypeVar("Result")


class Round(Protocol):
    """Does every task on the workers there are: its index and result, as it is done."""

    def __call__(
        self, work: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]:
        """work: a function of a module; what it does must depend on its task alone."""


def execute(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    jobs: int,
    ready: Callable[[], object] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Do every task, on `jobs` processes where it is above 1: its index and result, as it is done.

    work: a function of a module; what it does must depend on its task alone. ready: called in every
    process before its first task. Workers never see Ctrl-C: the caller does, and ends them. Raises
    ToolkitError where a worker was killed.

    >>> list(execute(abs, [-1, 2], jobs=1))
    [(0, 1), (1, 2)]
    """
    with workers(min(jobs, max(1, len(tasks))), ready) as each:
        yield from each(work, tasks)


@contextmanager
def workers(jobs: int, ready: Callable[[], object] | None = None) -> Iterator[Round]:
    """Keep processes for many rounds of tasks, none where `jobs` is 1; ends them at the end.

    >>> with workers(1) as each:
    ...     [sorted(result for _, result in each(abs, tasks)) for tasks in ([-1, 2], [-3])]
    [[1, 2], [3]]
    """
    if jobs == 1:
        if ready:
            ready()
        yield _here
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=ready) as pool:
        try:
            yield partial(_there, pool)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def _here(work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
    yield from ((i, work(task)) for i, task in enumerate(tasks))


def _there(
    pool: ProcessPoolExecutor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    try:
        with _interrupts_held():
            pending = {pool.submit(work, task): i for i, task in enumerate(tasks)}
        for future in as_completed(pending):
            yield pending[future], future.result()
    except BrokenProcessPool as error:
        raise ToolkitError(
            "a worker process was killed, by the system where memory ran out: use fewer --jobs or "
            "smaller sizes"
        ) from error


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
