"""How far apart the parts of a function lie that are to be found one after the other. [ABM23]"""

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardness.measures.weights import least_degree, weights
from instances.family import Secret
from instances.symmetric import Symmetric


def leap(subsets: Iterable[Secret]) -> int:
    """Compute the leap of a set system: least over its orders of the most new coordinates a set.

    A set's new coordinates are those in no set before it. For the sets of the Walsh coefficients
    that are not 0 it is the leap complexity of a function [ABM23]. Always taking a set with the
    fewest new ones is an order that attains it.

    >>> leap([(1,), (1, 2), (1, 2, 3)]), leap([(1,), (1, 2, 3)]), leap([(1, 2, 3)])
    (1, 2, 3)
    """
    left = {sum(1 << j for j in set(s)) for s in subsets}
    seen = worst = 0
    while left:
        nearest = min(left, key=partial(_fresh, seen))
        worst = max(worst, _fresh(seen, nearest))
        seen |= nearest
        left = {mask for mask in left if _fresh(seen, mask)}
    return worst


def leap_of_masks(masks: NDArray[np.int64]) -> int:
    """Compute the leap of sets that are given as bits of integers, of which there may be many.

    >>> leap_of_masks(np.array([0, 0b1, 0b111]))
    2
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


def information_exponent(family: Symmetric) -> int:
    """Find the least k >= 1 with g^_k not 0: exact, and the leap of every member as well.

    The first set of an order has k coordinates or more, all new. After one of k each further one
    comes with k - 1 old coordinates and a new one, until S is full.

    >>> from instances import parse
    >>> [information_exponent(parse(s)) for s in ("parity:d=9,m=3", "profile:d=9,g=majority,m=3")]
    [3, 1]
    """
    return least_degree(weights(family.fourier))


def _fresh(seen: int, mask: int) -> int:
    return (mask & ~seen).bit_count()
