"""What follows from a profile alone: correlations, eigenvalues, numbers of pairs, exactly.

Correlations come from the profile's averages over fair coins, not from its Fourier coefficients;
eigenvalues from Eberlein polynomials in exact integers.
"""

import itertools
from fractions import Fraction
from functools import cached_property

from flint import fmpq, fmpz

from hardness.check.layers import Layers, layers_of
from hardness.check.spec import read_family
from instances.capabilities import SCHEME
from instances.threshold import python_fraction


class Scheme:
    """All members of a symmetric profile, by the overlap t or the distance i = m - t of two."""

    def __init__(self, family: Layers, values: list[fmpq]) -> None:
        """Take the values g(0) .. g(m)."""
        self.family, self.values = family, values

    @cached_property
    def mean(self) -> fmpq:
        """The mean of g(h) over fair coins."""
        return over_coins(self.values)[-1][0]

    @cached_property
    def c(self) -> list[fmpq]:
        """c(t): t places in common, the other m - t of each averaged out by coins of their own."""
        m = self.family.chosen
        averages = over_coins(self.values)
        out = []
        for t in range(m + 1):
            inner = averages[m - t]  # i -> E g(i + heads of m - t coins)
            total = sum((fmpz.bin_uiui(t, i) * inner[i] ** 2 for i in range(t + 1)), fmpq(0))
            out.append(total / fmpz(2) ** t - self.mean**2)
        return out

    @cached_property
    def distances(self) -> list[list[fmpz]]:
        """E_i(k), the eigenvalues of the graph of distance i, by the other Eberlein formula."""
        n, m = self.family.ground, self.family.chosen
        return [
            [
                sum(
                    (
                        (-1) ** (i - h)
                        * fmpz.bin_uiui(m - h, i - h)
                        * fmpz.bin_uiui(m - k, h)
                        * fmpz.bin_uiui(n - m + h - k, h)
                        for h in range(min(i, m - k) + 1)
                    ),
                    fmpz(0),
                )
                for k in range(min(m, n - m) + 1)
            ]
            for i in range(m + 1)
        ]

    @cached_property
    def eigenvalues(self) -> list[fmpq]:
        """Those of the Gram matrix, by distances."""
        m = self.family.chosen
        return [
            sum((self.c[m - i] * row[k] for i, row in enumerate(self.distances)), fmpq(0))
            for k in range(len(self.distances[0]))
        ]

    @property
    def unit_norm(self) -> Fraction:
        """The largest Gram eigenvalue of the members less their mean, scaled to norm 1."""
        norm = self.c[-1] - self.eigenvalues[0] / self.family.size
        return python_fraction(self.spread / norm)

    @property
    def spread(self) -> fmpq:
        """The largest eigenvalue of the members less their mean."""
        return max(self.eigenvalues[1:])

    @property
    def valencies(self) -> list[fmpz]:
        """How many members are at each distance from one."""
        return [row[0] for row in self.distances]

    @property
    def half(self) -> fmpq:
        """Half the distance of the two values."""
        return (max(self.values) - min(self.values)) / 2


def read_profile(spec: str) -> tuple[Layers, list[fmpq]]:
    """Read a canonical spec of a profile or a parity, and the values g(0) .. g(m)."""
    family = read_family(spec, SCHEME)
    return layers_of(family), [fmpq(v.numerator, v.denominator) for v in family.values]


def over_coins(values: list[fmpq]) -> list[list[fmpq]]:
    """Average over coins one after the other: entry [r][i] is E g(i + heads of r coins)."""
    table = [values]
    while len(table[-1]) > 1:
        table.append([(a + b) / 2 for a, b in itertools.pairwise(table[-1])])
    return table
