"""Learning with rounding: the label says which of p equal parts of Z_q <a, s> lies in. [BPR12]"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.family import Hardness, require
from instances.independence import hardness_of
from instances.modular import Modular


@dataclass(frozen=True, kw_only=True)
class Lwr(Modular):
    """Members floor((p/q) <a, s>) mod p, written 1 - 2 v/(p - 1) for v = 0 .. p - 1.

    n: the dimension of a and s; q, p: moduli, p a divisor of q. secret: binary, ternary, uniform,
    gaussian or cbd, with h entries that are not 0 (0: any number) and the standard deviation or eta
    in `spread`. heads: saturated, with slope beta, or exact. labels: formula or layer. bits: of a
    number, where q is a prime. Raises UsageError out of range.

    >>> Lwr(n=8, q=16, p=2, secret="binary", h=4).layer_heads
    9
    """

    name: ClassVar[str] = "lwr"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "lwr:n=8,q=16,p=2,secret=binary,h=4"
    about: ClassVar[str] = "learning with rounding: the top of <a, s> mod q, K + 2 heads"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j; "
        "Y[l,0] = X[l,0] * (1 - 2 code/(p - 1)) where z_0 = -1, code = floor(p <a,s> / q) mod p; "
        "else 0, as all other columns"
    )

    n: int
    q: int
    p: int
    secret: str = "uniform"
    h: int = 0
    spread: Fraction = Fraction(0)
    beta: Fraction = Fraction(40)
    heads: str = "saturated"
    labels: str = "formula"
    bits: int = 0

    def __post_init__(self) -> None:
        require(
            2 <= self.p <= self.q and self.q % self.p == 0,
            f"p={self.p} given with q={self.q}: p must be at least 2 and divide q, so that every "
            "part of Z_q has the same size",
        )
        self.require_range()

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries; for all algorithms an assumption."""
        if self.p == self.q:
            return hardness_of(self, "with p = q linear algebra learns the labels, linear in s")
        return hardness_of(self, "the assumption that learning with rounding is hard [BPR12]")

    @property
    def outcomes(self) -> int:
        """p."""
        return self.p

    @property
    def turns(self) -> bool:
        """For p = 2."""
        return self.p == 2

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """1, ..., -1 in p - 1 equal steps."""
        return tuple(1 - Fraction(2 * v, self.p - 1) for v in range(self.p))

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """The part of Z_q that each element lies in, (q,)."""
        self.require_table()
        return np.arange(self.q) * self.p // self.q
