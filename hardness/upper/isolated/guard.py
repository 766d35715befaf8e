"""The guard: a small process between the parent and a learner's process. See __init__.py.

Run as a script with the number of its control socket: importing no package, it is there in some
hundredths of a second. It takes one line of JSON, starts the child, and sends one line when all is
over: why, how the child ended, what was used, the end of what was printed.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ or TYPE_CHECKING:
    from hardness.upper.isolated import landlock, linux, processes
else:  # as a script: the packages above would import far more than is needed
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import landlock
    import linux
    import processes

_EVERY = 0.02  # seconds between two looks at what is used
_SELDOM = 5  # looks between two at what is held in files
_KEPT = 4096  # bytes of what is printed
_HARMLESS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE")


def main(control: socket.socket) -> None:
    """Start the child, watch it, end it with all that it left, and report."""
    for name in _HARMLESS:  # handlers, unlike SIG_IGN, are not inherited by what is executed
        signal.signal(getattr(signal, name), lambda *_: None)
    linux.prctl(linux.SUBREAPER, 1)
    job = _line(control)
    if job is None:
        return
    reading, writing = os.pipe()
    child = _start(job, writing, (control.fileno(), reading))
    for given in (writing, *job["descriptors"]):
        os.close(given)
    report = _watch(job, control, reading, child)
    if report["reason"] == "orphaned":  # nobody else is there to tidy up
        processes.remove(job["folder"])
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(report).encode() + b"\n")


def _line(control: socket.socket) -> dict[str, Any] | None:
    """Take the first line alone: what follows it is for later."""
    with control.makefile("rb", buffering=0) as lines:
        got = lines.readline()
    return json.loads(got) if got.endswith(b"\n") else None


def _start(job: dict[str, Any], output: int, own: tuple[int, ...]) -> int:
    """Start the child in a session of its own; it dies with the guard."""
    guard = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        linux.prctl(linux.DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        os.setsid()
        for mine in own:
            os.close(mine)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        with contextlib.suppress(OSError):
            linux.own_shared_memory(job["memory_bytes"] + job["window_bytes"])
        # Before there are threads, each of which would keep what it has.
        linux.drop_capabilities()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for given in job["descriptors"]:
            os.set_inheritable(given, True)
        writable = [Path(p) for p in (job["folder"], "/dev/null", "/dev/shm")]
        hidden = [Path(p) for p in job["hidden"]]
        confined = job["confine"] and landlock.restrict(writable, hidden)
        os.execv(job["command"][0], [*job["command"], str(int(confined))])
    finally:
        os._exit(127)


def _watch(job: dict[str, Any], control: socket.socket, output: int, child: int) -> dict[str, Any]:
    """Look every few hundredths of a second until the child is gone or must go."""
    me, printed, peak, cpu, reason = os.getpid(), b"", 0, 0.0, None
    look, looks, files = 0.0, 0, 0
    ended: dict[int, int] = {}
    open_ends = {control.fileno(), output}
    os.set_blocking(output, False)
    while reason is None:
        pause = max(0.0, look - time.monotonic())
        ready, _, _ = select.select(sorted(open_ends), (), (), pause)
        if output in ready:
            part = _read(output)
            printed = (printed + part)[-_KEPT:]
            if not part:
                open_ends.discard(output)
        if control.fileno() in ready:
            reason = "stopped" if control.recv(64) else "orphaned"
        elif time.monotonic() < look:  # who prints much is not looked at more often
            continue
        look = time.monotonic() + _EVERY
        ended |= processes.reap_all()
        if child in ended:
            reason = reason or "ended"
        now = processes.use(processes.below(me))
        gone = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = max(cpu, now.cpu + gone.ru_utime + gone.ru_stime)
        peak = max(peak, now.resident)
        looks += 1
        files = processes.in_files(me) if looks % _SELDOM == 0 else files
        reason = reason or _passed(job, now, cpu, files)
    left = processes.use([pid for pid in processes.below(me) if pid != child]).count
    ended |= processes.end_below(me)
    if child not in ended:  # there is no /proc to find it in
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
            ended[child] = os.waitpid(child, 0)[1]
    printed = (printed + _read(output))[-_KEPT:] if output in open_ends else printed
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "reason": reason,
        "status": ended.get(child),
        "peak_bytes": max(peak, gone.ru_maxrss * 1024),
        "cpu_seconds": max(cpu, gone.ru_utime + gone.ru_stime),
        "left": left,
        "printed": printed.decode("utf-8", "replace"),
    }


def _read(output: int) -> bytes:
    try:
        return os.read(output, 1 << 16)
    except BlockingIOError:
        return b""


def _passed(job: dict[str, Any], now: processes.Use, cpu: float, files: int) -> str | None:
    """Name the limit that is passed, if one is. files: bytes of memory that is held as files."""
    if job["cpu_seconds"] is not None and cpu > job["cpu_seconds"]:
        return "cpu"
    if now.count > job["processes"] or now.threads > job["threads"]:
        return "processes"
    allowed = job["memory_bytes"] + job["window_bytes"]
    if now.resident + files > allowed:
        exact = processes.proportional(processes.below(os.getpid()), files)
        if exact is None or exact > allowed:
            return "memory"
    return None


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
