"""Probes: jobs that are really done, each for at most some seconds, in a process of its own.

The process reads jobs as JSON, a line each, says that it starts one, and then what it took.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import IO, Any

from hardness.compare.jobs import Job, read_job
from hardness.oracles.budget import peak_bytes
from instances.errors import ToolkitError


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What one job took: `cut` at its seconds, it takes at least as many.

    peak_bytes: of the process so far, None of what was cut. why: it could not be done here.
    """

    seconds: float
    cut: bool = False
    peak_bytes: int | None = None
    why: str = ""


def probe(jobs: Sequence[Job], seconds: float) -> list[Probe]:
    """Do jobs one after another, each cut at so many seconds; the first one twice if it is quick.

    The first time includes what is loaded and compiled once in a process; the second does not.
    """
    child: _Child | None = None
    found = []
    try:
        for job in jobs:
            fresh = child is None
            child = child or _Child()
            one = child.timed(job, seconds)
            if fresh and one and not one.cut and one.seconds < seconds / 2:
                one = child.timed(job, seconds)
            found.append(one or Probe(seconds=0.0, why="its process died"))
            if one is None or one.cut:
                child.end()
                child = None
    finally:
        if child:
            child.end()
    return found


class _Child:
    """The process: one job at a time."""

    def __init__(self) -> None:
        # -P: no module of the folder that the command is started in hides one of ours.
        command = [sys.executable, "-P", "-m", "hardness.compare.sweep.probe"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def timed(self, job: Job, seconds: float) -> Probe | None:
        """Do a job, and end the process after so many seconds; None where it died by itself."""
        sink, source = self.process.stdin, self.process.stdout
        assert sink is not None
        assert source is not None
        with suppress(BrokenPipeError):
            sink.write(json.dumps({"kind": job.kind, **job.to_json()}).encode() + b"\n")
            sink.flush()
        if not source.readline():
            return None
        cut = Event()

        def stop() -> None:
            cut.set()
            self._kill()

        timer = Timer(seconds, stop)
        timer.start()
        try:
            line = source.readline()
        finally:
            timer.cancel()
        if line:
            return Probe(**json.loads(line))
        return Probe(seconds=seconds, cut=True) if cut.is_set() else None

    def end(self) -> None:
        """End the process and wait for it."""
        self._kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                if pipe:
                    pipe.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


def _serve(source: IO[bytes], sink: IO[bytes]) -> None:
    for line in source:
        job = read_job(json.loads(line))
        _say(sink, {})
        start, why = time.perf_counter(), ""
        try:
            job.do()
        except ToolkitError as error:
            why = " ".join(str(error).split())[:300]
        seconds = time.perf_counter() - start
        _say(sink, {"seconds": seconds, "peak_bytes": peak_bytes(), "why": why})


def _say(sink: IO[bytes], data: dict[str, Any]) -> None:
    sink.write(json.dumps(data).encode() + b"\n")
    sink.flush()


if __name__ == "__main__":
    # What a library prints must not stand between the answers.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        _serve(sys.stdin.buffer, answers)
