"""Hidden directions: which unit vector do the labels depend on?

w is a uniform unit vector of n dimensions; a point has normal numbers, u the inner product of n of
them with w. The label is s(u), 1 or -1; noise flips it with probability `noise`. By Mehler's
formula E s(u) s(u') = sum_k g_k^2 r^k for two directions of cosine r, g_k the coefficients of s in
normalised Hermite polynomials, sum_k g_k^2 = 1.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

from . import theorem as core
from .hidden_sets import prime
from .reading import fields, need, rationals, six_digits, take
from .theorem import Claim, Gram, Known, Members, Terms, Witness, theorem

NEEDED, OPTIONAL = set[str](), set[str]()


class Directions(NamedTuple):
    """n dimensions; bounds from above on g_0^2 .. g_(m-1)^2; the rate of the noise."""

    n: int
    m: int
    low_at_most: tuple[Fraction, ...]
    noise: Fraction
    levels: int = 2  # labels are signs
    view: str = ""


def read_problem(data: dict[str, Any]) -> Directions:
    """Read the numbers of the problem; raises Refused."""
    _, n, low, noise = take(data, "the problem", kind=None, dimension=(2, 10**9), low=rationals,
                            noise="risk")  # fmt: skip
    need(1 <= len(low) <= 64 and all(0 <= g <= 1 for g in low), "squares are not 1 to 64 in 0..1")
    need(max(g.denominator for g in low) < 10**100, "a square has over 100 digits")
    need(noise < Fraction(1, 2), "noise is not below 1/2")
    return Directions(n=n, m=len(low), low_at_most=tuple(low), noise=noise)


def power_norm(n: int, k: int) -> Fraction:
    """The norm of the operator of the kernel r^k, r the cosine, under a uniform direction.

    On harmonics of degree l <= k, k - l even, its eigenvalue is k! Gamma(n/2) / (2^k ((k-l)/2)!
    Gamma((n+k+l)/2)), which falls as l grows [Mul66]. So it is E r^k for even k, of l = 0, and
    E r^(k+1) for odd k, of l = 1; E r^k = 1 3 .. (k-1) / (n (n+2) .. (n+k-2)), k even.
    """
    k += k % 2
    return Fraction(math.prod(range(1, k, 2)), math.prod(range(n, n + k, 2)))


def correlation(problem: Directions, cosine: Fraction) -> Fraction:
    """Bound the correlation of two members of such a cosine at most, in absolute value."""
    return Fraction(
        sum(g * cosine**k for k, g in enumerate(problem.low_at_most)) + cosine**problem.m
    )


@theorem
def sphere(problem: Directions) -> tuple[Members, Gram, list[Claim]]:
    """The operator of inner products of members, on functions of w, has a norm of at most `whole`.

    Members are all unit vectors: a share of 1. The operator is the sum of g_k^2 times that of r^k;
    norms of r^k fall as k grows, and those from m on weigh at most 1 together. Less the mean
    member, it is at most `rest`: constant functions of w are gone, and of r^k is left that of l = 1
    for odd k, and for even k that of l = 2, E r^k k/(n+k), at most E r^(k+2): in both cases at most
    the norm of r^(k+1). So for a function of squared norm H its squared inner products with all
    members, less their mean, have a mean of at most rest H: Bessel, in shares of directions. Their
    squared norm is at least 1 - whole, and the best predictor that knows the family alone is off by
    at most 1. A query is phi0 + phi1 y, y the label. For values in [-1, 1] the reference is the
    mean over all directions: it moves by (1 - 2 noise) E[phi1 (s - its mean)], |phi1| <= 1. For
    values in [0, 1] labels of the reference are fair coins: p0 = E phi0, phi1^2 <= min(phi0, 1 -
    phi0) / 2, and nothing is taken away from s.
    """
    n, m, low = problem.n, problem.m, problem.low_at_most
    all_of_it = sum((g * power_norm(n, k) for k, g in enumerate(low)), power_norm(n, m))
    less_mean = [g * power_norm(n, k + 1) for k, g in enumerate(low) if k]
    norms = all_of_it, sum(less_mean, power_norm(n, m + 1))
    whole, rest = (min(Fraction(1), Fraction(six_digits(norm, up=True))) for norm in norms)
    fade = (1 - 2 * problem.noise) ** 2
    gram = Gram(top=rest, least=1 - whole, scale=1, general=True, moves=fade * rest,
                moves01=fade * whole / 2)  # fmt: skip
    norm = Claim("operator-norm-at-most", whole, {}, "sum_k g_k^2 |r^k|, up", "DKS17", {})
    form = "sum_k g_k^2 |r^(k+1)|, up"
    second = Claim("second-eigenvalue-at-most", rest, {}, form, "DKS17", {})
    return Members(count=1, continuum=True), gram, [norm, second]


@theorem
def random_directions(problem: Directions, witness: Any) -> Claim:
    """So many random directions have correlations of at most 1/size, with a probability.

    They are uniform, and all pairs have then a |cosine| of at most `cosine`. Pr[|r| > c] <= E
    r^(2j) / c^(2j) for a pair, and there are size (size - 1) / 2 pairs. Two directions are uniform
    relative to each other.
    """
    size, cosine, j = take(witness, "random directions", size="positive", cosine="share",
                           power=(1, 1000))  # fmt: skip
    need(cosine.denominator <= 10**6, "the cosine has a denominator above 10^6")
    fails = Fraction(size * (size - 1), 2) * power_norm(problem.n, 2 * j) / cosine ** (2 * j)
    sure = Fraction(math.floor((1 - fails) * 10**6), 10**6)
    need(sure > 0, "a pair may be nearer with probability 1")
    need(correlation(problem, cosine) * size <= 1, "correlations may be above 1/size")
    form = "a union bound over all pairs"
    return Claim("random-members", size, {"probability": sure}, form, "DKS17", {})


@theorem
def polynomials(problem: Directions, witness: Any) -> Claim:
    """SQ-DIM is at least `size`, by polynomials p of a degree over the field of a prime q.

    SQ-DIM is the most members N of pairwise |correlation| at most 1/N. The direction of p has
    entries 1/sqrt(l) at the places (i, p(i)), i < l = points <= q: two agree at `degree` points at
    most. [RS60]
    """
    q, points, t, size = take(witness, "polynomials", q=(2, 10**6), points=(1, 10**6),
                              degree=(0, 10**6), size="positive")  # fmt: skip
    need(t <= points, "the degree is above the points")
    need(prime(q) and points <= q and points * q <= problem.n, "there are not so many places")
    need(size <= q ** (t + 1), "there are not so many polynomials")
    near = correlation(problem, Fraction(t, points))
    need(size == 1 or near * size <= 1, "correlations may be above 1/size")
    form = f"polynomials of degree at most {t} over the field of {q}"
    return Claim("sq-dimension-at-least", size, {}, form, "BFJKMR94", {})


def know(problem: Directions, witness: Witness) -> Known:
    """What is known of the directions."""
    return Known(*sphere(problem))


def claims(problem: Directions, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    """What follows for learners that ask, or see examples, and directions that are far apart."""
    fields(witness, {"polynomials"}, "the witness", {"random"})
    sets = [polynomials(problem, witness["polynomials"])]
    if "random" in witness:
        sets.insert(0, random_directions(problem, witness["random"]))
    members, gram = known.members, known.gram
    vstat = core.vstat_rules_out(members, gram, terms.t)
    within = core.vstat_rules_out_at_least_one_over_t(members, gram, terms.t)
    asked = [core.stat_rules_out(members, gram, terms.tau),
             within if within.members <= vstat.members else vstat]  # fmt: skip
    return known.claims + sets + core.needed_by_learners(problem, terms, known, asked)
