"""Reading regular files, JSON by msgspec; quoting what stands in them on one short line."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from instances.errors import DamagedFile
from instances.text import cut


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


def read_bytes(path: Path, size: int | None = None) -> bytes:
    """Read a regular file, of at most `size` bytes; raises DamagedFile."""
    with opened(path, size) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def read_text(path: Path, size: int) -> str:
    """Read a regular file of UTF-8 text; raises DamagedFile."""
    try:
        return read_bytes(path, size).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is no text in UTF-8: {one_line(error)}") from error


def read_json(path: Path, content: bytes | None = None) -> dict[str, Any]:
    """Read the JSON object of a file, or of its content if that was read; raises DamagedFile."""
    try:
        data = msgspec.json.decode(read_bytes(path) if content is None else content)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} cannot be read as JSON: {one_line(error)}") from error
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is JSON, but not an object: it is not a file of this toolkit")
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
