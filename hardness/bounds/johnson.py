"""The m-subsets of n places: correlations by overlap, and their spectrum.

The inner product of two members depends on how many places they share alone, so that the Gram
matrix over all of them has the eigenspaces of the Johnson scheme. Members are less the mean of
their label. docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hardness.bounds.checker.hidden_sets import HiddenSets, eigenvalues, overlaps
from instances.sets import Symmetric


@dataclass(frozen=True, kw_only=True)
class Johnson:
    """Inner products by overlap t = 0 .. m, and eigenvalues on V_0 .. V_r, r = min(m, n-m).

    >>> majority = Johnson.of([1, 1, -1, -1], n=7)
    >>> [float(c) for c in majority.correlations], [float(v) for v in majority.eigenvalues]
    ([0.0, 0.25, 0.5, 1.0], [11.5, 2.75, 0.25, 0.25])
    """

    n: int
    m: int
    correlations: list[Fraction]
    eigenvalues: list[Fraction]

    @staticmethod
    def of(values: list[Fraction | int], n: int) -> "Johnson":
        """Take the profile g(0) .. g(m) on n places."""
        g = tuple(map(Fraction, values))
        return Johnson.of_problem(HiddenSets(n=n, m=len(g) - 1, g=g, noise=Fraction(0)))

    @staticmethod
    def of_problem(problem: HiddenSets) -> "Johnson":
        """Take what the checker knows of hidden sets; of one member the norm is the matrix."""
        c, m, n = overlaps(problem)[0], problem.m, problem.n
        values = eigenvalues(problem, c) if m < n else c[-1:]
        return Johnson(n=n, m=m, correlations=c, eigenvalues=values)

    @staticmethod
    def family(family: Symmetric) -> "Johnson":
        """Take a family's members, noise aside."""
        return Johnson.of([Fraction(v) for v in family.values], family.d - 1)

    @property
    def size(self) -> int:
        """The number of members, C(n, m)."""
        return math.comb(self.n, self.m)

    @property
    def norm(self) -> Fraction:
        """c(m), the squared norm of a member."""
        return self.correlations[-1]

    @property
    def average(self) -> Fraction:
        """The average of c over all ordered pairs of members, equal ones among them."""
        return self.eigenvalues[0] / self.size

    @property
    def spread(self) -> Fraction:
        """The largest eigenvalue once the mean over all members is taken away."""
        return max(self.eigenvalues[1:], default=Fraction(0))
