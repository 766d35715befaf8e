"""A child of this process with all that it started: what it holds, how it ended, its end."""

import os
import signal
import subprocess
import time
from contextlib import suppress

from hardness.upper.isolated.processes import below, born, end, proportional, use

_TIDYING = 3.0  # seconds that guards of learners get to end and tidy up what they watch


def resident(root: int, limit: int) -> int:
    """Return the resident bytes of a process and its descendants, exactly where above the limit.

    A page that several of them share counts once where they are above it, and where the system
    tells.
    """
    pids = [root, *below(root)]
    held = use(pids).resident
    if held <= limit or len(pids) == 1:
        return held
    exact = proportional(pids)
    return held if exact is None else exact


def end_tree(child: "subprocess.Popen[bytes]") -> None:
    """Kill a child that leads a session of its own, with all below it, and collect it.

    Guards of learners see that their parent is gone, end what they watch and remove its folder;
    what is still there some seconds later is killed here.
    """
    left = born(below(child.pid))
    if child.returncode is None:  # not collected: the number is its own
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    until = time.monotonic() + _TIDYING
    while left and time.monotonic() < until:
        time.sleep(0.005)
        now = born(list(left))
        left = {pid: start for pid, start in left.items() if now.get(pid) == start}
    end([one for pid in left for one in (pid, *below(pid))])


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
