"""Learners that never end, end too early, leave something behind, take too much, or tamper."""

import ctypes
import os
import pickle
import signal
import struct
import sys
import time
from pathlib import Path

import msgspec
import numpy as np

from hardness.learners.learner import Hypothesis


class Misbehaves:
    access = "either"

    def __init__(self, how):
        self.how = how

    def learn(self, oracle, rng):
        details = DOES[self.how]() if self.how in DOES else globals()[self.how](oracle)
        oracle.draw(3)
        found = details if isinstance(details, dict) else {}
        return Hypothesis(predict=oracle.family.known, details=found)


def sleep():
    time.sleep(1000)


def forever(work):
    while True:
        work()


def daemon():
    """Fork twice, with a session of its own, as daemons do."""
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            sleep()
        os._exit(0)
    os.waitpid(first, 0)


def fifty(_):
    """Fifty processes, and a zombie each."""
    for _ in range(25):
        if os.fork() == 0:
            if os.fork() == 0:
                sleep()
            os.setpgid(0, 0)
            sleep()


def writes_much(_):
    """More than a file of its own may hold: only its last byte is written."""
    with open("large", "wb") as file:
        file.seek(1 << 40)
        file.write(b"x")


def prints(_):
    print("hello \x1b[31mred\x1b[0m \x07 and this")
    print("also here", file=sys.stderr)


def writes_files(_):
    """In its folder, in the temporary folder, beside itself."""
    wrote = {}
    for name, folder in (("own", "."), ("tmp", "/tmp"), ("beside", Path(__file__).parent)):
        path = Path(folder, f"left-{os.getpid()}")
        try:
            path.write_text("x")
            os.chmod(path, 0)
            wrote[name] = True
        except OSError:
            wrote[name] = False
    return {"wrote": wrote}


def junk(_):
    """Into every descriptor that takes it."""
    for number in range(3, 64):
        try:
            os.write(number, b"x" * 100)
        except OSError:
            continue


def say(content, length=None):
    """A message as the child sends it."""
    os.write(int(sys.argv[2]), struct.pack("!i", length or len(content)) + content)


def above(send, pid, number):
    """To the process above, which is the first of its sandbox."""
    send(pid, number)
    if number == signal.SIGKILL:
        sleep()


class Bomb:
    """A pickle that ends whoever reads it."""

    def __reduce__(self):
        return os._exit, (77,)


PICKLED = {"op": "pickled", "final": True, "content": pickle.dumps(Bomb())}
ENDED = {"op": "ended", "outcome": "CRASHED"}  # with words that a terminal would obey
ENDED["words"] = {"reason": "\x1b]0;x\x07\nrisk 0", "type": "A\nB"}
DOES = {
    # What never ends.
    "loop": lambda: forever(lambda: None),
    "sleep": sleep,
    "prints_then_sleeps": lambda: (print("here"), sleep()),
    "stops": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "daemon_then_sleep": lambda: (daemon(), sleep()),
    # What ends too early.
    "segfault": lambda: ctypes.string_at(0),
    "sys_exit": lambda: sys.exit(4),
    "child_then_crash": lambda: (os.fork() or sleep(), os._exit(5)),
    # What leaves processes and threads behind.
    "daemon": daemon,
    "stops_parent": lambda: above(os.kill, os.getppid(), signal.SIGSTOP),
    "kills_parent": lambda: above(os.kill, os.getppid(), signal.SIGKILL),
    # What takes more than it may.
    "at_once": lambda: np.ones(100 * 2**30 // 8),
    "bit_by_bit": lambda: [np.ones(1 << 21) for _ in iter(int, 1)],
    # What reaches for what is not its own: descriptors, messages.
    "half_message": lambda: (say(b"{", 100), sleep()),
    "forged_pickle": lambda: (say(msgspec.msgpack.encode(PICKLED)), sleep()),
    "odd_reason": lambda: (say(msgspec.msgpack.encode(ENDED)), sleep()),
}
