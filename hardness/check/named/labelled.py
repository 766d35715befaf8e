"""Laws of labelled examples for the checker: how far fresh batches tell members apart.

The largest eigenvalue of a matrix of entries >= 0 whose rows have one sum is that sum. A batch or
a state that is far too large is seen by powers cut down to 64 bits, not computed.
"""

import math
from fractions import Fraction

from flint import fmpq, fmpz

from hardness.check.named.members import Members
from hardness.check.reading import refuse
from hardness.check.scheme import python_fraction

_MOST_BITS = 1 << 19  # of an exact power
_KEPT = 64  # bits of a power that is only bounded, beside those that its exponent loses


def squared_batch(members: Members, batch: int, bits: int) -> Fraction:
    """The mean chi-squared distance of a state of so many bits after one batch, 4 if it is more."""
    found = _correlations(members)
    below = min(_power_below(1 + found[-1], batch, members.size), fmpq(8 * members.size)) - 1
    below = max(below, found[-1])
    # 2^(bits - 1) <= 2^bits - 1 states tell: enough of them say nothing.
    if bits > 2 * members.size.bit_length() + int(1 / min(below, fmpq(1))).bit_length() + 4:
        return Fraction(4)
    states = 2**bits - 1
    if below * states >= 4 * members.size:
        return Fraction(4)
    return min(python_fraction(_row(members, found, batch) * states / members.size), Fraction(4))


def _correlations(members: Members) -> list[fmpq]:
    """Of two members by overlap: from the four label means, by a table of two labels.

    The sum over labels s of (P_S(s) - P_0(s)) (P_T(s) - P_0(s))/P_0(s), on half of the tokens.
    """
    scheme = members.scheme
    if not members.two_valued:
        refuse("labels take more than two values: there is no such claim")
    fade = fmpq(1) - 2 * fmpq(members.noise.numerator, members.noise.denominator)
    middle = (max(scheme.values) + min(scheme.values)) / 2
    plus = (1 + fade * (scheme.mean - middle) / scheme.half) / 2  # P_0(+1)
    # P_S(+1 | X) - P_0(+1) is fade/2 times the centred sign, and the opposite for -1.
    both = (fade / 2) ** 2 * (1 / plus + 1 / (1 - plus)) / 2
    return [both * c / scheme.half**2 for c in scheme.c]


def _row(members: Members, found: list[fmpq], batch: int) -> fmpq:
    """The sum of a row of (1 + c)^batch - 1, from the members at each distance."""
    shared = math.prod({int(c.q) for c in found})
    shared //= math.gcd(*(shared // int(c.q) for c in found))
    if batch * shared.bit_length() > _MOST_BITS:
        refuse("the powers of this batch are too long to be computed")
    total = fmpz(0)
    for distance, count in enumerate(members.scheme.valencies):
        ratio = (1 + found[-1 - distance]) * shared
        total += count * fmpz(ratio.p) ** batch
    return fmpq(total, fmpz(shared) ** batch) - members.size


def _power_below(base: fmpq, exponent: int, size: int) -> fmpq:
    """Bound base^exponent from below, base > 1, and stop where it passes 8 size."""
    # Some 1/(base - 1) factors get there, and each is cut.
    result, kept = fmpq(1), _KEPT + 2 * int(1 / (base - 1)).bit_length()
    for bit in bin(exponent)[2:]:
        result = _cut(result * result * (base if bit == "1" else 1), kept)
        if result > 8 * size:
            break
    return result


def _cut(value: fmpq, kept: int) -> fmpq:
    """Round a number of at least 1 down to so many bits after its leading one."""
    top, bottom = int(value.p), int(value.q)
    shift = max(kept - top.bit_length() + bottom.bit_length(), 0)
    return fmpq(fmpz((top << shift) // bottom), fmpz(1) << shift)
