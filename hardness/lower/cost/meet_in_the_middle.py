"""Meet in the middle: a table of half secrets, and the other halves looked up in it."""

import math
from fractions import Fraction
from math import log2

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate

NAME = "meet-in-the-middle"


def halves(n: int, h: int, alphabet: int) -> tuple[int, int, Fraction]:
    """Count both tables' entries, and the splits of the coordinates that are tried on average.

    Coordinates are split at random in halves of n//2 and n - n//2. With h > 0 entries that are not
    0, of `alphabet` values each, h//2 of them have to fall into the first half.

    >>> halves(8, 2, 1)
    (4, 4, Fraction(7, 4))
    >>> halves(5, 0, 1)
    (4, 8, Fraction(1, 1))
    """
    first, second = n // 2, n - n // 2
    if not h:
        return (alphabet + 1) ** first, (alphabet + 1) ** second, Fraction(1)
    left, right = h // 2, h - h // 2
    places = math.comb(first, left), math.comb(second, right)
    tries = Fraction(math.comb(n, h), places[0] * places[1])
    return places[0] * alphabet**left, places[1] * alphabet**right, tries


def meet_in_the_middle(problem: Problem) -> Estimate:
    """Count the entries of both tables over all splits, exactly. [HS06]

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> spec = "lwr:n=40,q=64,p=4,secret=binary,h=6"
    >>> round(meet_in_the_middle(problem(parse(spec))).bits, 2)
    12.72
    """
    reason = _reason(problem)
    if reason:
        return Estimate(name=NAME, kind="exact count", source="HS06", reason=reason)
    left, right, tries = halves(problem.n, problem.secrets.h, problem.alphabet)
    whole = (left + right) * tries
    note = "one operation an entry"
    if problem.errors is not None:
        note += "; errors make halves match nearly, whose extra lookups are not counted"
    return Estimate(
        name=NAME,
        kind="exact count",
        source="HS06",
        bits=log2(whole.numerator) - log2(whole.denominator),
        sample_bits=log2(problem.unique),
        memory_bits=log2(min(left, right)),
        note=note,
    )


def _reason(problem: Problem) -> str:
    if problem.errors is None:
        return ""
    if problem.q == 2:
        return "noisy bits: the halves of a sum cannot be matched"
    if math.sqrt(12) * problem.errors.deviation > problem.q / 4:
        return "errors cover over a quarter of Z_q: the halves of a sum cannot be matched"
    return ""
