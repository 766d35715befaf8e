"""What finds a damaged or edited row: a digest of its content, kept in the row."""

import hashlib
import json.encoder
from collections.abc import Callable, Sequence
from typing import Any

_SHORT = 64


def _encoder(other: Callable[[Any], Any] | None = None) -> Callable[[Any], str]:
    """Make the encoder of all rows once: that of the standard library is made at each call.

    other: writes what JSON does not hold.
    """
    usual = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True, default=other)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without it
        return usual.encode
    quote = json.encoder.encode_basestring_ascii
    encode = make(None, usual.default, quote, None, ":", ",", True, False, False)
    return lambda value: "".join(encode(value, 0))


def _shown(value: Any) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"a record holds {type(value).__name__}")
    return (
        value.hex() if len(value) <= _SHORT else hashlib.blake2b(value, digest_size=32).hexdigest()
    )


_write, _content = _encoder(), _encoder(_shown)


def compact(value: Any) -> str:
    """Write JSON in one form: sorted, in ASCII, without spaces.

    >>> compact({"b": 1, "a": [1.5, None]})
    '{"a":[1.5,null],"b":1}'
    """
    return _write(value)


def seal(table: str, values: Sequence[Any]) -> bytes:
    """Hash a record to 8 bytes: its columns in order, without id and digest, names as texts.

    >>> seal("figure", ["a", "{}", 0.0]) != seal("figure", ["a", "{}", 1.0])
    True
    """
    return hashlib.blake2b(_content([table, values]).encode(), digest_size=8).digest()
