"""A worker whose jobs misbehave: run as a script, it has the one kind "bad".

The packages around it are left empty, so that it is there in a tenth of a second: tests start it
often. The worker itself is the one that engines start.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

ROOT = Path(__file__).parents[4]
KINDS: dict[str, Any] = {}


def _empty(name):
    made = sys.modules[name] = ModuleType(name)
    made.__path__ = [str(ROOT.joinpath(*name.split(".")))]
    return made


if __name__ == "__main__":
    for _name in ("instances", "hardness", "hardness.runs", "hardness.sweep.engines"):
        _empty(_name)
    for _name in ("hardness.oracles", "hardness.upper", "hardness.upper.isolated"):
        _empty(_name)
    _empty("hardness.sweep.jobs").read_job = lambda data: KINDS[data.pop("kind")](**data)

from hardness.oracles.budget import peak_bytes  # noqa: E402
from hardness.sweep.engines import worker  # noqa: E402
from instances.errors import ToolkitError  # noqa: E402


@dataclass(frozen=True, kw_only=True)
class BadJob:
    kind: ClassVar[str] = "bad"

    does: str
    given: Any = None

    def do(self) -> dict[str, Any]:
        return globals()[f"_{self.does}"](self.given)


def _well(given):
    return {"given": given, "pid": os.getpid()}


def _killed(number):
    os.kill(os.getpid(), number)
    time.sleep(10)


def _once(file):
    """Die the first time, by a file that stays."""
    if not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"there": True}


def _exits(code):
    print("going now", file=sys.stderr, flush=True)
    os._exit(code)


def _leaves(code):
    sys.exit(code)


def _first_waits(file):
    """Wait for ever the first time, and write down who waits and who is the owner."""
    if not Path(file).exists():
        Path(f"{file}.part").write_text(f"{os.getpid()} {os.getppid()}")
        os.rename(f"{file}.part", file)
        time.sleep(1000)
    return {"there": True}


def _hangs(_):
    time.sleep(1000)


def _holds_the_interpreter(_):
    sys.setswitchinterval(1000)  # no other thread runs from here on
    while True:
        pass


def _eats(count):
    kept = []
    for _ in range(count >> 24):
        kept.append(b"x" * (1 << 24))
        time.sleep(0.005)
    return {"eaten": len(kept)}


def _peaks(count):
    _ = b"x" * count
    return {"peak": peak_bytes()}


def _peak_now(_):
    return {"peak": peak_bytes()}


def _prints(count):
    for _ in range(count):
        print("x" * 999)
    sys.stdout.flush()
    os.write(1, b'{"result": {}}\n' * 100)
    return {"printed": count}


def _raises(text):
    raise ValueError(text)


def _refuses(text):
    raise ToolkitError(text)


def _no_memory(_):
    raise MemoryError


def _interrupts(_):
    raise KeyboardInterrupt


def _recurses(_):
    return _recurses(_)


def _not_a_number(_):
    return {"value": float("nan")}


def _an_object(_):
    return {"value": object()}


def _no_record(_):
    return [1, 2]


def _large(count):
    return {"text": "y" * count}


def _closes(_):
    os.closerange(3, 100)
    time.sleep(10)


def _answers_badly(text):
    _into_answers(text.encode())
    time.sleep(10)


def _breaks_off(text):
    _into_answers(text.encode())
    os._exit(0)


def _into_answers(data):
    for number in range(3, 20):
        try:
            os.write(number, data)
        except OSError:
            continue


def _has_children(file):
    """Start one in this group and one that leaves it; write down who they are."""
    ours = subprocess.Popen(["sleep", "1000"])
    left = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    Path(file).write_text(f"{os.getpid()} {ours.pid} {left.pid}")
    time.sleep(1000)


KINDS[BadJob.kind] = BadJob

if __name__ == "__main__":
    worker.main()
