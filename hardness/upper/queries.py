"""One correlational query per candidate: the upper bound that stands against the lower one.

The query of candidate T has expectation (1 - 2 eta)/2 if T is the hidden set and 0 otherwise, so an
answer within tau < (1 - 2 eta)/4 decides. At most N - 1 queries, about N/2 on average.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from hardness.oracles import Character, QueryOracle, Spent
from hardness.upper.learner import (
    SPENT,
    Hypothesis,
    Outcome,
    as_parity,
    member,
    nothing,
    only_parity,
)
from instances.family import Family, Secret


@dataclass(frozen=True, kw_only=True)
class Queries:
    """Asks STAT(tau) for the correlation with each candidate in turn."""

    name: ClassVar[str] = "queries"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "queries"
    about: ClassVar[str] = "one statistical query per candidate: at most N - 1 of them"

    def supports(self, family: Family) -> str | None:
        """Hidden parities only."""
        return only_parity(family)

    def learn(self, oracle: QueryOracle, rng: np.random.Generator) -> Hypothesis:
        """Ask in lexicographic order until one candidate answers, or one alone is left."""
        family = as_parity(oracle.family)
        signal = (1 - 2 * family.noise) / 2
        if not oracle.tau < signal / 2:
            return nothing(family, Outcome.TOLERANCE, tau_below=float(signal / 2))
        candidates = subsets(family.d, family.m)
        asked = 0
        try:
            for candidate in candidates:
                if asked == family.size - 1:
                    return member(family, candidate, by_exclusion=True)
                answer = oracle.ask(Character(subset=candidate))
                asked += 1
                if Fraction(answer) > signal / 2:
                    return member(family, candidate, by_exclusion=False)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], ruled_out=asked)
        return nothing(family)  # unreachable unless the family has no member


def subsets(d: int, m: int) -> Iterator[Secret]:
    """Yield the m-subsets of 1 .. d-1 in lexicographic order, for d of any size.

    Equals itertools.combinations(range(1, d), m), which keeps the whole range in memory.

    >>> list(subsets(4, 2))
    [(1, 2), (1, 3), (2, 3)]
    """
    chosen = list(range(1, m + 1))
    while True:
        yield tuple(chosen)
        place = m - 1
        while place >= 0 and chosen[place] == d - m + place:
            place -= 1
        if place < 0:
            return
        chosen[place:] = range(chosen[place] + 1, chosen[place] + 1 + m - place)
