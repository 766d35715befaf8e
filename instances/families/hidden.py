"""A hidden parity among random heads: F = F_nice + F_hard on two boolean tokens.

F_hard is a layer of the family parity, F_nice one whose random heads are drawn as those of the
family nice. No bound on statistical queries changes: a query about F_hard with another function of
the point added asks the same of F_hard alone. So a risk, certified or of a run, is relative to the
hidden part: 1 is that of knowing all random heads and nothing of the hidden set.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense, Norm
from instances.families.nice import Nice
from instances.families.parity import Parity
from instances.family import Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.ranges import Range
from instances.streams import generator
from instances.symmetric import Rho

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Hidden(Dense):
    """Layers of a parity on `hard` of d - 1 coordinates and of `nice` random heads.

    scale: ||Theta_i||_F of the random heads; weight: their ||W_i||_F, where a row of the parity has
    length 1. noise: standard deviation of the label noise; rho: e^(beta/2) of the parity's heads. A
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
            f"hard={self.hard} given with d={self.d}: the places of the hidden set must be "
            f"between 1 and d - 1 = {self.d - 1}",
        )
        _ = self.hidden_sets

    @cached_property
    def hidden_sets(self) -> Parity:
        """The hidden parities."""
        return Parity(d=self.d, m=self.hard, rho=self.rho)

    def problem(self) -> dict[str, Any]:
        """That of the hidden parities, which are seen among other heads."""
        return {**self.hidden_sets.problem(), "view": "among-others"}

    hardness = Hardness(
        evidence="exact",
        proved="orthogonal hidden parts: exact for statistical queries, even of a learner that "
        "knows all other heads; the risk is relative to the hidden part",
    )

    @property
    def layer_heads(self) -> int:
        """Those of the parity, and the random ones."""
        return self.hidden_sets.layer_heads + self.nice

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw 256 bits, and a set."""
        return (*super().draw(rng), *self.hidden_sets.draw(rng))

    def same(self, one: Secret, other: Secret) -> bool:
        """Return whether both the random heads and the sets are the same."""
        return one[0] == other[0] and self.hidden_sets.same(one[1:], other[1:])

    def sign_correlations(self, members: tuple[Secret, ...]) -> Array:
        """1 where the hidden sets are the same, else 0."""
        sets = [tuple(sorted(secret[1:])) for secret in members]
        return np.array([[float(one == other) for other in sets] for one in sets])

    def made(self, secret: Secret) -> AttentionLayer:
        """Put the heads of both parts together, the random ones first."""
        hard, nice = self.hidden_sets.layer(secret[1:]), self.nice_part(secret)
        theta, w = np.concatenate([nice.theta, hard.theta]), np.concatenate([nice.w, hard.w])
        return AttentionLayer(theta=theta, w=w)

    def nice_part(self, secret: Secret) -> AttentionLayer:
        """Draw the random heads as the family nice does, and scale their W_i."""
        require(
            0 <= secret[0] < 1 << 256,
            "a secret of this family is one number of 256 bits, then a set of places",
        )
        return _drawn(self, secret[0])

    def label(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Add the formula of the parity to the random heads."""
        return self.nice_part(secret)(x) + self.hidden_sets.label(secret[1:], x)

    def mean(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate F, the label without noise."""
        return self.label(secret, x)

    def known(self, x: NDArray[Any]) -> Array:
        """Evaluate what is known of the parity; random heads are as likely as their negatives."""
        return self.hidden_sets.known(x)

    def hidden_signs(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the parity where an example shows it, else 0: (n, 2, d) -> (n, 1)."""
        z = x[:, 0] * x[:, 1]
        self.hidden_sets.require_member(secret[1:])
        return np.asarray(z[:, list(secret[1:])].prod(axis=1, dtype=float) * (z[:, 0] < 0))[:, None]

    def beside(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the random heads: a risk is that of the hidden part."""
        return self.nice_part(secret)(x)

    def reach(self, secret: Secret) -> float:
        """Bound a row of the parity by its two values."""
        return max(1.0, abs(float(self.hidden_sets.known_constant))) / math.sqrt(self.d)


@lru_cache(maxsize=8)  # asked for a block of examples at a time
def _drawn(family: Hidden, number: int) -> AttentionLayer:
    heads = Nice(m=family.nice, k=2, d=family.d, scale=family.scale)
    layer = heads.build(generator(number, "weights", family.name))
    return AttentionLayer(theta=layer.theta, w=layer.w * (family.weight / math.sqrt(family.d)))
