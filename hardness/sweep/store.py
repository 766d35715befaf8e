"""The store: runs, certificates and sweeps in one SQLite file.

One process writes it and any number read it meanwhile. Whatever is finished is written in one
transaction with the state of its sweep: a process that is killed loses nothing that was written.
In order: the schema, opening, the lock, conflicts, the writer, the reader, merging.
"""

import contextlib
import fcntl
import os
import socket
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self, get_origin
from urllib.parse import quote

import msgspec

from hardness.learners import Outcome
from hardness.runs.columns import (
    BUDGET,
    COLUMNS,
    Record,
    compact,
    comparable,
    data_of,
    exact,
    natural,
)
from hardness.runs.rows import CertificateRow, Row, SweepRow, ThresholdRow
from hardness.runs.run import Run
from instances.disk import atomic_write, one_line, os_errors, refuse_existing, refuse_unwritable
from instances.errors import AlreadyExists, DamagedFile, ToolkitError, UsageError

__all__ = [
    "Conflict", "Reader", "StoreGone", "Writer", "create", "merge", "opened", "read", "reopen"
]  # fmt: skip

# ---- the schema

APPLICATION_ID = 0x48524431  # "HRD1"
VERSION = 9

# What a row of a table is, and the column that is unique.
TABLES: dict[str, tuple[type[Any], str]] = {
    "runs": (Run, "key"),
    "certificates": (CertificateRow, "key"),
    "thresholds": (ThresholdRow, "key"),
    "sweeps": (SweepRow, "sha256"),
}
# Columns have no types: a row holds what was written. Integers of 2^63 and more are texts.
_FIELDS = {
    name: {one.name: one.type for one in fields(kind)}
    for name, (kind, _) in TABLES.items()
    if kind is not Run
}
_OF = {kind: name for name, (kind, _) in TABLES.items()}
_RESULTS = tuple(name for name, (_, unique) in TABLES.items() if unique == "key")  # of jobs
_NAMES = {"runs": tuple(COLUMNS), **{name: tuple(found) for name, found in _FIELDS.items()}}
_SCHEMA = "".join(
    f"CREATE TABLE {name} ({', '.join(_NAMES[name])}, UNIQUE ({unique}));"
    for name, (_, unique) in TABLES.items()
)
# Runs are counted by how they ended in this index alone.
_SCHEMA += "CREATE INDEX runs_status ON runs (outcome, learner, reproducible)"

# ---- opening

_LONGEST = 64 << 20  # bytes of a value beyond all that the files hold
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_WAIT_SECONDS = 30.0  # for another process


class StoreGone(ToolkitError):
    """The file that is open to be written no longer has the name by which it was opened."""


def _connect(path: Path, *settings: str) -> sqlite3.Connection:
    """Open the SQLite file of a store; raises DamagedFile for what is not one of this version."""
    if path.is_dir():
        raise DamagedFile(f"{path} is a folder: give the file of a store")
    if not path.is_file():
        raise DamagedFile(f"{path} does not exist, or is no regular file: give that of a store")
    if not path.stat().st_size:
        raise DamagedFile(f"{path} is empty: it is no store, and nothing is lost by removing it")
    name = quote(os.fsencode(path.absolute()))  # any bytes: a name need not be text
    with told(path):
        connection = sqlite3.connect(
            f"file:{name}?mode=rw", uri=True, timeout=_WAIT_SECONDS, isolation_level=None
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.create_function("natural_key", 1, natural, deterministic=True)
            _require_version(connection, path)
            if odd := _odd(connection):
                raise DamagedFile(f"{path} is damaged: {_unlike(odd)}: {recover_with(path)}")
            for setting in ("cache_size = -65536", *settings):
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
    return connection


def _require_version(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DamagedFile(
            f"{path} is an SQLite file but no store: its application id is {application}, not "
            f"{APPLICATION_ID}"
        )
    if version != VERSION:
        do = "install a newer one" if version > VERSION else "an earlier one wrote it"
        raise ToolkitError(
            f"{path} is a store of version {version}: this hardness reads {VERSION}; {do}"
        )


def _odd(connection: sqlite3.Connection) -> list[str]:
    """Name what of a store's schema is lacking or changed."""
    schema = "SELECT type || ' ' || name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL"
    with contextlib.closing(sqlite3.connect(":memory:")) as new:
        new.executescript(_SCHEMA)
        ours = dict(new.execute(schema))
    theirs = dict(connection.execute(schema))
    return [name for name in sorted(ours) if ours[name] != theirs.get(name)]


def _unlike(names: list[str]) -> str:
    return f"not as a store's: {', '.join(names)[:200]}"


def recover_with(path: Path) -> str:
    """Say by which command a damaged store is recovered."""
    return f"SQLite keeps what can be read: sqlite3 {path} .recover | sqlite3 NEW.db"


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into one line with the name of the store."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        said = one_line(error, 160)
        if code == sqlite3.SQLITE_FULL:
            raise ToolkitError(
                f"{path} cannot be written: the disk is full: free some of it"
            ) from error
        if code in _BUSY:
            raise ToolkitError(f"{path} is held by another process ({said}): try again") from error
        if code == sqlite3.SQLITE_NOTADB:
            raise DamagedFile(f"{path} is damaged, or no store at all: {said}") from error
        if code in _DAMAGED or any(
            word in said for word in ("no such", "not decode", "user-defined function")
        ):
            raise DamagedFile(f"{path} is damaged: {said}: {recover_with(path)}") from error
        raise ToolkitError(f"{path} cannot be used: {said}") from error
    except UnicodeDecodeError as error:  # what SQLite says shows bytes of the file
        raise DamagedFile(f"{path} is damaged: {recover_with(path)}") from error


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what rows raise that are not ours into one line with the name of the store."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__} {one_line(error)}"
        raise DamagedFile(f"{path} is damaged: {said}: {recover_with(path)}") from error


# ---- one writer at a time


class Lock:
    """The right to write a store: held by one process, freed by the system when that ends."""

    def __init__(self, store: Path) -> None:
        """Take it; raises ToolkitError where another process holds it, and says which."""
        self.path = _beside(store, "lock")
        if store.exists() and store.stat().st_nlink > 1:
            raise ToolkitError(
                f"{store} has several names (hard links), by which two could write it at once: "
                "remove the others, or copy it"
            )
        while True:
            with os_errors(store):
                how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                self._handle = os.open(self.path, how, 0o666)
            if not stat.S_ISREG(os.fstat(self._handle).st_mode):
                os.close(self._handle)
                raise ToolkitError(f"{self.path} is no regular file: remove it")
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                said = os.pread(self._handle, 200, 0).decode(errors="replace").strip()
                os.close(self._handle)
                raise ToolkitError(
                    f"{store} is being written by {said or 'another process'}: wait for it, or "
                    "stop it"
                ) from error
            mine = os.fstat(self._handle)
            # The holder before may have removed the name between our two calls.
            if _identity(self.path) == (mine.st_dev, mine.st_ino):
                break
            os.close(self._handle)
        os.ftruncate(self._handle, 0)
        with contextlib.suppress(OSError):  # on a full disk its holder is not written down
            os.pwrite(self._handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def free(self) -> None:
        """Give it back."""
        self.path.unlink(missing_ok=True)
        os.close(self._handle)


def held(store: Path) -> bool:
    """Return whether a process writes a store now."""
    try:
        handle = os.open(_beside(store, "lock"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # there is none, or only the writer may read it
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(handle)
    return False


def _beside(store: Path, what: str) -> Path:
    """Name a file beside a store, the same by whichever link it is opened."""
    store = store.resolve()
    return store.with_name(f"{store.name}-{what}")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what a file is whatever its name: device and number; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# ---- two results of one key

# Ends that the machine or a fault of the learner's code made.
_FAULTS = (Outcome.CRASHED, Outcome.COULD_NOT_RUN, Outcome.MEMORY_SPENT)
FAILED = frozenset(outcome.value for outcome in _FAULTS)


class Conflict(ToolkitError):
    """Two reproducible results of one key differ."""


def decide(old: Run, new: Run) -> bool:
    """Return whether a run takes the place of an earlier one of its key; raises Conflict.

    One that is not reproducible gives way, and so does one that ended in a fault, which may have
    been mended since.
    """
    found, was = _standing(new), _standing(old)
    if found == was == (True, True) and (reason := _difference(old, new)):
        raise Conflict(f"run {new.key} has two results: {reason}")
    return found > was or (found == was and not found[0])


def _standing(run: Run) -> tuple[bool, bool]:
    """Rank a run: one without a fault before others, of these one that is the same anywhere."""
    return run.outcome.value not in FAILED, run.reproducible


def _difference(old: Run, new: Run) -> str | None:
    """Say in what two runs differ, times and memory apart; None where they do not."""
    one, other = comparable(old.record()), comparable(new.record())
    name = next((name for name in one if one[name] != other[name]), None)
    if name is None:
        return None
    said = f"{name} is {str(one[name])[:60]!r} and {str(other[name])[:60]!r}"
    by, to = f"{old.machine} {old.versions}", f"{new.machine} {new.versions}"
    return said if by == to else f"{said}; done by {by} and by {to}"


# ---- reading and writing


class _Store:
    """An open store."""

    def __init__(self, path: Path, *settings: str) -> None:
        self.path = path
        self.connection = _connect(path, *settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def row(self, table: str, key: str) -> Any:
        """Return a row of a table by its key, or None."""
        return next(self.rows(table, "WHERE key = ?", key), None)

    def rows(self, table: str, clause: str = "", *given: Any) -> Iterator[Any]:
        """Yield typed rows of a table one at a time; raises DamagedFile for one that is not."""
        for record in self.select(table, clause, *given):
            with reading(self.path):
                row = self.typed(table, record)
            yield row

    def column(self, sql: str, *given: Any) -> Iterator[Any]:
        """Yield the values of a query with one column."""
        with told(self.path):
            for (value,) in self.connection.execute(sql, given):
                yield value

    def select(self, table: str, clause: str = "", *given: Any) -> Iterator[Record]:
        """Yield rows of a table by their columns, as SQLite holds them."""
        with told(self.path):
            names = _NAMES[table]
            sql = f"SELECT {', '.join(names)} FROM {table} {clause}"
            for row in self.connection.execute(sql, given):
                yield dict(zip(names, row, strict=True))

    def typed(self, table: str, record: Record) -> Any:
        """Make a row of a record; raises LookupError, TypeError or ValueError for what is not."""
        if table == "runs":
            return _run(exact(record))
        values = {
            name: msgspec.json.decode(value)
            if get_origin(_FIELDS[table][name]) is dict and isinstance(value, str)
            else value
            for name, value in record.items()
        }
        return msgspec.convert(values, TABLES[table][0])


def create(path: Path) -> "Writer":
    """Make a new store; raises AlreadyExists, and ToolkitError where none may lie."""
    refuse_existing(path, force=None)
    log = _beside(path, "wal")
    if log.exists():  # SQLite would take it for the log of the new one
        raise AlreadyExists(
            f"{log} is the log of a store that is not there: remove it, or give another name"
        )
    refuse_unwritable(path)
    return _emptied(path)


def _emptied(path: Path) -> "Writer":
    """Write an empty store, which is there as a whole or not at all, and open it."""
    with (
        told(path),
        atomic_write(path) as draft,
        contextlib.closing(sqlite3.connect(draft)) as new,
    ):
        new.executescript(
            f"BEGIN; {_SCHEMA}; PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {VERSION}; COMMIT"
        )
    return Writer(path, Lock(path))


def reopen(path: Path) -> "Writer":
    """Open a store to write on; raises DamagedFile, ToolkitError where another process writes."""
    with read(path):
        lock = Lock(path)
    return Writer(path, lock)


def opened(path: Path, resume: bool) -> "Writer":
    """Open a store to be written, or make it; raises AlreadyExists for one with runs to keep.

    resume: go on in one that holds runs.
    """
    if not path.exists():
        return create(path)
    writer = reopen(path)
    if not resume and not writer.empty:
        writer.close()
        raise AlreadyExists(
            f"{path} holds runs: add --resume to do what is missing, or name another file"
        )
    return writer


class Writer(_Store):
    """A store that is open to be written, by this process alone."""

    def __init__(self, path: Path, lock: Lock) -> None:
        """Open a store of this version as it is: `reopen` checks it first."""
        self._lock: Lock | None = lock
        try:
            super().__init__(path, "journal_mode = WAL", "synchronous = FULL")
            self._file = _identity(path)
        except BaseException:
            lock.free()
            raise

    @property
    def empty(self) -> bool:
        """Whether the store holds no result of a job."""
        there = " OR ".join(f"EXISTS (SELECT 1 FROM {table})" for table in _RESULTS)
        return not next(self.column(f"SELECT {there}"))

    def finished(self) -> set[str]:
        """Return the keys of all that is finished."""
        every = (self.column(f"SELECT key FROM {name}") for name in _RESULTS)
        return set(chain.from_iterable(every))

    def failed(self) -> set[str]:
        """Return the keys of the runs that `FAILED`: the machine's doing, or a learner's fault."""
        marks = ",".join("?" * len(FAILED))
        lost = "SELECT key FROM thresholds WHERE threshold->>'lost' != ''"
        sql = f"SELECT key FROM runs WHERE outcome IN ({marks}) UNION {lost}"
        return set(self.column(sql, *sorted(FAILED)))

    def sweep(self, sha256: str) -> SweepRow | None:
        """Return a sweep by the SHA-256 of its file."""
        return next(self.rows("sweeps", "WHERE sha256 = ?", sha256), None)

    def write(self, rows: Sequence[Row | SweepRow], sweep: SweepRow | None = None) -> None:
        """Write rows and how the sweep stands, in one transaction that lasts once this returns.

        A run takes the place of one of its key that was not reproducible or failed; raises Conflict
        where both are and differ, and ToolkitError where the disk is full: then nothing is written.
        Raises StoreGone where the file was moved, removed or replaced by another, to which nothing
        is written.
        """
        with told(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                for row in [*rows, *([sweep] if sweep else [])]:
                    self._write(row)
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        # SQLite goes on in a file that has lost its name, where nobody finds it.
        if _identity(self.path) != self._file:
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
        self._lock.free()
        self._lock = None

    def _write(self, row: Row | SweepRow) -> None:
        if isinstance(row, Run):
            if self._insert("runs", row.record(), "IGNORE"):
                return
            old = self.row("runs", row.key)
            if old and decide(old, row):
                self._insert("runs", row.record())
        else:
            self._insert(_OF[type(row)], vars(row))

    def _insert(self, table: str, values: Record, otherwise: str = "REPLACE") -> bool:
        """Insert a row; return whether it was, which with "IGNORE" needs a key that is new."""
        names = _NAMES[table]
        sql = f"INSERT OR {otherwise} INTO {table} VALUES ({','.join('?' * len(names))})"
        plain = [_plain(values[name]) for name in names]
        return self.connection.execute(sql, plain).rowcount == 1


def _run(record: Record) -> Run:
    """Read a run from its columns; raises LookupError, TypeError or ValueError for other rows."""
    data = data_of(record)
    return Run.read(data, **{name: data.pop(name) for name in Run._unfiled if name in data})


def _plain(value: Any) -> Any:
    """Write a value as SQLite takes it: JSON as text, and integers of 2^63 and more."""
    if isinstance(value, dict):
        return compact(value)
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def read(path: Path) -> "Reader":
    """Open a store to read it; raises DamagedFile, or ToolkitError for one of a newer version."""
    return Reader(path)


_BUDGETS = ", ".join(f"budget_{name} NULLS LAST" for name in sorted(BUDGET))
_ORDER = f"natural_key(spec), natural_key(learner), {_BUDGETS}, seed, key"


class Reader(_Store):
    """A store that is open to be read, also while it is written and where it may not be written."""

    def __init__(self, path: Path) -> None:
        """Open it."""
        super().__init__(path, "query_only = ON")
        # What a query makes of small values could be of any size.
        files = (path, _beside(path, "wal"))
        held = sum(file.stat().st_size for file in files if file.exists())
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(held + _LONGEST, 2**31 - 1))

    def records(self) -> Iterator[Record]:
        """Yield the columns of all runs, in an order that depends on them alone, as of one moment.

        By spec and learner in natural order, budget, seed, then key. One run is in memory at a
        time, and what SQLite sorts is on disk.
        """
        for record in self.select("runs", f"ORDER BY {_ORDER}"):
            with reading(self.path):
                yield exact(record)

    def runs(self) -> Iterator[Run]:
        """Yield all runs, in the order of `records`."""
        for record in self.records():
            with reading(self.path):
                run = _run(record)
            yield run

    def certificates(self) -> Iterator[CertificateRow]:
        """Yield the certificates by spec in natural order, then key."""
        return self.rows("certificates", "ORDER BY natural_key(spec), key")

    def climbs(self) -> dict[str, Any]:
        """Return what was asked of the climbs of sweeps that are finished, by name."""
        done = (one.climbs for one in self.sweeps() if one.state == "finished")
        return {name: asked for climbs in done for name, asked in climbs.items()}

    def sweeps(self) -> list[SweepRow]:
        """Return the sweeps, the latest last."""
        return list(self.rows("sweeps", "ORDER BY updated"))

    def counts(self) -> dict[str, dict[str, int]]:
        """Count runs by learner and outcome, both in natural order."""
        sql = "SELECT learner, outcome, count(*) FROM runs GROUP BY outcome, learner"
        found: dict[str, dict[str, int]] = {}
        with told(self.path), reading(self.path):
            rows = self.connection.execute(sql).fetchall()
            for name, outcome, number in sorted(rows, key=lambda r: (*map(natural, r[:2]),)):
                found.setdefault(name, {})[outcome] = number
        return found

    def summary(self) -> dict[str, Any]:
        """Count what the store holds: runs, those not reproducible, certificates and so on."""
        counted = {
            **{name: name for name in TABLES},
            "specs": "(SELECT DISTINCT spec FROM runs)",
            "not_reproducible": "runs WHERE NOT reproducible",
        }
        numbers = {
            name: next(self.column(f"SELECT count(*) FROM {what}"))
            for name, what in counted.items()
        }
        size = self.path.stat().st_size
        return {"version": VERSION, "bytes": size, **numbers, "outcomes": self.counts()}

    def query(self, sql: str, most: int = 100_000) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Answer one SELECT: names and rows; raises UsageError for what it is not, or too much.

        Nothing in it may write, load or leave the store.
        """
        self.connection.set_authorizer(_authorize)
        # Python looks at the keyboard in this call only: without it Ctrl-C waits for the answer.
        self.connection.set_progress_handler(lambda: 0, 1 << 20)
        short = " ".join(sql.split())[:80]
        try:
            cursor = self.connection.execute(sql)
            if cursor.description is None:
                raise UsageError(f"'{short}' given: one SELECT is needed")
            rows = cursor.fetchmany(most + 1)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (*_DAMAGED, sqlite3.SQLITE_IOERR):
                with told(self.path):
                    raise
            said = one_line(error, 160)
            raise UsageError(f"'{short}' cannot be answered: {said}{_advice(said)}") from error
        finally:
            self.connection.set_authorizer(None)
            self.connection.set_progress_handler(None, 0)
        if len(rows) > most:
            raise UsageError(
                f"the answer has more than {most} rows: add LIMIT, or use `hardness store export`"
            )
        return [column[0] for column in cursor.description], rows


_ALLOWED = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


def _authorize(action: int, one: str | None, two: str | None, *_: Any) -> int:
    loading = action == sqlite3.SQLITE_FUNCTION and two == "load_extension"
    return sqlite3.SQLITE_OK if action in _ALLOWED and not loading else sqlite3.SQLITE_DENY


def _advice(said: str) -> str:
    if any(word in said for word in ("authoriz", "prohibited", "readonly", "cannot modify")):
        return ": a store is read here, by SELECT alone"
    if "no such" in said:
        tables = ": there are the tables runs, certificates, thresholds and sweeps"
        return (
            f"{tables}; a parameter of a spec is parameters->>'d'" if "column" in said else tables
        )
    return ""


# ---- merging


def merge(first: Path, others: Sequence[Path], out: Path) -> None:
    """Write all that stores hold to a new one; raises Conflict where two results contradict.

    Of a key, a reproducible run stands against one that is not, and one that ended by itself
    against a fault. Of a sweep the latest stands. With no others it is a copy.
    """
    sweeps: list[SweepRow] = []
    refuse_existing(out)
    with atomic_write(out) as draft, _emptied(draft) as writer:
        for path in (first, *others):
            with read(path) as store:
                try:
                    results = map(store.rows, _RESULTS[1:])
                    rows: Iterator[Row] = chain(store.runs(), *results)
                    while batch := list(islice(rows, 2000)):
                        writer.write(batch)
                except Conflict as conflict:
                    raise Conflict(f"{path} contradicts those before it: {conflict}") from None
                sweeps += store.sweeps()
        sweeps.sort(key=lambda one: one.updated)
        writer.write(sweeps)
