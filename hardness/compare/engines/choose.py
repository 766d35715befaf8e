"""The engine that a text names."""

from contextlib import AbstractContextManager

from hardness.compare.engines.cluster import dask
from hardness.compare.engines.engine import Engine
from hardness.compare.engines.local import local
from instances.errors import UsageError


def engine_of(text: str, jobs: int) -> AbstractContextManager[Engine]:
    """Make the engine of "local", "dask" or "dask:tcp://host:port"; raises UsageError.

    >>> with engine_of("local", jobs=2) as engine:
    ...     engine.slots
    2
    """
    if text == "local":
        return local(jobs)
    if text == "dask":
        return dask(None, jobs)
    if text.startswith("dask:"):
        return dask(text.removeprefix("dask:"), jobs)
    raise UsageError(
        f"engine {text[:100]!r} given: local, dask (a cluster on this machine) or "
        "dask:tcp://host:port"
    )
