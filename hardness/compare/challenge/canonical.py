"""One text for one value: JSON in a canonical form, its digest, and a reader as strict."""

import hashlib
import json
from pathlib import Path
from typing import Any

from instances.errors import DamagedFile

LONGEST_SECRET = 1 << 16
_LARGEST = 1 << 256


def canonical(value: Any) -> bytes:
    """Write JSON with sorted keys, no spaces, ASCII alone; raises ValueError for NaN.

    >>> canonical({"b": 1, "a": [2]})
    b'{"a":[2],"b":1}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def digest(value: Any) -> str:
    """Hash a value: SHA-256 of its canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def strict(text: str) -> Any:
    """Read JSON that names no key twice and has no NaN; raises ValueError.

    >>> strict('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' stands twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_strict(path: Path, limit: int) -> dict[str, Any]:
    """Read a JSON object of at most `limit` bytes; raises DamagedFile."""
    require_size(path, limit)
    try:
        data = strict(path.read_text(encoding="utf-8"))
    except ValueError as error:
        reason = " ".join(str(error).split())[:120]
        raise DamagedFile(f"{path} cannot be read as JSON: {reason}") from error
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is JSON, but not an object: it is none of our files")
    return data


def require_size(path: Path, limit: int) -> None:
    """Refuse a file before it is read: none, no regular one, or too long; raises DamagedFile."""
    if not path.exists():
        raise DamagedFile(f"{path} does not exist")
    if not path.is_file():
        raise DamagedFile(f"{path} is no regular file")
    size = path.stat().st_size
    if size > limit:
        raise DamagedFile(f"{path} has {size} bytes: what belongs here has at most {limit}")


def require_keys(data: dict[str, Any], wanted: set[str]) -> None:
    """Refuse an object with a field too few or too many; raises ValueError."""
    if set(data) != wanted:
        odd = sorted(set(data) ^ wanted)[0]
        raise ValueError(f"its field {odd[:40]!r} is {'missing' if odd in wanted else 'unknown'}")


def integers(value: Any) -> tuple[int, ...]:
    """Read a list of integers of at most 256 bits, as a secret is; raises ValueError.

    >>> integers([2, 5, 7])
    (2, 5, 7)
    """
    if type(value) is not list or not 0 < len(value) <= LONGEST_SECRET:
        raise ValueError("a secret is a list of integers")
    if any(type(v) is not int or not -_LARGEST < v < _LARGEST for v in value):
        raise ValueError("a secret is a list of integers of at most 256 bits")
    return tuple(value)


def hexadecimal(value: Any, size: int = 32) -> bytes:
    """Read `size` bytes in lower-case hexadecimal; raises ValueError.

    >>> hexadecimal("00ff", 2)
    b'\\x00\\xff'
    """
    if type(value) is not str or len(value) != 2 * size or not set(value) <= _DIGITS:
        raise ValueError(f"{str(value)[:40]!r} is not {size} bytes in hexadecimal")
    return bytes.fromhex(value)


_DIGITS = set("0123456789abcdef")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:40]!r} stands twice")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
