"""Reading the tables of a store as records, with names in place of their numbers."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from hardness.sweep.store.codec import Record, columns, references
from hardness.sweep.store.schema import COLUMNS
from hardness.sweep.store.seal import seal

_AT_ONCE = 100  # records of a query
_KEYS = ("key", "whole")  # columns of keys: 16 bytes, hexadecimal elsewhere


def _select(table: str) -> str:
    refers = references(table)
    shown = [f"{c}.text" if c in refers else f"{table}.{c}" for c in COLUMNS[table]]
    # A name that is lost leaves NULL, which the digest finds.
    joins = [f"LEFT JOIN {name} ON {name}.id = {table}.{name}" for name in refers]
    return f"SELECT {', '.join(shown)} FROM {table} {' '.join(joins)}"


SELECT = {table: _select(table) for table in COLUMNS}


class Records:
    """The records of an open store, one at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read through a connection."""
        self.connection = connection

    def where(
        self, table: str, column: str, value: Any, also: str = "", given: Sequence[Any] = ()
    ) -> Iterator[Record]:
        """Yield the records of a table with a value in a column; raises ValueError for damage."""
        value = bytes.fromhex(value) if column in _KEYS else value
        sql = f"{SELECT[table]} WHERE {table}.{column} = ? {also}"
        yield from self._read(table, sql, (value, *given))

    def every(self, table: str, order: str = "id") -> Iterator[Record]:
        """Yield the records of a table in the order of a column."""
        yield from self._read(table, f"{SELECT[table]} ORDER BY {table}.{order}")

    def numbered(self, table: str, numbers: Sequence[int]) -> Iterator[Record]:
        """Yield the records with these numbers, in their order."""
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            sql = f"{SELECT[table]} WHERE {table}.id IN ({','.join('?' * len(some))})"
            found = {row[0]: row for row in self.connection.execute(sql, tuple(some))}
            for number in some:
                yield self._record(table, found.pop(number))

    def _read(self, table: str, sql: str, given: Sequence[Any] = ()) -> Iterator[Record]:
        for row in self.connection.execute(sql, given):
            yield self._record(table, row)

    def _record(self, table: str, row: Sequence[Any]) -> Record:
        values = (row[1], *row[3:])
        if not sealed(table, row[2], values):
            raise ValueError(f"row {row[0]} of {table} is not what was written")
        return dict(zip(columns(table), values, strict=True))


def sealed(table: str, digest: Any, values: Sequence[Any]) -> bool:
    """Say whether a record is what was written.

    >>> sealed("figure", seal("figure", ["a", "{}", 0.5]), ["a", "{}", 0.5])
    True
    """
    try:
        return bool(seal(table, values) == digest)
    except (TypeError, ValueError):  # what JSON does not hold was never written
        return False
