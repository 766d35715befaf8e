"""From a learner of rounded residues to a solver of LWE: the chain, with every number explicit.

THEOREM [BGMRR16]. Let q be a power of two, p even, q >= 2 p B, s a vector of Z_q^n with a unit
among its entries, a uniform, and e an integer, independent of a, |e| <= B, that is at most 0, and
at least 0, with probability 1/2 or more each. A learner that from N examples of the family reaches
the relative risk with probability S gives a solver of LWE: from N samples (a, <a, s> + e mod q) it
finds s mod 2 with probability at least (S - 2^-40)^2 / (1 + p B / q)^N.
Proof. The solver rounds each sample as labels are rounded, shows it with probability 1/2 as an open
example and makes a closed one else, runs the learner and decodes its hypothesis.

One example. t = <a, s> is uniform. Where no interval ends within B of t, rounding t + e gives that
of t. Elsewhere, at 2 B residues for each of p ends, one end alone is as near, as q/p >= 2B, and e
of one sign keeps the label, so it is that of t with probability 1/2 at least. The sum of P^2 / Q, P
the law of (a, label of t), Q that of (a, label of t + e), is the mean of 1 / Pr[same label], at
most 1 + 2 p B / q, and of an example, half of which are closed and alike, at most 1 + p B / q. For
N independent examples such sums multiply, and by Cauchy's inequality an event has probability at
least P^2 / (1 + p B / q)^N under Q; by Jensen's inequality so it has on average over s.

Decoding. Let labels be equally spaced numbers, in the order of intervals, as two always are and as
the claim says of more; their variance is (p^2 - 1) / 12 gaps^2. A hypothesis of relative risk R,
rounded to the nearest label, is wrong where it is half a gap off or more, so at a share of at most
w = R (p^2 - 1) / 3 of a. As q/2 is p/2 intervals, the label at a + (q/2) e_i is that at a, moved on
by p/2 if s_i is odd and not moved if it is even. Read at both, the hypothesis tells which but for a
share of 2 w, below 1/2. By Hoeffding's inequality the majority of T uniform points is wrong with
probability at most exp(-2 T (1/2 - 2w)^2), for any of n entries at most 2^-40.
"""

import math
from fractions import Fraction
from typing import Any

from .core import Fact, need, rule, short, written

SLACK = Fraction(1, 1 << 40)  # the chance that decoding fails
_WIDE, _DEEP = 128, 1 << 18  # bits of a mantissa, and of the least number that is written


def power(base: Fraction, exponent: int) -> Fraction:
    """A number in (0, 1] to a power, by 128 bits or so, rounded down; 0 below 2^-(2^18).

    >>> float(power(Fraction(1, 3), 5)) <= 3**-5 < float(power(Fraction(1, 3), 5)) * (1 + 1e-9)
    True
    """
    mantissa, shift = 1, 0
    for bit in bin(exponent)[2:]:
        mantissa, shift = mantissa**2, 2 * shift
        if bit == "1":
            mantissa, shift = (
                (mantissa << _WIDE) * base.numerator // base.denominator,
                shift + _WIDE,
            )
        spare = max(0, mantissa.bit_length() - _WIDE)
        mantissa, shift = mantissa >> spare, shift - spare
        if shift - mantissa.bit_length() > _DEEP:
            return Fraction(0)
    return Fraction(mantissa, 1 << shift)


def guess(problem: Any) -> Fraction:
    """The probability of the likeliest s mod 2, exactly.

    Of k places, all n or h that are drawn, each has an odd entry with the same probability, a / b,
    independently, but for draws without any, which are drawn again. So a vector mod 2 with j ones,
    j = 1 .. k, has the probability binom(n-j, k-j) / binom(n, k) a^j (b-a)^(k-j) / (b^k -
    (b-a)^k). From j to j + 1 it changes by the factor (k-j)/(n-j) a/(b-a), which never grows with
    j: it is largest at the least j >= 1 of which this is at most 1, j (2a-b) >= k a - n (b-a).
    """
    n, k = problem.n, problem.h or problem.n
    law = problem.entries or {0: problem.q // 2 - bool(problem.h), 1: problem.q // 2}
    odd = Fraction(sum(c for e, c in law.items() if e % 2), sum(law.values()))
    a, b = odd.numerator, odd.denominator
    ones = max(1, -((n * (b - a) - k * a) // (2 * a - b))) if 2 * a > b else 1
    ways = math.comb(n - ones, k - ones) * a**ones * (b - a) ** (k - ones)
    return Fraction(ways, math.comb(n, k) * (b**k - (b - a) ** k))


def horizon(most: Fraction, ratio: Fraction, least: Fraction) -> int:
    """The largest N with most ratio^N above `least`, which is at least 2^-(2^18).

    Rounding, by less than N 2^-120, changes no order: for such N it is far below 1 - ratio.

    >>> horizon(Fraction(4, 9), Fraction(64, 70), Fraction(1, 255))
    52
    """
    low, high = 0, 1
    while most * power(ratio, high) > least:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if most * power(ratio, middle) > least else (low, middle)
    return low


@rule("residues", "members", bound="positive", examples="positive", risk="risk", success="share")
def lwe(
    problem: Any, members: Fact, bound: int, examples: int, risk: Fraction, success: Fraction
) -> Fact:
    """A learner of N examples solves LWE, as the theorem at the head of chain.py says."""
    n, q, p = problem.n, problem.q, problem.parts  # p < q divides q, so both are powers of two
    need(problem.levels == p and problem.errors is None and p < q, "labels are not rounded")
    need(bound <= q // (2 * p), f"errors of {bound}: at most q/(2p) = {q // (2 * p)} is allowed")
    wrong = risk * (p * p - 1) / 3
    most = Fraction(3, 4 * (p * p - 1))
    above = f"the risk must be below {short(most)} for {p} labels, not {short(risk)}"
    need(wrong < Fraction(1, 4), above)
    need(success > SLACK, "success is not above 2^-40")
    need(n < _DEEP, "so long a secret takes too long")
    apart = 2 * (Fraction(1, 2) - 2 * wrong) ** 2 * Fraction(14426, 10_000)  # e > 2^1.4426
    points = math.ceil((40 + n.bit_length()) / apart)
    first, ratio, chance = (success - SLACK) ** 2, Fraction(q, q + p * bound), guess(problem)
    last = horizon(first, ratio, chance)
    value = first * power(ratio, examples)
    binary = problem.entries is not None and set(problem.entries) <= {0, 1}
    lost = Fraction(p * bound, q)  # at most 1/2: 1 / ln(1 + lost) is 1/lost + 1/2 - lost/12 + ..
    tenths = round(Fraction(6_931_472, 10**6) * (1 / lost + Fraction(1, 2) - lost / 12))  # 10 ln 2
    halved = f"{tenths // 10}.{tenths % 10}"
    text = (
        f"reduction: a learner that reaches relative risk {short(risk)}"
        f"{', labels equally spaced in their order,' if p > 2 else ''} with probability "
        f"{short(success)} from {short(examples)} examples gives a solver of LWE. From as many "
        f"samples (a, <a, s> + e mod {q}), secrets by the same law, it finds "
        f"{'s' if binary else 's mod 2'} with probability at least {short(value)}. This holds for "
        f"every law of integers e, independent of a, with |e| <= {bound} and with e <= 0, and e >= "
        f"0, of probability 1/2 or more each. The solver reads the hypothesis at "
        f"{short(points * (n + 1))} points and does not know the law. The assumption is "
        f"LWE(n={n}, q={q}, |e| <= {bound}) for some such law: if that law alone has no solver so "
        f"good and so quick, there is no such learner. The bound on the probability halves about "
        f"every {halved} examples. It is vacuous beyond {last} examples, where the likeliest guess "
        f"is as good: that is right with probability {short(chance, up=True)}"
    )
    at = {
        "bound": written(bound),
        "examples": written(examples),
        "risk": written(risk),
        "success": written(success),
        "horizon": written(last),
    }
    if examples > last:
        value, text = Fraction(0), f"{text}. So it is here: {examples} examples are beyond"
    return Fact("chain", {"lwe-probability": (value, at, text)}, of=members)
