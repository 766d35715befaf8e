"""What a learner may ask, every use of it counted against a budget."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.oracles.adversary import (
        Adversary,
        CertificateAdversary,
        GameRecord,
        ReferenceAdversary,
        Round,
    )
    from hardness.oracles.budget import Budget, Meter, Spent, Usage
    from hardness.oracles.examples import ChoiceOracle, Epochs, ExampleOracle, ValueOracle
    from hardness.oracles.means import Listed, Means
    from hardness.oracles.query import Character, Correlational, Factor, Pool, Query, Table
    from hardness.oracles.statistical import ExactOracle, QueryOracle, SampledOracle

__all__ = [
    "Adversary",
    "Budget",
    "CertificateAdversary",
    "Character",
    "ChoiceOracle",
    "Correlational",
    "Epochs",
    "ExactOracle",
    "ExampleOracle",
    "Factor",
    "GameRecord",
    "Listed",
    "Means",
    "Meter",
    "Pool",
    "Query",
    "QueryOracle",
    "ReferenceAdversary",
    "Round",
    "SampledOracle",
    "Spent",
    "Table",
    "Usage",
    "ValueOracle",
]

lazily(__name__)
