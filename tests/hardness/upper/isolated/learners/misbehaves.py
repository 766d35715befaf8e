"""Learners that never end, end too early, leave something behind, take too much, or tamper."""

import ctypes
import json
import os
import re
import resource
import shutil
import signal
import struct
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from hardness.upper.learner import Hypothesis

FOREVER = 1000  # seconds


class Misbehaves:
    access = "either"

    def __init__(self, how):
        self.how = globals()[how]

    def learn(self, oracle, rng):
        details = self.how(oracle)
        oracle.draw(3)
        return Hypothesis(predict=oracle.family.known, details=details or {})


# What never ends.


def loop(_):
    while True:
        pass


def sleep(_=None):
    time.sleep(FOREVER)


def sleep_blocked(_):
    """With every signal blocked that can be."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    sleep()


def sort(_):
    """In compiled code, which holds the interpreter's lock."""
    numbers = np.random.default_rng(0).random(1 << 22)
    while True:
        np.sort(numbers, kind="heapsort")


def product(_):
    square = np.zeros((1000, 1000))
    while True:
        square @ square


def regex(_):
    re.match(r"(a+)+$", "a" * 64 + "b")


def stops(_):
    os.kill(os.getpid(), signal.SIGSTOP)


def ignores_term(_):
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if number < 32:
            signal.signal(number, signal.SIG_IGN)
    os.fork()
    sleep()


# What ends too early.


def segfault(_):
    ctypes.string_at(0)


def abort(_):
    os.abort()


def terms_own_group(_):
    os.kill(0, signal.SIGTERM)
    sleep()


def exit_3(_):
    os._exit(3)


def exit_0(_):
    os._exit(0)


def sys_exit(_):
    sys.exit(4)


def sys_exit_text(_):
    sys.exit("no more")


# What leaves processes and threads behind.


def daemon(_):
    """Fork twice, with a session of its own, as daemons do."""
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            sleep()
        os._exit(0)
    os.waitpid(first, 0)


def daemon_then_crash(_):
    daemon(_)
    os._exit(5)


def daemon_then_sleep(_):
    daemon(_)
    sleep()


def fifty(_):
    """Fifty processes, and a zombie each."""
    for _ in range(25):
        if os.fork() == 0:
            if os.fork() == 0:
                sleep()
            os.setpgid(0, 0)
            sleep()


def zombies(_):
    """Children that have ended and that nobody collects."""
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)


def threads(_):
    for _ in range(5):
        threading.Thread(target=sleep).start()


def fork_bomb(_):
    for _ in range(7):
        os.fork()
    sleep()


def thread_bomb(_):
    threading.stack_size(1 << 16)
    for _ in range(1500):
        threading.Thread(target=sleep, daemon=True).start()
    sleep()


# What is meant for the process above: its guard. Where that fails it says so.


def stops_parent(_):
    os.kill(os.getppid(), signal.SIGSTOP)


def terms_parent(_):
    os.kill(os.getppid(), signal.SIGTERM)


def terms_group(_):
    os.killpg(os.getpgid(os.getppid()), signal.SIGTERM)


def kills_parent(_):
    os.kill(os.getppid(), signal.SIGKILL)
    sleep()


def kills_parent_with_daemon(_):
    daemon(_)
    kills_parent(_)


def kills_group(_):
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
    sleep()


# What takes more than it may: memory, files, output.


def at_once(_):
    np.ones(100 * 2**30 // 8)


def bit_by_bit(_):
    kept = []
    while True:
        kept.append(np.ones(1 << 21))


def by_children(_):
    """Each of its processes takes a part."""
    for _ in range(8):
        if os.fork() == 0:
            kept = np.ones(80 << 17)
            sleep()
            del kept
    sleep()


def files(_):
    """As many descriptors as it gets."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(10**5)]
    return {"opened": len(kept)}


def limits(oracle):
    """Limits that it sets itself; then it cannot open what it needs."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    oracle.draw(10)
    os.open("/dev/null", os.O_RDONLY)


def prints(_):
    print("hello \x1b[31mred\x1b[0m \x07 and this")
    print("also here", file=sys.stderr)


def floods(_):
    """A quarter of a gigabyte of output."""
    part = b"0123456789abcde\n" * 4096
    for _ in range((1 << 28) // len(part)):
        os.write(1, part)
    os.write(1, b"the end")


def removes_folder(oracle):
    shutil.rmtree(os.getcwd())
    oracle.draw(3)


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


def locks_folder(_):
    """A folder that cannot be listed, with a file in it."""
    os.mkdir("closed")
    Path("closed/file").write_text("x")
    os.chmod("closed", 0)
    os.chmod(".", 0)


# What reaches for what is not its own: descriptors, messages, the package itself.


def closes(_):
    os.closerange(0, 1 << 16)


def junk(_):
    """Into every descriptor that takes it."""
    for number in range(3, 64):
        try:
            os.write(number, b"x" * 100)
        except OSError:
            continue


def say(message):
    content = json.dumps(message).encode()
    channel = json.loads(sys.argv[1])["channel"]
    os.write(channel, struct.pack("<IQ", len(content), 0) + content)


def half_message(_):
    os.write(json.loads(sys.argv[1])["channel"], struct.pack("<IQ", 100, 0) + b"{")
    sleep()


def forged_learned(_):
    """Says that it has learned, and reads no more: predictions are asked for."""
    say({"op": "learned", "secret": [1, 2, 3], "outcome": "SOLVED", "details": "{}"})
    sleep()


def odd_reason(_):
    """Words that a terminal would obey."""
    told = {"reason": "\x1b]0;x\x07\nrisk 0", "type": "A\nB"}
    say({"op": "ended", "why": "RAISED", "told": told})
    sleep()


def messages(_):
    """A flood of small requests."""
    while True:
        say({"op": "draw", "count": 0})


def states(_):
    """The states that numpy and Python share within one process."""
    np.random.seed(0)
    np.seterr(all="raise")
    np.set_printoptions(precision=1)
    warnings.simplefilter("error")
    sys.setrecursionlimit(10**6)
    os.umask(0o777)


def patches(oracle):
    """The judge, numpy, the messages and the oracle: those of its own process alone."""
    import hardness.runs.run as judge
    import hardness.upper.isolated.child as child
    import hardness.upper.isolated.messages as messages

    judge.judge = judge.measure = np.mean = np.random.default_rng = None
    messages.MOST = 1 << 60
    type(oracle.family).trivial_risk = 10**9
    child.encoded = lambda details: '{"forged": true}'
