"""A learner that changes its process, which serves later runs of this file alone."""

import numpy as np

import hardness.learners.child as child
import hardness.runs.run as judge
from hardness.learners.learner import Hypothesis


class Patches:
    access = "either"

    def learn(self, oracle, rng):
        """Replace the judge, numpy, the messages and the oracle: those of its process."""
        known = oracle.family.known
        judge.judge = judge.measure = np.mean = np.random.default_rng = None
        type(oracle.family).trivial_risk = 10**9
        child.reported = lambda details: b'{"forged": true}'
        oracle.draw(3)
        return Hypothesis(predict=known)
