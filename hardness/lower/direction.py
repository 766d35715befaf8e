"""Certificates of hidden directions: gaussian tokens, and a function without low Hermite parts.

Members are all unit vectors of n dimensions, so a query rules out a share of them. What is found
here: bounds on the squared Hermite coefficients below degree m, which float64 thresholds and
amplitudes leave, and how many directions there are of which any two have a small cosine. The kernel
does the rest. docs/mathematics.md has the proofs. [DKS17]
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import acb, arb, ctx

from hardness.check.kernel import written
from hardness.lower.bounds import BoundParameters
from hardness.lower.proof import Proof
from hardness.lower.record import Certificate
from instances.alternating import FAR, Alternating, density, half_mean, hermite
from instances.residues import is_prime

if TYPE_CHECKING:
    from instances.families.direction import Direction

Ball = Any  # flint.arb: the package has no types
_BITS = 160
_SLACK = arb(2) ** -60  # of a coefficient: float64 leaves more
_DIGITS = 6  # of the norm
_COSINES, _POWERS = 2048, 512  # that are tried


def certify_direction(family: "Direction", terms: BoundParameters) -> Certificate:
    """Certify the norm of the members' inner products, sets of directions, and query bounds."""
    n, m, low = family.d - 2, family.m, low_squares(family)
    proof = Proof(hidden_direction(family, low), {"spec": family.spec})
    members = proof.step("directions")
    top, rest = norm(n, low, 0), norm(n, low, 1)
    gram = proof.step("sphere", top=top, rest=rest)
    sets = []
    size, cosine, power = random_directions(n, m, low)
    if size > 1:
        sets += [proof.step("drawn", size=Fraction(size), cosine=cosine, power=power)]
    size, q, points, degree = code(n, m, low)
    sets += [proof.step("polynomials", q=q, points=points, degree=degree, size=Fraction(size))]
    fit = proof.step("fit", members, gram, risk=terms.risk)
    if not family.rounded:
        ask = proof.step("ask", gram, oracle="csq", term=terms.tau)
        bound = proof.step("queries", members, fit, ask, success=terms.success)
        return proof.certificate(gram, *sets, bound)
    stat = proof.step("ask", gram, oracle="stat", term=terms.tau)
    argument = "vstat-least" if terms.vstat * rest < 6 * top else "vstat"  # the better one
    vstat = proof.step("ask", gram, oracle=argument, term=Fraction(terms.vstat))
    bounds = proof.bounds(members, fit, (stat, vstat), terms.success)
    return proof.certificate(gram, *sets, *bounds)


def hidden_direction(family: "Direction", low: list[Fraction]) -> dict[str, Any]:
    """Pose the problem of a family, as the kernel reads it."""
    return {
        "kind": "direction",
        "dimension": family.d - 2,
        "degree": family.m,
        "low": [written(v) for v in low],
        "labels": "two" if family.rounded else "real",
        "noise": written(family.noise if family.rounded else Fraction(0)),
    }


def low_squares(family: "Direction") -> list[Fraction]:
    """Bound g_0^2 .. g_(m-1)^2 of what stands for G in the labels, over its mean square.

    >>> from instances import parse
    >>> [float(v) < 1e-30 for v in low_squares(parse("direction:m=3,d=16,labels=raw"))]
    [True, True, True]
    """
    found, m = family.response, family.m
    with ctx.workprec(_BITS):
        value = _step if family.rounded else _smooth
        # what is beyond the ends of the integral only adds to the mean square
        square = arb(1) if family.rounded else _even_mean(found, lambda _, g: g * g)
        # What is even or odd with m, exactly, has no coefficients of the other degrees.
        return [
            _above((abs(value(found, k)) + _SLACK) ** 2 / square)
            if (m - k) % 2 == 0
            else Fraction(0)
            for k in range(m)
        ]


def _step(found: Alternating, k: int) -> Ball:
    """E s h_k of the signs in closed form: each place t adds 2 (-1)^.. E 1[u > t] h_k."""
    total = arb(0) if k else arb((-1) ** len(found.places))
    for i, t in enumerate(map(arb, found.places)):
        jump = 2 * (-1) ** (len(found.places) - 1 - i)
        above = density(t) * hermite(k, t)[k - 1] if k else (t / arb(2).sqrt()).erfc() / 2
        total += jump * above
    return total / arb(k).fac().sqrt()


def _smooth(found: Alternating, k: int) -> Ball:
    """E G h_k by adaptive quadrature; beyond its ends, |E| is at most max |G| Pr[|u| > end]^1/2."""
    inside = _even_mean(found, lambda u, g: g * hermite(k, u)[k]) / arb(k).fac().sqrt()
    outside = (arb(FAR) / arb(2).sqrt()).erfc().sqrt()
    return inside + arb(0, (arb(found.largest) * outside).upper())


def _even_mean(found: Alternating, value: Callable[[Ball, Ball], Ball]) -> Ball:
    """E value(u, G(u)) over |u| at most FAR, of a value that is even."""
    heads = [(acb(a), acb(t)) for a, t in zip(found.amplitudes, found.places, strict=True)]
    slope, constant = acb(found.kappa) / 2, acb(found.constant)

    def response(u: Ball) -> Ball:
        return sum((a * (slope * (u - t)).tanh() for a, t in heads), constant)

    return 2 * half_mean(lambda u, _: value(u, response(u)))


def _above(value: Ball) -> Fraction:
    """Round up to three digits."""
    size = math.floor(math.log10(float(value.upper()))) - 2
    digits = int((value * arb(10) ** -size).upper().ceil().unique_fmpz())
    return Fraction(digits) * Fraction(10) ** size


def norm(n: int, low: list[Fraction], without: int) -> Fraction:
    """Bound a norm as the rule `sphere` does, rounded up; without: 1 for less the mean member.

    >>> norm(1000, [Fraction(0)] * 4, 0)
    Fraction(149701, 50000000000)
    """
    parts = [g * power_norm(n, k + without) for k, g in enumerate(low) if k >= without]
    top = sum(parts, power_norm(n, len(low) + without))
    size = Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(top)))
    return min(Fraction(1), Fraction(math.ceil(top * size)) / size)


def power_norm(n: int, k: int) -> Fraction:
    """The norm of the kernel r^k on the sphere: E r^k for even k, E r^(k+1) for odd k. [Mul66]

    r is one entry of a uniform unit vector of n dimensions.
    """
    k += k % 2
    return Fraction(math.prod(range(1, k, 2)), math.prod(range(n, n + k, 2)))


def correlation(m: int, low: list[Fraction], cosine: Fraction) -> Fraction:
    """Bound the correlation of two members of a cosine of at most so much."""
    return Fraction(sum(g * cosine**k for k, g in enumerate(low)) + cosine**m)


def random_directions(n: int, m: int, low: list[Fraction]) -> tuple[int, Fraction, int]:
    """Find the largest N such that N random directions have correlations of at most 1/N.

    With probability 1/2 or more, by a union bound. Returns N, the cosine and the power of it by
    whose mean two directions are seldom nearer.

    >>> size, cosine, power = random_directions(998, 8, [Fraction(0)] * 8)
    >>> round(math.log10(size), 2)
    5.26
    """
    cosines = np.arange(1, _COSINES) / _COSINES
    powers = np.arange(1, _POWERS + 1)
    steps = np.log(2 * powers - 1) - np.log(n + 2 * powers - 2)
    near = np.cumsum(steps)[None, :] - 2 * powers * np.log(cosines)[:, None]
    best = near.argmin(axis=1)
    sizes = np.minimum(-near.min(axis=1) / 2, -m * np.log(cosines))
    place = int(sizes.argmax())
    cosine, power = Fraction(place + 1, _COSINES), int(powers[best[place]])
    fails = power_norm(n, 2 * power) / cosine ** (2 * power)
    return (
        max(1, min(math.isqrt(math.floor(1 / fails)), math.floor(1 / correlation(m, low, cosine)))),
        cosine,
        power,
    )


def code(n: int, m: int, low: list[Fraction]) -> tuple[int, int, int, int]:
    """Find the best code of polynomials: its size, the prime q, points and degree.

    >>> code(998, 12, [Fraction(0)] * 12)
    (887503681, 31, 31, 5)
    """
    best = (1, 2, 1, 0)
    for q in filter(is_prime, range(2, n + 1)):
        points = min(q, n // q)
        for degree in range(points):
            near = correlation(m, low, Fraction(degree, points))
            size = min(q ** (degree + 1), math.floor(1 / near) if near else q)
            if size < best[0] and q ** (degree + 1) > size:
                break  # higher degrees are nearer
            best = max(best, (size, q, points, degree))
    return best
