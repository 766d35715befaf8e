"""Where a store lies: on a disk of this machine, with one writer, and room to write an end."""

import contextlib
import fcntl
import os
import re
import socket
from pathlib import Path

from instances.errors import AlreadyExists, ToolkitError

RESERVE_BYTES = 8 << 20  # what a full log and the last rows take
_NETWORK = re.compile(
    r"nfs[34]?|cifs|smb[23]?|smbfs|9p|lustre|gpfs|beegfs|ceph|glusterfs|afs|coda|ncpfs|pvfs2|"
    r"orangefs|ocfs2|gfs2|panfs|wekafs|fuse\.(?:sshfs|s3fs|rclone|glusterfs|ceph(?:-fuse)?|"
    r"juicefs|gcsfuse|goofys|davfs2?|curlftpfs|smbnetfs|lustre|moosefs|mfs|gvfsd-fuse|"
    r"blobfuse2?|beegfs|seaweedfs|hdfs|afp|cvmfs2)"
)


def refuse_network(path: Path, mounts: str | None = None) -> None:
    """Refuse a store on a network file system, where locks and WAL fail; raises ToolkitError.

    mounts: the text of a mountinfo file, that of this process where None; nothing is refused where
    the system has none.

    >>> refuse_network(Path("/data/runs.db"), "1 0 0:1 / / rw - ext4 /dev/sda rw")
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(errors="replace")
        except OSError:
            return  # not Linux
    point, kind = file_system(path, mounts)
    if _NETWORK.fullmatch(kind):
        raise ToolkitError(
            f"{path} lies on {kind} ({point}), a network file system, where a store may be "
            "damaged: give --store a path on a disk of this machine, and copy the file when done"
        )


def refuse_log(path: Path) -> None:
    """Refuse a name beside which the log of a store that is gone lies; raises AlreadyExists.

    SQLite would take it for the log of the new one.
    """
    log = beside(path, "wal")
    if log.exists() and not path.exists():
        raise AlreadyExists(
            f"{log} is the log of a store that is not there: remove it, or give another name"
        )


def file_system(path: Path, mounts: str) -> tuple[str, str]:
    """Find the mount point and the kind of the file system of a path, in a text of mountinfo.

    >>> text = "1 0 0:1 / / rw - ext4 a rw" + chr(10) + "2 1 0:2 / /my\\\\040home rw - nfs4 b rw"
    >>> file_system(Path("/my home/runs.db"), text), file_system(Path("/my/x"), text)
    (('/my home', 'nfs4'), ('/', 'ext4'))
    """
    real, best, kind = Path(os.path.realpath(path)), "", "unknown"
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
        # Of two mounts at one point the later one hides the other.
        if len(point) >= len(best) and real.is_relative_to(point):
            best, kind = point, right.split()[0]
    return best, kind


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


class Reserve:
    """Some MiB of the disk, to be given up when it is full."""

    def __init__(self, store: Path) -> None:
        """Take them; raises ToolkitError where the disk has not so many."""
        self.path = beside(store, "reserve")
        self.held = True
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.posix_fallocate(handle, 0, RESERVE_BYTES)
        except OSError as error:
            self.give_up()
            raise ToolkitError(
                f"{store} cannot be written: {error.strerror}: {RESERVE_BYTES >> 20} MiB are "
                "needed at least: free some"
            ) from error
        finally:
            os.close(handle)

    def give_up(self) -> None:
        """Free the space."""
        self.path.unlink(missing_ok=True)
        self.held = False


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
