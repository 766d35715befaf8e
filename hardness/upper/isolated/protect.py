"""What a process that knows secrets does before it starts a learner of others.

Other processes of the same user may otherwise read its memory, its environment and its arguments.
"""

import ctypes
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

from hardness.upper.isolated.linux import DUMPABLE, SUBREAPER, prctl

_SEED = re.compile(rb"(?<=--seed[\0=])[0-9]+")


def protect() -> None:
    """Close this process to others of its user, hide its --seed, and adopt what children leave.

    On Linux; elsewhere nothing changes. It lasts until the process ends: it also leaves no core
    file, and no debugger of the same user attaches to it.
    """
    if sys.platform != "linux":
        return
    hide_seed()
    prctl(DUMPABLE, 0)
    prctl(SUBREAPER, 1)


def hide_seed() -> None:
    """Write x over the number after --seed where the system shows this process's arguments."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        if 0 < start < end:
            shown = ctypes.string_at(start, end - start)
            for found in _SEED.finditer(shown):
                ctypes.memset(start + found.start(), ord("x"), len(found.group()))


def end_orphans(token: str) -> None:
    """Kill and collect this process's children that carry a token: those of a guard that is gone.

    token: in the environment variable HARDNESS_RUN of all that a guard started.
    """
    wanted = f"HARDNESS_RUN={token}".encode()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError, ValueError):
            for pid in map(int, task.read_text().split()):
                with suppress(OSError):
                    if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
