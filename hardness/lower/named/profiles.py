"""What is unknown of a symmetric profile: its members less what everyone knows, by eigenvalues."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import fmpq

from hardness.claims import Quantity
from hardness.claims.descent import QUANTITIES as DESCENT
from hardness.claims.kernel import QUANTITIES as KERNEL
from hardness.claims.named import FLOOR, MANY_VALUES, SCOPE
from hardness.lower.bounds import Terms
from hardness.lower.johnson import Johnson
from hardness.lower.named.unknown import NoClaim, Unknown
from hardness.lower.parity import layer_evidence
from hardness.lower.record import Claim, claim, text
from hardness.lower.symmetric import information_floor
from instances.family import Family
from instances.parity import Parity
from instances.spec import FAMILIES
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational


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

    words: ClassVar[dict[str, Quantity]] = {**KERNEL, **DESCENT}
    scope: ClassVar[str] = SCOPE
    density: ClassVar[Fraction] = Fraction(1)

    family: Symmetric
    scheme: Johnson
    eigenvalues: tuple[Rational, ...]
    multiplicities: tuple[int, ...]
    fade: Fraction
    half: Fraction | None

    @staticmethod
    def take(family: Family) -> "Profiles | None":
        """Take a parity or a profile, and nothing else."""
        if not isinstance(family, Symmetric) or family.name not in FAMILIES:
            return None
        scheme, first = Johnson.family(family), int(not isinstance(family, Parity))
        return Profiles(
            family=family,
            scheme=scheme,
            eigenvalues=tuple(scheme.eigenvalues[first:]),
            multiplicities=tuple(scheme.multiplicities[first:]),
            fade=1 - 2 * family.noise,
            half=(max(family.values) - min(family.values)) / 2 if family.two_valued else None,
        )

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
    def scale(self) -> Rational:
        """The trace: risk is relative to what is unknown."""
        return self.trace

    @property
    def sign_eigenvalue(self) -> Rational | None:
        """The largest eigenvalue with the two values written as +-1; None where there are more."""
        return None if self.half is None else self.eigenvalues[0] / rational(self.half) ** 2

    @property
    def drift(self) -> Rational:
        """(1 - 2 noise)^2 lambda / 4: on half of the tokens, half of what a sign changes."""
        if self.sign_eigenvalue is None:
            raise NoClaim(MANY_VALUES["gd"])
        return rational(self.fade) ** 2 * self.sign_eigenvalue / 4

    @property
    def row(self) -> tuple[tuple[int, Rational], ...]:
        """Members by their overlap t = 0 .. m.

        Relative to labels that are coins of the mean label mu: (1 - 2 noise)^2 c(t)/half^2, times
        1/(2 (1 - mu^2)). For two-valued labels.
        """
        if self.half is None:
            raise NoClaim(MANY_VALUES["gd"])
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

        See `hardness.lower.symmetric.right_about`, with the mean over members taken away or not.
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

    def floor(self, terms: Terms) -> Claim:
        """Claim how many examples any learner needs: K L^examples >= success N."""
        levels, right = len(set(self.family.values)), self.right_about(terms.risk)
        value = information_floor(self.size, right, levels, Fraction(terms.success))
        given = {"risk": str(terms.risk), "success": str(terms.success), "levels": str(levels)}
        return claim({"information-floor": FLOOR}, "information-floor", value, given)

    @property
    def evidence(self) -> dict[str, Any]:
        """The exact layer and the spectrum of all members."""
        return {
            **layer_evidence(self.family),
            "values": [str(v) for v in self.family.values],
            "correlations": [text(c) for c in self.scheme.correlations],
            "eigenvalues": [text(v) for v in self.scheme.eigenvalues],
        }
