"""Any function of an integer as threshold heads: saturated steps, or the exact Cauchy solve.

A head at t contributes a tanh(beta (t - c)). Over a range low .. high of t, one head for each place
where the function changes does, if beta is so large that tanh is +-1 at distance 1/2; or a head for
each pair of neighbours does for every beta, by a Cauchy system, exactly over the reals.
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from instances.layer import AttentionLayer
from instances.threshold import solve

Array = NDArray[np.float64]
_BITS, _CLOSE = 128, 2.0**-60  # of balls, at first, and of their radius at last


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """Heads a_i tanh(beta (t - c_i)) and a constant, together a function of t."""

    centre: Array  # c_i, (K,), half-integers
    a: Array  # (K,)
    constant: float
    beta: float

    def __call__(self, t: NDArray[np.int64]) -> Array:
        """Evaluate at integers (n,)."""
        return np.tanh(self.beta * (t[:, None] - self.centre[None, :])) @ self.a + self.constant


def saturated(values: Array, low: int, beta: float) -> Steps:
    """Put a head where neighbours differ: values at t = low, low + 1, ...; error 1 - tanh(beta/2).

    The error is that of a jump of 2, for each of the jumps next to t.

    >>> saturated(np.array([1.0, 1.0, -1.0]), low=-1, beta=40.0)(np.array([-1, 0, 1])).tolist()
    [1.0, 1.0, -1.0]
    """
    jumps = np.flatnonzero(values[1:] != values[:-1])
    return Steps(
        centre=(low + 0.5 + jumps).astype(np.float64),
        a=(values[jumps + 1] - values[jumps]) / 2,
        constant=float(values[0] + values[-1]) / 2,
        beta=beta,
    )


def exact(values: Array, low: int, beta: float) -> Steps:
    """Put a head between every two neighbours, solved for: values at t = low, low + 1, ...

    >>> exact(np.array([1.0, -1.0, 1.0]), low=0, beta=1.0)(np.arange(3)).round(12).tolist()
    [1.0, -1.0, 1.0]
    """
    steps, bits = len(values) - 1, _BITS
    while True:
        with ctx.workprec(bits):
            # logarithms around 0
            x = [(arb(beta) * (2 * i - steps)).exp() for i in range(steps + 1)]
            u = [v * arb(beta).exp() for v in x[:-1]]
            a, c0 = solve([arb(float(v)) for v in values], x, u)
            if all(v.rad() < _CLOSE for v in (*a, c0)):
                break
        bits *= 2
    return Steps(
        centre=(low + 0.5 + np.arange(steps)).astype(np.float64),
        a=np.array([float(v.mid()) for v in a]),
        constant=-float(c0.mid()),
        beta=beta,
    )


def attach(found: Steps, weights: NDArray[np.int64], heads: int) -> AttentionLayer:
    """Build the layer of `heads` heads, Theta_i = diag(theta_i), W_i = a_i e_0 e_0^T.

    weights: (d - 1,), what the bits add to t. A head for each step, one for the constant, one
    without logits that makes A, the sum of all a_i, zero: the sum over the others tells secrets
    apart. The rest are zeros.

    >>> layer = attach(saturated(np.array([1.0, -1.0]), 0, 40.0), np.array([1]), heads=4)
    >>> layer(np.array([[[1, 1], [-1, 1]], [[1, 1], [-1, -1]]]))[:, 0, 0].tolist()
    [1.0, -1.0]
    """
    d = len(weights) + 1
    theta = np.zeros((heads, d, d))
    w = np.zeros_like(theta)
    inner, constant = np.arange(1, d), len(found.a)
    theta[:constant, inner, inner] = found.beta * weights
    theta[:constant, 0, 0] = -found.beta * found.centre
    w[:constant, 0, 0] = found.a
    theta[constant, 0, 0] = found.beta / 2
    w[constant, 0, 0] = found.constant / math.tanh(found.beta / 2)
    w[constant + 1, 0, 0] = -w[:, 0, 0].sum()
    return AttentionLayer(theta=theta, w=w)
