"""Learners: what can be done, measured on the same instances as the lower bounds."""

from typing import TYPE_CHECKING, Any

from hardness.upper.learner import (
    Failed,
    Hypothesis,
    Learner,
    Outcome,
    learner_spec,
    member,
    nothing,
)

if TYPE_CHECKING:
    from hardness.upper.registry import ATTACKS, LEARNERS, parse_learner

__all__ = [
    "ATTACKS",
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


def __getattr__(name: str) -> Any:
    """Import the registry where it is asked for: a learner of one's own needs none of the others.

    >>> from hardness.upper import parse_learner
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hardness.upper import registry

    return getattr(registry, name)
