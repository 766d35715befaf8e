"""A learner's process as its parent sees it: started with limits, talked with, ended."""

import contextlib
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

from hardness.learners.isolated.ends import ending
from hardness.learners.isolated.messages import Array, Broken, Channel, Closed, Late, Message, Reply
from hardness.learners.isolated.proc import below, memory
from hardness.learners.isolated.sandbox import PACKAGES, SCRATCH, prefix, require_hidden, sandboxed
from hardness.learners.learner import Failed
from hardness.oracles.budget import Budget
from instances.errors import ToolkitError

MEMORY = 4 << 30  # bytes of a learner, where no budget says otherwise
_KEPT_NAMES = (
    *("PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
    "OPENBLAS_CORETYPE",
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_BEGIN = """import json, sys
sys.path.append(sys.argv[1])
from hardness.learners.isolated.child import main
main(int(sys.argv[2]), json.loads(sys.argv[3]))
"""
_ENDING = 10.0  # seconds for a process that closed its connection to end
_PRINTED = 4096  # bytes that are kept of what it prints


class Process:
    """A learner's process and its connection; it ends with this process.

    folder: of the learner's file. secrets: folders that hold a secret. Methods raise Failed if the
    learner has ended, or is late.
    """

    def __init__(self, budget: Budget, folder: Path, secrets: tuple[Path, ...] = ()) -> None:
        """Start it. It holds no secret: it is told what to do by messages alone."""
        require_hidden(folder, secrets)
        self.sandboxed, self.peak_bytes = sandboxed(), 0
        self._cpu = budget.cpu_seconds is not None
        command = prefix(folder, secrets) if self.sandboxed else []
        made = None if self.sandboxed else tempfile.mkdtemp(prefix="hardness-learner-")
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        command += [sys.executable, "-P", "-c", _BEGIN, str(PACKAGES), str(theirs.fileno())]
        with theirs:
            self._first = subprocess.Popen(
                [*command, json.dumps(_limits(budget))],
                pass_fds=[theirs.fileno()],
                cwd=made,
                env=_environment(made or SCRATCH),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
        self.channel = Channel(ours)
        self._release = weakref.finalize(self, _end, self._first, made)  # at our end, too
        self._waiting = Thread(target=_wait, args=(self._first, self.channel), daemon=True)
        self._waiting.start()
        self._heard = False

    def tell(
        self, message: Message, until: float | None, arrays: dict[str, Array] | None = None
    ) -> None:
        """Send a message and arrays."""
        with self._failing():
            self.channel.tell(message, until, arrays)

    def hear(
        self, until: float | None, shape: tuple[int, ...] = (), token: tuple[int, ...] = ()
    ) -> tuple[Reply, Array | None]:
        """Wait for a message, and for numbers of a shape where it has values, or chosen tokens."""
        with self._failing():
            heard = self.channel.hear(until, shape, token)
            self._heard = True
            return heard

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except Late as error:
            raise self.failure(late=True) from error
        except Closed as error:
            self._waiting.join(_ENDING)  # its end may be seen after that of its connection
            raise self.failure() from error
        except Broken as error:
            raise self.failure() from error

    def failure(self, words: Reply | None = None, late: bool = False) -> Failed:
        """End it, and say what became of it."""
        by_itself = not self._waiting.is_alive()
        details = self.close()
        code = self._first.returncode if by_itself else None
        if code is not None and self.sandboxed and code > 128:  # bubblewrap's word for a signal
            code = 128 - code
        if by_itself and not self._heard:
            printed = " ".join(str(details.get("printed", "nothing was said")).split())
            raise ToolkitError(f"the learner's process could not be started: {printed[-300:]}")
        failed = ending(words, code=code, late=late, cpu=self._cpu, sandbox=self.sandboxed)
        failed.details |= details
        return failed

    def look(self) -> None:
        """Note the most memory that one of its processes held, which Linux tells."""
        for pid in (self._first.pid, *below(self._first.pid)):
            self.peak_bytes = max(self.peak_bytes, memory(pid, "VmHWM"))

    def close(self) -> Message:
        """End it and what stayed in its session; may be called again. What it printed last."""
        if self._release.alive:
            self.look()
            self._release()
            self.channel.socket.close()
            with self._output as output:
                output.seek(max(0, output.seek(0, os.SEEK_END) - _PRINTED))
                self._printed = output.read(_PRINTED).decode("utf-8", "replace")
        kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in self._printed)
        return {"printed": kept[-2000:]} if kept.strip() else {}


def _limits(budget: Budget) -> dict[str, list[int]]:
    """Limits of each of its processes, soft and hard."""
    most = budget.memory_bytes or MEMORY
    limits = {name: [most, most] for name in ("RLIMIT_DATA", "RLIMIT_FSIZE")}
    limits["RLIMIT_CORE"] = [0, 0]
    if budget.cpu_seconds is not None:
        seconds = math.ceil(budget.cpu_seconds)
        limits["RLIMIT_CPU"] = [seconds, seconds + 1]  # told, then killed
    return limits


def _wait(first: "subprocess.Popen[bytes]", channel: Channel) -> None:
    """Close the connection when the process ends: others may hold its end of it open."""
    try:
        os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)  # its number stays taken
    except ChildProcessError:
        pass
    except AttributeError:  # macOS before Python 3.13
        first.wait()
    channel.hang_up()


def _end(first: "subprocess.Popen[bytes]", scratch: str | None) -> None:
    """Kill the process and its session, and remove its folder."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def _environment(scratch: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n in _KEPT_NAMES or n.startswith("LC_")}
    folders = ("HOME", "TMPDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    flags = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    threads = {name: os.environ.get(name, one) for name, one in _ONE_THREAD.items()}
    return kept | threads | dict.fromkeys(folders, scratch) | flags
