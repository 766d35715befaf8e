"""Any function of an integer as threshold heads, each a step where the function changes.

A head at t contributes a tanh(beta (t - c)), c a half-integer; beta is so large that tanh is +-1 in
float64 at distance 1/2.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.layer import AttentionLayer

Array = NDArray[np.float64]
BETA = 40.0  # tanh(BETA/2) is 1 in float64


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """Heads a_i tanh(beta (t - c_i)) and a constant, together a function of t."""

    centre: Array  # c_i, (K,), half-integers
    a: Array  # (K,)
    constant: float

    def __call__(self, t: NDArray[np.int64]) -> Array:
        """Evaluate at integers (n,)."""
        return np.tanh(BETA * (t[:, None] - self.centre[None, :])) @ self.a + self.constant


def solved(values: Array, low: int) -> Steps:
    """Put a head where neighbours differ: values at t = low, low + 1, ...

    >>> solved(np.array([1.0, 1.0, -1.0]), low=-1)(np.array([-1, 0, 1])).tolist()
    [1.0, 1.0, -1.0]
    """
    jumps = np.flatnonzero(values[1:] != values[:-1])
    return Steps(
        centre=(low + 0.5 + jumps).astype(np.float64),
        a=(values[jumps + 1] - values[jumps]) / 2,
        constant=float(values[0] + values[-1]) / 2,
    )


def attach(found: Steps, weights: NDArray[np.int64], heads: int) -> AttentionLayer:
    """Build the layer of `heads` heads, Theta_i = diag(theta_i), W_i = a_i e_0 e_0^T.

    weights: (d - 1,), what the bits add to t. A head for each step, one for the constant, one
    without logits that makes A, the sum of all a_i, zero: the sum over the others tells secrets
    apart. The rest are zeros.

    >>> layer = attach(solved(np.array([1.0, -1.0]), 0), np.array([1]), heads=4)
    >>> layer(np.array([[[1, 1], [-1, 1]], [[1, 1], [-1, -1]]]))[:, 0, 0].tolist()
    [1.0, -1.0]
    """
    d = len(weights) + 1
    theta = np.zeros((heads, d, d))
    w = np.zeros_like(theta)
    inner, constant = np.arange(1, d), len(found.a)
    theta[:constant, inner, inner] = BETA * weights
    theta[:constant, 0, 0] = -BETA * found.centre
    w[:constant, 0, 0] = found.a
    theta[constant, 0, 0] = BETA / 2
    w[constant, 0, 0] = found.constant / math.tanh(BETA / 2)
    w[constant + 1, 0, 0] = -w[:, 0, 0].sum()
    return AttentionLayer(theta=theta, w=w)
