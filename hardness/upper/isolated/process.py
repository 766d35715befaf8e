"""A learner's process as its parent sees it: started, asked, ended, and how it ended."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hardness.oracles.budget import Budget
from hardness.upper.isolated.processes import below, end, high_water, remove, use
from hardness.upper.isolated.protect import adopt, end_orphans, protect
from hardness.upper.isolated.wire import Broken, Channel, Late, Window, shared
from hardness.upper.learner import Failed, Outcome

MEMORY, PROCESSES, THREADS = 4 << 30, 64, 1024  # a learner's, where no budget says otherwise
LOST = 77  # the exit code of a child that cannot reach its parent
_KEPT_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"),
    *("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "SYSTEMROOT"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
)
_GUARD = Path(__file__).with_name("guard.py")
_ENDING = 15.0  # seconds that a guard may take to end what there is
_SHOWN = 2000  # characters of what was printed


@dataclass(frozen=True, kw_only=True)
class End:
    """How a process ended: the guard's word for why, its wait status, what was used and printed."""

    reason: str
    status: int | None
    peak_bytes: int
    cpu_seconds: float
    left: int
    printed: str


_GONE = End(reason="gone", status=None, peak_bytes=0, cpu_seconds=0.0, left=0, printed="")


class Process:
    """A child with its guard, its connection and its window; raises Failed where it has ended."""

    def __init__(
        self, budget: Budget, window_bytes: int, confine: bool = True, hidden: tuple[Path, ...] = ()
    ) -> None:
        """Start both. They hold no secret: they are told what to do by messages alone.

        confine: to the scratch folder, where the system can; hidden: folders that stay closed.
        """
        protect()
        adopt(1)
        self.token = secrets.token_hex(16)
        self.told: dict[str, Any] = {}  # what is known of the learner once it is loaded
        self.folder = Path(tempfile.mkdtemp(prefix="hardness-learner-"))
        ours, theirs = socket.socketpair()
        control, guards = socket.socketpair()
        descriptor = shared(window_bytes)
        self.channel, self.window = Channel(ours), Window(descriptor, window_bytes)
        self._control = control
        memory = budget.memory_bytes or MEMORY
        given = (theirs.fileno(), descriptor)
        job = {
            "command": [sys.executable, "-P", "-m", "hardness.upper.isolated.child"]
            + [str(n) for n in (*given, window_bytes)],
            "descriptors": given,
            "folder": str(self.folder),
            "confine": confine,
            "hidden": [str(path.absolute()) for path in hidden],
            "cpu_seconds": budget.cpu_seconds,
            "memory_bytes": memory,
            "window_bytes": window_bytes,
            "processes": PROCESSES,
            "threads": THREADS,
        }
        with theirs, guards:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD), str(guards.fileno())],
                pass_fds=(guards.fileno(), *given),
                start_new_session=True,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._ended: End | None = None
        self._known: list[int] = []
        given_back = (
            control,
            self.channel.socket,
            self.window,
            self.folder,
            self.token,
            self._known,
        )
        self._release = weakref.finalize(self, _release, self._guard, *given_back)
        control.sendall(json.dumps(job).encode() + b"\n")

    def send(self, message: dict[str, Any], until: float | None = None) -> None:
        """Send a message; raises Failed where nobody is there, or takes it in time."""
        with self._failing():
            self.channel.send(message, until)

    def receive(self, until: float | None = None) -> dict[str, Any]:
        """Wait for a message; raises Failed with what became of the process, or that it is late."""
        with self._failing():
            return self.channel.receive(until)

    def take(self, places: Any) -> dict[str, NDArray[Any]]:
        """Copy arrays out of the window; raises Failed where they are none."""
        with self._failing():
            return self.window.take(places)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except Late as error:
            failed = self.failure(Outcome.SECONDS_SPENT)
            failed.details.setdefault("ended", "by the guard: it went on beyond its time")
            raise failed from error
        except Broken as error:
            raise self.failure(Outcome.BROKE_OFF) from error

    def know(self) -> None:
        """Remember who runs: they become children of this process should their guard be killed."""
        self._known[:] = below(self._guard.pid)

    def end(self) -> End:
        """End all processes, if they have not ended; how they did."""
        if self._ended is None:
            self._ended = _end(self._guard, self._control, self._known)
        return self._ended

    def close(self) -> End:
        """End all processes and give everything back; may be called again. How they ended."""
        ended = self.end()
        self._release()
        return ended

    def now(self) -> tuple[int, float]:
        """Return the peak of the resident bytes of what runs, and its processor seconds so far."""
        running = below(self._guard.pid)
        return high_water(running), use(running).cpu

    def failure(self, otherwise: Outcome) -> Failed:
        """Say what became of a process that does not answer: by its end, or else `otherwise`."""
        if otherwise is Outcome.BROKE_OFF:  # it may be about to end by itself
            with contextlib.suppress(OSError):
                self._control.settimeout(1.0)
                self._control.recv(1, socket.MSG_PEEK)
        ended = self.end()
        outcome, details = _meaning(ended, otherwise)
        return Failed(outcome, details | printed(ended))

    def _environment(self) -> dict[str, str]:
        kept = {n: os.environ[n] for n in _KEPT_NAMES if n in os.environ}
        kept |= {n: v for n, v in os.environ.items() if n.startswith("LC_")}
        scratch = str(self.folder)
        return kept | {
            "HARDNESS_RUN": self.token,
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": scratch,
            "MPLCONFIGDIR": scratch,
            "NUMBA_CACHE_DIR": scratch,
            "XDG_CACHE_HOME": scratch,
        }


def printed(ended: End) -> dict[str, Any]:
    """Return the end of what a learner printed, if it printed: without control characters."""
    kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in ended.printed)
    return {"printed": kept[-_SHOWN:]} if kept.strip() else {}


def _meaning(ended: End, otherwise: Outcome) -> tuple[Outcome, dict[str, Any]]:
    limits = {
        "cpu": Outcome.CPU_SPENT,
        "memory": Outcome.MEMORY_SPENT,
        "processes": Outcome.TOO_MANY_PROCESSES,
    }
    if ended.reason in limits:
        return limits[ended.reason], {}
    if ended.reason == "gone":
        return Outcome.CRASHED, {"signal": "its guard was killed"}
    if ended.reason == "stopped" or ended.status is None:
        return otherwise, {}
    code = os.waitstatus_to_exitcode(ended.status)
    if code < 0:
        return Outcome.CRASHED, {"signal": _name(-code)}
    return (otherwise, {}) if code == LOST else (Outcome.EXITED, {"exit_code": code})


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end(guard: "subprocess.Popen[bytes]", control: socket.socket, known: list[int]) -> End:
    """Have the guard end everything, and take its report; else end what is `known`, and it."""
    got, until = b"", time.monotonic() + _ENDING
    try:
        guard.send_signal(signal.SIGCONT)  # the learner may have stopped it
        with contextlib.suppress(OSError):
            control.sendall(b"stop")
        while not got.endswith(b"\n"):
            control.settimeout(max(0.01, until - time.monotonic()))
            part = control.recv(1 << 16)
            if not part:
                break
            got += part
        guard.wait(timeout=max(0.01, until - time.monotonic()))
        return End(**json.loads(got))
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired):
        known += below(guard.pid)
        end(known)
        guard.kill()
        guard.wait()
        return _GONE


def _release(
    guard: "subprocess.Popen[bytes]",
    control: socket.socket,
    channel: socket.socket,
    window: Window,
    folder: Path,
    token: str,
    known: list[int],
) -> None:
    if guard.poll() is None:
        _end(guard, control, known)
    if guard.returncode != 0:
        end_orphans(token, known)
    for sock in (control, channel):
        sock.close()
    window.close()
    remove(str(folder))
    adopt(-1)
