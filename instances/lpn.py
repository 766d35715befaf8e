"""Learning parity with noise: <a, s> mod 2, flipped with some probability. [BKW03]"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.family import Hardness, require
from instances.independence import hardness_of
from instances.integers import Integers, bernoulli
from instances.modular import Modular


@dataclass(frozen=True, kw_only=True)
class Lpn(Modular):
    """Members (-1)^<a, s>, s of n bits, h of them 1 (0: any number), flipped with rate `noise`.

    heads: saturated, with slope beta, or exact. labels: formula or layer. Raises UsageError out of
    range.

    >>> Lpn(n=64, h=5, noise=Fraction(1, 10)).size
    7624512
    """

    name: ClassVar[str] = "lpn"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "lpn:n=32,noise=0.1"
    about: ClassVar[str] = "learning parity with noise, the secret dense or sparse"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 .. of X_1 xor X_2 are a; Y[l,0] = "
        "X[l,0] * (1 - 2 code) where z_0 = -1, code = <a,s> + e mod 2; else 0, as all other columns"
    )
    q = 2
    secret = "binary"
    spread = Fraction(0)
    bits = 0

    n: int
    noise: Fraction = field()  # required
    h: int = 0
    beta: Fraction = Fraction(40)
    heads: str = "saturated"
    labels: str = "formula"

    def __post_init__(self) -> None:
        require(
            0 <= self.noise < Fraction(1, 2),
            f"noise={self.noise} given: the rate of flips must be in [0, 1/2)",
        )
        self.require_range()

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries; for all algorithms an assumption."""
        if self.errors is None:
            return hardness_of(self, "without noise linear algebra learns the labels")
        return hardness_of(self, "the assumption that learning parity with noise is hard [BKW03]")

    @property
    def outcomes(self) -> int:
        """2."""
        return 2

    @cached_property
    def errors(self) -> Integers | None:
        """1 with probability `noise`."""
        return bernoulli(self.noise) if self.noise else None

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """1 and -1."""
        return (Fraction(1), Fraction(-1))

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """Each bit has a level of its own, (2,)."""
        return np.arange(2)
