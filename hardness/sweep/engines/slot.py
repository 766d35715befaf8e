"""A slot: one child process that does jobs one after the other, held to limits from outside."""

import json
import os
import selectors
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from typing import Any

from hardness.sweep.engines.finished import Aborted, Failure, Finished, Limits, key_of
from hardness.sweep.engines.tree import end_tree, ending, resident
from instances.limits import readable_bytes

WORKER = (sys.executable, "-P", "-m", "hardness.sweep.engines.worker")
_ALONE = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"PYTHONHASHSEED": "0"}
_EVERY = 0.1  # seconds between two looks at memory
_START = Limits(seconds=120.0)  # for the imports, on a machine that does much else
_CHUNK = 1 << 20
_KEPT = 4096  # bytes of what is printed


class Slot:
    """Does jobs in a child process of its own, started when it is needed and when one ended.

    command: what to start; it talks as `hardness.sweep.engines.worker` does. For one thread at a
    time, and for as long as the one that did the first job lives; `abort` is for any.

    >>> slot = Slot()
    >>> slot.do('{"kind": "none"}', Limits()).failure
    'raised'
    >>> slot.close()
    """

    def __init__(self, command: Sequence[str] = WORKER) -> None:
        """Start nothing yet."""
        self._command = tuple(command)
        self._child: subprocess.Popen[bytes] | None = None
        self._release: Any = None
        self._printed = b""
        self._aborts = 0

    def do(self, payload: str, limits: Limits) -> Finished:
        """Do the job of a payload, again where its process ended; raises Aborted.

        payload: {"kind": ..., **job.to_json()} as text.
        """
        key = key_of(payload)
        line = payload.replace("\n", " ").encode() + b"\n"
        aborts, where, seconds = self._aborts, "", 0.0
        for attempt in range(1, limits.retries + 2):
            try:
                child = self._ready(aborts)
                where = f"{socket.gethostname()}:{child.pid}"
                start = time.monotonic()
                answer = _read(self._exchange(child, line, limits, aborts))
            except _Ended as ended:
                self.close()
                if self._aborts != aborts:
                    raise Aborted("the engine was told to stop") from None
                failure, why, seconds = ended.failure, ended.why, ended.seconds
                continue
            return Finished(
                key=key,
                result=answer.get("result"),
                failure=answer.get("failure"),
                why=answer.get("why", ""),
                attempts=attempt,
                seconds=answer.get("seconds", time.monotonic() - start),
                where=where,
            )
        return Finished(
            key=key,
            failure=failure,
            why=f"{why} (attempt {attempt} of {attempt}){self._last_words()}",
            attempts=attempt,
            seconds=seconds,
            where=where,
        )

    @property
    def pid(self) -> int | None:
        """The number of the child, where there is one."""
        return None if self._child is None else self._child.pid

    def abort(self) -> None:
        """End what runs, from any thread: its `do` raises Aborted."""
        self._aborts += 1
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child and all below it; the next job starts another."""
        if self._release is not None:
            self._release()
        self._child = self._release = None

    def _ready(self, aborts: int) -> "subprocess.Popen[bytes]":
        """Return the child, started and with its imports done; raises _Ended."""
        if self._child is not None and self._child.poll() is None:
            return self._child
        self.close()
        self._printed = b""
        try:
            child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=os.environ | _ALONE,
                start_new_session=True,
            )
        except OSError as error:
            raise _Ended("died", f"no process could be started: {error.strerror}", 0.0) from error
        self._child, self._release = child, weakref.finalize(self, _close, child)
        for pipe in (child.stdin, child.stdout, child.stderr):
            os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
        self._exchange(child, b"", _START, aborts)
        return child

    def _exchange(
        self, child: "subprocess.Popen[bytes]", line: bytes, limits: Limits, aborts: int
    ) -> bytes:
        """Send a line and wait for the one that answers it; raises _Ended at a limit."""
        start, look, parts, left = time.monotonic(), 0.0, [], memoryview(line)
        to, answers, prints = (p.fileno() for p in (child.stdin, child.stdout, child.stderr))  # type: ignore[union-attr]
        with selectors.DefaultSelector() as ready:
            ready.register(answers, selectors.EVENT_READ)
            ready.register(prints, selectors.EVENT_READ)
            if left:
                ready.register(to, selectors.EVENT_WRITE)
            while self._aborts == aborts:
                used = time.monotonic() - start
                if used >= look:
                    look = used + _EVERY
                    _hold(child.pid, limits, used)
                pause = min(look, limits.seconds or look) - used
                for found, _ in ready.select(max(0.0, pause)):
                    if found.fd == to:
                        left = left[_put(to, left) :]
                        if not left:
                            ready.unregister(to)
                        continue
                    part = _get(found.fd)
                    if found.fd == prints:
                        self._printed = (self._printed + part)[-_KEPT:]
                        if not part:
                            ready.unregister(prints)
                        continue
                    parts.append(part)
                    if part.endswith(b"\n"):
                        return b"".join(parts)
                    if not part:
                        used = time.monotonic() - start
                        why = f"{ending(child)} after {used:.2f} s"
                        self._printed = (self._printed + _get(prints))[-_KEPT:]
                        raise _Ended("died", why, used)
        raise _Ended("died", "stopped", time.monotonic() - start)

    def _last_words(self) -> str:
        lines = self._printed.decode("utf-8", "replace").strip().splitlines()
        shown = "".join(c if c.isprintable() else "?" for c in lines[-1][:200]) if lines else ""
        return f"; it last printed: {shown}" if shown else ""


class _Ended(Exception):
    """The child ended, or has to."""

    def __init__(self, failure: Failure, why: str, seconds: float) -> None:
        super().__init__(why)
        self.failure, self.why, self.seconds = failure, why, seconds


def _hold(pid: int, limits: Limits, used: float) -> None:
    """Raise _Ended where a limit is passed."""
    if limits.seconds is not None and used >= limits.seconds:
        raise _Ended("overdue", f"it took over {limits.seconds:g} s", used)
    if limits.memory_bytes is not None:
        held = resident(pid, limits.memory_bytes)
        if held > limits.memory_bytes:
            shown = f"{readable_bytes(held)}, over {readable_bytes(limits.memory_bytes)}"
            raise _Ended("memory", f"it held {shown}, after {used:.2f} s", used)


def _read(line: bytes) -> dict[str, Any]:
    """Read an answer; what is none is a process that went wrong."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if isinstance(found, dict) and (isinstance(found.get("result"), dict) or "failure" in found):
        return found
    raise _Ended("died", "its process answered what cannot be read", 0.0)


def _get(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return b""


def _put(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
    except BrokenPipeError:  # the end of the answers says how it ended
        return len(data)


def _close(child: "subprocess.Popen[bytes]") -> None:
    end_tree(child)
    for pipe in (child.stdin, child.stdout, child.stderr):
        pipe.close()  # type: ignore[union-attr]
