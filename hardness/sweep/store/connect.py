"""Opening a store: what is no store, a damaged one or one of another version is one line."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from hardness.sweep.store.schema import APPLICATION_ID, VERSION
from instances.errors import DamagedFile, ToolkitError
from instances.strict import one_line, opened

MAGIC = b"SQLite format 3\0"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class StoreGone(ToolkitError):
    """The file that is open to be written has no longer the name by which it was opened."""


def connect(path: Path, mode: str, wait_seconds: float) -> sqlite3.Connection:
    """Open the SQLite file of a store, "ro" or "rw", its version unseen; raises DamagedFile."""
    require_file(path)
    name = quote(os.fsencode(path.absolute()))  # any bytes: a name need not be text
    with told(path):
        found = sqlite3.connect(
            f"file:{name}?mode={mode}", uri=True, timeout=wait_seconds, isolation_level=None
        )
        found.execute("PRAGMA trusted_schema = OFF")
        _settle(found, name)
    return found


def _settle(connection: sqlite3.Connection, name: str) -> None:
    """Look at the file; take back what a writer was killed in when it closed the store.

    That is all that ever is written to read a store: no row is in it.
    """
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        with contextlib.closing(sqlite3.connect(f"file:{name}?mode=rw", uri=True)) as writer:
            writer.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def require_file(path: Path) -> None:
    """Refuse what is no SQLite file at all; raises DamagedFile."""
    if path.is_dir():
        raise DamagedFile(f"{path} is a folder: give the file of a store")
    if not path.is_file():
        raise DamagedFile(f"{path} does not exist, or is no regular file: give that of a store")
    with opened(path) as file:
        start = file.read(len(MAGIC))
    if not start:
        raise DamagedFile(f"{path} is empty: it is no store, and nothing is lost by removing it")
    if start != MAGIC:
        raise DamagedFile(
            f"{path} is no store, for it does not begin as SQLite files do: take a copy of it"
        )


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a store; raises DamagedFile, or ToolkitError for a newer."""
    with told(path):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DamagedFile(
            f"{path} is an SQLite file but no store: its application id is {application}, not "
            f"{APPLICATION_ID}"
        )
    if version > VERSION:
        raise ToolkitError(
            f"{path} is a store of version {version}: this hardness reads 1 to {VERSION}; install "
            "a newer one"
        )
    if version < 1:
        raise DamagedFile(f"{path} is a damaged store, of version {version}: {recover_with(path)}")
    return int(version)


def recover_with(path: Path) -> str:
    """Say by which command a damaged store is recovered."""
    return f"`hardness store recover {path} --out NEW.db` keeps what can be read"


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
        if code in _DAMAGED or "no such" in said:
            raise DamagedFile(f"{path} is damaged: {said}: {recover_with(path)}") from error
        raise ToolkitError(f"{path} cannot be used: {said}") from error
    except UnicodeDecodeError as error:  # what SQLite says shows bytes of the file
        raise DamagedFile(f"{path} is damaged: {recover_with(path)}") from error


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what SQLite and records that are not ours raise into one line."""
    try:
        with told(path):
            yield
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__} {one_line(error)}"
        raise DamagedFile(f"{path} is damaged: {said}: {recover_with(path)}") from error
