"""How a bound on queries depends on their tolerance: a wider one rules out fewer members.

Every bound on queries within tau is the same formula: a query rules out r members, the whole part
of square / tau^2, a hypothesis fits K of the N members, and T - K have to be ruled out, T members
being what the probability of success takes: success N where each is as likely.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from hardness.bounds.certificate import Certificate
from hardness.bounds.certify import pose
from hardness.bounds.checker.theorem import hypothesis_fits, members_of_probability
from hardness.bounds.members import Members
from hardness.bounds.problems import certified_problem
from hardness.bounds.quantities import vacuous
from hardness.bounds.terms import BoundParameters
from instances.family import Family

_FINEST = 60  # digits of a tolerance


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """What a bound on queries is computed from, at any tolerance.

    square: of which over tau^2 the whole part r is how many members one query rules out at most;
    right: K, how many one hypothesis can fit; size: N, the members; wanted: T. share: whether
    members are a continuum, N = 1, of which r and K are shares. general: whether it bounds all
    queries, or correlations of labels alone.

    >>> found = Tolerances(square=Fraction(1), right=2, size=36, wanted=Fraction(24))
    >>> found.queries(Fraction(1, 2)), found.queries(Fraction(1, 10)), found.first()
    (6, 1, Fraction(31, 100))
    """

    square: Fraction
    right: int | Fraction
    size: int
    wanted: int | Fraction
    share: bool = False
    general: bool = True

    @property
    def missing(self) -> int:
        """How many members have to be ruled out; 0 or less where one hypothesis is enough."""
        return math.ceil(self.wanted - self.right)

    def ruled_out(self, tau: Fraction) -> int | Fraction:
        """Bound how many members one query rules out."""
        most = self.square / tau**2
        return most if self.share else math.floor(most)

    def queries(self, tau: Fraction) -> int | None:
        """Bound the queries from below; None where no number is enough, 0 where none is needed."""
        if self.missing <= 0:
            return 0
        most = self.ruled_out(tau)
        return math.ceil((self.wanted - self.right) / Fraction(most)) if most else None

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
    """Say what a certificate's bound on queries within tau is from; None for other quantities."""
    if quantity not in ("stat-queries", "csq-queries"):
        return None
    claim = certificate[quantity]
    numbers, share = claim.numbers, certificate.problem["kind"] == "direction"
    wanted = numbers.get("T", Fraction(claim.terms["success"]) * numbers["N"])
    return Tolerances(square=numbers["v"], right=numbers["K"], size=numbers["N"], wanted=wanted,
                      share=share, general=quantity == "stat-queries")  # fmt: skip


def of_members(what: Family | Members, terms: BoundParameters) -> Tolerances | None:
    """Say how the bound of a family with formulas, or of listed members, depends on the tolerance.

    None for others, and of one function.
    """
    if not isinstance(what, Members) and certified_problem(what) is None:
        return None
    known = pose(what, terms.success).known
    if known.gram is None:
        return None
    return Tolerances(
        square=known.gram.moves,
        right=hypothesis_fits(known.members, known.gram, terms.risk),
        size=known.members.count,
        wanted=members_of_probability(known.members, terms.success),
        share=known.members.continuum,
        general=known.gram.general,
    )
