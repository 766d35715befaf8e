"""What finds a damaged or edited row: a digest of its content, kept in the row."""

import hashlib
import json.encoder
from collections.abc import Callable, Sequence
from typing import Any

_SHORT = 64


def _encoder() -> Callable[[Any], str]:
    """Make the encoder of all rows once: that of the standard library is made at each call."""
    usual = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without it
        return usual.encode
    quote = json.encoder.encode_basestring_ascii
    encode = make(None, usual.default, quote, None, ":", ",", True, False, False)
    return lambda value: "".join(encode(value, 0))


_write = _encoder()


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
    content = [_shown(v) if isinstance(v, bytes) else v for v in values]
    return hashlib.blake2b(_write([table, content]).encode(), digest_size=8).digest()


def _shown(value: bytes) -> str:
    if len(value) <= _SHORT:
        return value.hex()
    return hashlib.blake2b(value, digest_size=32).hexdigest()
