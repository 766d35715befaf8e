"""The example oracle: labelled examples of one instance, counted."""

from hardness.oracles.budget import Meter, Spent
from instances.family import Examples, Family, Source, require_examples


class ExampleOracle:
    """Gives the next examples of an instance or a folder; the learner sees no secret.

    >>> from hardness.oracles import Budget
    >>> from instances import parse
    >>> oracle = ExampleOracle(parse("parity:d=8,m=3").instance(0), Meter(Budget(examples=10)))
    >>> len(oracle.draw(7)), len(oracle.draw(7))
    (7, 3)
    """

    def __init__(self, source: Source, meter: Meter) -> None:
        """Start at the source's first example."""
        self.family: Family = source.family
        self.meter = meter
        self._source = source
        self._next = 0

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, fewer at the end of the budget; then raises Spent."""
        granted = self.meter.take_examples(count)
        found = self._source.examples(self._next, granted)
        self.meter.give_back(granted - len(found))  # a folder may hold fewer
        self._next += len(found)
        if not len(found) and count:
            raise Spent("examples")
        return found

    def again(self) -> Examples:
        """Return all examples that were drawn, once more; they count once."""
        require_examples(self.family, self._next)
        return self._source.examples(0, self._next)
