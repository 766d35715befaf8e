"""Windows: the label says whether <a, s> mod q falls into one part of Z_q. [CL24]"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.family import Hardness, Secret, require
from instances.independence import hardness_of
from instances.modular import Modular


@dataclass(frozen=True, kw_only=True)
class Window(Modular):
    """Members 1[<a, s> mod q < q/parts]: about 2R/q heads, whatever `parts` is.

    n: the dimension of a and s; q: a modulus that `parts` divides. The other parameters are those
    of lwr. Raises UsageError out of range.

    >>> Window(n=8, q=16, parts=4, secret="binary", h=4).layer_heads
    9
    """

    name: ClassVar[str] = "window"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "window:n=8,q=16,parts=4,secret=binary,h=4"
    about: ClassVar[str] = "whether <a, s> mod q falls into a window of Z_q"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j; "
        "Y[l,0] = X[l,0] * code where z_0 = -1, code = 1 if (<a,s> mod q) < q/parts; else 0, "
        "as all other columns"
    )

    n: int
    q: int
    parts: int
    secret: str = "uniform"
    h: int = 0
    spread: Fraction = Fraction(0)
    beta: Fraction = Fraction(40)
    heads: str = "saturated"
    labels: str = "formula"
    bits: int = 0

    def __post_init__(self) -> None:
        require(
            2 <= self.parts <= self.q and self.q % self.parts == 0,
            f"parts={self.parts} given with q={self.q}: at least 2, a divisor of q",
        )
        self.require_range()

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries; for all algorithms an assumption."""
        return hardness_of(
            self,
            "the assumption that learning with rounding is hard: a window is one part of it",
        )

    @property
    def outcomes(self) -> int:
        """2."""
        return 2

    def same(self, one: Secret, other: Secret) -> bool:
        """Compare; <a, s> is 0 where a multiple of it is: a window of one residue sees no more.

        >>> Window(n=2, q=8, parts=8).same((3, 1), (1, 3))
        True
        """
        if one == other or self.parts < self.q:
            return one == other
        pairs = list(zip(one, other, strict=True))
        mine, its = next(pair for pair in pairs if self.secrets.is_unit(pair[0]))
        multiple = all((v * mine - u * its) % self.q == 0 for u, v in pairs)
        return multiple and self.secrets.is_unit(its)

    @property
    def rarest(self) -> Fraction:
        """1/parts: that of the window."""
        return Fraction(1, self.parts)

    @property
    def turns(self) -> bool:
        """For two parts."""
        return self.parts == 2

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """0 outside, 1 inside."""
        return (Fraction(0), Fraction(1))

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """1 inside of the window, (q,)."""
        self.require_table()
        return (np.arange(self.q) < self.q // self.parts).astype(np.intp)
