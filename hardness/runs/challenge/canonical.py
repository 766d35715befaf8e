"""One text for one value: JSON in a canonical form, its digest, and the fields in it."""

import hashlib
import json
from typing import Any

from instances.strict import shown

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


def require_keys(data: dict[str, Any], wanted: set[str]) -> None:
    """Refuse an object with a field too few or too many; raises ValueError."""
    if set(data) != wanted:
        odd = sorted(set(data) ^ wanted)[0]
        raise ValueError(f"its field {shown(odd)} is {'missing' if odd in wanted else 'unknown'}")


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
        raise ValueError(f"{shown(value)} is not {size} bytes in hexadecimal")
    return bytes.fromhex(value)


_DIGITS = set("0123456789abcdef")
