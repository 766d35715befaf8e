"""The two-sample statistic of one degree: its mean and variance among coins and among members.

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
from fractions import Fraction
from functools import cached_property

from flint import fmpq

from instances.capabilities import SCHEME
from instances.errors import UsageError
from instances.family import Family, require
from instances.krawtchouk import column
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class PairStatistic:
    """The statistic at a level, of the m-subsets of n places; every moment is an exact rational.

    fade: 1 - 2 noise; signs: the coefficients s^_0 .. s^_m of the profile as +-1. Raises UsageError
    for a level at which the profile has none.

    >>> from instances import parse
    >>> parity = PairStatistic.of(parse("parity:d=24,m=3,noise=0.1"))
    >>> parity.mean(200), parity.null_variance(200)
    (12736, 35242900)
    >>> round(parity.advantage(200), 3)
    2.145
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

    @property
    def shared(self) -> Rational:
        """The part of the mean that all members share, C(m, level)/C(n, level).

        The family alone tells it; only the rest is about which member it is.
        """
        return fmpq(self.inside, self.terms)

    def mean(self, examples: int) -> Rational:
        """E f over open examples of a member, whichever it is; among coins of mean mu it is 0.

        C(N,2) fade^2 C(m, level) s^_level^2.
        """
        return math.comb(examples, 2) * self.edge * self.inside

    def null_variance(self, examples: int) -> Rational:
        """Var f among coins of mean mu: C(N,2) (1 - mu^2)^2 C(n, level)."""
        return math.comb(examples, 2) * (1 - self.mu**2) ** 2 * self.terms

    def member_variance(self, examples: int) -> Rational:
        """Var f over open examples of a member: C(N,2) (V_2 + 2 (N - 2) V_1).

        V_2 is the variance of one pair's term, V_1 the covariance of two pairs' with one example in
        common. [Hoe48]
        """
        pairs = math.comb(examples, 2)
        return pairs * (self._pair_variance + 2 * (examples - 2) * self._shared_covariance)

    def advantage(self, examples: int) -> float:
        """(E_member f - E_coins f) / sd_coins f: sqrt(C(N,2) strength) in float64."""
        square = math.comb(examples, 2) * self.strength
        return math.sqrt(Fraction(int(square.p), int(square.q)))

    @cached_property
    def _square(self) -> tuple[Rational, ...]:
        """E[v^2 | z] = sum_k square_k sum_{T in S, |T| = k} chi_T(z), for a member S."""
        # v^2 = 1 - 2 mu s + mu^2, and E[s | z] = fade s_S(z).
        slope = -2 * self.mu * self.fade
        return (1 - self.mu**2, *(slope * value for value in self.signs[1:]))

    @cached_property
    def _pair_variance(self) -> Rational:
        # K^2 = sum over even c of C(c, c/2) C(n-c, level-c/2) K_c, and K_c picks level c of v^2.
        total = fmpq(0)
        for c in range(0, min(2 * self.level, self.m) + 1, 2):
            ways = math.comb(c, c // 2) * math.comb(self.n - c, self.level - c // 2)
            total += ways * math.comb(self.m, c) * self._square[c] ** 2
        return total - (self.edge * self.inside) ** 2

    @cached_property
    def _shared_covariance(self) -> Rational:
        # E[v v' K | z, v] = v fade s^_level e(h), e(h) the sum of chi_T(z) over T in S.
        m, squares = self.m, [fmpq(0)] * (self.m + 1)  # E[v^2 | h]
        for k, weight in enumerate(self._square):
            if weight:
                squares = [a + weight * b for a, b in zip(squares, column(m, k), strict=True)]
        total = sum(
            (
                math.comb(m, h) * e**2 * square
                for h, (e, square) in enumerate(zip(column(m, self.level), squares, strict=True))
            ),
            fmpq(0),
        )
        return self.edge * total / 2**m - (self.edge * self.inside) ** 2
