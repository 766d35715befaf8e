"""Statistical dimension with average correlation of finitely many members of one norm, exactly.

Both are about the absolute values of correlations. A set of s members has an average of at most
B(s) = 1/s^2 times the sum, over the s members for which it is largest, of the sum of their s
closest; B does not increase with s. Over pair events the closest pairs alone matter.
docs/finite.md has the proofs. [FGRVX17, BBHLS21]
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Sizes = NDArray[np.int64]  # (M, M), inner products in absolute value; one number on the diagonal


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """SDA over all subsets is at least `lower` and at most `upper`.

    above: members, in order, whose average correlation is above gamma; none where there is no such
    set.
    """

    lower: int
    upper: int
    above: tuple[int, ...]


def all_subsets(products: Sizes, gamma: Fraction) -> Bracket:
    """Bracket SDA(gamma) over all subsets by B from below and by a set that is found from above.

    products: (M, M) integers with the same number on the diagonal.

    >>> all_subsets(np.array([[4, 2, 0], [2, 4, 0], [0, 0, 4]]), Fraction(1, 2))
    Bracket(lower=1, upper=1, above=(0, 1))
    """
    sizes = np.abs(products)
    members, norm = len(sizes), int(sizes[0, 0])
    sums = np.cumsum(-np.sort(-sizes, axis=1), axis=1)  # of the closest s + 1 to each member

    def good(s: int) -> bool:
        column = sums[:, s - 1]
        most = np.partition(column, members - s)[members - s :]
        return sum(most.tolist()) <= gamma * norm * s**2

    low, high = 0, members + 1  # sets of `low` may be above gamma, of `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    centres = {int(sums[:, s - 1].argmax()) for s in {1, max(1, low // 2), max(1, low), members}}
    above = max((_around(sizes, i, gamma * norm) for i in sorted(centres)), key=len)
    return Bracket(
        lower=(members - 1) // low if low else members,
        upper=(members - 1) // len(above) if above else members,
        above=above,
    )


def _around(sizes: Sizes, centre: int, most: Fraction) -> tuple[int, ...]:
    """The largest set of members closest to one of them whose average is above `most`."""
    order = np.argsort(-sizes[centre], kind="stable")
    near = sizes[np.ix_(order, order)]
    inside = 2 * np.tril(near, -1).sum(axis=1) + np.diagonal(near)
    totals = np.cumsum(inside).tolist()
    found = [s for s, total in enumerate(totals, 1) if total > most * s**2]
    return tuple(sorted(order[: found[-1]].tolist())) if found else ()


def pair_events(products: Sizes, gamma: Fraction) -> int:
    """Compute SDA(gamma) over pair events.

    products: (M, M) integers with the same number on the diagonal; gamma is above 0.

    >>> pair_events(4 * np.eye(6, dtype=np.int64), Fraction(1, 5))
    1
    """
    members, most = len(products), gamma * int(products[0, 0])
    values, counts = np.unique(np.abs(products), return_counts=True)
    pairs, total = 0, Fraction(0)  # the closest ones so far, and the sum of their correlations
    for value, count in zip(values[::-1].tolist(), counts[::-1].tolist(), strict=True):
        reach = count
        if value <= most:
            spare = total - most * pairs
            reach = 0 if spare <= 0 else count
            if spare > 0 and value < most:
                reach = min(count, math.ceil(spare / (most - value)) - 1)
        pairs, total = pairs + reach, total + value * reach
        if reach < count:
            break
    return math.isqrt((members**2 - 1) // pairs) if pairs else members
