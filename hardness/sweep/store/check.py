"""The full check of a store: its pages, and every record by its digest."""

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from hardness.sweep.store.connect import connect, reading, version_of
from hardness.sweep.store.records import SELECT, sealed
from hardness.sweep.store.schema import COLUMNS, VERSION, make

_MOST = 5  # complaints of SQLite that are kept


@dataclass(frozen=True, kw_only=True)
class Damage:
    """What is wrong with a store: what SQLite says, and records of each table that were changed."""

    pages: tuple[str, ...]
    records: dict[str, int]

    def __str__(self) -> str:
        """Say it in one line.

        >>> print(Damage(pages=(), records={"run": 2, "part": 1}))
        2 of run and 1 of part are not what was written
        """
        changed = " and ".join(f"{n} of {table}" for table, n in self.records.items())
        said = [f"{changed} are not what was written"] if changed else []
        return "; ".join([*said, *self.pages[:1]])


def check(path: Path) -> Damage | None:
    """Check a store without writing; raises DamagedFile for what cannot be opened as one."""
    connection = connect(path, "ro", 10.0)
    try:
        version_of(connection, path)
        with reading(path):
            return check_connection(connection)
    finally:
        connection.close()


def check_connection(connection: sqlite3.Connection) -> Damage | None:
    """Check an open store; None where all is well."""
    pages: list[str] = []
    try:
        found = connection.execute(f"PRAGMA quick_check({_MOST})").fetchall()
        said = [line for (text,) in found for line in text.splitlines()]
        pages += [line[:120] for line in said if line != "ok" and not line.startswith("***")]
    except sqlite3.DatabaseError as error:
        pages.append(str(error))
    changed: dict[str, int] = {}
    for table in COLUMNS:
        try:
            rows = connection.execute(SELECT[table])
            bad = sum(not sealed(table, row[2], (row[1], *row[3:])) for row in rows)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            pages.append(f"{table} cannot be read to its end: {error}")
            continue
        if bad:
            changed[table] = bad
    if not pages:
        pages += _missing(connection)
    return Damage(pages=tuple(pages), records=changed) if pages or changed else None


def _missing(connection: sqlite3.Connection) -> list[str]:
    """Say which wholes lack arrays, and which tables, views or triggers are none of a store's."""
    sql = (
        "SELECT count(*) FROM whole WHERE json_array_length(arrays) != "
        "(SELECT count(*) FROM array WHERE array.whole = whole.key)"
    )
    (lacking,) = connection.execute(sql).fetchone()
    found = [f"{lacking} of whole lack arrays"] if lacking else []
    there, own = _schema(connection), _own_schema()
    odd = sorted(there - own)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:  # an older one lacks what a migration brings
        odd += sorted(own - there)
    names = ", ".join(dict.fromkeys(f"{kind} {name}" for kind, name, _ in odd))
    return [*found, f"not as a store's: {names[:200]}"] if odd else found


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return set(connection.execute(sql).fetchall())


def _own_schema() -> set[tuple[str, str, str]]:
    """The tables, indices and views that a new store has."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        make(new)
        return _schema(new)
