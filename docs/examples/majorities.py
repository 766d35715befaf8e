"""Functions for `hardness certify docs/examples/majorities.py:NAME`."""

import itertools

import numpy as np

d = 8


def majority(places):
    """The sign that most of the places have."""
    return lambda x: np.sign(x[:, places].sum(axis=1))


threes = [majority(list(places)) for places in itertools.combinations(range(d), 3)]


class Smooth:
    """Functions whose values are no integers, with names of their own."""

    d = 5
    names = ("saturated", "exponential", "single")
    functions = (
        lambda x: np.tanh(x.sum(axis=1)),
        lambda x: np.exp(x[:, 0] / 3.0),
        lambda x: x[:, 2],
    )


class Wide:
    """More points than can be enumerated; bound is what values are at most."""

    d = 60
    bound = 1
    names = tuple(f"window {i}" for i in range(10))
    functions = tuple(majority(list(range(i, i + 9))) for i in range(0, 50, 5))
