"""Writing records into the tables of a store, with digests and with names by their numbers."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hardness.sweep.store import codec
from hardness.sweep.store.names import derived
from hardness.sweep.store.schema import COLUMNS
from hardness.sweep.store.seal import seal
from instances.errors import TooLarge

_MOST_NAMES = 1 << 17  # remembered at once
_LONGEST = 1_000_000_000 - 4096  # bytes of a record, SQLite's own limit
_INSERT = {
    table: f"INSERT INTO {table} ({','.join(names[1:])}) "
    f"VALUES ({','.join('?' * (len(names) - 1))}) ON CONFLICT DO NOTHING"
    for table, names in COLUMNS.items()
}
_REFERENCES = {
    table: [(i, c) for i, c in enumerate(codec.columns(table)) if c in codec.references(table)]
    for table in COLUMNS
}


class Tables:
    """The tables of a store that is open to be written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Write through a connection that is in autocommit mode."""
        self.connection = connection
        self._names: dict[tuple[str, str], int] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that is written within this, or nothing of it."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self._names.clear()  # some may have been written in what is rolled back
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def delete(self, table: str, column: str, value: Any) -> None:
        """Delete the records with a value in a column."""
        self.connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (value,))

    def replace(self, table: str, values: tuple[Any, ...], keys: int = 1) -> None:
        """Write a record in place of one of the same key: of its first columns."""
        names = codec.columns(table)[:keys]
        where = " AND ".join(f"{name} = ?" for name in names)
        self.connection.execute(f"DELETE FROM {table} WHERE {where}", values[:keys])
        self.insert(table, values)

    def insert(self, table: str, values: tuple[Any, ...]) -> bool:
        """Insert a record with its digest; False where one of its key is there."""
        if max([len(v) for v in values if isinstance(v, bytes | str)]) > _LONGEST:
            raise TooLarge(f"a record of {table} has 1 GB or more, which a store does not hold")
        stored = list(values)
        for i, name in _REFERENCES[table]:
            stored[i] = self._name(name, values[i])
        record = (stored[0], seal(table, values), *stored[1:])
        return self.connection.execute(_INSERT[table], record).rowcount == 1

    def _name(self, table: str, text: str) -> int:
        """Return the number of a name, written when it is new."""
        number = self._names.get((table, text))
        if number is not None:
            return number
        sql = f"SELECT id FROM {table} WHERE text = ?"
        found = self.connection.execute(sql, (text,)).fetchone()
        if found is None:
            self.insert(table, (text, *derived(table, text)))
            found = self.connection.execute(sql, (text,)).fetchone()
        if len(self._names) >= _MOST_NAMES:
            self._names.clear()
        self._names[table, text] = found[0]
        return int(found[0])
