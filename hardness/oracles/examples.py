"""Oracles of one instance that count what a learner uses: examples, epochs, chosen inputs.

In learning theory, labels of chosen inputs are membership queries. [Ang88] Bounds on statistical
queries do not apply to a learner that asks them.
"""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Meter, Spent
from instances.errors import ToolkitError
from instances.family import Examples, Family, Instance, Source, require_examples

if TYPE_CHECKING:  # the modules of queries are slow to import
    from hardness.oracles.query import StatisticalQuery
    from hardness.oracles.statistical import QueryOracle


class ExampleOracle:
    """Gives the next examples of an instance or a folder, without the secret.

    >>> from hardness.oracles import Budget
    >>> from instances import parse
    >>> oracle = ExampleOracle(parse("parity:d=8,m=3").instance(0), Meter(Budget(examples=10)))
    >>> len(oracle.draw(7)), len(oracle.draw(7))
    (7, 3)
    """

    def __init__(self, source: Source, meter: Meter) -> None:
        self.family: Family = source.family
        self.meter = meter
        self._source = source
        self._next = 0

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, or fewer at the end of the budget, then raise Spent."""
        granted = self.meter.take_examples(count)
        found = self._source.examples(self._next, granted)
        self.meter.examples -= granted - len(found)  # a folder may hold fewer
        self._next += len(found)
        if not len(found) and count:
            raise Spent("examples")
        return found

    def again(self) -> Examples:
        """Return all examples drawn so far once more, without counting them again."""
        require_examples(self.family, self._next)
        return self._source.examples(0, self._next)


class Rounds:
    """Gives the indices of examples that were drawn, repeatedly, each round in a new order.

    Repeated examples are not new evidence. A learner that estimates or tests with its examples must
    not draw them here.

    >>> from hardness.oracles import Budget
    >>> rounds = Rounds(np.arange(5), Meter(Budget()), np.random.default_rng(0))
    >>> [len(rounds.draw(3)) for _ in range(4)], rounds.round
    ([3, 2, 3, 2], 2)
    """

    def __init__(self, rows: NDArray[np.int64], meter: Meter, rng: np.random.Generator) -> None:
        """Start before the first round of these indices; rng orders each round."""
        self.round = 0
        self._rows, self._meter, self._rng = rows, meter, rng
        self._remaining = rows[:0]  # indices of this round that were not given yet

    @property
    def ended(self) -> bool:
        """Whether the current round is complete."""
        return not len(self._remaining)

    def draw(self, count: int) -> NDArray[np.int64]:
        """Return the next indices, at most `count`, of one round; raises Spent for seconds."""
        self._meter.require_time()
        if self.ended:
            self.round += 1
            self._remaining = self._rng.permutation(self._rows)
        rows, self._remaining = self._remaining[:count], self._remaining[count:]
        return rows


class Epochs(ExampleOracle):
    """Gives the examples of an oracle, then the same ones again, in one of `Rounds` per epoch.

    The meter counts each example once. The first epoch ends when the oracle's examples or those of
    the budget are used up.

    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> once = ExampleOracle(parse("parity:d=8,m=3").instance(0), Meter(Budget(examples=10)))
    >>> oracle = Epochs(once, 2, np.random.default_rng(0))
    >>> [len(oracle.draw(8)) for _ in range(4)], oracle.meter.examples, oracle.ended
    ([8, 2, 8, 2], 10, True)
    """

    def __init__(self, oracle: ExampleOracle, epochs: int, rng: np.random.Generator) -> None:
        """Start the first epoch; rng orders the examples of the later ones."""
        self.family, self.meter = oracle.family, oracle.meter
        self._oracle, self._epochs, self._rng = oracle, epochs, rng
        self._first: list[Examples] = []  # examples of the first epoch, if there are more epochs
        self._rounds: Rounds | None = None  # those after the first epoch
        self._tensors: dict[str, NDArray[Any]] = {}

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 1."""
        return 1 + self._rounds.round if self._rounds else 1

    @property
    def ended(self) -> bool:
        """Whether all epochs are complete, if there are several."""
        return self._rounds is not None and self.epoch == self._epochs and self._rounds.ended

    def draw(self, count: int) -> Examples:
        """Return the next examples of an epoch, at most `count`; raises Spent after the last."""
        if self._rounds is None:
            try:
                drawn = self._oracle.draw(count)
            except Spent as spent:
                if spent.resource != "examples" or not self._first:
                    raise
                parts = [part.tensors for part in self._first]
                self._tensors = {n: np.concatenate([p[n] for p in parts]) for n in parts[0]}
                rows = np.arange(sum(map(len, self._first)))
                self._rounds, self._first = Rounds(rows, self.meter, self._rng), []
            else:
                if self._epochs > 1:
                    self._first.append(drawn)
                    require_examples(self.family, sum(map(len, self._first)))
                return drawn
        if self.ended:
            raise Spent("examples")
        rows = self._rounds.draw(count)
        return self.family.restore({n: t[rows] for n, t in self._tensors.items()}, len(rows))


class ValueOracle:
    """Answers membership queries of one instance, without the secret.

    >>> from hardness.oracles import Budget
    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> oracle = ValueOracle(instance, Meter(Budget(values=10)))
    >>> oracle.value(np.ones((4, 2, 8))).shape, oracle.meter.values
    ((4, 2, 8), 4)
    """

    def __init__(self, instance: Instance, meter: Meter) -> None:
        self.family: Family = instance.family
        self.meter = meter
        self._instance = instance
        self._next = 0

    def value(self, x: Any) -> NDArray[np.float64]:
        """Return the labels of tokens x (n, k, d): (n, k, d), float64; counts n values.

        If the budget has fewer values left, this raises Spent and counts none, because part of the
        chosen inputs is seldom useful. The j-th value of a run gets the j-th noise of a separate
        stream, in any batching, so repeated inputs get fresh noise. Raises UsageError for inputs
        that may not be asked, and counts none of these.
        """
        checked = self.family.questions or self.family.refuse("questions")
        asked = checked(x)
        require_examples(self.family, len(asked))  # before they are counted
        self.meter.take_values(len(asked))
        found = self._instance.values(self._next, asked)
        self._next += len(asked)
        return found


class ChoiceOracle:
    """Gives examples by `draw`, answers queries by `ask` and chosen inputs by `value`.

    queries and values are None if they cannot be answered: for a folder without its secret part.

    >>> from hardness.oracles import Budget, Character, SampledOracle, ValueOracle
    >>> from instances import parse
    >>> instance, meter = parse("parity:d=8,m=3").instance(0), Meter(Budget())
    >>> asked = SampledOracle(instance, Fraction(1, 10), meter)
    >>> chosen = ValueOracle(instance, meter)
    >>> oracle = ChoiceOracle(ExampleOracle(instance, meter), asked, chosen)
    >>> len(oracle.draw(5)), abs(oracle.ask(Character(subset=(1,)))) < 0.2, meter.queries
    (5, True, 1)
    """

    def __init__(
        self,
        examples: ExampleOracle,
        queries: "QueryOracle | None",
        values: ValueOracle | None,
        private: tuple[Path, ...] = (),
    ) -> None:
        """Join oracles that share one meter. private: folders that contain the secret."""
        self.private = private
        self.family: Family = examples.family
        self.meter: Meter = examples.meter
        self.tau: Fraction | None = queries.tau if queries else None
        self._examples, self._queries, self._values = examples, queries, values

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, or fewer at the end of the budget, then raise Spent."""
        return self._examples.draw(count)

    def ask(self, query: "StatisticalQuery") -> float:
        """Answer one query within tau of its expectation; counted; raises Spent, ToolkitError."""
        if self._queries is None:
            raise ToolkitError("a statistical query was asked: the folder has no secret part")
        return self._queries.ask(query)

    def value(self, x: Any) -> NDArray[np.float64]:
        """Return the labels of chosen inputs (n, k, d); counted; raises Spent, ToolkitError."""
        if self._values is None:
            _ = self.family.questions or self.family.refuse("questions")
            raise ToolkitError("labels of chosen inputs were asked: the folder has no secret part")
        return self._values.value(x)
