"""The engine that a text names."""

from contextlib import AbstractContextManager

from hardness.sweep.engines.cluster import dask
from hardness.sweep.engines.engine import Engine
from hardness.sweep.engines.local import local
from instances.errors import UsageError


def engine_of(text: str, jobs: int) -> AbstractContextManager[Engine]:
    """Make the engine of "local", "dask" or "dask:tls://host:port"; raises UsageError.

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
        f"engine {text[:100]!r} given: local, dask (a cluster on this machine), "
        "dask:tls://host:port or dask:tcp://host:port"
    )


def exposed(text: str) -> str | None:
    """Say what an engine without TLS lets others do; None for the others.

    >>> exposed("local"), exposed("dask"), exposed("dask:tls://there:8786")
    (None, None, None)
    >>> "can run code as you" in exposed("dask:tcp://there:8786")
    True
    """
    if not text.startswith("dask:tcp:"):
        return None
    return (
        f"{text} has no TLS: whoever reaches that port can run code as you, here and on its "
        "workers; give the scheduler certificates, and write tls://"
    )
