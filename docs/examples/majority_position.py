"""Majorities that a layer shows by positions, in every example: a label and a view put together."""

from dataclasses import dataclass
from fractions import Fraction

from instances.families.position import Positions
from instances.family import require


@dataclass(frozen=True, kw_only=True)
class MajorityPosition(Positions):
    """The family of all majorities of m of d - 1 hidden coordinates, m odd, seen through W_0."""

    name = "majority-position"
    example = "majority-position:d=9,m=3"
    about = "majorities of m of d-1 hidden coordinates, shown by positions"

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)
    w0: str = "identity"

    def __post_init__(self):
        require(
            self.m % 2 == 1 and self.m <= self.d - 2,
            f"m={self.m} given with d={self.d}: an odd m up to d - 2 is needed",
        )
        self.require_range()

    @property
    def values(self):
        """1 where fewer than half of the hidden coordinates are -1, and -1 elsewhere."""
        return tuple(Fraction(1 if 2 * h < self.m else -1) for h in range(self.m + 1))
