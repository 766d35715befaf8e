"""Jobs that misbehave, of the one kind "bad": `answer` does them in a worker process."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from hardness.sweep import pool
from hardness.sweep.jobs import read_job
from instances.errors import ToolkitError

KINDS = {one.__name__: one for one in (ValueError, ToolkitError)}


def bad(does, given=None):
    """Write the payload of a job that does the function of that name."""
    return json.dumps({"kind": "bad", "does": does, "given": given})


class BadJob:
    def __init__(self, does, given):
        self.does, self.given = does, given

    def do(self):
        return globals()[self.does](self.given)


def read(payload):
    data = json.loads(payload)
    return BadJob(data["does"], data["given"]) if data["kind"] == "bad" else read_job(payload)


def answer(payload):
    return pool.answer(payload, read)


def well(given):
    return {"given": given, "pid": os.getpid()}


def killed(number):
    os.kill(os.getpid(), number)
    time.sleep(1000)


def once(file):
    """Die the first time, by a file that stays."""
    if not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"there": True}


def exits(code):
    print("going now", file=sys.stderr, flush=True)
    os._exit(code)


def leaves(code):
    sys.exit(code)


def first_waits(file):
    """Wait for ever the first time, and write down who waits and who is the owner."""
    if not Path(file).exists():
        Path(f"{file}.part").write_text(f"{os.getpid()} {os.getppid()}")
        os.rename(f"{file}.part", file)
        time.sleep(1000)
    return {"there": True}


def hangs(file):
    """Never end, from when there is a file."""
    if file:
        Path(file).touch()
    while True:
        time.sleep(1000)


def holds_the_interpreter(_):
    sys.setswitchinterval(1000)  # no other thread runs from here on
    while True:
        pass


def eats(count):
    _ = np.ones(count, np.int8)
    time.sleep(1000)


def prints(count):
    for _ in range(count):
        print("x" * 999)
    sys.stdout.flush()
    os.write(1, b"more\n")
    os.write(2, b"and more\n")
    return {"printed": count}


def environment(name):
    return {"value": os.environ.get(name)}


def raises(given):
    """Raise what is named, with a text or none."""
    kind, *text = given.split(": ")
    raise KINDS[kind](*text)


def not_a_number(_):
    return {"value": float("nan")}
