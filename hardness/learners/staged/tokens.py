"""Before the stages: tokens brought to second moment one.

With x = z A, A invertible, a layer of Theta, W on x is that of A Theta A^T, A W on z, with the same
labels: so the stages work on z, and the heads are mapped back. A shift is no equivalence: with
x = z + mu logits get a part mu Theta z_b^T that no Theta gives. The stages after the first never
use that tokens have mean zero; what a large mean does is saturate the attention. The theorem is for
standard tokens.
"""

from dataclasses import dataclass

import numpy as np

from hardness.learners.attention import Array
from hardness.learners.fitting import repeated
from instances.layer import AttentionLayer

_EVEN = 4.0  # a ratio of eigenvalues that the stages do not mind
_RANK = 1e-12  # of the largest eigenvalue: below it is rounding
_STANDARD_MEAN, _STANDARD_REPEATS = 0.05, 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """The map x = z A, A symmetric, by its inverse; None if tokens are left as they are.

    measures: condition, of the second moment of the tokens on what they span; mean, the share of
    |E x|^2 in E|x|^2, over the tokens of an example; repeats, the share of the examples that stood
    before; unseen, the dimensions that they do not span; whitened, whether there is a map.

    >>> x = np.random.default_rng(0).normal(size=(500, 2, 2)) * [1.0, 10.0]
    >>> whitening = Whitening.fit(x)
    >>> flat = whitening.tokens(x).reshape(-1, 2)
    >>> bool(np.allclose(flat.T @ flat / 1000, np.eye(2))), whitening.measures["unseen"]
    (True, 0)
    """

    inverse: Array | None
    measures: dict[str, float]

    @staticmethod
    def fit(x: Array) -> "Whitening":
        """Choose the map for tokens like x (n, k, d): none if their moment is even enough."""
        n, k, d = x.shape
        flat = x.reshape(-1, d)
        values, vectors = np.linalg.eigh(flat.T @ flat / (n * k))
        size = float(values[-1]) or 1.0
        there = values > _RANK * size
        condition = size / float(values[there][0]) if there.any() else 1.0
        # A sample's moment is uneven by itself, by about this much.
        chance = np.sqrt(d / (n * k))
        least = _EVEN * ((1 + chance) / (1 - chance)) ** 2 if chance < 1 else np.inf
        roots = np.sqrt(np.where(there, values, 1.0))
        inverse = (vectors / roots) @ vectors.T if condition > least else None
        square = float(np.mean((flat**2).sum(axis=1))) or 1.0
        measures = {
            "condition": condition,
            "mean": float(np.mean((x.mean(axis=0) ** 2).sum(axis=1))) / square,
            "repeats": float(repeated(x).mean()),
            "unseen": d - int(there.sum()),
            "whitened": inverse is not None,
        }
        return Whitening(inverse=inverse, measures=measures)

    @property
    def standard(self) -> bool:
        """Whether there is nothing to say of the tokens."""
        even = self.inverse is None and not self.measures["unseen"]
        few = self.measures["repeats"] < _STANDARD_REPEATS
        return even and self.measures["mean"] < _STANDARD_MEAN and few

    def tokens(self, x: Array) -> Array:
        """Map tokens (n, k, d): x -> z."""
        return x if self.inverse is None else x @ self.inverse

    def back(self, layer: AttentionLayer) -> AttentionLayer:
        """Map a layer on z to the one on x."""
        if self.inverse is None:
            return layer
        theta = self.inverse @ layer.theta @ self.inverse
        return AttentionLayer(theta=theta, w=self.inverse @ layer.w)
