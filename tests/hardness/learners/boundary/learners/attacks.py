"""What learners reach for that is the user's: network, terminal, processes, files.

where.json beside this file names attacks, each with what it is after. What each got is reported, an
error by its class: in the sandbox that is an error.
"""

import fcntl
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import numpy as np

from hardness.learners.learner import Hypothesis


class Attacks:
    def learn(self, oracle, rng):
        oracle.draw(10)
        named = json.loads(Path(__file__).with_name("where.json").read_text())
        got = {
            name: self.tried(ATTACKS.get(name) or globals()[name], where)
            for name, where in named.items()
        }
        return Hypothesis(predict=oracle.family.known, details=got)

    def tried(self, attack, where):
        try:
            return attack(where)
        except OSError as error:
            return type(error).__name__


def tcp(port):
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return "connected"


def unix(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return "connected"


def terminal(path):
    """The user's terminal: to be read, written to, and typed into."""
    got = []
    for name in ("/dev/tty", path):
        for flags in (os.O_RDONLY, os.O_WRONLY):
            with suppress(OSError):
                number = os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)
                got.append(f"opened {name}")
                fcntl.ioctl(number, termios.TIOCSTI, b"x")
                got.append(f"typed into {name}")
    return got


def arguments(_):
    """Those of all processes but its own, and bubblewrap's."""
    got = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = path.read_bytes()
            if not text.startswith(b"bwrap") and b"learners.child" not in text:
                got.append(text[:40].decode())
    return got


def reads(paths):
    """The beginnings of files, the names in folders."""

    def read(path):
        try:
            return path.read_text()[:9] if path.is_file() else sorted(os.listdir(path))
        except OSError as error:
            return type(error).__name__

    return {path: read(Path(path)) for path in paths}


def works(_):
    """Threads, processes, pools, files of their own."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as threads:
        total = sum(threads.map(abs, range(10)))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        total += sum(pool.map(abs, range(10)))
    Path("checkpoint.npy").write_bytes(b"x" * 1000)
    np.save("array.npy", np.ones(10))
    total += float(np.load("array.npy").sum())
    said = subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, check=True)
    return total + int(said.stdout)


ATTACKS = {
    "abstract": lambda name: unix("\0" + name),
    "names": lambda where: where[1] in Path(where[0]).read_text(),
    # To the process that knows the secret: a signal, on which processors it may run.
    "signals": lambda pid: os.kill(pid, 0),
    "priorities": lambda pid: os.sched_setaffinity(pid, {0}),
    "beside": lambda _: [path.name for path in Path(__file__).parent.glob("*.py")],
}
