"""Who writes a store: one process at a time, to the file that it opened."""

import contextlib
import fcntl
import os
import socket
from pathlib import Path

from instances.errors import AlreadyExists, ToolkitError


def refuse_log(path: Path) -> None:
    """Refuse a name beside which the log of a store that is gone lies; raises AlreadyExists.

    SQLite would take it for the log of the new one.
    """
    log = beside(path, "wal")
    if log.exists() and not path.exists():
        raise AlreadyExists(
            f"{log} is the log of a store that is not there: remove it, or give another name"
        )


class Lock:
    """The right to write a store: held by one process, freed by the system when that ends."""

    def __init__(self, store: Path) -> None:
        """Take it; raises ToolkitError where another process holds it, and says which."""
        self.path = beside(store, "lock")
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                said = os.pread(handle, 200, 0).decode(errors="replace").strip()
                os.close(handle)
                raise ToolkitError(
                    f"{store} is being written by {said or 'another process'}: wait for it, or "
                    "stop it"
                ) from error
            # The holder before may have removed the name between our two calls.
            if _is(self.path, handle):
                break
            os.close(handle)
        self._handle = handle
        os.ftruncate(handle, 0)
        with contextlib.suppress(OSError):  # a full disk: who holds it is not written down
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def free(self) -> None:
        """Give it back."""
        self.path.unlink(missing_ok=True)
        os.close(self._handle)


def held(store: Path) -> bool:
    """Say whether a process writes a store now."""
    try:
        handle = os.open(beside(store, "lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # none was made, or it is nobody's business but the writer's
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def beside(store: Path, what: str) -> Path:
    """Name a file that stands beside a store while it is written.

    >>> beside(Path("runs.db"), "lock")
    PosixPath('runs.db-lock')
    """
    return store.with_name(f"{store.name}-{what}")


def identity(path: Path) -> tuple[int, int] | None:
    """Return what a file is whatever its name: device and number; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is(path: Path, handle: int) -> bool:
    mine = os.fstat(handle)
    return identity(path) == (mine.st_dev, mine.st_ino)
