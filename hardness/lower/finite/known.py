"""What is known of the correlations of a finite family, and what follows from it.

Whichever way inner products were found, this is what certificates are made from: caps of all pairs,
correlations with a radius, the ends of the largest and the average correlation, and the spectrum
that bounds queries.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.bounds import ruled_out
from hardness.lower.finite.caps import Caps, caps, exact_caps
from hardness.lower.finite.gram import Gram, member_name, normalised, spread
from hardness.lower.finite.graph import Bracket, bracket
from hardness.lower.finite.spectrum import UNIT, largest_eigenvalue, upper_ends
from instances.errors import UsageError

GRID = 10**9  # ends of what is no rational are rounded outwards to 1/GRID
_SLACK = 1e-12  # more than the rounding of a sum of correlations
_EPS = float(np.finfo(np.float64).eps)

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """Correlations of all pairs, (M, M), each within a radius, and the caps that follow.

    largest, average: of the absolute values; over two different members, and over all ordered pairs
    with equal ones among them. products: inner products as integers, in any unit.
    """

    low: Caps
    high: Caps
    correlations: NDArray[np.float64]
    radius: float
    largest: Ends
    average: Ends
    products: NDArray[np.int64] | None = None  # where all members have one norm and they are exact

    @property
    def members(self) -> int:
        """The number of members."""
        return len(self.low)

    def sq_dimension(self, steps: int) -> Bracket:
        """Bracket SQ-DIM of the members. [BFJKMR94]"""
        return bracket(
            self.low, self.high, steps, lambda: upper_ends(self.correlations, self.radius)
        )

    @cached_property
    def spread(self) -> "Spread":
        """The spectrum of the members less their mean."""
        return Spread.of(self.correlations, self.radius)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The members of norm 1, less their mean: what one query and one hypothesis can do.

    eigenvalue: upper end of the largest eigenvalue of their Gram matrix; least: lower end of the
    smallest squared norm; mean: upper end of the mean squared norm. All in units of 2^-30.
    """

    eigenvalue: int
    least: int
    mean: int

    @staticmethod
    def of(correlations: NDArray[np.float64], radius: float) -> "Spread":
        """Bound the three for all correlations (M, M) within the radius of the given ones.

        >>> found = Spread.of(np.eye(4), 0.0)
        >>> [round(v / UNIT, 6) for v in (found.eigenvalue, found.least, found.mean)]
        [1.0, 0.75, 0.75]
        """
        size = len(correlations)
        rows = correlations.mean(axis=1)
        less = correlations - rows[:, None] - rows[None, :] + rows.mean()
        # As in upper_ends; a projection does not raise the norm of an error. A squared norm is
        # 1 - 2 (row mean) + (mean), so it is off by three radii, and their mean by one.
        rounding = 64 * size * _EPS * float(np.linalg.norm(correlations))
        largest = largest_eigenvalue((less + less.T) / 2)
        least, mean = float(np.diagonal(less).min()), float(np.diagonal(less).mean())
        return Spread(
            eigenvalue=math.ceil((largest + (size - 1) * radius + rounding) * UNIT),
            least=math.floor((least - 3 * radius - rounding) * UNIT),
            mean=math.ceil((mean + radius + rounding) * UNIT),
        )

    def right_about(self, risk: Fraction, members: int) -> int:
        """Bound how many members one hypothesis can have risk <= `risk` times the mean for.

        With u_i the members less their mean, v the mean of ||u_i||^2 and a = min ||u_i||^2 - risk v
        above 0: 2 <u_i, g> >= a + ||g||^2 for each, so K (a + H)^2 / 4 <= lambda H, K <= lambda/a.
        """
        room = self.least - risk * self.mean
        return members if room <= 0 else min(members, math.floor(self.eigenvalue / room))

    def cap(self, tau: Fraction) -> int:
        """Bound how many members a correlational query within tau rules out.

        >>> Spread(eigenvalue=UNIT, least=UNIT, mean=UNIT).cap(Fraction(1, 10))
        100
        """
        return ruled_out(Fraction(self.eigenvalue, UNIT) / tau**2)

    def to_dict(self) -> dict[str, int]:
        """Write the three ends."""
        return {"eigenvalue": self.eigenvalue, "least": self.least, "mean": self.mean}


def of_integers(gram: NDArray[np.int64], names: tuple[str, ...], centred: bool) -> Known:
    """Use an exact Gram matrix (M, M) of integers, less the mean of the members if centred.

    >>> of_integers(np.array([[9, 3], [3, 9]]), ("a", "b"), False).largest[0]
    Fraction(1, 3)
    """
    size = len(gram)
    values: NDArray[Any] = gram
    if centred:
        if 4 * size**2 * int(np.abs(gram).max()) >= 2**63:
            values = gram.astype(object)
        rows = values.sum(axis=1)
        values = size**2 * values - size * (rows[:, None] + rows[None, :]) + rows.sum()
        require_norms(np.diagonal(values), names)
    found, correlations = exact_caps(values)
    norms = [int(v) for v in np.diagonal(values)]
    if len(set(norms)) == 1:
        sizes = np.abs(values)
        mean = Fraction(sum(int(row.sum()) for row in sizes), norms[0] * size**2)
        average = (mean, mean)
        np.fill_diagonal(sizes, 0)
        square = Fraction(int(sizes.max()), norms[0]) ** 2
    else:
        off = np.abs(correlations)
        np.fill_diagonal(off, -1.0)
        near = np.argwhere(np.triu(off >= off.max() - 1e-9, k=1)).tolist()
        square = max(Fraction(int(values[i, j]) ** 2, norms[i] * norms[j]) for i, j in near)
        average = ends(math.fsum(np.abs(correlations).ravel()) / size**2, _SLACK)
    return Known(
        low=found,
        high=found,
        correlations=correlations,
        radius=0.0,
        largest=root_ends(square),
        average=average,
        products=values if len(set(norms)) == 1 and values.dtype != object else None,
    )


def of_floats(
    gram: Gram, names: tuple[str, ...], centred: bool
) -> tuple[Known, NDArray[np.float64]]:
    """Use inner products (M, M) within a radius; also return the squared norms, (M,).

    The radius of the correlations is rounded up to four digits, as certificates write it.
    """
    values, radius, wide = gram.values.astype(np.float64), gram.radius, gram.correlation_radius
    if centred:
        rows = values.mean(axis=1)
        values = values - rows[:, None] - rows[None, :] + rows.mean()
        # Four terms, each within the radius; rounding is a few units in the last place of each.
        radius = 4 * radius + 64 * len(values) * _EPS * float(np.abs(gram.values).max())
        norms = np.diagonal(values)
        require_norms(np.where(norms <= radius, 0, 1), names)
        wide = spread(values, radius)
    correlations = normalised((values + values.T) / 2)
    wide = round_up(wide * (1 + 1e-8))  # checkers find it a little smaller
    low, high = caps(correlations, wide)
    off = np.abs(correlations).copy()
    np.fill_diagonal(off, 0.0)
    mean = math.fsum(np.abs(correlations).ravel()) / len(values) ** 2
    known = Known(
        low=low,
        high=high,
        correlations=correlations,
        radius=wide,
        largest=ends(float(off.max()), wide + _SLACK),
        average=ends(mean, wide + _SLACK),
    )
    return known, np.diagonal(values)


def of_table(
    codes: NDArray[np.int64], cap: Caps, table: NDArray[np.float64], largest: Ends, average: Ends
) -> Known:
    """Use caps and correlations given by a code of each pair, (M, M); exact."""
    found, correlations = cap[codes], table[codes]
    np.fill_diagonal(found, len(found))
    np.fill_diagonal(correlations, 1.0)
    return Known(
        low=found,
        high=found,
        correlations=correlations,
        radius=0.0,
        largest=largest,
        average=average,
    )


def require_norms(norms: NDArray[Any], names: tuple[str, ...]) -> None:
    """Refuse a member that is nothing once the mean is taken away; raises UsageError."""
    if (norms <= 0).any():
        i = int(np.argmax(norms <= 0))
        raise UsageError(
            f"{member_name(names, i)} has the norm 0, or none that can be told from it, once the "
            "mean of the members is taken away: leave --centred or the member out"
        )


def ends(value: float, slack: float) -> Ends:
    """Round a number within `slack` outwards to the grid, within 0..1.

    >>> ends(0.25, 0.125)
    (Fraction(1, 8), Fraction(3, 8))
    """
    low, high = Fraction(value) - Fraction(slack), Fraction(value) + Fraction(slack)
    return (
        max(Fraction(0), Fraction(math.floor(low * GRID), GRID)),
        min(Fraction(1), Fraction(math.ceil(high * GRID), GRID)),
    )


def root_ends(square: Fraction) -> Ends:
    """Take a square root: itself where it is rational, else both neighbours on the grid.

    >>> root_ends(Fraction(1, 9)), root_ends(Fraction(1, 2))[0]
    ((Fraction(1, 3), Fraction(1, 3)), Fraction(707106781, 1000000000))
    """
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if (top**2, bottom**2) == (square.numerator, square.denominator):
        return Fraction(top, bottom), Fraction(top, bottom)
    low = math.isqrt(square.numerator * GRID**2 // square.denominator)
    return Fraction(low, GRID), Fraction(low + 1, GRID)


def round_up(value: float) -> float:
    """Round up to four significant digits.

    >>> round_up(0.0312341), round_up(0.0)
    (0.03124, 0.0)
    """
    if value <= 0:
        return 0.0
    found = float(f"{value:.3e}")
    if found < value:
        step = 10.0 ** (math.floor(math.log10(value)) - 3)
        found = float(f"{found + step:.3e}")
    return found
