"""Learning with errors: labels are <a, s> + e mod q. [Regev05]"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.family import Hardness, require
from instances.independence import hardness_of
from instances.integers import Integers, centred_binomial, gaussian, uniform
from instances.modular import Modular


@dataclass(frozen=True, kw_only=True)
class Lwe(Modular):
    """Labels 2 ((<a, s> + e) mod q)/q - 1; the layer is their mean, given a.

    n: the dimension of a and s; q: a prime or a power of two. error: gaussian, with the standard
    deviation `sigma`, or `alpha` = sigma/q; uniform, on `width` integers around 0 (2: on 0 and 1);
    cbd, centred binomial with `eta` coins on each side; or none. The other parameters are those of
    lwr. Raises UsageError out of range.

    >>> Lwe(n=8, q=17, sigma=Fraction(1)).errors.values[-1]
    9
    """

    name: ClassVar[str] = "lwe"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "lwe:n=8,q=17,sigma=1"
    about: ClassVar[str] = "learning with errors: <a, s> + e mod q, the layer is the mean"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j, "
        "mod q; Y[l,0] = X[l,0] * (2 code/q - 1) where z_0 = -1, code = <a,s> + e mod q; else 0, "
        "as all other columns"
    )

    n: int
    q: int
    sigma: Fraction = Fraction(0)
    alpha: Fraction = Fraction(0)
    error: str = "gaussian"
    width: int = 0
    eta: int = 0
    secret: str = "uniform"
    h: int = 0
    spread: Fraction = Fraction(0)
    beta: Fraction = Fraction(40)
    heads: str = "saturated"
    labels: str = "formula"
    bits: int = 0

    def __post_init__(self) -> None:
        kinds = {"gaussian": self.sigma or self.alpha, "uniform": self.width, "cbd": self.eta}
        require(
            self.error in (*kinds, "none"),
            f"error={self.error} given: gaussian, uniform, cbd or none",
        )
        given = [n for n in ("sigma", "alpha", "width", "eta") if getattr(self, n)]
        wanted = {
            "gaussian": "sigma=... or alpha=...",
            "uniform": "width=...",
            "cbd": "eta=...",
            "none": "no size",
        }[self.error]
        sized = bool(kinds.get(self.error, True)) and len(given) == (self.error != "none")
        require(
            sized and all(getattr(self, n) > 0 for n in given),
            f"error={self.error} given with {', '.join(given) or 'no size'}: it needs {wanted} "
            "alone, above 0",
        )
        require(
            self.width <= min(self.q - 1, 1 << 16),
            f"width={self.width} given with q={self.q}: at most q - 1 and 65536 values",
        )
        self.require_range()
        wide = self.errors.deviation if self.errors else 0.0
        require(
            wide <= 2 * self.q,
            f"errors of standard deviation {wide:g} given with q={self.q}: labels then say "
            "nothing, lower it",
        )

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries; for all algorithms an assumption."""
        if self.errors is None:
            return hardness_of(
                self,
                "without error linear algebra learns the labels, linear in s",
            )
        return hardness_of(self, "the assumption that learning with errors is hard [Regev05]")

    @property
    def outcomes(self) -> int:
        """q."""
        return self.q

    @cached_property
    def errors(self) -> Integers | None:
        """The distribution of e."""
        if self.error == "gaussian":
            return gaussian(self.sigma or self.alpha * self.q)
        if self.error == "uniform":
            return uniform(range(-((self.width - 1) // 2), self.width // 2 + 1))
        return centred_binomial(self.eta) if self.error == "cbd" else None

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """-1, -1 + 2/q, ..., 1 - 2/q."""
        self.require_table()
        return tuple(Fraction(2 * v, self.q) - 1 for v in range(self.q))

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """Each element of Z_q has a level of its own, (q,)."""
        self.require_table()
        return np.arange(self.q)
