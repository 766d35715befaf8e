import itertools
import json
from fractions import Fraction
from statistics import mean

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from hardness.upper.trained import layer_gradient
from instances import AttentionLayer, parse, read_folder, write_folder


def learn(learner, spec, seed=0, budget=None, **more):
    return run(parse_learner(learner), parse(spec).instance(seed), budget or Budget(), seed, **more)


def test_queries_take_at_most_all_members_and_half_on_average():
    runs = [learn("queries", "parity:d=16,m=3", seed) for seed in range(20)]
    used = [r.usage.queries for r in runs]
    assert all(r.secret_recovered and r.outcome is Outcome.SOLVED for r in runs)
    assert max(used) <= 454
    assert 130 < mean(used) < 330


def test_queries_conclude_by_exclusion():
    """The last candidate needs no query."""
    family = parse("parity:d=5,m=2")
    seeds = {family.instance(s).hidden.secret: s for s in range(60)}
    assert len(seeds) == 6
    used = {s: learn("queries", family.spec, seed).usage.queries for s, seed in seeds.items()}
    assert sorted(used.values()) == [1, 2, 3, 4, 5, 5]
    assert used[(3, 4)] == 5


def test_queries_with_noise_and_where_tau_hides_everything():
    assert learn("queries", "parity:d=10,m=2,noise=0.2").secret_recovered
    found = learn("queries", "parity:d=10,m=2,noise=0.2", tau=Fraction(15, 100))
    assert found.outcome is Outcome.TOLERANCE
    assert found.usage.queries == 0
    assert found.details["tau_below"] == pytest.approx(0.15)


def test_exact_and_sampled_oracles_find_the_same():
    a, b = (learn("queries", "parity:d=12,m=3", oracle=o) for o in ("exact", "samples"))
    assert a.details["claimed_secret"] == b.details["claimed_secret"]
    assert a.usage.queries == b.usage.queries
    assert a.usage.examples == 0


@pytest.mark.parametrize("spec", ["parity:d=200,m=7", "parity:d=1000,m=21", "parity:d=2,m=1"])
def test_elimination_recovers_noiseless_parities(spec):
    found = learn("elimination", spec)
    assert found.secret_recovered
    assert found.risk.value < 1e-12
    assert found.usage.examples <= 2.5 * parse(spec).d + 200


@pytest.mark.parametrize("noise", ["0.1", "0.3", "0.45"])
def test_elimination_stops_on_noise_and_says_so(noise):
    found = learn("elimination", f"parity:d=100,m=5,noise={noise}")
    assert found.outcome is Outcome.NOISY
    assert "noise" in found.outcome.advice
    assert found.details["contradictions"] > 0
    assert found.secret_recovered is None


@pytest.mark.parametrize(("degree", "m"), [(0, 1), (1, 2), (2, 3), (2, 4)])
def test_low_degree_is_blind_to_more_coordinates(degree, m):
    found = learn(f"lowdegree:degree={degree}", f"parity:d=16,m={m}")
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert found.risk.low < 1.0 < found.risk.high
    assert "certificate" in found.outcome.advice


@pytest.mark.parametrize(("degree", "m"), [(1, 1), (2, 2), (3, 3), (3, 2)])
def test_low_degree_sees_what_is_within_its_degree(degree, m):
    found = learn(f"lowdegree:degree={degree}", f"parity:d=12,m={m}")
    assert found.secret_recovered
    assert found.outcome is Outcome.SOLVED


def test_low_degree_with_noise_is_measured_against_the_noiseless_mean():
    found = learn("lowdegree:degree=2,oversample=60", "parity:d=10,m=2,noise=0.2")
    assert found.secret_recovered
    assert found.risk.value < 0.1


def test_student_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(0)
    for k in (2, 3):
        layer = rng.normal(size=(2, 2, 4, 4))
        x, y = rng.normal(size=(2, 5, k, 4))
        loss, slope = layer_gradient(layer, x, y)

        def value(layer, x=x, y=y):
            found = AttentionLayer(theta=layer[0], w=layer[1])(x)
            return float(((found - y) ** 2).sum()) / len(x)

        assert loss == pytest.approx(value(layer), rel=1e-12)
        for index in np.ndindex(2, 2, 1, 4):
            step = np.zeros_like(layer)
            step[index] = 1e-6
            found = (value(layer + step) - value(layer - step)) / 2e-6
            assert slope[index] == pytest.approx(found, rel=1e-4, abs=1e-7)


def test_student_learns_one_coordinate():
    found = learn("student", "parity:d=8,m=1")
    assert found.outcome is Outcome.SOLVED
    assert found.secret_recovered is None


def test_student_learns_nothing_of_four_coordinates_of_sixteen_and_says_so():
    found = learn("student:steps=1500", "parity:d=16,m=4")
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert found.risk.value > 0.9


def test_a_diverging_student_says_so():
    found = learn("student:optimizer=sgd,rate=90,steps=200", "parity:d=8,m=2")
    assert found.outcome is Outcome.DIVERGED
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.risk.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("learner", "spec", "budget", "outcome"),
    [
        ("queries", "parity:d=16,m=3", {"queries": 1}, Outcome.QUERIES_SPENT),
        ("queries", "parity:d=16,m=3", {"examples": 3000}, Outcome.EXAMPLES_SPENT),
        ("queries", "parity:d=64,m=8", {"seconds": 0.05}, Outcome.SECONDS_SPENT),
        ("elimination", "parity:d=64,m=3", {"examples": 50}, Outcome.EXAMPLES_SPENT),
        ("lowdegree", "parity:d=20,m=3", {"examples": 500}, Outcome.EXAMPLES_SPENT),
        ("student", "parity:d=16,m=3", {"seconds": 0.05}, Outcome.SECONDS_SPENT),
        ("student", "parity:d=16,m=3", {"examples": 1000}, Outcome.EXAMPLES_SPENT),
    ],
)
def test_a_spent_budget_is_an_outcome(learner, spec, budget, outcome):
    found = learn(learner, spec, budget=Budget(**budget))
    assert found.outcome is outcome
    assert found.usage.examples <= budget.get("examples", 10**9)
    assert found.usage.queries <= budget.get("queries", 10**9)
    assert "raise --budget" in outcome.advice


def test_a_folder_without_its_secret_can_be_learned_but_not_judged(tmp_path):
    write_folder(tmp_path / "x", parse("parity:d=20,m=3").instance(0), 500)
    whole = run(parse_learner("elimination"), read_folder(tmp_path / "x"), Budget())
    assert whole.secret_recovered
    (tmp_path / "x" / "secret.json").unlink()
    found = run(parse_learner("elimination"), read_folder(tmp_path / "x"), Budget())
    assert found.outcome is Outcome.UNJUDGED
    assert found.risk is None
    assert found.secret_recovered is None
    assert found.details["claimed_secret"] == whole.details["claimed_secret"]


def test_members_of_a_scheme_are_itertools_combinations():
    for d, m in ((2, 1), (5, 4), (7, 3), (9, 2)):
        listed = parse(f"parity:d={d},m={m}").members()
        assert list(listed) == list(itertools.combinations(range(1, d), m))
