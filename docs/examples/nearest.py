"""A learner in ten lines.

hardness learn nearest.py:nearest parity:d=8,m=2 --budget-examples 2000
"""

from hardness.learners.plugins import function


@function(view="z", examples=10_000)
def nearest(z, s):
    """Votes among the examples that differ in few bits, the nearest by far the most."""

    def predict(new):
        differ = (z.shape[1] - new @ z.T) / 2
        votes = 0.01**differ
        return votes @ s / votes.sum(axis=1)

    return predict
