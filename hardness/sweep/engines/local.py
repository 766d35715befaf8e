"""The engine of this machine: threads, each with a slot of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread

from hardness.sweep.engines.attempt import abort
from hardness.sweep.engines.engine import Engine
from instances.errors import UsageError


@contextmanager
def local(jobs: int) -> Iterator[Engine]:
    """Do `jobs` jobs at once on this machine; raises UsageError. Ends what runs at the end.

    >>> with local(1) as engine:
    ...     engine.name, engine.slots
    ('local', 1)
    """
    if not 1 <= jobs <= 4096:
        raise UsageError(f"jobs={jobs} given: 1 to 4096, one for each core is best")
    executor = ThreadPoolExecutor(jobs, thread_name_prefix="slot")
    try:
        yield _Local("local", executor, jobs)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        # A thread may be about to start what it has just taken: it is told until it has ended.
        closing = Thread(target=executor.shutdown)
        closing.start()
        while closing.is_alive():
            abort()
            closing.join(0.02)


class _Local(Engine):
    def abort(self) -> None:
        """Drop what waits and end what runs."""
        super().abort()
        abort()
