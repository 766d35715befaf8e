"""Closed forms of what the checker computes another way: the second derivation of bounds.

The spectrum of the Johnson scheme by Fourier weights, where the checker goes by distances; query
bounds; the largest set of an average by linear programming.
docs/mathematics.md has the proofs.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from scipy.optimize import linprog

from instances.sets import Symmetric
from instances.symmetric import coefficients, python_fraction, rational


@dataclass(frozen=True, kw_only=True)
class Johnson:
    """The m-subsets S of n places with weights w_k = g^_k^2, k = 0 .. m, w_0 = 0."""

    n: int
    m: int
    weights: list[Fraction]

    @staticmethod
    def of_values(values: Sequence[Fraction | int], n: int) -> "Johnson":
        """Take the profile's values g(0) .. g(m)."""
        found = coefficients([rational(Fraction(v)) for v in values])
        squares = [python_fraction(v**2) for v in found[1:]]
        return Johnson(n=n, m=len(values) - 1, weights=[Fraction(0), *squares])

    @staticmethod
    def family(family: Symmetric) -> "Johnson":
        """Take a family's members, noise aside."""
        return Johnson.of_values(family.values, family.d - 1)

    @property
    def size(self) -> int:
        """The number of members, C(n, m)."""
        return math.comb(self.n, self.m)

    @cached_property
    def correlations(self) -> list[Fraction]:
        """c(t) = sum_k C(t,k) w_k, t = 0 .. m: nondecreasing and convex, c(m) the squared norm."""
        # Newton's forward differences: one pass of additions for each t, no binomials.
        column, out = list(self.weights), []
        for _ in range(self.m + 1):
            out.append(column[0])
            column = [a + b for a, b in itertools.pairwise([*column, Fraction(0)])]
        return out

    @property
    def norm(self) -> Fraction:
        """c(m), the squared norm of a centred member."""
        return self.correlations[-1]

    @property
    def rank(self) -> int:
        """The number of eigenspaces less one."""
        return min(self.m, self.n - self.m)

    @cached_property
    def eigenvalues(self) -> list[Fraction]:
        """lambda_j = sum_k w_k C(m-j,k-j) C(n-j-k,m-k), j = 0 .. min(m, n-m), the largest first.

        Every term is positive; the textbook form by Eberlein polynomials cancels.
        """
        n, m, weights = self.n, self.m, list(enumerate(self.weights))
        return [
            sum(w * math.comb(m - j, k - j) * math.comb(n - j - k, m - k) for k, w in weights[j:])
            + Fraction(0)
            for j in range(self.rank + 1)
        ]

    @property
    def multiplicities(self) -> list[int]:
        """The dimensions of the eigenspaces, C(n,j) - C(n,j-1)."""
        counts = [math.comb(self.n, j) for j in range(self.rank + 1)]
        return [a - b for a, b in zip(counts, [0, *counts], strict=False)]

    @property
    def spread(self) -> Fraction:
        """The largest once the mean over all members is taken away, to which the first belongs."""
        return self.eigenvalues[1]

    @property
    def average(self) -> Fraction:
        """The average of c over all ordered pairs of members, equal ones among them."""
        return self.eigenvalues[0] / self.size

    @property
    def cross_predictability(self) -> Fraction:
        """The average of c^2 over all ordered pairs of members. [AS20]"""
        pairs = zip(self.multiplicities, self.eigenvalues, strict=True)
        return sum(count * v**2 for count, v in pairs) / Fraction(self.size) ** 2


# What learners need.


def least_queries(cap: int | Fraction, missing: Fraction) -> int | None:
    """Count the queries that rule out `missing` members, `cap` each; None where no number does."""
    if missing <= 0:
        return 0
    return math.ceil(missing / cap) if cap else None


def information_floor(size: int, success: Fraction, right: int, levels: int) -> int:
    """The least n with right L^n >= success N: n examples lead to at most L^n hypotheses."""
    needed = math.ceil(success * size / right)
    count = max(0, math.floor((needed.bit_length() - 1) / math.log2(levels)) - 2)
    while levels**count < needed:
        count += 1
    return count


def right_about(scheme: Johnson, risk: Fraction) -> int:
    """Bound how many members one hypothesis can have relative risk <= risk for.

    With unit vectors of largest Gram eigenvalue mu, K ((1 - risk + H)/2)^2 <= mu H for a hypothesis
    of squared norm H, so K <= mu/(1 - risk). The members here are less their mean.
    """
    return math.floor(scheme.spread / (scheme.norm - scheme.average) / (1 - risk))


def labelled_gamma(family: Symmetric, scheme: Johnson, t: int) -> Fraction:
    """Turn VSTAT(t) into the average of unit-norm correlations that one query cannot pass.

    As distributions of labelled examples, relative to labels that are coins of mean mu, two members
    of a two-valued profile have correlation (1 - 2 eta)^2 c / (2 (1 - mu^2)), the values written as
    +-1; a query to VSTAT(t) rules out only sets of average above 1/(3t) there.
    """
    m, values = scheme.m, family.values
    half, fade = Fraction(max(values) - min(values)) / 2, 1 - 2 * family.noise
    mean = sum(math.comb(m, h) * Fraction(v) for h, v in enumerate(values)) / 2**m
    mu = fade * (mean - Fraction(max(values) + min(values)) / 2) / half
    return Fraction(2 * (1 - mu**2) * half**2 / (3 * t * fade**2 * scheme.norm))


# How many members are far apart, or close.


def johnson_bound(n: int, m: int, t: int) -> int:
    """Bound from above how many m-subsets of n places have pairwise overlap at most t. [Joh62]"""
    if t >= m:
        return math.comb(n, m)
    # One place lies in at most A(n-1, m-1, t-1) sets.
    bound = n // m if t == 0 else n * johnson_bound(n - 1, m - 1, t - 1) // m
    # M sets fill the n places M m/n times on average: M m^2/n <= m + (M-1) t.
    if m * m > n * t:
        bound = min(bound, n * (m - t) // (m * m - n * t))
    return max(1, min(bound, math.comb(n, m)))


def sq_dimension_most(scheme: Johnson) -> int:
    """Bound SQ-DIM from above: N' members of correlation at most 1/N' are a code. [Joh62]"""
    most = 1
    for t, c in enumerate(scheme.correlations[:-1]):
        count = math.floor(scheme.norm / c) if c else scheme.size
        if count >= 2:
            most = max(most, min(count, johnson_bound(scheme.n, scheme.m, t)))
    return most


def largest_set(scheme: Johnson, gamma: Fraction) -> float:
    """Bound how large a set of average correlation above gamma is, by Delsarte's linear program.

    In floating point, of inner distributions. [Del73]
    """
    n, m = scheme.n, scheme.m
    if gamma >= 1:
        return 0.0
    if scheme.average / scheme.norm > gamma:
        return float(scheme.size)
    distances = range(1, scheme.rank + 1)
    v = [math.comb(m, i) * math.comb(n - m, i) for i in distances]
    rows = [
        [-_distance(n, m, i, k) / most for i, most in zip(distances, v, strict=True)]
        for k in distances
    ]
    rows.append([float(gamma - scheme.correlations[m - i] / scheme.norm) for i in distances])
    right = [1.0] * scheme.rank + [float(1 - gamma)]
    found = linprog([-1] * scheme.rank, rows, right, bounds=[(0, most) for most in v])
    assert found.success
    return 1 - float(found.fun)


def _distance(n: int, m: int, i: int, k: int) -> int:
    """The eigenvalue of the graph of distance i on the k-th eigenspace, by Eberlein's formula."""
    hidden = range(max(0, i + k - m), min(i, k) + 1)
    ways = (math.comb(m - k, i - h) * math.comb(n - m - k, i - h) for h in hidden)
    return sum((-1) ** h * math.comb(k, h) * way for h, way in zip(hidden, ways, strict=True))
