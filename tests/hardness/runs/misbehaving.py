"""Jobs that misbehave, in whichever process does them."""

import os
import signal
import sys
import time
from pathlib import Path

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs.jobs import Job
from instances.errors import ToolkitError

SPEC = "parity:d=8,m=2"


class Bad(Job, frozen=True, kw_only=True):
    """A run of `trivial` after the function of this name was called."""

    does: str
    text: str = ""

    def do(self):
        globals()[self.does](self.text)
        return super().do()


def bad(does, text="", seed=0):
    return Bad(
        spec=SPEC,
        learner="trivial",
        seed=seed,
        budget=Budget(examples=50),
        does=does,
        text=str(text),
    )


def well(seed):
    return Job(spec=SPEC, learner="trivial", seed=seed, budget=Budget(examples=50))


def lost(run):
    return run.outcome is Outcome.CRASHED and run.limited_by == "machine"


def killed(number):
    os.kill(os.getpid(), int(number))
    time.sleep(1000)


def once(file):
    """Die the first time, by a file that stays."""
    if not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def exits(code):
    print("going now", file=sys.stderr, flush=True)
    os._exit(int(code))


def counted(file):
    """Write down that it was done."""
    with open(file, "a") as lines:
        lines.write("done\n")


def slow(file):
    counted(file)
    time.sleep(0.3)


def refuses(text):
    raise ToolkitError(text)


def faults(text):
    raise KeyError(text)


def pid(file):
    with open(file, "a") as lines:
        lines.write(f"{os.getpid()}\n")
    time.sleep(0.05)
