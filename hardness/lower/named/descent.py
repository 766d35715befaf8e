"""Gradient descent whose gradients are noisy, anywhere near, or rounded: how seldom it is right.

A function of examples of norm at most G has means under the laws of the M members whose squared
distances to the mean in a world without a secret have a bounded sum (Bessel), such as
(1 - 2 noise)^2 G^2 lambda / 4. Runs are compared with that world's run, which is right with
probability K/M: hypotheses are right about K members at most. [AS20, AKMSS21]

So are steps of any kind on fresh batches that carry a state of B bits: the law of a state after one
step, as a member varies, has an average chi-squared distance to that of labels without a secret of
at most lambda_b (2^B - 1)/M. Over the steps, total variations add up, and squared Hellinger
distances do up to a constant (Jayram): the smaller one is taken. [Jay09, AKMSS21]

docs/named-mathematics.md has the proofs.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import fmpq, fmpz

from hardness.claims.ranges import misfit
from hardness.lower.bounds import BoundParameters, ruled_out
from hardness.lower.named.members import Unknown
from hardness.lower.record import Claim, claim
from instances.errors import UsageError
from instances.family import require
from instances.threshold import Rational, python_fraction, rational

DIGITS = 12  # significant, of an excess that is no root of a rational
EXACT = "is needed: one exact mean of a function of its choice can name the member"
MOST_BITS = 1 << 18  # of a power (1 + c)^batch, of which there are m + 1: 79 000 digits
_SIMULATES = "a state of any size can simulate any PAC learner [AKMSS21]"
_CROSSING = 14  # Hellinger's way is the better one from so many steps on


@dataclass(frozen=True, kw_only=True)
class Descent(ABC):
    """Any rule of `steps` answers about mean gradients; a subclass says what answers are like.

    steps: None where only the number that is needed is asked for. The distance of its run to that
    without a secret is at most the root of growth(steps) pace.
    """

    about: ClassVar[str] = "gd"
    regime: ClassVar[str]

    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None:
            require_whole("steps", self.steps)

    @abstractmethod
    def pace(self, unknown: Unknown) -> Rational:
        """Bound the squared distance after one step; above 1 it may be any number above 1."""

    @abstractmethod
    def growth(self, steps: int) -> int:
        """By what the squared distance grows with the steps."""

    @abstractmethod
    def least_growth(self, ratio: Rational) -> int:
        """The least number of steps whose growth is at least `ratio`, which is above 0."""

    @property
    @abstractmethod
    def given(self) -> dict[str, str]:
        """The numbers of the answers, as a claim's parameters."""

    def claims(self, unknown: Unknown, terms: BoundParameters) -> tuple[Claim, ...]:
        """Claim how often so many steps succeed at most, and how many steps the goal needs.

        Where a step tells no member apart, only the first, for any number of steps.
        """
        pace, sure = self.pace(unknown), sure_share(unknown, terms)
        given = {**self.given, "risk": str(terms.risk), **unknown.given}
        if not pace:
            guessed = claim(
                unknown.words, f"gd-{self.regime}-success", sure, given | {"steps": "any"}
            )
            return (guessed,)
        missing = rational(terms.success) - sure
        least = self.least_growth(missing**2 / pace) if missing > 0 else 0
        goal = given | {"success": str(terms.success)}
        needed = claim(unknown.words, f"gd-{self.regime}-steps", least, goal)
        if self.steps is None:
            return (needed,)
        most = at_most(sure, self.growth(self.steps) * pace)
        budget = given | {"steps": str(self.steps)}
        return (claim(unknown.words, f"gd-{self.regime}-success", most, budget), needed)


@dataclass(frozen=True, kw_only=True)
class NoisyDescent(Descent):
    """Normal noise of standard deviation `std` on each coordinate of the mean gradient.

    clip: l2 norm that an example's gradient has at most. Raises UsageError for numbers not above 0.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=101,m=4"))
    >>> noisy = NoisyDescent(steps=10**6, clip=Fraction(1), std=Fraction(1))
    >>> [c.value for c in noisy.claims(unknown, BoundParameters())]
    ['19802123223891199/156849000000000000', '27884246']
    """

    regime: ClassVar[str] = "noise"

    clip: Fraction
    std: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above("clip", self.clip)
        require_above("noise-std", self.std, f"some noise {EXACT}")

    def pace(self, unknown: Unknown) -> Rational:
        """Chain rule of relative entropy, Pinsker's inequality: (1/4 std^2) / M of Bessel's sum."""
        return bessel(unknown, self.clip) / (4 * rational(self.std) ** 2) / unknown.size

    def growth(self, steps: int) -> int:
        """Relative entropies add up."""
        return steps

    def least_growth(self, ratio: Rational) -> int:
        """The ratio, rounded up."""
        return ceiling(ratio)

    @property
    def given(self) -> dict[str, str]:
        """Norm and noise."""
        return {"clip": str(self.clip), "noise-std": str(self.std)}


class _Linear(Descent):
    """Distances add up, so their squares grow with the square of the steps."""

    def growth(self, steps: int) -> int:
        return steps**2

    def least_growth(self, ratio: Rational) -> int:
        return root_up(ratio)


@dataclass(frozen=True, kw_only=True)
class WorstDescent(_Linear):
    """Answers are any vectors within l2 distance `within` of the mean gradient.

    Raises UsageError for numbers not above 0.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=101,m=4"))
    >>> worst = WorstDescent(steps=1000, clip=Fraction(1), within=Fraction(1, 10))
    >>> [c.value for c in worst.claims(unknown, BoundParameters())]
    ['25001/3921225', '104566']
    """

    regime: ClassVar[str] = "within"

    clip: Fraction
    within: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above("clip", self.clip)
        require_above("within", self.within, f"a distance {EXACT}")

    def pace(self, unknown: Unknown) -> Rational:
        """A step rules out at most Bessel's sum / within^2 members: the square of their share.

        >>> from instances import parse
        >>> unknown = Unknown.of(parse("parity:d=101,m=4"))
        >>> WorstDescent(clip=Fraction(1), within=Fraction(2, 3)).pace(unknown)
        0
        """
        moves = python_fraction(bessel(unknown, self.clip)) / self.within**2
        return fmpq(ruled_out(moves), unknown.size) ** 2

    @property
    def given(self) -> dict[str, str]:
        """Norm and distance."""
        return {"clip": str(self.clip), "within": str(self.within)}


@dataclass(frozen=True, kw_only=True)
class RoundedDescent(_Linear):
    """Each of `parameters` coordinates of the mean gradient is rounded to spacing `grid` by dither.

    Raises UsageError for numbers not above 0.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=101,m=4"))
    >>> rounded = RoundedDescent(steps=9, clip=Fraction(1), grid=Fraction(1, 8), parameters=100)
    >>> [c.value for c in rounded.claims(unknown, BoundParameters())]
    ['28515039842334313/156849000000000000', '34']
    """

    regime: ClassVar[str] = "grid"

    clip: Fraction
    grid: Fraction
    parameters: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above("clip", self.clip)
        require_above("grid", self.grid, f"a grid {EXACT}")
        require_whole("parameters", self.parameters)

    def pace(self, unknown: Unknown) -> Rational:
        """Roundings of a and b differ with probability |a - b|/grid; Cauchy-Schwarz over P."""
        share = bessel(unknown, self.clip) / unknown.size
        return self.parameters * share / rational(self.grid) ** 2

    @property
    def given(self) -> dict[str, str]:
        """Norm, spacing and the number of coordinates."""
        return {
            "clip": str(self.clip),
            "grid": str(self.grid),
            "parameters": str(self.parameters),
        }


@dataclass(frozen=True, kw_only=True)
class BatchDescent(Descent):
    """Steps with `batch` fresh examples each and `state_bits` bits of state between them.

    What a step does with them is any randomised function: no gradient and no clip is asked for.
    Raises UsageError below 1.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=1001,m=20"))
    >>> batch = BatchDescent(steps=100, batch=32, state_bits=64)
    >>> batch.claims(unknown, BoundParameters())[1].value
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


def bessel(unknown: Unknown, clip: Fraction) -> Rational:
    """Bound the sum over members of squared distances of mean gradients to the reference's."""
    return rational(clip) ** 2 * unknown.drift


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


def sure_share(unknown: Unknown, terms: BoundParameters) -> Rational:
    """How often a hypothesis that does not depend on the member is right at most: K/M."""
    return min(fmpq(unknown.right_about(terms.risk), unknown.size), fmpq(1))


def at_most(sure: Rational, square: Rational) -> Rational:
    """Add to `sure` the root of `square`, rounded up; 1 where that is more.

    >>> at_most(fmpq(1, 10), fmpq(1, 100)), at_most(fmpq(0), fmpq(1, 200))
    (1/5, 707106781187/10000000000000)
    """
    if square >= (1 - sure) ** 2:
        return fmpq(1)
    return min(sure + _root(square), fmpq(1))


def _root(square: Rational) -> Rational:
    """The root of a positive rational, exact where it is rational, else up to 12 digits."""
    top, bottom = int(square.p), int(square.q)
    exact = math.isqrt(top), math.isqrt(bottom)
    if exact[0] ** 2 == top and exact[1] ** 2 == bottom:
        return fmpq(*exact)
    # bits -> decimal places, one more than may be needed; then cut to the digits.
    places = DIGITS + int((bottom.bit_length() - top.bit_length() + 2) * 0.15051499783199) + 1
    while True:
        whole = root_up(square * fmpq(10) ** (2 * places))
        if whole <= 10**DIGITS:
            return whole * fmpq(10) ** -places
        places -= 1


def root_up(ratio: Rational) -> int:
    """The least integer >= 0 whose square is at least `ratio`.

    >>> root_up(fmpq(9)), root_up(fmpq(91, 10))
    (3, 4)
    """
    whole = ceiling(ratio)
    return math.isqrt(whole - 1) + 1 if whole > 0 else 0


def ceiling(value: Rational) -> int:
    """Round a rational up."""
    return -((-int(value.p)) // int(value.q))


def require_whole(name: str, given: Any, why: str = "") -> None:
    """Refuse what is no integer of at least 1; raises UsageError."""
    require(
        isinstance(given, int) and not misfit(name, given),
        f"{name}={given} given: an integer of at least 1 is needed" + (why and f"; {why}"),
    )


def require_above(name: str, given: Any, why: str = "it bounds the norm of a gradient") -> None:
    """Refuse what is no rational above 0; raises UsageError."""
    require(
        isinstance(given, Fraction | int) and not misfit(name, given),
        f"{name}={given} given: a rational above 0 is needed; {why}",
    )
