"""A damaged store copied to a new one: every row that SQLite can still read and that is a row.

A page that cannot be read costs the rows on it. A file that SQLite does not open is beyond this:
there is `.recover` of its shell, where that was built with it.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hardness.sweep.store import TABLES, Conflict, Reader, Record, new_store, read, sound
from instances.errors import DamagedFile


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """How many rows were kept and how many left out because they are not rows of ours, by kind.

    What lies on pages that cannot be read is in no count.
    """

    kept: dict[str, int]
    rejected: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Write it."""
        return asdict(self)


def recover(path: Path, out: Path) -> Recovered:
    """Copy what can be read of a store to a new one; raises DamagedFile where that is nothing."""
    tables = [table for table in TABLES if table != "arrays"]  # read with their artifacts
    kept, rejected = Counter(dict.fromkeys(tables, 0)), Counter[str]()
    with read(path) as store, new_store(out) as writer:
        for table in tables:
            for record in _readable(store, table):
                try:
                    good = sound(store, table, record)
                    if good:
                        writer.write([store.typed(table, record)])
                except (sqlite3.Error, DamagedFile, Conflict):
                    good = False
                (kept if good else rejected)[table] += 1
        if not kept.total():
            raise DamagedFile(f"{path} holds no row that can be read")
    return Recovered(kept=dict(kept), rejected=dict(rejected))


def _readable(store: Reader, table: str) -> Iterator[Record]:
    """Yield the rows of a table by their numbers, around those that cannot be read."""
    last = _last(store, table)
    ranges = [(1, last if last is not None else 2**62)]
    while ranges:
        low, high = ranges.pop()
        for order in ("ASC", "DESC"):  # up to what cannot be read, from both sides
            sql = f"SELECT rowid, * FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid {order}"
            try:
                for number, *values in store.connection.execute(sql, (low, high)):
                    yield dict(zip(TABLES[table], values, strict=True))
                    low, high = (number + 1, high) if order == "ASC" else (low, number - 1)
            except (sqlite3.Error, UnicodeDecodeError):
                continue
            break
        else:
            if low < high and last is not None:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _last(store: Reader, table: str) -> int | None:
    """Return the number of the last row, by the table or by its index; None where both are lost."""
    for source in (table, f"{table} INDEXED BY sqlite_autoindex_{table}_1"):
        try:
            sql = f"SELECT max(number) FROM (SELECT rowid AS number FROM {source})"
            (found,) = store.connection.execute(sql).fetchone()
        except sqlite3.Error:
            continue
        return int(found or 0)
    return None
