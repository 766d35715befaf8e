"""The mean spectrum of a real Wishart matrix: exact moments, Gauss rules; sampled spectra.

The power sum of degree j is a combination of the zonal polynomials of the partitions of the form
(a, b, 1, .., 1): all others have coefficient 0. The mean of a zonal polynomial is a product over
the boxes of its partition, so a moment is a double sum of rational numbers. [HSS92, Mac95] The
moments give the orthogonal polynomials and their Gauss rules. [Gau04]
Sampled spectra are evidence for exact losses that does not share their algebra.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import factorial
from operator import mul

import numpy as np
from flint import fmpq, fmpq_poly
from numpy.typing import ArrayLike, NDArray

from instances.errors import UsageError, require
from instances.limits import require_memory
from instances.streams import generator

Array = NDArray[np.float64]
MOST_SIZE, MOST_MOMENT = 1_000_000, 400
_BLOCK = 1 << 22  # numbers drawn at once


@lru_cache(maxsize=64)
def moments(n: int, d: int, highest: int) -> tuple[fmpq, ...]:
    """Return m_0 .. m_highest, m_j = E tr(S^j) / d with S = (1/n) sum_i x_i x_i^T, x_i ~ N(0, I_d).

    Exact rationals. Raises UsageError for n, d < 1 or highest outside of 0 .. 400. [HSS92]

    >>> [str(m) for m in moments(20, 5, 3)]
    ['1', '1', '13/10', '201/100']
    """
    if not (1 <= n <= MOST_SIZE and 1 <= d <= MOST_SIZE):
        raise UsageError(f"n and d must be between 1 and {MOST_SIZE}, got n={n}, d={d}")
    if not 0 <= highest <= MOST_MOMENT:
        raise UsageError(f"moments up to {highest} asked for: at most {MOST_MOMENT} can be had")
    boxes = _Boxes(n, d, highest)
    return tuple(boxes.trace(j) / (d * n**j) if j else fmpq(1) for j in range(highest + 1))


class _Boxes:
    """Products of (n + 2k - i) (d + 2k - i) (2k - i or 1) over boxes (i, k) of rows, columns."""

    def __init__(self, n: int, d: int, highest: int) -> None:
        def value(i: int, k: int) -> int:
            return (n + 2 * k - i) * (d + 2 * k - i) * ((2 * k - i) or 1)

        self.first = _products(value(0, k) for k in range(highest))
        self.second = _products(value(1, k) for k in range(highest // 2))
        self.column = _products(value(i, 0) for i in range(2, highest))

    def trace(self, j: int) -> fmpq:
        """E tr (n S)^j = sum over partitions of 2 j * boxes / hooks."""
        total = fmpq(self.first[j], factorial(2 * j))
        for b in range(1, j // 2 + 1):
            for c in range(j - 2 * b + 1):
                if not (self.second[b] and self.column[c]):
                    break  # more rows than n or d: this term and those of more rows are 0
                a = j - b - c
                boxes = self.first[a] * self.second[b] * self.column[c]
                # The product of (2 arm + leg + 1) (2 arm + leg + 2) over the boxes of (a, b, 1^c).
                hooks = (2 * a + c) * (2 * a + c + 1) * (2 * b + c - 1) * (2 * b + c)
                hooks *= factorial(2 * a - 1) // (2 * (a - b) + 1) * factorial(2 * b - 2)
                total += fmpq(boxes, hooks * factorial(c) * factorial(c + 1))
        return 2 * j * total


def _products(values: Iterable[int]) -> list[int]:
    return list(accumulate(values, mul, initial=1))


def recurrence(known: Sequence[fmpq], degree: int) -> tuple[list[fmpq], list[fmpq]]:
    """Return a_k, b_k, k < degree, of pi_{k+1} = (t - a_k) pi_k - b_k pi_{k-1}, b_0 the mass.

    Chebyshev's algorithm on the moments m_0 .. m_{2 degree - 1}, exact. [Gau04]

    >>> [[str(v) for v in c] for c in recurrence([fmpq(1, j + 1) for j in range(4)], 2)]
    [['1/2', '1/2'], ['1', '1/12']]
    """
    before, row = [fmpq(0)] * (2 * degree), list(known[: 2 * degree])
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


@lru_cache(maxsize=64)
def gauss(n: int, d: int, count: int) -> tuple[Array, Array]:
    """Compute the Gauss rule of the mean Wishart spectrum: nodes and weights, (count,). [GW69]

    It is exact for polynomials of degree 2 count - 1, up to float64.

    The three-term recurrence is exact, rounded once; the nodes are the eigenvalues of its Jacobi
    matrix, a weight is 1 / sum_k pi_k(node)^2, which keeps small weights to their relative error.

    >>> nodes, weights = gauss(20, 5, 3)
    >>> round(float(weights @ nodes**2), 12)
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
    return np.asarray(nodes, np.float64), 1 / total


def spectra(n: int, d: int, count: int, seed: int) -> Array:
    """Draw the eigenvalues (count, d), ascending, of S = (1/n) sum_i x_i x_i^T, x ~ N(0, I_d)."""
    require(min(n, d, count) >= 1, f"n, d and count must be at least 1, got {n}, {d}, {count}")
    block = max(1, min(count, _BLOCK // (n * d)))
    require_memory(8 * (count * d + 3 * block * n * d), f"{count} spectra")
    draws, out = generator(seed, "spectra", n, d), np.zeros((count, d))
    for start in range(0, count, block):
        x = draws.standard_normal((min(block, count - start), n, d))
        turned = x.transpose(0, 2, 1)
        inner = np.matmul(x, turned) if n < d else np.matmul(turned, x)  # the smaller; else 0
        out[start : start + block, max(0, d - n) :] = np.linalg.eigvalsh(inner / n)
    return out


def loss_on(
    values: Array, p: ArrayLike, q: ArrayLike, n: int, noise: float = 0.0
) -> tuple[float, float]:
    """Average the loss of scalars p, q (L,) over spectra (count, d) of n points: mean, error.

    The tails are heavy: a power of the largest eigenvalue, rare and large. Where these carry the
    mean, the standard error is itself too small.
    """
    require(len(values) >= 2, f"samples must be at least 2 for an error, got {len(values)}")
    g, u, net = np.ones_like(values), np.ones_like(values), np.zeros_like(values)
    for a, b in zip(np.asarray(p, float), np.asarray(q, float), strict=True):
        net, u = net - b * u * g, u * (1 - b * values * g)
        g = g * (1 - a * b * values * g) ** 2
    each = (u**2 + noise**2 / n * values * net**2).sum(axis=1)
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))
