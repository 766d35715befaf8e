"""Hidden parities as two-token layers that read positions, with any public output matrix W_0.

Coordinate 0 of a token is its position: +1 in token 1 and -1 in token 2, in every example. So
z = X_1 * X_2 has z_0 = -1 always, a head has a free bias, and W_i = a_i W_0 for any W_0. With
A = sum_i a_i the layer is, exactly,

    F_1 = A/2 (x_1 + x_2) W_0 + chi_S(z)/2 (x_1 - x_2) W_0,

and F_2 the same with - in the middle. Given z, E|(x_1 - x_2) W_0|^2 is a constant plus a weighted
sum of the z_j, so that sets of one size stay exactly orthogonal. docs/families/beyond.md
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.coded import Coded
from instances.families.lwe import Lpn
from instances.families.parity import Parity
from instances.family import Hardness, Secret, View, require
from instances.layer import AttentionLayer
from instances.layererror import LayerError, unknown
from instances.limits import require_memory
from instances.questions import Questions
from instances.streams import BitStream, key

MATRICES = ("identity", "corner", "gaussian")
_UNIT = 2.0**-20  # of entries of W_0: sums of them are exact in float64, in any order

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ParityPosition(Coded):
    """The family of all parities on m of d - 1 hidden coordinates, seen through W_0.

    d, m, noise, rho: as of Parity. w0: identity, corner (e_0 e_0^T) or gaussian (entries N(0, 1),
    rounded to multiples of 2^-20, a function of d alone). Raises UsageError out of range.

    >>> family = ParityPosition(d=8, m=3)
    >>> family.spec, family.size
    ('parity_position:d=8,m=3,noise=0,rho=3,w0=identity', 35)
    >>> examples = family.instance(0).examples(0, 100)
    >>> bool((abs(family.instance(0).layer()(examples.x) - examples.y) < 1e-12).all())
    True
    """

    name: ClassVar[str] = "parity_position"
    example: ClassVar[str] = "parity_position:d=32,m=3,w0=gaussian"
    about: ClassVar[str] = "hidden parities shown in every example, positions, any output matrix"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; coordinate 0 is +1 in token 1, -1 in "
        "token 2; Y[l] = A/2 (X_1 + X_2) W_0 + (1 - 2 code)/2 (X_l - X_other) W_0"
    )
    open_share: ClassVar[Fraction] = Fraction(1)

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)
    w0: str = "identity"

    def __post_init__(self) -> None:
        self.twin.require_range()
        require(self.w0 in MATRICES, f"w0={self.w0} given: one of {', '.join(MATRICES)}")

    @cached_property
    def twin(self) -> Parity:
        """The parities of the same sets, shown in half of the examples and in one column."""
        return Parity(d=self.d, m=self.m, noise=self.noise, rho=self.rho)

    @property
    def proved_as(self) -> tuple[Parity, View]:
        """Parities that every example shows, through vectors of known mean squared length."""
        return self.twin, "positions"

    @property
    def hardness(self) -> Hardness:
        """Members are exactly orthogonal; other algorithms are another matter."""
        return self.twin.hardness

    @property
    def noisy_parities(self) -> Lpn:
        """A label is one equation."""
        return self.twin.noisy_parities

    def to_linear(self, secret: Secret) -> Secret:
        """Write a hidden set as d - 1 bits."""
        return self.twin.to_linear(secret)

    def from_linear(self, s: Secret) -> Secret:
        """List the places of the bits that are 1."""
        return self.twin.from_linear(s)

    @property
    def default_learners(self) -> tuple[str, ...]:
        """Those of parities."""
        return self.twin.default_learners

    @property
    def size(self) -> int:
        """The number of members: C(d-1, m)."""
        return self.twin.size

    def members(self) -> Iterator[Secret]:
        """List the m-subsets of 1 .. d-1 in lexicographic order."""
        return self.twin.members()

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw S uniformly among the m-subsets of 1 .. d-1."""
        return self.twin.draw(rng)

    def same(self, one: Secret, other: Secret) -> bool:
        """Return whether two secrets are the same set, in whatever order."""
        return self.twin.same(one, other)

    @property
    def layer_heads(self) -> int:
        """The number of heads: m, and a bias head for even m."""
        return self.twin.layer_heads

    def curves(self, at: Array) -> Array:
        """Evaluate what every head adds to the factor at h = `at`: (n,) -> (heads, n)."""
        return self.twin.curves(at)

    @property
    def known_constant(self) -> Fraction:
        """A, the sum of all a_i: what is known of a label is A/2 (x_1 + x_2) W_0."""
        return self.twin.known_constant

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """A fair coin."""
        return self.twin.shares

    @cached_property
    def unknown_variance(self) -> Fraction:
        """1: the squared norm of a parity."""
        return Fraction(1)

    def expected(self, words: NDArray[np.uint64]) -> Array:
        """Return 0, what is known of a parity, for packed tokens: (n, k, words) -> (n,)."""
        return np.zeros(len(words))

    def codes(
        self, secret: Secret, words: NDArray[np.uint64], errors: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        """Compute the parity of z on S, flipped where `errors`: (n,)."""
        return self.twin.codes(secret, words, errors)

    def placed(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Write the positions into packed tokens: coordinate 0 is +1 in token 1, -1 in token 2."""
        out = words.copy()
        out[:, 0, 0] &= ~np.uint64(1)
        out[:, 1, 0] |= np.uint64(1)
        return out

    @property
    def questions(self) -> Questions:
        """Tokens of -1 and +1 with their positions."""
        return Questions(tokens="boolean", fixed=((0, 0, 1), (1, 0, -1)))

    @cached_property
    def matrix(self) -> Array:
        """W_0, (d, d)."""
        require_memory(16 * self.d**2, f"W_0 of {self.spec}")
        if self.w0 == "gaussian":
            stream = BitStream(key(0, "w0", self.d))
            drawn = tokens.gaussian(stream, 0, self.d, 1, self.d)[:, 0]
            return np.asarray(np.rint(drawn / _UNIT) * _UNIT)
        return np.diag(self._diagonal)

    @cached_property
    def _diagonal(self) -> Array:
        """The diagonal of W_0 where it has nothing else."""
        return np.ones(self.d) if self.w0 == "identity" else np.eye(self.d)[0]

    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the layer: Theta_i of the parity with the same secret, W_i = a_i W_0."""
        found = self.twin.layer(secret)
        return AttentionLayer(theta=found.theta, w=found.w[:, :1, :1] * self.matrix)

    def _halves(self, x: NDArray[Any]) -> tuple[Array, Array]:
        """Evaluate (x_1 + x_2)/2 W_0 and (x_1 - x_2)/2 W_0: (n, 2, d) -> (n, d) each."""
        first, second = np.asarray(x, np.float64).transpose(1, 0, 2)
        both = (first + second) / 2, (first - second) / 2
        if self.w0 == "gaussian":
            return both[0] @ self.matrix, both[1] @ self.matrix
        return both[0] * self._diagonal, both[1] * self._diagonal

    def labelled(self, x: NDArray[Any], factor: NDArray[Any]) -> Array:
        """Turn factors into labels: (n, 2, d), (n,) -> (n, 2, d)."""
        common, apart = self._halves(x)
        common *= float(self.known_constant)
        apart *= np.asarray(factor)[:, None]
        return np.stack([common + apart, common - apart], axis=1)

    def factor_of(self, x: NDArray[Any], y: Array) -> Array:
        """Project labels on those of some factor: (n, 2, d) -> (n,)."""
        apart = self._halves(x)[1]
        along = ((y[:, 0] - y[:, 1]) * apart).sum(axis=1)
        return np.asarray(along / (2 * (apart**2).sum(axis=1)))

    def clip(self, x: NDArray[Any], y: Array) -> Array:
        """Project on the segment of labels that E[Y|X] may be."""
        return self.labelled(x, np.clip(self.factor_of(x, y), *self.ends))

    @cached_property
    def _rows(self) -> Array:
        """The squared norms of the rows of W_0, (d,)."""
        if self.w0 == "gaussian":
            return np.asarray((self.matrix**2).sum(axis=1))
        return self._diagonal**2

    @property
    def power(self) -> float:
        """E |x_1 - x_2|^2 / 2 through W_0: the squared norm that a factor of 1 gives a label."""
        return float(self._rows.sum() + self._rows[0])

    @property
    def trivial_risk(self) -> float:
        """E ||F - known||^2: what a relative risk of 1 stands for."""
        return (1 - 2 * float(self.noise)) ** 2 * self.power

    @cached_property
    def risk_bound(self) -> float:
        """The largest relative loss of a clipped prediction on one pair of tokens, or more.

        4 times the largest |x_1 - x_2|^2 / 2 through W_0, over its mean.
        """
        largest = float(self._rows.sum())  # where the rows are orthogonal
        if self.w0 == "gaussian":
            rows = float(np.sqrt(self._rows).sum())
            largest = min(rows**2, float(np.linalg.norm(self.matrix, 2)) ** 2 * self.d)
        return 4 * 2 * largest / self.power

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound how far a member's layer may be from the formula by rounding.

        1e-12 of the size of a label up to sum |a_i| = 200, and in proportion above.
        """
        size = float(np.abs(self.matrix).sum(axis=0).max())
        return 1e-12 * size * max(1.0, self.twin.sum_abs_a / 200)

    @property
    def layer_error(self) -> LayerError:
        """Claim nothing: the bound is for labels of one column."""
        return unknown(self.levels, "a bound is known for labels of one column only")
