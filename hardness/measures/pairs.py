"""The two-sample statistic of one degree, which the learner `pairs` scores coordinates by.

Open examples i = 1 .. N of a family of two-valued symmetric functions show z_i, uniform on
n = d - 1 places, and a sign s_i = +-1. With v_i = s_i - mu, mu the mean of a sign,

    f = sum_{i<j} v_i v_j K(dist(z_i, z_j)),  K(dist(z, z')) = sum_{|T| = level} chi_T(z) chi_T(z'),

K a Krawtchouk polynomial of the distance. f is a polynomial of degree 2 (level + 1), the signs
counted in. Of a parity, with level = m, it is the part of that degree of the likelihood ratio of
members to coins, times C(n, m) / fade^2, and the square of its advantage is that part's squared
norm. docs/named-mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from instances.capabilities import SCHEME
from instances.errors import UsageError
from instances.family import Family, require
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class PairStatistic:
    """The statistic at a level, of the m-subsets of n places, in exact rationals.

    fade: 1 - 2 noise; signs: the coefficients s^_0 .. s^_m of the profile as +-1. Raises UsageError
    for a level at which the profile has none.

    >>> from instances import parse
    >>> PairStatistic.of(parse("parity:d=24,m=3,noise=0.1")).strength
    256/1106875
    """

    n: int
    m: int
    level: int
    fade: Rational
    signs: tuple[Rational, ...]

    def __post_init__(self) -> None:
        there = [k for k in range(1, self.m + 1) if self.signs[k]]
        require(
            self.level in there,
            f"level={self.level} given: the profile has coefficients at "
            f"{', '.join(map(str, there))}",
        )

    @staticmethod
    def of(family: Family, level: int = 0) -> "PairStatistic":
        """Take a family's statistic; level 0 is the one of the largest advantage.

        Raises UsageError for families other than parities and two-valued profiles.

        >>> from instances import parse
        >>> PairStatistic.of(parse("profile:g=majority,m=5,d=20")).level
        1
        """
        scheme = SCHEME.need(family)
        if not scheme.two_valued:
            raise UsageError(f"{family} given: parities and two-valued profiles go here")
        half = rational((max(scheme.values) - min(scheme.values)) / 2)
        signs = (
            (scheme.fourier[0] - rational(scheme.centre)) / half,
            *(value / half for value in scheme.fourier[1:]),
        )
        n, m, fade = scheme.d - 1, scheme.m, rational(1 - 2 * scheme.noise)
        levels = [level] if level else [k for k in range(1, m + 1) if signs[k]]
        found = [PairStatistic(n=n, m=m, level=k, fade=fade, signs=signs) for k in levels]
        return max(found, key=lambda one: one.strength)

    @cached_property
    def mu(self) -> Rational:
        """The mean of a sign, fade s^_0."""
        return self.fade * self.signs[0]

    @cached_property
    def edge(self) -> Rational:
        """What a pair tells of one set T in S: (E v chi_T)^2 = (fade s^_level)^2."""
        return (self.fade * self.signs[self.level]) ** 2

    @cached_property
    def terms(self) -> int:
        """How many sets T the kernel sums over: C(n, level)."""
        return math.comb(self.n, self.level)

    @cached_property
    def inside(self) -> int:
        """How many of them lie in S: C(m, level)."""
        return math.comb(self.m, self.level)

    @cached_property
    def strength(self) -> Rational:
        """The square of the advantage of a single pair."""
        return (self.edge * self.inside / (1 - self.mu**2)) ** 2 / self.terms
