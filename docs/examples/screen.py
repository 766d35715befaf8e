"""A learner that grows in the tutorial for authors of learners.

hardness learn screen.py:screen:degree=3 parity:d=12,m=3
"""

import itertools

import numpy as np

from hardness.learners.plugins import Function, function


@function(view="z", examples=4000)
def linear(z, s):
    """Weighs every coordinate by its correlation with the labels."""
    weights = z.T @ s / len(s)
    return lambda new: new @ weights


def screen(degree=2):
    """Finds the product of at most `degree` coordinates that correlates best, and uses it alone."""

    def learn(z, s):
        def correlation(places):
            return np.mean(s * z[:, places].prod(axis=1))

        sets = [
            list(places)
            for size in range(1, degree + 1)
            for places in itertools.combinations(range(z.shape[1]), size)
        ]
        best = max(sets, key=lambda places: abs(correlation(places)))
        weight = correlation(best)
        return lambda new: weight * new[:, best].prod(axis=1)

    return Function(learn, view="z", examples=4000)
