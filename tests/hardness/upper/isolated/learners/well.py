"""Learners that behave."""

import numpy as np

from hardness.upper.elimination import Elimination
from hardness.upper.learner import Hypothesis


class Eliminates(Elimination):
    name = "eliminates"
    access = "either"


class Guesses:
    """A predictor that depends on its coins and on every example."""

    name = "guesses"
    revision = 1
    access = "either"
    about = "random"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        examples = oracle.draw(700)
        weight = rng.random() + float(np.sum(examples.y[:, 0, 0]) % 1)
        return Hypothesis(
            predict=lambda x: weight * oracle.family.known(x), details={"weight": weight}
        )
