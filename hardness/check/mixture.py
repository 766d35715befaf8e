"""The reference of VSTAT that is the mean over all members: an eigenvalue is below a number.

Members are correlated by their overlap, tokens weighted, and the eigenvalues found by distances;
the makers find them one number of -1 among z after the other.
"""

import itertools
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from hardness.check.reading import refuse
from hardness.check.scheme import Scheme

_PLACES, _TERMS = 48, 3 * 10**6  # makers show nothing for more


def check_mixture(scheme: Scheme, claimed: fmpq, noise: Fraction) -> None:
    """Verify that the weighted eigenvalue of a two-valued profile, as +-1, is at most `claimed`."""
    n, m = scheme.family.ground, scheme.family.chosen
    if m > _PLACES or n * (m + 4) ** 2 > _TERMS:
        refuse("the members have too many places for their mixture to be verified")
    fade = fmpq((1 - 2 * noise).numerator, (1 - 2 * noise).denominator)
    signs = [1 if value == max(scheme.values) else -1 for value in scheme.values]
    with ctx.workprec(128 + 8 * m + 4 * scheme.family.size.bit_length()):
        shares = [_share(signs, n, w, fade) for w in range(n + 1)]
        correlations = _correlations(signs, n, shares)
        scale = arb(fade) ** 2 / arb(2) ** n
        for k in range(1, len(scheme.distances[0])):
            found = sum((c * scheme.distances[m - t][k] for t, c in correlations.items()), arb(0))
            if not scale * found <= arb(claimed):
                refuse("an eigenvalue of members less their mean is above the one of the mixture")


def _share(signs: list[int], n: int, w: int, fade: fmpq) -> arb:
    """1/(1 - fade |b|), b the mean sign of the members on w entries -1; 0 if they all agree."""
    m = len(signs) - 1
    counts = {1: fmpz(0), -1: fmpz(0)}
    for h in range(max(0, m - n + w), min(m, w) + 1):
        counts[signs[h]] += fmpz.bin_uiui(w, h) * fmpz.bin_uiui(n - w, m - h)
    fewer = min(counts.values())
    if not fewer:
        return arb(0)
    return 1 / arb(1 - fade + 2 * fade * fewer / sum(counts.values()))


def _correlations(signs: list[int], n: int, shares: list[arb]) -> dict[int, arb]:
    """Sum the products of two members, weighted, over all tokens: by the size of their overlap."""
    m = len(signs) - 1
    first = max(0, 2 * m - n)
    # tails[s]: the weights of all tokens with given entries outside n - 2m + t places, s of them -1
    free = n - 2 * m + first
    row = [arb(1)]
    for i in range(free):
        row.append(row[-1] * (free - i) / (i + 1))
    tails = [
        sum((c * share for c, share in zip(row, shares[s:], strict=False)), arb(0))
        for s in range(n - free + 1)
    ]
    out = {}
    for t in range(first, m + 1):
        alone = [fmpz.bin_uiui(m - t, i) for i in range(m - t + 1)]
        total = arb(0)
        for a in range(t + 1):
            products = [fmpz(0)] * (2 * (m - t) + 1)
            for i, one in enumerate(alone):
                for j, other in enumerate(alone):
                    products[i + j] += signs[a + i] * signs[a + j] * one * other
            inner = sum((p * tails[a + s] for s, p in enumerate(products)), arb(0))
            total += fmpz.bin_uiui(t, a) * inner
        out[t] = total
        tails = [x + y for x, y in itertools.pairwise(tails)]  # C(N,k) + C(N,k-1)
    return out
