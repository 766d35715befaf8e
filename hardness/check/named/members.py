"""The members of a family for the checker: what is unknown of them, from the profile alone."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq

from hardness.check.goal import right_about
from hardness.check.named import labelled
from hardness.check.reading import fraction, refuse
from hardness.check.scheme import Scheme, python_fraction


@dataclass(frozen=True, kw_only=True)
class Members:
    """All members; `orthonormal` of a parity, of which no mean is known, as labels are coins."""

    scheme: Scheme
    orthonormal: bool

    @property
    def size(self) -> int:
        """How many they are."""
        return self.scheme.family.size

    @property
    def noise(self) -> Fraction:
        """The probability that a label is reflected."""
        return self.scheme.family.noise

    @property
    def two_valued(self) -> bool:
        """Whether labels take two values."""
        return len(set(self.scheme.values)) == 2

    @cached_property
    def spectrum(self) -> list[tuple[fmpq, int]]:
        """Eigenvalues and how often each occurs, the largest first, less the mean if known."""
        n = self.scheme.family.ground
        found = [
            (value, math.comb(n, j) - (math.comb(n, j - 1) if j else 0))
            for j, value in enumerate(self.scheme.eigenvalues)
        ]
        return sorted(found if self.orthonormal else found[1:], reverse=True)

    @cached_property
    def trace(self) -> fmpq:
        """The sum of the squared norms of what is unknown of each."""
        norm = self.scheme.c[-1] * self.size
        return norm if self.orthonormal else norm - self.scheme.eigenvalues[0]

    @property
    def unit_norm(self) -> Fraction:
        """The largest eigenvalue, with members scaled to norm 1."""
        return python_fraction(self.spectrum[0][0] * self.size / self.trace)

    @property
    def sign_eigenvalue(self) -> fmpq:
        """The largest eigenvalue with the two values written as +-1."""
        if not self.two_valued:
            refuse("labels take more than two values: there is no such claim")
        return self.spectrum[0][0] / self.scheme.half**2

    @property
    def scale(self) -> fmpq:
        """The trace: risk is relative to what is unknown."""
        return self.trace

    @property
    def drift(self) -> Fraction:
        """A gradient changes with the sign by 2 at most, half of it is faded, on half of tokens."""
        return ((1 - 2 * self.noise) / 2) ** 2 * python_fraction(self.sign_eigenvalue) / self.size

    @property
    def example(self) -> fmpq:
        """The correlation of a member's law of examples with itself."""
        return labelled.correlations(self.scheme)[-1]

    def batch(self, batch: int) -> fmpq:
        """The row sum of the correlations of batches."""
        return labelled.row(self.scheme, batch)

    def right(self, given: dict[str, str]) -> int:
        """How many members one hypothesis can have the given risk for, under the given noise."""
        if fraction(given["noise"]) != self.noise:
            refuse("the noise is not that of the spec")
        return right_about(fraction(given["risk"]), self.unit_norm)
