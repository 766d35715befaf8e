"""What is unknown of a family: its members less what everyone knows of them, by eigenvalues."""

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from hardness.lower.johnson import Johnson
from instances.errors import ToolkitError
from instances.family import Family
from instances.parity import Parity
from instances.spec import FAMILIES
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational


class NoClaim(ToolkitError):
    """No theorem here is about this case; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """The Gram matrix over all members of what no one knows of the label's factor at z_0 = -1.

    Of a parity everything is unknown, and its members are orthonormal. Of another profile everyone
    knows the mean over all members, which is taken away. eigenvalues: from the largest to the
    smallest, 0 among them where g has no such degree, of the multiplicities beside them, which add
    up to the members, less one if their mean is known; fade: 1 - 2 noise; half: half the distance
    of the two values, None where there are more than two. Raises NoClaim for a family of which this
    is not known.

    >>> from instances import parse
    >>> found = Unknown.of(parse("profile:g=majority,d=8,m=3"))
    >>> found.eigenvalues, found.multiplicities, found.trace
    ((11/4, 1/4, 1/4), (6, 14, 14), 47/2)
    """

    family: Symmetric
    scheme: Johnson
    eigenvalues: tuple[Rational, ...]
    multiplicities: tuple[int, ...]
    fade: Fraction
    half: Fraction | None

    @staticmethod
    def of(family: Family) -> "Unknown":
        """Take a parity or a profile."""
        if not isinstance(family, Symmetric) or family.name not in FAMILIES:
            raise NoClaim(
                f"no claim: {family.name} given: bounds on named learners are about parity and "
                "profile, whose members' correlations have a known spectrum"
            )
        scheme, first = Johnson.family(family), int(not isinstance(family, Parity))
        return Unknown(
            family=family,
            scheme=scheme,
            eigenvalues=tuple(scheme.eigenvalues[first:]),
            multiplicities=tuple(scheme.multiplicities[first:]),
            fade=1 - 2 * family.noise,
            half=(max(family.values) - min(family.values)) / 2 if family.two_valued else None,
        )

    @property
    def size(self) -> int:
        """The number of members."""
        return self.scheme.size

    @property
    def trace(self) -> Rational:
        """The sum of the members' squared norms."""
        pairs = zip(self.eigenvalues, self.multiplicities, strict=True)
        return sum((value * count for value, count in pairs), fmpq(0))

    @property
    def sign_eigenvalue(self) -> Rational | None:
        """The largest eigenvalue with the two values written as +-1; None where there are more."""
        return None if self.half is None else self.eigenvalues[0] / rational(self.half) ** 2

    def right_about(self, risk: Fraction) -> int:
        """Bound how many members one hypothesis can have relative risk <= risk for.

        See `hardness.lower.symmetric.right_about`, with the mean over members taken away or not.
        """
        found = self.eigenvalues[0] * self.size / self.trace / rational(1 - risk)
        return int(found.p) // int(found.q)
