"""The child process in which a learner runs: starting it with limits, reusing and ending it.

    parent (holds the secret) --- bytes over one socket --- [ bubblewrap: ] child

No code of a user's file is executed in the process that knows the secret. A child ends with its
parent or at its limits; otherwise it serves further runs of the same file. The module `child` runs
in it, and `remote` is the parent's side.
"""

import atexit
import contextlib
import ctypes
import json
import math
import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hardness.learners.learner import Failed, Outcome
from hardness.oracles.budget import Budget, memory_peak, restart_peak
from instances.errors import ToolkitError, UsageError

Paths = tuple[Path, ...]
BATCH_BYTES = 1 << 25  # of examples, tokens or predictions in one message
MESSAGE_BYTES = BATCH_BYTES + (1 << 20)  # the largest message
EXIT_LOST_PARENT = 77  # the exit code of a child that cannot reach its parent
DEFAULT_FILE_MEMORY = 4 << 30  # bytes for a user's learner without a memory budget
SANDBOX = "HARDNESS_SANDBOX"  # set by --sandbox
SCRATCH = "/run/learner"  # the working folder in the sandbox, in memory
PACKAGES = Path(__file__).resolve().parents[2]  # the folder that contains this package
_PASSED_VARIABLES = (
    *("PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OPENBLAS_CORETYPE"),
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_CHILD_CODE = """import json, sys
sys.path.append(sys.argv[1])
from hardness.learners.child import main
main(int(sys.argv[2]), json.loads(sys.argv[3]))
"""
_END_SECONDS = 10.0  # seconds to end after it closed the connection
_PRINTED_BYTES = 4096  # bytes kept of its output
_IDLE_CHILDREN = 4  # that wait to be used again
_SYSTEM_PATHS = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
)
_ISOLATED = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_EMPTY_FOLDERS = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", SCRATCH)


class Child:
    """A process in which a learner runs, and its connection; it ends with its creating thread.

    folder: the folder of the user's file, None for built-in learners. secrets: folders that contain
    a secret. Methods raise Failed if the process has ended.
    """

    def __init__(self, budget: Budget, folder: Path | None = None, secrets: Paths = ()) -> None:
        """Start the process. It holds no secret and receives its work by messages alone."""
        for secret in secrets if folder else ():
            if folder and folder.is_relative_to(secret.resolve()):  # nothing can hide it
                raise ToolkitError(f"{secret} holds secret.json and the learner: move one of them")
        self.sandboxed, self.peak_bytes = bool(folder) and sandboxed(), 0
        self.key: Hashable = None  # runs with this key may use it again; None: none may
        self._late, self._heard, self._folder = False, False, folder
        self._cpu = budget.cpu_seconds is not None
        command = sandbox_command(folder, secrets) if self.sandboxed and folder else []
        scratch = tempfile.mkdtemp(prefix="hardness-learner-") if folder and not command else None
        self._output = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        self._socket, theirs = socket.socketpair()
        command += [sys.executable, "-P", "-c", _CHILD_CODE, str(PACKAGES), str(theirs.fileno())]
        printed = self._output if folder else None
        with theirs:
            self._first = subprocess.Popen(
                [*command, json.dumps(_limits(budget, bool(folder)))],
                env=_environment(scratch or SCRATCH) if folder else _ONE_THREAD | os.environ,
                stdin=subprocess.DEVNULL, stdout=printed or sys.__stderr__, stderr=printed,
                pass_fds=[theirs.fileno()], cwd=scratch, start_new_session=True,
            )  # fmt: skip
        self._connection = Connection(os.dup(self._socket.fileno()))
        self._release = weakref.finalize(self, _end, self._first, scratch)  # also at exit
        self._waiting = threading.Thread(target=_wait, args=(self._first, self._socket))
        self._waiting.daemon = True
        self._waiting.start()

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._release.alive and self._waiting.is_alive()

    def tell(self, content: bytes) -> None:
        """Send a message."""
        with self._connection_failures():
            self._connection.send_bytes(content)

    def hear(self) -> bytes:
        """Wait for a message; from a user's learner it has at most MESSAGE_BYTES bytes."""
        with self._connection_failures():
            content = self._connection.recv_bytes(MESSAGE_BYTES if self._folder else None)
        self._heard = True
        return content

    @contextlib.contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """End the process if the block takes longer than some seconds; None: no limit."""

        def expire() -> None:
            self._late = True
            _kill(self._first)

        timer = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @contextlib.contextmanager
    def _connection_failures(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            if isinstance(error, EOFError) or error.errno:  # else it sent an invalid message
                # The connection may close shortly before the process ends.
                self._waiting.join(_END_SECONDS)
            raise self.failure() from error

    def failure(self, cause: Failed | None = None) -> Failed:
        """End the process, and return how it failed; cause: a failure that it reported itself."""
        by_itself = not self._waiting.is_alive()
        details = self.close()
        code = self._first.returncode if by_itself else None
        if code is not None and self.sandboxed and code > 128:  # bubblewrap's code for a signal
            code = 128 - code
        if by_itself and not self._heard and not self._late:
            printed = " ".join(str(details.get("printed", "nothing was said")).split())[-300:]
            raise ToolkitError(f"the learner's process could not be started: {printed}")
        failed = cause or failure_of_exit(code, late=self._late, cpu=self._cpu)
        failed.details |= details
        return failed

    def note_peak(self) -> None:
        """Update `peak_bytes`, the largest memory of one of its processes (on Linux)."""
        for pid in (self._first.pid, *descendants(self._first.pid)):
            self.peak_bytes = max(self.peak_bytes, memory_peak(pid))

    def close(self) -> dict[str, Any]:
        """End the process and its session, and return what it printed last; may be repeated."""
        if not self._output.closed:
            self.note_peak()
            self._release()
            self._printed = self._last_output()
            for resource in (self._connection, self._socket, self._output):
                resource.close()
        return self._printed

    def leave(self) -> dict[str, Any]:
        """Keep the process for another run after a good end, and return what it printed."""
        if self.key is None or not self.running:
            return self.close()
        printed = self._last_output()
        self._output.truncate(0)
        with _lock:
            old, _idle[self.key] = [_idle.pop(self.key, None)], self  # two runs may have overlapped
            old += [_idle.pop(key) for key in list(_idle)[:-_IDLE_CHILDREN]]
        for child in filter(None, old):
            child.close()
        return printed

    def _last_output(self) -> dict[str, Any]:
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - _PRINTED_BYTES))
        text = self._output.read(_PRINTED_BYTES).decode("utf-8", "replace")
        kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
        return {"printed": kept[-2000:]} if kept.strip() else {}


_idle: dict[Hashable, Child] = {}
_lock = threading.Lock()


def take_child(
    budget: Budget, file: str = "", folder: Path | None = None, secrets: Paths = ()
) -> Child:
    """Give the child of this thread that served the same before, or start one.

    file: the SHA-256 of the user's file. folder: the folder of this file. Without them the child
    serves the learners of this package.
    """
    owner = os.getpid(), threading.get_ident()  # a child ends with its thread
    confined = bool(folder) and sandboxed()
    key = (*owner, file, folder, secrets, confined, budget.memory_bytes)
    with _lock:
        child = _idle.pop(key, None)
    if child and child.running and budget.cpu_seconds is None:
        child.peak_bytes, root = 0, child._first.pid
        restart_peak(root, *descendants(root))
        return child
    if child:
        child.close()
    child = Child(budget, folder, secrets)
    child.key = key if budget.cpu_seconds is None else None  # processor time is counted once
    return child


@atexit.register
def end_idle_children() -> None:
    """End the child processes that wait to be used again."""
    with _lock:
        children = [_idle.pop(key) for key in list(_idle)]
    for child in children:
        child.close()


def failure_of_exit(code: int | None = None, late: bool = False, cpu: bool = False) -> Failed:
    """Return the failure of a child that ended without a report.

    code: its exit code, or minus its signal; None if it was running. late: whether it was ended for
    its time. cpu: whether its processor time is limited.

    >>> failure_of_exit(code=-11).details
    {'signal': 'SIGSEGV', 'reason': 'SIGSEGV ended its process'}
    """
    if late:
        return Failed(Outcome.SECONDS_SPENT, {"ended": "from outside: it went on beyond its time"})
    if code is None or code == EXIT_LOST_PARENT:
        return Failed(Outcome.CRASHED, {"reason": "it closed its connection, or wrote into it"})
    if code >= 0:
        reason = f"it ended its process with exit code {code}"
        return Failed(Outcome.CRASHED, {"exit_code": code, "reason": reason})
    name = next((s.name for s in signal.Signals if s.value == -code), f"signal {-code}")
    if cpu and name == "SIGXCPU":
        return Failed(Outcome.SECONDS_SPENT, {"reason": "processor time is spent: --budget-cpu"})
    return Failed(Outcome.CRASHED, {"signal": name, "reason": f"{name} ended its process"})


def _limits(budget: Budget, file: bool) -> dict[str, list[int]]:
    """Return the resource limits of each process, soft and hard, by name."""
    limits = {"RLIMIT_CORE": [0, 0]}
    if memory := budget.memory_bytes or (DEFAULT_FILE_MEMORY if file else None):
        limits |= {name: [memory, memory] for name in ("RLIMIT_DATA", "RLIMIT_FSIZE")}
    if budget.cpu_seconds is not None:
        seconds = math.ceil(budget.cpu_seconds)
        limits["RLIMIT_CPU"] = [seconds, seconds + 1]  # a signal, then killed
    return limits


def _wait(first: "subprocess.Popen[bytes]", connection: socket.socket) -> None:
    """Close the connection when the process ends, as its children may keep it open."""
    try:
        os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)  # the process id stays reserved
    except ChildProcessError:
        pass
    except AttributeError:  # macOS before Python 3.13
        first.wait()
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _kill(first: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(first.pid, signal.SIGKILL)


def _end(first: "subprocess.Popen[bytes]", scratch: str | None) -> None:
    """Kill the process and its session, and remove its folder."""
    _kill(first)
    first.wait()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def _environment(scratch: str) -> dict[str, str]:
    """Return the environment variables of a user's learner."""
    kept = {n: v for n, v in os.environ.items() if n in _PASSED_VARIABLES or n.startswith("LC_")}
    folders = ("HOME", "TMPDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    flags = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    threads = {name: os.environ.get(name, one) for name, one in _ONE_THREAD.items()}
    return kept | threads | dict.fromkeys(folders, scratch) | flags


# ---- bubblewrap: without network, with few files to read


def sandboxed() -> bool:
    """Return whether learners from files run in bubblewrap.

    Raises ToolkitError if it is unavailable but required by --sandbox.
    """
    reason = unavailable()
    if reason and os.environ.get(SANDBOX):
        raise ToolkitError(f"--sandbox cannot be used: {reason}; leave it out for code you trust")
    return reason is None


@cache
def unavailable() -> str | None:
    """Return None if bubblewrap runs on this machine, else the reason in a few words."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu, Fedora: the package bubblewrap)"
    command = [
        "bwrap",
        *_ISOLATED,
        *_EMPTY_FOLDERS,
        *_mounted("--ro-bind-try", map(Path, _SYSTEM_PATHS)),
        "true",
    ]
    trial = subprocess.run(command, capture_output=True, text=True, check=False)
    message = " ".join(trial.stderr.split())[:200]
    return f"bubblewrap cannot run ({message})" if trial.returncode else None


def sandbox_command(folder: Path, secrets: Paths) -> list[str]:
    """Return what precedes a command to run it in bubblewrap.

    The system, the packages and `folder` are readable.
    """
    if folder == Path(folder.anchor):
        raise UsageError(f"a learner cannot be in {folder} itself: put it in a folder of its own")
    python = Path(sys.executable).absolute()
    read = [Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.prefix), python]
    while read[-1].is_symlink():
        read.append(read[-1].parent / os.readlink(read[-1]))
    read += [PACKAGES / "hardness", PACKAGES / "instances", folder]
    if site.ENABLE_USER_SITE and site.USER_SITE:
        read.append(Path(site.USER_SITE))
    cards = sorted(Path("/dev").glob("nvidia*"))
    if cards:  # where the driver keeps its files
        read.append(Path("/sys"))
    read += map(Path, _SYSTEM_PATHS)
    outer = [path for path in dict.fromkeys(read) if not {*path.parents} & {*read}]
    return [
        *("bwrap", *_ISOLATED, *_EMPTY_FOLDERS, *_mounted("--ro-bind-try", outer)),
        *_mounted("--dev-bind", cards),
        *(text for path in secrets for text in ("--tmpfs", str(path.resolve()))),
        *("--chdir", SCRATCH),
    ]


def _mounted(option: str, paths: Iterable[Path]) -> list[str]:
    return [text for path in paths for text in (option, str(path), str(path))]


def require_out_of_reach(
    file: Path | None,
    kept: Path,
    tells: str = "the seeds of its instances",
    subject: str = "results",
) -> None:
    """Refuse a learner whose folder contains a file that it must not read; raises ToolkitError."""
    if file and kept.resolve().is_relative_to(file.resolve().parent):
        raise ToolkitError(
            f"{kept} is in the folder of {file.name}: a learner can read its folder, and so "
            f"{tells}: put it in a folder of its own, or {subject} elsewhere"
        )


def die_with_parent() -> None:
    """Make the system kill this process when the thread that started it ends."""
    if sys.platform == "linux":
        death_signal = 1
        ctypes.CDLL(None).prctl(death_signal, *map(ctypes.c_ulong, (signal.SIGKILL, 0, 0, 0)))


def descendants(root: int) -> list[int]:
    """List the process ids of all descendants of a process, zombies included."""
    found, waiting = list[int](), [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                line = Path(f"/proc/{pid}/task/{task}/children").read_text()
                waiting += (children := [int(child) for child in line.split()])
                found += children
    return found
