"""Two random members by the number of hidden places that they share."""

import math
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from hardness.claims.named import MANY_VALUES
from hardness.lower.named.unknown import NoClaim, Unknown
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class Overlaps:
    """Labelled examples of two members relative to coins of the same mean, by their overlap t.

    An open example is (z, s), s = +-1 the label's unknown part. For a member S its density over
    that of a coin s of mean mu is 1 + b(s) sum over nonempty T in S of v_|T| chi_T(z), b of mean 0
    and variance 1; weights: v_a^2, a = 0 .. m, the first 0; chances: of t = 0 .. m common places of
    two independent members. Raises NoClaim for labels of more than two values.

    >>> from instances import parse
    >>> found = Overlaps.of(Unknown.of(parse("profile:g=majority,d=8,m=3")))
    >>> found.weights, found.chances
    ((0, 1/4, 0, 1/4), (4/35, 18/35, 12/35, 1/35))
    """

    weights: tuple[Rational, ...]
    chances: tuple[Rational, ...]

    @staticmethod
    def of(unknown: Unknown) -> "Overlaps":
        """Take the members of a family, its noise included."""
        known = unknown.profile
        if known.half is None:
            raise NoClaim(MANY_VALUES["low-degree"])
        scheme, unit = known.scheme, rational(known.half) ** 2
        fade = rational(known.fade) ** 2
        # A sign has squared norm 1, so the square of its mean is what is missing of it.
        spread = 1 - fade * (1 - scheme.norm / unit)
        n, m, size = scheme.n, scheme.m, scheme.size
        return Overlaps(
            weights=tuple(fade * w / unit / spread for w in scheme.weights),
            chances=tuple(
                fmpq(math.comb(m, t) * math.comb(n - m, m - t), size) for t in range(m + 1)
            ),
        )

    def thinned(self, share: Rational) -> "Overlaps":
        """Take examples of which only a share is open, of a layer's one half."""
        return Overlaps(weights=tuple(share * w for w in self.weights), chances=self.chances)

    @property
    def most(self) -> int:
        """The size m of a hidden set."""
        return len(self.weights) - 1

    @cached_property
    def correlations(self) -> tuple[Rational, ...]:
        """x_t, the correlation of two members' densities of open examples, t = 0 .. m.

        x_t = E_0[(density of S - 1)(density of S' - 1)] >= 0, nondecreasing.
        """
        return tuple(
            sum((w * math.comb(t, a) for a, w in enumerate(self.weights)), fmpq(0))
            for t in range(self.most + 1)
        )

    def mean_power(self, exponent: int) -> Rational:
        """E x^i over two independent members."""
        pairs = zip(self.chances, self.correlations, strict=True)
        return sum((chance * x**exponent for chance, x in pairs), fmpq(0))
