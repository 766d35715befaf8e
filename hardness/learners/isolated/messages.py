"""Messages and arrays between the parent and a learner's process; no reply is ever unpickled.

A message is a JSON object, with the lengths of it and of the numbers that follow before it. What
comes from a learner's process must be one of the records here, its numbers and texts in their
bounds, with float64 of exactly the shape that it says; it is looked at before a byte of the numbers
is taken.
"""

import contextlib
import math
import socket
import struct
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from hardness.oracles import clock

MOST = 1 << 18  # bytes of a message
DETAILS = 1 << 16  # bytes of what a learner reports
SENT = 1 << 25  # bytes of examples or tokens that are sent at once
LOST = 77  # the exit code of a learner's process that cannot reach its parent
_LENGTHS = struct.Struct("<IQ")
_DEEP = 6

Array = NDArray[Any]
Message = dict[str, Any]
_Text = Annotated[str, Meta(max_length=2000)]
_Word = Annotated[str, Meta(max_length=200)]
_Count = Annotated[int, Meta(ge=0, le=1 << 62)]
_Told = Literal["reason", "stage", "type", "message", "file", "line", "exit_code"]
_Number = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
_Coordinates = Annotated[list[Annotated[int, Meta(ge=0, lt=1 << 40)]], Meta(max_length=1 << 15)]
_Secret = Annotated[list[Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]], Meta(max_length=1 << 15)]


class Broken(Exception):
    """The other side is gone, or sent what is no message."""


class Closed(Broken):
    """The other side is gone."""


class Late(Exception):
    """Nothing came in time."""


class Said(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op"):
    """What a learner's process says. shape: of the float64 that follow, if any do."""

    shape: Annotated[tuple[Annotated[int, Meta(ge=0, lt=1 << 40)], ...], Meta(max_length=4)] = ()


class Ready(Said, frozen=True, kw_only=True, tag="ready"):
    """The learner is loaded; what it says of itself."""

    name: _Word
    about: _Text
    access: Literal["examples", "queries", "values", "either"]
    revision: Annotated[int, Meta(ge=0, lt=1 << 31)]


class Ended(Said, frozen=True, kw_only=True, tag="ended"):
    """There is no hypothesis: why not, as its outcome, and what more is to be said."""

    why: Literal["NOT_LOADED", "UNSUPPORTED", "INVALID", "RAISED", "MEMORY_SPENT", "EXITED"]
    told: dict[_Told, _Text | _Number] = {}


class Spends(Said, frozen=True, kw_only=True, tag="spent"):
    """The learner did not catch that its budget was spent."""

    resource: Literal["examples", "queries", "values", "seconds"]


class Draw(Said, frozen=True, kw_only=True, tag="draw"):
    """The learner asks for examples."""

    count: _Count


class Ask(Said, frozen=True, kw_only=True, tag="ask"):
    """The learner asks a statistical query. sets: of characters, one or a pool of them."""

    kind: Literal["character", "pool", "correlational", "factor", "levels"]
    sets: Annotated[list[_Coordinates], Meta(max_length=1 << 12)] = []


class Choose(Said, frozen=True, kw_only=True, tag="choose"):
    """The learner asks for labels of tokens of its choice, which follow: as numbers."""


class Values(Said, frozen=True, kw_only=True, tag="values"):
    """The values of a query on the tokens that were sent, or predictions: as numbers."""


class NoValues(Said, frozen=True, kw_only=True, tag="no values"):
    """The learner's query raised."""

    reason: _Text


class Learned(Said, frozen=True, kw_only=True, tag="learned"):
    """The hypothesis, but for its predictions. details: JSON of what the learner reports."""

    secret: _Secret | None
    outcome: _Word | None
    details: Annotated[str, Meta(max_length=DETAILS)]


Reply = Ready | Ended | Spends | Draw | Ask | Choose | Values | NoValues | Learned
_REPLY = msgspec.json.Decoder(Reply)


class Channel:
    """One end of a connection. Every wait is until a time of the clock, None for ever."""

    def __init__(self, sock: socket.socket) -> None:
        """Take a connected stream socket."""
        self.socket = sock

    def hang_up(self) -> None:
        """Have who waits at this end, or the other, see that it is over."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def say(self, said: Said, values: Array | None = None) -> None:
        """Send what a learner's process says, with float64 behind it; raises Broken."""
        self._send(msgspec.json.encode(said), [] if values is None else [values], None)

    def hear(
        self, until: float | None, shape: tuple[int, ...] = (), token: tuple[int, ...] = ()
    ) -> tuple[Reply, Array | None]:
        """Wait for what a learner's process says, and for float64 of a shape if it is Values.

        token: the shape (k, d) of the tokens that it may choose, of which at most SENT bytes
        follow. Raises Late, or Broken for all that is not in its bounds.
        """
        content, size = self._header(until)
        try:
            said = _REPLY.decode(content)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise Broken(f"not a message: {str(error)[:200]}") from error
        wanted = shape if isinstance(said, Values) else ()
        if isinstance(said, Choose):
            wanted = (*said.shape[:1], *token)
            if not token or 8 * math.prod(wanted) > SENT:
                raise Broken(f"tokens of shape {said.shape} where {token} may be chosen")
        if said.shape != wanted or size != (8 * math.prod(wanted) if wanted else 0):
            raise Broken(f"numbers of shape {said.shape} where {wanted} is wanted")
        return said, self._array(np.dtype(np.float64), wanted, until) if wanted else None

    def tell(
        self, message: Message, until: float | None = None, arrays: dict[str, Array] | None = None
    ) -> None:
        """Send what the parent says, with any arrays; raises Late or Broken."""
        given = arrays or {}
        places = {n: [a.dtype.str, list(a.shape)] for n, a in given.items()}
        self._send(msgspec.json.encode(message | {"arrays": places}), list(given.values()), until)

    def told(self) -> tuple[Message, dict[str, Array]]:
        """Wait for what the parent says; raises Broken."""
        message = msgspec.json.decode(self._header(None)[0])
        places = message.pop("arrays").items()
        return message, {n: self._array(np.dtype(t), tuple(s), None) for n, (t, s) in places}

    def _send(self, content: bytes, arrays: list[Array], until: float | None) -> None:
        lengths = _LENGTHS.pack(len(content), sum(array.nbytes for array in arrays))
        for part in (memoryview(lengths + content), *map(_bytes_of, arrays)):
            while part:
                part = part[self._moved(self.socket.send, part, until) :]

    def _header(self, until: float | None) -> tuple[bytes, int]:
        length, size = _LENGTHS.unpack(self._bytes(_LENGTHS.size, until))
        if length > MOST:
            raise Broken(f"a message of {length} bytes")
        return self._bytes(length, until), size

    def _bytes(self, count: int, until: float | None) -> bytes:
        return self._array(np.dtype(np.uint8), (count,), until).tobytes()

    def _array(self, dtype: np.dtype[Any], shape: tuple[int, ...], until: float | None) -> Array:
        out = np.empty(shape, dtype)
        left = _bytes_of(out)
        while left:
            got = self._moved(self.socket.recv_into, left, until)
            if not got:
                raise Closed("the connection was closed")
            left = left[got:]
        return out

    def _moved(
        self, move: Callable[[memoryview], int], part: memoryview, until: float | None
    ) -> int:
        """Send or take what can be of some bytes, and return how many; raises Late or Broken."""
        while True:
            left = None if until is None else until - clock.now()
            if left is not None and left <= 0:
                raise Late
            try:
                self.socket.settimeout(left)
                return move(part)
            except TimeoutError:  # the clock says whether it is late
                continue
            except OSError as error:
                raise Closed(str(error)) from error


def _bytes_of(array: Array) -> memoryview:
    flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return memoryview(flat)


def encoded(details: Any) -> str:
    """Write what a learner reports as JSON: numbers that are not finite as null; what is no
    dictionary, or too long, is left out.

    >>> encoded({"steps": np.int64(3), "loss": float("nan"), "of": (1, 2)})
    '{"steps":3,"loss":null,"of":[1,2]}'
    """
    if not isinstance(details, dict):
        return "{}"
    try:
        text = msgspec.json.encode({str(k): v for k, v in details.items()}, enc_hook=_plain)
    except Exception as error:
        text = msgspec.json.encode({"dropped": f"details that are no JSON: {error}"[:200]})
    if len(text) > DETAILS:
        text = msgspec.json.encode({"dropped": f"details of over {DETAILS} characters"})
    return text.decode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist() if value.size <= DETAILS else str(value.shape)
    return str(value)[:1000]


def reported(text: str) -> Message:
    """Read what a learner reports: names, numbers and short texts, without what steers a terminal.

    Raises Broken for what is no JSON object.

    >>> reported('{"loss": 0.5, "note": "a\\\\u001b[31mb"}')
    {'loss': 0.5, 'note': 'a?[31mb'}
    """
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Broken("details that are no JSON") from error
    if not isinstance(found, dict):
        raise Broken("details that are no object")
    kept: Message = _clean(found, _DEEP)
    return kept


def printable(text: str, most: int = 1000) -> str:
    """Make a text of somebody else's one that can be printed: one line, no control characters.

    >>> printable("red:" + chr(27) + "[31m" + chr(10) + "é")
    'red:?[31m?é'
    """
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def _clean(value: Any, deep: int) -> Any:
    if isinstance(value, dict):
        return {printable(k, 100): _clean(v, deep - 1) for k, v in value.items()} if deep else None
    if isinstance(value, list):
        return [_clean(part, deep - 1) for part in value] if deep else None
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return f"an integer of {value.bit_length()} bits"
    return value
