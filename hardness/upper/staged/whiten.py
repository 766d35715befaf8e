"""Tokens of any second moment brought to the identity, by an equivalence of layers.

With x = z A, A invertible, a layer of Theta, W on x is that of A Theta A^T, A W on z, with the same
labels: so the stages work on z, and what they find is mapped back. A shift is no equivalence: with
x = z + mu logits get a part mu Theta z_b^T that no Theta gives. The stages after the first never
use that tokens have mean zero; what a large mean does is saturate the attention.
"""

from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.data import Array, repeated
from instances.layer import AttentionLayer

EVEN = 4.0  # a ratio of eigenvalues that the stages do not mind
RANK = 1e-12  # of the largest eigenvalue: below it is rounding
_STANDARD_MEAN, _STANDARD_REPEATS = 0.05, 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """The map x = z A with A = root, symmetric; None where tokens are left as they are.

    condition: of the second moment of the tokens, on what they span; unseen: dimensions that they
    do not span. mean: share of |E x|^2 in E|x|^2, over the tokens of an example. repeats: share of
    the examples that stood before.

    >>> x = np.random.default_rng(0).normal(size=(500, 2, 2)) * [1.0, 10.0]
    >>> found = Whitening.of(x)
    >>> flat = found.tokens(x).reshape(-1, 2)
    >>> bool(np.allclose(flat.T @ flat / 1000, np.eye(2))), found.unseen
    (True, 0)
    """

    root: Array | None
    inverse: Array | None
    condition: float
    unseen: int
    mean: float
    repeats: float

    @staticmethod
    def of(x: Array) -> "Whitening":
        """Choose the map for tokens like x (n, k, d): none where their moment is even enough."""
        n, k, d = x.shape
        flat = x.reshape(-1, d)
        values, vectors = np.linalg.eigh(flat.T @ flat / (n * k))
        size = float(values[-1]) or 1.0
        there = values > RANK * size
        condition = size / float(values[there][0]) if there.any() else 1.0
        # A sample's moment is uneven by itself, by about this much.
        chance = np.sqrt(d / (n * k))
        least = EVEN * ((1 + chance) / (1 - chance)) ** 2 if chance < 1 else np.inf
        root = inverse = None
        if condition > least:
            roots = np.sqrt(np.where(there, values, 1.0))
            root, inverse = (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T
        square = float(np.mean((flat**2).sum(axis=1))) or 1.0
        return Whitening(
            root=root,
            inverse=inverse,
            condition=condition,
            unseen=d - int(there.sum()),
            mean=float(np.mean((x.mean(axis=0) ** 2).sum(axis=1))) / square,
            repeats=float(repeated(x).mean()),
        )

    @property
    def standard(self) -> bool:
        """Whether there is nothing to say of the tokens."""
        even = self.root is None and not self.unseen
        return even and self.mean < _STANDARD_MEAN and self.repeats < _STANDARD_REPEATS

    @property
    def measures(self) -> dict[str, float]:
        """What the tokens are like, for the report of the stages."""
        return {
            "condition": self.condition,
            "mean": self.mean,
            "repeats": self.repeats,
            "unseen": self.unseen,
            "whitened": self.root is not None,
        }

    def tokens(self, x: Array) -> Array:
        """Map tokens (n, k, d): x -> z."""
        return x if self.inverse is None else x @ self.inverse

    def back(self, layer: AttentionLayer) -> AttentionLayer:
        """Map a layer on z to the one on x."""
        if self.inverse is None:
            return layer
        theta = self.inverse @ layer.theta @ self.inverse
        return AttentionLayer(theta=theta, w=self.inverse @ layer.w)
