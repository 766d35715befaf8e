"""What is unknown of an LWE-style family: N independent members, and a density for prime moduli.

Where a is uniform the members are orthogonal, as functions, as laws of an example and as laws of a
batch; a density of a of at most `most` changes no sum by more than that factor, and one of a batch
by its power. docs/named-mathematics.md has the proofs.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn

from flint import fmpq

from hardness.claims import Quantity
from hardness.claims.independent import NO_DEGREE, QUANTITIES, SCOPE
from hardness.lower.bounds import Terms
from hardness.lower.modular import Independent, evidence
from hardness.lower.named.unknown import NoClaim, Unknown
from hardness.lower.record import Claim, claim
from instances.family import Family
from instances.independence import obstacle
from instances.modular import Modular
from instances.spec import FAMILIES
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class IndependentMembers(Unknown):
    """The members that are counted, each of squared norm 1 where a is uniform.

    >>> from instances import parse
    >>> found = IndependentMembers.take(parse("lwr:n=8,q=16,p=2,secret=binary,h=4"))
    >>> found.size, found.drift, found.row
    (70, 1/4, ((69, 0), (1, 1/2)))
    """

    words: ClassVar[dict[str, Quantity]] = QUANTITIES
    scope: ClassVar[str] = SCOPE
    given: ClassVar[dict[str, str]] = {}  # noise and all else is in the evidence

    found: Independent

    @staticmethod
    def take(family: Family) -> "IndependentMembers | None":
        """Take an LWE-style family and nothing else; raises NoClaim for one that has an obstacle.

        As `hardness.lower.modular.certify_modular`.
        """
        if not isinstance(family, Modular) or family.name not in FAMILIES:
            return None
        reason = obstacle(family)
        if reason:
            raise NoClaim(f"no claim: {family.spec} given: {reason}")
        return IndependentMembers(found=Independent(family=family))

    @property
    def size(self) -> int:
        """N."""
        return self.found.size

    @property
    def density(self) -> Fraction:
        """The largest density of a against uniform."""
        return self.found.density[1]

    @property
    def trace(self) -> Rational:
        """N times the least density of a."""
        return self.size * rational(self.found.density[0])

    @property
    def scale(self) -> Rational:
        """N: risk is relative to that of the mean of F for a uniform."""
        return fmpq(self.size)

    @property
    def spectrum(self) -> tuple[tuple[Rational, int], ...]:
        """No eigenvalue is above the largest density."""
        return ((rational(self.density), self.size),)

    @cached_property
    def variance(self) -> Fraction:
        """The largest variance of a vector of norm at most 1 that is a function of a label.

        Two codes: the distance of two such vectors is at most 2. Else 1, as every square is.
        """
        family = self.found.family
        return 4 * family.rarest * (1 - family.rarest) if family.outcomes == 2 else Fraction(1)

    @property
    def drift(self) -> Rational:
        """The density times chi^2/2 times the variance, on half of the tokens."""
        return rational(self.density * self.found.chi_square * self.variance / 4)

    @property
    def row(self) -> tuple[tuple[int, Rational], ...]:
        """Laws of examples are orthogonal less the reference, of squared norm chi^2/2."""
        return (self.size - 1, fmpq(0)), (1, rational(self.found.chi_square / 2))

    def right_about(self, risk: Fraction) -> int:
        """As `hardness.lower.modular.Independent.right_about`; raises UsageError."""
        return self.found.right_about(risk)

    @property
    def profile(self) -> NoReturn:
        """There are no overlaps; raises NoClaim."""
        raise NoClaim(NO_DEGREE)

    def floor(self, terms: Terms) -> Claim:
        """Claim how many examples any learner needs."""
        levels = str(self.found.family.outcomes)
        given = {"risk": str(terms.risk), "success": str(terms.success), "levels": levels}
        value = self.found.information_floor(terms)
        return claim(QUANTITIES, "information-floor", value, given)

    @property
    def evidence(self) -> dict[str, Any]:
        """That of a certificate of statistical queries."""
        return evidence(self.found)
