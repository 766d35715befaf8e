"""Learners: what can be done, measured on the same instances as the lower bounds."""

from hardness.upper.learner import Hypothesis, Learner, Outcome, learner_spec, member, nothing
from hardness.upper.registry import ATTACKS, LEARNERS, parse_learner

__all__ = [
    "ATTACKS",
    "LEARNERS",
    "Hypothesis",
    "Learner",
    "Outcome",
    "learner_spec",
    "member",
    "nothing",
    "parse_learner",
]
