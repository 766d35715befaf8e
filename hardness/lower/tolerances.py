"""How a bound on queries depends on their tolerance: a wider one rules out fewer members.

Every bound on queries within tau is the same formula: a query rules out r members, the whole part
of square / tau^2, a hypothesis fits K of the N members, and T - K have to be ruled out, T members
being what the probability of success takes: success N where each is as likely.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from hardness.check import kernel
from hardness.claims.vacuous import vacuous
from hardness.lower.bounds import BoundParameters, least_queries, ruled_out, stat_square
from hardness.lower.direction import certify_direction
from hardness.lower.finite.known import Spread
from hardness.lower.finite.spectrum import UNIT
from hardness.lower.hidden import certify_shown, query_square, right_about
from hardness.lower.johnson import Johnson
from hardness.lower.modular import Independent
from hardness.lower.record import Certificate
from instances.capabilities import CHARACTERS, HIDDEN_DIRECTION, LINEAR_FORMS, PROVED_AS, SCHEME
from instances.family import Family
from instances.parameters import fraction
from instances.spec import built_in

_FINEST = 60  # digits of a tolerance


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """What a bound on queries is computed from, at any tolerance.

    square: of which over tau^2 the whole part r is how many members one query rules out at most;
    right: K, how many one hypothesis can fit; size: N, the members; wanted: T. share: whether
    members are a continuum, N = 1, of which r and K are shares.

    >>> found = Tolerances(square=Fraction(1), right=2, size=36, wanted=Fraction(24))
    >>> found.queries(Fraction(1, 2)), found.queries(Fraction(1, 10)), found.first()
    (6, 1, Fraction(31, 100))
    """

    square: Fraction
    right: int | Fraction
    size: int
    wanted: int | Fraction
    share: bool = False

    @property
    def missing(self) -> int:
        """How many members have to be ruled out; 0 or less where one hypothesis is enough."""
        return math.ceil(self.wanted - self.right)

    def ruled_out(self, tau: Fraction) -> int | Fraction:
        """Bound how many members one query rules out."""
        return self.square / tau**2 if self.share else ruled_out(self.square / tau**2)

    def queries(self, tau: Fraction) -> int | None:
        """Bound the queries from below; None where no number is enough, 0 where none is needed."""
        return least_queries(self.ruled_out(tau), Fraction(self.wanted - self.right))

    def vacuous(self, tau: Fraction) -> bool:
        """Return whether the bound says nothing within tau."""
        if self.ruled_out(tau):
            return vacuous("stat-queries", self.queries(tau) or 0)
        return self.right >= self.size

    def first(self) -> Fraction | None:
        """Find the least tolerance of two digits at which the bound says something, if any.

        It then does so at every wider one. Below 1e-59 none is looked at.
        """
        if self.vacuous(Fraction(1)):
            return None
        digits = 2
        while digits < _FINEST and not self.vacuous(Fraction(10, 10**digits)):
            digits += 1
        found = bisect_left(
            range(10, 100), True, key=lambda n: not self.vacuous(Fraction(n, 10**digits))
        )
        return Fraction(10 + found, 10**digits)


def of_certificate(certificate: Certificate, quantity: str) -> Tolerances | None:
    """Recompute what a certificate's bound on queries within tau is from; None for others."""
    claim = next(one for one in certificate.claims if one.quantity == quantity)
    given = claim.parameters
    if quantity not in ("stat-queries", "csq-queries"):
        return None
    terms = BoundParameters(
        risk=fraction(given["risk"], "risk"), success=fraction(given["success"], "success")
    )
    if spread := certificate.evidence.get("spread"):
        counted = next(one for one in certificate.claims if one.quantity == "sq-dimension")
        return of_spread(Spread(**spread), int(counted.parameters["members"]), terms)
    if "steps" not in certificate.evidence:
        return None
    steps = certificate.evidence["steps"]
    facts = kernel.prove(kernel.posed(certificate.evidence["problem"]), steps)
    members, fit, ask = steps[(claim.step or 1) - 1]["from"]
    moves = facts[steps[ask - 1]["from"][0] - 1].moves
    right, all_of_them = facts[fit - 1].most, facts[members - 1]
    return Tolerances(
        square=moves,
        right=right,
        size=all_of_them.count,
        wanted=kernel.likely(all_of_them, terms.success),
        share=all_of_them.share,
    )


def of_spread(spread: Spread, members: int, terms: BoundParameters) -> Tolerances:
    """Say how the bound of listed members depends on the tolerance."""
    return Tolerances(
        square=Fraction(spread.eigenvalue, UNIT),
        right=spread.right_about(terms.risk, members),
        size=members,
        wanted=terms.success * members,
    )


def of_family(family: Family, terms: BoundParameters) -> Tolerances | None:
    """Say how the bound of a family with formulas depends on the tolerance; None for others."""
    if PROVED_AS.of(family) and built_in(family):
        return of_certificate(certify_shown(family, terms), "stat-queries")
    if (direction := HIDDEN_DIRECTION.of(family)) and built_in(direction):
        made = certify_direction(direction, terms)
        return of_certificate(made, f"{'stat' if direction.rounded else 'csq'}-queries")
    if (characters := CHARACTERS.of(family)) and built_in(characters):
        square, right = stat_square(characters.noise), terms.right_about
        size = characters.size
    elif scheme := SCHEME.of(family):
        johnson = Johnson.family(scheme)
        square, right = query_square(scheme, johnson), right_about(johnson, terms.risk)
        size = johnson.size
    elif (forms := LINEAR_FORMS.of(family)) and built_in(forms):
        found = Independent(family=forms)
        square, right, size = found.stat_square, found.right_about(terms.risk), found.size
        return Tolerances(square=square, right=right, size=size, wanted=found.likely(terms.success))
    else:
        return None
    return Tolerances(square=square, right=right, size=size, wanted=terms.success * size)
