"""What is unknown of a family's members, as the bounds on named learners need it, kind by kind.

Symmetric profiles: the members less their public part, by the spectrum of their Gram
matrix. LWE-style families: N members that are orthogonal where a is uniform, as laws of an example
and as laws of a batch, and as functions those that are not alike; a density of a of at most `most`
changes no sum by more than that factor, and one of a batch by its power.
docs/named-mathematics.md has the proofs.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn

from flint import fmpq

from hardness.claims import Quantity, finite, independent, named
from hardness.claims.descent import QUANTITIES as DESCENT
from hardness.claims.kernel import QUANTITIES as KERNEL
from hardness.lower.bounds import BoundParameters, information_floor
from hardness.lower.draws import require_uniform
from hardness.lower.finite import How, Members, of_family
from hardness.lower.finite.certificate import Found, of_points
from hardness.lower.finite.known import Spread
from hardness.lower.finite.spectrum import UNIT, centred_ends
from hardness.lower.hidden import hidden_set
from hardness.lower.johnson import Johnson
from hardness.lower.modular import Independent, residues
from hardness.lower.record import Claim, NoClaim, claim
from instances.capabilities import CHARACTERS, FACTOR, LINEAR_FORMS, PROVED_AS, SCHEME
from instances.family import Family
from instances.modular import modulus, obstacle
from instances.spec import built_in
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational


class Unknown(ABC):
    """The members of a family less their public part, in bounds that hold for all.

    Each kind of family is a subclass: symmetric profiles by the spectrum of their Gram matrix,
    LWE-style families by the number of their independent members. All of their numbers are exact.
    """

    @staticmethod
    def of(family: Family) -> "Unknown":
        """Take a family of either kind; raises NoClaim for one of which this is not known.

        Raises UsageError for a user's family that is not drawn uniformly.

        >>> from instances import parse
        >>> specs = ("parity:d=9,m=3", "lwr:n=8,q=16,p=2,secret=binary,h=4")
        >>> [Unknown.of(parse(spec)).size for spec in specs]
        [56, 70]
        """
        require_uniform(family)
        for kind in (Profiles, IndependentMembers):
            found = kind.take(family)
            if found is not None:
                return found
        factor = FACTOR.of(family)
        if factor is not None and family.size and family.size <= finite.MOST_MEMBERS:
            return ListedMembers.of_source(of_family(family))
        raise NoClaim(
            f"no claim: {family.name} given: bounds on named learners are about parity and "
            "profile, whose members' correlations have a known spectrum, about lwr, lwe, lpn "
            f"and window, whose members are independent, and about {finite.MOST_MEMBERS} members "
            "at most by tables of -1 and +1"
        )

    @property
    @abstractmethod
    def spec(self) -> str:
        """The family that claims are about: one here, with the same members."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of members over which success is averaged."""

    @property
    @abstractmethod
    def trace(self) -> Rational:
        """The sum of the members' squared norms, or a bound from below."""

    @property
    def least(self) -> Rational:
        """The number of members times the least squared norm: the trace where all are the same."""
        return self.trace

    @property
    def scale(self) -> Rational:
        """The number of members times what risk is relative to, in the units of the trace."""
        return self.trace

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
    def density(self) -> Fraction:
        """The largest density of tokens against those of `row`."""
        return Fraction(1)

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
    def given(self) -> dict[str, str]:
        """What claims about gradients give of the family: nothing that is in the evidence."""
        return {}

    @property
    @abstractmethod
    def levels(self) -> int:
        """How many values a label can take that are not known."""

    @property
    @abstractmethod
    def words(self) -> dict[str, Quantity]:
        """The vocabulary of claims about kernels and gradients."""

    @property
    @abstractmethod
    def scope(self) -> str:
        """What learners a certificate is about."""

    def floor(self, terms: BoundParameters) -> Claim:
        """Claim how many examples any learner needs: K L^examples >= success M."""
        levels, right = self.levels, self.right_about(terms.risk)
        value = information_floor(self.size, terms, right, levels)
        given = {"risk": str(terms.risk), "success": str(terms.success), "levels": str(levels)}
        return claim(self.words, "information-floor", value, given)

    @property
    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """What the claims follow from."""


@dataclass(frozen=True, kw_only=True)
class Profiles(Unknown):
    """The Gram matrix over all members of what no one knows of the label's factor at z_0 = -1.

    Of a parity everything is unknown, and its members are orthonormal. Of another profile everyone
    knows the mean over all members, which is taken away. eigenvalues: from the largest to the
    smallest, 0 among them where g has no such degree, of the multiplicities beside them, which add
    up to the members, less one if their mean is known; fade: 1 - 2 noise; half: half the distance
    of the two values, None where there are more than two.

    >>> from instances import parse
    >>> found = Profiles.take(parse("profile:g=majority,d=8,m=3"))
    >>> found.eigenvalues, found.multiplicities, found.trace
    ((11/4, 1/4, 1/4), (6, 14, 14), 47/2)
    """

    words: ClassVar[dict[str, Quantity]] = {"information-floor": named.FLOOR, **KERNEL, **DESCENT}
    scope: ClassVar[str] = named.SCOPE

    family: Symmetric
    scheme: Johnson
    eigenvalues: tuple[Rational, ...]
    multiplicities: tuple[int, ...]
    fade: Fraction
    half: Fraction | None

    @staticmethod
    def take(family: Family) -> "Profiles | None":
        """Take a family with a correlation scheme, as parities and profiles, and nothing else."""
        found = SCHEME.of(family)
        if found is None:
            return None
        if proved := PROVED_AS.of(found):
            found = proved[0]  # of the same labels
        scheme, first = Johnson.family(found), int(CHARACTERS.of(found) is None)
        return Profiles(
            family=found,
            scheme=scheme,
            eigenvalues=tuple(scheme.eigenvalues[first:]),
            multiplicities=tuple(scheme.multiplicities[first:]),
            fade=1 - 2 * found.noise,
            half=(max(found.values) - min(found.values)) / 2 if found.two_valued else None,
        )

    @property
    def spec(self) -> str:
        """The spec of the parity or profile."""
        return self.family.spec

    @property
    def size(self) -> int:
        """The number of members, all of them."""
        return self.scheme.size

    @property
    def spectrum(self) -> tuple[tuple[Rational, int], ...]:
        """Eigenvalues and multiplicities."""
        return tuple(zip(self.eigenvalues, self.multiplicities, strict=True))

    @property
    def trace(self) -> Rational:
        """The sum of the members' squared norms."""
        return sum((value * count for value, count in self.spectrum), fmpq(0))

    @property
    def sign_eigenvalue(self) -> Rational | None:
        """The largest eigenvalue with the two values written as +-1; None where there are more."""
        return None if self.half is None else self.eigenvalues[0] / rational(self.half) ** 2

    @property
    def drift(self) -> Rational:
        """(1 - 2 noise)^2 lambda / 4: on half of the tokens, half of what a sign changes."""
        if self.sign_eigenvalue is None:
            raise NoClaim(named.MANY_VALUES["gd"])
        return rational(self.fade) ** 2 * self.sign_eigenvalue / 4

    @property
    def row(self) -> tuple[tuple[int, Rational], ...]:
        """Members by their overlap t = 0 .. m.

        Relative to labels that are coins of the mean label mu: (1 - 2 noise)^2 c(t)/half^2, times
        1/(2 (1 - mu^2)). For two-valued labels.
        """
        if self.half is None:
            raise NoClaim(named.MANY_VALUES["gd"])
        fade, half, scheme = rational(self.fade), rational(self.half), self.scheme
        mu = fade * (self.family.fourier[0] - rational(self.family.centre)) / half
        scale = fade**2 / (2 * half**2 * (1 - mu**2))
        n, m = scheme.n, scheme.m
        return tuple(
            (math.comb(m, t) * math.comb(n - m, m - t), scale * c)
            for t, c in enumerate(scheme.correlations)
        )

    def right_about(self, risk: Fraction) -> int:
        """Bound how many members one hypothesis can have relative risk <= risk for.

        See `hardness.lower.hidden.right_about`, with the mean over members taken away or not.
        """
        found = self.eigenvalues[0] * self.size / self.trace / rational(1 - risk)
        return int(found.p) // int(found.q)

    @property
    def profile(self) -> "Profiles":
        """Itself."""
        return self

    @property
    def given(self) -> dict[str, str]:
        """The noise."""
        return {"noise": str(self.family.noise)}

    @property
    def levels(self) -> int:
        """The values of g."""
        return len(set(self.family.values))

    @property
    def evidence(self) -> dict[str, Any]:
        """The problem, from which the kernel derives the spectrum of all members."""
        return {"problem": hidden_set(self.family)}


@dataclass(frozen=True, kw_only=True)
class IndependentMembers(Unknown):
    """The members that are counted, each of squared norm 1 where a is uniform.

    >>> from instances import parse
    >>> found = IndependentMembers.take(parse("lwr:n=8,q=16,p=2,secret=binary,h=4"))
    >>> found.size, found.drift, found.row
    (70, 1/4, ((69, 0), (1, 1/2)))
    """

    words: ClassVar[dict[str, Quantity]] = independent.QUANTITIES
    scope: ClassVar[str] = independent.SCOPE

    found: Independent

    @staticmethod
    def take(family: Family) -> "IndependentMembers | None":
        """Take an LWE-style family and nothing else; raises NoClaim for one that has an obstacle.

        As `hardness.lower.modular.certify_modular`.
        """
        found = LINEAR_FORMS.of(family)
        if found is None or not built_in(found):
            return None
        reason = obstacle(found)
        if reason:
            raise NoClaim(f"no claim: {found.spec} given: {reason}")
        members = Independent(family=found)
        if not members.even:
            raise NoClaim(
                f"no claim: {found.spec} given: bounds on named learners are of secrets that are "
                f"all as likely, and secret={found.secret} is not, mod {modulus(found)}"
            )
        return IndependentMembers(found=members)

    @property
    def spec(self) -> str:
        """The spec of the LWE-style family."""
        return self.found.family.spec

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
        """No eigenvalue is above the largest density times how many members are alike."""
        largest = rational(self.density) * self.found.alike
        return ((largest, self.found.independent),)

    @cached_property
    def variance(self) -> Fraction:
        """The largest variance of a vector of norm at most 1 that is a function of a label.

        Two codes: the distance of two such vectors is at most 2. Else 1, as every square is.
        """
        found = self.found.family.rounding
        rarest = Fraction(1, found.parts)
        return 4 * rarest * (1 - rarest) if found.outcomes == 2 else Fraction(1)

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
        raise NoClaim(independent.NO_DEGREE)

    @property
    def levels(self) -> int:
        """The codes of a label."""
        return self.found.family.rounding.outcomes

    @property
    def evidence(self) -> dict[str, Any]:
        """The problem, from which the kernel derives N, the density and chi^2."""
        return {"problem": residues(self.found.family)}


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedMembers(Unknown):
    """Functions of the values -1 and +1 on all points, less their mean: by their Gram matrix.

    A gradient has the same mean for all members but for half its change with the sign, so what the
    eigenvalue bounds is not halved as for a label that is known on half of the tokens.
    """

    scope: ClassVar[str] = finite.NAMED_SCOPE
    levels: ClassVar[int] = 2

    family: Members
    found: Found
    spread: Spread

    @staticmethod
    def of_source(family: Members) -> "ListedMembers":
        """Evaluate the members; raises NoClaim where they are not -1 and +1, or one function."""
        listed = How().chosen(family) == "enumeration" and family.outputs == 1
        found = of_points(family, How()) if listed else None
        if found is None or not found.signs:
            raise NoClaim(f"no claim: {family.path} given: {finite.NO_SIGNS}")
        if found.spread is None:
            raise NoClaim(f"no claim: {family.path} given: all members are the same function")
        return ListedMembers(family=family, found=found, spread=found.spread)

    @property
    def spec(self) -> str:
        """The name of the members, by their tables."""
        return self.found.spec(self.family)

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.family.names)

    @cached_property
    def _norms(self) -> list[Fraction]:
        """The squared norms, exactly."""
        gram = self.found.known.products
        assert gram is not None  # members of -1 and +1 have one norm
        size, points = self.size, int(gram[0, 0])
        rows = gram.sum(axis=1).tolist()
        whole = Fraction(sum(rows), size**2 * points)
        return [1 - Fraction(2 * row, size * points) + whole for row in rows]

    @property
    def trace(self) -> Rational:
        """The sum of the squared norms."""
        return rational(sum(self._norms, Fraction(0)))

    @property
    def least(self) -> Rational:
        """The number of members times the least squared norm."""
        return rational(self.size * min(self._norms))

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Upper ends of the eigenvalues, in units of 2^-30."""
        return centred_ends(self.found.known.correlations)

    @cached_property
    def spectrum(self) -> tuple[tuple[Rational, int], ...]:
        """Upper ends of the eigenvalues, each with how often it is taken."""
        counted = Counter(self.ends)
        return tuple((fmpq(end, UNIT), counted[end]) for end in sorted(counted, reverse=True))

    @property
    def drift(self) -> Rational:
        """The largest eigenvalue."""
        return fmpq(self.spread.eigenvalue, UNIT)

    @property
    def row(self) -> NoReturn:
        """Members have no common row of correlations; raises NoClaim."""
        raise NoClaim(finite.NO_BATCH)

    def right_about(self, risk: Fraction) -> int:
        """As `hardness.lower.finite.known.Spread.right_about`."""
        return self.spread.right_about(risk, self.size)

    @property
    def profile(self) -> NoReturn:
        """There are no overlaps; raises NoClaim."""
        raise NoClaim(finite.NO_DEGREE)

    @property
    def words(self) -> dict[str, Quantity]:
        """By what the members are."""
        chosen = self.family.of is not None
        return finite.named_quantities(self.found.kind, self.found.basis, chosen)

    @property
    def evidence(self) -> dict[str, Any]:
        """The members, and upper ends of what their Gram matrix has."""
        return {
            **self.found.evidence,
            "centred": False,
            "origin": self.found.origin(self.family),
            "spread": self.spread.to_dict(),
            "eigenvalues": list(self.ends),
        }
