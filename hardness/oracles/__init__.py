"""What a learner may ask, every use of it counted against a budget."""

from hardness.oracles.budget import Budget, Meter, Spent, Usage
from hardness.oracles.examples import ExampleOracle
from hardness.oracles.query import Character, Correlational, Query
from hardness.oracles.statistical import ExactOracle, QueryOracle, SampledOracle

__all__ = [
    "Budget",
    "Character",
    "Correlational",
    "ExactOracle",
    "ExampleOracle",
    "Meter",
    "Query",
    "QueryOracle",
    "SampledOracle",
    "Spent",
    "Usage",
]
