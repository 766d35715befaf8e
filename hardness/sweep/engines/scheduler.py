"""Whether a dask scheduler listens at an address, before its client is let near it.

A client waits for a listener of another kind for minutes, or takes its greeting for the size of a
message and asks for exbibytes.
"""

import asyncio
import socket
import time
from typing import Any

from instances.errors import ToolkitError
from instances.extras import require_extra

_GREETING = 1 << 20  # bytes: a dask server's first message is below a thousand


def require_scheduler(address: str, patience: float, security: Any = None) -> None:
    """Refuse an address where none listens; raises ToolkitError within some `patience` seconds.

    address: tcp://host:port, or tls://host:port with the certificates of `security`.

    >>> require_scheduler("tcp://127.0.0.1:1", 0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    instances.errors.ToolkitError: no dask scheduler at tcp://127.0.0.1:1: ...
    """
    protocol, _, place = address.partition("://")
    host, _, port = place.rpartition(":")
    until = time.monotonic() + patience
    while True:
        try:
            with socket.create_connection((host.strip("[]"), int(port)), max(1.0, patience)) as to:
                # With TLS the client speaks first, and what is no TLS fails at that.
                greeting = _first(to, 8) if protocol == "tcp" else b"\1"
            break
        except OSError as error:  # TimeoutError and a name that is not known too
            if time.monotonic() > until - 1:
                said = error.strerror or str(error) or "no answer"
                raise ToolkitError(
                    f"no dask scheduler at {address}: {said}; start one with `dask scheduler`, "
                    "leave the address out for a cluster here, or write tls:// where it has "
                    "certificates"
                ) from error
            time.sleep(0.5)  # it may be starting
    kind = "of another kind"
    if 0 < int.from_bytes(greeting, "little") < _GREETING:
        kind = asyncio.run(_kind(address, patience, security))
    if kind != "Scheduler":
        raise ToolkitError(
            f"what listens at {address} is {kind}, no dask scheduler: give the address that "
            "`dask scheduler` shows"
        )


async def _kind(address: str, patience: float, security: Any) -> str:
    """Ask a dask server what it is: Scheduler, Worker, Nanny."""
    distributed = require_extra("distributed", "the engine dask")
    with_keys = security.get_connection_args("client") if security else None
    try:
        async with distributed.rpc(address, connection_args=with_keys) as server:
            return str((await asyncio.wait_for(server.identity(), patience))["type"])
    except Exception as error:  # anything may be at the other end
        said = " ".join(str(error.__cause__ or error).split())[:200]
        return f"what answers with {type(error).__name__} ({said})"


def _first(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise OSError("it closed the connection")
        found += part
    return found
