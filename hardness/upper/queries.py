"""One query per candidate: the upper bound that stands against the lower one.

The query of a hidden set T, a character, has expectation (1 - 2 eta)/2 if T is the hidden set of a
parity and 0 otherwise, so an answer within tau < (1 - 2 eta)/4 decides. At most N - 1 queries,
about N/2 on average. Of other families whose members can be listed a query asks whether the label
is the candidate's, and an answer rules out every member whose exact expectation is further than
tau from it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hardness.oracles import Character, QueryOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.versionspace import Asking, VersionSpace
from instances.symmetric import Symmetric


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
            return nothing(family, Outcome.TOLERANCE, tau_below=float(signal / 2))
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
