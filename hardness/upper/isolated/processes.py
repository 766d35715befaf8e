"""What /proc says of the processes below one: who they are, what they hold, what they used.

Imported by the guard: only the standard library.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

_PAGE, _TICK = 4096, 100
if hasattr(os, "sysconf"):  # not on Windows, where nobody asks
    _PAGE, _TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    """What a set of processes holds and used: resident bytes, seconds of processors, how many."""

    resident: int
    cpu: float
    count: int
    threads: int


def below(root: int) -> list[int]:
    """List the descendants of a process, zombies too; empty where the system cannot say."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        for child in _children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


def use(pids: list[int]) -> Use:
    """Add up what processes hold and used; pages that several share count for each."""
    resident, ticks, count, threads = 0, 0, 0, 0
    for pid in pids:
        fields = _stat(pid)
        if fields is None or fields[0] in "ZX":
            continue
        ticks += int(fields[11]) + int(fields[12])
        threads += int(fields[17])
        resident += int(fields[21]) * _PAGE
        count += 1
    return Use(resident=resident, cpu=ticks / _TICK, count=count, threads=threads)


def born(pids: list[int]) -> dict[int, int]:
    """Say when processes that run were started, in ticks since the system was: no other's number.

    Zombies are left out.
    """
    found = {pid: _stat(pid) for pid in pids}
    return {pid: int(f[19]) for pid, f in found.items() if f is not None and f[0] not in "ZX"}


def proportional(pids: list[int], files: int = 0) -> int | None:
    """Add up resident bytes, a page that n processes share being 1/n of each's; None if unknown.

    files: bytes of memory that is held as files: what of it is not mapped comes on top.
    """
    total = mapped = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as lines:
                for name, *value in map(str.split, lines):
                    total += 1024 * int(value[0]) if name == "Pss:" else 0
                    mapped += 1024 * int(value[0]) if name == "Pss_Shmem:" else 0
        except (OSError, ValueError):
            return None
    return total + max(0, files - mapped)


def in_files(root: int) -> int:
    """Add up the memory that descendants hold as files: nameless ones, and in a /dev/shm of theirs.

    A /dev/shm that they share with this process does not count.
    """
    found: dict[tuple[int, int], int] = {}
    places: dict[int, int] = {}
    for pid in below(root):
        with suppress(OSError):  # it is gone
            for number in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    path = f"/proc/{pid}/fd/{number}"
                    if os.readlink(path).startswith("/memfd:"):
                        status = os.stat(path)
                        found[status.st_dev, status.st_ino] = 512 * status.st_blocks
            place = os.open(f"/proc/{pid}/root/dev/shm", os.O_RDONLY | os.O_DIRECTORY)
            try:
                # In a process that is ending it may be gone already, and a folder on disk is there.
                device, above = os.fstat(place).st_dev, os.stat(f"/proc/{pid}/root/dev").st_dev
                known = (above, os.stat("/").st_dev, os.stat("/dev/shm").st_dev)
                room = os.fstatvfs(place)
            finally:
                os.close(place)
            if device not in known:
                places[device] = (room.f_blocks - room.f_bfree) * room.f_frsize
    return sum(found.values()) + sum(places.values())


def high_water(pids: list[int]) -> int:
    """Add up the most resident bytes that each of some processes has held so far."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status") as lines:
                total += sum(1024 * int(x.split()[1]) for x in lines if x.startswith("VmHWM:"))
        except (OSError, ValueError):
            continue
    return total


def end(pids: list[int]) -> None:
    """Kill processes: all are stopped first, so that none can start others meanwhile."""
    for name in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(OSError):  # it is gone
                os.kill(pid, name)


def end_below(root: int, seconds: float = 10.0) -> dict[int, int]:
    """Kill and collect this process's descendants until there are none; return wait statuses.

    root: this process, who adopts what its descendants leave (SUBREAPER).
    """
    ended: dict[int, int] = {}
    pause, until = 0.001, time.monotonic() + seconds
    while left := below(root):
        end(left)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
        ended |= reap_all()
        if time.monotonic() > until:
            break
    return ended


def reap_all() -> dict[int, int]:
    """Collect the children that have ended: their wait statuses."""
    found: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found[pid] = status


def remove(folder: str) -> None:
    """Remove a folder and all below it, also where its owner had locked it; or what can be."""
    import shutil

    with suppress(OSError):
        os.chmod(folder, 0o700)
    for path, _, _ in os.walk(folder):  # from above: unlocked before it is listed
        with suppress(OSError):
            for entry in os.scandir(path):
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it is gone, or there is no /proc
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as line:
                found += map(int, line.read().split())
    return found


def _stat(pid: int) -> list[str] | None:
    """Read the fields of /proc/PID/stat that follow the name."""
    try:
        with open(f"/proc/{pid}/stat") as line:
            return line.read().rpartition(")")[2].split()
    except OSError:
        return None
