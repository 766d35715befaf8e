"""Members of which one is drawn, as the checker of claims about named learners needs them.

Those of profiles and of LWE-style families from what the kernel proves of their problem.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from flint import fmpq, fmpz
from numpy.typing import NDArray

from hardness.check import kernel
from hardness.check.goal import Goal, right_about
from hardness.check.reading import fraction, integer, refuse
from hardness.check.scheme import Scheme
from hardness.check.spectra import UNIT
from hardness.claims.finite import NO_BATCH
from instances.threshold import python_fraction

_MOST_BITS = 1 << 19  # of an exact power


class DrawnMembers(Protocol):
    """Members of which one is drawn uniformly, less their public part."""

    @property
    def size(self) -> int:
        """How many they are."""

    @property
    def trace(self) -> fmpq:
        """The sum of their squared norms, or less."""

    @property
    def least(self) -> fmpq:
        """Their number times the least of their squared norms, or less."""

    @property
    def scale(self) -> fmpq:
        """Their number times what risk is relative to, in the units of the trace."""

    @property
    def inputs(self) -> str:
        """What they are functions of, in words."""

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


@dataclass(frozen=True, kw_only=True)
class Members:
    """All members; `orthonormal` of a parity, of which no mean is known, as labels are coins."""

    inputs: ClassVar[str] = "tokens"

    scheme: Scheme
    orthonormal: bool

    @property
    def size(self) -> int:
        """How many they are."""
        return self.scheme.size

    @property
    def noise(self) -> Fraction:
        """The probability that a label is reflected."""
        return self.scheme.noise

    @property
    def two_valued(self) -> bool:
        """Whether labels take two values."""
        return len(set(self.scheme.values)) == 2

    @cached_property
    def spectrum(self) -> list[tuple[fmpq, int]]:
        """Eigenvalues and how often each occurs, the largest first, less the mean if known."""
        n = self.scheme.ground
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
    def least(self) -> fmpq:
        """All have the same norm."""
        return self.trace

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

    @cached_property
    def laws(self) -> list[fmpq]:
        """Correlations of two members' laws of examples by overlap, by a table of two labels.

        From the four label means: the sum over labels s of (P_S(s) - P_0(s)) (P_T(s) - P_0(s)) /
        P_0(s), on half of the tokens.
        """
        if not self.two_valued:
            refuse("labels take more than two values: there is no such claim")
        scheme, noise = self.scheme, self.noise
        fade = fmpq(1) - 2 * fmpq(noise.numerator, noise.denominator)
        middle = (max(scheme.values) + min(scheme.values)) / 2
        plus = (1 + fade * (scheme.mean - middle) / scheme.half) / 2  # P_0(+1)
        # P_S(+1 | X) - P_0(+1) is fade/2 times the centred sign, and the opposite for -1.
        both = (fade / 2) ** 2 * (1 / plus + 1 / (1 - plus)) / 2
        return [both * c / scheme.half**2 for c in scheme.c]

    @property
    def example(self) -> fmpq:
        """The correlation of a member's law of examples with itself."""
        return self.laws[-1]

    def batch(self, batch: int) -> fmpq:
        """The sum of a row of (1 + c)^batch - 1, from the members at each distance.

        The largest eigenvalue of a matrix of entries >= 0 whose rows have one sum is that sum.
        """
        shared = math.prod({int(c.q) for c in self.laws})
        shared //= math.gcd(*(shared // int(c.q) for c in self.laws))
        if batch * shared.bit_length() > _MOST_BITS:
            refuse("the powers of this batch are too long to be computed")
        total = fmpz(0)
        for distance, count in enumerate(self.scheme.valencies):
            ratio = (1 + self.laws[-1 - distance]) * shared
            total += count * fmpz(ratio.p) ** batch
        return fmpq(total, fmpz(shared) ** batch) - self.size

    def right(self, given: dict[str, str]) -> int:
        """How many members one hypothesis can have the given risk for, under the given noise."""
        if fraction(given["noise"]) != self.noise:
            refuse("the noise is not that of the spec")
        return right_about(fraction(given["risk"]), self.unit_norm)


class Orthogonal:
    """Members that are orthogonal where a is uniform, and the ends of its density."""

    inputs = "tokens"

    def __init__(self, problem: dict[str, Any]) -> None:
        """Take what the kernel proves of a problem; raises Refuted."""
        alike = {"base": "1", "cut": 0, "weights": []}
        steps = [{"rule": "secrets", "from": [], **alike}, {"rule": "laws", "from": [1]}]
        try:
            self._posed = kernel.posed(problem)
            members, laws = kernel.prove(self._posed, steps)
        except kernel.Refused as reason:
            refuse(f"its members: {reason}")
        if members.law is not None:
            refuse("its members: they are not all as likely")
        self.size, self._alike = members.count, members.alike
        self._unlike = -(-self.size // self._alike)
        self._least, self._most, self._square = laws.least, laws.top, laws.square
        self.levels: int = self._posed.levels

    @property
    def trace(self) -> fmpq:
        """No member has less than the least density for its squared norm."""
        return self.size * _exact(self._least)

    @property
    def least(self) -> fmpq:
        """The trace takes the least for all."""
        return self.trace

    @property
    def scale(self) -> fmpq:
        """Risk is relative to norm 1, that for a uniform."""
        return fmpq(self.size)

    @property
    def spectrum(self) -> list[tuple[fmpq, int]]:
        """A Gram matrix of orthonormal groups of functions of norm 1, and a density."""
        return [(_exact(self._most) * self._alike, self._unlike)]

    @property
    def drift(self) -> Fraction:
        """What chi^2 and the spread of a gradient over labels leave, on half of the tokens each.

        Of a vector in the unit ball: two points have the variance r (1-r) times the square of a
        distance of at most 2, more points none above the mean square.
        """
        rarest = self._posed.rarest
        spread = rarest * (1 - rarest) * 2**2 if self.levels == 2 else Fraction(1)
        return self._most * (self._square / 2) * (spread / 2) / self.size

    @property
    def example(self) -> fmpq:
        """Half of the tokens are open, and chi^2 is what each of them tells."""
        return _exact(self._square) / 2

    def batch(self, batch: int) -> fmpq:
        """The squared norm of a law of a batch less the reference, where denser tokens count."""
        both = self._most.denominator * self._square.denominator * 2
        if batch * both.bit_length() > _MOST_BITS:
            refuse("the powers of this batch are too long to be computed")
        dense = _exact(self._most)
        return (dense * (1 + self.example)) ** batch - dense**batch

    def right(self, given: dict[str, str]) -> int:
        """How many members one hypothesis can have the given risk for."""
        return self._alike * right_about(fraction(given["risk"]), self._most, self._least)

    def floor(self, value: int, given: dict[str, str]) -> str:
        """Verify a number of examples."""
        if integer(given["levels"]) != self.levels:
            refuse(f"a label takes one of {self.levels} values")
        return Goal(self.size, self.right(given), given).floor(value, self.levels)


class Listed:
    """Functions of the values -1 and +1 less their mean, by the correlations of all pairs.

    gram: (M, M), the inner products of the functions as they are. ends: verified upper ends of the
    eigenvalues of members less their mean, falling; top: that of the largest, by which gradients
    and hypotheses are bounded; right: how many members one hypothesis can have a risk for.
    """

    inputs = "points"

    def __init__(
        self,
        gram: NDArray[np.int64],
        ends: Sequence[int],
        top: int,
        right: Callable[[dict[str, str]], int],
    ) -> None:
        """Take what the evidence proves."""
        self.size, self._top, self.right = len(gram), Fraction(top, UNIT), right
        self.spectrum = [(fmpq(end, UNIT), n) for end, n in Counter(ends).items()]
        # M^2 ||u||^2 = M^2 - 2 M (row sum) + (whole sum), in units of the points.
        rows = [int(v) for v in gram.sum(axis=0)]
        unit = self.size * self.size * int(gram[0, 0])
        norms = [unit - 2 * self.size * row + sum(rows) for row in rows]
        self.trace = fmpq(sum(norms), unit)
        self.least = fmpq(self.size * min(norms), unit)

    @property
    def scale(self) -> fmpq:
        """The trace: risk is relative to the mean squared norm."""
        return self.trace

    @property
    def drift(self) -> Fraction:
        """Half of what a gradient changes with the sign has norm 1 at most, at every point."""
        return self._top / self.size

    @property
    def example(self) -> NoReturn:
        """Members have no common row of correlations."""
        refuse(NO_BATCH)

    def batch(self, batch: int) -> NoReturn:
        """Members have no common row of correlations."""
        refuse(NO_BATCH)


def _exact(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
