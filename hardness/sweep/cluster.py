"""The engine of a dask cluster, of this machine or another: the extra `cluster`."""

import asyncio
import logging
import platform
import re
import socket
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from hardness.oracles import clock
from hardness.runs.processes import HardLimits, Worker, inherited, own_pickled
from hardness.sweep.jobs import Finished
from hardness.sweep.pool import Batch, Engine, answer, attempt, local, require_jobs
from instances.disk import one_line
from instances.errors import ToolkitError, UsageError
from instances.lazy import require_extra

BATCH = 256  # jobs in a task: of 50 ms each, they keep a core of 1000 busy for some 10 seconds
_ENGINE = re.compile(
    r"local|dask(:(?P<address>(tls|tcp)://([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})))?"
)
_PATIENCE = 5.0  # seconds for a scheduler to answer
# What a client raises where it does not, the last once it is closed.
_LOST = (OSError, RuntimeError, CancelledError, AttributeError)
_ARRIVING = 15.0  # seconds for a first worker to be there
_AGAIN = 5  # times that a task is handed over again
_PAUSE = 0.2  # seconds between them
_ENDING = 3.0  # seconds for workers to end what they run
_WHERE = "dask's configuration, distributed.comm.tls: ca-file, client.cert and client.key"
_QUIET = ("distributed", "tornado", "bokeh", "asyncio")


@contextmanager
def dask(address: str | None, jobs: int) -> Iterator[Engine]:
    """Do jobs on the dask cluster of a scheduler, or on a cluster of `jobs` processes made here.

    A cluster made here speaks TLS, with keys that are new and in memory alone. address:
    tls://host:port, with the certificates that dask's configuration names, or tcp://host:port.
    Raises ToolkitError where no scheduler answers, or where there is no worker.
    """
    distributed = require_extra("distributed", "the engine dask")
    _silence()
    if address is None:
        with _cluster_here(distributed, jobs) as cluster, _client(distributed, cluster) as client:
            yield _Dask(client, "dask")
        return
    security = _certificates(distributed, address) if address.startswith("tls://") else None
    _require_scheduler(distributed, address, security)
    with _client(distributed, address, security) as client:
        yield _Dask(client, f"dask:{address}")


_mine = threading.local()
_stopped: set[str] = set()  # engines


def work(
    engine: str, wanted: dict[str, str], own: bytes, payloads: Sequence[str], limits: HardLimits
) -> list[Finished]:
    """Do jobs on the worker process of this thread of a dask worker; raises Aborted once `stop`.

    wanted: versions, others of which are refused with ToolkitError. own: what a user gave to the
    driver, as `own_pickled` writes it.
    """
    for what, there in versions().items():
        if there != wanted[what]:
            raise ToolkitError(
                f"a worker on {socket.gethostname()} has {what} {there}, {wanted[what]} is here: "
                "results would depend on who does a run; install the same version everywhere"
            )
    if not hasattr(_mine, "worker"):
        _mine.worker = Worker()
    _mine.worker.own = lambda: own
    return [
        attempt(_mine.worker, one, limits, lambda: engine in _stopped, answer) for one in payloads
    ]


def stop(engine: str) -> None:
    """End what this dask worker does for an engine."""
    _stopped.add(engine)


class _Dask(Engine):
    def __init__(self, client: Any, name: str) -> None:
        # Not pure: the same job may be asked for twice, and is then done twice.
        self._id = uuid4().hex
        executor = client.get_executor(pure=False)
        super().__init__(
            name, executor, partial(work, self._id, versions(), own_pickled()), 0, BATCH
        )
        self._client = client
        distributed = require_extra("distributed", "the engine dask")
        try:
            client.wait_for_workers(1, timeout=_ARRIVING)
        except distributed.TimeoutError as error:
            raise ToolkitError(
                f"{name} has no workers: start some with `dask worker ADDRESS`"
            ) from error
        self._slots = self._count()

    def _count(self) -> int:
        """Count the threads of all workers that are there now."""
        try:
            return sum(self._client.nthreads().values())
        except _LOST as error:
            if gone := self._gone():
                raise self._without(gone) from error
        return self._slots

    def abort(self) -> None:
        """Cancel what waits and end what runs, on workers that answer within seconds."""
        self.stopped = True
        asking = threading.Thread(target=self._abort, daemon=True)
        asking.start()
        asking.join(_ENDING)

    def _abort(self) -> None:
        with suppress(Exception):  # a worker that cannot be told is gone
            self.executor.shutdown(wait=False)
            self._client.run(stop, self._id, on_error="ignore")

    def collect(self, future: Batch, payloads: Sequence[str]) -> list[Finished]:
        """Take what became of the jobs; of a worker that was lost they are handed over again."""
        for _ in range(_AGAIN):
            try:
                return future.result()
            except (CancelledError, OSError) as error:
                if self.stopped:
                    break
                if gone := self._gone():
                    raise self._without(gone) from error
                future = self.submit(payloads)
            except Exception:
                break
        return super().collect(future, payloads)

    def _gone(self) -> Exception | None:
        """Ask for the scheduler for some seconds; returns what went wrong last, if it is not there.

        A task is cancelled where a worker is lost too, and a busy scheduler may miss a call.
        """
        until = clock.now() + _PATIENCE
        while True:
            found: Exception = ConnectionError(f"the client is {self._client.status}")
            try:
                if self._client.status == "running":
                    self._client.nthreads()
                    return None
            except _LOST as error:
                found = error
            if clock.now() >= until or self._client.status == "closed":
                return found
            time.sleep(_PAUSE)

    def _without(self, gone: Exception) -> ToolkitError:
        said = f"{type(gone).__name__}: {one_line(gone, 200)}"
        return ToolkitError(
            f"the scheduler of {self.name} is gone ({said}): what is finished is kept; start it "
            "and resume"
        )

    def _died(self, error: BaseException, payloads: Sequence[str]) -> list[Finished]:
        distributed = require_extra("distributed", "the engine dask")
        if isinstance(error, distributed.KilledWorker):
            why = "every dask worker that had it was killed, or lost to the scheduler"
            return [Finished(failure="died", why=why) for _ in payloads]
        if isinstance(error, ToolkitError):  # of a worker with other versions
            raise error
        raise self._lost(error) from error

    def _lost(self, error: BaseException) -> ToolkitError:
        gone = self._gone()
        return self._without(gone) if gone else super()._lost(error)


def versions() -> dict[str, str]:
    """Return what must be the same on all workers for results to be.

    >>> sorted(versions())
    ['Python', 'hardness-toolkit', 'numpy', 'scipy']
    """
    found = {name: version(name) for name in ("hardness-toolkit", "numpy", "scipy")}
    return {"Python": ".".join(platform.python_version_tuple()[:2])} | found


def _require_scheduler(distributed: Any, address: str, security: Any) -> None:
    """Refuse an address where no scheduler answers; raises ToolkitError within seconds.

    A client would wait for a listener of another kind without end, or take its greeting for the
    size of a message and ask for exbibytes.
    """
    keys = security.get_connection_args("client") if security else None

    async def kind() -> str:
        async with distributed.rpc(address, timeout=_PATIENCE, connection_args=keys) as server:
            return str((await server.identity())["type"])

    try:
        found = asyncio.run(asyncio.wait_for(kind(), 2 * _PATIENCE))
        said = "" if found == "Scheduler" else f"what listens there is {found}"
    except OSError as error:
        said = " ".join((str(error.__cause__ or "") or str(error) or "no answer").split())[:200]
    except Exception:  # anything may be at the other end
        said = "what answers there speaks another protocol"
    if said:
        raise ToolkitError(
            f"no dask scheduler at {address}: {said}; start one with `dask scheduler`, leave the "
            "address out for a cluster here, or write tls:// where it has certificates"
        )


def _certificates(distributed: Any, address: str) -> Any:
    """Take the certificates that dask's configuration names; raises ToolkitError."""
    try:
        security = distributed.Security(require_encryption=True)
        found = security.get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:  # a file that is not there, or is no certificate
        raise ToolkitError(
            f"the certificates for {address} cannot be read: {' '.join(str(error).split())[:200]}; "
            f"see {_WHERE}"
        ) from error
    if found is None:
        raise ToolkitError(f"no certificates for {address} are known: name them in {_WHERE}")
    return security


@contextmanager
def _cluster_here(distributed: Any, jobs: int) -> Iterator[Any]:
    """Start a scheduler and `jobs` worker processes of one thread, with TLS; ends them."""
    require_extra("cryptography", "the engine dask")
    try:
        with inherited():
            cluster = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://",
                security=distributed.Security.temporary(),
                dashboard_address="127.0.0.1:0",  # with none it asks for a port of its own choice
                worker_dashboard_address="127.0.0.1:0",
                memory_limit=0,  # worker processes have their own
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError) as error:
        said = " ".join(str(error).split())[:300]
        raise ToolkitError(f"no dask cluster could be started here: {said}") from error
    try:
        yield cluster
    finally:
        with suppress(OSError, TimeoutError):
            cluster.close()


@contextmanager
def _client(distributed: Any, there: Any, security: Any = None) -> Iterator[Any]:
    with warnings.catch_warnings():  # what differs is said by _require_workers
        warnings.simplefilter("ignore")
        client = distributed.Client(
            there, timeout=_PATIENCE, set_as_default=False, security=security
        )
    try:
        yield client
    finally:
        with suppress(OSError, TimeoutError, CancelledError):
            client.close(timeout=_ENDING)


def _silence() -> None:
    """Keep the loggers of dask from writing to stderr: what matters is said in one line."""
    for name in (*logging.root.manager.loggerDict, *_QUIET):
        if name.partition(".")[0] in _QUIET:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def engine_of(text: str, jobs: int) -> AbstractContextManager[Engine]:
    """Make the engine of "local", "dask" or "dask:tls://host:port"; raises UsageError.

    >>> with engine_of("local", jobs=2) as engine:
    ...     engine.slots
    2
    """
    found = _ENGINE.fullmatch(text)
    if found is None or not 0 < int(found["port"] or 1) < 1 << 16:
        raise UsageError(
            f"engine {text[:100]!r} given: local, dask (a cluster on this machine), or the address "
            "of a scheduler such as dask:tls://127.0.0.1:8786 or dask:tcp://127.0.0.1:8786"
        )
    require_jobs(jobs)
    return local(jobs) if text == "local" else dask(found["address"], jobs)


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
        f"{text} has no TLS: every process that reaches that port can run code as you, here "
        "and on its workers; give the scheduler certificates, and write tls://"
    )
