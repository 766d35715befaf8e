"""The one reader of what strangers hand over: regular files of a size, and JSON read strictly.

Bytes are scanned before anything is decoded: how deep, how long and how many. What is left to
decode then takes a bounded time, and memory in proportion to the file.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from instances.errors import DamagedFile

_CHUNK, _BLOCK = 1 << 18, 128
_LARGE, _FORMAT = 1 << 24, b'"hardness-'  # every large file of ours states its format
# What decoded values take in bytes, in CPython: a number and its place in a list, a list, an object
# of a few keys, half a string.
_COST = {",": 40, "[": 104, "{": 232, '"': 25}
_MARKS = b',:"[]{}'
_UNMARKED = bytes(set(range(256)) - set(_MARKS))
_MARKED = bytes(int(c in _MARKS) for c in range(256))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a kind of file may have; everything in bytes but depth.

    decoded: of the values in memory, estimated. string: of one, as it is written. token: of a
    number or word with the spaces around it. key: of a key, in characters. printable: whether every
    string is one line without control, direction and zero-width characters.
    """

    size: int
    decoded: int = 1 << 29
    string: int = 1 << 23
    token: int = 1000
    key: int = 1000
    depth: int = 64
    printable: bool = False


# The largest: the Gram matrix of 4096 members in 226 MB, or 400 000 queries of a transcript.
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
        _require_regular(path, os.fstat(handle), size)
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def _require_regular(path: Path, found: os.stat_result, size: int | None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise DamagedFile(f"{path} is a folder: give the name of a file")
    if not stat.S_ISREG(found.st_mode):
        raise DamagedFile(f"{path} is no regular file")
    if size is not None and found.st_size > size:
        raise DamagedFile(f"{path} has {found.st_size} bytes: what belongs here has at most {size}")


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
    with opened(path, limits.size) as file:
        content, scan = bytearray(), _Scan(limits)
        try:
            while chunk := file.read(_CHUNK):
                content += chunk
                scan.feed(chunk)
            if len(content) > _LARGE and _FORMAT not in content:
                raise ValueError("it states no format of ours")
            data = _decoded(content, scan)
        except ValueError as error:
            raise DamagedFile(f"{path} cannot be read as JSON: {one_line(error)}") from error
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is JSON, but not an object: it is not a file of this toolkit")
    return data


def loads(text: str | bytes, limits: Limits = SMALL) -> Any:
    """Read JSON that stands in a file of another kind; raises ValueError.

    >>> loads('{"a": 1, "\\\\u0061": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' stands twice
    """
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(content) <= limits.token and content.count(b"[") + content.count(b"{") <= limits.depth:
        return _decoded(bytearray(content), _Scan(limits, short=True))  # nothing can be too long
    if len(content) > limits.size:
        raise ValueError(f"it has {len(content)} bytes: at most {limits.size} belong here")
    scan = _Scan(limits)
    for start in range(0, len(content), _CHUNK):
        scan.feed(content[start : start + _CHUNK])
    return _decoded(bytearray(content), scan)


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
    words = str(error)[: 8 * most].split()
    line = "".join(c if c.isprintable() else "?" for c in " ".join(words))
    return (line if len(line) <= most else line[:most] + "...") or type(error).__name__


class _Scan:
    """Counts brackets, strings and keys of JSON in chunks; raises ValueError beyond the limits.

    plain: whether all strings are printable ASCII so far. small: whether no number can overflow.
    """

    def __init__(self, limits: Limits, short: bool = False) -> None:
        self.limits = limits
        self.plain = self.small = not short
        self._escaped = self._inside = False  # behind a backslash, in a string
        self._string = self._token = self._depth = 0  # of what a chunk ended in
        self._decoded = self._objects = self._keys = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next part of the text."""
        chunk = b"_" + chunk[1:] if self._escaped else chunk
        self.plain &= chunk.isascii() and b"\\" not in chunk and b"\x7f" not in chunk
        chunk = chunk.replace(b"\\\\", b"__")
        self._escaped = chunk.endswith(b"\\")
        parts = chunk.replace(b'\\"', b"__").split(b'"')
        first = self._string + len(parts[0]) if self._inside else 0
        if first > self.limits.string:
            raise ValueError(f"it has a string of over {self.limits.string} bytes")
        # One that begins and ends in a chunk is short enough.
        self._string = len(parts[-1]) if len(parts) > 1 else first
        self._decoded += _COST['"'] * (len(parts) - 1)
        outside = b'"'.join(parts[self._inside :: 2])
        self._inside ^= len(parts) % 2 == 0
        if not outside.isascii():
            raise ValueError("it holds characters outside of strings that no JSON has there")
        self._tokens(outside)
        self._count(outside.translate(None, _UNMARKED))
        if b"e" in outside or b"E" in outside:
            words = outside.replace(b"e-", b"").replace(b"true", b"").replace(b"false", b"")
            self.small &= b"e" not in words and b"E" not in words

    def _tokens(self, outside: bytes) -> None:
        """Look for numbers, words and spaces that are too long."""
        marked = outside.translate(_MARKED)
        longest = self._token + (len(marked) if (first := marked.find(1)) < 0 else first)
        self._token = longest if first < 0 else len(marked) - 1 - marked.rfind(1)
        blocks = np.frombuffer(marked, np.uint8)[: len(marked) // _BLOCK * _BLOCK]
        if not blocks.reshape(-1, _BLOCK).any(axis=1).all() or longest >= _BLOCK:
            self.small = False  # a number of so many digits may be beyond float64
            gaps = np.diff(np.flatnonzero(np.frombuffer(marked, np.uint8))) - 1
            longest = max(longest, self._token, int(gaps.max(initial=0)))
        if longest > self.limits.token:
            raise ValueError(f"a number has over {self.limits.token} bytes, or as many spaces")

    def _count(self, marks: bytes) -> None:
        """Follow the depth, and add up what the values will take."""
        brackets = marks.translate(_STEPS, b',:"')
        opens = brackets.count(1)
        if self._depth + opens > self.limits.depth:
            depths = np.cumsum(np.frombuffer(brackets, np.int8), dtype=np.int64)
            if self._depth + int(depths.max()) > self.limits.depth:
                raise ValueError(f"it is nested over {self.limits.depth} deep")
        self._depth += 2 * opens - len(brackets)
        if self._depth < 0:
            raise ValueError("a bracket is closed that was not opened")
        self._decoded += sum(_COST[m] * marks.count(m.encode()) for m in ",[{")
        if self._decoded > self.limits.decoded:
            raise ValueError(
                f"its values would take over {self.limits.decoded} bytes of memory: it holds more "
                "of them than any file of ours"
            )
        self._objects += marks.count(b"{")
        self._keys += marks.count(b":")
        if self._keys > (1 << 16) + 32 * self._objects:
            raise ValueError("an object has more keys than any of ours")


def _decoded(content: bytearray, scan: _Scan) -> Any:
    """Decode what was scanned, and look at what only values show."""
    text = content.decode("utf-8")
    content.clear()

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = sorted(name for name, _ in pairs)
            twice = next(a for a, b in pairwise(names) if a == b)
            raise ValueError(f"the key {shown(twice)} stands twice")
        if any(len(name) > scan.limits.key for name in found):
            raise ValueError(f"a key has over {scan.limits.key} characters")
        return found

    hooks: dict[str, Any] = {} if scan.small else {"parse_float": _finite}
    data = json.loads(text, object_pairs_hook=once, parse_constant=_no_number, **hooks)
    if not scan.plain:
        _require_texts(data, scan.limits.printable)
    return data


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{shown(text)} is beyond float64")
    return value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


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
