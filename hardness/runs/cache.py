"""Finished runs in one SQLite file, `runs(key PRIMARY KEY, json)`, and the request of the command.

The file is in WAL mode: readers do not wait for writers, several commands may write at once, and a
kill loses only rows that were not added yet. When the cache is closed, it is a single file again.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

from instances.errors import DamagedFile, ToolkitError, UsageError

FORMAT = 1
NAME = "runs.db"  # in the folder of a command
_APPLICATION = 0x68726473  # "hrds", by which `file` and SQLite recognise the file
_LOCK_SECONDS = 60.0  # to wait while another command writes
_KEYS_PER_QUERY = 500
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (name TEXT PRIMARY KEY, json TEXT NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
"""


class Cache:
    """Runs by the keys of their jobs, each as the text of its JSON.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "runs.db") as cache:
    ...     cache.add([("a", "1"), ("b", "2")])
    ...     cache.lookup(["a", "c"]), list(cache.texts())
    ({'a': '1'}, ['1', '2'])
    """

    def __init__(self, path: Path, writes: bool = True) -> None:
        """Open or create a file; raises DamagedFile, or ToolkitError if it cannot be written.

        writes: if it is False, the file must exist and is only read.
        """
        self.path, self.writes = path, writes
        if not writes or (path.exists() and path.stat().st_size):
            _require_ours(path)
        with sqlite_errors(path):
            self.connection = self._opened()
        if writes:
            with sqlite_errors(path, self.close):
                with contextlib.suppress(sqlite3.OperationalError):  # another command does so
                    self.connection.execute("PRAGMA journal_mode = WAL")
                self.connection.executescript(
                    f"PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; {_SCHEMA} COMMIT;"
                )
        self._file = identity(path)

    def _opened(self) -> sqlite3.Connection:
        if self.writes:
            return sqlite3.connect(self.path, timeout=_LOCK_SECONDS, isolation_level=None)
        name = self.path.absolute().as_uri()
        connection = sqlite3.connect(f"{name}?mode=ro", uri=True, timeout=_LOCK_SECONDS)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:  # the folder is read-only, so nobody writes there
            connection.close()
            connection = sqlite3.connect(f"{name}?immutable=1", uri=True)
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and merge the WAL into it unless another command has it open."""
        if self.writes:
            with contextlib.suppress(sqlite3.Error):  # in use, or the disk is full: nothing is lost
                self.connection.execute("PRAGMA busy_timeout = 1000")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self.connection.execute("PRAGMA journal_mode = DELETE")
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()

    @property
    def count(self) -> int:
        """The number of runs."""
        with sqlite_errors(self.path):
            return int(self.connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def lookup(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the JSON texts of the keys that are in the file, by key."""
        texts, remaining = dict[str, str](), iter(keys)
        with sqlite_errors(self.path):
            while batch := list(islice(remaining, _KEYS_PER_QUERY)):
                marks = ",".join("?" * len(batch))
                sql = f"SELECT key, json FROM runs WHERE key IN ({marks})"
                texts.update(self.connection.execute(sql, batch).fetchall())
        return texts

    def texts(self) -> Iterator[str]:
        """Yield the JSON texts of all runs, ordered by key."""
        with sqlite_errors(self.path):
            for (text,) in self.connection.execute("SELECT json FROM runs ORDER BY key"):
                yield text

    def add(self, rows: Sequence[tuple[str, str]]) -> None:
        """Add pairs of key and JSON text, all or none; raises ToolkitError, as on a full disk."""
        self._write("INSERT OR REPLACE INTO runs VALUES (?, ?)", rows)
        # SQLite continues to write to a file that was moved or removed.
        if not self.in_place:
            raise ToolkitError(
                f"{self.path} was moved, removed or replaced while it was written: a file that was "
                "moved holds all runs that were done, move it back and give the same command; of "
                "one that was removed they are lost, and the same command begins again"
            )

    @property
    def in_place(self) -> bool:
        """Whether the path is still that of the file that was opened."""
        return identity(self.path) == self._file

    @property
    def request(self) -> dict[str, Any] | None:
        """The request of the command that wrote the file; None before it is stored."""
        return self._request("")

    @property
    def versions(self) -> dict[str, Any]:
        """The version of each learner and family whose runs are in the file."""
        return self._request("versions") or {}

    def _request(self, name: str) -> Any:
        with sqlite_errors(self.path):
            sql = "SELECT json FROM request WHERE name = ?"
            row = self.connection.execute(sql, (name,)).fetchone()
        try:
            return None if row is None else json.loads(row[0])
        except ValueError as error:
            raise DamagedFile(f"{self.path}: what was asked is no JSON") from error

    def store_request(self, request: dict[str, Any], name: str = "") -> None:
        """Store the request of a command; name: "versions" for those of learners and families."""
        self._write("INSERT OR REPLACE INTO request VALUES (?, ?)", [(name, json.dumps(request))])

    def clear(self) -> None:
        """Delete all runs and their versions."""
        with sqlite_errors(self.path):
            self.connection.execute("DELETE FROM runs")
            self.connection.execute("DELETE FROM request WHERE name = 'versions'")

    def _write(self, sql: str, rows: Sequence[tuple[str, ...]]) -> None:
        with sqlite_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                self.connection.executemany(sql, rows)
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def is_cache(path: Path) -> bool:
    """Return whether a path is an SQLite file; a pipe or a device is not read.

    >>> is_cache(Path("no-such-file"))
    False
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, which a new file of the same name does not have."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _require_ours(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"no such file: {path}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: a sweep keeps its runs in a file, as {path}.db")
    if not is_cache(path):
        raise DamagedFile(f"{path} holds no runs: it is no file of `hardness sweep` or a folder's")
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ) as connection:
        try:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            return  # reported when the file is opened
        except sqlite3.DatabaseError as error:
            raise DamagedFile(f"{path} is damaged: {error}") from error
    if "sweeps" in names:
        raise DamagedFile(
            f"{path} is a store of an earlier version, which this one does not read: do the sweep "
            "again into a new file"
        )
    if names and "runs" not in names:
        raise DamagedFile(f"{path} is a database without runs")
    if names and version != FORMAT:
        raise DamagedFile(f"{path} is of format {version}, and this version reads {FORMAT}")


@contextlib.contextmanager
def sqlite_errors(path: Path, cleanup: Any = None) -> Iterator[None]:
    """Turn errors of SQLite or the system into a ToolkitError of one line.

    cleanup: a function to call first if there is an error.
    """
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if cleanup:
            cleanup()
        reason, code = str(error), getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL or "disk is full" in reason:
            raise ToolkitError(
                f"{path}: the disk is full; what was done before is kept: make room and give the "
                "same command"
            ) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DamagedFile(f"{path} is damaged: {reason}") from error
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise ToolkitError(
                f"{path} cannot be written ({reason}): give a place that may be"
            ) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise ToolkitError(f"{path} is written by another command: try again later") from error
        raise ToolkitError(f"{path}: {reason}") from error
