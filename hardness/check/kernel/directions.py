"""Hidden directions: which unit vector do the labels depend on?

w is a uniform unit vector of n dimensions; a point has normal numbers, u
the inner product of n of them with w, and what an example shows of w is a function s(u), E s^2 =
1. By Mehler's formula E s(u) s(u') = sum_k g_k^2 r^k for two directions of cosine r, g_k the
coefficients of s in normalised Hermite polynomials, sum_k g_k^2 = 1.
"""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from .core import (
    ALL,
    FAMILY,
    SQ_DIM,
    Claims,
    Fact,
    leading,
    need,
    prime,
    problem,
    read,
    rule,
    short,
    small,
    written,
)


@problem("direction")
def direction(given: dict[str, Any]) -> Any:
    """Read the problem: squares of g_0 .. g_(m-1) are at most those in `low`."""
    fields = {"kind", "dimension", "degree", "low", "labels", "noise"}
    need(set(given) == fields, "fields of the problem")
    n = small(given["dimension"], 2, 10**9, "dimension")
    m, labels = small(given["degree"], 1, 64, "degree"), given["labels"]
    low, noise = read("rational*", given["low"]), read("risk", given["noise"])
    need(len(low) == m and all(0 <= g <= 1 for g in low), "squares are not m numbers in 0..1")
    need(max(g.denominator for g in low) < 10**100, "a square has over 100 digits")
    need(labels != "real", "raw labels are gone: certify direction")
    need(labels == "two" and noise < Fraction(1, 2), "labels, or noise of 1/2")
    shown = f"s(u), of values -1 and +1, whose sign noise flips with probability {noise}"
    text = (
        f"Members are the unit vectors w of {n} dimensions, drawn uniformly. u, the inner product "
        f"of w with {n} numbers of the point, is standard normal, and an example shows {shown}. "
        f"The squared Hermite coefficients of s of degree below {m} are at most "
        f"{', '.join(map(short, low))}. {FAMILY}"
    )
    return SimpleNamespace(
        n=n, m=m, low=low, fade=1 - 2 * noise, conditions=text + ALL, levels=2, down=Fraction
    )


def power_norm(n: int, k: int) -> Fraction:
    """The norm of the operator of the kernel r^k, r the cosine, under a uniform direction.

    On harmonics of degree l <= k, k - l even, its eigenvalue is k! Gamma(n/2) / (2^k ((k-l)/2)!
    Gamma((n+k+l)/2)), which falls as l grows [Mul66]. So it is E r^k for even k, of l = 0, and
    E r^(k+1) for odd k, of l = 1; E r^k = 1 3 .. (k-1) / (n (n+2) .. (n+k-2)), k even.
    """
    k += k % 2
    return Fraction(math.prod(range(1, k, 2)), math.prod(range(n, n + k, 2)))


@rule("direction")
def sphere(problem: Any) -> Fact:
    """The operator of inner products of members, on functions of w, has a norm of at most `whole`.

    It is the sum of g_k^2 times that of r^k; norms of r^k fall as k grows, and those from m on
    weigh at most 1 together. Less the mean member, it is at most `rest`: constant functions of w
    are gone, and of r^k is left that of l = 1 for odd k, and for even k that of l = 2, E r^k
    k/(n+k), at most E r^(k+2): in both cases at most the norm of r^(k+1). So for a function of
    squared norm H its squared inner products with all members, less their mean, have a mean of at
    most rest H: Bessel, in shares of directions. Their squared norm is at least 1 - whole, and the
    best predictor that knows the family alone is off by at most 1. The reference is the mean over
    all directions, so that a query moves by (1 - 2 noise) E[phi1 (s - its mean)], |phi1| <= 1; for
    values in [0, 1] it shows a fair coin in place of s, of which nothing is taken away, and phi1^2
    <= min(phi0, 1 - phi0) / 2.
    """
    n, m = problem.n, problem.m
    whole = up(sum((g * power_norm(n, k) for k, g in enumerate(problem.low)), power_norm(n, m)))
    parts = [g * power_norm(n, k + 1) for k, g in enumerate(problem.low) if k]
    rest = up(sum(parts, power_norm(n, m + 1)))
    fade = problem.fade**2
    said = "the norm of the members' inner products, over a uniform direction"
    claims: Claims = {
        "operator-norm-at-most": (whole, {}, f"{said}, is at most {short(whole, up=True)}"),
        "second-eigenvalue-at-most": (
            rest,
            {},
            f"{said}, less the mean of all, is at most {short(rest, up=True)}",
        ),
    }
    return Fact("gram", claims, top=rest, least=1 - whole, scale=1, alike=1, general=True,
                moves=fade * rest, moves01=fade * whole / 2)  # fmt: skip


def up(value: Fraction) -> Fraction:
    """Round a number in (0, 1] up to six digits."""
    size = Fraction(10) ** (5 - leading(value)[0])
    return min(Fraction(1), math.ceil(value * size) / size)


@rule("direction")
def directions(_: Any) -> Fact:
    """All of them, a share of 1."""
    return Fact("members", count=1, share=True)


def correlation(problem: Any, cosine: Fraction) -> Fraction:
    """Bound the correlation of two members of such a cosine at most, in absolute value."""
    return Fraction(sum(g * cosine**k for k, g in enumerate(problem.low)) + cosine**problem.m)


@rule("direction", size="positive", cosine="share", power="json")
def drawn(problem: Any, size: int, cosine: Fraction, power: Any) -> Fact:
    """So many uniform directions have cosines of at most `cosine`, with a probability.

    Pr[|r| > c] <= E r^(2j) / c^(2j) for a pair, and there are size (size - 1) / 2 pairs. Two
    directions are uniform relative to each other.
    """
    j = small(power, 1, 1000, "the power")
    need(cosine.denominator <= 10**6, "the cosine has a denominator above 10^6")
    fails = Fraction(size * (size - 1), 2) * power_norm(problem.n, 2 * j) / cosine ** (2 * j)
    sure = Fraction(math.floor((1 - fails) * 10**6), 10**6)
    need(sure > 0, "a pair may be nearer with probability 1")
    need(correlation(problem, cosine) * size <= 1, "correlations may be above 1/size")
    text = (
        f"{short(size)} directions drawn uniformly have correlations of at most 1/{short(size)} "
        f"with probability at least {short(sure)}: so there are such directions"
    )
    return Fact("bound", {"random-members": (size, {"probability": written(sure)}, text)})


@rule("direction", q="json", points="json", degree="json", size="positive")
def polynomials(problem: Any, q: Any, points: Any, degree: Any, size: int) -> Fact:
    """SQ-DIM is at least `size`, by polynomials p of a degree over the field of a prime q.

    The direction of p has entries 1/sqrt(l) at the places (i, p(i)), i < l = points <= q: two agree
    at `degree` points at most. [RS60]
    """
    q, points = small(q, 2, 10**6, "q"), small(points, 1, 10**6, "points")
    t = small(degree, 0, points, "the degree")
    need(prime(q) and points <= q and points * q <= problem.n, "there are not so many places")
    need(size <= q ** (t + 1), "there are not so many polynomials")
    near = correlation(problem, Fraction(t, points))
    need(size == 1 or near * size <= 1, "correlations may be above 1/size")
    text = SQ_DIM.format(f"at least {short(size)}")
    return Fact("bound", {"sq-dimension-at-least": (size, {}, text)})
