"""What the checker of kernels and gradient descent has to know of a family's members."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from flint import fmpq


class Drawn(Protocol):
    """Members of which one is drawn uniformly, less what everyone knows of them."""

    @property
    def size(self) -> int:
        """How many they are."""

    @property
    def trace(self) -> fmpq:
        """The sum of their squared norms, or less."""

    @property
    def scale(self) -> fmpq:
        """Their number times what risk is relative to, in the units of the trace."""

    @property
    def spectrum(self) -> Sequence[tuple[fmpq, int]]:
        """Bounds on their Gram eigenvalues, and how often each occurs, the largest first."""

    @property
    def drift(self) -> Fraction:
        """The mean squared distance of mean gradients of norm 1 to those of the reference."""

    @property
    def example(self) -> fmpq:
        """The squared distance of one labelled example's law to the reference's: chi-squared."""

    def batch(self, batch: int) -> fmpq:
        """The largest eigenvalue that batches of so many examples have less the reference."""

    def right(self, given: dict[str, str]) -> int:
        """How many of them one hypothesis can have the given risk for."""
