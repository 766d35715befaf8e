"""The level sets of a symmetric function: what a query may see of it beyond its mean."""

import math
from collections.abc import Hashable, Sequence

from flint import fmpq

from hardness.measures.weights import least_degree
from instances.krawtchouk import krawtchouk
from instances.threshold import Rational


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
    levels = [place[v] for v in values]
    out = []
    for k, row in enumerate(krawtchouk(m)):
        sums = [0] * len(place)
        for level, count in zip(levels, row, strict=True):
            sums[level] += count
        squares = sum(s * s for s in sums)
        out.append(fmpq(math.comb(m, k) * squares, 4**m))
    return out


def sq_leap(values: Sequence[Hashable]) -> int:
    """Find the least k >= 1 such that some level set of g has weight on degree k.

    It is the leap of the sets that some function of the label correlates with: general statistical
    queries see these, correlational ones those of the leap. 0 for a constant g. The
    proof is in docs/named-mathematics.md. [JMS24]

    >>> sq_leap([1, -1, 1, -1]), sq_leap([2, 0, 1, 0, 2]), sq_leap([0, 1, 5])
    (3, 2, 1)
    """
    return least_degree(level_weights(values))
