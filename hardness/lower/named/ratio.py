"""The low-degree likelihood ratio: labels of a random member against independent coins.

With P_t(x) = sum_a w_a C(t,a) x^(a+1) for members of overlap t, the ratio's part of degree at most
D has squared norm E_t sum_{j<=D} [x^j] (1 + P_t)^examples, and its part on at most k different
examples sum_{i<=k} C(examples,i) P_t^i in place of the power. [Hop18, KWB19, BBHLS21] That
efficient tests do no better than polynomials is a conjecture with counterexamples [HW21, BHJK25].

The ratio of all degrees in z, eps^2 = sum_{1<=i<=k} C(n,i) E x^i with x as in `Overlaps`, and the
statistical dimension over pair events bound each other. SDA(m') is the largest q such that every
event of probability at least 1/q^2 over pairs of members has E[x | event] <= 1/m'. [BBHLS21]

docs/named-mathematics.md has the proofs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from flint import fmpq, fmpz, fmpz_poly

from hardness.claims.named import MANY_VALUES
from hardness.claims.ranges import misfit
from hardness.claims.ratio import QUANTITIES
from hardness.lower.bounds import BoundParameters
from hardness.lower.hidden import pair_events
from hardness.lower.named.members import Unknown
from hardness.lower.record import Claim, NoClaim, claim
from instances.family import require
from instances.threshold import Rational, rational

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
        for name in ("degree", "examples", "sample_degree"):
            number = getattr(self, name)
            reason = number is not None and misfit(name, number)
            require(not reason, str(reason))
        most, given = self.examples, self.sample_degree
        require(
            most is None or given is None or given <= most,
            f"sample_degree={given} given: at most the number of examples is allowed",
        )

    def claims(self, unknown: Unknown, terms: BoundParameters) -> tuple[Claim, ...]:
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


def dimension(unknown: Unknown, overlaps: Overlaps, level: Rational) -> int:
    """Compute SDA over pair events, up to the number of members: no larger E[x | event] than level.

    level: 1/m', above 0; overlaps: of open examples, or thinned. Exact; 0 where the average over
    all pairs is above the level already. `pair_events` counts in unit-norm correlations c(t)/c(m),
    of which x_t is x_m times as much. Raises UsageError.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=16,m=3,noise=1/10"))
    >>> dimension(unknown, Overlaps.of(unknown), fmpq(1, 100))
    2
    """
    return pair_events(unknown.profile.scheme, level / overlaps.correlations[-1])


def worst_average(overlaps: Overlaps, size: int, q: int) -> Rational:
    """Compute the largest E[x | event] over events of probability at least 1/q^2 of size^2 pairs.

    The closest pairs make it, as many as are needed: SDA(1/level) >= q if and only if this is at
    most the level. Raises UsageError unless 1 <= q <= size.
    """
    require(1 <= q <= size, f"q={q} given: 1 to {size} are allowed, the number of members")
    wanted = fmpz(-(-(size**2) // q**2))
    left, total = wanted, fmpq(0)
    pairs = zip(reversed(overlaps.chances), reversed(overlaps.correlations), strict=True)
    for chance, x in pairs:
        taken = min(left, (chance * fmpz(size) ** 2).p)
        left, total = left - taken, total + taken * x
    return total / wanted


def sample_ratio(overlaps: Overlaps, examples: int, sample_degree: int) -> Rational:
    """Compute eps^2 = sum_{1<=i<=k} C(examples,i) E x^i, the ratio of sample degree k less 1.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=16,m=3"))
    >>> sample_ratio(Overlaps.of(unknown), 10, 2)
    11/91
    """
    return sum(
        (
            math.comb(examples, i) * overlaps.mean_power(i)
            for i in range(1, min(examples, sample_degree) + 1)
        ),
        fmpq(0),
    )


def average_bound(ratio: Rational, examples: int, sample_degree: int, q: int) -> Rational:
    """Bound the k-th power of `worst_average`: q^2 eps^2 (k/n)^k, for k <= n.

    So SDA(n / (k (q eps)^(2/k))) >= q for every q up to the number of members. Its root is
    irrational in general, so it is the power that is returned. After [BBHLS21].
    """
    require(
        1 <= sample_degree <= examples,
        f"sample_degree={sample_degree} given: 1 to {examples} are allowed, the examples",
    )
    return q**2 * ratio * fmpq(sample_degree, examples) ** sample_degree


def ratio_bound(
    overlaps: Overlaps, size: int, level: Rational, q: int, examples: int, sample_degree: int
) -> Rational:
    """Bound eps^2 where SDA(1/level) >= q, 1 <= q <= size.

    With p = ceil(N^2/q^2)/N^2 and x_m the largest correlation it is at most
    sum_{1<=i<=k} C(n,i) ((1-p) level^i + p level x_m^(i-1)).
    """
    require(1 <= q <= size, f"q={q} given: 1 to {size} are allowed, the number of members")
    p, most = fmpq(-(-(size**2) // q**2), size**2), overlaps.correlations[-1]
    return sum(
        (
            math.comb(examples, i) * ((1 - p) * level**i + p * level * most ** (i - 1))
            for i in range(1, min(examples, sample_degree) + 1)
        ),
        fmpq(0),
    )
