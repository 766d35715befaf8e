"""A child of this process with all that it started: what it holds, how it ended, its end."""

import os
import signal
import subprocess
import time
from contextlib import suppress

import psutil

from hardness.upper.isolated.init import below

_TIDYING = 3.0  # seconds that first processes of learners get to end what is below them


def resident(root: int, limit: int) -> int:
    """Return the resident bytes of a process and its descendants, exactly where above the limit.

    A page that several of them share counts once where they are above it, and where the system
    tells.
    """
    tree = _tree(root)
    held = sum(_bytes(process, "rss") for process in tree)
    if held <= limit or len(tree) == 1:
        return held
    return sum(_bytes(process, "pss") for process in tree)


def end_tree(child: "subprocess.Popen[bytes]") -> None:
    """Kill a child that leads a session of its own, with all below it, and collect it.

    The first process of a learner sees that its parent is gone and ends what is below it; what is
    still there some seconds later is killed here.
    """
    left = _tree(child.pid)[1:]
    if child.returncode is None:  # not collected: the number is its own
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    for process in psutil.wait_procs(left, timeout=_TIDYING)[1]:
        for one in (process, *_tree(process.pid)):
            with suppress(psutil.Error):
                one.kill()


def _tree(root: int) -> list[psutil.Process]:
    found = []
    for pid in (root, *below(root)):
        with suppress(psutil.Error):  # it is gone
            found.append(psutil.Process(pid))
    return found


def _bytes(process: psutil.Process, which: str) -> int:
    with suppress(psutil.Error):
        found = process.memory_full_info() if which == "pss" else process.memory_info()
        return int(getattr(found, which, found.rss))
    return 0


def ending(child: "subprocess.Popen[bytes]", patience: float = 1.0) -> str:
    """Say how a child ended that has closed its end: by a signal, a code, or not at all."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        # Without collecting it: until then nobody else has its number.
        found = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is not None:
            if found.si_code == os.CLD_EXITED:
                return f"its process exited with code {found.si_status}"
            return f"its process was killed by {_name(found.si_status)}"
        time.sleep(0.002)
    return "its process closed the connection"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
