"""What a process that knows secrets does before it starts a learner of others.

Other processes of the same user may otherwise read its memory, its environment and its arguments.
"""

import ctypes
import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock

from hardness.upper.isolated.linux import DUMPABLE, SUBREAPER, prctl
from hardness.upper.isolated.processes import below

_guards, _counting = 0, Lock()
_SEED = re.compile(rb"(?<=--seed[\0=])[0-9]+")


def protect() -> None:
    """Close this process to others of its user, and hide its --seed.

    On Linux; elsewhere nothing changes. It lasts until the process ends: it also leaves no core
    file, and no debugger of the same user attaches to it.
    """
    if sys.platform != "linux":
        return
    hide_seed()
    prctl(DUMPABLE, 0)


def adopt(more: int) -> None:
    """Count the guards that run, one more or less: while any does, adopt what one might leave.

    Not for longer: who adopts orphans must collect them when they end.
    """
    global _guards
    with _counting:
        _guards += more
        prctl(SUBREAPER, int(_guards > 0))


def hide_seed() -> None:
    """Write x over the number after --seed where the system shows this process's arguments."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        if 0 < start < end:
            shown = ctypes.string_at(start, end - start)
            for found in _SEED.finditer(shown):
                ctypes.memset(start + found.start(), ord("x"), len(found.group()))


def end_orphans(token: str, known: list[int]) -> None:
    """Kill and collect this process's children that a guard who is gone has left.

    token: in the environment variable HARDNESS_RUN of all that the guard started. known: processes
    that were below it, who may have ended already.
    """
    wanted, ours = f"HARDNESS_RUN={token}".encode(), set(known)
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        there = set(below(os.getpid()))
        ours |= {pid for pid in there if wanted in _environment(pid)}
        if not ours & there:
            return
        for pid in ours & there:
            with suppress(OSError):  # a grandchild becomes a child when its parent is gone
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)


def _environment(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return []
