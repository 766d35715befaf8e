"""Laws of labelled examples of profiles for the checker: how far fresh batches tell members apart.

The largest eigenvalue of a matrix of entries >= 0 whose rows have one sum is that sum.
"""

import math

from flint import fmpq, fmpz

from hardness.check.reading import refuse
from hardness.check.scheme import Scheme

_MOST_BITS = 1 << 19  # of an exact power


def correlations(scheme: Scheme) -> list[fmpq]:
    """Of two members by overlap: from the four label means, by a table of two labels.

    The sum over labels s of (P_S(s) - P_0(s)) (P_T(s) - P_0(s))/P_0(s), on half of the tokens.
    """
    if len(set(scheme.values)) != 2:
        refuse("labels take more than two values: there is no such claim")
    noise = scheme.family.noise
    fade = fmpq(1) - 2 * fmpq(noise.numerator, noise.denominator)
    middle = (max(scheme.values) + min(scheme.values)) / 2
    plus = (1 + fade * (scheme.mean - middle) / scheme.half) / 2  # P_0(+1)
    # P_S(+1 | X) - P_0(+1) is fade/2 times the centred sign, and the opposite for -1.
    both = (fade / 2) ** 2 * (1 / plus + 1 / (1 - plus)) / 2
    return [both * c / scheme.half**2 for c in scheme.c]


def row(scheme: Scheme, batch: int) -> fmpq:
    """The sum of a row of (1 + c)^batch - 1, from the members at each distance."""
    found = correlations(scheme)
    shared = math.prod({int(c.q) for c in found})
    shared //= math.gcd(*(shared // int(c.q) for c in found))
    if batch * shared.bit_length() > _MOST_BITS:
        refuse("the powers of this batch are too long to be computed")
    total = fmpz(0)
    for distance, count in enumerate(scheme.valencies):
        ratio = (1 + found[-1 - distance]) * shared
        total += count * fmpz(ratio.p) ** batch
    return fmpq(total, fmpz(shared) ** batch) - scheme.family.size
