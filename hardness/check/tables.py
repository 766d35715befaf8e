"""Gram matrices of truth tables by their Walsh-Hadamard spectra: Parseval instead of counting."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check.reading import listed, refuse
from hardness.kernels import walsh
from instances.limits import require_memory
from instances.strict import shown

_MOST_BYTES = 1 << 22
_EXACT = 2**53
_TYPES = {"int8": "<i1", "int16": "<i2", "int32": "<i4"}


def read_tables(given: dict[str, Any], members: int, n: int) -> NDArray[np.float64]:
    """Read tables of functions on {-1,+1}^n: (M, 2^n).

    Raises Refuted where the tables are not as many, not of 2^n points or not in the one encoding
    that such values have: bits for signs, else the shortest integers.

    >>> read_tables({"encoding": "bits", "rows": ["0a", "0c"]}, 2, 2).tolist()
    [[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]
    """
    if set(given) != {"encoding", "rows"} or not 0 <= n <= 25:
        refuse("the tables must have an encoding and rows, of at most 2^25 points")
    rows = listed(given["rows"])
    if len(rows) != members or any(not re.fullmatch("([0-9a-f]{2})+", r) for r in rows):
        refuse(f"the tables are not {members} rows of hexadecimal digits")
    if sum(map(len, rows)) > 2 * _MOST_BYTES:
        refuse(f"the tables are over {_MOST_BYTES} bytes")
    data = [bytes.fromhex(row) for row in rows]
    values = _values(data, given["encoding"], 1 << n)
    if given["encoding"] != _encoding(values):
        refuse("the tables are not in the encoding that such values have")
    return values


def gram_of_tables(tables: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sum the products of integer functions (M, 2^n) over all points: (M, M); raises Refuted.

    >>> gram_of_tables(np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]])).tolist()
    [[4, 0], [0, 4]]
    """
    require_memory(2 * tables.nbytes, "the spectra of the tables")
    values = tables.copy()
    walsh.transform(values)
    norms = (values**2).sum(axis=1)
    if norms.max() >= _EXACT:
        refuse("the tables have values too large to be multiplied exactly")
    found: NDArray[np.float64] = (values @ values.T) / float(values.shape[1])
    if (found != np.rint(found)).any():
        refuse("the tables have inner products that are not integers")
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
        refuse(f"the tables have the encoding {shown(encoding)}")
    kind = np.dtype(_TYPES[encoding])
    if {len(row) for row in data} != {points * kind.itemsize}:
        refuse(f"a table is not one of {points} points")
    return np.frombuffer(b"".join(data), kind).reshape(len(data), -1).astype(np.float64)


def _encoding(values: NDArray[np.float64]) -> str | None:
    sizes = np.abs(values)
    if (sizes == 1).all():
        return "bits"
    return next((name for name in _TYPES if sizes.max() <= np.iinfo(name).max), None)
