"""Orthogonal polynomials and Gauss rules of a measure known by its exact moments. [Gau04]"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_poly

from hardness.icl.wishart import Array, moments


def recurrence(known: Sequence[fmpq], degree: int) -> tuple[list[fmpq], list[fmpq]]:
    """Return a_k, b_k, k < degree, of pi_{k+1} = (t - a_k) pi_k - b_k pi_{k-1}, b_0 the mass.

    Chebyshev's algorithm on the moments m_0 .. m_{2 degree - 1}, exact. [Gau04]

    >>> [[str(v) for v in c] for c in recurrence([fmpq(1, j + 1) for j in range(4)], 2)]
    [['1/2', '1/2'], ['1', '1/12']]
    """
    before = [fmpq(0)] * (2 * degree)
    row = list(known[: 2 * degree])
    a, b = [row[1] / row[0]], [row[0]]
    for k in range(1, degree):
        after = [fmpq(0)] * (2 * degree)
        for j in range(k, 2 * degree - k):
            after[j] = row[j + 1] - a[-1] * row[j] - b[-1] * before[j]
        a.append(after[k + 1] / after[k] - row[k] / row[k - 1])
        b.append(after[k] / row[k - 1])
        before, row = row, after
    return a, b


def monic(known: Sequence[fmpq], degree: int) -> fmpq_poly:
    """Return the monic orthogonal polynomial, from the moments m_0 .. m_{2 degree - 1}."""
    before, now, t = fmpq_poly([0]), fmpq_poly([1]), fmpq_poly([0, 1])
    for a, b in zip(*recurrence(known, degree), strict=True):
        before, now = now, (t - a) * now - b * before
    return now


@dataclass(frozen=True, kw_only=True, eq=False)
class Rule:
    """Nodes and weights (K,): exact for polynomials of degree 2 K - 1, up to float64."""

    nodes: Array
    weights: Array

    def mean(self, values: Array) -> float:
        """Integrate what was evaluated at the nodes."""
        return float(self.weights @ values)


@lru_cache(maxsize=64)
def gauss(n: int, d: int, count: int) -> Rule:
    """Make the Gauss rule of the mean Wishart spectrum with a number of nodes. [GW69]

    The three-term recurrence is exact, rounded once; the nodes are the eigenvalues of its Jacobi
    matrix, a weight is 1 / sum_k pi_k(node)^2, which keeps small weights to their relative error.

    >>> rule = gauss(20, 5, 3)
    >>> round(rule.mean(rule.nodes**2), 12)
    1.3
    """
    from scipy.linalg import eigvalsh_tridiagonal

    every = recurrence(moments(n, d, 2 * count), count)
    a, b = (np.array([int(v.p) / int(v.q) for v in values]) for values in every)
    nodes = eigvalsh_tridiagonal(a, np.sqrt(b[1:])) if count > 1 else a
    before, now = np.zeros(count), np.ones(count)
    total = now**2
    for k in range(count - 1):
        last = np.sqrt(b[k]) if k else 0.0
        before, now = now, ((nodes - a[k]) * now - last * before) / np.sqrt(b[k + 1])
        total += now**2
    return Rule(nodes=np.asarray(nodes, np.float64), weights=1 / total)
