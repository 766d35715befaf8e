"""Hidden sets: a member is a set S of m of the coordinates 1 .. d-1, drawn uniformly.

With h the number of j in S with z_j = -1, a label contains g(h), for a profile g: {0..m} -> R.
Tokens are uniform on {-1,+1}^(2 x d), z = X_1 * X_2. Coordinate 0 is public: the layer reads it
(r = 0) and writes it (c = 0). The label is

    Y[l, 0] = X[l, 0] * (A if z_0 = +1 else g(h)),

and 0 in every other column; A is a public constant. Label noise replaces g(h) with probability eta
by its reflection in the middle of the profile's range, 2 centre - g(h). For a profile of two values
this is the other value; for values +-v it is the other sign.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from instances import numbers, tokens
from instances.coded import Coded, HiddenSet
from instances.errors import ToolkitError, UsageError
from instances.family import Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.lwe import Lpn
from instances.numbers import write
from instances.parameters import Profiled, Range, split_list
from instances.symmetric import (
    Head,
    Rational,
    coefficients,
    exact_heads,
    log,
    log_binomial,
    python_fraction,
    rational,
    to_float,
)

Array = NDArray[np.float64]
MAX_M = 128  # there exact heads take seconds: their digits grow with the cube of m
_NAMED = re.compile(r"majority|parity|(mod|threshold)\(([1-9][0-9]{0,17})\)")
Rho = Annotated[Fraction, Range(above=1, most=16)]  # e^(beta/2) of the heads
MAX_SUM_ABS_A = 1e5  # for float64: heads cancel, and rounding grows with the sum


class Symmetric(Coded):
    """The family of f_S(z) = g(|{j in S: z_j = -1}|) over all m-subsets S of 1 .. d-1.

    A subclass is a frozen dataclass with the fields d, m, noise and rho; it defines `values`.
    """

    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; z = X_1 * X_2; Y[l,0] = X[l,0] * A if "
        "z_0 = +1, else X[l,0] * levels[code]; all other columns are 0"
    )

    characters: ClassVar[bool] = False  # members are characters of z, and so orthogonal

    d: Annotated[int, Range(2)]
    m: Annotated[int, Range(1, MAX_M, words=f"between 1 and {MAX_M}, for exact heads")]  # of a set
    noise: Annotated[Fraction, Range(0, below=Fraction(1, 2))]
    rho: Rho

    @property
    @abstractmethod
    def values(self) -> tuple[Fraction, ...]:
        """The profile g(0) .. g(m)."""

    @property
    def hidden_sets(self) -> "Symmetric":
        """The family itself."""
        return self

    def problem(self) -> dict[str, Any]:
        """The number of coordinates, the size of the hidden set, the profile and the noise."""
        return {
            "kind": "hidden-set",
            "places": self.d - 1,
            "chosen": self.m,
            "values": list(map(Fraction, self.values)),
            "noise": self.noise,
        }

    def certified_as(self) -> "Symmetric":
        """The family itself for parities and profiles, else the profile with the same values."""
        if type(self) in (Parity, Profile):
            return self
        g = Profiled(spelling(self.values))
        return Profile(g=g, d=self.d, m=self.m, noise=self.noise, rho=self.rho)

    @property
    def hides(self) -> HiddenSet:
        """The hidden set of m coordinates."""
        return HiddenSet(
            size=self.m,
            first_step=self.values[0] != self.values[1],
            secret=lambda places: tuple(j + 1 for j in places),
        )

    @property
    def heads(self) -> tuple[Head, ...]:
        """The m exact heads, and a bias head if solving for them leaves an offset."""
        return exact_heads(self.values, self.rho)

    @cached_property
    def float_heads(self) -> tuple[Array, Array, Array]:
        """The weights of the heads in the layer: on S, on coordinate 0 and in W, (heads,) each."""
        log_rho, heads = math.log(self.rho), self.heads
        rows = [(log_rho * head.slope, -log(head.u) / 2, to_float(head.a)) for head in heads]
        slope, offset, a = np.array(rows).T
        return slope, offset, a

    @property
    def size(self) -> int:
        """The number of members: C(d-1, m)."""
        return math.comb(self.d - 1, self.m)

    def members(self) -> Iterator[Secret]:
        """List the m-subsets of 1 .. d-1 in lexicographic order."""
        yield from combinations(range(1, self.d), self.m)

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw S uniformly among the m-subsets of 1 .. d-1."""
        chosen = rng.choice(self.d - 1, size=self.m, replace=False)
        return tuple(sorted(int(j) + 1 for j in chosen))

    def same(self, first: Secret, second: Secret) -> bool:
        """Return whether two secrets are the same set, in any order."""
        return sorted(first) == sorted(second)

    def require_member(self, secret: Secret) -> None:
        """Refuse what is not a secret of this family; raises UsageError."""
        require(
            len(set(secret)) == len(secret) == self.m and all(1 <= j < self.d for j in secret),
            f"a secret must be {self.m} different integers from 1 to {self.d - 1}, got {secret}",
        )

    def check(self) -> None:
        """Refuse a set larger than d - 1, and a rho with a large denominator; raises UsageError."""
        require(
            self.m <= self.d - 1,
            f"m must be between 1 and {self.d - 1} for d = {self.d}, got {self.m}",
        )
        largest = 16  # keeps the digits of exact heads few
        require(
            self.rho.denominator <= largest,
            f"the denominator of rho must be at most {largest}, got {self.rho}",
        )

    @property
    def hardness(self) -> Hardness:
        """Exact bounds; how small correlations are depends on the profile."""
        kind = "all statistical" if self.two_valued else "correlational"
        return Hardness(
            evidence="exact",
            proved=f"correlations of members are exact and bound {kind} queries; how hard that is "
            "depends on the profile: see `hardness certify`",
        )

    @property
    def two_valued(self) -> bool:
        """Whether the profile takes exactly two values."""
        return len(set(self.values)) == 2

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """The values that g(h) can take, with noise too, in descending order."""
        values = set(self.values)
        if self.noise:
            values |= {max(values) + min(values) - v for v in self.values}
        return tuple(sorted(values, reverse=True))

    @cached_property
    def fourier(self) -> tuple[Rational, ...]:
        """The Fourier coefficients g^_0 .. g^_m of the profile."""
        return tuple(coefficients([rational(v) for v in self.values]))

    @property
    def layer_heads(self) -> int:
        """The number of heads."""
        return len(self.heads)

    @cached_property
    def known_constant(self) -> Fraction:
        """A = sum of all a_i, the public value of the label's factor where z_0 = +1."""
        return python_fraction(sum((head.a for head in self.heads), fmpq(0)))

    @property
    def sum_abs_a(self) -> float:
        """The sum of |a_i| over heads: how much cancels in the layer."""
        return sum(abs(to_float(head.a)) for head in self.heads)

    def require_float64(self) -> None:
        """Refuse heads that float64 cannot hold; raises ToolkitError."""
        if self.sum_abs_a > MAX_SUM_ABS_A * float(max(map(abs, self.values))):
            raise ToolkitError(
                f"{self.spec}: sum |a_i| = {self.sum_abs_a:.1e} cancels to values of order 1, too "
                f"much for a float64 layer (at most {MAX_SUM_ABS_A:.0e}): raise rho; certificates "
                "are exact anyway"
            )

    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the layer of heads that count the hidden signs, if float64 and memory allow it."""
        self.require_float64()
        require_memory(16 * self.layer_heads * self.d**2, f"the layer of {self.spec}")
        self.require_member(secret)
        slope, offset, a = self.float_heads
        theta = np.zeros((len(a), self.d, self.d))
        theta[:, secret, secret] = slope[:, None]
        theta[:, 0, 0] = offset
        w = np.zeros_like(theta)
        w[:, 0, 0] = a
        return AttentionLayer(theta=theta, w=w)

    @cached_property
    def _codes(self) -> NDArray[np.uint8]:
        """The code of a label by h, (2, m+1): row 0 without noise, row 1 with reflected values."""
        clean = [self.levels.index(v) for v in self.values]
        return np.array([clean, self._reflected[clean]], np.uint8)

    def codes(
        self, secret: Secret, words: NDArray[np.uint64], flips: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        """Compute the code of the label's value where z_0 = -1, reflected where `flips`: (n,)."""
        self.require_member(secret)
        count = np.zeros(len(words), np.uint8)  # m is at most 128
        for j, mask in enumerate(tokens.mask(secret, self.d)):
            if mask:
                count += np.bitwise_count((words[:, 0, j] ^ words[:, 1, j]) & mask)
        return self._codes[flips.view(np.uint8), count] * self.open(words)

    def expected(self, words: NDArray[np.uint64]) -> Array:
        """Evaluate the baseline's factor on packed tokens with z_0 = -1: (n, 2, words) -> (n,)."""
        minus = np.bitwise_count(words[:, 0] ^ words[:, 1]).sum(axis=1, dtype=np.intp) - 1
        return self.fade(self.prior)[minus]

    @cached_property
    def prior(self) -> Array:
        """The mean of g(h) over all members, by the number of -1 in z_1 .. z_(d-1): (d,)."""
        # h is hypergeometric: m draws without replacement from d - 1 places, w of them -1.
        n, w = self.d - 1, np.arange(self.d)
        require_memory(64 * self.d * (self.m + 1) // 16, f"the mean member of {self.spec}")
        out = np.zeros(self.d)
        for h, value in enumerate(map(float, self.values)):
            fits = (w >= h) & (n - w >= self.m - h)
            v = w[fits].astype(np.float64)
            logs = log_binomial(v, h) + log_binomial(n - v, self.m - h)
            out[fits] += value * np.exp(logs - log_binomial(n, self.m))
        return out

    @cached_property
    def unknown_variance(self) -> Fraction:
        """E (g(h) - mean over members)^2, the exact variance that there is to learn."""
        n, m = self.d - 1, self.m
        # The mean over members has the squared norm sum_k g^_k^2 C(m,k)^2 / C(n,k).
        total = fmpq(0)
        for k, value in enumerate(self.fourier):
            if value:
                total += value**2 * math.comb(m, k) * (1 - fmpq(math.comb(m, k), math.comb(n, k)))
        return python_fraction(total)

    def response(self) -> Array:
        """Evaluate the sum of heads in float64 where z_0 = -1, for h = 0 .. m: (m+1,)."""
        self.require_float64()
        slope, offset, a = (part[:, None] for part in self.float_heads)
        heads = np.asarray(a * np.tanh(slope * np.arange(self.m + 1.0) + offset))
        return np.asarray(sum(heads, np.zeros(self.m + 1)))

    def coefficient(self, secret: Secret, subset: Secret) -> Fraction:
        """The exact E[Y[0,0] X[0,0] 1[z_0 = -1] chi_T(z)] for a set T of coordinates."""
        self.require_member(secret)
        rest = set(subset) - {0}
        total = Fraction(0)
        if rest <= set(secret):
            total = (1 - 2 * self.noise) * python_fraction(self.fourier[len(rest)])
        if not rest:
            total += 2 * self.noise * self.centre
        return (-1 if 0 in subset else 1) * total / 2


@dataclass(frozen=True, kw_only=True)
class Profile(Symmetric):
    """The family of f_S(z) = g(h), h the number of j in S with z_j = -1, S any m-subset of 1..d-1.

    g: majority, parity, mod(k), threshold(k), or a list of m + 1 values g(0) .. g(m). d, m, noise
    and rho are those of Parity. Raises UsageError out of range, and for a constant g.

    >>> Profile(g=Profiled("majority"), d=8, m=3).values == (1, 1, -1, -1)
    True
    >>> Profile(g=Profiled("[1, 1/2, 0]"), d=8, m=2).spec
    'profile:d=8,g=[1,0.5,0],m=2,noise=0,rho=3'
    """

    name: ClassVar[str] = "profile"
    example: ClassVar[str] = "profile:g=majority,d=32,m=5"
    about: ClassVar[str] = "any symmetric function of m of d-1 hidden coordinates, exact heads"
    g: Profiled
    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)

    def check(self) -> None:
        """Write g in canonical form; refuse a constant g, and a family of one member."""
        super().check()
        values, text = self.values, self.g.replace(" ", "")
        text = spelling(values) if text.startswith("[") else text
        object.__setattr__(self, "g", Profiled(text))
        require(
            len(set(values)) > 1,
            f"g={self.g} is {values[0]} for every h = 0..{self.m}, which is constant: "
            "nothing is hidden; g=majority is one",
        )
        require(
            len(self.levels) <= 256,
            f"labels must take at most 256 values, got {len(self.levels)} of g={self.g} with "
            f"noise={self.noise}: lower m",
        )
        require(
            self.m <= self.d - 2,
            f"m must be between 1 and {self.d - 2} for d = {self.d}, got {self.m}: there is one "
            "member only, nothing is hidden",
        )

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The profile g(0) .. g(m)."""
        return profile(self.g, self.m)


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
        """The family with the labels as equations mod 2: LPN with secrets of weight m."""
        return Lpn(n=self.d - 1, h=self.m, noise=self.noise)

    def to_linear(self, secret: Secret) -> Secret:
        """Write a hidden set as d - 1 bits."""
        return tuple(int(j in secret) for j in range(1, self.d))

    def from_linear(self, s: Secret) -> Secret:
        """List the coordinates whose bit is 1.

        >>> Parity(d=5, m=2).from_linear((0, 1, 0, 1))
        (2, 4)
        """
        return tuple(j for j, bit in enumerate(s, 1) if bit)

    @property
    def default_learners(self) -> tuple[str, ...]:
        """Elimination, or `restricted` with noise, and three learners to compare with."""
        second = "restricted" if self.noise else "elimination"
        return ("queries", second, "lowdegree", "student")

    @property
    def hardness(self) -> Hardness:
        """Members are exactly orthogonal; this bounds statistical queries alone."""
        fast = "without noise Gaussian elimination, which is not a statistical-query algorithm, "
        return Hardness(
            evidence="exact",
            proved="orthogonal members: exact for statistical queries",
            assumption="learning (sparse) parity with noise is hard" if self.noise else "",
            easy="" if self.noise else f"{fast}learns it fast",
        )

    # The mean over all members is K_m(w)/C(d-1,m), of squared norm 1/N. Without it members stay
    # exactly orthonormal, and a relative risk changes by a factor of at least 1 - 1/N.
    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """The baseline of a parity where z_0 = -1: 0, (d,)."""
        return np.zeros(self.d)


def profile(text: str, m: int) -> tuple[Fraction, ...]:
    """Read the profile g(0) .. g(m); raises UsageError.

    majority: 1 for 2h <= m, else -1. parity: (-1)^h. mod(k): 1 where k divides h, else -1.
    threshold(k): 1 for h < k, else -1.

    >>> [int(v) for v in profile("majority", 4)], [int(v) for v in profile("mod(3)", 3)]
    ([1, 1, 1, -1, -1], [1, -1, -1, 1])
    """
    text = text.replace(" ", "")
    if text.startswith("[") and text.endswith("]"):
        listed_values = tuple(
            numbers.parse(value, Fraction, "g") for value in split_list(text[1:-1])
        )
        require(
            len(listed_values) == m + 1,
            f"g must list {m + 1} values for m = {m}, one for each h = 0..{m}, got "
            f"{len(listed_values)}: {text[:60]}",
        )
        return listed_values
    named = _NAMED.fullmatch(text)
    if not named:
        raise UsageError(
            "g must be majority, parity, mod(k), threshold(k) with k above 0, or a list of m + 1 "
            f"numbers, as [1,-1/2,0], got {text[:60]}"
        )
    k = int(named[2] or 0)
    plus = {
        "majority": lambda h: 2 * h <= m,
        "parity": lambda h: h % 2 == 0,
        "mod": lambda h: h % k == 0,
        "threshold": lambda h: h < k,
    }[named[1] or text]
    return tuple(Fraction(1 if plus(h) else -1) for h in range(m + 1))


def spelling(values: Iterable[Fraction]) -> str:
    """Write values as the list that `profile` reads."""
    return f"[{','.join(map(write, values))}]"


def signs(m: int) -> tuple[Fraction, ...]:
    """Return the profile of a parity on m coordinates: (-1)^h for h = 0 .. m.

    >>> [int(v) for v in signs(2)]
    [1, -1, 1]
    """
    return tuple(Fraction((-1) ** h) for h in range(m + 1))
