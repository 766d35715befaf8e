"""The child of a slot: does jobs one after the other, each a line of JSON in and one out.

Run as `python -m hardness.sweep.engines.worker`. A job is {"kind": ..., **job.to_json()}; its
answer {"result": ..., "seconds": s} or {"failure": "refused" | "raised", "why": ..., "seconds": s}.
Whatever a job raises, the next one is done; when its input ends it ends at once, in the middle of a
job too. The owner sets one thread for BLAS and Numba in the environment.
"""

import json
import os
import select
import signal
import time
import traceback
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Literal

from hardness.oracles.budget import restart_peak
from hardness.sweep.jobs import read_job
from hardness.upper.isolated.init import DEATH_SIGNAL, prctl
from instances.errors import ToolkitError

READY = b'{"ready": true}\n'
_FIRST_TO_GO = b"500"  # of 1000: where memory runs out the system ends this process, not its owner
_LONGEST = 1000  # characters of why


def main() -> None:
    """Answer until the input ends: the thread that watches it then ends all."""
    owner = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's
    _write("/proc/self/oom_score_adj", _FIRST_TO_GO)
    requests, answers = _moved_away()
    # The thread below ends this process too, but not while compiled code holds the interpreter.
    prctl(DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != owner:
        os._exit(1)
    Thread(target=_end_with, args=(requests.fileno(),), daemon=True).start()
    restart_peak()  # which opens what a learner's process may close
    said = READY
    while True:
        answers.write(said)
        answers.flush()
        line = requests.readline()
        restart_peak()
        said = answer(line)


def answer(line: bytes) -> bytes:
    """Do the job of a line: the line that answers it.

    >>> answer(b'{"kind": "none"}')[:40]
    b'{"failure": "raised", "why": "KeyError: '
    """
    start = time.perf_counter()
    try:
        done: dict[str, Any] = {"result": read_job(json.loads(line)).do()}
        seconds = time.perf_counter() - start
        return json.dumps(done | {"seconds": seconds}, allow_nan=False).encode() + b"\n"
    except (ToolkitError, MemoryError) as error:
        done = _failure("refused", str(error) or type(error).__name__)
    except BaseException as error:  # SystemExit too: a job does not end the worker
        done = _failure("raised", f"{type(error).__name__}: {error}{_place(error)}")
    seconds = time.perf_counter() - start
    return json.dumps(done | {"seconds": seconds}).encode() + b"\n"


def _failure(failure: Literal["refused", "raised"], why: str) -> dict[str, Any]:
    return {"failure": failure, "why": " ".join(why.split())[:_LONGEST]}


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def _moved_away() -> tuple[BinaryIO, BinaryIO]:
    """Move both ends of the conversation where prints of learners do not reach them."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _end_with(descriptor: int) -> None:
    """End this process, and all of its group, when the other end of its input is closed."""
    watch = select.poll()
    watch.register(descriptor, 0)  # no event but the end
    watch.poll()
    os.killpg(0, signal.SIGKILL)


def _write(path: str, data: bytes) -> None:
    with suppress(OSError), open(path, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
