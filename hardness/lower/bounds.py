"""Query bounds for families of N exactly orthogonal members with one unknown sign a label.

Write e_S for the unit-norm unknown part of member S. Given the tokens, a label takes one of two
known values, and on half of the tokens only one; so a query phi in [-1, 1] moves from the reference
(an unknown sign replaced by a fair coin) to member S by (1 - 2 eta) E[phi_1 1[z_0=-1] chi_S] with
|phi_1| <= 1, and Bessel's inequality gives sum_S (E_S phi - E_0 phi)^2 <= (1 - 2 eta)^2 / 4. An
adversary that answers E_0 phi lies about few members: a whole number of them for each query, and
about none where the tolerance is wide. The last step counts how many members one
hypothesis can be right about. docs/mathematics.md has the proofs.
"""

import math
from fractions import Fraction

from hardness.lower.terms import BoundParameters as BoundParameters


def ruled_out(square: Fraction) -> int:
    """Count the members that one query can rule out: the whole part of `square`.

    square: bounds the sum over members of squared moves, in units of the squared tolerance.

    >>> ruled_out(Fraction(25)), ruled_out(Fraction(51, 2)), ruled_out(Fraction(1, 2))
    (25, 25, 0)
    """
    return math.floor(square)


def least_queries(cap: int | Fraction, missing: Fraction) -> int | None:
    """Count the queries that rule out `missing` members, `cap` each; None where no number does.

    >>> least_queries(25, Fraction(454)), least_queries(0, Fraction(1, 2))
    (19, None)
    """
    if missing <= 0:
        return 0
    return math.ceil(missing / cap) if cap else None


def stat_cap(noise: Fraction, terms: BoundParameters) -> int:
    """Bound how many members of a parity family one query to STAT(tau) rules out.

    >>> wide = BoundParameters(tau=Fraction(9, 10))
    >>> stat_cap(Fraction(0), BoundParameters()), stat_cap(Fraction(0), wide)
    (25, 0)
    """
    return ruled_out(stat_square(noise) / terms.tau**2)


def stat_square(noise: Fraction) -> Fraction:
    """Bound the squared moves of one query over all members of a parity family."""
    return (1 - 2 * noise) ** 2 / 4


def vstat_cap(noise: Fraction, terms: BoundParameters) -> int:
    """Bound how many members of a parity family one query to VSTAT(t) rules out.

    >>> vstat_cap(Fraction(0), BoundParameters())
    75
    """
    return ruled_out(Fraction(3 * terms.vstat, 4) * (1 - 2 * noise) ** 2)


def stat_queries(size: int, noise: Fraction, terms: BoundParameters) -> int | None:
    """Bound from below the queries to STAT(tau): (success N - K) / cap; None: no number will do.

    >>> stat_queries(455, Fraction(0), BoundParameters(success=Fraction(1)))
    19
    """
    return least_queries(stat_cap(noise, terms), terms.success * size - terms.right_about)


def vstat_queries(size: int, noise: Fraction, terms: BoundParameters) -> int | None:
    """Bound from below the queries to VSTAT(t): (success N - K) / cap; None: no number will do.

    >>> vstat_queries(455, Fraction(0), BoundParameters(success=Fraction(1)))
    7
    """
    return least_queries(vstat_cap(noise, terms), terms.success * size - terms.right_about)


def information_floor(
    size: int, terms: BoundParameters, right: int | None = None, levels: int = 2
) -> int:
    """Bound from below the examples of any learner whatever: the least n with K L^n >= success N.

    A label takes at most L = `levels` values that are not known, so n examples lead to at most L^n
    hypotheses for given tokens, each right about K = `right` members at most; None for orthogonal
    members. Holds for every noise; noise only raises what is needed.

    >>> information_floor(455, BoundParameters(success=Fraction(1)))
    9
    """
    needed = math.ceil(terms.success * size / (terms.right_about if right is None else right))
    count = max(0, math.floor((needed.bit_length() - 1) / math.log2(levels)) - 2)
    while levels**count < needed:
        count += 1
    return count
