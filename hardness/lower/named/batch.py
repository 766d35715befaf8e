"""Learners of fresh batches that carry a state of few bits from step to step.

The law of a state after one step, as a member varies, has an average chi-squared distance to that
of labels without a secret of at most lambda_b (2^B - 1)/M. Over the steps, total variations add up,
and squared Hellinger distances do up to a constant (Jayram): the smaller one is taken.
docs/named-mathematics.md has the proofs. [Jay09, AKMSS21]
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import fmpq, fmpz

from hardness.lower.named.descent import Descent, ceiling, require_whole, root_up
from hardness.lower.named.unknown import Unknown
from instances.errors import UsageError
from instances.threshold import Rational, rational

MOST_BITS = 1 << 18  # of a power (1 + c)^batch, of which there are m + 1: 79 000 digits
_SIMULATES = "a state of any size can simulate any PAC learner [AKMSS21]"
_CROSSING = 14  # Hellinger's way is the better one from so many steps on


@dataclass(frozen=True, kw_only=True)
class BatchDescent(Descent):
    """Steps with `batch` fresh examples each and `state_bits` bits of state between them.

    What a step does with them is any randomised function: no gradient and no clip is asked for.
    Raises UsageError below 1.

    >>> from hardness.lower.bounds import Terms
    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=1001,m=20"))
    >>> batch = BatchDescent(steps=100, batch=32, state_bits=64)
    >>> batch.claims(unknown, Terms())[1].value
    '5416618165139973'
    """

    regime: ClassVar[str] = "batch"

    batch: int
    state_bits: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("batch", self.batch)
        require_whole("state-bits", self.state_bits, _SIMULATES)

    def pace(self, unknown: Unknown) -> Rational:
        """lambda_b (2^B - 1) / 4M, or 1 where it is more."""
        same = labelled(unknown)[-1]
        doubled = min(self.batch // ceiling(1 / same), 2 * unknown.size.bit_length())
        below = max(self.batch * same, fmpq(2**doubled - 1))  # <= lambda_b, by Bernoulli
        room = 4 * unknown.size / below  # 2^B - 1 from which on the pace is 1 at least
        if self.state_bits > ceiling(room).bit_length():
            return fmpq(1)
        states = 2**self.state_bits - 1
        if states >= room:
            return fmpq(1)
        return min(batch_eigenvalue(unknown, self.batch) * states / (4 * unknown.size), fmpq(1))

    def growth(self, steps: int) -> int:
        """The square at first, then 14 times the steps."""
        return steps * min(steps, _CROSSING)

    def least_growth(self, ratio: Rational) -> int:
        """Invert the growth."""
        few = ratio <= _CROSSING**2
        return root_up(ratio) if few else ceiling(ratio / _CROSSING)

    @property
    def given(self) -> dict[str, str]:
        """Batch and state."""
        return {"batch": str(self.batch), "state-bits": str(self.state_bits)}


def labelled(unknown: Unknown) -> list[Rational]:
    """Correlations of members as laws of labelled examples, up to that of one with itself.

    >>> from instances import parse
    >>> labelled(Unknown.of(parse("parity:d=4,m=2,noise=0.1")))
    [0, 0, 8/25]
    >>> labelled(Unknown.of(parse("lwr:n=8,q=16,p=4")))
    [0, 3/2]
    """
    return [c for _, c in unknown.row]


def batch_eigenvalue(unknown: Unknown, batch: int) -> Rational:
    """The largest eigenvalue lambda_b of the matrix (1 + c)^b - 1 over all pairs: its row sum.

    Times density^b where tokens are not those of the correlations. Raises UsageError where its
    digits are too many.

    >>> from instances import parse
    >>> batch_eigenvalue(Unknown.of(parse("parity:d=4,m=2")), 2)
    5/4
    """
    # Over one denominator, so that no fraction is reduced on the way.
    bottom = fmpz(math.lcm(*(int(c.q) for c in labelled(unknown))))
    bits = int(bottom).bit_length() + unknown.density.denominator.bit_length()
    if batch * bits > MOST_BITS:
        raise UsageError(
            f"batch={batch} given: (1 + c)^batch is exact, and here of {batch * bits} bits: a "
            f"batch up to {MOST_BITS // bits} can be computed, or a noise of fewer digits given"
        )
    one, total = bottom**batch, fmpz(0)
    for pairs, c in unknown.row:
        total += pairs * ((bottom + c.p * (bottom // c.q)) ** batch - one) if c else 0
    return rational(unknown.density) ** batch * fmpq(total, one)
