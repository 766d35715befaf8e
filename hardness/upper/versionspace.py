"""The version space: the members that all answers to statistical queries so far are right for.

A query about some members P of N asks for the sign of

    N |{T in P: f_T(z) = y}| - |P| |{T: f_T(z) = y}|:

does the label y speak for P more than for all members? Of one member T it is +1 where the label is
that of T and -1 where it is another's, wherever members differ. Without label noise no query tells
T from any other member S better: its two means differ by P[f_T(z) != f_S(z)], twice the distance in
total variation of the two laws of an example, and values in [-1, 1] allow no more.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import QueryOracle, Spent, Table
from hardness.oracles.means import listed, unlisted
from hardness.upper.learner import SPENT, Access, Hypothesis, Outcome, member, nothing
from instances import tokens
from instances.capabilities import CHARACTERS
from instances.family import Family
from instances.symmetric import Symmetric

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
    """The members of a family that are left, each followed by its exact expectations.

    Raises UsageError where members cannot be listed.
    """

    def __init__(self, oracle: QueryOracle) -> None:
        """Start with all members."""
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
            return nothing(family, Outcome.INCONSISTENT, **details)
        codes = self._listed.codes[self.left]
        if (codes == codes[0]).all():  # one, or some that are the same function
            return member(family, self._listed.secrets[self.left[0]], **details)
        coded = self._listed.family
        means = self._listed.count(self.left).T @ (coded.channel @ coded.factors) / len(self.left)

        def predict(x: NDArray[Any]) -> NDArray[np.float64]:
            words = tokens.pack(x)
            z = (words[:, 0, 0] ^ words[:, 1, 0]) >> np.uint64(1)
            return coded.labelled(x, means[z.astype(np.intp)])

        outcome = outcome or Outcome.TOLERANCE
        return Hypothesis(predict=predict, outcome=outcome, details=details)


class Asking(ABC):
    """A learner by queries, of characters or of members that are listed."""

    revision: ClassVar[int] = 1
    access: ClassVar[Access] = "queries"

    def supports(self, family: Family) -> str | None:
        """Return None for characters, and for members that can be listed, or the reason."""
        return None if CHARACTERS.of(family) is not None else unlisted(family)

    def learn(self, oracle: QueryOracle, rng: np.random.Generator) -> Hypothesis:
        """Ask until one member is left, or nothing rules out more."""
        family = oracle.family
        characters = CHARACTERS.of(family)
        if characters is not None:
            return self.ask_characters(oracle, characters)
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
