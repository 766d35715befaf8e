"""What watches a learner: a thread that measures what its processes use and ends them at a limit.

It reads bytes of the kernel, among which names of processes stand, which may be any. Whatever goes
wrong in it, the learner is ended: nothing goes on that is not watched. Memory is what is resident
and what the file systems in memory hold; the kernel's own for a process counts where there is a
`group`, and is bounded elsewhere: by limits of the process and by what `fence` closes.
"""

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from hardness.upper.isolated import contain, init
from hardness.upper.isolated.contain import Place
from hardness.upper.isolated.group import Group
from hardness.upper.learner import Outcome

PROCESSES, THREADS = 64, 1024  # a learner's
_EVERY = 0.02  # seconds between two looks at what is used
_JOINING = 20.0  # seconds for the thread to end all, before another does
_KEPT = 4096  # bytes of what is printed
_INODE = 2048  # bytes that a file of a file system in memory takes besides its content
_PAGE, _TICK = os.sysconf("SC_PAGE_SIZE"), 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Stat:
    """What the system says of a process: seconds of a processor, and of children it collected."""

    pid: int
    started: int
    ended: bool  # a zombie
    seconds: float
    collected: float
    threads: int
    resident: int  # bytes


class Watcher(Thread):
    """Measures until the first process has ended, a limit is passed or `stop` is called.

    Then it ends what is left by `over`. `settled`: there is something that says how it ended.
    """

    def __init__(
        self,
        first: "subprocess.Popen[bytes]",
        place: Place,
        *,
        memory: int,
        cpu: float | None,
        group: Group | None,
        report: int,
        printing: int,
        over: Callable[[], object],
        hang_up: Callable[[], object],
    ) -> None:
        """Take the limits, the ends of two pipes, and what closes the connection: `hang_up`.

        Once that is done nobody waits for a learner that has ended.
        """
        super().__init__(daemon=True)
        self.limit: Outcome | None = None  # that was passed
        self.failed = ""  # what went wrong in watching
        self.status, self.printed = b"", b""
        self.peak_bytes, self.cpu_seconds, self.left = 0, 0.0, 0
        self.settled = Event()
        self._first, self._place = first, place
        self._memory, self._cpu, self._group = memory, cpu, group
        self._report, self._printing = report, printing
        self._over, self._hang_up = over, hang_up
        self._stopped, self._wake = os.pipe()
        self._own: dict[tuple[int, int], float] = {}  # processor seconds of all ever seen

    def run(self) -> None:
        """Watch, and end all that is left whatever happens."""
        try:
            self._watch()
        except BaseException as error:
            self.failed = f"{type(error).__name__}: {error}"[:500]
        finally:
            try:
                self._over()
                self._read(self._printing, 32)  # what is left of it, unless somebody goes on
            finally:
                self.settled.set()
                self._hang_up()

    def stop(self) -> None:
        """Have it look once more and end all; returns when all has ended."""
        os.write(self._wake, b"x")
        self.join(_JOINING)
        if self.is_alive():  # it may wait for what the kernel does for a process
            self._over()
            self.join()
        for descriptor in (self._report, self._printing, self._stopped, self._wake):
            os.close(descriptor)

    def _watch(self) -> None:
        waiting, look, stopped = select.poll(), 0.0, False
        for descriptor in (self._report, self._printing, self._stopped):
            waiting.register(descriptor, select.POLLIN)
        while not stopped and not self.limit and self._first.poll() is None:
            for descriptor, _ in waiting.poll(max(0.0, 1000 * (look - time.monotonic()))):
                if descriptor == self._stopped:
                    stopped = True
                elif not self._take(descriptor):
                    waiting.unregister(descriptor)
            # One that prints much is not looked at more often.
            if stopped or time.monotonic() >= look:
                self._look()
                look = time.monotonic() + _EVERY
        self._read(self._report, 1)
        if self._group and self._group.passed():
            self.limit = self.limit or Outcome.MEMORY_SPENT

    def _read(self, descriptor: int, most: int) -> None:
        """Take what is there, in so many parts at most."""
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        for _ in range(most):
            if not waiting.poll(0) or not self._take(descriptor):
                return

    def _take(self, descriptor: int) -> bool:
        """Read what was reported or printed; False at its end."""
        part = os.read(descriptor, 1 << 16)
        if descriptor == self._printing:
            self.printed = (self.printed + part)[-_KEPT:]
        elif part:
            self.status = (self.status + part)[:16]
            self.settled.set()
            self._hang_up()  # others of the learner's may hold the other end open
        return bool(part)

    def _look(self) -> None:
        """Measure what runs, and note a limit that is passed; on Linux alone."""
        if sys.platform != "linux":
            return
        tree = below(self._first.pid, self._place.level == "bubblewrap")
        there = [found for pid in tree if (found := stat(pid)) and not found.ended]
        if stat(self._first.pid) is None and self._first.poll() is None:
            raise OSError("the system does not show its processes")
        self._own |= {(one.pid, one.started): one.seconds for one in there}
        # What was collected by a parent, or what was seen of each: a parent may not collect.
        used = max(sum(one.seconds + one.collected for one in there), sum(self._own.values()))
        self.cpu_seconds = max(self.cpu_seconds, used)
        self.left = max(0, len(there) - 1 - (not self.status))
        files = _in_files(tree[0], self._place) if tree else 0
        held = sum(one.resident for one in there) + files
        if held > self._memory:  # a page that several share was counted for each
            held = min(held, sum(map(proportional, there)) + files)
        self.peak_bytes = max(self.peak_bytes, held)
        if self._cpu is not None and used > self._cpu:
            self.limit = Outcome.CPU_SPENT
        elif held > self._memory or (self._group and self._group.passed()):
            self.limit = Outcome.MEMORY_SPENT
        elif len(there) > PROCESSES or sum(one.threads for one in there) > THREADS:
            self.limit = Outcome.TOO_MANY_PROCESSES


def below(first: int, namespace: bool) -> list[int]:
    """List the processes of a learner: in a namespace not that of bubblewrap outside of it."""
    return [*([] if namespace else [first]), *init.below(first)]


def stat(pid: int) -> Stat | None:
    """Look at a process; None for one that is gone.

    >>> stat(os.getpid()).threads >= 1
    True
    """
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Its name stands in parentheses and may hold some itself.
    fields = content[content.rindex(b")") + 2 :].split()
    user, system, of_user, of_system = (int(field) * _TICK for field in fields[11:15])
    return Stat(
        pid=pid,
        started=int(fields[19]),
        ended=fields[0] in (b"Z", b"X"),
        seconds=user + system,
        collected=of_user + of_system,
        threads=int(fields[17]),
        resident=int(fields[21]) * _PAGE,
    )


def proportional(one: Stat) -> int:
    """Return resident bytes, of a page that n processes share 1/n, where that can be known."""
    with contextlib.suppress(OSError), open(f"/proc/{one.pid}/smaps_rollup", "rb") as lines:
        for line in lines:  # closed where the process closed itself to its parent
            if line.startswith(b"Pss:"):
                return 1024 * int(line.split()[1])
    return one.resident


def _in_files(first: int, place: Place) -> int:
    """Add up what the file systems in memory hold, of a learner in a namespace."""
    total = 0
    if place.level == "bubblewrap":
        with contextlib.suppress(OSError):
            # The first is there alone once the process has left the file systems of this machine.
            for folder in (contain.SCRATCH, "/dev/shm", "/tmp"):
                if Path(folder) == place.folder:  # then it is of this machine
                    continue
                found = os.statvfs(f"/proc/{first}/root{folder}")
                total += (found.f_blocks - found.f_bfree) * found.f_frsize
                total += (found.f_files - found.f_ffree) * _INODE
    return total
