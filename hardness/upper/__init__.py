"""Learners: what can be done, measured on the same instances as the lower bounds."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.upper.learner import (
        Failed,
        Hypothesis,
        Learner,
        Outcome,
        learner_spec,
        member,
        nothing,
    )
    from hardness.upper.registry import ATTACKS, LAYERED, LEARNERS, parse_learner

__all__ = [
    "ATTACKS",
    "LAYERED",
    "LEARNERS",
    "Failed",
    "Hypothesis",
    "Learner",
    "Outcome",
    "learner_spec",
    "member",
    "nothing",
    "parse_learner",
]

lazily(__name__)
