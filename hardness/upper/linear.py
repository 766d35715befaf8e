"""Linear regression: attention that does not look, Y_l ~ X_l A + (sum_j X_j) B.

The features are those of a layer with Theta = 0 (all tokens alike) and of one that attends to
itself alone. What it leaves unexplained is owed to the softmax.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, View
from instances.family import Family, require
from instances.limits import require_memory

_AT_ONCE = 1 << 18  # numbers in the tokens of a batch


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Least squares on 2d features of each token, from `oversample` tokens a feature."""

    name: ClassVar[str] = "linear"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "least squares on each token and the sum of all tokens"

    oversample: int = 32

    def __post_init__(self) -> None:
        require(self.oversample >= 1, f"oversample={self.oversample} given: at least 1 is needed")

    def supports(self, family: Family) -> str | None:
        """Any family of attention layers."""
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Add up the normal equations batch by batch, and solve them once."""
        family = oracle.family
        d, k = family.d, family.k
        require_memory(8 * 12 * d * d, f"a linear regression at d={d}")
        gram, right = np.zeros((2 * d, 2 * d)), np.zeros((2 * d, d))
        wanted, used, outcome = -(-2 * d * self.oversample // k), 0, None
        while used < wanted:
            try:
                batch = oracle.draw(min(wanted - used, max(1, _AT_ONCE // (k * d))))
            except Spent as spent:
                outcome = SPENT[spent.resource]
                break
            rows = features(batch.x).reshape(-1, 2 * d)
            gram += rows.T @ rows
            right += rows.T @ batch.y.reshape(-1, d)
            used += len(batch)
        # The solution of least norm where tokens are too few to tell.
        solution, _, rank, _ = np.linalg.lstsq(gram, right, rcond=None)
        return Hypothesis(
            predict=lambda x: features(x) @ solution,
            outcome=outcome,
            details={"features": 2 * d, "rank": int(rank)},
        )


def features(x: NDArray[Any]) -> NDArray[np.float64]:
    """Put the sum of all tokens beside each token: (n, k, d) -> (n, k, 2d).

    >>> features(np.array([[[1], [2]]])).tolist()
    [[[1.0, 3.0], [2.0, 3.0]]]
    """
    total = np.broadcast_to(x.sum(axis=1, keepdims=True), x.shape)
    return np.concatenate([x, total], axis=2, dtype=np.float64)
