"""Hidden sets whose labels say if exactly t places are -1: a family with a key of its own."""

from dataclasses import dataclass
from fractions import Fraction

from instances.family import require
from instances.sets import Symmetric


@dataclass(frozen=True, kw_only=True)
class ExactCount(Symmetric):
    """Labels are -1 if exactly t of m hidden coordinates of d - 1 are -1, and +1 elsewhere."""

    name = "exact-count"
    example = "exact-count:d=9,m=3,t=1"
    about = "whether exactly t of m of d-1 hidden coordinates are -1"

    t: int
    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)

    def check(self):
        super().check()
        require(
            0 <= self.t <= self.m <= self.d - 2,
            f"0 <= t <= m <= d - 2 is needed, got t={self.t}, m={self.m}, d={self.d}",
        )

    @property
    def values(self):
        """-1 for h = t, and 1 elsewhere."""
        return tuple(Fraction(-1 if h == self.t else 1) for h in range(self.m + 1))
