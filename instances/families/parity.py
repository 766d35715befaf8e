"""Hidden parities as two-token attention layers, exactly: the profile g(h) = (-1)^h.

Where z_0 = -1 the label's factor is chi_S(z) = prod_{j in S} z_j. With label noise eta its sign is
flipped with probability eta. [CL24]
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.families.lwe import Lpn
from instances.family import Hardness, Secret
from instances.symmetric import Symmetric


@dataclass(frozen=True, kw_only=True)
class Parity(Symmetric):
    """The family of all parities on m of d - 1 hidden coordinates.

    d: dimension of a token; m: size of the hidden set; noise: flip probability in [0, 1/2);
    rho: e^(beta/2) of the heads, a rational above 1. Raises UsageError out of these ranges.

    >>> import math
    >>> Parity(d=1000, m=21).size == math.comb(999, 21)
    True
    >>> Parity(d=16, m=4, noise=Fraction(1, 10)).spec
    'parity:d=16,m=4,noise=0.1,rho=3'
    """

    name: ClassVar[str] = "parity"
    example: ClassVar[str] = "parity:d=32,m=3"
    about: ClassVar[str] = "hidden parities on m of d-1 coordinates, exact heads, label noise"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; z = X_1 * X_2; Y[l,0] = X[l,0] * A if "
        "z_0 = +1, else X[l,0] * (1 - 2 code); all other columns are 0"
    )
    characters: ClassVar[bool] = True
    unknown_variance = Fraction(1)  # the squared norm of a parity
    shares = (Fraction(1, 2), Fraction(1, 2))

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The profile: 1, -1, 1, ..."""
        return signs(self.m)

    @cached_property
    def linear_forms(self) -> Lpn:
        """Labels as equations mod 2: LPN with secrets of weight m."""
        return Lpn(n=self.d - 1, h=self.m, noise=self.noise)

    def certified_as(self) -> Symmetric:
        """Itself, but for a family that is made of this class."""
        return self if type(self) is Parity else super().certified_as()

    def to_linear(self, secret: Secret) -> Secret:
        """Write a hidden set as d - 1 bits."""
        return tuple(int(j in secret) for j in range(1, self.d))

    def from_linear(self, s: Secret) -> Secret:
        """List the places of the bits that are 1.

        >>> Parity(d=5, m=2).from_linear((0, 1, 0, 1))
        (2, 4)
        """
        return tuple(j for j, bit in enumerate(s, 1) if bit)

    @property
    def default_learners(self) -> tuple[str, ...]:
        """With noise, those that what is known of noisy parities must be seen beside."""
        second = "restricted" if self.noise else "elimination"
        return ("queries", second, "lowdegree", "student")

    @property
    def hardness(self) -> Hardness:
        """Members are exactly orthogonal; other algorithms are another matter."""
        fast = "without noise Gaussian elimination, which is not a statistical-query algorithm, "
        return Hardness(
            evidence="exact",
            proved="orthogonal members: exact for statistical queries",
            assumption="learning (sparse) parity with noise is hard" if self.noise else "",
            easy="" if self.noise else f"{fast}learns it fast",
        )

    # The mean over all members is K_m(w)/C(d-1,m): its squared norm is 1/N. Leaving it out keeps
    # members exactly orthonormal, and changes a relative risk by a factor of 1 - 1/N at most.
    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """0: what is known of a parity where z_0 = -1, (d,)."""
        return np.zeros(self.d)


def signs(m: int) -> tuple[Fraction, ...]:
    """Return the profile of a parity on m coordinates: (-1)^h for h = 0 .. m.

    >>> [int(v) for v in signs(2)]
    [1, -1, 1]
    """
    return tuple(Fraction((-1) ** h) for h in range(m + 1))
