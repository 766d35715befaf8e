"""The one reader of what strangers hand over: regular files of a size, and JSON read strictly.

Bytes are looked at before anything is decoded: how deep, how long and how many. What is left to
decode then takes a bounded time, and memory in proportion to the file.
"""

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from instances.errors import DamagedFile
from instances.text import cut

_DEEP, _LONG = 64, 1000  # brackets in brackets; bytes of a number
_DECODED = 1 << 29  # bytes that all values may take, estimated
# What decoded values take in bytes, in CPython: a number and its place in a list, one in an object,
# a list, an object of a few keys, half a string.
_COST = {b",": 40, b":": 25, b"[": 104, b"{": 232, b'"': 25}
_QUOTED = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_TOO_LONG = re.compile(rb'[^\s,:"\[\]{}]{%d}' % (_LONG + 1))
_UNNESTED = bytes(set(range(256)) - set(b"[]{}"))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a kind of file may have: bytes, and whether every string is one printable line.

    Such a line has no control, direction and zero-width characters.
    """

    size: int
    printable: bool = False


CERTIFICATE = Limits(size=1 << 28, printable=True)
RESULTS = Limits(size=1 << 28)  # 100 000 runs with their details
SMALL = Limits(size=1 << 26, printable=True)


@contextmanager
def opened(path: Path, size: int | None = None) -> Iterator[BufferedReader]:
    """Open a regular file, of at most `size` bytes; raises DamagedFile, and never waits for one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError as error:
        raise DamagedFile(f"{path} does not exist") from error
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise DamagedFile(f"{path} cannot be read: {said}") from error
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise DamagedFile(f"{path} is a folder: give the name of a file")
        if not stat.S_ISREG(found.st_mode):
            raise DamagedFile(f"{path} is no regular file")
        if size is not None and found.st_size > size:
            said = f"what belongs here has at most {size}"
            raise DamagedFile(f"{path} has {found.st_size} bytes: {said}")
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def read_bytes(path: Path, size: int) -> bytes:
    """Read a regular file of at most `size` bytes; raises DamagedFile."""
    with opened(path, size) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def read_text(path: Path, size: int) -> str:
    """Read a regular file of UTF-8 text; raises DamagedFile."""
    try:
        return read_bytes(path, size).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is no text in UTF-8: {one_line(error)}") from error


def read_json(path: Path, limits: Limits = RESULTS) -> dict[str, Any]:
    """Read a JSON object; raises DamagedFile for what is damaged, ambiguous or beyond the limits.

    Files are refused where they name a key twice in an object, hold NaN, infinities or lone
    surrogates, or go beyond what their kind may have. All else is what json.loads gives.
    """
    try:
        data = loads(read_bytes(path, limits.size), limits)
    except ValueError as error:
        raise DamagedFile(f"{path} cannot be read as JSON: {one_line(error)}") from error
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is JSON, but not an object: it is not a file of this toolkit")
    return data


def loads(text: str | bytes, limits: Limits = SMALL) -> Any:
    """Read JSON that stands in a file of another kind; raises ValueError.

    >>> loads('{"a": 1, "\\u0061": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' stands twice
    """
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(content) > limits.size:
        raise ValueError(f"it has {len(content)} bytes: at most {limits.size} belong here")
    if len(content) > _DEEP:  # nothing shorter can be too deep, too long or too many
        _require_bounded(content)
    data = json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_once,
        parse_float=_finite,
        parse_constant=_finite,
    )
    if not content.isascii() or b"\\" in content or b"\x7f" in content:
        _require_texts(data, limits.printable)
    return data


def shown(value: Any, most: int = 40) -> str:
    """Quote what stands in a file: one line, its control and direction characters as escapes, cut.

    >>> shown("no" + chr(27) + "[31m"), shown([1] * 100), shown(10**400)
    ("'no\\\\x1b[31m'", 'a list', 'an integer of 1329 bits')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= most else value[:most] + "...")
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and value.bit_length() > 3 * most:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)[:most]


def one_line(error: BaseException, most: int = 120) -> str:
    """Write what went wrong in one short line of printable characters.

    >>> one_line(ValueError("no\\n number: \\u202e"))
    'no number: ?'
    """
    return cut(" ".join(str(error)[: 8 * most].split()), most) or type(error).__name__


def _require_bounded(content: bytes) -> None:
    """Refuse what would take too much time or memory to decode; raises ValueError."""
    if sum(cost * content.count(mark) for mark, cost in _COST.items()) > _DECODED:
        raise ValueError("it holds more values than any file of ours")
    outside = _QUOTED.sub(b"", content)
    if _TOO_LONG.search(outside):
        raise ValueError(f"a number has over {_LONG} bytes")
    steps = (1 if mark in b"[{" else -1 for mark in outside.translate(None, _UNNESTED))
    if max(accumulate(steps), default=0) > _DEEP:
        raise ValueError(f"it is nested over {_DEEP} deep")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = sorted(name for name, _ in pairs)
        twice = next(a for a, b in pairwise(names) if a == b)
        raise ValueError(f"the key {shown(twice)} stands twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is no number, or beyond float64")
    return value


def _require_texts(data: Any, printable: bool) -> None:
    """Refuse strings and keys with lone surrogates, and where asked with what is not printable."""
    left = [data]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.keys()
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif isinstance(one, str):
            if printable and not one.isprintable():
                raise ValueError(f"{shown(one)} holds characters that are not printable")
            one.encode()
