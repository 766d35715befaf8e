"""The LWE-style families: learning with rounding, with errors, parities with noise, windows.

instances/modular.py has what they share: parameters, layers, labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import itself
from instances.family import Secret, require
from instances.integers import Integers, bernoulli, centred_binomial, gaussian, uniform
from instances.linearsamples import (
    LinearSamples,
    binary_entropy,
    errors_of,
    of_flips,
    told,
    uniform_errors,
)
from instances.modular import Modular


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
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j; "
        "Y[l,0] = X[l,0] * (1 - 2 code/(p - 1)) where z_0 = -1, code = floor(p <a,s> / q) mod p; "
        "else 0, as all other columns"
    )

    p: int

    def __post_init__(self) -> None:
        require(
            2 <= self.p <= self.q and self.q % self.p == 0,
            f"p={self.p} given with q={self.q}: p must be at least 2 and divide q, so that every "
            "part of Z_q has the same size",
        )
        self.require_range()

    @property
    def assumption(self) -> str:
        """That of LWR, where labels are rounded."""
        if self.p == self.q:
            return "with p = q linear algebra learns the labels, linear in s"
        return "the assumption that learning with rounding is hard [BPR12]"

    @property
    def linear_samples(self) -> LinearSamples:
        """A label is a sample, its error uniform on q/p values."""
        errors = uniform_errors(self.q // self.p, self.q)
        return LinearSamples(
            size=self.size, secrets=self.secrets, errors=errors, information=log2(self.p)
        )

    @property
    def outcomes(self) -> int:
        """p."""
        return self.p

    def place(self, t: NDArray[np.int64]) -> NDArray[Any]:
        """Round, at any q."""
        return t // (self.q // self.p)


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
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j, "
        "mod q; Y[l,0] = X[l,0] * (2 code/q - 1) where z_0 = -1, code = <a,s> + e mod q; else 0, "
        "as all other columns"
    )

    sigma: Fraction = Fraction(0)
    alpha: Fraction = Fraction(0)
    error: str = "gaussian"
    width: int = 0
    eta: int = 0

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
    def assumption(self) -> str:
        """That of LWE, where there are errors."""
        if self.errors is None:
            return "without error linear algebra learns the labels, linear in s"
        return "the assumption that learning with errors is hard [Regev05]"

    @property
    def linear_samples(self) -> LinearSamples:
        """A label is a sample."""
        return LinearSamples(
            size=self.size,
            secrets=self.secrets,
            errors=errors_of(self.errors, self.q, self.error),
            information=told(self.errors, self.q),
        )

    @cached_property
    def errors(self) -> Integers | None:
        """The distribution of e."""
        if self.error == "gaussian":
            return gaussian(self.sigma or self.alpha * self.q)
        if self.error == "uniform":
            return uniform(range(-((self.width - 1) // 2), self.width // 2 + 1))
        return centred_binomial(self.eta) if self.error == "cbd" else None

    def place(self, t: NDArray[np.int64]) -> NDArray[Any]:
        """Each element of Z_q is a level, at any q."""
        return t

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """-1, -1 + 2/q, ..., 1 - 2/q."""
        self.require_table()
        return tuple(Fraction(2 * v, self.q) - 1 for v in range(self.q))


@dataclass(frozen=True, kw_only=True)
class Lpn(Modular):
    """Members (-1)^<a, s>, s of n bits, h of them 1 (0: any number), flipped with rate `noise`.

    beta, heads and labels are those of Modular. Raises UsageError out of range. [BKW03]

    >>> Lpn(n=64, h=5, noise=Fraction(1, 10)).size
    7624512
    """

    name: ClassVar[str] = "lpn"
    example: ClassVar[str] = "lpn:n=32,noise=0.1"
    about: ClassVar[str] = "learning parity with noise, the secret dense or sparse"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 .. of X_1 xor X_2 are a; Y[l,0] = "
        "X[l,0] * (1 - 2 code) where z_0 = -1, code = <a,s> + e mod 2; else 0, as all other columns"
    )
    q: int = field(default=2, init=False)
    secret: str = field(default="binary", init=False)
    spread: Fraction = field(default=Fraction(0), init=False)
    bits: int = field(default=0, init=False)
    noise: Fraction = field()  # required

    def __post_init__(self) -> None:
        require(
            0 <= self.noise < Fraction(1, 2),
            f"noise={self.noise} given: the rate of flips must be in [0, 1/2)",
        )
        self.require_range()

    noisy_parities = itself

    @property
    def assumption(self) -> str:
        """That of LPN, where there is noise."""
        if self.errors is None:
            return "without noise linear algebra learns the labels"
        return "the assumption that learning parity with noise is hard [BKW03]"

    @property
    def linear_samples(self) -> LinearSamples:
        """A label is a sample."""
        return of_flips(self.size, self.secrets, self.noise)

    @cached_property
    def errors(self) -> Integers | None:
        """1 with probability `noise`."""
        return bernoulli(self.noise) if self.noise else None


@dataclass(frozen=True, kw_only=True)
class Window(Modular):
    """Members 1[<a, s> mod q < q/parts]: about 2R/q heads, whatever `parts` is.

    parts: a divisor of q. The other parameters are those of Modular. Raises UsageError out of
    range. [CL24]

    >>> Window(n=8, q=16, parts=4, secret="binary", h=4).layer_heads
    9
    """

    name: ClassVar[str] = "window"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "window:n=8,q=16,parts=4,secret=binary,h=4"
    about: ClassVar[str] = "whether <a, s> mod q falls into a window of Z_q"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; bits 1 + jL .. of X_1 xor X_2 are a_j; "
        "Y[l,0] = X[l,0] * code where z_0 = -1, code = 1 if (<a,s> mod q) < q/parts; else 0, "
        "as all other columns"
    )

    parts: int

    def __post_init__(self) -> None:
        require(
            2 <= self.parts <= self.q and self.q % self.parts == 0,
            f"parts={self.parts} given with q={self.q}: at least 2, a divisor of q",
        )
        self.require_range()

    @property
    def assumption(self) -> str:
        """That of LWR."""
        return "the assumption that learning with rounding is hard: a window is one part of it"

    @property
    def linear_samples(self) -> LinearSamples:
        """A label that is 1 is a sample of LWE, given b: <a, s> is one of 0 .. q/parts - 1."""
        return LinearSamples(
            size=self.secrets.size,
            secrets=self.secrets,
            errors=uniform_errors(self.q // self.parts, self.q),
            information=binary_entropy(1 / self.parts),
            labels=self.parts,
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
        mine, its = next((pair for pair in pairs if self.secrets.is_unit(pair[0])), (0, 0))
        multiple = all((v * mine - u * its) % self.q == 0 for u, v in pairs)
        return multiple and self.secrets.is_unit(its)

    @property
    def multiples(self) -> int | None:
        """How many secrets are of one member: those that are multiples of each other by units.

        1 but for windows of one residue. None where it is not the same for all members.
        """
        if self.parts < self.q:
            return 1
        entries = self.secrets.entries
        if entries is None:
            return self.q // 2 if self.q % 2 == 0 else self.q - 1
        return len(set(entries.values) - {0}) if max(entries.values) == 1 else None

    @property
    def size(self) -> int:
        """The number of members; of windows of one residue with wide secrets, that of secrets."""
        return self.secrets.size // (self.multiples or 1)

    def members(self) -> Iterator[Secret] | None:
        """List the secrets; of multiples of each other the one whose first unit is 1."""
        if self.multiples is None:
            return None
        if self.multiples == 1:
            return super().members()
        unit = self.secrets.is_unit
        return (s for s in self.secrets.listed() if next(filter(unit, s)) % self.q == 1)

    @property
    def rarest(self) -> Fraction:
        """1/parts: that of the window."""
        return Fraction(1, self.parts)

    @property
    def step(self) -> None:
        """A label places <a, s> in the window or out of it."""
        return None

    @property
    def intervals(self) -> int:
        """As many as there are parts."""
        return self.parts

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """0 outside, 1 inside."""
        return (Fraction(0), Fraction(1))

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """1 inside of the window, (q,)."""
        self.require_table()
        return (np.arange(self.q) < self.q // self.parts).astype(np.intp)
