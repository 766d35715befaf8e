"""The predictor that knows the family alone: what every other learner is measured against."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hardness.oracles import ExampleOracle
from hardness.upper.learner import Hypothesis, View, nothing
from instances.family import Family


@dataclass(frozen=True, kw_only=True)
class Trivial:
    """Predicts E[F] over the members of the family, and asks for no example."""

    name: ClassVar[str] = "trivial"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "nothing"
    about: ClassVar[str] = "the baseline: the mean of all members, a risk of 1"

    def supports(self, family: Family) -> str | None:
        """Any family."""
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Learn nothing."""
        return nothing(oracle.family)
