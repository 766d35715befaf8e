"""Whether a dask scheduler listens at an address, before its client is let near it.

A client waits for a listener of another kind for minutes, or takes its greeting for the size of a
message and asks for exbibytes.
"""

import socket
import time

from instances.errors import ToolkitError

_GREETING = 1 << 20  # bytes: a dask server's first message is below a thousand


def require_scheduler(address: str, patience: float) -> None:
    """Refuse an address where none listens; raises ToolkitError within some `patience` seconds.

    address: tcp://host:port.

    >>> require_scheduler("tcp://127.0.0.1:1", 0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    instances.errors.ToolkitError: no dask scheduler at tcp://127.0.0.1:1: ...
    """
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    until = time.monotonic() + patience
    while True:
        try:
            with socket.create_connection((host.strip("[]"), int(port)), max(1.0, patience)) as to:
                greeting = _first(to, 8)
            break
        except OSError as error:  # TimeoutError and a name that is not known too
            if time.monotonic() > until - 1:
                said = error.strerror or str(error) or "no answer"
                raise ToolkitError(
                    f"no dask scheduler at {address}: {said}; start one with `dask scheduler`, or "
                    "leave the address out for a cluster here"
                ) from error
            time.sleep(0.5)  # it may be starting
    if not 0 < int.from_bytes(greeting, "little") < _GREETING:
        raise ToolkitError(f"what listens at {address} is no dask scheduler: give its address")


def _first(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise OSError("it closed the connection")
        found += part
    return found
