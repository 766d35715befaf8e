"""Learning with rounding, with errors, parities with noise: settings of `Modular`.

Each says its parameters, the law of its errors and how <a, s> + e mod q is rounded.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

from instances.coded import HiddenSet
from instances.family import require
from instances.integers import Integers, bernoulli, centred_binomial, gaussian, uniform
from instances.modular import Modular, Rounding
from instances.ranges import OneOf, Range

_LABEL = (  # how labels follow from what is stored
    "bit j of a token is 1 where coordinate j is -1; bits 1 {bits}; Y[l,0] = X[l,0] * {factor} "
    "where z_0 = -1, code = {code}; else 0, as all other columns"
)
_A = "+ jL .. of X_1 xor X_2 are a_j"
_SIZES = {"gaussian": ("sigma", "alpha"), "uniform": ("width",), "cbd": ("eta",), "none": ()}


@dataclass(frozen=True, kw_only=True)
class Lwr(Modular):
    """Members floor((p/q) <a, s>) mod p, written 1 - 2 v/(p - 1) for v = 0 .. p - 1.

    p: a divisor of q. The other parameters are those of Modular. Raises UsageError out of range.
    [BPR12]

    >>> Lwr(n=8, q=16, p=2, secret="binary", h=4).layer_heads
    9
    """

    name: ClassVar[str] = "lwr"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "lwr:n=8,q=16,p=2,secret=binary,h=4"
    about: ClassVar[str] = "learning with rounding: the top of <a, s> mod q, K + 2 heads"
    label_text: ClassVar[str] = _LABEL.format(
        bits=_A, factor="(1 - 2 code/(p - 1))", code="floor(p <a,s> / q) mod p"
    )
    assumed: ClassVar[str] = "learning with rounding is hard [BPR12]"
    exact_text: ClassVar[str] = "with p = q linear algebra learns the labels, linear in s"

    p: int

    def check(self) -> None:
        """Refuse parts of Z_q of different sizes; raises UsageError."""
        require(
            2 <= self.p <= self.q and self.q % self.p == 0,
            f"p={self.p} given with q={self.q}: p must be at least 2 and divide q, so that every "
            "part of Z_q has the same size",
        )
        super().check()

    @cached_property
    def rounding(self) -> Rounding:
        """The interval of <a, s>, one of p."""
        return Rounding(q=self.q, parts=self.p)


@dataclass(frozen=True, kw_only=True)
class Lwe(Modular):
    """Labels 2 ((<a, s> + e) mod q)/q - 1; the layer is their mean, given a.

    error: gaussian, with the standard deviation `sigma`, or `alpha` = sigma/q; uniform, on `width`
    integers around 0 (2: on 0 and 1); cbd, centred binomial with `eta` coins on each side; or none.
    The other parameters are those of Modular. Raises UsageError out of range. [Regev05]

    >>> Lwe(n=8, q=17, sigma=Fraction(1)).errors.values[-1]
    9
    """

    name: ClassVar[str] = "lwe"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "lwe:n=8,q=17,sigma=1"
    about: ClassVar[str] = "learning with errors: <a, s> + e mod q, the layer is the mean"
    label_text: ClassVar[str] = _LABEL.format(
        bits=f"{_A}, mod q", factor="(2 code/q - 1)", code="<a,s> + e mod q"
    )
    assumed: ClassVar[str] = "learning with errors is hard [Regev05]"
    composite: ClassVar[bool] = True

    sigma: Fraction = Fraction(0)
    alpha: Fraction = Fraction(0)
    error: Annotated[str, OneOf(tuple(_SIZES))] = "gaussian"
    width: Annotated[int, Range(0, 1 << 16)] = 0
    eta: Annotated[int, Range(0, 64)] = 0

    def check(self) -> None:
        """Refuse sizes that the law of errors does not have; raises UsageError."""
        given = [n for names in _SIZES.values() for n in names if getattr(self, n)]
        sizes = _SIZES[self.error]
        require(
            len(given) == bool(sizes)
            and all(name in sizes and getattr(self, name) > 0 for name in given),
            f"error={self.error} given with {', '.join(given) or 'no size'}: it needs "
            f"{' or '.join(f'{name}=...' for name in sizes) or 'no size'} alone, above 0",
        )
        require(
            self.width <= self.q - 1,
            f"width={self.width} given with q={self.q}: at most q - 1 values",
        )
        super().check()
        wide = self.errors.deviation if self.errors else 0.0
        require(
            wide <= 2 * self.q,
            f"errors of standard deviation {wide:g} given with q={self.q}: labels then say "
            "nothing, lower it",
        )

    @cached_property
    def rounding(self) -> Rounding:
        """All of <a, s> + e mod q."""
        return Rounding(q=self.q, parts=self.q, residue=True)

    @cached_property
    def errors(self) -> Integers | None:
        """The law of e."""
        match self.error:
            case "gaussian":
                return gaussian(self.sigma or self.alpha * self.q)
            case "uniform":
                return uniform(range(-((self.width - 1) // 2), self.width // 2 + 1))
            case "cbd":
                return centred_binomial(self.eta)
        return None


@dataclass(frozen=True, kw_only=True)
class Lpn(Modular):
    """Members (-1)^<a, s>, s of n bits, h of them 1 (0: any number), flipped with rate `noise`.

    Raises UsageError out of range. [BKW03]

    >>> Lpn(n=64, h=5, noise=Fraction(1, 10)).size
    7624512
    """

    name: ClassVar[str] = "lpn"
    example: ClassVar[str] = "lpn:n=32,noise=0.1"
    about: ClassVar[str] = "learning parity with noise, the secret dense or sparse"
    label_text: ClassVar[str] = _LABEL.format(
        bits=".. of X_1 xor X_2 are a", factor="(1 - 2 code)", code="<a,s> + e mod 2"
    )
    assumed: ClassVar[str] = "learning parity with noise is hard [BKW03]"
    exact_text: ClassVar[str] = "without noise linear algebra learns the labels"
    rounding: ClassVar[Rounding] = Rounding(q=2, parts=2)
    noisy_parities: ClassVar[bool] = True
    former: ClassVar[tuple[str, ...]] = ("beta=40", "heads=saturated", "labels=formula")

    q: int = field(default=2, init=False)
    secret: str = field(default="binary", init=False)
    spread: Fraction = field(default=Fraction(0), init=False)
    noise: Annotated[
        Fraction,
        Range(0, below=Fraction(1, 2), about="the rate of flips", words="in [0, 1/2)"),
    ] = field()  # required

    @property
    def hides(self) -> HiddenSet:
        """A set of places, of any size where h is 0."""
        return HiddenSet(
            size=self.h or None,
            first_step=True,
            secret=lambda places: tuple(int(j in places) for j in range(self.d - 1)),
        )

    @cached_property
    def errors(self) -> Integers | None:
        """1 with probability `noise`."""
        return bernoulli(self.noise) if self.noise else None
