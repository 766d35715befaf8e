"""Random layers that the theorem about learning calls non-degenerate, with dials away from that.

Theta_i is a random matrix of Frobenius norm `scale`, W_i one of Frobenius norm sqrt(d), all
independent. Each dial moves one of the conditions of the theorem; `hardness inspect` measures what
became of all of them. [CL24]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense, Norm
from instances.families.parity import Parity
from instances.family import require
from instances.layer import AttentionLayer
from instances.parameters import later
from instances.ranges import Range

Array = NDArray[np.float64]
Dial = Annotated[float, Range(0, 1)]


@dataclass(frozen=True, kw_only=True)
class Nice(Dense):
    """Layers of m random heads on k tokens of dimension d; raises UsageError out of range.

    coherence: the part of every Theta_i that is common to all, as the cosine of two of them.
    rank: of every Theta_i, 0 for full. trace: |Tr Theta_i| over its largest value, sqrt(d)
    ||Theta_i||. column: the share of ||Theta_i||^2 in its first column, 0 to leave it as drawn.
    ratio: of the largest to the smallest ||Theta_i||. shared: the cosine of two W_i. parity: how
    far the layer has gone on the line to one that computes plus or minus the parity of m hidden
    bits. lattice: how far the entries of W_i have gone to whole multiples of one number, so that
    sums of heads coincide.

    >>> Nice(m=2, k=2, d=16).instance(0).examples(0, 5).y.shape
    (5, 2, 16)
    """

    name: ClassVar[str] = "nice"
    example: ClassVar[str] = "nice:m=2,k=2,d=16"
    former: ClassVar[tuple[str, ...]] = ("signs=plus", "wrank=0")
    about: ClassVar[str] = "random layers, with dials towards degenerate ones"
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
        refusal = f"rank={self.rank} given: between 1 and d = {self.d}, or 0 for full"
        require(self.rank <= self.d, refusal)
        if self.parity:
            require(
                self.k == 2 and self.m % 2 == 1 and self.m < self.d,
                f"parity={self.parity} given with k={self.k}, m={self.m}, d={self.d}: the way to a "
                "parity needs k = 2 tokens and an odd m below d (the parity of an even number of "
                "bits takes a head more)",
            )

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw Theta_i and W_i, dial by dial."""
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
        for i, head in enumerate(self._alike(rng, self.rank, self.coherence)):
            if self.column:
                head = _weighted_column(head, self.column)
            if self.trace:
                head = _traced(head, self.trace)
            place = i / (self.m - 1) - 0.5 if self.m > 1 else 0.0
            heads.append(self.scale * self.ratio**place * unit(head))
        return np.stack(heads)

    def _w(self, rng: np.random.Generator) -> Array:
        drawn = self._alike(rng, 0, self.shared)
        heads = np.stack([math.sqrt(self.d) * unit(head) for head in drawn])
        step = 1 / math.sqrt(self.d)  # the root mean square of an entry
        return heads + self.lattice * (step * np.rint(heads / step) - heads)

    def _alike(self, rng: np.random.Generator, rank: int, cosine: float) -> Iterator[Array]:
        """Draw m matrices of which two have a cosine."""
        common = unit(random_matrix(rng, self.d, rank))
        for _ in range(self.m):
            own = unit(random_matrix(rng, self.d, rank))
            yield math.sqrt(cosine) * common + math.sqrt(1 - cosine) * own


def random_matrix(rng: np.random.Generator, d: int, rank: int) -> Array:
    """Draw a (d, d) matrix of normal entries, or a product of two of a rank; 0 is full rank."""
    if not rank:
        return rng.standard_normal((d, d))
    return rng.standard_normal((d, rank)) @ rng.standard_normal((rank, d))


def unit(matrix: Array) -> Array:
    """Scale a matrix to Frobenius norm 1."""
    return np.asarray(matrix / np.linalg.norm(matrix))


def _weighted_column(matrix: Array, share: float) -> Array:
    """Scale the first column and the others so that it has a share of the squared norm."""
    out = unit(matrix) * np.linalg.norm(matrix)
    first, rest = out[:, :1], out[:, 1:]
    size = np.linalg.norm(out)
    grown = first * (math.sqrt(share) * size / np.linalg.norm(first))
    left = np.linalg.norm(rest)
    shrunk = rest * (math.sqrt(1 - share) * size / left) if left else rest
    return np.concatenate([grown, shrunk], axis=1)


def _traced(matrix: Array, share: float) -> Array:
    """Replace the trace of a matrix of norm 1 so that |Tr| / (sqrt(d) norm) is the share."""
    d = len(matrix)
    without = matrix - np.eye(d) * (np.trace(matrix) / d)
    size = np.linalg.norm(without)
    kept = without / size if size else without
    return np.asarray(math.sqrt(1 - share**2) * kept + share * np.eye(d) / math.sqrt(d))
