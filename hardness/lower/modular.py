"""Certificates of LWE-style families: independent members, a density for prime moduli.

Let ell(t, c) = Pr[c | t]/Pr[c] - 1 for a code c, t = <a, s> mod q. A query moves from the reference
(codes drawn without a secret) to member s by E_0[o ell(<a, s>, c) phi], o = 1[z_0 = -1]. For a
uniform and independent members these functions are orthogonal, of squared norm chi^2/2, and for a
of density at most `most` their Gram matrix has no eigenvalue above most chi^2/2. Bessel's
inequality bounds what one query sees of all members. docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from hardness.claims.modular import QUANTITIES, SCOPE
from hardness.lower.bounds import Terms
from hardness.lower.record import Certificate, claim, text
from instances.errors import UsageError
from instances.family import require
from instances.independence import WORDS, chi_square, obstacle, rule
from instances.modular import Modular
from instances.threshold import rational

_MOST_REACH = 1000  # of the entries of the members that are counted


def certify_modular(family: Modular, terms: Terms) -> Certificate:
    """Certify N, correlations, SQ-DIM, query bounds, information floor; raises UsageError.

    >>> from instances import parse
    >>> made = certify_modular(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"), Terms())
    >>> made.value("sq-dimension"), made.value("stat-queries")
    ('74974368', '1999317')
    """
    reason = obstacle(family)
    require(not reason, f"{family.spec} given: {reason}")
    found = Independent(family=family)
    size, most = found.size, found.secrets
    reach = {"risk": str(terms.risk), "success": str(terms.success)}
    stat = {"tau": str(terms.tau), **reach}
    vstat = {"t": str(terms.vstat), **reach}
    upper = {"upper": text(rational(found.correlation))}
    floor = {**reach, "levels": str(family.outcomes)}
    claims = (
        _bracket("independent-members", size, most),
        claim(QUANTITIES, "pairwise-correlation", 0, upper, _kind(0, found.correlation)),
        _bracket("sq-dimension", found.dimension, most),
        claim(QUANTITIES, "stat-queries", found.stat_queries(terms), stat),
        claim(QUANTITIES, "vstat-queries", found.vstat_queries(terms), vstat),
        claim(QUANTITIES, "information-floor", found.information_floor(terms), floor),
    )
    return Certificate(spec=family.spec, claims=claims, scope=SCOPE, evidence=evidence(found))


@dataclass(frozen=True, kw_only=True)
class Independent:
    """What the bounds of an LWE-style family rest on."""

    family: Modular

    @cached_property
    def size(self) -> int:
        """N, the number of members that are counted."""
        return independent_members(self.family)

    @property
    def secrets(self) -> int:
        """A bound on the number of secrets: vectors mod q with entries of the kind."""
        n, h, q = self.family.n, self.family.h, self.family.q
        others = min(q - 1, {"binary": 1, "ternary": 2}.get(self.family.secret, q - 1))
        return math.comb(n, h) * others**h if h else (others + 1) ** n - 1

    @cached_property
    def density(self) -> tuple[Fraction, Fraction]:
        """Bounds on the density of a against the uniform distribution on Z_q^n.

        A residue r of M = 2^L numbers stands for floor(M/q) or ceil(M/q) of them.
        """
        family = self.family
        if family.q % 2 == 0:
            return Fraction(1), Fraction(1)
        numbers = 1 << family.length
        rest = numbers % family.q
        least = 1 - Fraction(family.n * rest, numbers)
        return least, 1 / (1 - Fraction(family.n * (family.q - rest), numbers))

    @property
    def correlation(self) -> Fraction:
        """A bound on the correlation of two members: (most - least)/(most + least)."""
        least, most = self.density
        return (most - least) / (most + least)

    @property
    def dimension(self) -> int:
        """As many members have correlations of at most one over their number."""
        return min(self.size, math.floor(1 / self.correlation)) if self.correlation else self.size

    @cached_property
    def chi_square(self) -> Fraction:
        """chi^2 of a label against labels of no secret."""
        return chi_square(self.family)

    @property
    def variance(self) -> Fraction:
        """The largest variance of a function in [-1,1] of a label of no secret."""
        outcomes, rarest = self.family.outcomes, self.family.rarest
        if outcomes == 2:
            return 4 * rarest * (1 - rarest)
        return 1 - Fraction(outcomes % 2, outcomes**2)

    def right_about(self, risk: Fraction) -> int:
        """Bound how many members one hypothesis can have relative risk <= risk for.

        K ((least - risk + H)/2)^2 <= most H for a hypothesis of squared norm H. Raises UsageError
        where a is too far from uniform.
        """
        least, most = self.density
        if risk >= least:
            raise UsageError(
                f"risk={risk} given: a has a density of {float(least):.3g} somewhere against "
                "uniform, the risk must be below: raise bits"
            )
        return math.floor(most / (least - risk))

    def missing(self, terms: Terms) -> Fraction:
        """Members that have to be ruled out."""
        return terms.success * self.size - self.right_about(terms.risk)

    def stat_queries(self, terms: Terms) -> int:
        """Bound from below the queries to STAT(tau)."""
        kappa = self.density[1] * self.chi_square * self.variance / 4
        return max(0, math.ceil(terms.tau**2 * self.missing(terms) / kappa))

    def vstat_queries(self, terms: Terms) -> int:
        """Bound from below the queries to VSTAT(t)."""
        kappa = self.density[1] * self.chi_square * (1 - self.family.rarest) / 2
        return max(0, math.ceil(self.missing(terms) / (3 * terms.vstat * kappa)))

    def information_floor(self, terms: Terms) -> int:
        """Bound from below the examples of any learner: K L^examples >= success N."""
        needed = math.ceil(terms.success * self.size / self.right_about(terms.risk))
        levels = self.family.outcomes
        count = max(0, math.floor((needed.bit_length() - 1) / math.log2(levels)) - 2)
        while levels**count < needed:
            count += 1
        return count


def independent_members(family: Modular) -> int:
    """Count members that are independent in pairs: all of them, or of small entries those.

    >>> from instances import parse
    >>> kinds = ("binary", "ternary", "uniform")
    >>> [independent_members(parse(f"lwr:n=3,q=8,p=2,secret={kind}")) for kind in kinds]
    [7, 13, 112]
    """
    n, h, q, kind = family.n, family.h, family.q, family.secret
    if rule(family) == "bits":
        if not h:
            return 2**n - 1
        odd = range(1, h + 1) if _has_even(family) else (h,)
        return sum(math.comb(n, j) for j in odd)
    if kind == "binary":
        return math.comb(n, h) if h else 2**n - 1
    if kind == "uniform":
        units = q - 1 if q % 2 else q // 2
        even = (q - 1 - units) if h else (q - units)
        return (math.comb(n, h) * ((q - 1) ** h - even**h) if h else q**n - even**n) // units
    return _primitive(n, h, reach(family))


def reach(family: Modular) -> int:
    """The largest entry of the members that are counted, where it limits them; else 0.

    Two integer vectors with entries of at most B, 2 B^2 < q, are parallel mod q only if they are.
    """
    if rule(family) == "bits" or family.secret in ("binary", "uniform"):
        return 0
    return min(_drawn(family), math.isqrt((family.q - 1) // 2), _MOST_REACH)


def _drawn(family: Modular) -> int:
    """A size that entries are certainly drawn of: of 2^64 words some lead to it."""
    if family.secret == "gaussian":
        return max(1, math.floor(6 * family.spread))
    return min(int(family.spread), 32) if family.secret == "cbd" else 1


def _has_even(family: Modular) -> bool:
    """Whether entries may be even and not 0."""
    if family.secret in ("binary", "ternary"):
        return False
    return family.q > 2 if family.secret == "uniform" else _drawn(family) >= 2


def _primitive(n: int, h: int, bound: int) -> int:
    """Count integer vectors of greatest common divisor 1 modulo sign, entries up to `bound`.

    By Moebius inversion over the divisor; with h entries that are not 0.

    >>> _primitive(2, 0, 2), _primitive(2, 2, 2)
    (8, 6)
    """
    signs: dict[int, int] = {}
    for divisor in range(1, bound + 1):
        size = 2 * (bound // divisor)
        signs[size] = signs.get(size, 0) + _moebius(divisor)
    total = sum(sign * (size**h if h else (size + 1) ** n - 1) for size, sign in signs.items())
    return math.comb(n, h) * total // 2


def _moebius(value: int) -> int:
    """0 for a number with a square in it, else the sign of its number of primes."""
    sign, prime = 1, 2
    while value > 1:
        if value % prime == 0:
            value //= prime
            if value % prime == 0:
                return 0
            sign = -sign
        prime += 1
    return sign


def evidence(found: Independent) -> dict[str, Any]:
    """Write down what the claims follow from."""
    family = found.family
    errors = family.errors
    least, most = found.density
    return {
        "rule": rule(family),
        "meaning": WORDS[rule(family)],
        "members": {"secret": family.secret, "reach": reach(family)},
        "labels": {"levels": str(family.outcomes), "rarest": str(family.rarest)},
        "errors": errors
        and {"least": errors.values[0], "counts": [str(count) for count in errors.counts]},
        "chi_square": text(rational(found.chi_square)),
        "density": [text(rational(least)), text(rational(most))],
    }


def _bracket(name: str, lower: int, upper: int) -> Any:
    return claim(QUANTITIES, name, lower, {"upper": text(rational(upper))}, _kind(lower, upper))


def _kind(lower: int, upper: int | Fraction) -> Any:
    return "exact" if lower == upper else "interval"
