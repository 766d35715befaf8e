"""A layer of random heads that stay as they are: only their output matrices are learned. [FGBM23]

hardness learn frozen.py:frozen:heads=100 nice:m=2,k=2,d=8 --budget-examples 10000
"""

import numpy as np

from hardness.upper.plugins import Function

SCALE = 2.0  # deviation of the logits of independent tokens
RIDGE = 1e-6  # of the mean square of a feature


def frozen(heads=100):
    """Fits W_i to the sum of softmax(X Theta_i X^T) X W_i by least squares, the Theta_i random."""

    def learn(x, y, rng):
        d = x.shape[2]
        thetas = rng.normal(size=(heads, d, d)) * SCALE / d

        def features(x):
            logits = np.einsum("cki,hij,clj->hckl", x, thetas, x, optimize=True)
            weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
            mixed = weights / weights.sum(axis=-1, keepdims=True) @ x
            return np.moveaxis(mixed, 0, 2).reshape(len(x), x.shape[1], heads * d)

        seen = features(x).reshape(-1, heads * d)
        gram = seen.T @ seen
        gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
        w = np.linalg.solve(gram, seen.T @ y.reshape(-1, d))
        return lambda new: features(new) @ w

    return Function(learn, view="tokens", examples=10_000)
