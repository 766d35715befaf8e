"""Statistical-query oracles: STAT(tau), honest, from fresh samples or exact, or the adversary.

STAT(tau) answers a query phi with values in [-1, 1] by any number within tau of E phi. [Kea98] The
adversary of the query bound has no secret while it plays. It answers with the mean under the family
alone, and keeps the members that this answer is within tau of; the rest are ruled out. At the end
it draws one of those that are left: every answer was right for it. [BFJKMR94]
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Meter
from hardness.oracles.means import follow, mean_of
from hardness.oracles.query import Character, StatisticalQuery
from instances.coded import Coded, require_coded
from instances.errors import Refuted, UsageError, require
from instances.family import Family, Instance, Secret
from instances.sets import Symmetric


class QueryOracle(Protocol):
    """What an SQ learner sees."""

    family: Family
    tau: Fraction
    meter: Meter

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; counted; raises budget.Spent."""


def samples_a_query(tau: Fraction, failure: float = 1e-6) -> int:
    """Return how many examples `SampledOracle` draws for a query.

    >>> samples_a_query(Fraction(1, 10))
    2902
    """
    return math.ceil(2 * math.log(2 / failure) / float(tau) ** 2)


class SampledOracle:
    """Answers by the mean over fresh samples, enough of them for tau (Hoeffding).

    An answer is further than tau from the expectation with probability at most `failure`. The
    samples are counted as examples.
    """

    def __init__(
        self, instance: Instance, tau: Fraction, meter: Meter, failure: float = 1e-6
    ) -> None:
        self.family, self.tau, self.meter = instance.family, check_tau(tau), meter
        self.samples = samples_a_query(tau, failure)
        self._instance = instance
        self._next = 0

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query from fresh samples."""
        self.meter.take_query()
        total, left = 0.0, self.samples
        while left:
            count = self.meter.take_examples(min(left, 1 << 13))
            examples = self._instance.examples(self._next, count, axis="queries")
            total += float(query.values(examples).sum())
            self._next += count
            left -= count
        return total / self.samples


class ExactOracle:
    """Answers exactly: characters at any d, queries of z and factor to d = 27, any to d = 13."""

    def __init__(self, instance: Instance, tau: Fraction, meter: Meter) -> None:
        """Keep tau for the learner: the answers are better than it asks for."""
        self.family, self.tau, self.meter = instance.family, check_tau(tau), meter
        self._instance = instance

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query exactly."""
        self.meter.take_query()
        family, secret = self._instance.family, self._instance.hidden.secret
        if isinstance(family, Symmetric) and isinstance(query, Character):
            query.require(family)
            return float(family.coefficient(secret, query.subset))
        return mean_of(require_coded(family), query, secret)


def check_tau(tau: Fraction) -> Fraction:
    """Refuse a tolerance out of (0, 1]; raises UsageError."""
    require(0 < tau <= 1, f"tau must be above 0 and at most 1, got {tau}")
    return tau


class Round(NamedTuple):
    """What one query did: how many members it ruled out, and how many were left."""

    ruled_out: int
    left: int


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """A whole game: the adversary's mode, how many members it began with, and its rounds."""

    mode: str
    members: int
    rounds: tuple[Round, ...]

    @property
    def left(self) -> int:
        """The number of members that fit every answer."""
        return self.rounds[-1].left if self.rounds else self.members

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Sum the game up: (first query, last query, ruled out by each, left after the last)."""
        out = []
        for each, group in groupby(enumerate(self.rounds, 1), lambda pair: pair[1].ruled_out):
            numbered = list(group)
            out.append((numbered[0][0], numbered[-1][0], each, numbered[-1][1].left))
        return out


_MIN_TAU = Fraction(1, 10**6)
_ROUNDING = 1e-10  # of a mean; a member that fits an answer fits it with this much to spare


def room(family: Coded, second: Fraction) -> Fraction:
    """Bound sum_S (E_S phi - reference)^2 for any query on a two-valued family, by Bessel.

    second: the second eigenvalue of the family's functions, 1 for parities.

    >>> from instances import parse
    >>> room(parse("parity:d=8,m=2"), Fraction(1))
    Fraction(1, 4)
    """
    half = (max(family.levels) - min(family.levels)) / 2
    return ((1 - 2 * family.noise) / (2 * half)) ** 2 * second


class Adversary(ABC):
    """An oracle that answers as badly as its tolerance allows, and keeps its rounds, in order."""

    mode: ClassVar[str]

    def __init__(self, family: Coded, tau: Fraction, meter: Meter) -> None:
        """Start with no round; raises UsageError for a tolerance that rounding would blur."""
        require(tau >= _MIN_TAU, f"tau must be at least {_MIN_TAU}, got {tau}")
        self.family, self.tau, self.meter = family, check_tau(tau), meter
        self._rounds: list[Round] = []

    @abstractmethod
    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its mean for some member; counted; raises Spent."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a member that fits every answer so far, uniformly."""

    def record(self) -> GameRecord:
        """Return the game so far."""
        return GameRecord(mode=self.mode, members=self.family.size or 0, rounds=tuple(self._rounds))


class ReferenceAdversary(Adversary):
    """Follows the proof: answers E_0 phi, and follows every member's mean exactly.

    It plays for families with a `scheme`, and others whose members can be listed. Any query of z
    and the label's factor for d - 1 <= 26, any query of raw tokens for 2d <= 26.
    Where labels have two values and `second` is given it checks Bessel's inequality at every query,
    which caps how many members are ruled out; raises Refuted where it fails.

    >>> from hardness.oracles import Budget
    >>> from instances import parse
    >>> family = parse("parity:d=8,m=2")
    >>> oracle = ReferenceAdversary(family, Fraction(1, 10), Meter(Budget()), Fraction(1))
    >>> oracle.ask(Character(subset=(1, 2))), oracle.alive
    (0.0, 20)
    """

    mode = "reference"

    def __init__(
        self, family: Coded, tau: Fraction, meter: Meter, second: Fraction | None = None
    ) -> None:
        """Start with all members alive; `second` is the eigenvalue of `room`, if known."""
        super().__init__(family, tau, meter)
        self._means = follow(family)
        self._alive = np.ones(family.size or 0, np.bool_)
        self.room = room(family, second) if second is not None and two_levels(family) else None

    @property
    def alive(self) -> int:
        """The number of members that fit every answer so far."""
        return int(self._alive.sum())

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query."""
        self.meter.take_query()
        means, answer = self._means.with_reference(query)
        self._check(means, answer)
        if not (self._fits(means, answer) & self._alive).any():
            # The proof's oracle would now answer truly: here for most of those that are left, by
            # the middle of the window of length 2 tau that holds the most of their means.
            values, reach = np.sort(means[self._alive]), 2 * (float(self.tau) - 2 * _ROUNDING)
            ends = np.searchsorted(values, values + reach, side="right")
            first = int(np.argmax(ends - np.arange(len(values))))
            answer = float(values[first] + values[ends[first] - 1]) / 2
        before = self.alive
        self._alive &= self._fits(means, answer)
        self._rounds.append(Round(before - self.alive, self.alive))
        return answer

    def _fits(self, means: NDArray[np.float64], answer: float) -> NDArray[np.bool_]:
        return np.asarray(np.abs(means - answer) <= float(self.tau) - _ROUNDING)

    def _check(self, means: NDArray[np.float64], reference: float) -> None:
        total = float(((means - reference) ** 2).sum())
        if self.room is not None and total > float(self.room) * (1 + 1e-9) + _ROUNDING:
            raise Refuted(
                f"a query moves the members of {self.family} by {total:.6g} in squares, "
                f"Bessel's inequality allows {float(self.room):.6g}: the family is not what "
                "its certificate says"
            )

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a member that fits every answer given so far, uniformly."""
        left = np.flatnonzero(self._alive)
        return self._means.secret(int(left[rng.integers(len(left))]))


class CertificateAdversary(Adversary):
    """Plays for characters of any number, where members cannot be listed: answers them by 0.

    A character is the mean of one member alone, so it rules out that one; no member is chosen until
    the end, and then one that was not asked for.
    """

    mode = "certificate"

    def __init__(self, family: Coded, tau: Fraction, meter: Meter) -> None:
        """Start with nothing ruled out; raises UsageError for other families than parities."""
        if not (isinstance(family, Symmetric) and family.characters):
            raise UsageError(f"{family} has too many members: only parities have an adversary")
        super().__init__(family, tau, meter)
        self._characters = family
        self._out: set[Secret] = set()

    @property
    def alive(self) -> int:
        """The number of members that fit every answer so far."""
        return self._characters.size - len(self._out)

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one character; raises UsageError for any other query."""
        self.meter.take_query()
        if not isinstance(query, Character):
            raise UsageError(
                f"{self.family} is so large that the adversary answers characters only"
            )
        query.require(self.family)
        places = tuple(sorted(set(query.subset) - {0}))
        signal = Fraction(0)
        if len(places) == self._characters.m:
            signal = self._characters.coefficient(places, query.subset)
        before, answer = self.alive, 0.0
        if abs(signal) > self.tau and places not in self._out:
            if before == 1:
                answer = float(signal)  # the last one: it is the truth
            else:
                self._out.add(places)
        self._rounds.append(Round(before - self.alive, self.alive))
        return answer

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a member that was not ruled out, uniformly."""
        while True:
            found = self.family.draw(rng)
            if found not in self._out:
                return found


def two_levels(family: Coded) -> bool:
    """Return whether labels have two levels, so that every query on them is correlational."""
    return len(set(family.levels)) == 2
