"""The Walsh weight of functions by degree, and their leaps. [ODo14]

A function of m bits is given by its Walsh coefficients, or by the sets of coordinates at which they
are not 0. A symmetric function has one coefficient for each degree.
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

_MOST_BITS, _MOST_SUM = 20, 1 << 53  # bits of a table over z; limit of exact float64 sums


def weights(fourier: Sequence[Rational]) -> list[Rational]:
    """Compute the weight by degree, C(m,k) g^_k^2 for k = 0 .. m, from the coefficients g^_k.

    There are C(m,k) sets of k coordinates. The weights above degree 0 add up to the variance.

    >>> weights([fmpq(0), fmpq(1, 2), fmpq(0), fmpq(-1, 2)])
    [0, 3/4, 0, 1/4]
    """
    m = len(fourier) - 1
    return [math.comb(m, k) * value**2 for k, value in enumerate(fourier)]


def level_weights(values: Sequence[Hashable]) -> list[Rational]:
    """Compute the weight of level sets by degree: L_k = C(m,k) sum_v 1^_v(k)^2, k = 0 .. m.

    1_v(z) = 1[g(h) = v], with h the number of -1 among m signs z. The sum of E 1_v(z) 1_v(z') over
    v is Pr[g = g'], so the L_k determine all that depends on where g differs; they add up to 1.
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
    """Find the least k >= 1 with nonzero weight; 0 for a constant, which has none.

    For a symmetric function it is the leap, and for the weights of its level sets the SQ-leap. The
    first set of any order has at least k coordinates, all new. After a first set of k coordinates,
    each further set can add a single new one. docs/named-mathematics.md has the proof.

    >>> least_degree([fmpq(1), fmpq(0), fmpq(1, 2)])
    2
    """
    return next((k for k, w in enumerate(weight) if k and w), 0)


def leap(masks: NDArray[np.int64]) -> int:
    """Compute the leap of sets: the minimum over orders of the largest number of new coordinates.

    masks: the sets, as bits. A coordinate of a set is new if no earlier set has it. For the sets of
    the nonzero Walsh coefficients it is the leap complexity of a function [ABM23]. The order that
    always takes a set with the fewest new coordinates attains it.

    >>> leap(np.array([0b1, 0b11, 0b111])), leap(np.array([0, 0b1, 0b111])), leap(np.array([0b111]))
    (1, 2, 3)
    """
    covered = worst = 0
    remaining = masks[masks != 0]
    while len(remaining):
        fresh = np.bitwise_count(remaining & ~covered)
        nearest = int(fresh.argmin())
        worst = max(worst, int(fresh[nearest]))
        covered |= int(remaining[nearest])
        remaining = remaining[remaining & ~covered != 0]
    return worst


class Leaps(NamedTuple):
    """Three exponents of the labels' unknown factor, on informative tokens without label noise.

    information_exponent: the least degree k >= 1 of a nonzero Walsh coefficient [AGJ21]. leap: of
    the sets of nonzero coefficients; it governs correlational queries [ABM23]. sq_leap: of the sets
    at which some function of the label has a coefficient; it governs statistical queries [JMS24].
    """

    information_exponent: int
    leap: int
    sq_leap: int


def leaps(family: Family, secret: Secret | None = None) -> Leaps | None:
    """Compute the leaps exactly: in closed form for hidden sets, else from a member's table over z.

    None for a family without codes, for a table of more than 2^20 entries, and if the secret of a
    member is needed but not given.

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
    unit = math.lcm(*(v.denominator for v in coded.levels))
    integer_levels = [int(v * unit) for v in coded.levels]
    if max(map(abs, integer_levels)) << coded.d - 1 >= _MOST_SUM:
        return None
    codes = coded.table_codes(secret)
    sets = _nonzero_sets(np.array(integer_levels, np.float64)[codes])
    by_code = [_nonzero_sets((codes == code).astype(np.float64)) for code in np.unique(codes)]
    all_sets = np.unique(np.concatenate(by_code))
    exponent = min(map(int.bit_count, sets.tolist()), default=0)
    return Leaps(exponent, leap(sets), leap(all_sets))


def _nonzero_sets(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nonempty sets, as bits, at which a table's Walsh coefficients are not 0."""
    walsh_hadamard(table)
    sets = np.flatnonzero(table)
    return sets[sets != 0]
