"""The value oracle: labels of tokens that the learner chooses, counted.

In learning theory these are membership queries. [Ang88] No bound on statistical queries binds a
learner that asks them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Meter
from instances.capabilities import QUESTIONS
from instances.family import Family, Instance, require_examples


class ValueOracle:
    """Answers membership queries of one instance; the learner sees no secret.

    >>> from hardness.oracles import Budget
    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> oracle = ValueOracle(instance, Meter(Budget(values=10)))
    >>> oracle.value(np.ones((4, 2, 8))).shape, oracle.meter.values
    ((4, 2, 8), 4)
    """

    def __init__(self, instance: Instance, meter: Meter) -> None:
        """Start at the first place of the noise."""
        self.family: Family = instance.family
        self.meter = meter
        self._instance = instance
        self._next = 0

    def value(self, x: Any) -> NDArray[np.float64]:
        """Return the labels of tokens x (n, k, d): (n, k, d), float64; each of the n is counted.

        A call that does not fit into what is left of the budget raises Spent and costs nothing:
        chosen tokens are seldom of use in part. The j-th value of a run gets the j-th noise of a
        stream of its own, in any batching, so tokens that are asked again get fresh noise. Raises
        UsageError for tokens that may not be asked, which costs nothing either.
        """
        asked = QUESTIONS.need(self.family).checked(x, self.family)
        require_examples(self.family, len(asked))  # before they are counted
        self.meter.take_values(len(asked))
        found = self._instance.values(self._next, asked)
        self._next += len(asked)
        return found
