"""Learners that take more than they may: memory, examples, files, output."""

import os
import resource
import shutil
import sys
import time

import numpy as np

from hardness.upper.learner import Hypothesis


class Base:
    access = "either"

    def learn(self, oracle, rng):
        self.oracle = oracle
        details = self.take()
        return Hypothesis(predict=oracle.family.known, details=details or {})


class AtOnce(Base):
    def take(self):
        np.ones(100 * 2**30 // 8)


class BitByBit(Base):
    def take(self):
        kept = []
        while True:
            kept.append(np.ones(1 << 21))


class ByChildren(Base):
    """Each of its processes takes a part."""

    def take(self):
        for _ in range(8):
            if os.fork() == 0:
                kept = np.ones(80 << 17)
                time.sleep(1000)
                del kept
        time.sleep(1000)


class Files(Base):
    """As many descriptors as it gets."""

    def take(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(10**5)]
        return {"opened": len(kept)}


class Limits(Base):
    """Limits that it sets itself; then it cannot open what it needs."""

    def take(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        self.oracle.draw(10)
        os.open("/dev/null", os.O_RDONLY)


class AllExamples(Base):
    def take(self):
        while True:
            self.oracle.draw(10**6)


class TooManyExamples(Base):
    """It gets what there is, and one more call says that nothing is left."""

    def take(self):
        return {"got": len(self.oracle.draw(10**15))}


class NegativeExamples(Base):
    def take(self):
        self.oracle.draw(-1)


class HalfAnExample(Base):
    def take(self):
        self.oracle.draw("many")


class Prints(Base):
    def take(self):
        print("hello \x1b[31mred\x1b[0m \x07 and this")
        print("also here", file=sys.stderr)


class Floods(Base):
    """A quarter of a gigabyte of output."""

    def take(self):
        part = b"0123456789abcde\n" * 4096
        for _ in range((1 << 28) // len(part)):
            os.write(1, part)
        os.write(1, b"the end")


class RemovesFolder(Base):
    def take(self):
        shutil.rmtree(os.getcwd())
        self.oracle.draw(3)


class WritesFiles(Base):
    """In its folder, in the temporary folder, beside itself."""

    def take(self):
        wrote = {}
        beside = os.path.dirname(os.path.abspath(__file__))
        for name, folder in (("own", "."), ("tmp", "/tmp"), ("beside", beside)):
            path = os.path.join(folder, f"left-{os.getpid()}")
            try:
                with open(path, "w") as file:
                    file.write("x")
                wrote[name] = True
                os.chmod(path, 0)
            except OSError:
                wrote[name] = False
        return {"wrote": wrote}


class LocksFolder(Base):
    """A folder that cannot be listed, with a file in it."""

    def take(self):
        os.mkdir("closed")
        with open("closed/file", "w") as file:
            file.write("x")
        os.chmod("closed", 0)
        os.chmod(".", 0)
