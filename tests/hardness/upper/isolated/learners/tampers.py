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
    access = "either"

    def learn(self, oracle, rng):
        self.oracle = oracle
        details = self.tamper()
        oracle.draw(3)
        return Hypothesis(predict=oracle.family.known, details=details or {})


CHANNEL = json.loads(sys.argv[1])["channel"]


def _sent(content, size=0):
    return struct.pack("<IQ", len(content), size) + content


def _say(message, values=b""):
    os.write(CHANNEL, _sent(json.dumps(message).encode(), len(values)) + values)


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
        os.write(CHANNEL, b"\xff" * 12)


class HalfMessage(Base):
    def tamper(self):
        os.write(CHANNEL, struct.pack("<IQ", 100, 0) + b"{")
        time.sleep(1000)


class DeepMessage(Base):
    def tamper(self):
        os.write(CHANNEL, _sent(b"[" * 100_000))


class OddOperation(Base):
    def tamper(self):
        os.write(CHANNEL, _sent(b'{"op": ["draw"]}'))


class ForgedExamples(Base):
    """A count that is none."""

    def tamper(self):
        os.write(CHANNEL, _sent(b'{"op": "draw", "count": true}'))


class ForgedQuery(Base):
    """Sets of coordinates far out."""

    def tamper(self):
        _say({"op": "ask", "kind": "pool", "sets": [[10**9]]})


class ForgedLearned(Base):
    """Says that it has learned, and answers with a shape of its own."""

    def tamper(self):
        _say({"op": "learned", "secret": [1, 2, 3], "outcome": "SOLVED", "details": "{}"})
        _say({"op": "values", "shape": [1 << 30, 2, 20]})
        time.sleep(1000)


class ManyNames(Base):
    """Twenty thousand names for one buffer."""

    def tamper(self):
        names = {f"n{i}": ["<f8", [1 << 20]] for i in range(20_000)}
        _say({"op": "values", "arrays": names}, bytes(8))


class ManyNumbers(Base):
    """A shape of a number of a million nines."""

    def tamper(self):
        content = b'{"op": "values", "shape": [' + b"9" * 1_000_000 + b"]}"
        os.write(CHANNEL, _sent(content))


class MuchBehind(Base):
    """More bytes behind a message than its shape says."""

    def tamper(self):
        _say({"op": "draw", "count": 1, "shape": [3]}, bytes(24))


class TwoOperations(Base):
    """A message that is two at once."""

    def tamper(self):
        os.write(CHANNEL, _sent(b'{"op": "learned", "op": "draw", "count": 1, "sets": []}'))


class ForgedDetails(Base):
    """Reports what the toolkit alone may say, and what a terminal would obey."""

    def tamper(self):
        return {
            "contained": "off",
            "sha256": "0" * 64,
            "cpu_seconds": -1,
            "usage\nrisk     0.0000": "solved\x1b[2J\nsecret   yes",
            "reported": {"outcome": "solved"},
        }


class OddEnd(Base):
    """An end with words that a terminal would obey, and an outcome that it may not claim."""

    def tamper(self):
        _say({"op": "ended", "why": "SOLVED", "told": {"reason": "\x1b]0;x\x07\nrisk 0"}})
        time.sleep(1000)


class OddReason(Base):
    def tamper(self):
        told = {"reason": "\x1b]0;x\x07\nrisk 0", "type": "A\nB"}
        _say({"op": "ended", "why": "RAISED", "told": told})
        time.sleep(1000)


class Messages(Base):
    """A flood of small requests."""

    def tamper(self):
        while True:
            os.write(CHANNEL, _sent(b'{"op": "draw", "count": 0}') * 1000)


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
        os.umask(0o777)


class Patches(Base):
    """The judge, numpy, the messages and the oracle: those of its own process alone."""

    def tamper(self):
        import hardness.runs.run as judge
        import hardness.upper.isolated.child as child
        import hardness.upper.isolated.messages as messages

        judge.judge = judge.measure = np.mean = np.random.default_rng = None
        messages.MOST = 1 << 60
        type(self.oracle.family).trivial_risk = 10**9
        child.encoded = lambda details: '{"forged": true}'


class Imposes(Base):
    """Gives itself budget and time."""

    def tamper(self):
        meter = self.oracle.meter
        meter.examples = -(10**9)
        meter.restart = None
        object.__setattr__(meter.budget, "examples", 10**12)
        return {"got": sum(len(self.oracle.draw(600)) for _ in range(2))}


class ImposesValues(Base):
    def tamper(self):
        object.__setattr__(self.oracle.meter.budget, "values", None)
        return {"got": sum(len(self.oracle.value(np.ones((4, 2, 7)))) for _ in range(2))}
