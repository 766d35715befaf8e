"""How far fresh batches and a state of few bits tell members apart, for the checker.

A batch or a state that is far too large is seen by powers cut down to 64 bits, not computed.
"""

from fractions import Fraction

from flint import fmpq, fmpz

from hardness.check.named.drawn import Drawn
from hardness.check.scheme import python_fraction

_KEPT = 64  # bits of a power that is only bounded, beside those that its exponent loses


def squared_batch(members: Drawn, batch: int, bits: int) -> Fraction:
    """The mean chi-squared distance of a state of so many bits after one batch, 4 if it is more."""
    below = min(_power_below(1 + members.example, batch, members.size), fmpq(8 * members.size)) - 1
    below = max(below, members.example)
    # 2^(bits - 1) <= 2^bits - 1 states tell: enough of them say nothing.
    if bits > 2 * members.size.bit_length() + int(1 / min(below, fmpq(1))).bit_length() + 4:
        return Fraction(4)
    states = 2**bits - 1
    if below * states >= 4 * members.size:
        return Fraction(4)
    return min(python_fraction(members.batch(batch) * states / members.size), Fraction(4))


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
