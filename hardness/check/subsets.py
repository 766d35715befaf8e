"""Average correlations of sets and pairs of members, from the absolute inner products of all pairs.

Makers sort and add up; here only what is largest is taken out. All is exact: inner products are
integers, and the same number stands on the diagonal.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Sizes = NDArray[np.int64]


def average_of(sizes: Sizes, chosen: list[int]) -> Fraction:
    """The average over all ordered pairs of some members, equal ones among them."""
    rows = sizes[np.ix_(chosen, chosen)].sum(axis=1)
    return Fraction(sum(rows.tolist()), int(sizes[0, 0]) * len(chosen) ** 2)


def most_average(sizes: Sizes, count: int) -> Fraction:
    """Bound the average of any `count` members: by their closest ones, those of most in sum.

    >>> most_average(np.array([[4, 2, 0], [2, 4, 0], [0, 0, 4]]), 2)
    Fraction(3, 4)
    """
    closest = np.partition(sizes, len(sizes) - count, axis=1)[:, len(sizes) - count :].sum(axis=1)
    return Fraction(sum(sorted(closest.tolist())[-count:]), int(sizes[0, 0]) * count**2)


def closest_average(sizes: Sizes, pairs: int) -> Fraction:
    """The average of the closest ordered pairs, so many of them.

    >>> closest_average(np.array([[4, 2], [2, 4]]), 3)
    Fraction(5, 6)
    """
    flat = sizes.ravel()
    closest = np.partition(flat, len(flat) - pairs)[len(flat) - pairs :]
    total = sum(int(part.sum()) for part in np.array_split(closest, 1 + pairs // 4096))
    return Fraction(total, int(sizes[0, 0]) * pairs)
