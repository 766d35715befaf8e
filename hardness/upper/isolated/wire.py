"""Messages and arrays between the parent and a learner's process; nothing is ever unpickled.

A message is a JSON object with its length before it. Arrays lie in a window of shared memory, and a
message says where. What comes from a learner's process is copied first and checked then.
"""

import json
import math
import mmap
import os
import select
import socket
import struct
import tempfile
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 1 << 20  # bytes of a message
_HEADER = struct.Struct("<I")
_ALIGN = 64
_KINDS = "biuf"
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)


class Broken(Exception):
    """The other side is gone, or sent what is no message."""


class Late(Exception):
    """Nothing came in time."""


class Channel:
    """One end of a connection for messages."""

    def __init__(self, sock: socket.socket) -> None:
        """Take a connected stream socket."""
        self.socket = sock
        self._got = b""

    def send(self, message: dict[str, Any], until: float | None = None) -> None:
        """Send one message until a time of time.monotonic; raises Late, or Broken.

        It holds finite numbers, texts, lists and objects; raises ValueError where it is too long.
        """
        content = json.dumps(message, allow_nan=False).encode()
        if len(content) > MOST:
            raise ValueError(f"a message of {len(content)} bytes: {MOST} are allowed")
        left = memoryview(_HEADER.pack(len(content)) + content)
        while left:  # who does not read must not hold up who has a limit to keep
            try:
                self._wait(until, writing=True)
                left = left[self.socket.send(left, _AT_ONCE) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Broken(str(error)) from error

    def receive(self, until: float | None = None) -> dict[str, Any]:
        """Wait for one message until a time of time.monotonic; raises Late or Broken."""
        if until is not None and time.monotonic() >= until:
            raise Late  # whatever has come already
        length = _HEADER.unpack(self._take(_HEADER.size, until))[0]
        if length > MOST:
            raise Broken(f"a message of {length} bytes")
        try:
            message = json.loads(self._take(length, until), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise Broken("what came is no JSON") from error
        if not isinstance(message, dict):
            raise Broken("a message is no object")
        return message

    def _take(self, count: int, until: float | None) -> bytes:
        while len(self._got) < count:
            try:
                self._wait(until)
                part = self.socket.recv(1 << 16)
            except OSError as error:
                raise Broken(str(error)) from error
            if not part:
                raise Broken("the connection was closed")
            self._got += part
        taken, self._got = self._got[:count], self._got[count:]
        return taken

    def _wait(self, until: float | None, writing: bool = False) -> None:
        left = None if until is None else max(0.0, until - time.monotonic())
        ends = [self.socket]
        ready = select.select((), ends, (), left) if writing else select.select(ends, (), (), left)
        if not any(ready):
            raise Late


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


class Window:
    """Shared memory of a fixed size in which arrays are handed over."""

    def __init__(self, descriptor: int, size: int) -> None:
        """Map `size` bytes of a descriptor."""
        self.descriptor, self.size = descriptor, size
        self._map = mmap.mmap(descriptor, size)

    def put(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Copy arrays into the window, and say where each lies; raises ValueError if too small."""
        places: dict[str, Any] = {}
        start = 0
        for name, array in arrays.items():
            if start + array.nbytes > self.size:
                raise ValueError(f"arrays of over {self.size} bytes at once")
            view = np.frombuffer(self._map, array.dtype, array.size, start)
            view.reshape(array.shape)[...] = array
            places[name] = {"type": array.dtype.str, "shape": list(array.shape), "start": start}
            start += -(-array.nbytes // _ALIGN) * _ALIGN
        return places

    def take(self, places: Any) -> dict[str, NDArray[Any]]:
        """Copy arrays out of the window; raises Broken for places that are none."""
        try:
            return {str(name): self._copy(place) for name, place in places.items()}
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise Broken(f"no arrays where they should be: {error}") from error

    def _copy(self, place: dict[str, Any]) -> NDArray[Any]:
        dtype, shape, start = np.dtype(str(place["type"])), place["shape"], place["start"]
        if dtype.kind not in _KINDS or any(type(n) is not int or n < 0 for n in [*shape, start]):
            raise ValueError("a type, a shape or a start")
        count = math.prod(shape)
        return np.frombuffer(self._map, dtype, count, start).reshape(shape).copy()

    def close(self) -> None:
        """Let go of the memory."""
        self._map.close()
        os.close(self.descriptor)


def shared(size: int) -> int:
    """Make nameless shared memory of a size that nobody can change; returns its descriptor."""
    if not hasattr(os, "memfd_create"):  # not on Linux
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            return os.dup(file.fileno())
    import fcntl

    made = os.memfd_create("hardness", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.truncate(made, size)
    fixed = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, fixed)  # or a learner could cut it off under the parent
    return made
