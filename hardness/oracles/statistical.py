"""Statistical-query oracles STAT(tau): honest ones, sampled or exact, and adversaries.

STAT(tau) answers a query phi with values in [-1, 1] by any number within tau of E phi. [Kea98] The
adversary of the query bound has no secret during the game. It answers with a mean that depends on
the family alone, keeps the members whose mean is within tau of the answer, and eliminates the
others. At the end it draws one of the members kept: every answer was right for it. [BFJKMR94]
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
    """The interface of oracles for learners that ask statistical queries."""

    family: Family
    tau: Fraction
    meter: Meter

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; counted; raises budget.Spent."""


def samples_a_query(tau: Fraction, failure: float = 1e-6) -> int:
    """Return the number of examples that `SampledOracle` draws for a query.

    >>> samples_a_query(Fraction(1, 10))
    2902
    """
    return math.ceil(2 * math.log(2 / failure) / float(tau) ** 2)


class SampledOracle:
    """Answers by the mean over fresh samples, as many as tau requires (Hoeffding).

    An answer is more than tau from the expectation with probability at most `failure`. The samples
    count as examples.
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
    """Answers exactly: characters for any d, queries of factors for d <= 27, all for d <= 13."""

    def __init__(self, instance: Instance, tau: Fraction, meter: Meter) -> None:
        """Keep tau for the learner, although the answers are exact."""
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
    """Refuse a tolerance outside (0, 1]; raises UsageError."""
    require(0 < tau <= 1, f"tau must be above 0 and at most 1, got {tau}")
    return tau


class Round(NamedTuple):
    """The effect of one query: the number of members it eliminated, and of those left."""

    ruled_out: int
    left: int


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """A complete game: the adversary's mode, the number of members at the start, the rounds."""

    mode: str
    members: int
    rounds: tuple[Round, ...]

    @property
    def left(self) -> int:
        """The number of members consistent with every answer."""
        return self.rounds[-1].left if self.rounds else self.members

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Summarise the rounds: (first query, last query, eliminated by each, left at the end)."""
        out = []
        for each, group in groupby(enumerate(self.rounds, 1), lambda pair: pair[1].ruled_out):
            numbered = list(group)
            out.append((numbered[0][0], numbered[-1][0], each, numbered[-1][1].left))
        return out


_MIN_TAU = Fraction(1, 10**6)
_ROUNDING = 1e-10  # rounding error of a mean: members fit an answer by this margin


def bessel_cap(family: Coded, second: Fraction) -> Fraction:
    """Bound sum_S (E_S phi - reference)^2 for all queries of a two-valued family, by Bessel.

    second: the second eigenvalue of the family's functions, 1 for parities.

    >>> from instances import parse
    >>> bessel_cap(parse("parity:d=8,m=2"), Fraction(1))
    Fraction(1, 4)
    """
    half = (max(family.levels) - min(family.levels)) / 2
    return ((1 - 2 * family.noise) / (2 * half)) ** 2 * second


class Adversary(ABC):
    """An oracle that answers as unhelpfully as its tolerance allows, and records its rounds."""

    mode: ClassVar[str]

    def __init__(self, family: Coded, tau: Fraction, meter: Meter) -> None:
        """Start with no round; raises UsageError for a tolerance near the rounding error."""
        require(tau >= _MIN_TAU, f"tau must be at least {_MIN_TAU}, got {tau}")
        self.family, self.tau, self.meter = family, check_tau(tau), meter
        self._rounds: list[Round] = []

    @abstractmethod
    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its mean for a member; counted; raises Spent."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw uniformly among the members consistent with every answer so far."""

    def record(self) -> GameRecord:
        """Return the game so far."""
        return GameRecord(mode=self.mode, members=self.family.size or 0, rounds=tuple(self._rounds))


class ReferenceAdversary(Adversary):
    """Follows the proof: answers E_0 phi, and computes every member's mean exactly.

    It plays for families with hidden sets, and for others whose members can be listed. It answers
    all queries of z and the label's factor for d - 1 <= 26, and all of raw tokens for 2d <= 26.
    If labels have two values and `second` is given, it checks Bessel's inequality at every query,
    which limits the members that a query eliminates; raises Refuted if the inequality fails.

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
        """Start with all members; `second` is the eigenvalue of `bessel_cap`, if known."""
        super().__init__(family, tau, meter)
        self._means = follow(family)
        self._alive = np.ones(family.size or 0, np.bool_)
        self.bessel_cap = (
            bessel_cap(family, second) if second is not None and two_levels(family) else None
        )

    @property
    def alive(self) -> int:
        """The number of members consistent with every answer so far."""
        return int(self._alive.sum())

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query."""
        self.meter.take_query()
        means, answer = self._means.with_reference(query)
        self._check(means, answer)
        if not (self._fits(means, answer) & self._alive).any():
            # The oracle of the proof now answers truthfully. This one answers for as many of the
            # remaining members as it can: with the centre of an interval of length 2 tau that
            # contains the largest number of their means.
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
        if self.bessel_cap is not None and total > float(self.bessel_cap) * (1 + 1e-9) + _ROUNDING:
            raise Refuted(
                f"a query moves the members of {self.family} by {total:.6g} in squares, "
                f"Bessel's inequality allows {float(self.bessel_cap):.6g}: the family is not what "
                "its certificate says"
            )

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw uniformly among the members consistent with every answer so far."""
        left = np.flatnonzero(self._alive)
        return self._means.secret(int(left[rng.integers(len(left))]))


class CertificateAdversary(Adversary):
    """Plays for parities with too many members to list: answers characters with 0.

    A character has a nonzero mean for one member alone, so it eliminates only that one. The secret
    is drawn at the end, among the members that were not eliminated.
    """

    mode = "certificate"

    def __init__(self, family: Coded, tau: Fraction, meter: Meter) -> None:
        """Start with all members; raises UsageError for families that are not parities."""
        if not (isinstance(family, Symmetric) and family.characters):
            raise UsageError(f"{family} has too many members: only parities have an adversary")
        super().__init__(family, tau, meter)
        self._characters = family
        self._ruled_out: set[Secret] = set()

    @property
    def alive(self) -> int:
        """The number of members consistent with every answer so far."""
        return self._characters.size - len(self._ruled_out)

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
        if abs(signal) > self.tau and places not in self._ruled_out:
            if before == 1:
                answer = float(signal)  # the last member: answered truthfully
            else:
                self._ruled_out.add(places)
        self._rounds.append(Round(before - self.alive, self.alive))
        return answer

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw uniformly among the members that were not eliminated."""
        while True:
            found = self.family.draw(rng)
            if found not in self._ruled_out:
                return found


def two_levels(family: Coded) -> bool:
    """Return whether labels have two levels; then all queries of them are correlational."""
    return len(set(family.levels)) == 2
