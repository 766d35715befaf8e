"""Hidden parities as two-token attention layers, exactly.

Tokens are uniform on {-1,+1}^(2 x d), z = X_1 * X_2, S a hidden set of m of the coordinates
1 .. d-1. Coordinate 0 is public: the layer reads it (r = 0) and writes it (c = 0). The label is

    Y[l, 0] = X[l, 0] * (A if z_0 = +1 else chi_S(z)),    chi_S(z) = prod_{j in S} z_j,

and 0 in every other column; A is a public constant. With label noise eta the sign chi_S(z) is
flipped with probability eta. [CL24]
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from instances import tokens
from instances.errors import ToolkitError
from instances.family import Family, Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.threshold import Head, Rational, rational, solve

MAX_M = 128  # exact heads take seconds there and more, their digits grow with the cube of m
MAX_SUM = 1e5  # of |a_i| in float64: heads cancel, and rounding grows in proportion


@dataclass(frozen=True, kw_only=True)
class Parity(Family):
    """The family of all parities on m of d - 1 hidden coordinates.

    d: dimension of a token; m: size of the hidden set; noise: flip probability in [0, 1/2);
    rho: e^(beta/2) of the heads, a rational above 1. Raises UsageError out of these ranges.

    >>> Parity(d=1000, m=21).size == math.comb(999, 21)
    True
    >>> Parity(d=16, m=4, noise=Fraction(1, 10)).spec
    'parity:d=16,m=4,noise=0.1,rho=3'
    """

    name: ClassVar[str] = "parity"
    revision: ClassVar[int] = 1
    example: ClassVar[str] = "parity:d=32,m=3"
    about: ClassVar[str] = "hidden parities on m of d-1 coordinates, exact heads, label noise"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; z = X_1 * X_2; Y[l,0] = X[l,0] * A if "
        "z_0 = +1, else X[l,0] * (1 - 2 bit); all other columns are 0"
    )

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)

    def __post_init__(self) -> None:
        require(self.d >= 2, f"d={self.d} given: d must be at least 2")
        require(
            1 <= self.m <= self.d - 1,
            f"m={self.m} given with d={self.d}: m must be between 1 and d - 1 = {self.d - 1}",
        )
        require(
            self.m <= MAX_M,
            f"m={self.m} given: exact heads are built up to m = {MAX_M}",
        )
        require(
            0 <= self.noise < Fraction(1, 2),
            f"noise={self.noise} given: noise must be at least 0 and below 1/2",
        )
        require(
            1 < self.rho <= 16 and self.rho.denominator <= 16,
            f"rho={self.rho} given: a rational above 1, at most 16, with denominator at most 16",
        )

    @property
    def size(self) -> int:
        """The number of members: C(d-1, m)."""
        return math.comb(self.d - 1, self.m)

    @property
    def hardness(self) -> Hardness:
        """Members are exactly orthogonal; other algorithms are another matter."""
        if self.noise:
            return Hardness(
                evidence="exact",
                why="orthogonal members: exact for statistical queries; for all algorithms only "
                "the assumption that learning (sparse) parity with noise is hard",
            )
        return Hardness(
            evidence="exact",
            why="orthogonal members: exact for statistical queries; without noise Gaussian "
            "elimination, which is no statistical-query algorithm, learns it fast",
        )

    @property
    def heads(self) -> tuple[Head, ...]:
        """The exact heads: m, and for even m one bias head more."""
        return parity_heads(self.m, self.rho)

    @property
    def layer_heads(self) -> int:
        """The number of heads: m if m is odd, m + 1 if it is even."""
        return len(self.heads)

    @cached_property
    def known_constant(self) -> Fraction:
        """A = sum of all a_i, the public value of the label's factor where z_0 = +1."""
        total = sum((head.a for head in self.heads), fmpq(0))
        return Fraction(int(total.p), int(total.q))

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw S uniformly among the m-subsets of 1 .. d-1."""
        chosen = rng.choice(self.d - 1, size=self.m, replace=False)
        return tuple(sorted(int(j) + 1 for j in chosen))

    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the layer: Theta_i = diag(theta_i), W_i = a_i e_0 e_0^T."""
        self.require_member(secret)
        self.require_float64()
        heads = self.heads
        require_memory(16 * len(heads) * self.d**2, f"the layer of {self.spec}")
        theta = np.zeros((len(heads), self.d, self.d))
        w = np.zeros_like(theta)
        for i, head in enumerate(heads):
            if head.counts:
                theta[i, secret, secret] = math.log(self.rho)
            theta[i, 0, 0] = -log(head.u) / 2
            w[i, 0, 0] = to_float(head.a)
        return AttentionLayer(theta=theta, w=w)

    def response(self) -> NDArray[np.float64]:
        """Evaluate the heads in float64 where z_0 = -1: B(h) for h = 0 .. m, (m+1,)."""
        self.require_float64()
        log_x = 2 * math.log(self.rho) * np.arange(self.m + 1)
        out = np.zeros(self.m + 1)
        for head in self.heads:
            argument = log_x * head.counts - log(head.u)
            out += to_float(head.a) * np.tanh(argument / 2)
        return out

    def label(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the formula above without noise: (n, 2, d) -> (n, 2, d)."""
        self.require_member(secret)
        z = x[:, 0, :] * x[:, 1, :]
        chi = np.prod(z[:, secret], axis=1)
        return self._spread(x, np.where(z[:, 0] > 0, float(self.known_constant), chi))

    def known(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate A X[l, 0] where z_0 = +1, and 0 elsewhere: (n, 2, d)."""
        return self._spread(x, np.where(_unknown(x), 0.0, float(self.known_constant)))

    def clip(self, x: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project on +-(1 - 2 eta) in column 0 where z_0 = -1, on the known label elsewhere."""
        out = self.known(x)
        rows, size = _unknown(x), float(1 - 2 * self.noise)
        out[rows, :, 0] = np.clip(y[rows, :, 0], -size, size)
        return out

    def bits(
        self, secret: Secret, words: NDArray[np.uint64], flips: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        """Compute the parity of z on S where z_0 = -1, flipped where `flips`: (n,)."""
        self.require_member(secret)
        folded = np.zeros(len(words), np.uint64)
        for j, m in enumerate(tokens.mask(secret, self.d)):
            if m:
                folded ^= (words[:, 0, j] ^ words[:, 1, j]) & m
        out: NDArray[np.uint8] = np.bitwise_count(folded)
        out ^= flips.view(np.uint8)
        out &= (words[:, 0, 0] ^ words[:, 1, 0]).astype(np.uint8)
        out &= np.uint8(1)
        return out

    def open(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Say where z_0 = -1: (n, 2, words) -> (n,)."""
        return np.asarray((words[:, 0, 0] ^ words[:, 1, 0]) & np.uint64(1), np.bool_)

    def decode(self, x: NDArray[Any], bits: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Turn tokens and unknown bits into labels: (n, 2, d)."""
        signs = 1.0 - 2.0 * bits
        return self._spread(x, np.where(_unknown(x), signs, float(self.known_constant)))

    @property
    def trivial_risk(self) -> float:
        """Two rows, each with an unknown part of size 1 - 2 eta: 2 (1 - 2 eta)^2."""
        return float(2 * (1 - 2 * self.noise) ** 2)

    @property
    def risk_bound(self) -> float:
        """A clipped prediction is off by at most twice the unknown part: 4."""
        return 4.0

    def coefficient(self, secret: Secret, subset: Secret) -> Fraction:
        """E[Y[0,0] X[0,0] 1[z_0 = -1] chi_T(z)]: +-(1 - 2 eta)/2 if T = S but for 0, else 0."""
        sign = -1 if 0 in subset else 1
        same = set(subset) - {0} == set(secret)
        return sign * (1 - 2 * self.noise) / 2 if same else Fraction(0)

    def _spread(self, x: NDArray[Any], psi: NDArray[Any]) -> NDArray[np.float64]:
        out = np.zeros(x.shape, np.float64)
        out[:, :, 0] = x[:, :, 0] * psi[:, None]
        return out

    @property
    def sum_abs_a(self) -> float:
        """Sum |a_i|: how much cancels in the layer."""
        return sum(abs(to_float(head.a)) for head in self.heads)

    def require_float64(self) -> None:
        """Refuse heads that float64 cannot hold; raises ToolkitError."""
        if self.sum_abs_a > MAX_SUM:
            raise ToolkitError(
                f"{self.spec}: sum |a_i| = {self.sum_abs_a:.1e} cancels to 1, too much for a "
                f"float64 layer (at most {MAX_SUM:.0e}): raise rho; certificates are exact anyway"
            )

    def require_member(self, secret: Secret) -> None:
        """Refuse what is no secret of this family; raises UsageError."""
        require(
            len(set(secret)) == len(secret) == self.m and all(1 <= j < self.d for j in secret),
            f"secret {secret} given: {self.m} different coordinates of 1..{self.d - 1} are needed",
        )


@lru_cache(maxsize=16)
def parity_heads(m: int, rho: Fraction) -> tuple[Head, ...]:
    """Build exact heads with B(h) = (-1)^h for h = 0 .. m: m of them, one bias head if m is even.

    >>> [head.a for head in parity_heads(1, Fraction(3))]
    [-2]
    """
    base = rational(rho)
    x = [base ** (2 * h) for h in range(m + 1)]
    u = [base ** (2 * i - 1) for i in range(1, m + 1)]
    a, c0 = solve([fmpq((-1) ** h) for h in range(m + 1)], x, u)
    heads = [Head(u=v, a=b, counts=True) for v, b in zip(u, a, strict=True)]
    if c0:
        # Symmetric thresholds give c0 = 0 for odd m; for even m a bias head takes it away.
        bias = base**2
        heads.append(Head(u=bias, a=-c0 * (1 + bias) / (1 - bias), counts=False))
    return tuple(heads)


def to_float(value: Rational) -> float:
    """Round an exact rational to the nearest float64.

    >>> to_float(fmpq(1, 3))
    0.3333333333333333
    """
    return float(Fraction(int(value.p), int(value.q)))


def log(value: Rational) -> float:
    """Take the natural logarithm of a positive rational of any size.

    >>> round(log(fmpq(3) ** 2000) / math.log(3), 9)
    2000.0
    """
    return math.log(int(value.p)) - math.log(int(value.q))


def _unknown(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Where the label is unknown: z_0 = -1."""
    return np.asarray(x[:, 0, 0] != x[:, 1, 0])
