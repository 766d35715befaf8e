"""Learners that reach for what is not theirs: descriptors, messages, the package itself."""

import json
import os
import struct
import sys
import time
import warnings

import numpy as np

from hardness.upper.learner import Hypothesis


class Base:
    """A learner of the full protocol."""

    revision = 1
    access = "either"
    about = "misbehaves"

    def __init_subclass__(cls):
        cls.name = cls.__name__

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        self.oracle = oracle
        details = self.tamper()
        oracle.draw(3)
        return Hypothesis(predict=oracle.family.known, details=details or {})


def _sent(content):
    return struct.pack("<I", len(content)) + content


class Closes(Base):
    def tamper(self):
        os.closerange(0, 1 << 16)


class Junk(Base):
    """Into every descriptor that takes it."""

    def tamper(self):
        for number in range(3, 64):
            try:
                os.write(number, b"x" * 100)
            except OSError:
                continue


class LongMessage(Base):
    def tamper(self):
        os.write(int(sys.argv[1]), b"\xff\xff\xff\xff")


class HalfMessage(Base):
    def tamper(self):
        os.write(int(sys.argv[1]), struct.pack("<I", 100) + b"{")
        time.sleep(1000)


class DeepMessage(Base):
    def tamper(self):
        os.write(int(sys.argv[1]), _sent(b"[" * 100_000))


class OddOperation(Base):
    def tamper(self):
        os.write(int(sys.argv[1]), _sent(b'{"op": ["draw"]}'))


class ForgedExamples(Base):
    """A count that is none."""

    def tamper(self):
        os.write(int(sys.argv[1]), _sent(b'{"op": "draw", "count": true}'))


class ForgedQuery(Base):
    """Sets of a million coordinates, and of coordinates far out."""

    def tamper(self):
        message = {"op": "ask", "kind": "pool", "data": [[10**9]]}
        os.write(int(sys.argv[1]), _sent(json.dumps(message).encode()))


class ForgedLearned(Base):
    """Says that it has learned, and answers with places outside of the window."""

    def tamper(self):
        def say(message):
            os.write(int(sys.argv[1]), _sent(json.dumps(message).encode()))

        say({"op": "learned", "secret": [1, 2, 3], "outcome": "SOLVED", "details": {}})
        place = {"type": "<f8", "shape": [1 << 40, 2, 20], "start": 1 << 50}
        say({"op": "predicted", "arrays": {"y": place}})
        time.sleep(1000)


class Messages(Base):
    """A flood of small requests."""

    def tamper(self):
        while True:
            os.write(int(sys.argv[1]), _sent(b'{"op": "draw", "count": 0}') * 1000)


class Evaluates(Base):
    """Answers a query that it asked with a table of another shape."""

    def tamper(self):
        from hardness.oracles.query import Query

        self.oracle.ask(Query(phi=lambda x, y: np.zeros(7)))


class Globals(Base):
    """The states that numpy and Python share within one process."""

    def tamper(self):
        np.random.seed(0)
        np.seterr(all="raise")
        np.set_printoptions(precision=1)
        warnings.simplefilter("error")
        sys.setrecursionlimit(10**6)
        os.environ["HARDNESS_RUN"] = "changed"
        os.umask(0o777)


class Patches(Base):
    """The judge, numpy, the wire and the oracle: those of its own process alone."""

    def tamper(self):
        import hardness.compare.run as judge
        import hardness.upper.isolated.wire as wire

        judge.judge = judge.measure = np.mean = np.random.default_rng = None
        wire.MOST = 1 << 60
        type(self.oracle.family).trivial_risk = 10**9
        sys.modules["__main__"].plain = lambda details: {"forged": True}


class Imposes(Base):
    """Gives itself budget and time."""

    def tamper(self):
        meter = self.oracle.meter
        meter.examples = -(10**9)
        meter.restart = None
        object.__setattr__(meter.budget, "examples", 10**12)
        return {"got": sum(len(self.oracle.draw(600)) for _ in range(2))}
