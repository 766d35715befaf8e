"""Fixed features and kernels: how well the best N functions can do on average over a family.

The members' projections on N functions have squared norms that add up to at most the N largest
eigenvalues of the Gram matrix (Ky Fan), whatever the functions are. [Fan49, Bar93, KMS20, Hsu25]
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import fmpq

from hardness.claims.ranges import misfit
from hardness.lower.bounds import BoundParameters
from hardness.lower.named.members import Unknown
from hardness.lower.record import Claim, claim, text
from instances.family import require
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Regression on `features` functions of the tokens, chosen without labels; None for any number.

    Raises UsageError below 1.
    """

    about: ClassVar[str] = "kernel"

    features: int | None = None

    def __post_init__(self) -> None:
        reason = self.features is not None and misfit("features", self.features)
        require(not reason, str(reason))

    def claims(self, unknown: Unknown, terms: BoundParameters) -> tuple[Claim, ...]:
        """Claim the least error of so many features, and how many the goal needs."""
        needed = least_features(unknown, terms.risk, terms.success)
        goal = {"risk": str(terms.risk), "success": str(terms.success)}
        made = [claim(unknown.words, "kernel-features", needed, goal)]
        if self.features is not None:
            error = least_error(unknown, self.features)
            given = {"features": str(self.features)}
            made.insert(0, claim(unknown.words, "kernel-error", error, given))
        return tuple(made)


def least_error(unknown: Unknown, features: int) -> Rational:
    """Bound from below the relative risk of the best features, averaged over all members.

    Raises UsageError for more features than members: those have error 0.

    >>> from instances import parse
    >>> least_error(Unknown.of(parse("parity:d=9,m=3")), 14)
    3/4
    """
    require(
        1 <= features <= unknown.size,
        f"features={text(fmpq(features))} given: 1 to {text(fmpq(unknown.size))} are allowed, the "
        "number of members; with all members as features the error is 0",
    )
    left, total = features, fmpq(0)
    for value, count in unknown.spectrum:
        total += min(left, count) * value
        left -= min(left, count)
    return max((unknown.trace - total) / unknown.scale, fmpq(0))


def least_features(unknown: Unknown, risk: Fraction, success: Fraction) -> int:
    """Count the features without which no share `success` of the members has risk <= risk.

    With e_S the error of the best combination: what it finds of a member is at least its squared
    norm less risk, on the share of the members, and never negative.

    >>> from instances import parse
    >>> least_features(Unknown.of(parse("parity:d=9,m=3")), Fraction(1, 2), Fraction(1))
    28
    """
    wanted = max(fmpq(0), rational(success) * (unknown.least - rational(risk) * unknown.scale))
    found, reached = 0, fmpq(0)
    for value, count in unknown.spectrum:
        if reached + value * count >= wanted:
            missing = (wanted - reached) / value
            return found + -((-int(missing.p)) // int(missing.q))
        found, reached = found + count, reached + value * count
    return found  # unreachable: all of them reach the trace


def filled(unknown: Unknown) -> list[int]:
    """List the numbers of features that fill eigenspaces one by one.

    Eigenfunctions attain the bound for any number of features. For these numbers so do simpler
    ones, which span the same: for j = 1, 2, .. the sums of all members that contain a j-set, less
    what is known, one function for each j-set. C(n,j) functions, of this rank unless the degree of
    g is below j, where fewer make the error 0.

    >>> from instances import parse
    >>> filled(Unknown.of(parse("profile:g=majority,d=8,m=3")))
    [6, 20, 34]
    """
    return list(itertools.accumulate(count for _, count in unknown.spectrum))
