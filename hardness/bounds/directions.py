"""Hidden directions: how many there are of which any two have a small cosine.

Of gaussian tokens and a function without low Hermite parts. docs/mathematics.md has the proofs.
[DKS17]
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.bounds.checker import written
from hardness.bounds.checker.directions import Directions, correlation, power_norm
from hardness.bounds.checker.hidden_sets import prime

_COSINES, _POWERS = 2048, 512  # that are tried


def random_directions(problem: Directions) -> dict[str, Any]:
    """Find the largest N such that N random directions have correlations of at most 1/N.

    With probability 1/2 or more, by a union bound: the witness `random`, the cosine and the
    power of it by whose mean two directions are seldom nearer.
    """
    n, m = problem.n, problem.m
    cosines = np.arange(1, _COSINES) / _COSINES
    powers = np.arange(1, _POWERS + 1)
    steps = np.log(2 * powers - 1) - np.log(n + 2 * powers - 2)
    near = np.cumsum(steps)[None, :] - 2 * powers * np.log(cosines)[:, None]
    best = near.argmin(axis=1)
    sizes = np.minimum(-near.min(axis=1) / 2, -m * np.log(cosines))
    place = int(sizes.argmax())
    cosine, power = Fraction(place + 1, _COSINES), int(powers[best[place]])
    fails = power_norm(n, 2 * power) / cosine ** (2 * power)
    most = min(math.isqrt(math.floor(1 / fails)), math.floor(1 / correlation(problem, cosine)))
    return {"size": written(max(1, most)), "cosine": written(cosine), "power": power}


def polynomials(problem: Directions) -> dict[str, Any]:
    """Find the best code of polynomials: the witness of that name."""
    best = (1, 2, 1, 0)
    for q in filter(prime, range(2, problem.n + 1)):
        points = min(q, problem.n // q)
        for degree in range(points):
            near = correlation(problem, Fraction(degree, points))
            size = min(q ** (degree + 1), math.floor(1 / near) if near else q)
            if size < best[0] and q ** (degree + 1) > size:
                break  # higher degrees are nearer
            best = max(best, (size, q, points, degree))
    size, q, points, degree = best
    return {"size": written(size), "q": q, "points": points, "degree": degree}
