"""Where the weight of a symmetric function lies, by degree, and what follows from that. [ODo14]"""

import math
from collections.abc import Sequence

from flint import fmpq

from instances.threshold import Rational


def weights(fourier: Sequence[Rational]) -> list[Rational]:
    """Compute the weight by degree, C(m,k) g^_k^2 for k = 0 .. m, from the coefficients g^_k.

    There are C(m,k) sets of k of the m coordinates. Above degree 0 they add up to the variance.

    >>> weights([fmpq(0), fmpq(1, 2), fmpq(0), fmpq(-1, 2)])
    [0, 3/4, 0, 1/4]
    """
    m = len(fourier) - 1
    return [math.comb(m, k) * value**2 for k, value in enumerate(fourier)]


def shares(weight: Sequence[Rational]) -> list[Rational]:
    """Divide weights by the variance, with 0 on degree 0: they add up to 1.

    >>> shares([fmpq(9), fmpq(1), fmpq(3)])
    [0, 1/4, 3/4]
    """
    variance = sum(weight[1:], fmpq(0))
    return [fmpq(0), *(w / variance for w in weight[1:])]


def least_degree(weight: Sequence[Rational]) -> int:
    """Find the least k >= 1 with weight; 0 for a constant, which has none.

    >>> least_degree([fmpq(1), fmpq(0), fmpq(1, 2)])
    2
    """
    return next((k for k, w in enumerate(weight) if k and w), 0)


def degree(weight: Sequence[Rational]) -> int:
    """Find the largest k with weight; 0 for a constant.

    >>> degree([fmpq(1), fmpq(3), fmpq(0)])
    1
    """
    return max((k for k, w in enumerate(weight) if w), default=0)


def total_influence(weight: Sequence[Rational]) -> Rational:
    """Compute sum_k k W_k, over all coordinates the sum of E Var g(z) when one is drawn again.

    For the values +-1 it is the average sensitivity. All m coordinates have the same influence.

    >>> total_influence([fmpq(0), fmpq(3, 4), fmpq(0), fmpq(1, 4)])
    3/2
    """
    return sum((k * w for k, w in enumerate(weight)), fmpq(0))


def stability(weight: Sequence[Rational], rho: Rational) -> Rational:
    """Compute sum_k rho^k W_k = E g(z) g(z'), E z_j z'_j = rho for each bit on its own.

    >>> stability([fmpq(0), fmpq(0), fmpq(1)], fmpq(1, 3))
    1/9
    """
    out = fmpq(0)
    for w in reversed(weight):
        out = out * rho + w
    return out
