"""`flips`, which asks membership queries, as a function of profiles and as a learner."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from hardness.learners import Outcome
from hardness.learners.flips import hidden_set, times_for_flips
from hardness.oracles import Budget, Meter, ValueOracle
from hardness.runs.registry import parse_learner
from instances import parse
from instances.streams import generator
from tests.conftest import learn


@dataclass
class Counted:
    """A function that counts the points it was asked about."""

    f: object
    count: int = 0

    def __call__(self, x):
        self.count += len(x)
        return self.f(x)


PROFILES = [
    g
    for m, levels in ((1, 3), (2, 3), (3, 3), (4, 2), (5, 2))
    for g in itertools.product(range(levels), repeat=m + 1)
    if len(set(g)) > 1
]


@pytest.mark.parametrize("places", [5, 8])
def test_flips_find_the_set_of_every_profile(places):
    rng = generator(0, "test")
    for g in PROFILES:
        hidden = rng.choice(places, len(g) - 1, replace=False)
        values = np.array(g)
        f = Counted(lambda z, hidden=hidden, values=values: values[(z[:, hidden] < 0).sum(axis=1)])
        wanted = tuple(sorted(hidden.tolist()))
        assert hidden_set(f, places, rng) == wanted, (g, wanted)
        assert f.count <= 2 * places + places.bit_length() + 3
        if g[0] != g[1]:
            f.count = 0
            assert hidden_set(f, places, rng, first_step=True) == wanted
            assert f.count == places + 1
    assert hidden_set(lambda z: np.ones(len(z)), places, rng) is None


def test_a_parity_takes_d_values():
    found = learn("flips", "parity:d=200,m=7", values=201)
    assert (found.outcome, found.membership_queries) == (Outcome.SOLVED, 200)
    assert learn("flips", "parity:d=200,m=7", values=199).outcome is Outcome.VALUES_SPENT


def test_majorities_of_answers_are_right_with_their_confidence():
    for noise, questions in ((0.1, 1000), (0.3, 50), (0.45, 10)):
        times = times_for_flips(questions, noise, 0.99)
        assert questions * binom.sf(math.ceil(times / 2) - 1, times, noise) <= 0.01
    for spec in ("parity:d=20,m=3,noise=0.3", "profile:g=[1,1,-1,1,1],d=12,m=4,noise=0.2"):
        found = [learn("flips", spec, seed) for seed in range(6)]
        assert all(one.secret_recovered for one in found)
        assert found[0].details["repetitions"] > 10


def test_a_set_of_another_size_is_no_members():
    oracle = ValueOracle(parse("parity:d=10,m=3").instance(0), Meter(Budget()))
    oracle.family = parse("parity:d=10,m=4")
    found = parse_learner("flips").learn(oracle, generator(0, "test"))
    assert (found.outcome, found.secret) == (Outcome.STAGE_FAILED, None)
    assert found.details["reason"] == "3 places change labels, of a set of 4"
