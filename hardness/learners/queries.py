"""Learners by statistical queries: upper bounds to compare with the certified lower bounds.

The query of a hidden set T, a character, has expectation (1 - 2 eta)/2 if T is the hidden set of a
parity and 0 otherwise, so an answer within tau < (1 - 2 eta)/4 decides: at most N - 1 queries,
about N/2 on average. The query of a pool of L parities has the mean (1 - 2 eta)/2 E[sign(sum of the
pool) chi_S] for member S, about (1 - 2 eta)/sqrt(2 pi L) inside of the pool. It is computed exactly
for every remaining member, and an answer eliminates the members whose mean is further than tau
away.

Of other families whose members can be listed a query about some members P of N asks for the sign of

    N |{T in P: f_T(z) = y}| - |P| |{T: f_T(z) = y}|:

is the label y more frequent in P than among all members? For one member T the sign is +1 where the
label is that of T and -1 where it is another, wherever members differ. Without label noise no query
separates T from any other member S better. Its two means differ by P[f_T(z) != f_S(z)], which is
twice the total variation distance of the two distributions of an example, and values in [-1, 1]
allow no more.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import SPENT, Access, BuiltIn, Hypothesis, Outcome, member, nothing
from hardness.oracles import Character, Means, Pool, QueryOracle, Spent, Table
from hardness.oracles.means import can_follow, listed, unlisted_reason
from instances import tokens
from instances.family import Family
from instances.parameters import Range
from instances.sets import Symmetric

_TOLERANCE = "the tolerance is too large: answers within it may hide every member"
_INCONSISTENT = "every member is further than tau from some answer"

Rows = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A query, and its exact expectation for each remaining member: (remaining,)."""

    query: Table
    expected: NDArray[np.float64]

    @property
    def spread(self) -> float:
        """The largest difference of two expectations."""
        return float(np.ptp(self.expected))

    def surely_eliminated(self, tau: float) -> int:
        """Count the members that every answer eliminates: all outside the fullest window 2 tau."""
        values = np.sort(self.expected)
        ends = np.searchsorted(values, values + 2 * tau, side="right")
        return len(values) - int((ends - np.arange(len(values))).max())


class VersionSpace:
    """The members that fit all answers so far, and their expectations; raises UsageError."""

    def __init__(self, oracle: QueryOracle) -> None:
        self._oracle, self.tau = oracle, float(oracle.tau)
        self._listed = listed(oracle.family)
        self.remaining: Rows = np.arange(len(self._listed.secrets))
        self.queries_asked = 0

    def questions_about(self, pools: Sequence[Rows]) -> list[Question]:
        """Make a query for each pool of members: whether the label is more frequent in the pool."""
        size, counts = len(self._listed.secrets), self._listed.counts
        signs = [np.sign(size * self._listed.count(p) - len(p) * counts) for p in pools]
        family = self._listed.family
        queries = [Table(family=family, table=table.astype(np.float64)) for table in signs]
        expected = self._listed.of_tables(queries, self.remaining).T
        return [Question(query=q, expected=e) for q, e in zip(queries, expected, strict=True)]

    def ask(self, question: Question) -> int:
        """Ask a query, eliminate members further than tau from the answer, and count these.

        Raises Spent.
        """
        answer = self._oracle.ask(question.query)
        self.queries_asked += 1
        fits = np.abs(question.expected - answer) <= self.tau
        self.remaining = self.remaining[fits]
        return int(np.count_nonzero(~fits))

    def ask_each(self) -> None:
        """Ask about each remaining member, in order, until one remains; raises Spent."""
        for row in range(len(self._listed.secrets)):
            if len(self.remaining) <= 1:
                return
            if row not in self.remaining:
                continue
            (question,) = self.questions_about([np.array([row])])
            if question.spread > self.tau:  # else a true answer eliminates none
                self.ask(question)

    def conclude(self, family: Family, outcome: Outcome | None = None) -> Hypothesis:
        """Claim the remaining member, or predict the mean of the remaining ones."""
        details: dict[str, Any] = {"asked": self.queries_asked, "left": len(self.remaining)}
        if not len(self.remaining):
            return nothing(family, Outcome.NO_CLAIM, reason=_INCONSISTENT, **details)
        codes = self._listed.codes[self.remaining]
        if (codes == codes[0]).all():  # one member, or equal functions
            return member(family, self._listed.secrets[self.remaining[0]], **details)
        coded = self._listed.family
        means = (
            self._listed.count(self.remaining).T
            @ (coded.channel @ coded.factors)
            / len(self.remaining)
        )

        def predict(x: NDArray[Any]) -> NDArray[np.float64]:
            words = tokens.pack(x)
            z = (words[:, 0, 0] ^ words[:, 1, 0]) >> np.uint64(1)
            return coded.labelled(x, means[z.astype(np.intp)])

        if outcome is None:
            outcome, details["reason"] = Outcome.NO_CLAIM, _TOLERANCE
        return Hypothesis(predict=predict, outcome=outcome, details=details)


class QueryLearner(BuiltIn, ABC):
    """A learner by queries, for families of characters and for listed members."""

    access: ClassVar[Access] = "queries"

    def supports(self, family: Family) -> str | None:
        """Return None for characters and members that can be listed, else the reason."""
        return None if _has_characters(family) else unlisted_reason(family)

    def learn(self, oracle: QueryOracle, rng: np.random.Generator) -> Hypothesis:
        """Ask until one member remains, or no query eliminates more."""
        family = oracle.family
        if isinstance(family, Symmetric) and family.characters:
            return self.ask_characters(oracle, family)
        space = VersionSpace(oracle)
        try:
            self.narrow(space)
        except Spent as spent:
            return space.conclude(family, SPENT[spent.resource])
        return space.conclude(family)

    @abstractmethod
    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Find the member among characters."""

    @abstractmethod
    def narrow(self, space: VersionSpace) -> None:
        """Ask about listed members; raises Spent."""


@dataclass(frozen=True, kw_only=True)
class Queries(QueryLearner):
    """Asks STAT(tau) about each candidate in turn, in the family's order."""

    name: ClassVar[str] = "queries"
    about: ClassVar[str] = "one statistical query per candidate: at most N - 1 of them"

    def narrow(self, space: VersionSpace) -> None:
        """Ask about each remaining member."""
        space.ask_each()

    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Ask about candidates until one has a large answer, or a single one remains."""
        signal = (1 - 2 * family.noise) / 2
        if not oracle.tau < signal / 2:
            return nothing(family, Outcome.NO_CLAIM, reason=_TOLERANCE, tau_below=float(signal / 2))
        asked = 0
        try:
            for candidate in family.members():
                if asked == family.size - 1:
                    return member(family, candidate, by_exclusion=True)
                answer = oracle.ask(Character(subset=candidate))
                asked += 1
                if Fraction(answer) > signal / 2:
                    return member(family, candidate, by_exclusion=False)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], ruled_out=asked)
        return nothing(family)  # unreachable unless the family has no member


@dataclass(frozen=True, kw_only=True)
class Pooled(QueryLearner):
    """Asks about `pool` members at once (0: as many as the tolerance allows)."""

    name: ClassVar[str] = "pooled"
    about: ClassVar[str] = "statistical queries that test many candidates at once"

    pool: Annotated[int, Range(0)] = 0

    def supports(self, family: Family) -> str | None:
        """Return None if the expectation of every member can be computed, else the reason."""
        if not _has_characters(family) or can_follow(family):
            return super().supports(family)
        return "it follows every member: d - 1 may be up to 26, and N 2^m up to 2^28"

    def narrow(self, space: VersionSpace) -> None:
        """Ask about the pool that eliminates most for every answer; if none does, one by one."""
        while (count := len(space.remaining)) > 1:
            powers = [1 << i for i in range(count.bit_length())]
            sizes = [min(self.pool, count)] if self.pool else powers
            pools = space.questions_about([space.remaining[:size] for size in sizes])
            pool = max(pools, key=lambda pool: pool.surely_eliminated(space.tau))
            if not pool.surely_eliminated(space.tau):
                return space.ask_each()
            space.ask(pool)

    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Ask about pools of the remaining members, in order, until one remains."""
        tau, signal = float(oracle.tau), float(1 - 2 * family.noise) / 2
        if not tau < signal / 2:
            return nothing(family, Outcome.NO_CLAIM, reason=_TOLERANCE, tau_below=signal / 2)
        means, left = Means(family), np.arange(family.size)
        limit, asked = self.pool or pool_size(tau, signal, family.d - 1), 0
        try:
            while len(left) > 1:
                chosen = independent(means.members[left], limit)
                pool = Pool(sets=tuple(means.secret(row) for row in left[chosen]))
                expected = means.expectations(pool)[left]
                answer = oracle.ask(pool)
                asked += 1
                fits = np.abs(expected - answer) <= tau
                if fits.all():
                    # An answer between both groups fits all; a pool of one parity always decides.
                    limit = max(1, len(chosen) // 2)
                left = left[fits]
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], left=len(left), asked=asked)
        if not len(left):
            return nothing(family, Outcome.NO_CLAIM, reason=_INCONSISTENT, asked=asked)
        return member(family, means.secret(left[0]), asked=asked, last_pool=limit)


def independent(members: NDArray[np.int64], limit: int) -> list[int]:
    """Choose an odd number of rows, up to `limit`, whose parities are independent over GF(2).

    Independent parities are independent signs, so each has the same large mean under their pool.

    >>> independent(np.array([[1, 2], [2, 3], [1, 3], [3, 4]]), 5)
    [0, 1, 3]
    """
    basis: dict[int, int] = {}  # by leading bit
    chosen: list[int] = []
    for i, row in enumerate(members):
        vector = sum(1 << int(j) for j in row)
        while vector and vector.bit_length() in basis:
            vector ^= basis[vector.bit_length()]
        if vector:
            basis[vector.bit_length()] = vector
            chosen.append(i)
            if len(chosen) == limit:
                break
    return chosen if len(chosen) % 2 else chosen[:-1]  # an even number would have ties


def pool_size(tau: float, signal: float, limit: int) -> int:
    """Return the largest odd L up to `limit` whose pool of L parities has a mean above tau.

    The mean is signal C(L-1, (L-1)/2) / 2^(L-1).

    >>> pool_size(0.1, 0.5, 99), pool_size(0.001, 0.5, 20)
    (15, 19)
    """
    size, mean = 1, signal
    while size + 2 <= limit and mean * size / (size + 1) > tau:
        mean *= size / (size + 1)
        size += 2
    return size


def _has_characters(family: Family) -> bool:
    """Return whether members are characters of z, which need no list."""
    return isinstance(family, Symmetric) and family.characters
