"""Examples, statistical and membership queries of one instance, on one meter."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Meter
from hardness.oracles.examples import ExampleOracle
from hardness.oracles.query import StatisticalQuery
from hardness.oracles.statistical import QueryOracle
from instances.capabilities import QUESTIONS
from instances.errors import ToolkitError
from instances.family import Examples, Family

if TYPE_CHECKING:
    from hardness.oracles.values import ValueOracle


class ChoiceOracle:
    """Gives examples by `draw`, answers queries by `ask` and chosen tokens by `value`.

    queries and values are None where nobody can answer any: a folder without its secret part.

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
        queries: QueryOracle | None,
        values: "ValueOracle | None",
        private: tuple[Path, ...] = (),
    ) -> None:
        """Join oracles that count on one meter. private: folders that hold the secret."""
        self.private = private
        self.family: Family = examples.family
        self.meter: Meter = examples.meter
        self.tau: Fraction | None = queries.tau if queries else None
        self._examples, self._queries, self._values = examples, queries, values

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, fewer at the end of the budget; then raises Spent."""
        return self._examples.draw(count)

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; counted; raises Spent, ToolkitError."""
        if self._queries is None:
            raise ToolkitError(
                "a statistical query was asked, which needs fresh examples: the folder has no "
                "secret part to draw them from"
            )
        return self._queries.ask(query)

    def value(self, x: Any) -> NDArray[np.float64]:
        """Return the labels of chosen tokens (n, k, d); counted; raises Spent, ToolkitError."""
        if self._values is None:
            QUESTIONS.need(self.family)
            raise ToolkitError(
                "labels of chosen tokens were asked for: the folder has no secret part that knows "
                "them"
            )
        return self._values.value(x)
