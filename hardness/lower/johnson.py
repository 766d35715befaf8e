"""Correlations and spectra of symmetric functions over all m-subsets of n places, exactly.

The members f_S(z) = g(|{j in S: z_j = -1}|) form a Johnson scheme: the correlation of two depends
on the size t of their overlap alone, and the Gram matrix over all C(n, m) of them has the
eigenspaces of the scheme. Everything here is centred: the mean g^_0 of a label is taken away.
docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpz

from instances.errors import UsageError
from instances.krawtchouk import coefficients
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational


@dataclass(frozen=True, kw_only=True)
class Johnson:
    """The m-subsets S of n places with weights w_k = g^_k^2, k = 0 .. m, w_0 = 0: exact rationals.

    Raises UsageError unless 1 <= m <= n and some weight is positive.

    >>> majority = Johnson.of([1, 1, -1, -1], n=7)
    >>> majority.correlations, majority.eigenvalues
    ([0, 1/4, 1/2, 1], [23/2, 11/4, 1/4, 1/4])
    """

    n: int
    m: int
    weights: tuple[Rational, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.m <= self.n:
            raise UsageError(f"m={self.m} given with n={self.n}: m must be between 1 and n")
        if len(self.weights) != self.m + 1 or self.weights[0] != 0 or min(self.weights) < 0:
            raise UsageError(f"{self.m + 1} weights are needed, the first 0 and none negative")
        if not any(self.weights):
            raise UsageError("a profile that is constant given: members have norm 0")

    @staticmethod
    def of(values: list[Rational] | tuple[Rational, ...], n: int) -> "Johnson":
        """Take the profile's values g(0) .. g(m), flint rationals or integers."""
        found = coefficients([fmpq(v) for v in values])
        return Johnson(n=n, m=len(values) - 1, weights=(fmpq(0), *(v**2 for v in found[1:])))

    @staticmethod
    def family(family: Symmetric) -> "Johnson":
        """Take a family's members, noise aside."""
        return Johnson.of([rational(v) for v in family.values], family.d - 1)

    @property
    def size(self) -> int:
        """The number of members, C(n, m)."""
        return math.comb(self.n, self.m)

    @cached_property
    def correlations(self) -> list[Rational]:
        """c(t) = sum_k C(t,k) w_k, t = 0 .. m: nondecreasing and convex, c(m) the squared norm."""
        # Newton's forward differences: one pass of additions for each t, no binomials.
        column, out = list(self.weights), []
        for _ in range(self.m + 1):
            out.append(column[0])
            column = [a + b for a, b in zip(column, [*column[1:], fmpq(0)], strict=True)]
        return out

    @property
    def norm(self) -> Rational:
        """c(m), the squared norm of a centred member."""
        return self.correlations[-1]

    @property
    def rank(self) -> int:
        """The number of eigenspaces less one, min(m, n-m)."""
        return min(self.m, self.n - self.m)

    @cached_property
    def eigenvalues(self) -> list[Rational]:
        """lambda_j = sum_k w_k C(m-j,k-j) C(n-j-k,m-k), j = 0 .. min(m, n-m).

        Every term is positive; the textbook form by Eberlein polynomials cancels.
        """
        n, m = self.n, self.m
        return [
            sum(
                (
                    w * (_binomial(m - j, k - j) * _binomial(n - j - k, m - k))
                    for k, w in enumerate(self.weights)
                    if w and k >= j
                ),
                fmpq(0),
            )
            for j in range(self.rank + 1)
        ]

    @cached_property
    def multiplicities(self) -> list[int]:
        """The dimensions of the eigenspaces, C(n,j) - C(n,j-1)."""
        counts = [math.comb(self.n, j) for j in range(self.rank + 1)]
        return [a - b for a, b in zip(counts, [0, *counts], strict=False)]

    @property
    def operator_norm(self) -> Rational:
        """The largest eigenvalue, lambda_0: the eigenvalues are nonincreasing in j."""
        return self.eigenvalues[0]

    @property
    def spread(self) -> Rational:
        """The largest eigenvalue once the mean over all members is taken away: lambda_1.

        lambda_0 belongs to the mean over all members alone. 0 where there is one member.
        """
        return self.eigenvalues[1] if self.rank else fmpq(0)

    @property
    def average(self) -> Rational:
        """The average of c over all ordered pairs of members, equal ones among them."""
        return self.eigenvalues[0] / self.size

    @property
    def cross_predictability(self) -> Rational:
        """The average of c^2 over all ordered pairs of members. [AS20]"""
        total = sum(
            (
                fmpz(mult) * value**2
                for mult, value in zip(self.multiplicities, self.eigenvalues, strict=True)
            ),
            fmpq(0),
        )
        return total / fmpz(self.size) ** 2


def _binomial(top: int, bottom: int) -> fmpz:
    return fmpz.bin_uiui(top, bottom)
