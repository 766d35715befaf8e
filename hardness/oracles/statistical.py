"""Statistical-query oracles: STAT(tau), honest, from fresh samples or exact.

STAT(tau) answers a query phi with values in [-1, 1] by any number within tau of E phi. [Kea98]
"""

import math
from fractions import Fraction
from typing import Protocol

from hardness.oracles.budget import Meter
from hardness.oracles.means import mean_of
from hardness.oracles.query import Character, StatisticalQuery
from instances.coded import require_coded
from instances.errors import UsageError
from instances.family import Family, Instance
from instances.sets import Symmetric


class QueryOracle(Protocol):
    """What an SQ learner sees."""

    family: Family
    tau: Fraction
    meter: Meter

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; counted; raises budget.Spent."""


def samples_a_query(tau: Fraction, failure: float = 1e-6) -> int:
    """Return how many examples `SampledOracle` draws for a query.

    >>> samples_a_query(Fraction(1, 10))
    2902
    """
    return math.ceil(2 * math.log(2 / failure) / float(tau) ** 2)


class SampledOracle:
    """Answers by the mean over fresh samples, enough of them for tau (Hoeffding).

    An answer is further than tau from the expectation with probability at most `failure`. The
    samples are counted as examples.
    """

    def __init__(
        self, instance: Instance, tau: Fraction, meter: Meter, failure: float = 1e-6
    ) -> None:
        """Set the number of samples a query: 2 ln(2/failure) / tau^2."""
        self.family, self.tau, self.meter = instance.family, check_tau(tau), meter
        self.samples = samples_a_query(tau, failure)
        self._instance = instance
        self._next = 0

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query from fresh samples."""
        self.meter.take_query()
        total, left = 0.0, self.samples
        while left:
            count = self.meter.take_examples(min(left, 1 << 13))
            examples = self._instance.examples(self._next, count, axis="queries")
            total += float(query.values(examples).sum())
            self._next += count
            left -= count
        return total / self.samples


class ExactOracle:
    """Answers by the exact expectation.

    Of a character of a hidden set at any d, of a query of z and the factor for d <= 27, of any
    query for d <= 13.
    """

    def __init__(self, instance: Instance, tau: Fraction, meter: Meter) -> None:
        """Keep tau for the learner: the answers are better than it asks for."""
        self.family, self.tau, self.meter = instance.family, check_tau(tau), meter
        self._instance = instance

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query exactly."""
        self.meter.take_query()
        family, secret = self._instance.family, self._instance.hidden.secret
        if isinstance(family, Symmetric) and isinstance(query, Character):
            query.require(family)
            return float(family.coefficient(secret, query.subset))
        return mean_of(require_coded(family), query, secret)


def check_tau(tau: Fraction) -> Fraction:
    """Refuse a tolerance out of (0, 1]; raises UsageError."""
    if not 0 < tau <= 1:
        raise UsageError(f"tau must be above 0 and at most 1, got {tau}")
    return tau
