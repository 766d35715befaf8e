"""Damaged stores: the check that finds what is wrong, and the copy of all that can be read.

A page that cannot be read costs the rows on it. A file that SQLite does not open is beyond this:
there is `.recover` of its shell, where that was built with it.
"""

import contextlib
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hardness.runs.columns import Record, exact, record_of
from hardness.runs.rows import SweepRow
from hardness.sweep.store import (
    TABLES,
    Conflict,
    Reader,
    new_store,
    read,
)
from instances.errors import DamagedFile, ToolkitError


@dataclass(frozen=True, kw_only=True)
class Damage:
    """What is wrong with a store: what SQLite says, and by table the rows that cannot be read."""

    pages: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]

    def __str__(self) -> str:
        """Say it in one line.

        >>> print(Damage(pages=(), rows={"runs": ("0a", "1b"), "figures": ("phase",)}))
        2 rows of runs (0a, 1b) and 1 row of figures (phase) are not as they were written
        """
        bad = [
            f"{len(names)} row{'s' * (len(names) > 1)} of {table} "
            f"({', '.join(names[:3])}{', ...' * (len(names) > 3)})"
            for table, names in self.rows.items()
        ]
        said = [f"{' and '.join(bad)} are not as they were written"] if bad else []
        return "; ".join([*said, *self.pages[:1]])


def check(path: Path) -> Damage | None:
    """Check the pages of a store, its tables, and that every row reads as what it should be.

    Raises DamagedFile for what cannot be opened as a store. A number that was changed for another
    is not seen, unless another column of the row follows from it.
    """
    rows: dict[str, list[str]] = {}
    with read(path) as store:
        complaints = store.complaints()
        for table in TABLES:
            try:
                for record in store.select(table):
                    if _row(store, table, record) is None:
                        name = " ".join(str(record[part])[:40] for part in TABLES[table].unique)
                        rows.setdefault(table, []).append(name)
            except DamagedFile:  # SQLite says so of its pages too
                complaints = complaints or [f"{table} cannot be read to its end"]
    if not complaints and not rows:
        return None
    return Damage(pages=tuple(complaints), rows={name: tuple(bad) for name, bad in rows.items()})


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """How many rows were kept, and how many left out because they do not read as rows, by kind.

    What lies on pages that cannot be read is in no count.
    """

    kept: dict[str, int]
    rejected: dict[str, int]


def recover(path: Path, out: Path) -> Recovered:
    """Copy what can be read of a store to a new one; raises DamagedFile where that is nothing.

    Where anything was damaged its sweeps are marked as recovered, for runs may be missing. Raises
    ToolkitError for a store of version 1 or 2.
    """
    kept, rejected = Counter(dict.fromkeys(TABLES, 0)), Counter[str]()
    with read(path) as store:
        if store.version < _RECOVERED:
            raise ToolkitError(
                f"{path} is a store of version {store.version}, of which nothing is recovered: "
                f"`hardness store merge {path} --out NEW.db` copies all of it where it is sound"
            )
        damaged, sweeps = bool(store.complaints()), list[SweepRow]()
        with new_store(out) as writer:
            for table in TABLES:
                for record in _readable(store, table):
                    row = _row(store, table, record)
                    try:
                        writer.write([] if row is None else [row])
                        sweeps += [row] if isinstance(row, SweepRow) else []
                    except Conflict:  # two rows of one key, where the index is lost
                        row = None
                    (rejected if row is None else kept)[table] += 1
            if not kept.total():
                raise DamagedFile(f"{path} holds no row that can be read")
            if damaged or rejected:
                for sweep in sweeps:
                    writer.write([], replace(sweep, state="recovered"))
    return Recovered(kept=dict(kept), rejected=dict(rejected))


_RECOVERED = 3  # the first version whose tables have numbers of rows


def _row(store: Reader, table: str, record: Record) -> Any:
    """Make a row of a record; None for what is not one, or is a run whose columns do not agree."""
    try:
        row = store.typed(table, record)
        if (
            isinstance(row, SweepRow)
            and row.sha256 != hashlib.sha256(row.text.encode()).hexdigest()
        ):
            return None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, DamagedFile):
        return None
    follows = table == "runs" and store.version >= _RECOVERED  # earlier ones had other rules
    return None if follows and record_of(row) != exact(record) else row


def _readable(store: Reader, table: str) -> Iterator[Record]:
    """Yield the rows of a table by their numbers, around those that cannot be read."""
    last = _last(store, table)
    ranges = [(1, last if last is not None else 2**62)]
    while ranges:
        low, high = ranges.pop()
        for order in ("ASC", "DESC"):  # up to what cannot be read, from both sides
            names = TABLES[table].columns
            sql = f"SELECT rowid, {', '.join(names)} FROM {table} WHERE rowid BETWEEN ? AND ? "
            sql += f"ORDER BY rowid {order}"
            try:
                for number, *values in store.connection.execute(sql, (low, high)):
                    yield dict(zip(names, values, strict=True))
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
    for source in (f"main.{table}", f"main.{table} INDEXED BY sqlite_autoindex_{table}_1"):
        with contextlib.suppress(sqlite3.Error):
            sql = f"SELECT max(number) FROM (SELECT rowid AS number FROM {source})"
            return int(store.connection.execute(sql).fetchone()[0] or 0)
    return None
