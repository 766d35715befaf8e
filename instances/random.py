"""Layers of random heads: softmax with degenerations, with a hidden parity, and linear attention.

Theta_i is a random matrix of Frobenius norm `scale` and W_i one of Frobenius norm sqrt(d); all are
independent.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense, Norm
from instances.family import Hardness, Secret, require
from instances.layer import AttentionLayer, Kind
from instances.parameters import Range, later
from instances.sets import Parity, Rho
from instances.streams import generator

Array = NDArray[np.float64]
Dial = Annotated[float, Range(0, 1)]


@dataclass(frozen=True, kw_only=True)
class Nice(Dense):
    """Layers of m random heads on k tokens of dimension d; raises UsageError out of range.

    coherence: the cosine of two Theta_i, by a part that all share. rank: of every Theta_i, 0 for
    full. trace: |Tr Theta_i| over its largest possible value, sqrt(d) ||Theta_i||. column: the
    share of ||Theta_i||^2 in the first column, 0 to leave it as drawn. ratio: of the largest to the
    smallest ||Theta_i||. shared: the cosine of two W_i. parity: 0 .. 1, the position on the line
    from the random layer to one that computes plus or minus the parity of m hidden bits. lattice:
    0 .. 1, how far entries of W_i are moved to multiples of one number, so that sums of heads
    coincide.

    >>> Nice(m=2, k=2, d=16).instance(0).examples(0, 5).y.shape
    (5, 2, 16)
    """

    name: ClassVar[str] = "nice"
    example: ClassVar[str] = "nice:m=2,k=2,d=16"
    former: ClassVar[tuple[str, ...]] = ("signs=plus", "wrank=0")
    about: ClassVar[str] = "random layers, with parameters that make them degenerate"
    easy: ClassVar[str] = (
        "layers that are not degenerate can be learned to a small error, in polynomial time for a "
        "constant number of heads [CL24]"
    )

    m: Annotated[int, Range(1, 64, about="m, the heads,")]
    k: int
    d: int
    scale: Norm = 2.0
    tokens: str = "boolean"
    noise: Fraction = Fraction(0)
    coherence: Dial = 0.0
    rank: Annotated[int, Range(0)] = 0
    trace: Dial = 0.0
    column: Dial = 0.0
    ratio: Annotated[float, Range(1, 10**6)] = 1.0
    shared: Dial = 0.0
    parity: Dial = 0.0
    lattice: Annotated[float, Range(0, 1)] = later(0.0)

    def check(self) -> None:
        """Refuse a rank above d, and a parity that no such layer computes; raises UsageError."""
        refusal = f"rank must be between 1 and d = {self.d}, or 0 for full, got {self.rank}"
        require(self.rank <= self.d, refusal)
        if self.parity:
            require(
                self.k == 2 and self.m % 2 == 1 and self.m < self.d,
                "parity needs k = 2 tokens and an odd m below d (the parity of an even number of "
                f"bits takes a head more), got k={self.k}, m={self.m}, d={self.d}",
            )

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw Theta_i and W_i, and apply each parameter in turn."""
        theta, w = self._theta(rng), self._w(rng)
        if self.parity:
            hidden = Parity(d=self.d, m=self.m)
            goal = hidden.layer(hidden.draw(rng))
            sign = rng.choice([-1.0, 1.0])  # so that the mean over all members stays zero
            theta = (1 - self.parity) * theta + self.parity * goal.theta
            w = (1 - self.parity) * w + self.parity * sign * goal.w
        return AttentionLayer(theta=theta, w=w)

    def _theta(self, rng: np.random.Generator) -> Array:
        heads = []
        for i, head in enumerate(self._correlated(rng, self.rank, self.coherence)):
            if self.column:
                head = _weighted_column(head, self.column)
            if self.trace:
                head = _traced(head, self.trace)
            place = i / (self.m - 1) - 0.5 if self.m > 1 else 0.0
            heads.append(self.scale * self.ratio**place * unit(head))
        return np.stack(heads)

    def _w(self, rng: np.random.Generator) -> Array:
        drawn = self._correlated(rng, 0, self.shared)
        heads = np.stack([math.sqrt(self.d) * unit(head) for head in drawn])
        step = 1 / math.sqrt(self.d)  # the root mean square of an entry
        return heads + self.lattice * (step * np.rint(heads / step) - heads)

    def _correlated(self, rng: np.random.Generator, rank: int, cosine: float) -> Iterator[Array]:
        """Draw m matrices of norm about 1, any two of which have the expected cosine `cosine`."""
        common = unit(random_matrix(rng, self.d, rank))
        for _ in range(self.m):
            private = unit(random_matrix(rng, self.d, rank))
            yield math.sqrt(cosine) * common + math.sqrt(1 - cosine) * private


@dataclass(frozen=True, kw_only=True)
class Hidden(Dense):
    """Layers of a parity on `hard` of d - 1 coordinates, and of `nice` random heads.

    scale: ||Theta_i||_F of the random heads. weight: their ||W_i||_F; a row of the parity has
    length 1. noise: standard deviation of the label noise. rho: e^(beta/2) of the parity's heads. A
    secret is the 256 bits of the random heads, then the hidden set. Raises UsageError out of range.

    >>> Hidden(d=8, hard=2, nice=1).instance(0).examples(0, 5).y.shape
    (5, 2, 8)
    """

    name: ClassVar[str] = "hidden"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "hidden:d=16,hard=4,nice=4"
    about: ClassVar[str] = "a hidden parity among random heads"
    label_text: ClassVar[str] = (
        "F(X) = sum_i softmax(X Theta_i X^T) X W_i over random heads, plus a label of the family "
        "parity, plus noise * N(0,1) in every entry; stored in float64"
    )
    beside_text: ClassVar[str] = "the random heads"
    k = 2
    tokens = "boolean"
    default_learners = ("student", "levenberg", "mlp", "staged", "linear")

    d: int
    hard: Annotated[int, Range(1, 128, about="the places of the hidden set")]
    nice: Annotated[
        int, Range(1, 64, about="the number of random heads (the family parity has none)")
    ]
    scale: Norm = 2.0
    weight: Annotated[float, Range(above=0, most=1000, about="the norm of W_i")] = 1.0
    noise: Fraction = Fraction(0)
    rho: Rho = Fraction(3)

    def check(self) -> None:
        """Refuse a hidden set that does not fit, and a rho that parities refuse."""
        require(
            self.hard <= self.d - 1,
            f"hard must be between 1 and {self.d - 1} for d = {self.d}, got {self.hard}",
        )
        _ = self.hidden_sets

    @cached_property
    def hidden_sets(self) -> Parity:
        """The hidden parities."""
        return Parity(d=self.d, m=self.hard, rho=self.rho)

    def problem(self) -> dict[str, Any]:
        """The problem of the hidden parities, observed among other heads."""
        return {**self.hidden_sets.problem(), "view": "among-others"}

    hardness = Hardness(
        evidence="exact",
        proved="orthogonal hidden parts: exact for statistical queries, even of a learner that "
        "knows all other heads; the risk is relative to the hidden part",
    )

    @property
    def layer_heads(self) -> int:
        """The number of heads of the parity plus the number of random heads."""
        return self.hidden_sets.layer_heads + self.nice

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw 256 bits for the random heads, then a hidden set."""
        return (*super().draw(rng), *self.hidden_sets.draw(rng))

    def same(self, first: Secret, second: Secret) -> bool:
        """Return whether both the random heads and the sets are the same."""
        return first[0] == second[0] and self.hidden_sets.same(first[1:], second[1:])

    def sign_correlations(self, members: tuple[Secret, ...]) -> Array:
        """1 where the hidden sets are the same, else 0."""
        sets = [tuple(sorted(secret[1:])) for secret in members]
        return np.array([[float(left == right) for right in sets] for left in sets])

    def layer_of(self, secret: Secret) -> AttentionLayer:
        """Join the heads of both parts, the random ones first."""
        hard, nice = self.hidden_sets.layer(secret[1:]), self.nice_part(secret)
        theta, w = np.concatenate([nice.theta, hard.theta]), np.concatenate([nice.w, hard.w])
        return AttentionLayer(theta=theta, w=w)

    def nice_part(self, secret: Secret) -> AttentionLayer:
        """Draw the random heads as the family nice does, and scale their W_i."""
        require(
            0 <= secret[0] < 1 << 256,
            "a secret of this family is one number of 256 bits, then a set of places",
        )
        return _random_heads(self, secret[0])

    def label(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Add the formula of the parity to the random heads."""
        return self.nice_part(secret)(x) + self.hidden_sets.label(secret[1:], x)

    def mean(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate F, the label without noise."""
        return self.label(secret, x)

    def known(self, x: NDArray[Any]) -> Array:
        """Evaluate the baseline of the parity; the random heads have mean zero."""
        return self.hidden_sets.known(x)

    def hidden_signs(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the parity on informative tokens, else 0: (n, 2, d) -> (n, 1)."""
        z = x[:, 0] * x[:, 1]
        self.hidden_sets.require_member(secret[1:])
        return np.asarray(z[:, list(secret[1:])].prod(axis=1, dtype=float) * (z[:, 0] < 0))[:, None]

    def beside(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the random heads, so that a risk measures the hidden part alone."""
        return self.nice_part(secret)(x)

    def reach(self, secret: Secret) -> float:
        """Bound a row of the parity by its two values."""
        return max(1.0, abs(float(self.hidden_sets.known_constant))) / math.sqrt(self.d)


LARGEST_LINEAR_D = 64
_LINEAR_D = f"at least 1 and at most {LARGEST_LINEAR_D}, where the cubic map has 2^24 coefficients"


@dataclass(frozen=True, kw_only=True)
class Linear(Dense):
    """Layers of m heads of linear attention on k tokens; raises UsageError out of range.

    Theta_i is a random matrix of Frobenius norm `scale`, W_i one of Frobenius norm sqrt(d). noise
    is the standard deviation of the label noise.

    >>> Linear(m=4, k=3, d=6).instance(0).examples(0, 5).y.shape
    (5, 3, 6)
    """

    name: ClassVar[str] = "linear"
    example: ClassVar[str] = "linear:m=4,k=3,d=6"
    about: ClassVar[str] = "attention without softmax: the easy control"
    label_text: ClassVar[str] = (
        "F(X) = sum_i (X Theta_i X^T) X W_i, plus noise * N(0,1) in every entry; stored in float64"
    )
    easy: ClassVar[str] = (
        "least squares on d^2 (d+1) / 2 cubic features learns it, whatever the number of heads "
        "[YAMTJA24]"
    )
    kind: ClassVar[Kind] = "linear"
    default_learners: ClassVar[tuple[str, ...]] = ("lifted", "linear")

    m: Annotated[int, Range(1, 1024, about="m, the heads,")]
    k: int
    d: Annotated[int, Range(1, LARGEST_LINEAR_D, words=_LINEAR_D)]
    scale: Norm = 1.0
    tokens: str = "gaussian"
    noise: Fraction = Fraction(0)

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw every Theta_i, then every W_i."""
        theta = [self.scale * unit(random_matrix(rng, self.d, 0)) for _ in range(self.m)]
        w = [math.sqrt(self.d) * unit(random_matrix(rng, self.d, 0)) for _ in range(self.m)]
        return AttentionLayer(theta=np.stack(theta), w=np.stack(w), kind="linear")


@lru_cache(maxsize=8)  # it is needed for each block of examples
def _random_heads(family: Hidden, number: int) -> AttentionLayer:
    heads = Nice(m=family.nice, k=2, d=family.d, scale=family.scale)
    layer = heads.build(generator(number, "weights", family.name))
    return AttentionLayer(theta=layer.theta, w=layer.w * (family.weight / math.sqrt(family.d)))


def random_matrix(rng: np.random.Generator, d: int, rank: int) -> Array:
    """Draw a (d, d) matrix with normal entries, or a product of two of the rank; 0 is full."""
    if not rank:
        return rng.standard_normal((d, d))
    return rng.standard_normal((d, rank)) @ rng.standard_normal((rank, d))


def unit(matrix: Array) -> Array:
    """Scale a matrix to Frobenius norm 1."""
    return np.asarray(matrix / np.linalg.norm(matrix))


def _weighted_column(matrix: Array, share: float) -> Array:
    """Scale a matrix to norm 1, with the share `share` of its square in the first column."""
    first, rest = matrix[:, :1], matrix[:, 1:]
    parts = [math.sqrt(share) * unit(first), math.sqrt(1 - share) * unit(rest)]
    return np.concatenate(parts, axis=1)


def _traced(matrix: Array, share: float) -> Array:
    """Replace the trace of a matrix of norm 1 so that |Tr| / (sqrt(d) norm) is the share."""
    d = len(matrix)
    without = matrix - np.eye(d) * (np.trace(matrix) / d)
    size = np.linalg.norm(without)
    kept = without / size if size else without
    return np.asarray(math.sqrt(1 - share**2) * kept + share * np.eye(d) / math.sqrt(d))
