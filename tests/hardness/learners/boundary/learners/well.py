"""Learners that behave: the same here and in a child."""

import numpy as np

from hardness.attacks.elimination import Elimination
from hardness.learners.learner import Hypothesis
from hardness.oracles import Character, Correlational, Factor, Pool, Query, Table
from instances import UsageError


class Eliminates(Elimination):
    name = "eliminates"
    access = "either"


class Base:
    """A learner of the full protocol."""

    revision = 1
    access = "either"
    about = "well-behaved"

    def __init_subclass__(cls):
        cls.name = cls.__name__

    def supports(self, family):
        return None


class Guesses(Base):
    """A predictor that depends on its coins and on every example."""

    def learn(self, oracle, rng):
        examples = oracle.draw(700)
        weight = rng.random() + float(np.sum(examples.y[:, 0, 0]) % 1)
        return Hypothesis(
            predict=lambda x: weight * oracle.family.known(x), details={"weight": weight}
        )


class Sums(Base):
    """Examples in pieces of many sizes, and what was counted after each."""

    def learn(self, oracle, rng):
        sums, counts = [], []
        for size in (1, 0, 7, 300, 64, 1000):
            examples = oracle.draw(size)
            sums.append([float(np.sum(np.cos(v))) for v in examples.tensors.values()])
            sums.append(float(np.sum(np.sin(examples.y))))
            counts.append([len(examples), oracle.meter.examples])
        details = {"sums": sums, "counts": counts, "coins": rng.integers(0, 99, 5).tolist()}
        return Hypothesis(predict=lambda x: 0.1 * x, details=details)


class Asks(Base):
    """Every kind of query that the family has."""

    def learn(self, oracle, rng):
        d, coded = oracle.family.d, hasattr(oracle.family, "levels")
        asked = [Correlational(h=lambda x: np.tanh(x) / x.shape[1] / x.shape[2])]
        if coded:
            asked += [
                Query(phi=lambda x, y: np.tanh(x[:, 0, 1] * y[:, 0, 0])),
                Factor(phi=lambda z, s: np.where(z[:, 1] > 0, np.tanh(s), 0.0), d=d),
            ]
        if oracle.family.name == "parity":
            asked += [Character(subset=(1, 2, 3)), Pool(sets=((1, 2, 3), (2, 3, 4)))]
        if oracle.family.name == "profile" and d < 12:
            table = np.array([[1.0], [-1.0]]) * np.tanh(np.arange(2 ** (d - 1)))
            asked.append(Table(family=oracle.family, table=table))
        answers = [oracle.ask(query) for query in asked]
        details = {"answers": answers, "queries": oracle.meter.queries, "tau": str(oracle.tau)}
        return Hypothesis(predict=oracle.family.known, details=details)


class Chooses(Base):
    """Labels of tokens of its choice, some of which are refused."""

    access = "values"

    def learn(self, oracle, rng):
        shape = (oracle.family.k, oracle.family.d)
        sums, refused = [], 0
        for bad in (np.full((1, *shape), np.nan), np.ones(shape), np.ones((1, *shape[::-1]))):
            try:
                oracle.value(bad)
            except UsageError:
                refused += 1
        for size in (1, 0, 29, 35_000 if shape == (2, 70) else 700):
            labels = oracle.value(rng.choice([-1, 1], (size, *shape)))
            sums.append([float(np.sum(labels)), float(np.sum(np.sin(labels)))])
        details = {"sums": sums, "refused": refused, "values": oracle.meter.values}
        return Hypothesis(predict=oracle.family.known, details=details)


class AsksForever(Base):
    def learn(self, oracle, rng):
        while True:
            oracle.ask(Query(phi=lambda x, y: np.zeros(len(x))))


class AsksAFew(Base):
    """A query of the factor, answered from few samples."""

    def learn(self, oracle, rng):
        oracle.ask(Factor(phi=lambda z, s: np.tanh(s), d=oracle.family.d))


class ClaimsZero(Base):
    def learn(self, oracle, rng):
        return Hypothesis(predict=oracle.family.known, secret=(0, 0, 0))
