"""The layer that one gets without the exact solve: right only for infinitely steep heads."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import fmpz

Integer = Any  # flint.fmpz: the package has no types


def approximate_values(values: Sequence[Fraction], rho: Fraction) -> tuple[list[Integer], Integer]:
    """Evaluate heads with the limit weights a_i = (g(i) - g(i-1))/2 at finite steepness.

    B~(h) = (g(0) + g(m))/2 + sum_{i=1..m} a_i (x_h - u_i)/(x_h + u_i) for h = 0 .. m, with the
    thresholds and the steepness of the exact heads, x_h = rho^(2h) and u_i = rho^(2i-1). It tends
    to g as rho grows. Returns the integers D B~(h), which have the level sets and exponents of B~,
    and D.

    >>> approximate_values([Fraction(1), Fraction(-1), Fraction(1)], Fraction(3))
    ([32, 0, 32], 56)
    """
    # A head depends on h - i alone: (x_h - u_i)/(x_h + u_i) = step(2(h - i) + 1), an odd function.
    m, p, q = len(values) - 1, fmpz(rho.numerator), fmpz(rho.denominator)
    odd = range(1, 2 * m, 2)
    bottom = _common(p**n + q**n for n in odd)
    up = [(p**n - q**n) * (bottom // (p**n + q**n)) for n in odd]
    steps = [-s for s in reversed(up)] + up  # at h - i = -m .. m-1
    scale = _common(fmpz(v.denominator) for v in values)
    g = [v.numerator * (scale // v.denominator) for v in values]  # 2 a_i = g(i) - g(i-1)
    rises = [b - a for a, b in pairwise(g)]
    numerators = [
        (g[0] + g[-1]) * bottom
        + sum((rise * steps[h - i + m] for i, rise in enumerate(rises, 1)), fmpz(0))
        for h in range(m + 1)
    ]
    return numerators, 2 * scale * bottom


def _common(bottoms: Iterable[Integer]) -> Integer:
    """The least common multiple."""
    out = fmpz(1)
    for bottom in bottoms:
        out = out.lcm(bottom)
    return out
