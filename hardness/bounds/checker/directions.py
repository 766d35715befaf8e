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
from .hidden_sets import polynomials as sets_of_polynomials
from .reading import fields, need, rationals, six_digits, take
from .theorem import Claim, Gram, Known, Members, Terms, Witness, theorem


class Directions(NamedTuple):
    """n dimensions; bounds from above on g_0^2 .. g_(m-1)^2; the rate of the noise."""

    n: int
    m: int
    low_at_most: tuple[Fraction, ...]
    noise: Fraction
    levels: int = 2  # labels are signs


def read_problem(data: dict[str, Any]) -> Directions:
    """Read the numbers of the problem; raises Refused."""
    _, n, low, noise = take(data, "the problem", kind=None, dimension=(2, 10**9), low=rationals,
                            noise="noise")  # fmt: skip
    need(1 <= len(low) <= 64 and all(0 <= g <= 1 for g in low), "squares are not 1 to 64 in 0..1")
    need(max(g.denominator for g in low) < 10**100, "a square has over 100 digits")
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
    """Bound the |correlation| of two members whose directions have at most this |cosine|."""
    low = (*problem.low_at_most, Fraction(1))
    return Fraction(sum(g * cosine**k for k, g in enumerate(low)))


@theorem
def sphere(problem: Directions) -> tuple[Members, Gram, list[Claim]]:
    """The operator of inner products of members, on functions of w, has a norm of at most `whole`.

    Members are all unit vectors: a share of 1. The operator is the sum of g_k^2 times that of r^k;
    norms of r^k fall as k grows, and those from m on weigh at most 1 together. Less the mean
    member, it is at most `rest`: constant functions of w are gone, and of r^k is left that of l = 1
    for odd k, and for even k that of l = 2, E r^k k/(n+k), at most E r^(k+2): in both cases at most
    the norm of r^(k+1). So by Bessel, in shares of directions, squared inner products with members
    less their mean have a mean of at most `rest`. The members' squared norm is at least 1 - whole,
    and the best predictor that knows the family alone is off by at most 1. A query is phi0 + phi1
    y, y the label. For values in [-1, 1] the reference is the mean over all directions: it moves by
    (1 - 2 noise) E[phi1 (s - its mean)], |phi1| <= 1. For values in [0, 1] labels of the reference
    are fair coins: p0 = E phi0, phi1^2 <= min(phi0, 1 - phi0) / 2, and s keeps its mean.
    """
    n, low, fade = problem.n, (*problem.low_at_most, Fraction(1)), (1 - 2 * problem.noise) ** 2
    whole, rest = (sum((g * power_norm(n, k + more) for k, g in enumerate(low) if k >= more),
                       Fraction(0)) for more in (0, 1))  # fmt: skip
    whole, rest = (min(Fraction(1), Fraction(six_digits(v, up=True))) for v in (whole, rest))
    gram = Gram(top=rest, least=1 - whole, scale=1, general=True, moves=fade * rest,
                moves01=fade * whole / 2)  # fmt: skip
    claims = [Claim(quantity, norm, {}, form, "DKS17", {}) for quantity, norm, form in (
        ("operator-norm-at-most", whole, "sum_k g_k^2 |r^k|, up"),
        ("second-eigenvalue-at-most", rest, "sum_k g_k^2 |r^(k+1)|, up"))]  # fmt: skip
    return Members(count=1, continuum=True), gram, claims


@theorem
def random_directions(problem: Directions, witness: Any) -> Claim:
    """`size` random directions have correlations of at most 1/size, with a stated probability.

    All pairs have then a |cosine| of at most `cosine`: there are size (size - 1) / 2 of them, for
    each Pr[|r| > c] <= E r^(2j) / c^(2j), and one is uniform relative to the other.
    """
    size, cosine, j = take(witness, "random directions", size="positive", cosine="share",
                           power=(1, 1000))  # fmt: skip
    need(cosine.denominator <= 10**6, "the cosine has a denominator above 10^6")
    fails = Fraction(size * (size - 1), 2) * power_norm(problem.n, 2 * j) / cosine ** (2 * j)
    sure = Fraction(math.floor((1 - fails) * 10**6), 10**6)
    need(sure > 0, "a pair may be nearer with probability 1")
    need(correlation(problem, cosine) * size <= 1, "correlations may be above 1/size")
    return Claim("random-members", size, {"probability": sure}, "a union bound", "DKS17", {})


@theorem
def polynomials(problem: Directions, witness: Any) -> Claim:
    """SQ-DIM is at least `size`, by polynomials p of a degree over the field of a prime q.

    The direction of p is 1/sqrt(points) at the places of its set, of `hidden_sets.polynomials`.
    """
    q, points, t, size = take(witness, "polynomials", q=(2, 10**6), points=(1, 10**6),
                              degree=(0, 10**6), size="positive")  # fmt: skip
    need(t <= points, "the degree is above the points")
    need(size <= sets_of_polynomials(problem.n, points, q, t), "there are not so many polynomials")
    near = correlation(problem, Fraction(t, points))
    need(size == 1 or near * size <= 1, "correlations may be above 1/size")
    form = f"polynomials of degree at most {t} over the field of {q}"
    return Claim("sq-dimension-at-least", size, {}, form, "BFJKMR94", {})


def know(problem: Directions, witness: Witness) -> Known:
    """Facts about the directions."""
    return Known(*sphere(problem))


def claims(problem: Directions, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    """Claims about learners that use queries or examples, and nearly orthogonal directions."""
    fields(witness, {"polynomials"}, "the witness", {"random"})
    sets = [random_directions(problem, witness["random"])] if "random" in witness else []
    sets.append(polynomials(problem, witness["polynomials"]))
    members, gram = known.members, known.gram
    vstat = core.vstat_rules_out(members, gram, terms.t)
    within = core.vstat_rules_out_at_least_one_over_t(members, gram, terms.t)
    stat, few = core.stat_rules_out(members, gram, terms.tau), within.value <= vstat.value
    asked = [stat, within if few else vstat]
    return known.claims + sets + core.needed_by_learners(problem, terms, known, asked)
