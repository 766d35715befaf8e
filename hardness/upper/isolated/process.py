"""A learner's process as its parent sees it: started, talked with, ended."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hardness.oracles.budget import Budget
from hardness.upper.isolated import contain, fence, init
from hardness.upper.isolated.contain import Place
from hardness.upper.isolated.ends import Seen, code_of, ending
from hardness.upper.isolated.group import Group, group
from hardness.upper.isolated.messages import Array, Broken, Channel, Closed, Late, Message, Reply
from hardness.upper.isolated.watch import Watcher, below
from hardness.upper.learner import Failed
from instances.errors import ToolkitError
from instances.spec import VARIABLE

MEMORY = 4 << 30  # bytes of a learner, where no budget says otherwise
_KEPT_NAMES = (
    *("PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
    *(VARIABLE, "OPENBLAS_CORETYPE"),
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_INIT = Path(__file__).with_name("init.py")
_ENDING = 10.0  # seconds that all of a learner's processes have to end
_NOT_DUMPABLE = 4
_ADDRESSES = 64 << 30  # bytes that a process may map beyond its memory: tables take 1/512 of them


class Process:
    """A learner's first process, its connection and the thread that watches all below it.

    Methods raise Failed where the learner has ended, is late, or was ended at a limit.
    """

    def __init__(self, budget: Budget, place: Place) -> None:
        """Start it. It holds no secret: it is told what to do by messages alone."""
        self.place = place
        self._budget, memory = budget, budget.memory_bytes or MEMORY
        if place.level != "bubblewrap":
            init.prctl(_NOT_DUMPABLE, 0)  # this process's memory is closed to others of its user
        ours, theirs = socket.socketpair()
        reported, report = os.pipe()
        printed, output = os.pipe()
        filter = _piped(fence.program() or b"")
        job = {
            "channel": theirs.fileno(),
            "report": report,
            "parent": os.getpid(),
            "namespace": place.level == "bubblewrap",
            "fence": place.level == "landlock",
            "scratch": place.working,
            "writable": [str(path) for path in contain.writable(place)],
            "readable": [str(path) for path in contain.readable(place)],
            "packages": str(contain.packages()),
            "limits": _limits(memory, budget.cpu_seconds),
        }
        environment = _environment(place.working)
        command = contain.command(place, memory, environment, filter)
        command += [sys.executable, "-P", str(_INIT), json.dumps(job)]
        counted = group(memory)
        try:
            self._first = subprocess.Popen(
                counted.within(command) if counted else command,
                pass_fds=(theirs.fileno(), report, filter),
                cwd=place.scratch,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except BaseException:
            if counted:
                counted.remove()
            raise
        finally:
            for descriptor in (report, output, filter):
                os.close(descriptor)
            theirs.close()
        self.channel = Channel(ours)
        over = partial(_end, self._first, place, counted)
        self._release = weakref.finalize(self, over)  # at the end of this process, too
        self._watcher = Watcher(
            self._first,
            place,
            memory=memory,
            cpu=budget.cpu_seconds,
            group=counted,
            report=reported,
            printing=printed,
            over=over,
            hang_up=self.channel.hang_up,
        )
        self._closed = self._heard = False
        self._watcher.start()

    @property
    def peak_bytes(self) -> int:
        """The most memory that was seen."""
        return self._watcher.peak_bytes

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all processes together, as far as it was seen."""
        return self._watcher.cpu_seconds

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
            self._watcher.settled.wait(_ENDING)  # its end is reported after that of its connection
            raise self.failure() from error
        except Broken as error:
            raise self.failure() from error

    def failure(self, words: Reply | None = None, late: bool = False) -> Failed:
        """End it, and say what became of it."""
        watcher = self._watcher
        code = code_of(watcher.status)  # what is reported later is our own doing
        vanished = not watcher.status and self._first.poll() is not None
        told = self.close()
        vanished = vanished and not watcher.limit and not watcher.failed
        if vanished and not self._heard:
            said = " ".join(str(told.get("printed", "nothing was said")).split())
            raise ToolkitError(f"the learner's process could not be started: {said[-300:]}")
        failed = ending(
            Seen(
                words=words,
                unwatched=watcher.failed,
                limit=watcher.limit,
                code=code,
                vanished=vanished,
                late=late,
                cpu=self._budget.cpu_seconds is not None,
                level=self.place.level,
            )
        )
        failed.details |= told
        return failed

    def close(self) -> Message:
        """End all of its processes; may be called again. What is known of them, as details."""
        if not self._closed:
            self._closed = True
            self._watcher.stop()
            self._release.detach()
            self.channel.socket.close()
        text = self._watcher.printed.decode("utf-8", "replace")
        kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
        left = {"processes_left": self._watcher.left} if self._watcher.left else {}
        printed = {"printed": kept[-2000:]} if kept.strip() else {}
        return left | printed


def _limits(memory: int, seconds: float | None) -> dict[str, int]:
    """Limits of each process: behind those of all together, which are looked at."""
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_DATA": memory + (1 << 30),
        "RLIMIT_NOFILE": 1024,
    }
    if not contain.devices():  # a driver maps all memory of its cards and of the machine
        limits["RLIMIT_AS"] = memory + _ADDRESSES
    if seconds is not None:
        limits["RLIMIT_CPU"] = int(seconds) + 3
    return limits


def _end(first: "subprocess.Popen[bytes]", place: Place, group: Group | None) -> None:
    """End all that a learner started: by the first process of its namespace, or as that one can."""
    namespace = place.level == "bubblewrap"
    tree: list[int] = []
    until = time.monotonic() + _ENDING
    while first.poll() is None and time.monotonic() < until:
        if tree := below(first.pid, namespace):
            break
        time.sleep(0.01)  # until bubblewrap has come to its first process
    if tree and namespace:
        # When process 1 of a namespace is gone, so are all in it.
        tree = tree[:1]
        with contextlib.suppress(OSError):
            os.kill(tree[0], signal.SIGKILL)
    elif tree:
        first.send_signal(signal.SIGCONT)
        first.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        first.wait(_ENDING)
        tree = []
    for pid in [*tree, first.pid] if first.poll() is None else []:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    first.wait()
    if group is not None:
        group.remove()
    if place.scratch is not None:
        init.remove(str(place.scratch))


def _environment(scratch: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n in _KEPT_NAMES or n.startswith("LC_")}
    folders = ("HOME", "TMPDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    flags = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    threads = {name: os.environ.get(name, one) for name, one in _ONE_THREAD.items()}
    return kept | threads | dict.fromkeys(folders, scratch) | flags


def _piped(content: bytes) -> int:
    """Return a descriptor from which a few bytes can be read."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading
