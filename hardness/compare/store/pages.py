"""The file format of SQLite, read page by page: for files that SQLite itself gives up on.

A leaf page holds cells, each a record; a record that does not fit goes on in a chain of overflow
pages. Nothing else is needed to read what a table holds, so no damage to other pages matters. All
that is read here may be damaged: what makes no sense is left out, and digests judge the rest.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any

Page = Callable[[int], bytes | None]  # by number, from 1
_TABLE_LEAF, _INDEX_LEAF = 0x0D, 0x0A
_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer by its serial type
_MOST_COLUMNS = 64


def records(page: bytes, start: int, fetch: Page) -> Iterator[tuple[int | None, list[Any]]]:
    """Yield the records of a leaf page: row numbers, None in an index, and columns.

    start: of the page's header, 100 in page 1 of a file and 0 elsewhere.
    """
    kind = page[start]
    if kind not in (_TABLE_LEAF, _INDEX_LEAF):
        return
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    first = start + 8
    for i in range(min(cells, (len(page) - first) // 2)):
        at = int.from_bytes(page[first + 2 * i : first + 2 * i + 2], "big")
        if not first <= at < len(page):
            continue
        found = _cell(page, at, kind == _TABLE_LEAF, fetch)
        if found is not None:
            yield found


def _cell(page: bytes, at: int, table: bool, fetch: Page) -> tuple[int | None, list[Any]] | None:
    try:
        size, at = varint(page, at)
        number = None
        if table:
            number, at = varint(page, at)
        local = _local(size, len(page), table)
        if at + local + (4 if local < size else 0) > len(page):
            return None
        payload = page[at : at + local]
        if local < size:
            (chain,) = struct.unpack_from(">I", page, at + local)
            rest = _overflow(chain, size - local, len(page), fetch)
            if rest is None:
                return None
            payload += rest
        return number, _columns(payload)
    except (IndexError, struct.error, UnicodeDecodeError, ValueError):
        return None


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 1 to 9 bytes: it and where it ends; raises IndexError.

    >>> varint(bytes([0x81, 0x00]), 0)
    (128, 2)
    """
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64 if value >> 63 else 0), at + 9


def _local(size: int, page: int, table: bool) -> int:
    """Return how much of a record stands in its cell, by the rule of the format."""
    most = page - 35 if table else (page - 12) * 64 // 255 - 23
    if size < 0:
        raise ValueError(size)
    if size <= most:
        return size
    least = (page - 12) * 32 // 255 - 23
    kept = least + (size - least) % (page - 4)
    return kept if kept <= most else least


def _overflow(number: int, size: int, page: int, fetch: Page) -> bytes | None:
    parts, seen = [], set()
    while size > 0:
        content = None if number in seen else fetch(number)
        if content is None:
            return None
        seen.add(number)
        (next_number,) = struct.unpack_from(">I", content)
        take = min(size, page - 4)
        parts.append(content[4 : 4 + take])
        size -= take
        number = next_number
    return b"".join(parts)


def _columns(payload: bytes) -> list[Any]:
    end, at = varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = varint(payload, at)
        kinds.append(kind)
        if len(kinds) > _MOST_COLUMNS:
            raise ValueError("no record of ours")
    values = []
    at = end
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("a record of another length")
    return values


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if kind in _SIZES:
        end = at + _SIZES[kind]
        return int.from_bytes(data[at:end], "big", signed=True), end
    if kind < 12:
        raise ValueError(f"serial type {kind}")
    end = at + (kind - 12) // 2
    if end > len(data):
        raise ValueError("beyond the end")
    return (data[at:end].decode() if kind % 2 else data[at:end]), end
