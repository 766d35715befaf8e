"""Learners by statistical queries: the upper bounds that stand against the lower one.

The query of a hidden set T, a character, has expectation (1 - 2 eta)/2 if T is the hidden set of a
parity and 0 otherwise, so an answer within tau < (1 - 2 eta)/4 decides: at most N - 1 queries,
about N/2 on average. The query of a pool of L parities has the mean (1 - 2 eta)/2 E[sign(sum of the
pool) chi_S] for member S, about (1 - 2 eta)/sqrt(2 pi L) inside of the pool. It is computed exactly
for every member that is left, and an answer rules out those further than tau from it.

Of other families whose members can be listed a query about some members P of N asks for the sign of

    N |{T in P: f_T(z) = y}| - |P| |{T: f_T(z) = y}|:

does the label y speak for P more than for all members? Of one member T it is +1 where the label is
that of T and -1 where it is another's, wherever members differ. Without label noise no query tells
T from any other member S better: its two means differ by P[f_T(z) != f_S(z)], twice the distance in
total variation of the two laws of an example, and values in [-1, 1] allow no more.
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
from hardness.oracles.means import can_follow, listed, unlisted
from instances import tokens
from instances.family import Family
from instances.parameters import Range
from instances.sets import Symmetric

_TOLERANCE = "the tolerance is too large: answers within it may hide every member"
_INCONSISTENT = "every member is further than tau from some answer"

Rows = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A query, and its exact expectation for each member that is left: (left,)."""

    query: Table
    expected: NDArray[np.float64]

    @property
    def spread(self) -> float:
        """How far apart the expectations are at most."""
        return float(np.ptp(self.expected))

    def sure(self, tau: float) -> int:
        """Count the members that any answer rules out: those beyond the fullest 2 tau."""
        values = np.sort(self.expected)
        ends = np.searchsorted(values, values + 2 * tau, side="right")
        return len(values) - int((ends - np.arange(len(values))).max())


class VersionSpace:
    """The members of a family that are left, and their exact expectations; raises UsageError."""

    def __init__(self, oracle: QueryOracle) -> None:
        self._oracle, self.tau = oracle, float(oracle.tau)
        self._listed = listed(oracle.family)
        self.left: Rows = np.arange(len(self._listed.secrets))
        self.asked = 0

    def about(self, pools: Sequence[Rows]) -> list[Question]:
        """Make the queries that ask whether the label speaks for some members, one a pool."""
        size, counts = len(self._listed.secrets), self._listed.counts
        signs = [np.sign(size * self._listed.count(p) - len(p) * counts) for p in pools]
        family = self._listed.family
        queries = [Table(family=family, table=table.astype(np.float64)) for table in signs]
        expected = self._listed.of_tables(queries, self.left).T
        return [Question(query=q, expected=e) for q, e in zip(queries, expected, strict=True)]

    def ask(self, question: Question) -> int:
        """Ask, and rule out members further than tau from the answer: how many; raises Spent."""
        answer = self._oracle.ask(question.query)
        self.asked += 1
        fits = np.abs(question.expected - answer) <= self.tau
        self.left = self.left[fits]
        return int(np.count_nonzero(~fits))

    def ask_each(self) -> None:
        """Ask about each member that is left, in order, until one is; raises Spent."""
        for row in range(len(self._listed.secrets)):
            if len(self.left) <= 1:
                return
            if row not in self.left:
                continue
            (question,) = self.about([np.array([row])])
            if question.spread > self.tau:  # else the truth rules out none
                self.ask(question)

    def conclude(self, family: Family, outcome: Outcome | None = None) -> Hypothesis:
        """Name the member that is left, or predict the mean of those that are."""
        details: dict[str, Any] = {"asked": self.asked, "left": len(self.left)}
        if not len(self.left):
            return nothing(family, Outcome.NO_CLAIM, reason=_INCONSISTENT, **details)
        codes = self._listed.codes[self.left]
        if (codes == codes[0]).all():  # one, or some that are the same function
            return member(family, self._listed.secrets[self.left[0]], **details)
        coded = self._listed.family
        means = self._listed.count(self.left).T @ (coded.channel @ coded.factors) / len(self.left)

        def predict(x: NDArray[Any]) -> NDArray[np.float64]:
            words = tokens.pack(x)
            z = (words[:, 0, 0] ^ words[:, 1, 0]) >> np.uint64(1)
            return coded.labelled(x, means[z.astype(np.intp)])

        if outcome is None:
            outcome, details["reason"] = Outcome.NO_CLAIM, _TOLERANCE
        return Hypothesis(predict=predict, outcome=outcome, details=details)


class Asking(BuiltIn, ABC):
    """A learner by queries, of characters or of members that are listed."""

    access: ClassVar[Access] = "queries"

    def supports(self, family: Family) -> str | None:
        """Return None for characters, and for members that can be listed, or the reason."""
        return None if _characters(family) else unlisted(family)

    def learn(self, oracle: QueryOracle, rng: np.random.Generator) -> Hypothesis:
        """Ask until one member is left, or nothing rules out more."""
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
class Queries(Asking):
    """Asks STAT(tau) about each candidate in turn, in the family's order."""

    name: ClassVar[str] = "queries"
    about: ClassVar[str] = "one statistical query per candidate: at most N - 1 of them"

    def narrow(self, space: VersionSpace) -> None:
        """Ask about each member that is left."""
        space.ask_each()

    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Ask until one candidate answers, or one alone is left."""
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
class Pooled(Asking):
    """Asks about `pool` members at once (0: as many as the tolerance allows)."""

    name: ClassVar[str] = "pooled"
    about: ClassVar[str] = "statistical queries that test many candidates at once"

    pool: Annotated[int, Range(0)] = 0

    def supports(self, family: Family) -> str | None:
        """Return None where every member can be followed, or the reason."""
        if not _characters(family) or can_follow(family):
            return super().supports(family)
        return "it follows every member: d - 1 may be up to 26, and N 2^m up to 2^28"

    def narrow(self, space: VersionSpace) -> None:
        """Ask about the pool that rules out most whatever the answer, else one by one."""
        while (most := len(space.left)) > 1:
            chosen = (
                [min(self.pool, most)] if self.pool else [1 << i for i in range(most.bit_length())]
            )
            pools = space.about([space.left[:size] for size in chosen])
            pool = max(pools, key=lambda pool: pool.sure(space.tau))
            if not pool.sure(space.tau):
                return space.ask_each()
            space.ask(pool)

    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Ask about pools of the members that are left, in order, until one is left."""
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
                    # An answer between both groups fits all; one parity alone always tells.
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
    """The largest odd L up to `limit` whose pool of independent parities has a mean above tau.

    The mean is signal C(L-1, (L-1)/2) / 2^(L-1).

    >>> pool_size(0.1, 0.5, 99), pool_size(0.001, 0.5, 20)
    (15, 19)
    """
    size, mean = 1, signal
    while size + 2 <= limit and mean * size / (size + 1) > tau:
        mean *= size / (size + 1)
        size += 2
    return size


def _characters(family: Family) -> bool:
    """Whether members are characters of z, of which no list is needed."""
    return isinstance(family, Symmetric) and family.characters
