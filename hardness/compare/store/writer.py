"""The one process that writes a store: all that is finished in one transaction at a time."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from hardness.compare.store import codec
from hardness.compare.store.check import Damage, check_connection
from hardness.compare.store.conflict import decide
from hardness.compare.store.connect import DiskFull, connect, recover_with, told, version_of
from hardness.compare.store.names import derived
from hardness.compare.store.place import Lock, Reserve, refuse_network
from hardness.compare.store.records import Records
from hardness.compare.store.rows import (
    CertificateRow,
    FigureRow,
    PartRow,
    Row,
    RunRow,
    SweepRow,
    WholeRow,
)
from hardness.compare.store.schema import COLUMNS, VERSION, make, migrate
from hardness.compare.store.seal import seal
from hardness.upper import Outcome
from instances.disk import refuse_existing, refuse_unwritable, written
from instances.errors import AlreadyExists, DamagedFile, ToolkitError

Kind = Literal["run", "certificate", "whole"]
_WAIT_SECONDS = 30.0
_MOST_NAMES = 1 << 17  # remembered at once, of each kind
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
FAILED = frozenset(  # ends that the machine or a fault of the learner's code made
    {
        *(o.value for o in (Outcome.RAISED, Outcome.EXITED, Outcome.CRASHED, Outcome.BROKE_OFF)),
        *(o.value for o in (Outcome.NOT_LOADED, Outcome.TOO_MANY_PROCESSES)),
        Outcome.MEMORY_SPENT.value,
        "overdue",
        "could not run",
    }
)


def create(path: Path) -> "Writer":
    """Make a new store; raises AlreadyExists, and ToolkitError where none may lie.

    It appears under its name when it is a whole store, however its maker ends.
    """
    refuse_network(path)
    refuse_existing(path)
    refuse_unwritable(path)
    with written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        draft.unlink(missing_ok=True)
        try:
            with (
                told(path),
                contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as new,
            ):
                make(new)
            os.link(draft, path)
        except FileExistsError as error:
            raise AlreadyExists(f"{path} exists and was kept: give another --store") from error
        finally:
            draft.unlink(missing_ok=True)
    return Writer(path)


def reopen(path: Path) -> "Writer":
    """Open a store to write on, all of it checked, and migrate an older one.

    Raises DamagedFile with what can be recovered, ToolkitError where another process writes.
    """
    refuse_network(path)
    writer = Writer(path)
    try:
        with told(path):
            found = check_connection(writer.connection)
    except BaseException:
        writer.close()
        raise
    if found:
        writer.close()
        raise DamagedFile(_damage(path, found))
    return writer


def _damage(path: Path, found: Damage) -> str:
    from hardness.compare.store.recover import survey

    whole = ", ".join(f"{n} of {name}" for name, n in survey(path).items() if n) or "nothing"
    return f"{path} is damaged: {found}; whole: {whole}; {recover_with(path)}"


class Writer:
    """A store that is open to be written, by this process alone."""

    def __init__(self, path: Path) -> None:
        """Open a store that exists, unchecked: `create` and `reopen` do so."""
        self.path = path
        with written(path):
            self._lock = Lock(path)
        self._reserve: Reserve | None = None
        try:
            self.connection = connect(path, "rw", _WAIT_SECONDS)
            version = version_of(self.connection, path)
            self._reserve = Reserve(path)
            with told(path):
                self.connection.execute("PRAGMA journal_mode = WAL")
                self.connection.execute("PRAGMA synchronous = FULL")
                self.connection.execute("PRAGMA cache_size = -65536")
                if version < VERSION:
                    migrate(self.connection, version)
        except BaseException:
            self.close()
            raise
        self._records = Records(self.connection)
        self._names: dict[tuple[str, str], int] = {}

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def empty(self) -> bool:
        """Whether the store holds no run, certificate, part or whole."""
        with told(self.path):
            return not any(
                self.connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
                for table in ("run", "certificate", "part", "whole")
            )

    def count(self, table: str) -> int:
        """Count the records of a table."""
        with told(self.path):
            return int(self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def keys(self, kind: Kind) -> set[str]:
        """Return the keys of all that is finished of a kind."""
        with told(self.path):
            return {key.hex() for (key,) in self.connection.execute(f"SELECT key FROM {kind}")}

    def failed(self) -> set[str]:
        """Return the keys of the runs that `FAILED`: the machine's doing, or a learner's fault."""
        marks = ",".join("?" * len(FAILED))
        ended = f"SELECT id FROM ending WHERE outcome IN ({marks})"
        sql = f"SELECT key FROM run WHERE ending IN ({ended})"
        with told(self.path):
            return {key.hex() for (key,) in self.connection.execute(sql, sorted(FAILED))}

    def run(self, key: str) -> RunRow | None:
        """Return a run by its key."""
        with told(self.path):
            return next((codec.to_run(r) for r in self._records.where("run", "key", key)), None)

    def parts(self, whole: str) -> Iterator[PartRow]:
        """Yield the parts of a cut job in their order, one in memory at a time."""
        for index in sorted(self.part_indices(whole)):
            with told(self.path):
                found = self._records.where("part", "whole", whole, "AND number = ?", (index,))
                yield codec.to_part(next(found))

    def part_indices(self, whole: str) -> set[int]:
        """Return which parts of a cut job are finished."""
        sql = "SELECT number FROM part WHERE whole = ?"
        with told(self.path):
            return {n for (n,) in self.connection.execute(sql, (bytes.fromhex(whole),))}

    def sweep(self, sha256: str) -> SweepRow | None:
        """Return a sweep by the SHA-256 of its file."""
        with told(self.path):
            found = self._records.where("sweep", "sha256", sha256)
            return next((codec.to_sweep(r) for r in found), None)

    def write(self, rows: Sequence[Row], sweep: SweepRow | None = None) -> None:
        """Write rows and how the sweep stands, in one transaction that lasts once this returns.

        A whole takes the place of its parts. A run takes the place of one of its key that was not
        reproducible or failed; raises Conflict where both are and differ, and then writes nothing.
        Raises DiskFull where the disk is full: the first time after all was written nevertheless,
        in the space reserved for it.
        """
        try:
            with told(self.path):
                self._commit(rows, sweep)
        except DiskFull as full:
            if self._reserve is None or not self._reserve.held:
                raise
            self._reserve.give_up()
            with told(self.path):
                self._commit(rows, sweep)
            raise DiskFull(
                f"the disk of {self.path} is full: all that was finished is written; free some of "
                "it and go on with --resume"
            ) from full

    def close(self) -> None:
        """Leave one file, which any reader may open, and let others write it."""
        connection = getattr(self, "connection", None)
        if connection is not None:
            # While another process reads, or on a full disk, the log stays beside: nothing is lost.
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA busy_timeout = 1000")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute("PRAGMA journal_mode = DELETE")
            connection.close()
            del self.connection
        if self._reserve is not None and self._reserve.held:
            self._reserve.give_up()
        if self._lock is not None:
            self._lock.free()
            self._lock = None  # type: ignore[assignment]

    def _commit(self, rows: Sequence[Row], sweep: SweepRow | None) -> None:
        with self.transaction():
            for row in rows:
                self._write(row)
            if sweep is not None:
                self.replace("sweep", codec.of_sweep(sweep))

    @contextlib.contextmanager
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

    def _write(self, row: Row) -> None:
        if isinstance(row, RunRow):
            self._write_run(row)
        elif isinstance(row, PartRow):
            sql = "SELECT 1 FROM whole WHERE key = ?"
            if not self.connection.execute(sql, (bytes.fromhex(row.whole),)).fetchone():
                self.replace("part", codec.of_part(row), keys=2)
        elif isinstance(row, CertificateRow):
            self.replace("certificate", codec.of_certificate(row))
        elif isinstance(row, WholeRow):
            self._write_whole(row)
        else:
            self.write_figure(row, time.time())

    def write_figure(self, row: FigureRow, written: float) -> None:
        """Write the data of a figure with its time, within a transaction."""
        self.replace("figure", codec.of_figure(row, written))

    def _write_run(self, row: RunRow) -> None:
        if self._insert("run", codec.of_run(row)):
            return
        (old,) = map(codec.to_run, self._records.where("run", "key", row.key))
        if decide(old, row, FAILED):
            self.replace("run", codec.of_run(row))

    def _write_whole(self, row: WholeRow) -> None:
        key = bytes.fromhex(row.key)
        for table in ("part", "array"):
            self.connection.execute(f"DELETE FROM {table} WHERE whole = ?", (key,))
        self.replace("whole", codec.of_whole(row))
        for name, content in sorted(row.arrays.items()):
            self._insert("array", (key, name, content))

    def array_names(self, key: bytes) -> set[str]:
        """Return the names of the arrays of a whole, which may not be there itself."""
        sql = "SELECT name FROM array WHERE whole = ?"
        return {name for (name,) in self.connection.execute(sql, (key,))}

    def drop_orphans(self) -> None:
        """Delete arrays without their whole, and parts of what is whole, within a transaction."""
        for table, word in (("array", "NOT IN"), ("part", "IN")):
            sql = f"DELETE FROM {table} WHERE whole {word} (SELECT key FROM whole)"
            self.connection.execute(sql)

    def replace(self, table: str, values: tuple[Any, ...], keys: int = 1) -> None:
        """Write a record in place of one of the same key: of its first columns."""
        names = codec.columns(table)[:keys]
        where = " AND ".join(f"{name} = ?" for name in names)
        self.connection.execute(f"DELETE FROM {table} WHERE {where}", values[:keys])
        self._insert(table, values)

    def _insert(self, table: str, values: tuple[Any, ...]) -> bool:
        """Insert a record with its digest; False where one of its key is there."""
        if any(isinstance(v, bytes | str) and len(v) > _LONGEST for v in values):
            raise ToolkitError(f"{self.path} cannot hold {table} of 1 GB and more: cut it smaller")
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
            self._insert(table, (text, *derived(table, text)))
            found = self.connection.execute(sql, (text,)).fetchone()
        if len(self._names) >= _MOST_NAMES:
            self._names.clear()
        self._names[table, text] = found[0]
        return int(found[0])
