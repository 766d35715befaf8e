"""Certificates of LWE-style families: orthogonal members, a density for prime moduli.

Let ell(t, c) = Pr[c | t]/Pr[c] - 1 for a code c, t = <a, s> mod q. A query moves from the reference
(codes drawn without a secret) to member s by E_0[o ell(<a, s>, c) phi], o = 1[z_0 = -1]. For a
uniform and the members counted these functions are orthogonal, of squared norm chi^2/2, and for a
of density at most `most` their Gram matrix has no eigenvalue above most chi^2/2. Bessel's
inequality bounds what one query sees of all members. docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpz

from hardness.lower.bounds import BoundParameters
from hardness.lower.proof import Proof
from hardness.lower.record import Certificate
from instances.errors import UsageError
from instances.family import require
from instances.independence import chi_square, modulus, obstacle, orthogonal
from instances.modular import Modular

_MOST_REACH = 1000  # of the entries of the members that are counted


def residues(family: Modular) -> dict[str, Any]:
    """Pose the problem of a family, as the kernel reads it."""
    drawn = family.errors
    errors = drawn and [drawn.values[0], [str(count) for count in drawn.counts]]
    labels = "residue" if family.intervals == family.q else "interval"
    kinds = {"gaussian": "wide", "cbd": "wide"}
    most = {"uniform": family.q, "gaussian": _drawn(family), "cbd": _drawn(family)}
    return {
        "kind": "residues",
        "n": family.n,
        "q": family.q,
        "bits": family.length,
        "secret": {
            "kind": kinds.get(family.secret, family.secret),
            "weight": family.h,
            "most": min(most.get(family.secret, 1), family.q),
        },
        "labels": "window" if family.name == "window" else labels,
        "parts": family.intervals,
        "errors": errors,
    }


def certify_modular(family: Modular, terms: BoundParameters) -> Certificate:
    """Certify N, correlations, SQ-DIM, query bounds, information floor; raises UsageError.

    >>> from instances import parse
    >>> made = certify_modular(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"), BoundParameters())
    >>> made.value("sq-dimension"), made.value("stat-queries")
    ('74974368', '1999317')
    """
    reason = obstacle(family)
    require(not reason, f"{family} given: {reason}")
    Independent(family=family).right_about(terms.risk)  # for a risk that says nothing
    proof = Proof(residues(family), {"spec": family.spec})
    members = proof.step("secrets")
    laws = proof.step("laws", members)
    fit = proof.step("fit", members, laws, risk=terms.risk)
    stat = proof.step("ask", laws, oracle="stat", term=terms.tau)
    vstat = proof.step("ask", laws, oracle="vstat", term=Fraction(terms.vstat))
    bounds = proof.bounds(members, fit, (stat, vstat), terms.success)
    return proof.certificate(members, laws, *bounds)


@dataclass(frozen=True, kw_only=True)
class Independent:
    """What the bounds of an LWE-style family rest on."""

    family: Modular

    @cached_property
    def counted(self) -> "Counted":
        """The members that are counted."""
        return count(self.family)

    @property
    def size(self) -> int:
        """N, the number of members that are counted: orthogonal where a is uniform."""
        return self.counted.size

    @property
    def alike(self) -> int:
        """How many of the members at most are alike, in the sense of `instances.independence`."""
        return self.counted.alike

    @property
    def independent(self) -> int:
        """How many of the members are independent, at least."""
        return -(-self.size // self.alike)

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

        Of members that are not alike, K ((least - risk + H)/2)^2 <= most H for a hypothesis of
        squared norm H. Raises UsageError where a is too far from uniform.
        """
        least, most = self.density
        if risk >= least:
            raise UsageError(
                f"risk={risk} given: a has a density of {float(least):.3g} somewhere against "
                "uniform, the risk must be below: raise bits"
            )
        return self.alike * math.floor(most / (least - risk))

    @property
    def stat_square(self) -> Fraction:
        """Bound the squared moves of one query to STAT over all members."""
        return self.density[1] * self.chi_square * self.variance / 4


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Members of different secrets mod M: how many, how many of them at most are alike.

    reach: what bounds the size of their entries, 0 for nothing.
    """

    size: int
    alike: int
    reach: int


def count(family: Modular) -> Counted:
    """Count members that are orthogonal: of secrets that are different mod M, or not alike.

    >>> from instances import parse
    >>> kinds = ("binary", "ternary", "uniform")
    >>> [count(parse(f"lwr:n=3,q=8,p=2,secret={kind}")).size for kind in kinds]
    [7, 13, 112]
    >>> [count(parse(f"lwr:n=3,q=8,p=4,secret={kind}")).size for kind in kinds]
    [7, 26, 56]
    """
    found = _vectors(family)
    reach = min(_drawn(family), math.isqrt((modulus(family) - 1) // 2), _MOST_REACH)
    if family.secret in ("gaussian", "cbd") and reach:
        # Integer vectors of greatest common divisor 1 are alike only with their negatives.
        small = _primitive(family.n, family.h, reach)
        if small * found.alike > found.size:
            found = Counted(size=2 * small, alike=2, reach=reach)
    if orthogonal(family):
        return found
    return replace(found, size=-(-found.size // found.alike), alike=1)


def _vectors(family: Modular) -> Counted:
    """Count the secrets mod M that have a unit among their entries, and units that may join two.

    One that does takes a unit among the entries of the first to one of the second.
    """
    n, h, q, kind, m = family.n, family.h, family.q, family.secret, modulus(family)
    if kind == "binary":
        return Counted(size=math.comb(n, h) if h else 2**n - 1, alike=1, reach=0)
    bound = q if kind == "uniform" else _drawn(family)
    if 2 * bound + 1 >= m:
        values, others, reach = m, 1 if m % 2 else m // 2, 0
    else:
        values, others, reach = 2 * bound + 1, 1 if m % 2 else 2 * (bound // 2) + 1, bound
    units = values - others  # `others` have a common factor with m
    if not h:
        return Counted(size=values**n - others**n, alike=units, reach=reach)
    # An entry that is 0 mod m need not be 0 where there are multiples of m.
    free = m < q and bound >= m
    size, unlike = 0, fmpz(1)
    with_unit = fmpz(0)
    for places in range(1, h + 1):
        with_unit = with_unit * (values - 1) + unlike * units
        unlike *= others - 1
        if free or places == h:
            size += int(fmpz.bin_uiui(n, places) * with_unit)
    return Counted(size=size, alike=units, reach=reach)


def _drawn(family: Modular) -> int:
    """A size that entries are certainly drawn of: of 2^64 words some lead to it."""
    if family.secret == "gaussian":
        return max(1, math.floor(6 * family.spread))
    return min(int(family.spread), 32) if family.secret == "cbd" else 1


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
