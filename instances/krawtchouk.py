"""Fourier coefficients of symmetric functions on {-1,+1}^m, by Krawtchouk polynomials, exactly.

Numbers of subsets in float64 too, by their logarithms.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from instances.threshold import Rational


@lru_cache(maxsize=4)
def krawtchouk(m: int) -> tuple[tuple[int, ...], ...]:
    """Tabulate K_h(k), the coefficient of y^h in (1-y)^k (1+y)^(m-k): entry [k][h].

    >>> krawtchouk(2)
    ((1, 2, 1), (1, 0, -1), (1, -2, 1))
    """
    return tuple(zip(*(column(m, h) for h in range(m + 1)), strict=True))


def coefficients(values: Sequence[Rational]) -> list[Rational]:
    """Compute g^_k = 2^-m sum_h g(h) K_h(k): f(z) = g(number of -1) = sum_T g^_|T| chi_T(z).

    >>> coefficients([fmpq(1), fmpq(-1), fmpq(1)])
    [0, 0, 1]
    """
    m = len(values) - 1
    total = fmpq(2) ** m
    return [
        sum((v * c for v, c in zip(values, row, strict=True) if c), fmpq(0)) / total
        for row in krawtchouk(m)
    ]


def column(n: int, degree: int) -> list[int]:
    """List K(x) = sum over |T| = degree of chi_T(z) for z of n places with x of -1, x = 0 .. n.

    It is the coefficient of y^degree in (1-y)^x (1+y)^(n-x), by the recurrence in x
    (n-x) K(x+1) = (n - 2 degree) K(x) - x K(x-1): n steps, for one degree of many places.

    >>> column(4, 2)
    [6, 0, -2, 0, 6]
    """
    before, here = 0, math.comb(n, degree)
    out = [here]
    for x in range(n):
        before, here = here, ((n - 2 * degree) * here - x * before) // (n - x)
        out.append(here)
    return out


def log_binomial(n: ArrayLike, k: ArrayLike) -> Any:
    """Compute ln C(n, k), minus infinity where k is not from 0 to n: a float, or an array of them.

    >>> round(log_binomial(10, 3), 9) == round(math.log(120), 9)
    True
    """
    from scipy.special import gammaln

    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    found = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    logs = np.where(inside, found, -np.inf)
    return logs if logs.ndim else float(logs)
