"""Membership queries: a hidden parity by one flip a coordinate.

hardness learn flips.py:Flips parity:d=20,m=3 --budget-values 100
"""

import numpy as np

from hardness.learners import Hypothesis, member


class Flips:
    """Flips one bit of z at a time: the label changes where the bit is in the hidden set."""

    access = "values"

    def __init__(self, repeats=1):
        self.repeats = repeats

    def supports(self, family):
        """None, or the reason why not."""
        return None if family.name == "parity" else "it looks for hidden parities"

    def learn(self, oracle, rng):
        """oracle.value(x): labels (n, k, d) of tokens x (n, k, d), each of the n counted."""
        family, d = oracle.family, oracle.family.d
        x = np.ones((d, 2, d))
        x[:, 1, 0] = -1  # z_0 = -1, where labels have an unknown part
        x[np.arange(1, d), 1, np.arange(1, d)] = -1  # row 0 has no flip, row j that of bit j
        # Noise is fresh for every question: the mean over repeats has the right sign.
        asked = oracle.value(np.repeat(x, self.repeats, axis=0))[:, 0, 0]
        signs = np.sign(asked.reshape(d, self.repeats).mean(axis=1))
        found = np.flatnonzero(signs != signs[0])
        if len(found) != family.m:  # noise has changed a sign: more repeats are needed
            return Hypothesis(predict=family.known, details={"found": len(found)})
        return member(family, tuple(found.tolist()))
