"""What a claim about a named learner is asked with."""

from typing import ClassVar, Protocol

from hardness.lower.bounds import Terms
from hardness.lower.named.unknown import Unknown
from hardness.lower.record import Claim


class Asked(Protocol):
    """A learner, by its numbers, and the claims that a bound makes about it."""

    about: ClassVar[str]  # "kernel", "gd" or "low-degree"

    def claims(self, unknown: Unknown, terms: Terms) -> tuple[Claim, ...]:
        """Make the claims; raises NoClaim, and UsageError for numbers out of range."""
