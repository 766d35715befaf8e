"""The first process of a learner: sets its limits, collects what is left, says how it ended.

Under bubblewrap it is process 1 of a namespace, and all ends with it. Elsewhere it stands outside
of the fence; when its parent is gone or says so it ends all that the learner started.

Run as a script with a JSON object: until the learner's own process goes on to the package, only the
standard library is imported, and no thread is there that a fence would leave out.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

DEATH_SIGNAL, _SUBREAPER = 1, 36
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def main(job: dict[str, Any]) -> None:
    """Start the learner's process, and write its wait status to `report` when it ends.

    Stays until it is ended itself, so that the parent can look at what is left.
    """
    if not job["namespace"]:
        prctl(_SUBREAPER, 1)
        prctl(DEATH_SIGNAL, signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda *_: end(job["scratch"]))
        if os.getppid() != job["parent"]:
            end(job["scratch"])
    child = os.fork()
    if child == 0:
        begin(job)
    os.close(job["channel"])
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            signal.pause()
            continue
        if pid == child:
            os.write(job["report"], b"%d\n" % status)


def begin(job: dict[str, Any]) -> NoReturn:
    """Become the learner's process: limits, the fence, then the conversation with the parent."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.close(job["report"])
    for name, most in job["limits"].items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Of processor time the signal that says so comes a second before the one that does not.
        resource.setrlimit(number, (most - (name == "RLIMIT_CPU"), most))
    os.setsid()
    if not job["namespace"]:
        prctl(DEATH_SIGNAL, signal.SIGKILL)
        if job["fence"]:
            sys.path.insert(0, str(Path(__file__).parent))
            fence = importlib.import_module("fence")
            sys.path.pop(0)
            if not fence.close(job["writable"], job["readable"]):
                os._exit(126)  # it was there when the parent asked
    if job["packages"] not in sys.path:
        sys.path.append(job["packages"])
    importlib.import_module("hardness.upper.isolated.child").main(job["channel"])
    os._exit(0)


def end(scratch: str) -> NoReturn:
    """Kill all that is below this process, remove the scratch folder, and exit."""
    until = time.monotonic() + 10.0
    while (left := below(os.getpid())) and time.monotonic() < until:
        for number in (signal.SIGSTOP, signal.SIGKILL):  # none starts others meanwhile
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)
    remove(scratch)
    os._exit(0)


def remove(scratch: str) -> None:
    """Remove a folder and all below it, however deep, also where it is locked; or what can be.

    It goes from folder to folder: nothing calls itself, and no path grows long.
    """
    with contextlib.suppress(OSError):
        os.chmod(scratch, 0o700)
        here = os.open(scratch, _FOLDER)
        above: list[tuple[os.stat_result, list[str]]] = []
        inner = _emptied(here)
        while inner or above:
            if inner:
                there, was = _entered(inner[-1], here), here
                if there is None:
                    inner.pop()
                    continue
                above.append((os.stat(here), inner))
                inner = _emptied(there)
            else:
                there, was = os.open("..", _FOLDER, dir_fd=here), here
                outer, inner = above.pop()
                if not os.path.samestat(outer, os.stat(there)):
                    break  # somebody moved it meanwhile
                with contextlib.suppress(OSError):
                    os.rmdir(inner.pop(), dir_fd=there)
            here = there
            os.close(was)
        os.close(here)
        os.rmdir(scratch)


def _emptied(folder: int) -> list[str]:
    """Remove the files of a folder; returns the names of the folders in it."""
    inner = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
                continue
            with contextlib.suppress(OSError):
                os.unlink(entry.name, dir_fd=folder)
    return inner


def _entered(name: str, folder: int) -> int | None:
    """Open a folder in a folder, unlocked; None where that cannot be."""
    with contextlib.suppress(OSError):
        os.chmod(name, 0o700, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)
    return None


def below(root: int) -> list[int]:
    """List the descendants of a process, zombies too, as /proc has them."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as line:
                    children = [int(child) for child in line.read().split()]
                found += children
                waiting += children
    return found


def prctl(option: int, value: int) -> None:
    """Set a property of this process; elsewhere than on Linux there is none."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, *(ctypes.c_ulong(n) for n in (value, 0, 0, 0)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
