"""Learners whose answer is no hypothesis, or one that is odd; and learners that raise."""

import os
import time

import numpy as np

from hardness.learners.learner import Hypothesis, Outcome
from hardness.oracles.query import Pool, Query


class Answers:
    access = "either"

    def __init__(self, what):
        self.what = what
        if what == "raises_in_constructor":
            raise OSError("not made")

    def supports(self, family):
        if self.what == "raises_in_supports":
            raise LookupError("not today")
        return "it learns nothing of the kind" if self.what == "refuses" else None

    def learn(self, oracle, rng):
        if self.what in PREDICTIONS:
            return Hypothesis(predict=PREDICTIONS[self.what])
        if self.what in CLAIMS:
            return Hypothesis(predict=oracle.family.known, **CLAIMS[self.what]())
        return GIVES[self.what](oracle) if self.what in GIVES else globals()[self.what]()


def known(oracle, **details):
    return Hypothesis(predict=oracle.family.known, details=details)


def raises():
    raise ValueError("no\nway")


class OwnBase(BaseException):
    """Caught by no `except Exception`."""


def raises_base():
    raise OwnBase("below")


def raises_interrupt():
    raise KeyboardInterrupt


def recursion():
    return recursion()


def text_huge():
    raise ValueError("x" * 10**7)


class Mute(Exception):
    """Has no words, or words that do harm."""

    def __init__(self, words):
        self.words = words

    def __str__(self):
        return self.words()


def text_raises():
    raise Mute(lambda: raises())


def text_hangs():
    raise Mute(lambda: time.sleep(1000))


def with_infinity(x):
    y = np.zeros(x.shape)
    y[0, 0, 0] = np.inf
    return y


def raises_in_predict(x):
    raise KeyError("where")


def changes_tokens(x):
    """Writes into what it is given: a copy of its own."""
    x[...] = 0
    return x.astype(float)


def deep():
    details = {}
    for _ in range(500):
        details = {"in": details}
    return details


def imposes(oracle):
    """Gives itself budget and time."""
    meter = oracle.meter
    meter.examples = -(10**9)
    meter.restart = None
    object.__setattr__(meter.budget, "examples", 10**12)
    return known(oracle, got=sum(len(oracle.draw(600)) for _ in range(3)))


def imposes_values(oracle):
    object.__setattr__(oracle.meter.budget, "values", None)
    return known(oracle, got=sum(len(oracle.value(np.ones((4, 2, 7)))) for _ in range(2)))


GIVES = {
    "nothing": lambda oracle: None,
    "an_object": lambda oracle: object(),
    "not_callable": lambda oracle: Hypothesis(predict=3),
    "negative_examples": lambda oracle: oracle.draw(-1),
    "many_examples": lambda oracle: oracle.draw("many"),
    "all_examples": lambda oracle: [oracle.draw(10**6) for _ in range(10**6)],
    "too_many_examples": lambda oracle: known(oracle, got=len(oracle.draw(10**15))),
    "far_query": lambda oracle: oracle.ask(Pool(sets=((10**9,),))),
    "odd_query": lambda oracle: oracle.ask(Query(phi=lambda x, y: np.zeros(7))),
    "imposes": imposes,
    "imposes_values": imposes_values,
}
PREDICTIONS = {
    "not_a_number": lambda x: np.full(x.shape, np.nan),
    "infinite": with_infinity,
    "too_large": lambda x: np.full(x.shape, np.longdouble(2) ** 5000),  # infinite as float64
    "wrong_shape": lambda x: np.zeros(3),
    "one_short": lambda x: np.zeros((len(x) - 1, *x.shape[1:])),
    "complex": lambda x: np.zeros(x.shape, complex),
    "strings": lambda x: np.full(x.shape, "a"),
    "objects": lambda x: np.full(x.shape, None),
    "iterator": lambda x: iter([1.0, 2.0]),
    "no_array": lambda x: None,
    "raises_in_predict": raises_in_predict,
    "hangs_in_predict": lambda x: time.sleep(1000),
    "exits_in_predict": lambda x: os._exit(6),
    "changes_tokens": changes_tokens,
}
FORGED = {  # what the toolkit alone may say, and what a terminal would obey
    **{"process": "in bubblewrap", "sha256": "0" * 64, "cpu_seconds": -1},
    "usage\nrisk     0.0000": "solved\x1b[2J\nsecret   yes",
    "reported": {"outcome": "solved"},
}
ODD = {1: float("nan"), "object": object(), "big": 10**5000, "\x1b[31m": b"\xff"}
CLAIMS = {
    "huge_details": lambda: {"details": {"all": list(range(10**6))}},
    "deep_details": lambda: {"details": deep()},
    "odd_details": lambda: {"details": ODD},
    "forged_details": lambda: {"details": FORGED},
    "bad_details": lambda: {"details": [1, 2]},
    "huge_secret": lambda: {"secret": tuple(range(10**6))},
    "wrong_secret": lambda: {"secret": (99, -5, 10**15)},
    "secret_of_texts": lambda: {"secret": ("a", "b")},
    "claims_solved": lambda: {"outcome": Outcome.SOLVED},
    "claims_crashed": lambda: {"outcome": Outcome.CRASHED},
    "outcome_of_text": lambda: {"outcome": "solved"},
}
