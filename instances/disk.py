"""Safe reading and writing: a file is written under a temporary name and renamed into place.

Nothing is ever unpickled. A damaged or foreign file is refused with its name and the reason.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from instances.errors import AlreadyExists, DamagedFile, ToolkitError, UsageError
from instances.text import cut

SECRET = "hardness-secret/1"  # for which `require_format` has its own message

MAKERS = {  # the command that writes each format
    "hardness-results": "`hardness compare`",
    "hardness-certificate": "`hardness certify`",
    "hardness-stress": "`hardness stress`",
}


@contextlib.contextmanager
def opened(path: Path, size: int | None = None) -> Iterator[BufferedReader]:
    """Open a regular file of at most `size` bytes, without waiting for a pipe or device.

    Raises UsageError for a missing file or a folder, and DamagedFile.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {path}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DamagedFile(f"{path} cannot be read: {reason}") from error
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder: give the name of a file")
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is no regular file")
        if size is not None and status.st_size > size:
            reason = f"what belongs here has at most {size}"
            raise DamagedFile(f"{path} has {status.st_size} bytes: {reason}")
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
    """Read the JSON object of a file; content: its bytes, if they were read before.

    Raises UsageError for a missing file, and DamagedFile.
    """
    content = read_bytes(path) if content is None else content
    try:
        data = msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} cannot be read as JSON: {one_line(error)}") from error
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is JSON, but not an object: it is not a file of this toolkit")
    return data


def quoted(value: Any, limit: int = 40) -> str:
    """Quote a value from a file in one short line, with control characters as escapes.

    >>> quoted("no" + chr(27) + "[31m"), quoted([1] * 100), quoted(10**400), quoted(True)
    ("'no\\\\x1b[31m'", 'a list', 'an integer of 1329 bits', 'true')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= limit else value[:limit] + "...")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and value.bit_length() > 3 * limit:
        return f"an integer of {value.bit_length()} bits"
    return str(value)[:limit]


_TYPES = {
    "int": "an integer", "float": "a number", "str": "a text", "bool": "true or false",
    "array": "a list", "object": "a table", "date": "a date", "null": "nothing",
}  # fmt: skip
_BOUNDS = {
    "of length >= 1": "that is not empty", "length >= ": "length at least ",
    "length <= ": "length at most ", ">= ": "of at least ", "<= ": "of at most ",
    "> ": "above ", "< ": "below ",
}  # fmt: skip


def in_words(refusal: str) -> str:
    """Write what msgspec refuses, and where, without names of types.

    >>> in_words("Expected `int | float | null`, got `str` - at `$.budget.seconds`")
    'budget.seconds: a number is needed, not a text'
    >>> in_words("Expected `int` >= 1"), in_words("Expected `array` of length >= 1")
    ('an integer of at least 1 is needed', 'a list that is not empty is needed')
    """
    given = {**_TYPES, "float": "a decimal number"}
    text, _, place = refusal.partition(" - at `$")
    where = place.strip(".`")
    if expected := re.fullmatch("Expected `([^`]*)`(.*?)(?:, got `?(.*?)`?)?", text):
        kinds, bound, got = expected[1].split(" | "), expected[2].removesuffix(".0"), expected[3]
        left_out = {"null", "int"} if "float" in kinds else {"null"}
        *first, last = (_TYPES.get(kind, kind) for kind in kinds if kind not in left_out)
        for sign, words in _BOUNDS.items():
            bound = bound.replace(sign, words)
        text = f"{', '.join(first)} or {last}" if first else last
        text += f"{bound} is needed" + (f", not {given.get(got, got)}" if got else "")
    elif missing := re.fullmatch("Object missing required field (`.*`)", text):
        text = f"{missing[1]} is missing"
    text = text.removeprefix("Object ")
    return f"{where}: {text}" if where else text


def one_line(error: BaseException, limit: int = 120) -> str:
    """Write the message of an error as one short line of printable characters.

    >>> one_line(ValueError("no\\n number: \\u202e"))
    'no number: ?'
    """
    text = str(error)[: 8 * limit]
    if isinstance(error, msgspec.ValidationError):
        text = in_words(text)
    return cut(" ".join(text.split()), limit) or type(error).__name__


def digest(data: Any) -> str:
    """Compute the SHA-256 of JSON data in a canonical form: keys sorted, no spaces.

    >>> digest({"b": 1, "a": [2]}) == digest({"a": [2], "b": 1})
    True
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def require_format(data: dict[str, Any], expected: str, path: Path) -> None:
    """Refuse a file of another format or version.

    Raises DamagedFile, and UsageError for the secret part of an instance.
    """
    name = data.get("format")
    if name == expected:
        return
    if isinstance(name, str) and name.partition("/")[0] == expected.partition("/")[0]:
        raise DamagedFile(f"{path} has format {quoted(name)}: this version reads {expected}")
    if name == SECRET:
        raise UsageError(f"{path} is the secret part of an instance: {expected} is wanted")
    refusal = f"{path} has format {quoted(name)}: {expected} is wanted"
    maker = MAKERS.get(expected.partition("/")[0])
    raise DamagedFile(f"{refusal}, which {maker} writes" if maker else refusal)


def write_json(path: Path, data: dict[str, Any], force: bool = False, mode: int = 0o666) -> None:
    """Write a JSON file with indent 1; raises AlreadyExists."""
    write_bytes(path, f"{json.dumps(data, indent=1, allow_nan=False)}\n".encode(), force, mode)


def write_text(path: Path, text: str, force: bool = False, mode: int = 0o666) -> None:
    """Write a text file under a temporary name and rename it; raises AlreadyExists."""
    write_bytes(path, text.encode("utf-8"), force, mode)


def write_bytes(path: Path, content: bytes, force: bool = False, mode: int = 0o666) -> None:
    """Write a file under a temporary name and rename it; raises AlreadyExists."""
    refuse_existing(path, force)
    with atomic_write(path, mode) as draft:
        draft.write_bytes(content)


def _exists(path: Path, subject: str) -> bool:
    """Return whether the name of an output is taken; raises AlreadyExists for a link."""
    # `lstat` raises for a name that is too long: `exists` would say that nothing is there.
    with os_errors(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISLNK(path.lstat().st_mode):
            raise AlreadyExists(f"{path} is a link and was kept: give the name of a {subject}")
        return True
    return False


def refuse_existing(path: Path, force: bool | None = False) -> None:
    """Refuse to replace an existing output unless `force` is true; raises AlreadyExists.

    force: None if there is no option --force, which the message then does not offer.
    """
    if not _exists(path, "file"):
        return
    if path.is_dir():
        raise AlreadyExists(f"{path} is a folder: give the name of a file")
    if not path.is_file():
        raise AlreadyExists(f"{path} is no regular file and was kept: give another --out")
    if not force:
        or_force = ", or --force" if force is False else ""
        raise AlreadyExists(f"{path} exists and was kept: give another name{or_force}")


def refuse_unwritable(path: Path) -> None:
    """Raise ToolkitError, before any work, if an output cannot be written."""
    folder = path.absolute().parent
    while not folder.exists():
        if folder.is_symlink():
            raise ToolkitError(f"{path} cannot be written: {folder} is a link that leads nowhere")
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        reason = f"{folder} is not a folder that may be written"
        raise ToolkitError(f"{path} cannot be written: {reason}")


@contextlib.contextmanager
def atomic_write(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Give a temporary name in the same folder, and rename it to `path` on success.

    The file gets `mode` minus the umask; secrets use 0o600.
    """
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            draft.touch(mode)  # before there is content to read
            yield draft
            mask = os.umask(0o077)
            os.umask(mask)
            draft.chmod(mode & ~mask)  # safetensors replaces the draft by a new file
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path, force: bool, ours: tuple[str, ...]) -> Iterator[Path]:
    """Give a temporary folder to fill, and rename it to `path` on success.

    An existing folder is kept. With `force` it is replaced if all its files match a pattern of
    `ours`; the first of these names a file that must exist in it.
    """
    refuse_foreign(path, force, ours)
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            (draft / "new").mkdir()
            yield draft / "new"
            if path.exists():
                refuse_foreign(path, force, ours)  # it may have appeared meanwhile
                os.replace(path, draft / "old")
            os.replace(draft / "new", path)
        finally:
            if (draft / "old").exists() and not path.exists():
                os.replace(draft / "old", path)
            shutil.rmtree(draft, ignore_errors=True)


def refuse_foreign(path: Path, force: bool, ours: tuple[str, ...]) -> None:
    """Raise AlreadyExists for an existing folder without `force`, or with foreign files."""
    if not _exists(path, "folder"):
        return
    if not force:
        raise AlreadyExists(f"{path} exists and was kept: give another --out, or --force")
    if not path.is_dir() or not (path / ours[0]).is_file():
        raise AlreadyExists(f"{path} exists and holds no {ours[0]}: it is not ours and was kept")
    for entry in sorted(path.iterdir()):
        if not entry.is_file() or not any(fnmatch(entry.name, name) for name in ours):
            raise AlreadyExists(f"{path} holds {entry.name}, which is not ours: it was kept")


@contextlib.contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Turn an OSError of writing into a ToolkitError of one line."""
    try:
        yield
    except OSError as error:
        raise ToolkitError(f"{path} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def damage(path: Path) -> Iterator[None]:
    """Turn an error in reading a file's fields into a DamagedFile with its name."""
    try:
        yield
    except DamagedFile:
        raise
    except UsageError as error:  # a name in the file is unknown or withdrawn
        raise DamagedFile(f"{path}: {one_line(error, 400)}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DamagedFile(f"{path} is damaged: {damage_words(error)}") from error


def damage_words(error: Exception) -> str:
    """Say what is wrong with a file in whose fields something raised.

    >>> damage_words(KeyError("spec")), damage_words(TypeError("'int' object is not iterable"))
    ("it lacks 'spec'", 'its parts do not fit each other')
    """
    if isinstance(error, KeyError):
        return f"it lacks {one_line(error)}"
    if isinstance(error, IndexError | TypeError | AttributeError):
        return "its parts do not fit each other"
    return one_line(error)
