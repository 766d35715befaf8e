"""Correlations of all pairs of members, from what stands in a file, in the checker's own way.

Each gives: which pairs are certainly, and which may be, within 1/k; the correlations in float64
with a radius; the ends between which their largest and their average are.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import fmpq, fmpz
from numpy.typing import NDArray

from hardness.check.reading import refuse

_TIE = 1e-9
_SLACK = 0.5e-12  # makers leave twice as much
Ends = tuple[Fraction, Fraction]
Mask = NDArray[np.bool_]


class Pairs(Protocol):
    """What is known of the correlations of all pairs of members."""

    correlations: NDArray[np.float64]
    radius: float

    def within(self, k: int, certainly: bool) -> Mask:
        """Which pairs are within 1/k, certainly or maybe: (M, M), True on the diagonal."""

    def largest(self) -> tuple[Fraction | None, Ends]:
        """The exact square of the largest |correlation|, if known, and the ends of it."""

    def average(self) -> tuple[Fraction | None, Ends]:
        """The exact average of |correlation|, if it is rational, and the ends of it."""


class IntegerPairs:
    """Pairs by an integer Gram matrix (M, M), exactly; less the mean of the members if centred."""

    radius = 0.0

    def __init__(self, gram: NDArray[Any], centred: bool) -> None:
        """Refuse what is no Gram matrix."""
        size, found = len(gram), gram
        if 4 * size**2 * float(np.abs(gram).max()) >= 2**62:
            found = gram.astype(object)
        if centred:
            # With P = I - J/M: M^2 P G P, one side after the other.
            found = size * found - found.sum(axis=0)[None, :]
            found = size * found - found.sum(axis=1)[:, None]
        self._gram = found
        self._norms = [int(v) for v in np.diagonal(found)]
        if min(self._norms) <= 0:
            refuse("a member has a norm that is not above 0")
        roots = np.sqrt(np.array(self._norms, np.float64))
        self.correlations = found.astype(np.float64) / roots[:, None] / roots[None, :]
        np.fill_diagonal(self.correlations, 1.0)
        self._size = np.abs(self.correlations)
        if (self._size > 1 + _TIE).any():
            refuse("an inner product is above the product of the norms")

    @property
    def sizes(self) -> NDArray[np.int64] | None:
        """|g_ij| in int64 where all norms are the same, else None."""
        if len(set(self._norms)) > 1 or self._gram.dtype == object:
            return None
        return np.abs(self._gram)

    def _square(self, i: int, j: int) -> tuple[int, int]:
        return int(self._gram[i, j]) ** 2, self._norms[i] * self._norms[j]

    def within(self, k: int, certainly: bool) -> Mask:
        """Compare g_ij^2 k^2 with g_ii g_jj: in integers, wherever float64 could be wrong."""
        if (sizes := self.sizes) is not None:
            near = sizes <= self._norms[0] // k
            np.fill_diagonal(near, True)
            return near
        scaled = self._size * k
        out = scaled <= 1
        known: dict[tuple[int, int], bool] = {}
        for i, j in np.argwhere(np.triu(np.abs(scaled - 1) < _TIE, k=1)).tolist():
            pair = self._square(i, j)
            if pair not in known:
                known[pair] = pair[0] * k**2 <= pair[1]
            out[i, j] = out[j, i] = known[pair]
        np.fill_diagonal(out, True)
        return out

    def largest(self) -> tuple[Fraction | None, Ends]:
        """The largest exact square among those that are largest in float64."""
        off = np.triu(self._size, k=1)
        if len(off) < 2:
            return Fraction(0), (Fraction(0), Fraction(0))
        if (sizes := self.sizes) is not None:
            square = Fraction(int(np.triu(sizes, k=1).max()), self._norms[0]) ** 2
            return square, _about(math.sqrt(square))
        near = np.argwhere(np.triu(off >= off.max() - _TIE, k=1)).tolist()
        square = max(Fraction(a, b) for a, b in {self._square(i, j) for i, j in near})
        return square, _about(math.sqrt(square))

    def average(self) -> tuple[Fraction | None, Ends]:
        """The exact sum where all norms are the same, one member after the other."""
        if len(set(self._norms)) == 1:
            total = sum(int(np.abs(row).sum()) for row in self._gram)
            exact = Fraction(total, self._norms[0] * len(self._norms) ** 2)
            return exact, (exact, exact)
        return None, _about(float(self._size.mean()))


class FloatPairs:
    """Pairs by correlations (M, M), each within a radius of the true one."""

    def __init__(self, correlations: NDArray[np.float64], radius: float) -> None:
        """Refuse what are no correlations."""
        if not (np.abs(correlations) <= 1 + _TIE).all() or not 0 <= radius < math.inf:
            refuse("a correlation is not in -1..1, or the radius is not valid")
        self.correlations, self.radius = correlations, radius

    def within(self, k: int, certainly: bool) -> Mask:
        """Compare |c| + radius, or |c| - radius, with 1/k: in rationals where float64 is close."""
        size = np.abs(self.correlations)
        ends = size + self.radius if certainly else size - self.radius
        ends = np.nextafter(ends, math.inf if certainly else -math.inf)
        out = ends * k <= 1
        for i, j in np.argwhere(np.abs(ends * k - 1) < _TIE).tolist():
            out[i, j] = Fraction(float(ends[i, j])) * k <= 1
        np.fill_diagonal(out, True)
        return out

    def largest(self) -> tuple[Fraction | None, Ends]:
        """Within the radius of the largest that is given."""
        off = np.abs(self.correlations - np.diag(np.diagonal(self.correlations)))
        return None, _about(float(off.max()), self.radius)

    def average(self) -> tuple[Fraction | None, Ends]:
        """Within the radius of the average of what is given."""
        return None, _about(float(np.abs(self.correlations).mean()), self.radius)


class UnionPairs:
    """Pairs of members of symmetric families on n places, by averages over coins, exactly.

    profiles: g(0) .. g(m) of each family. A member is an m-subset of the places; the members of a
    family stand in lexicographic order.
    """

    radius = 0.0

    def __init__(self, n: int, profiles: Sequence[list[fmpq]], centred: bool) -> None:
        """Work out the inner products of all kinds of pairs."""
        self._n, self._profiles = n, profiles
        self._m = [len(p) - 1 for p in profiles]
        self._sizes = [int(fmpz.bin_uiui(n, m)) for m in self._m]
        self.size = sum(self._sizes)
        self._averages = [over_coins(p) for p in profiles]
        kinds = list(itertools.product(range(len(profiles)), repeat=2))
        self.products = {
            (a, b): [self._product(a, b, t) for t in range(min(self._m[a], self._m[b]) + 1)]
            for a, b in kinds
        }
        self._values = self._less_mean() if centred else self.products
        self._norms = [self._values[a, a][m] for a, m in enumerate(self._m)]
        if min(self._norms) <= 0:
            refuse("a member has the norm 0")
        width = max(self._m) + 1
        self._squares = np.zeros((len(kinds), width), object)
        table = np.zeros((len(kinds), width))
        for (a, b), row in self._values.items():
            for t, value in enumerate(row):
                found = value**2 / (self._norms[a] * self._norms[b])
                square = Fraction(int(found.p), int(found.q))
                self._squares[a * len(profiles) + b, t] = square
                table[a * len(profiles) + b, t] = math.copysign(math.sqrt(square), value.p)
        self._kind, self._overlap = self._pairs()
        self.correlations = table[self._kind, self._overlap]
        np.fill_diagonal(self.correlations, 1.0)

    def _product(self, a: int, b: int, t: int) -> fmpq:
        """E g(i + own heads) g'(i + own heads): i heads of t common coins, the rest averaged."""
        one, two = self._averages[a][self._m[a] - t], self._averages[b][self._m[b] - t]
        total = sum((fmpz.bin_uiui(t, i) * one[i] * two[i] for i in range(t + 1)), fmpq(0))
        return total / fmpz(2) ** t

    def _met(self, a: int, b: int, t: int) -> int:
        """How many members of b meet a member of a in t places."""
        m, k = self._m[a], self._m[b]
        if k - t > self._n - m:
            return 0
        return int(fmpz.bin_uiui(m, t) * fmpz.bin_uiui(self._n - m, k - t))

    def _less_mean(self) -> dict[tuple[int, int], list[fmpq]]:
        means = [
            sum(
                (
                    value * self._met(a, b, t)
                    for b in range(len(self._m))
                    for t, value in enumerate(self.products[a, b])
                ),
                fmpq(0),
            )
            / self.size
            for a in range(len(self._m))
        ]
        whole = sum((v * s for v, s in zip(means, self._sizes, strict=True)), fmpq(0)) / self.size
        return {
            (a, b): [v - means[a] - means[b] + whole for v in row]
            for (a, b), row in self.products.items()
        }

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Kind and overlap of all pairs: products of 0-1 rows, one column a place."""
        rows = np.zeros((self.size, self._n), np.float32)
        place, at = np.repeat(np.arange(len(self._m)), self._sizes), 0
        for m in self._m:
            for subset in itertools.combinations(range(self._n), m):
                rows[at, list(subset)] = 1
                at += 1
        overlap = np.rint(rows @ rows.T).astype(np.int64)
        return place[:, None] * len(self._m) + place[None, :], overlap

    def within(self, k: int, certainly: bool) -> Mask:
        """Compare squares with 1/k^2 for every kind and overlap, exactly."""
        allowed = np.array([[s * k**2 <= 1 for s in row] for row in self._squares])
        out = np.asarray(allowed[self._kind, self._overlap])
        np.fill_diagonal(out, True)
        return out

    def _counted(self) -> list[tuple[Fraction, int, bool]]:
        """Each kind of ordered pairs: squared correlation, how many, whether of equal ones."""
        count = len(self._m)
        return [
            (self._squares[a * count + b, t], self._sizes[a] * met, a == b and t == self._m[a])
            for a, b in itertools.product(range(count), repeat=2)
            for t in range(min(self._m[a], self._m[b]) + 1)
            if (met := self._met(a, b, t))
        ]

    def largest(self) -> tuple[Fraction | None, Ends]:
        """Over the overlaps that occur."""
        square = max((s for s, _, same in self._counted() if not same), default=Fraction(0))
        return square, _about(math.sqrt(square))

    def average(self) -> tuple[Fraction | None, Ends]:
        """By counting the pairs of each overlap with binomial coefficients."""
        counted = self._counted()
        roots = [_root(square) for square, _, _ in counted]
        if None not in roots:
            total = sum(r * c for r, (_, c, _) in zip(roots, counted, strict=True) if r)
            exact = Fraction(total) / self.size**2
            return exact, (exact, exact)
        mean = math.fsum(math.sqrt(square) * (c / self.size**2) for square, c, _ in counted)
        return None, _about(mean)


def over_coins(values: list[fmpq]) -> list[list[fmpq]]:
    """Average over coins one after the other: entry [r][i] is E g(i + heads of r coins)."""
    table = [values]
    while len(table[-1]) > 1:
        table.append([(a + b) / 2 for a, b in itertools.pairwise(table[-1])])
    return table


def _root(square: Fraction) -> Fraction | None:
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else None


def _about(value: float, radius: float = 0.0) -> Ends:
    slack = Fraction(radius) + Fraction(_SLACK)
    return Fraction(value) - slack, Fraction(value) + slack
