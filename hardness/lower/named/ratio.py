"""The low-degree likelihood ratio: labels of a random member against independent coins.

With P_t(x) = sum_a w_a C(t,a) x^(a+1) for members of overlap t, the ratio's part of degree at most
D has squared norm E_t sum_{j<=D} [x^j] (1 + P_t)^examples, and its part on at most k different
examples sum_{i<=k} C(examples,i) P_t^i in place of the power. [Hop18, KWB19, BBHLS21] That
efficient tests do no better than polynomials is a conjecture with counterexamples [HW21, BHJK25].
docs/named-mathematics.md has the proofs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from flint import fmpq, fmpz, fmpz_poly

from hardness.claims.ratio import QUANTITIES
from hardness.lower.bounds import Terms
from hardness.lower.named.overlaps import Overlaps
from hardness.lower.named.unknown import Unknown
from hardness.lower.record import Claim, claim
from instances.family import require
from instances.threshold import Rational

_MOST = 10**1000  # examples
_MOST_MOMENTS = 2000  # of long numbers, which thresholds sum up a hundred times
OPEN, LAYER = fmpq(1), fmpq(1, 2)  # the share of examples with z_0 = -1


@dataclass(frozen=True, kw_only=True)
class LowDegree:
    """Polynomials of degree <= `degree` in `examples` examples, each monomial on `sample_degree`.

    The degree counts bits of z and the label's unknown part; examples: None where only the number
    that is needed is asked for; sample_degree: how many different examples a monomial may look at,
    None for any number. Raises UsageError out of range.
    """

    about: ClassVar[str] = "low-degree"

    degree: int
    examples: int | None = None
    sample_degree: int | None = None

    def __post_init__(self) -> None:
        require(self.degree >= 1, f"degree={self.degree} given: at least 1 is needed")
        most, given = self.examples, self.sample_degree
        require(
            most is None or 1 <= most <= _MOST,
            f"examples={most} given: 1 to 10^1000 are allowed",
        )
        require(
            given is None or (given >= 1 and (most is None or given <= most)),
            f"sample_degree={given} given: at least 1, up to the number of examples, is allowed",
        )

    def claims(self, unknown: Unknown, terms: Terms) -> tuple[Claim, ...]:
        """Claim how far such a polynomial tells labels from coins, and from how many examples."""
        self._require_degree(unknown.profile.scheme.m)
        opened = Ratio.of(unknown, self.degree, self.sample_degree)
        reach = {"degree": str(self.degree), "sample_degree": str(self.sample_degree or "any")}
        made = []
        for ratio, suffix in ((opened.thinned(LAYER), ""), (opened, "-open")):
            if self.examples is not None:
                given = {**reach, "examples": str(self.examples)}
                value = ratio.advantage(self.examples)
                made.append(claim(QUANTITIES, f"low-degree-advantage{suffix}", value, given))
            least = ratio.least_examples()
            made.append(claim(QUANTITIES, f"low-degree-examples{suffix}", least, reach))
        return tuple(made)

    def _require_degree(self, m: int) -> None:
        if self.examples is not None:
            most = self.examples * (m + 1)
            require(
                self.degree <= most,
                f"degree={self.degree} given: up to examples * (m + 1) = {most} are allowed: "
                "the ratio has no parts of a higher degree",
            )


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The squared norm of the low-degree ratio less 1, as a polynomial in the number of examples.

    It is sum_i C(examples,i) moments[i-1]: i different examples of a monomial give moments[i-1].

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=100,m=4,noise=1/10"))
    >>> [Ratio.of(unknown, degree).advantage(200) for degree in (4, 5, 10)]
    [0, 16/470547, 16/7275]
    """

    moments: tuple[Rational, ...]

    @staticmethod
    def of(unknown: Unknown, degree: int, sample_degree: int | None = None) -> "Ratio":
        """Take open examples; raises UsageError for a degree that takes long, NoClaim as Overlaps.

        moments[i-1] = E_t sum_{j<=D} [x^j] P_t^i.
        """
        overlaps = Overlaps.of(unknown)
        first = next(a for a, w in enumerate(overlaps.weights) if w)
        count = degree // (first + 1)  # P_t^i begins with x^(i (first + 1))
        count = count if sample_degree is None else min(count, sample_degree)
        unit = fmpz(1)  # integers are much faster than rationals
        for w in overlaps.weights:
            unit = unit.lcm(w.q)
        _require_short(overlaps.weights, degree, count, unit)
        total = [fmpz(0)] * count
        for t, chance in enumerate(overlaps.chances if count else ()):
            pairs = (chance * unknown.size).p
            for i, value in enumerate(_powers(overlaps.weights, t, degree, count, unit)):
                total[i] += pairs * value
        return Ratio(moments=tuple(fmpq(v, unknown.size * unit**i) for i, v in enumerate(total, 1)))

    def thinned(self, share: Rational) -> "Ratio":
        """Take examples of which only a share is open: of a layer's, LAYER."""
        return Ratio(moments=tuple(v * share**i for i, v in enumerate(self.moments, 1)))

    def advantage(self, examples: int) -> Rational:
        """Compute the squared norm less 1; `examples` is any whole number."""
        tops, bottom = self._integers
        total, choices = fmpz(0), fmpz(1)
        for i, top in enumerate(tops):
            choices = choices * (examples - i) // (i + 1)
            total += choices * top
        return fmpq(total, bottom)

    @cached_property
    def _integers(self) -> tuple[list[Any], Any]:
        """The moments over one denominator: adding up long rationals takes gcds of long numbers."""
        bottom = fmpz(1)
        for moment in self.moments:
            bottom = bottom.lcm(moment.q)
        return [moment.p * (bottom // moment.q) for moment in self.moments], bottom

    def least_examples(self) -> int:
        """Find the least number of examples at which it reaches 1; 0 where none will do.

        >>> from instances import parse
        >>> unknown = Unknown.of(parse("parity:d=100,m=4,noise=1/10"))
        >>> [Ratio.of(unknown, degree).least_examples() for degree in (4, 5, 10)]
        [0, 5881838, 4287]
        """
        if not any(self.moments):
            return 0
        enough = 1
        while self.advantage(enough) < 1:
            enough *= 2
        short = enough // 2  # the advantage does not fall as examples are added
        while enough - short > 1:
            middle = (short + enough) // 2
            if self.advantage(middle) < 1:
                short = middle
            else:
                enough = middle
        return enough


def thresholds(
    unknown: Unknown, degrees: Sequence[int], share: Rational = OPEN
) -> list[tuple[int, int]]:
    """List (D, least number of examples at which the squared norm reaches 2), 0 where none will do.

    share: OPEN for open examples, LAYER for those of a layer. Raises as `Ratio.of`.

    >>> from instances import parse
    >>> thresholds(Unknown.of(parse("parity:d=100,m=4,noise=1/10")), [4, 5, 10])
    [(4, 0), (5, 5881838), (10, 4287)]
    """
    return [(d, Ratio.of(unknown, d).thinned(share).least_examples()) for d in degrees]


def _powers(
    weights: Sequence[Rational], t: int, degree: int, count: int, unit: fmpz
) -> Iterator[fmpz]:
    """Sum the coefficients of unit P_t, (unit P_t)^2, .. (unit P_t)^count up to x^degree."""
    weights = weights[:degree]
    first = next(a for a, w in enumerate(weights) if w)
    shifted = fmpz_poly([(w * unit).p * math.comb(t, a) for a, w in enumerate(weights)][first:])
    power = fmpz_poly([1])
    for i in range(1, count + 1):
        kept = degree + 1 - i * (first + 1)  # of P_t^i / x^(i (first + 1))
        power = fmpz_poly((power * shifted).coeffs()[:kept])
        yield power(fmpz(1))


def _require_short(weights: Sequence[Rational], degree: int, count: int, unit: fmpz) -> None:
    """Refuse what takes more than seconds to find, or more than some ten to verify."""
    m, used = len(weights) - 1, [a for a, w in enumerate(weights) if w and a < degree]
    length = min(degree, (used[-1] - used[0]) * count) + 1 if used else 0
    bits = count * unit.bit_length()  # of the last moment, of which there are `count` to reduce
    require(
        m * len(used) * count * length * degree <= 10**9
        and m * min(m, degree) * degree <= 10**7
        and count <= _MOST_MOMENTS
        and count * bits**2 <= 10**13,
        f"degree={degree} given with m={m}: that takes long; lower the degree or the sample "
        "degree, or give a noise of fewer digits",
    )
