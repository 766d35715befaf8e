"""The mean over all members as reference of VSTAT: the largest eigenvalue, weighted for it.

Where labels are nearly the same for all members, a query of small mean sees more of a member. A
token on which the mean label is b, as +-1, counts 1/(1 - |b|). docs/mathematics.md has the proof.
"""

import itertools

from flint import arb, ctx, fmpq, fmpz

from hardness.lower.johnson import Johnson
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational

_PLACES, _TERMS = 48, 3 * 10**6  # what takes some seconds
_BITS = 64  # of the bound; the arithmetic has twice as many


def mixture_spread(family: Symmetric, scheme: Johnson) -> Rational | None:
    """Bound the weighted largest eigenvalue of a two-valued profile from above, values as +-1.

    A dyadic rational, above the eigenvalue by a part of 2^-60 or so. None where m or d is too large
    for this.

    >>> from instances import parse
    >>> family = parse("profile:g=exactly(1),d=3,m=1")
    >>> float(mixture_spread(family, Johnson.family(family)))
    1.0
    """
    n, m = scheme.n, scheme.m
    if m > _PLACES or n * (m + 4) ** 2 > _TERMS:
        return None
    fade = rational(1 - 2 * family.noise)
    differences = [[fmpz(1 if v > family.centre else -1) for v in family.values]]
    for _ in range(m):
        differences.append([b - a for a, b in itertools.pairwise(differences[-1])])
    means = [_sum(differences[0], n, m, w, 0) / fmpq(scheme.size) for w in range(n + 1)]
    with ctx.workprec(2 * _BITS):
        shares = [arb(0) if abs(b) == 1 else 1 / arb(1 - fade * abs(b)) for b in means]
        totals = []
        for j in range(1, scheme.rank + 1):
            tokens, total = arb(1), arb(0)  # C(n-2j, w-j)
            for w in range(j, n - j + 1):
                total += shares[w] * tokens * _sum(differences[j], n, m, w, j) ** 2
                tokens = tokens * (n - j - w) / (w - j + 1)
            totals.append(total / fmpz.bin_uiui(n - 2 * j, m - j))
        highest = max((total.upper() for total in totals), key=lambda bound: bound.mid())
        bound = arb(fade) ** 2 * highest / arb(2) ** n
        with ctx.workprec(_BITS):
            return (bound * (1 + arb(2) ** (4 - _BITS))).upper().fmpq()


def _sum(values: list[fmpz], n: int, m: int, w: int, j: int) -> fmpz:
    """Sum values[h] C(w-j, h) C(n-w-j, m-j-h) over h."""
    low, high = w - j, n - w - j
    return sum(
        (
            value * fmpz.bin_uiui(low, h) * fmpz.bin_uiui(high, m - j - h)
            for h, value in enumerate(values[: low + 1])
            if value and m - j - h <= high
        ),
        fmpz(0),
    )
