"""A damaged store copied to a new one: every row that SQLite can still read and that is unchanged.

A page that cannot be read costs the rows on it. A file that SQLite does not open is beyond this:
there is `.recover` of its shell, where that was built with it.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.runs.rows import Row
from hardness.sweep.store import codec
from hardness.sweep.store.conflict import Conflict
from hardness.sweep.store.connect import connect, version_of
from hardness.sweep.store.draft import new_store
from hardness.sweep.store.merge import latest
from hardness.sweep.store.records import SELECT, sealed
from hardness.sweep.store.writer import Writer
from instances.errors import DamagedFile

_TABLES = {
    "run": "runs",
    "certificate": "certificates",
    "whole": "wholes",
    "part": "parts",
    "figure": "figures",
    "sweep": "sweeps",
}
_WAIT_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """How many rows were kept and how many left out for their digests, by kind.

    What lies on pages that cannot be read is in no count.
    """

    kept: dict[str, int]
    rejected: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Write it."""
        return {"kept": self.kept, "rejected": self.rejected}


def recover(path: Path, out: Path) -> Recovered:
    """Copy what can be read of a store to a new one; raises DamagedFile where that is nothing."""
    connection = connect(path, "ro", _WAIT_SECONDS)
    kept, rejected = Counter(dict.fromkeys(_TABLES.values(), 0)), Counter[str]()
    try:
        version_of(connection, path)
        with new_store(out) as writer:
            for table, name in _TABLES.items():
                for record in _records(connection, table):
                    good = record is not None and _copy(connection, writer, table, record)
                    (kept if good else rejected)[name] += 1
            if not kept.total():
                raise DamagedFile(f"{path} holds no row that can be read")
    finally:
        connection.close()
    return Recovered(kept=dict(kept), rejected=dict(rejected))


def _copy(connection: sqlite3.Connection, writer: Writer, table: str, record: codec.Record) -> bool:
    """Write a record; return whether it was whole, and not an older one of its key."""
    try:
        if table == "figure":
            latest(writer, [(codec.to_figure(record), record["written"])], ())
        elif table == "sweep":
            writer.write([], codec.to_sweep(record))
        else:
            row: Row
            if table == "whole":
                mine = {
                    a["name"]: a["content"]
                    for a in _records(connection, "array")
                    if a and a["whole"] == record["key"]
                }
                row = codec.to_whole(record, mine)
            else:
                row = codec.READERS[table](record)
            writer.write([row])
    except (ValueError, Conflict):
        return False
    return True


def _records(connection: sqlite3.Connection, table: str) -> Iterator[codec.Record | None]:
    """Yield the records of a table that can be read, None for one that is not what was written."""
    for row in _readable(connection, table):
        values = (row[1], *row[3:])
        if sealed(table, row[2], values):
            yield dict(zip(codec.columns(table), values, strict=True))
        else:
            yield None


def _readable(connection: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table by their numbers, around those that cannot be read."""
    last = _last(connection, table)
    ranges = [(1, last if last is not None else 2**62)]
    while ranges:
        low, high = ranges.pop()
        for order in ("ASC", "DESC"):  # up to what cannot be read, from both sides
            sql = f"{SELECT[table]} WHERE {table}.id BETWEEN ? AND ? ORDER BY {table}.id {order}"
            try:
                for row in connection.execute(sql, (low, high)):
                    yield row
                    low, high = (row[0] + 1, high) if order == "ASC" else (low, row[0] - 1)
            except (sqlite3.Error, UnicodeDecodeError):
                continue
            break
        else:
            if low < high and last is not None:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _last(connection: sqlite3.Connection, table: str) -> int | None:
    """Return the number of the last row, by the table or by its index; None where both are lost."""
    for source in (table, f"{table} INDEXED BY {table}_unique"):
        try:
            (found,) = connection.execute(
                f"SELECT max(id) FROM (SELECT id FROM {source})"
            ).fetchone()
        except sqlite3.Error:
            continue
        return int(found or 0)
    return None
