"""The one process that writes a store: all that is finished in one transaction at a time."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from hardness.runs.rows import (
    CertificateRow,
    FigureRow,
    PartRow,
    Row,
    SweepRow,
    WholeRow,
)
from hardness.runs.run import Run
from hardness.sweep.store import codec
from hardness.sweep.store.check import check
from hardness.sweep.store.conflict import FAILED, decide
from hardness.sweep.store.connect import (
    StoreGone,
    connect,
    reading,
    recover_with,
    require_file,
    told,
    version_of,
)
from hardness.sweep.store.place import Lock, identity, refuse_log
from hardness.sweep.store.records import Records
from hardness.sweep.store.schema import VERSION, make, migrate
from hardness.sweep.store.tables import Tables
from instances.disk import refuse_existing, refuse_unwritable, written
from instances.errors import AlreadyExists, DamagedFile

Kind = Literal["run", "certificate", "whole"]
_WAIT_SECONDS = 30.0
_SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536")


def create(path: Path) -> "Writer":
    """Make a new store; raises AlreadyExists, and ToolkitError where none may lie.

    It appears under its name when it is a whole store, however its maker ends.
    """
    refuse_existing(path)
    refuse_log(path)
    refuse_unwritable(path)
    with written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        draft.unlink(missing_ok=True)
        try:
            _make(draft)
            os.link(draft, path)
        except FileExistsError as error:
            raise AlreadyExists(f"{path} exists and was kept: give another --store") from error
        finally:
            draft.unlink(missing_ok=True)
        return Writer(path, Lock(path))


def reopen(path: Path) -> "Writer":
    """Open a store to write on, all of it checked, and migrate an older one.

    Raises DamagedFile with what can be recovered, ToolkitError where another process writes.
    """
    require_file(path)
    with written(path):
        lock = Lock(path)
    try:
        found = check(path)
        if found:
            raise DamagedFile(f"{path} is damaged: {found}; {recover_with(path)}")
    except BaseException:
        lock.free()
        raise
    return Writer(path, lock)


def _make(path: Path) -> None:
    with told(path), contextlib.closing(sqlite3.connect(path, isolation_level=None)) as new:
        make(new)


def _connect(path: Path) -> sqlite3.Connection:
    """Open a store to write it, and migrate an older one."""
    connection = connect(path, "rw", _WAIT_SECONDS)
    try:
        version = version_of(connection, path)
        with told(path):
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            if version < VERSION:
                migrate(connection, version)
    except BaseException:
        connection.close()
        raise
    return connection


class Writer:
    """A store that is open to be written, by this process alone."""

    def __init__(self, path: Path, lock: Lock) -> None:
        """Open a store that exists, as it is; `reopen` checks it first."""
        self.path = path
        self._lock: Lock | None = lock
        try:
            self.connection = _connect(path)
            self._file = identity(path)
        except BaseException:
            self._let_go()
            raise
        self.tables = Tables(self.connection)
        self._records = Records(self.connection)

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

    def run(self, key: str) -> Run | None:
        """Return a run by its key."""
        with reading(self.path):
            return next((codec.to_run(r) for r in self._records.where("run", "key", key)), None)

    def parts(self, whole: str) -> Iterator[PartRow]:
        """Yield the parts of a cut job in their order, one in memory at a time."""
        for index in sorted(self.part_indices(whole)):
            with reading(self.path):
                found = self._records.where("part", "whole", whole, "AND number = ?", (index,))
                yield codec.to_part(next(found))

    def part_indices(self, whole: str) -> set[int]:
        """Return which parts of a cut job are finished."""
        sql = "SELECT number FROM part WHERE whole = ?"
        with told(self.path):
            return {n for (n,) in self.connection.execute(sql, (bytes.fromhex(whole),))}

    def sweep(self, sha256: str) -> SweepRow | None:
        """Return a sweep by the SHA-256 of its file."""
        with reading(self.path):
            found = self._records.where("sweep", "sha256", sha256)
            return next((codec.to_sweep(r) for r in found), None)

    def write(self, rows: Sequence[Row], sweep: SweepRow | None = None) -> None:
        """Write rows and how the sweep stands, in one transaction that lasts once this returns.

        A whole takes the place of its parts. A run takes the place of one of its key that was not
        reproducible or failed; raises Conflict where both are and differ, and ToolkitError where
        the disk is full: then nothing is written. Raises StoreGone where the file was moved,
        removed or replaced by another, to which nothing is written.
        """
        with told(self.path):
            self._commit(rows, sweep)
        # SQLite goes on in a file that has lost its name, where nobody finds it.
        if identity(self.path) != self._file:
            raise StoreGone(
                f"{self.path} was moved, removed or replaced while it was written: what is "
                "finished is in the file that was there before; put it back and go on with --resume"
            )

    def close(self) -> None:
        """Leave one file, which any reader may open, and let others write it."""
        if self._lock is None:
            return
        # While another process reads, or on a full disk, the log stays beside: nothing is lost.
        with contextlib.suppress(sqlite3.Error):
            self.connection.execute("PRAGMA busy_timeout = 1000")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.connection.execute("PRAGMA journal_mode = DELETE")
        self.connection.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.free()
        self._lock = None

    def _commit(self, rows: Sequence[Row], sweep: SweepRow | None) -> None:
        with self.tables.transaction():
            for row in rows:
                self._write(row)
            if sweep is not None:
                self.tables.replace("sweep", codec.of_sweep(sweep))

    def _write(self, row: Row) -> None:
        if isinstance(row, Run):
            self._write_run(row)
        elif isinstance(row, PartRow):
            sql = "SELECT 1 FROM whole WHERE key = ?"
            if not self.connection.execute(sql, (bytes.fromhex(row.whole),)).fetchone():
                self.tables.replace("part", codec.of_part(row), keys=2)
        elif isinstance(row, CertificateRow):
            self.tables.replace("certificate", codec.of_certificate(row))
        elif isinstance(row, WholeRow):
            self._write_whole(row)
        else:
            self.write_figure(row, time.time())

    def write_figure(self, row: FigureRow, written: float) -> None:
        """Write the data of a figure with its time, within a transaction."""
        self.tables.replace("figure", codec.of_figure(row, written))

    def _write_run(self, row: Run) -> None:
        if self.tables.insert("run", codec.of_run(row)):
            return
        with reading(self.path):
            (old,) = map(codec.to_run, self._records.where("run", "key", row.key))
        if decide(old, row):
            self.tables.replace("run", codec.of_run(row))

    def _write_whole(self, row: WholeRow) -> None:
        key = bytes.fromhex(row.key)
        for table in ("part", "array"):
            self.tables.delete(table, "whole", key)
        self.tables.replace("whole", codec.of_whole(row))
        for name, content in sorted(row.arrays.items()):
            self.tables.insert("array", (key, name, content))
