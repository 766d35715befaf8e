"""Witnesses for hidden directions: many directions, any two of which have a small cosine.

Tokens are gaussian, and the function has no low Hermite coefficients. docs/mathematics.md has the
proofs. [DKS17]
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.bounds.checker import written
from hardness.bounds.checker.directions import Directions, correlation, power_norm
from hardness.bounds.checker.hidden_sets import prime

_COSINE_GRID, _MOST_POWER = 2048, 512  # cosines are multiples of 1/2048, powers at most 512


def random_directions(problem: Directions) -> dict[str, Any]:
    """Find the largest N such that N random directions have correlations of at most 1/N.

    They do so with probability at least 1/2, by a union bound over pairs. Returns the witness
    `random`: N, a cosine, and the power whose mean bounds the probability of a larger cosine.
    """
    n, m = problem.n, problem.m
    cosines = np.arange(1, _COSINE_GRID) / _COSINE_GRID
    powers = np.arange(1, _MOST_POWER + 1)
    steps = np.log(2 * powers - 1) - np.log(n + 2 * powers - 2)
    near = np.cumsum(steps)[None, :] - 2 * powers * np.log(cosines)[:, None]
    best = near.argmin(axis=1)
    sizes = np.minimum(-near.min(axis=1) / 2, -m * np.log(cosines))
    place = int(sizes.argmax())
    cosine, power = Fraction(place + 1, _COSINE_GRID), int(powers[best[place]])
    fails = power_norm(n, 2 * power) / cosine ** (2 * power)
    size = min(math.isqrt(math.floor(1 / fails)), math.floor(1 / correlation(problem, cosine)))
    return {"size": written(max(1, size)), "cosine": written(cosine), "power": power}


def polynomials(problem: Directions) -> dict[str, Any]:
    """Find the largest code of polynomials: the witness `polynomials`."""
    best = (1, 2, 1, 0)
    for q in filter(prime, range(2, problem.n + 1)):
        points = min(q, problem.n // q)
        for degree in range(points):
            near = correlation(problem, Fraction(degree, points))
            size = min(q ** (degree + 1), math.floor(1 / near) if near else q)
            if size < best[0] and q ** (degree + 1) > size:
                break  # higher degrees have larger correlations
            best = max(best, (size, q, points, degree))
    size, q, points, degree = best
    return {"size": written(size), "q": q, "points": points, "degree": degree}
