"""What /proc says of the processes below one: who they are, what they hold, what they used.

Imported by the guard: only the standard library.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

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


def proportional(pids: list[int]) -> int | None:
    """Add up resident bytes, a page that n processes share being 1/n of each's; None if unknown."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as lines:
                total += sum(1024 * int(x.split()[1]) for x in lines if x.startswith("Pss:"))
        except (OSError, ValueError):
            return None
    return total


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


def end_below(root: int, reap: bool, seconds: float = 10.0) -> int:
    """Kill the descendants of a process until there are none; return how many were alive."""
    killed: set[int] = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if reap:
            reap_all()
        left = [pid for pid in below(root) if (_stat(pid) or "Z")[0] not in "ZX"]
        if not left:
            break
        killed.update(left)
        end(left)
        time.sleep(0.001)
    return len(killed)


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
