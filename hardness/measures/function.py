"""Where the weight of a function lies, by degree, and what follows. [ODo14]

A function of m bits is given by its Walsh coefficients, of which a symmetric one has one for each
degree, or by the sets of coordinates at which they are not 0.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from instances.krawtchouk import krawtchouk
from instances.threshold import Rational


def weights(fourier: Sequence[Rational]) -> list[Rational]:
    """Compute the weight by degree, C(m,k) g^_k^2 for k = 0 .. m, from the coefficients g^_k.

    There are C(m,k) sets of k of the m coordinates. Above degree 0 they add up to the variance.

    >>> weights([fmpq(0), fmpq(1, 2), fmpq(0), fmpq(-1, 2)])
    [0, 3/4, 0, 1/4]
    """
    m = len(fourier) - 1
    return [math.comb(m, k) * value**2 for k, value in enumerate(fourier)]


def level_weights(values: Sequence[Hashable]) -> list[Rational]:
    """Weigh the level sets of g(0) .. g(m) by degree: L_k = C(m,k) sum_v 1^_v(k)^2, k = 0 .. m.

    1_v(z) = 1[g(h) = v], h the number of -1 among m signs z. E 1_v(z) 1_v(z') summed over v is
    Pr[g = g'], so everything that depends on where g differs follows from them; they add up to 1.
    Only equality of values matters. For two values L_k is half the weight of the values written as
    +-1, for k >= 1. [JMS24]

    >>> level_weights([1, -1, 1, -1]), level_weights([0, 1, 2])
    ([1/2, 0, 0, 1/2], [3/8, 1/4, 3/8])
    """
    m = len(values) - 1
    place = {v: i for i, v in enumerate(dict.fromkeys(values))}
    out = []
    for k, row in enumerate(krawtchouk(m)):
        sums = [0] * len(place)
        for value, count in zip(values, row, strict=True):
            sums[place[value]] += count
        out.append(fmpq(math.comb(m, k) * sum(s * s for s in sums), 4**m))
    return out


def shares(weight: Sequence[Rational]) -> list[Rational]:
    """Divide weights by the variance, with 0 on degree 0: they add up to 1.

    >>> shares([fmpq(9), fmpq(1), fmpq(3)])
    [0, 1/4, 3/4]
    """
    variance = sum(weight[1:], fmpq(0))
    return [fmpq(0), *(w / variance for w in weight[1:])]


def least_degree(weight: Sequence[Rational]) -> int:
    """Find the least k >= 1 with weight; 0 for a constant, which has none.

    Of a symmetric function it is the leap, and of the weights of its level sets the SQ-leap: the
    first set of an order has k coordinates or more, all new; after one of k each further one comes
    with a new one. docs/named-mathematics.md has the proof.

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

    Of the weights of level sets, twice that is how many flips change the function on average.

    >>> total_influence([fmpq(0), fmpq(3, 4), fmpq(0), fmpq(1, 4)])
    3/2
    >>> 2 * total_influence(level_weights([1, -1, 1, -1]))
    3
    """
    return sum((k * w for k, w in enumerate(weight)), fmpq(0))


def stability(weight: Sequence[Rational], rho: Rational) -> Rational:
    """Compute sum_k rho^k W_k = E g(z) g(z'), E z_j z'_j = rho for each bit on its own.

    Of the weights of level sets it is Pr[g(z) = g(z')].

    >>> stability([fmpq(0), fmpq(0), fmpq(1)], fmpq(1, 3))
    1/9
    >>> 1 - stability(level_weights([0, 1, 2]), fmpq(4, 5))
    37/200
    """
    out = fmpq(0)
    for w in reversed(weight):
        out = out * rho + w
    return out


def leap(masks: NDArray[np.int64]) -> int:
    """Compute the leap of sets: least over their orders of the most new coordinates of a set.

    masks: the sets, as bits. A set's new coordinates are those in no set before it. For the sets of
    the Walsh coefficients that are not 0 it is the leap complexity of a function [ABM23]. Always
    taking a set with the fewest new ones is an order that attains it.

    >>> leap(np.array([0b1, 0b11, 0b111])), leap(np.array([0, 0b1, 0b111])), leap(np.array([0b111]))
    (1, 2, 3)
    """
    seen = worst = 0
    left = masks[masks != 0]
    while len(left):
        fresh = np.bitwise_count(left & ~seen)
        nearest = int(fresh.argmin())
        worst = max(worst, int(fresh[nearest]))
        seen |= int(left[nearest])
        left = left[left & ~seen != 0]
    return worst
