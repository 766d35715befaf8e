"""Learners that never end, end too early, or leave something behind."""

import ctypes
import os
import re
import signal
import sys
import threading
import time

import numpy as np

from hardness.upper.learner import Hypothesis


class Base:
    access = "either"

    def learn(self, oracle, rng):
        self.misbehave()
        return Hypothesis(predict=oracle.family.known)


class Loop(Base):
    def misbehave(self):
        while True:
            pass


class Sleep(Base):
    def misbehave(self):
        time.sleep(1000)


class SleepBlocked(Base):
    """With every signal blocked that can be."""

    def misbehave(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        time.sleep(1000)


class Sort(Base):
    """In compiled code, which holds the interpreter's lock."""

    def misbehave(self):
        numbers = np.random.default_rng(0).random(1 << 22)
        while True:
            np.sort(numbers, kind="heapsort")


class Product(Base):
    def misbehave(self):
        square = np.zeros((1000, 1000))
        while True:
            square @ square


class Regex(Base):
    def misbehave(self):
        re.match(r"(a+)+$", "a" * 64 + "b")


class Segfault(Base):
    def misbehave(self):
        ctypes.string_at(0)


class Abort(Base):
    def misbehave(self):
        os.abort()


class Exit(Base):
    def misbehave(self):
        os._exit(3)


class ExitWell(Base):
    def misbehave(self):
        os._exit(0)


class SysExit(Base):
    def misbehave(self):
        sys.exit(4)


class SysExitText(Base):
    def misbehave(self):
        sys.exit("no more")


class ForkBomb(Base):
    def misbehave(self):
        for _ in range(7):
            os.fork()
        time.sleep(1000)


class ThreadBomb(Base):
    def misbehave(self):
        threading.stack_size(1 << 16)
        for _ in range(1500):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        time.sleep(1000)


def _daemon(seconds=1000):
    """Fork twice, with a session of its own, as daemons do."""
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(seconds)
        os._exit(0)
    os.waitpid(first, 0)


class Daemon(Base):
    def misbehave(self):
        _daemon()


class DaemonThenCrash(Base):
    def misbehave(self):
        _daemon()
        os._exit(5)


class DaemonThenSleep(Base):
    def misbehave(self):
        _daemon()
        time.sleep(1000)


class Fifty(Base):
    """Leaves fifty processes, and a zombie each."""

    def misbehave(self):
        for _ in range(25):
            if os.fork() == 0:
                if os.fork() == 0:
                    time.sleep(1000)
                os.setpgid(0, 0)
                time.sleep(1000)


class Zombies(Base):
    """Children that have ended and that nobody collects."""

    def misbehave(self):
        for _ in range(20):
            if os.fork() == 0:
                os._exit(0)


class IgnoresTerm(Base):
    def misbehave(self):
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            if number < 32:
                signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(1000)
        time.sleep(1000)


class Threads(Base):
    def misbehave(self):
        for _ in range(5):
            threading.Thread(target=time.sleep, args=(1000,)).start()


class Stops(Base):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGSTOP)


class StopsParent(Base):
    """Its guard; where that fails, it says so."""

    def misbehave(self):
        os.kill(os.getppid(), signal.SIGSTOP)


class TermsParent(Base):
    def misbehave(self):
        os.kill(os.getppid(), signal.SIGTERM)


class TermsGroup(Base):
    def misbehave(self):
        os.killpg(os.getpgid(os.getppid()), signal.SIGTERM)


class TermsOwnGroup(Base):
    def misbehave(self):
        os.kill(0, signal.SIGTERM)
        time.sleep(1000)


class KillsParent(Base):
    def misbehave(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)


class KillsParentWithDaemon(Base):
    def misbehave(self):
        _daemon()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)


class KillsGroup(Base):
    def misbehave(self):
        os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
        time.sleep(1000)


class Signals(Base):
    """Whether it may send signals to its guard, to the driver, to anybody: signal 0 tells."""

    def learn(self, oracle, rng):
        guard = os.getppid()
        with open(f"/proc/{guard}/stat") as line:
            driver = int(line.read().rpartition(")")[2].split()[1])
        may = {}
        for name, call, number in (
            ("guard", os.kill, guard),
            ("driver", os.kill, driver),
            ("group", os.killpg, os.getpgid(guard)),
            ("init", os.kill, 1),
        ):
            try:
                call(number, 0)
                may[name] = True
            except (PermissionError, ProcessLookupError):
                may[name] = False
        return Hypothesis(predict=oracle.family.known, details={"may": may})
