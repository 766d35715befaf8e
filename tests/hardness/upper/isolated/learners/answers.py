"""Learners that raise, and learners that give back what is no hypothesis."""

import os
import time

import numpy as np

from hardness.upper.learner import Hypothesis, Outcome


class Base:
    access = "either"


class Raises(Base):
    def learn(self, oracle, rng):
        raise ValueError("no\nway")


class RaisesInSupports(Base):
    def supports(self, family):
        raise LookupError("not today")

    def learn(self, oracle, rng):
        raise AssertionError


class RaisesInConstructor(Base):
    def __init__(self):
        raise OSError("not made")


class Refuses(Base):
    def supports(self, family):
        return "it learns nothing of the kind"

    def learn(self, oracle, rng):
        raise AssertionError


class OwnBase(BaseException):
    """Caught by no `except Exception`."""


class RaisesBase(Base):
    def learn(self, oracle, rng):
        raise OwnBase("below")


class RaisesInterrupt(Base):
    def learn(self, oracle, rng):
        raise KeyboardInterrupt


class StrRaises(Base):
    def learn(self, oracle, rng):
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no words")

        raise Mute


class StrExits(Base):
    def learn(self, oracle, rng):
        class Leaving(Exception):
            def __str__(self):
                raise SystemExit(9)

        raise Leaving


class StrHangs(Base):
    def learn(self, oracle, rng):
        class Slow(Exception):
            def __str__(self):
                time.sleep(1000)

        raise Slow


class StrHuge(Base):
    def learn(self, oracle, rng):
        raise ValueError("x" * 10**7)


class Recursion(Base):
    def learn(self, oracle, rng):
        return self.learn(oracle, rng)


class NoHypothesis(Base):
    def learn(self, oracle, rng):
        return None


class AnObject(Base):
    def learn(self, oracle, rng):
        return object()


class NotCallable(Base):
    def learn(self, oracle, rng):
        return Hypothesis(predict=3)


class _Answers(Base):
    """Predicts what `answer` makes of tokens."""

    def learn(self, oracle, rng):
        return Hypothesis(predict=self.answer)


class NotANumber(_Answers):
    def answer(self, x):
        return np.full(x.shape, np.nan)


class Infinite(_Answers):
    def answer(self, x):
        y = np.zeros(x.shape)
        y[0, 0, 0] = np.inf
        return y


class TooLarge(_Answers):
    """Becomes infinite where it is made float64."""

    def answer(self, x):
        return np.full(x.shape, np.longdouble(2) ** 5000)


class WrongShape(_Answers):
    def answer(self, x):
        return np.zeros(3)


class OneShort(_Answers):
    def answer(self, x):
        return np.zeros((len(x) - 1, *x.shape[1:]))


class Complex(_Answers):
    def answer(self, x):
        return np.zeros(x.shape, complex)


class Strings(_Answers):
    def answer(self, x):
        return np.full(x.shape, "a")


class Objects(_Answers):
    def answer(self, x):
        return np.full(x.shape, None)


class Iterator(_Answers):
    def answer(self, x):
        return iter([1.0, 2.0])


class Nothing(_Answers):
    def answer(self, x):
        return None


class RaisesInPredict(_Answers):
    def answer(self, x):
        raise KeyError("where")


class HangsInPredict(_Answers):
    def answer(self, x):
        time.sleep(1000)


class ExitsInPredict(_Answers):
    def answer(self, x):
        os._exit(6)


class CrashesAtSecond(_Answers):
    """The first prediction is well."""

    calls = 0

    def answer(self, x):
        self.calls += 1
        if self.calls == 2:
            os.abort()
        return np.zeros(x.shape)


class ChangesTokens(_Answers):
    """Writes into what it is given: a copy of its own."""

    def answer(self, x):
        x[...] = 0
        return x.astype(float)


class _Claims(Base):
    """Gives back a good predictor, and more that `claim` says."""

    def learn(self, oracle, rng):
        return Hypothesis(predict=oracle.family.known, **self.claim())


class HugeDetails(_Claims):
    def claim(self):
        return {"details": {"all": list(range(10**6))}}


class DeepDetails(_Claims):
    def claim(self):
        details = {}
        for _ in range(500):
            details = {"in": details}
        return {"details": details}


class OddDetails(_Claims):
    def claim(self):
        odd = {1: float("nan"), "object": object(), "big": 10**5000, "\x1b[31m": b"\xff"}
        return {"details": odd}


class BadDetails(_Claims):
    def claim(self):
        return {"details": [1, 2]}


class HugeSecret(_Claims):
    def claim(self):
        return {"secret": tuple(range(10**6))}


class WrongSecret(_Claims):
    def claim(self):
        return {"secret": (99, -5, 10**15)}


class SecretOfTexts(_Claims):
    def claim(self):
        return {"secret": ("a", "b")}


class ClaimsSolved(_Claims):
    def claim(self):
        return {"outcome": Outcome.SOLVED}


class ClaimsCrashed(_Claims):
    def claim(self):
        return {"outcome": Outcome.CRASHED}


class OutcomeOfText(_Claims):
    def claim(self):
        return {"outcome": "solved"}
