"""A learner's process as its parent sees it: started, watched, ended, and how it ended."""

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Lock, Thread

import psutil

from hardness.oracles.budget import Budget
from hardness.upper.isolated import contain, fence, init
from hardness.upper.isolated.contain import Place
from hardness.upper.isolated.messages import LOST, Array, Broken, Channel, Late, Message, Reply
from hardness.upper.learner import Failed, Outcome
from instances.errors import ToolkitError
from instances.spec import VARIABLE

MEMORY, PROCESSES, THREADS = 4 << 30, 64, 1024  # a learner's, where no budget says otherwise
_KEPT_NAMES = (
    *("PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
    *(VARIABLE, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "MKL_NUM_THREADS"),
)
_INIT = Path(__file__).with_name("init.py")
_EVERY = 0.02  # seconds between two looks at what is used
_ENDING = 10.0  # seconds that all of a learner's processes have to end
_KEPT = 4096  # bytes of what is printed
_INODE = 2048  # bytes of the kernel's memory that a file may take besides its content
_NOT_DUMPABLE = 4


class Process:
    """A learner's first process, its connection and the thread that watches all below it.

    Methods raise Failed where the learner has ended, is late, or was ended at a limit.
    """

    def __init__(self, budget: Budget, place: Place) -> None:
        """Start it. It holds no secret: it is told what to do by messages alone."""
        self.place = place
        self._budget, self._memory = budget, budget.memory_bytes or MEMORY
        if place.level != "bubblewrap":
            init.prctl(_NOT_DUMPABLE, 0)  # this process's memory is closed to others of its user
        ours, theirs = socket.socketpair()
        self._report, report = os.pipe()
        self._printing, output = os.pipe()
        filter = _piped(fence.program() or b"")
        given = (theirs.fileno(), report, filter)
        seconds = budget.cpu_seconds
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
            # Of each process: behind those of all together, which are looked at.
            "limits": {
                "RLIMIT_CORE": 0,
                "RLIMIT_DATA": self._memory + (1 << 30),
                "RLIMIT_NOFILE": 1024,
                **({"RLIMIT_CPU": int(seconds) + 2} if seconds is not None else {}),
            },
        }
        environment = _environment(place.working)
        before = contain.command(place, self._memory, environment, filter)
        try:
            self._first = subprocess.Popen(
                [*before, sys.executable, "-P", str(_INIT), json.dumps(job)],
                pass_fds=given,
                cwd=place.scratch,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        finally:
            for descriptor in (report, output, filter):
                os.close(descriptor)
            theirs.close()
        self.channel = Channel(ours)
        self.peak_bytes, self.cpu_seconds = 0, 0.0
        self._count, self._left, self._looking = 0, 0, Lock()
        self._passed: Outcome | None = None  # the limit that was
        self._printed, self._status = b"", b""
        self._own: dict[tuple[int, float], float] = {}  # processor seconds, of processes ever seen
        self._watcher = Thread(target=self._watch, daemon=True)
        self._release = weakref.finalize(self, _end, self._first, place)
        self._closed = self._heard = False
        self._watcher.start()

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
            failed = self.failure(Outcome.SECONDS_SPENT)
            failed.details.setdefault("ended", "from outside: it went on beyond its time")
            raise failed from error
        except Broken as error:
            raise self.failure(Outcome.BROKE_OFF) from error

    def failure(self, otherwise: Outcome) -> Failed:
        """End it and say what became of it: a limit passed, its own end, or else `otherwise`."""
        if otherwise is Outcome.BROKE_OFF:  # it may be about to end by itself
            until = time.monotonic() + 1.0
            while time.monotonic() < until and not (self._status or self._passed):
                time.sleep(0.005)
        status = self._status  # what comes later is our own doing
        gone = self._first.poll() is not None and not (status or self._passed)
        told = self.close()
        if gone and self._heard:
            return Failed(Outcome.CRASHED, {"signal": "its first process was killed"} | told)
        if gone:
            said = " ".join(str(told.get("printed", "nothing was said")).split())
            raise ToolkitError(f"the learner's process could not be started: {said[-300:]}")
        if self._passed:
            return Failed(self._passed, told)
        found = re.match(rb"(\d{1,5})\n", status)
        if not found:  # none, or what the learner wrote there itself
            return Failed(otherwise, told)
        code = int(found[1]) >> 8 or -(int(found[1]) & 127)
        if code == LOST:
            return Failed(otherwise, told)
        if code >= 0:
            return Failed(Outcome.EXITED, {"exit_code": code} | told)
        if -code == getattr(signal, "SIGXCPU", 0) and self._budget.cpu_seconds:
            return Failed(Outcome.CPU_SPENT, told)
        named = {s.value: s.name for s in signal.Signals}
        return Failed(Outcome.CRASHED, {"signal": named.get(-code, f"signal {-code}")} | told)

    def close(self) -> Message:
        """End all of its processes; may be called again. What is known of them, as details."""
        if not self._closed:
            self._closed = True
            with self._looking:
                self._look()
            self._left = max(0, self._count - 1 - (not self._status))
            self._release()
            self._watcher.join()
            self.channel.socket.close()
            for descriptor in (self._report, self._printing):
                os.close(descriptor)
        text = self._printed.decode("utf-8", "replace")
        kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
        left = {"processes_left": self._left} if self._left else {}
        printed = {"printed": kept[-2000:]} if kept.strip() else {}
        return left | printed

    def _watch(self) -> None:
        """Look at what is used every few hundredths of a second, until the first process ends."""
        open_ends, look = {self._report, self._printing}, 0.0
        while self._first.poll() is None and not self._closed:
            ready = select.select(open_ends, (), (), max(0.0, look - time.monotonic()))[0]
            for descriptor in ready:
                part = os.read(descriptor, 1 << 16)
                if not part:
                    open_ends.discard(descriptor)
                elif descriptor == self._report:
                    self._status = (self._status + part)[:16]
                    with contextlib.suppress(OSError):  # others may hold the other end open
                        self.channel.socket.shutdown(socket.SHUT_RDWR)
                else:
                    self._printed = (self._printed + part)[-_KEPT:]
            if time.monotonic() < look:  # a learner that prints much is not looked at more often
                continue
            with self._looking:
                self._look()
            look = time.monotonic() + _EVERY
            if self._passed:
                _end(self._first, self.place)

    def _running(self) -> list[psutil.Process]:
        """List the first process of the learner and all below it, but for those of bubblewrap."""
        found = []
        for pid in _below(self._first.pid, self.place.level == "bubblewrap"):
            with contextlib.suppress(psutil.Error):
                found.append(psutil.Process(pid))
        return found

    def _look(self) -> None:
        """Measure what runs, and note a limit that is passed; under the lock."""
        resident = count = threads = 0
        collected, tree = 0.0, self._running()
        for process in tree:
            with contextlib.suppress(psutil.Error), process.oneshot():
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                times = process.cpu_times()
                self._own[process.pid, process.create_time()] = times.user + times.system
                collected += times.user + times.system
                collected += getattr(times, "children_user", 0) + getattr(
                    times, "children_system", 0
                )
                resident += process.memory_info().rss + _page_tables(process.pid)
                threads += process.num_threads()
                count += 1
        # What was collected by a parent, or what was seen of each: a parent may not collect.
        used = max(collected, sum(self._own.values()))
        self.cpu_seconds = max(self.cpu_seconds, used)
        budget, files, self._count = self._budget, self._files(tree), count
        held = resident + files
        if held > self._memory:
            held = min(held, _exactly(tree) + files)
        self.peak_bytes = max(self.peak_bytes, held)
        if budget.cpu_seconds is not None and used > budget.cpu_seconds:
            self._passed = self._passed or Outcome.CPU_SPENT
        elif held > self._memory:
            self._passed = self._passed or Outcome.MEMORY_SPENT
        elif count > PROCESSES or threads > THREADS:
            self._passed = self._passed or Outcome.TOO_MANY_PROCESSES

    def _files(self, tree: list[psutil.Process]) -> int:
        """Add up what the file systems in memory hold, of a learner in a namespace."""
        if self.place.level != "bubblewrap" or not tree:
            return 0
        total = 0
        with contextlib.suppress(OSError):
            # The first is there alone once the process has left the file systems of this machine.
            for folder in (contain.SCRATCH, "/dev/shm", "/tmp"):
                if Path(folder) == self.place.folder:  # then it is of this machine
                    continue
                found = os.statvfs(f"/proc/{tree[0].pid}/root{folder}")
                total += (found.f_blocks - found.f_bfree) * found.f_frsize
                total += (found.f_files - found.f_ffree) * _INODE
        return total


def _exactly(tree: list[psutil.Process]) -> int:
    """Add up resident bytes, of a page that n processes share 1/n each, where that can be known."""
    total = 0
    for process in tree:
        with contextlib.suppress(psutil.NoSuchProcess):
            try:
                found = process.memory_full_info()
                total += getattr(found, "pss", found.rss)
            except psutil.AccessDenied:  # a process can close itself to its parent
                total += process.memory_info().rss
            total += _page_tables(process.pid)
    return total


def _page_tables(pid: int) -> int:
    """Return the bytes that describe the pages of a process: a page never written takes some."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as lines:
        for line in lines:
            if line.startswith("VmPTE:"):
                return 1024 * int(line.split()[1])
    return 0


def _below(first: int, namespace: bool) -> list[int]:
    """List the processes of a learner: in a namespace not that of bubblewrap outside of it."""
    if sys.platform == "linux":
        found = [first, *init.below(first)]
    else:
        with contextlib.suppress(psutil.Error):
            return [first, *(p.pid for p in psutil.Process(first).children(recursive=True))]
        return []
    return found[1:] if namespace else found


def _end(first: "subprocess.Popen[bytes]", place: Place) -> None:
    """End all that a learner started: by the first process of its namespace, or as that one can."""
    namespace = place.level == "bubblewrap"
    tree = _below(first.pid, namespace) if first.poll() is None else []
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
    if place.scratch is not None:
        init.remove(str(place.scratch))


def _environment(scratch: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n in _KEPT_NAMES or n.startswith("LC_")}
    folders = ("HOME", "TMPDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    flags = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return kept | dict.fromkeys(folders, scratch) | flags


def _piped(content: bytes) -> int:
    """Return a descriptor from which a few bytes can be read."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading
