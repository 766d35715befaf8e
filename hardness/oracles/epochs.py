"""Several epochs over the same examples: an example oracle that goes round."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Spent
from hardness.oracles.examples import ExampleOracle
from instances.family import Examples, require_examples


class Epochs(ExampleOracle):
    """Gives the examples of an oracle, then the same ones again, in a new order in each epoch.

    The meter counts an example once: its examples are distinct ones. The first epoch ends with the
    oracle's examples, or with the budget's. What is given again is no new evidence: a learner that
    estimates or tests with its examples must not draw them from here.

    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> once = ExampleOracle(parse("parity:d=8,m=3").instance(0), Meter(Budget(examples=10)))
    >>> oracle = Epochs(once, 2, np.random.default_rng(0))
    >>> [len(oracle.draw(8)) for _ in range(4)], oracle.meter.examples, oracle.ended
    ([8, 2, 8, 2], 10, True)
    """

    def __init__(self, oracle: ExampleOracle, epochs: int, rng: np.random.Generator) -> None:
        """Start the first of so many epochs; rng orders the others."""
        self.family, self.meter = oracle.family, oracle.meter
        self.epoch = 1
        self._oracle, self._epochs, self._rng = oracle, epochs, rng
        self._given: list[Examples] = []  # in the first epoch
        self._order = np.zeros(0, np.int64)  # of the rest of a later one

    @property
    def ended(self) -> bool:
        """Whether all epochs are done, of more than one."""
        return 1 < self._epochs == self.epoch and not len(self._order)

    def draw(self, count: int) -> Examples:
        """Return the next examples of an epoch, at most `count`; raises Spent after the last."""
        if self.epoch == 1:
            try:
                found = self._oracle.draw(count)
            except Spent as spent:
                if spent.resource != "examples" or not self._given:
                    raise
            else:
                if self._epochs > 1:
                    self._given.append(found)
                    require_examples(self.family, sum(map(len, self._given)))
                return found
        self.meter.require_time()
        if not len(self._order):
            if self.epoch == self._epochs:
                raise Spent("examples")
            self.epoch += 1
            self._order = self._rng.permutation(sum(map(len, self._given)))
        rows, self._order = self._order[:count], self._order[count:]
        return self.family.restore({n: t[rows] for n, t in self._tensors.items()}, len(rows))

    @cached_property
    def _tensors(self) -> dict[str, NDArray[Any]]:
        parts = [found.tensors for found in self._given]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
