"""Gram matrices of truth tables by their Walsh-Hadamard spectra: Parseval instead of counting."""

import hashlib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check.reading import refuse
from hardness.kernels import walsh
from instances.limits import require_memory

_MOST_BYTES = 1 << 22
_EXACT = 2**53
_TYPES = {"int8": "<i1", "int16": "<i2", "int32": "<i4"}


def gram_of_tables(given: dict[str, Any], members: int, n: int) -> NDArray[np.int64]:
    """Read tables of functions on {-1,+1}^n and sum their products over all points: (M, M).

    Raises Refuted where the tables are not as many, not of 2^n points or not those of their hash.

    >>> rows = ["0a", "0c"]
    >>> digest = hashlib.sha256(bytes.fromhex("".join(rows))).hexdigest()
    >>> tables = {"encoding": "bits", "sha256": digest, "rows": rows}
    >>> gram_of_tables(tables, 2, 2).tolist()
    [[4, 0], [0, 4]]
    """
    if set(given) != {"encoding", "sha256", "rows"} or not 0 <= n <= 25:
        refuse("the tables must have an encoding, a sha256 and rows, of at most 2^25 points")
    rows = given["rows"]
    if len(rows) != members or any(not re.fullmatch("([0-9a-f]{2})+", r) for r in rows):
        refuse(f"the tables are not {members} rows of hexadecimal digits")
    if sum(map(len, rows)) > 2 * _MOST_BYTES:
        refuse(f"the tables are over {_MOST_BYTES} bytes")
    data = [bytes.fromhex(row) for row in rows]
    if hashlib.sha256(b"".join(data)).hexdigest() != given["sha256"]:
        refuse("the tables do not match their hash")
    values = _values(data, given["encoding"], 1 << n)
    require_memory(2 * values.nbytes, "the spectra of the tables")
    walsh.transform(values)
    norms = (values**2).sum(axis=1)
    if norms.max() >= _EXACT:
        refuse("the tables have values too large to be multiplied exactly")
    found: NDArray[np.float64] = (values @ values.T) / float(1 << n)
    if (found != np.rint(found)).any():
        refuse("the tables have inner products that are no integers")
    return found.astype(np.int64)


def _values(data: list[bytes], encoding: str, points: int) -> NDArray[np.float64]:
    if encoding == "bits":
        if {len(row) for row in data} != {-(-points // 8)}:
            refuse(f"a table is not one of {points} points")
        octets = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)
        bits = np.unpackbits(octets, axis=1, bitorder="little")
        if bits[:, points:].any():
            refuse("a table has bits beyond its last point")
        return 1 - 2 * bits[:, :points].astype(np.float64)
    if encoding not in _TYPES:
        refuse(f"the tables have the encoding {str(encoding)[:40]!r}")
    kind = np.dtype(_TYPES[encoding])
    if {len(row) for row in data} != {points * kind.itemsize}:
        refuse(f"a table is not one of {points} points")
    return np.frombuffer(b"".join(data), kind).reshape(len(data), -1).astype(np.float64)
