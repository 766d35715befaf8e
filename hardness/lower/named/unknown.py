"""What is unknown of a family, as the bounds on named learners need it."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hardness.claims import Quantity
from hardness.lower.bounds import Terms
from hardness.lower.record import Claim
from instances.errors import ToolkitError
from instances.family import Family
from instances.threshold import Rational

if TYPE_CHECKING:
    from hardness.lower.named.profiles import Profiles


class NoClaim(ToolkitError):
    """No theorem here is about this case; the text says why."""


class Unknown(ABC):
    """The members of a family less what everyone knows of them, in bounds that hold for all.

    Each kind of family is a subclass: symmetric profiles by the spectrum of their Gram matrix,
    LWE-style families by the number of their independent members. All of their numbers are exact.
    """

    @staticmethod
    def of(family: Family) -> "Unknown":
        """Take a family of either kind; raises NoClaim for one of which this is not known.

        >>> from instances import parse
        >>> specs = ("parity:d=9,m=3", "lwr:n=8,q=16,p=2,secret=binary,h=4")
        >>> [Unknown.of(parse(spec)).size for spec in specs]
        [56, 70]
        """
        # The kinds are made of this class, so they cannot be imported before it.
        from hardness.lower.named.independent import IndependentMembers
        from hardness.lower.named.profiles import Profiles

        for kind in (Profiles, IndependentMembers):
            found = kind.take(family)
            if found is not None:
                return found
        raise NoClaim(
            f"no claim: {family.name} given: bounds on named learners are about parity and "
            "profile, whose members' correlations have a known spectrum, and about lwr, lwe, lpn "
            "and window, whose members are independent"
        )

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of members over which success is averaged."""

    @property
    @abstractmethod
    def trace(self) -> Rational:
        """The sum of the members' squared norms, or a bound from below."""

    @property
    @abstractmethod
    def scale(self) -> Rational:
        """The number of members times what risk is relative to, in the units of the trace."""

    @property
    @abstractmethod
    def spectrum(self) -> tuple[tuple[Rational, int], ...]:
        """Bounds on the Gram eigenvalues, from the largest on, each with how often it is taken."""

    @property
    @abstractmethod
    def drift(self) -> Rational:
        """Bound how far mean gradients of norm at most 1 differ from those of the reference.

        It is the sum of squared distances over all members; raises NoClaim.
        """

    @property
    @abstractmethod
    def row(self) -> tuple[tuple[int, Rational], ...]:
        """Correlations of a member as a law of labelled examples with all, each with its count.

        From the least to that with itself; of the reference's tokens, or of uniform ones whose
        density is at most `density`. Raises NoClaim.
        """

    @property
    @abstractmethod
    def density(self) -> Fraction:
        """The largest density of tokens against those of `row`."""

    @abstractmethod
    def right_about(self, risk: Fraction) -> int:
        """Bound how many members one hypothesis can have relative risk <= risk for.

        Raises UsageError for a risk that says nothing.
        """

    @property
    @abstractmethod
    def profile(self) -> "Profiles":
        """Itself with the overlaps of members, where it has such; raises NoClaim."""

    @property
    @abstractmethod
    def given(self) -> dict[str, str]:
        """What claims about gradients give of the family."""

    @property
    @abstractmethod
    def words(self) -> dict[str, Quantity]:
        """The vocabulary of claims about kernels and gradients."""

    @property
    @abstractmethod
    def scope(self) -> str:
        """What learners a certificate is about."""

    @abstractmethod
    def floor(self, terms: Terms) -> Claim:
        """Claim how many examples any learner needs."""

    @property
    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """What the claims follow from."""
