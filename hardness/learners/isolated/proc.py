"""What Linux tells of processes, and how a process ends with its parent; elsewhere nothing."""

import contextlib
import ctypes
import os
import re
import signal
import sys
from pathlib import Path

_DEATH_SIGNAL = 1  # of prctl


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, *map(ctypes.c_ulong, (signal.SIGKILL, 0, 0, 0)))


def below(root: int) -> list[int]:
    """List the descendants of a process, zombies too."""
    listed, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                line = Path(f"/proc/{pid}/task/{task}/children").read_text()
                children = [int(child) for child in line.split()]
                listed += children
                waiting += children
    return listed


def memory(pid: int, name: str, file: str = "status") -> int:
    """Read a number of bytes of a process: VmRSS, VmHWM, or Pss of smaps_rollup; 0 for none.

    >>> memory(os.getpid(), "VmRSS") <= memory(os.getpid(), "VmHWM")
    True
    """
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/{file}").read_bytes()
        if line := re.search(rb"^%s:\s*(\d+) kB" % name.encode(), text, re.MULTILINE):
            return 1024 * int(line[1])
    return 0
