"""Certificates of hidden directions: gaussian tokens, and a function without low Hermite parts.

Members are all unit vectors of n dimensions, so a query rules out a share of them. What is looked
for here is how many directions there are of which any two have a small cosine; the kernel does the
rest. docs/mathematics.md has the proofs. [DKS17]
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.check.kernel import core
from hardness.check.kernel.directions import correlation, power_norm
from hardness.lower.proof import Posed, Proof
from hardness.lower.record import Certificate
from hardness.lower.terms import BoundParameters

_COSINES, _POWERS = 2048, 512  # that are tried


def pose(proof: Proof) -> Posed:
    """Take the steps about all directions."""
    return Posed(proof=proof, members=proof.step("directions"), gram=proof.step("sphere"))


def certify_directions(posed: Posed, terms: BoundParameters) -> Certificate:
    """Certify the norm of the members' inner products, sets of directions, and query bounds."""
    proof, problem, gram = posed.proof, posed.proof.parsed, posed.fact(posed.gram)
    drawn = random_directions(problem)
    sets = [proof.step("drawn", **drawn)] if drawn["size"] > 1 else []
    sets.append(proof.step("polynomials", **polynomials(problem)))
    better = "vstat-least" if terms.vstat * gram.top < 6 * (1 - gram.least) else "vstat"
    asked = [posed.ask("stat", terms.tau), posed.ask(better, terms.vstat)]
    return proof.certificate(posed.gram, *sets, *posed.bounds(asked, terms))


def random_directions(problem: Any) -> dict[str, Any]:
    """Find the largest N such that N random directions have correlations of at most 1/N.

    With probability 1/2 or more, by a union bound: numbers of the rule `drawn`, the cosine and the
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
    return {"size": max(1, most), "cosine": cosine, "power": power}


def polynomials(problem: Any) -> dict[str, Any]:
    """Find the best code of polynomials: numbers of the rule of that name."""
    best = (1, 2, 1, 0)
    for q in filter(core.prime, range(2, problem.n + 1)):
        points = min(q, problem.n // q)
        for degree in range(points):
            near = correlation(problem, Fraction(degree, points))
            size = min(q ** (degree + 1), math.floor(1 / near) if near else q)
            if size < best[0] and q ** (degree + 1) > size:
                break  # higher degrees are nearer
            best = max(best, (size, q, points, degree))
    return dict(zip(("size", "q", "points", "degree"), best, strict=True))
