"""The whole protocol: a learner that asks statistical queries and names the secret.

hardness learn guess.py:Guess:tries=200 parity:d=8,m=2
"""

from hardness.learners import Hypothesis, member
from hardness.oracles import Character


class Guess:
    """Asks whether a random member is the right one, and again."""

    access = "queries"  # or "examples", "values", or "either"

    def __init__(self, tries=100):
        self.tries = tries

    def supports(self, family):
        """None, or the reason why not."""
        return None if family.name == "parity" else "it guesses hidden parities"

    def learn(self, oracle, rng):
        """oracle.ask(query), oracle.draw(count); all coins are from rng."""
        family = oracle.family  # public: its spec, d, noise, known(x), mean(secret, x)
        for asked in range(1, self.tries + 1):
            secret = family.draw(rng)
            if oracle.ask(Character(subset=secret)) > 0.25:
                return member(family, secret, asked=asked)
        return Hypothesis(predict=family.known, details={"asked": self.tries})
