"""The baselines beside the staged learner, and the matching of what they find with the truth."""

import itertools
import json

import numpy as np
import pytest

import hardness as h
from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import Run, run
from hardness.runs.run import layer_of
from hardness.upper import Outcome, parse_learner
from hardness.upper.matching import match
from hardness.upper.regression import features
from instances import AttentionLayer, parse
from instances.files import load_layer


def learn(learner, spec, seed=0, **budget):
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


@pytest.mark.parametrize(
    "spec", ["nice:m=2,k=2,d=8", "nice:m=3,k=3,d=6,tokens=gaussian", "nice:m=1,k=4,d=5,scale=5"]
)
def test_levenberg_finds_random_layers_and_all_their_heads(spec):
    found = learn("levenberg", spec)
    assert found.outcome is Outcome.SOLVED
    assert found.details["held_out_error"] < 1e-20
    truth = found.details["truth"]
    assert sorted(truth["heads"]) == list(range(parse(spec).m))
    assert max(truth["theta_errors"] + truth["w_errors"]) < 1e-9
    assert truth["spare"] == []
    assert Run.read(json.loads(json.dumps(found.to_dict()))) == found
    assert "paired; largest relative errors: Theta" in run_words(found)


def test_levenberg_ends_near_the_noise_and_learns_more_from_more_examples():
    risks = [
        learn(f"levenberg:examples={n},restarts=1", "nice:m=2,k=2,d=6,noise=0.2").risk.value
        for n in (400, 4000)
    ]
    assert risks[1] < 0.3 * risks[0] < 0.03


def test_levenberg_with_more_heads_than_there_are_has_some_to_spare():
    found = learn("levenberg:heads=3,restarts=1,steps=30", "nice:m=2,k=2,d=5")
    assert len(found.details["truth"]["spare"]) == 1
    assert "2 of 2 paired, 1 to spare" in run_words(found)


@pytest.mark.parametrize(
    ("learner", "spec", "budget", "outcome"),
    [
        ("levenberg", "parity:d=24,m=5", {"seconds": 0.1}, Outcome.SECONDS_SPENT),
        ("levenberg", "nice:m=2,k=2,d=8", {"examples": 60}, Outcome.EXAMPLES_SPENT),
        ("levenberg", "nice:m=2,k=2,d=8", {"examples": 1}, Outcome.EXAMPLES_SPENT),
        ("linear", "nice:m=2,k=2,d=8", {"examples": 3}, Outcome.EXAMPLES_SPENT),
        ("linear", "nice:m=2,k=2,d=32", {"seconds": 1e-6}, Outcome.SECONDS_SPENT),
    ],
)
def test_budgets_are_kept(learner, spec, budget, outcome):
    found = learn(learner, spec, **budget)
    assert found.outcome is outcome
    assert found.usage.examples <= budget.get("examples", 10**9)
    assert found.risk is not None


def test_levenberg_learns_nothing_of_a_parity_on_four_bits():
    found = learn("levenberg:restarts=2,steps=30", "parity:d=10,m=4")
    assert found.outcome is Outcome.LEARNED_NOTHING
    json.dumps(found.to_dict(), allow_nan=False)


def test_linear_is_least_squares_on_the_token_and_the_sum():
    family = parse("nice:m=2,k=3,d=6")
    found = learn("linear:oversample=50", family.spec)
    drawn = family.instance(0).examples(0, 200)
    assert found.usage.examples == 200
    rows, labels = features(drawn.x).reshape(-1, 12), drawn.y.reshape(-1, 6)
    best, *_ = np.linalg.lstsq(rows, labels, rcond=None)
    unseen = family.instance(0).examples(0, 5000, "test")
    error = np.sum((features(unseen.x) @ best - unseen.y) ** 2) / np.sum(unseen.y**2)
    assert found.risk.value == pytest.approx(error, rel=0.05)
    assert 0.02 < error < 0.6


@pytest.mark.parametrize("k", [2, 3])
def test_linear_solves_layers_that_do_not_look(k):
    """To first order in Theta boolean tokens would tell; at Theta = 0 nothing is left."""
    assert learn("linear", f"nice:m=3,k={k},d=8,scale=0.001").risk.value < 1e-5
    weak, strong = (learn("linear", f"nice:m=3,k={k},d=8,scale={s}") for s in (0.3, 2))
    assert weak.risk.value < 0.3 * strong.risk.value


@pytest.mark.parametrize("spec", ["parity:d=10,m=3", "nice:m=2,k=3,d=6"])
def test_trivial_has_a_risk_of_one_and_asks_for_nothing(spec):
    found = learn("trivial", spec)
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert found.risk.value == pytest.approx(1.0)
    assert found.usage.examples == 0


def layer(m, d, seed):
    theta, w = np.random.default_rng(seed).normal(size=(2, m, d, d))
    return AttentionLayer(theta=theta, w=w)


@pytest.mark.parametrize(("found", "true"), [(3, 3), (2, 4), (4, 2), (1, 1)])
def test_the_matching_is_the_best_of_all(found, true):
    for seed in range(5):
        a, b = layer(found, 3, seed), layer(true, 3, seed + 100)
        matching = match(a, b)
        got = sum(e for e in matching.theta + matching.w if e is not None)

        def relative(x, y):
            return np.linalg.norm(x - y) / np.linalg.norm(y)

        cost = [
            [relative(a.theta[j], b.theta[i]) + relative(a.w[j], b.w[i]) for j in range(found)]
            for i in range(true)
        ]
        size = min(found, true)
        best = min(
            sum(cost[i][j] for i, j in zip(rows, cols, strict=True))
            for rows in itertools.combinations(range(true), size)
            for cols in itertools.permutations(range(found), size)
        )
        assert got == pytest.approx(best, rel=1e-12)
        assert len(matching.spare) == found - size
        assert matching.heads.count(None) == true - size == matching.theta.count(None)
        for i, j in enumerate(matching.heads):
            if j is not None:
                assert matching.theta[i] == pytest.approx(relative(a.theta[j], b.theta[i]))


def test_the_matching_undoes_a_permutation_and_names_the_head_that_is_off():
    truth = layer(4, 5, 0)
    order = [2, 0, 3, 1]
    theta, w = truth.theta[order].copy(), truth.w[order]
    theta[1] *= 1.25
    matching = match(AttentionLayer(theta=theta, w=w), truth)
    assert matching.heads == (1, 3, 0, 2)
    assert matching.theta == pytest.approx((0.25, 0, 0, 0))
    assert matching.w == (0, 0, 0, 0)


def test_the_true_layer_is_left_out_where_it_is_large_or_beyond_float64():
    assert layer_of(parse("parity:d=8,m=3").instance(0)).m == 3
    assert layer_of(parse("parity:d=1000,m=21").instance(0)) is None
    assert layer_of(parse("parity:d=62,m=60,rho=1.0625").instance(0)) is None
    assert "truth" in learn("student:steps=5", "parity:d=8,m=3").details
    assert "truth" not in learn("trivial", "parity:d=8,m=3").details


@pytest.mark.parametrize("name", ["staged", "levenberg", "student:steps=20"])
@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_the_layer_that_a_learner_found_is_saved_and_read_back(hardness, tmp_path, name, ending):
    spec, path = "nice:m=1,k=2,d=4", tmp_path / f"layer.{ending}"
    assert hardness("learn", name, spec, "--save-layer", path).code == 0
    run, saved = h.learn(name, spec), load_layer(path)
    assert np.array_equal(saved.theta, run.layer.theta)
    assert np.array_equal(saved.w, run.layer.w)
    assert hardness("inspect", path, "--json").json["heads"] == 1
    hardness("learn", name, spec, "--save-layer", path, "--budget-examples", 9).one_line("--force")
    assert np.array_equal(load_layer(path).w, saved.w)


def test_where_no_layer_was_found_none_is_written(hardness, tmp_path):
    left = hardness(
        "learn", "staged", "nice:m=1,k=2,d=4", "--save-layer", "l.npz", "--budget-examples", 3
    )
    assert left.code == 1
    assert "no layer was found" in left.err
    assert list(tmp_path.iterdir()) == []
