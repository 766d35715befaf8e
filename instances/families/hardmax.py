"""Hidden sets as layers of hardmax attention: every token attends to the one of the largest logit.

Where z_0 = -1 a head adds a sign(h - t), t a threshold halfway between two counts, so that m heads
and perhaps a constant one are any profile: a staircase in whole numbers.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from instances.families.parity import Parity, signs
from instances.family import Hardness, itself
from instances.layererror import Array, LayerError
from instances.parameters import Expression
from instances.symmetric import Expressed, Symmetric, to_float
from instances.threshold import Head, rational


@dataclass(frozen=True, kw_only=True)
class Hardmax(Expressed, Symmetric):
    """The family of f_S(z) = g(h), h the number of j in S with z_j = -1, by hardmax attention.

    d, m, noise as for Parity, g as for Profile. Raises UsageError out of range.

    >>> family = Hardmax(d=8, m=2)
    >>> [(str(head.u), str(head.a)) for head in family.heads]
    [('1/2', '-1'), ('3/2', '1'), ('-1', '1')]
    """

    name: ClassVar[str] = "hardmax"
    example: ClassVar[str] = "hardmax:d=32,m=3"
    about: ClassVar[str] = "hidden parities and profiles by hardmax attention, exact in float64"
    kind = view = "hardmax"
    shape = np.sign
    scheme = itself

    d: int
    m: int
    g: Expression = field(default=Expression("parity"))
    noise: Fraction = Fraction(0)
    rho: Fraction = field(default=Fraction(3), init=False, repr=False)  # of no use here

    def __post_init__(self) -> None:
        self.require_range()
        self.require_profile()

    @property
    def hardness(self) -> Hardness:
        """That of the same labels."""
        return self.plain.hardness

    @property
    def characters(self) -> Symmetric | None:
        """The parities with the same labels, where g is theirs."""
        return self.plain if self.values == signs(self.m) else None

    @cached_property
    def plain(self) -> Symmetric:
        """The parities with the same labels, where g is theirs; else the profile."""
        if self.values != signs(self.m):
            return super().plain
        return Parity(d=self.d, m=self.m, noise=self.noise)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """A head's u is its threshold t, or -1 for the constant one, whose sign is always +1."""
        steps = [(rational(high) - rational(low)) / 2 for low, high in pairwise(self.values)]
        found = [
            Head(u=rational(Fraction(2 * i + 1, 2)), a=step) for i, step in enumerate(steps) if step
        ]
        constant = (rational(self.values[0]) + rational(self.values[-1])) / 2
        if constant:
            found.append(Head(u=rational(-1), a=constant, slope=0))
        return tuple(found)

    @cached_property
    def float_heads(self) -> tuple[Array, Array, Array]:
        """The weights of each head, of which the sign of slope h + offset is what counts."""
        found = [(float(head.slope), -to_float(head.u), to_float(head.a)) for head in self.heads]
        slope, offset, a = np.array(found).T
        return slope, offset, a

    @cached_property
    def layer_error(self) -> LayerError:
        """Signs are exact, so that only the a_i and their sum are rounded."""
        slope, _, a = self.float_heads
        error = float(np.abs(a).sum()) * (len(slope) + 2) * 2.0**-52
        return LayerError(levels=self.levels, error=error)
