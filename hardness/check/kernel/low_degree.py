"""Polynomials of low degree: how far they tell a hidden set's labels from coins."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .core import Claims, Fact, need, rule, short, written

EMPTY = "; vacuous"
GAME = "all of one member that is drawn,"
COINS = "its mean where labels are coins of the same mean"


def counted(number: int) -> str:
    """Write a number of examples."""
    return f"{short(number)} example{'s' * (number != 1)}"


def thinned(found: Sequence[Fraction]) -> list[Fraction]:
    """s_1, s_2, .. of examples half of which are open."""
    return [v / 2**i for i, v in enumerate(found, 1)]


def moments(
    weights: Sequence[Fraction], pairs: Sequence[int], degree: int, most: int
) -> list[Fraction]:
    """s_1, s_2, .. of `low_degree`, of open examples: of at most so many examples of a monomial.

    weights: omega_0 = 0, omega_1, .., omega_m; pairs: how many pairs share t places, t = 0 .. m. In
    integers, omega times their common denominator.
    """
    unit = math.lcm(*(w.denominator for w in weights))
    used = [a for a, w in enumerate(weights) if w]
    count = min(most, degree // (used[0] + 1)) if used else 0
    spread = (used[-1] - used[0]) * count + 1 if used else 0
    m, bits = len(weights) - 1, count * unit.bit_length()
    quick = m * len(used) * count * min(degree, spread) * degree <= 10**9 and count <= 2000
    quick = quick and m * min(m, degree) * degree <= 10**7 and count * bits**2 <= 10**13
    need(quick, f"a degree of {short(degree)} takes too long")
    total = [0] * count
    for t, found in enumerate(pairs):
        terms = [(a + 1, int(weights[a] * unit) * math.comb(t, a)) for a in used if a <= t]
        power = {0: 1}
        for i in range(count):
            more: dict[int, int] = {}
            for have, v in power.items():
                for e, w in terms:
                    if have + e <= degree:
                        more[have + e] = more.get(have + e, 0) + v * w
            power = more
            total[i] += found * sum(power.values())
    return [Fraction(v, sum(pairs) * unit**i) for i, v in enumerate(total, 1)]


def total_of(tops: Sequence[int], examples: int) -> int:
    """The sum of binom(examples, i) top_i, i = 1, 2, .."""
    total, choices = 0, 1
    for i, top in enumerate(tops):
        choices = choices * (examples - i) // (i + 1)
        total += choices * top
    return total


def whole(found: Sequence[Fraction]) -> tuple[list[int], int]:
    """Numbers over one denominator."""
    bottom = math.lcm(*(v.denominator for v in found))
    return [v.numerator * (bottom // v.denominator) for v in found], bottom


def advantage(found: Sequence[Fraction], examples: int) -> Fraction:
    """The sum of binom(examples, i) s_i."""
    tops, bottom = whole(found)
    return Fraction(total_of(tops, examples), bottom)


def least_examples(found: Sequence[Fraction]) -> int:
    """The least number of examples for which it is at least 1, 0 where none will do; it rises."""
    tops, bottom = whole(found)
    if not any(tops):
        return 0
    few, enough = 0, 1
    while total_of(tops, enough) < bottom:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if total_of(tops, middle) >= bottom else (middle, enough)
    return enough


@rule("hidden-set", "members overlaps", degree="positive", examples="positive?", most="positive?")
def low_degree(
    problem: Any, members: Fact, overlaps: Fact, degree: int, examples: int | None, most: int | None
) -> Fact:
    """How far polynomials of a degree move their mean, if labels are of a member and not coins.

    The member is drawn once for all examples; coins have the mean label mu, as +-1. An open example
    is n signs z and b = +-1, and has for S the density 1 + b' sum over T in S, not empty, of
    v_|T| chi_T(z) against coins, b' = (b - mu) / sqrt(1 - mu^2), and v_a^2 = w_a (1 - 2 noise)^2 /
    ((1 - mu^2) half^2) for w_a of `overlaps`, its a-th differences at t = 0. Products of chi_T(z)
    and b' chi_T(z), one for each example, are an orthonormal basis, graded by |T|, and |T| + 1. So
    the density of all examples has on b'_i chi_(T_i)(z_i), i in A, the coefficient E_S prod v 1[T_i
    in S], and the squares of those of degree D at most, of at most k examples in A, add up to

        sum_(i <= k) binom(examples, i) s_i,  s_i = E sum_(j <= D) [y^j] (sum_a omega_a binom(t, a)
        y^(a+1))^i,  omega_a = v_a^2,

    t how many places two members share: both hold all T_i. For a polynomial f E_S f - E f is the
    inner product with the density less 1, at most the root of this sum times the deviation of f,
    and attained. Where it is 0 for any number of examples, that is claimed. Where half of the
    examples are closed: 1, z_0, which says so, and sqrt(2) b', 0 where closed, are orthonormal, of
    degree 0, 1 and 1, and span what z_0 and the label do; omega_a is half as large. [Hop18, KWB19,
    BBHLS21]
    """
    need(
        problem.levels == 2,
        "labels take more than two values, and the ratio here is that of labels of two values",
    )
    need(problem.alone, "labels show more than g: which degree that has is not known here")
    n, m, mean = problem.n, problem.m, (overlaps.mean - problem.middle) / problem.half
    scale = problem.fade**2 / problem.half**2 / (1 - (problem.fade * mean) ** 2)
    weights, column = [], [scale * c for c in overlaps.c]
    while column:
        weights.append(column[0])
        column = [b - a for a, b in pairwise(column)]
    pairs = [math.comb(m, t) * math.comb(n - m, m - t) for t in range(m + 1)]
    found = moments(weights, pairs, degree, degree if most is None else most)
    claims: Claims = {}
    at = {"degree": written(degree), "sample_degree": written(most) if most else "any"}
    few = f", no monomial of which looks at more than {counted(most)}" if most else ""
    reach = f"polynomials of degree at most {short(degree)}{few}, in the signs of "
    for end, kind, known in (
        ("", "examples, whether they are open among them,", thinned(found)),
        ("-open", "open examples alone", found),
    ):
        what = f"{reach}{kind} and what labels show of S"
        least = least_examples(known)
        if not least:
            text = (
                f"{what}: over any number of examples, {GAME} the mean of each is {COINS}; no "
                "other tests are meant"
            )
            claims[f"low-degree-advantage{end}"] = 0, {**at, "examples": "any"}, text
            continue
        if examples is not None:
            value = advantage(known, examples)
            root = short(value, up=True)
            text = (
                f"{what}: the mean of one over {counted(examples)}, {GAME} differs from {COINS} by "
                f"at most the root of {root} times its deviation there"
                f"{', which one attains' if root == written(value) else ''}; no other tests "
                f"are meant{EMPTY if value >= 1 else ''}"
            )
            given = {**at, "examples": written(examples)}
            claims[f"low-degree-advantage{end}"] = value, given, text
        text = (
            f"{what}: at least {counted(least)}, {GAME} {'are' if least > 1 else 'is'} needed for "
            f"the mean of one to differ from {COINS} by its deviation there; no other tests are "
            f"meant{EMPTY if least == 1 else ''}"
        )
        claims[f"low-degree-examples{end}"] = least, at, text
    return Fact("bound", claims)
