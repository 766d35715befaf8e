"""Any symmetric profile of a hidden set as a two-token attention layer, exactly."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from instances.expression import profile, spelling
from instances.family import Hardness, require
from instances.parameters import Expression
from instances.symmetric import Symmetric

_LEAST = Fraction(1, 10**100)


@dataclass(frozen=True, kw_only=True)
class Profile(Symmetric):
    """The family of f_S(z) = g(h), h the number of j in S with z_j = -1, S any m-subset of 1..d-1.

    g: an expression of h and m, such as majority, threshold(3), mod(3), exactly(2),
    parity+0.1*majority, h**2, or a list of m + 1 values; d, m, noise, rho as for Parity. Raises
    UsageError out of range, and for a g that is no function of h.

    >>> Profile(g=Expression("majority"), d=8, m=3).values == (1, 1, -1, -1)
    True
    >>> Profile(g=Expression("1 - 2 * (h >= 2)"), d=8, m=3).spec
    'profile:d=8,g=1-2*(h>=2),m=3,noise=0,rho=3'
    """

    name: ClassVar[str] = "profile"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "profile:g=majority,d=32,m=5"
    about: ClassVar[str] = "any symmetric function of m of d-1 hidden coordinates, exact heads"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; z = X_1 * X_2; Y[l,0] = X[l,0] * A if "
        "z_0 = +1, else X[l,0] * levels[code]; all other columns are 0"
    )

    g: Expression
    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)

    def __post_init__(self) -> None:
        self.require_range()
        object.__setattr__(self, "g", Expression(spelling(self.g)))
        values = self.values
        require(
            len(set(values)) > 1,
            f"g={self.g} given: it is {values[0]} for every h = 0..{self.m}, no function of h: "
            "nothing is hidden; use h, as in g=majority",
        )
        sizes = [abs(v) for v in values if v]
        require(
            min(sizes) >= _LEAST and max(sizes) <= 1 / _LEAST,
            f"g={self.g} given: its values go from {_power(min(sizes))} to {_power(max(sizes))} in "
            "size, 1e-100 to 1e100 are allowed: multiply g by a constant",
        )
        require(
            self.m <= self.d - 2,
            f"m={self.m} given with d={self.d}: there is one member only, nothing is hidden; "
            f"m may be up to d - 2 = {self.d - 2}",
        )
        require(
            len(self.levels) <= 256,
            f"g={self.g} given with noise={self.noise}: labels take {len(self.levels)} values, "
            "at most 256 are allowed: lower m",
        )

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The profile g(0) .. g(m)."""
        return profile(self.g, self.m)

    @property
    def hardness(self) -> Hardness:
        """Correlations are exact; how small they are depends on the profile."""
        kind = "all statistical" if self.two_valued else "correlational"
        return Hardness(
            evidence="exact",
            why=f"correlations of members are exact and bound {kind} queries; how hard that is "
            "depends on the profile: see `hardness certify`",
        )


def _power(value: Fraction) -> str:
    """The order of magnitude of a rational of any size."""
    digits = len(str(value.numerator)) - len(str(value.denominator))
    return f"about 1e{digits}"
