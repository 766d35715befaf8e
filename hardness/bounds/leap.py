"""Where the weight of a function lies, by degree, and its leaps. [ODo14]

A function of m bits is given by its Walsh coefficients, of which a symmetric one has one for each
degree, or by the sets of coordinates at which they are not 0.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.numerics.walsh import walsh_hadamard
from instances.family import Family, Secret
from instances.sets import Symmetric
from instances.symmetric import Rational, krawtchouk

_MOST_BITS, _MOST_SUM = 20, 1 << 53  # of a table over z; sums below it are exact in float64


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


def least_degree(weight: Sequence[Rational]) -> int:
    """Find the least k >= 1 with weight; 0 for a constant, which has none.

    Of a symmetric function it is the leap, and of the weights of its level sets the SQ-leap: the
    first set of an order has k coordinates or more, all new; after one of k each further one comes
    with a new one. docs/named-mathematics.md has the proof.

    >>> least_degree([fmpq(1), fmpq(0), fmpq(1, 2)])
    2
    """
    return next((k for k, w in enumerate(weight) if k and w), 0)


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


class Leaps(NamedTuple):
    """Three exponents of the labels' unknown factor, on open tokens and without label noise.

    information_exponent: the least k >= 1 with a Walsh coefficient that is not 0 [AGJ21]. leap: of
    the sets of these coefficients, what correlational queries see [ABM23]. sq_leap: of the sets
    that some function of the label shows, what statistical queries see [JMS24].
    """

    information_exponent: int
    leap: int
    sq_leap: int


def leaps(family: Family, secret: Secret | None = None) -> Leaps | None:
    """Compute the leaps exactly: in closed form for hidden sets, else from a member's table over z.

    None for a family without such a function, for a table of more than 2^20 entries, and for a
    member whose secret is not known.

    >>> from instances import parse
    >>> leaps(parse("parity:d=1000,m=21"))
    Leaps(information_exponent=21, leap=21, sq_leap=21)
    """
    if isinstance(family, Symmetric):
        exponent = least_degree(weights(family.fourier))
        return Leaps(exponent, exponent, least_degree(level_weights(family.values)))
    coded = family.factor
    if coded is None or secret is None or coded.d - 1 > _MOST_BITS:
        return None
    unit = math.lcm(*(v.denominator for v in coded.levels))  # makes levels whole numbers
    whole = [int(v * unit) for v in coded.levels]
    if max(map(abs, whole)) << coded.d - 1 >= _MOST_SUM:
        return None
    codes = coded.table_codes(secret)
    seen = _sets(np.array(whole, np.float64)[codes])
    every = [_sets((codes == code).astype(np.float64)) for code in np.unique(codes)]
    shown = np.unique(np.concatenate(every))
    return Leaps(min(map(int.bit_count, seen.tolist()), default=0), leap(seen), leap(shown))


def _sets(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """The sets, not empty, at which the Walsh coefficients of a table of integers are not 0."""
    walsh_hadamard(table)
    sets = np.flatnonzero(table)
    return sets[sets != 0]
