"""The learner: what it finds, with how many examples, on tokens of other laws; its limits."""

import itertools
import sys

import numpy as np
import pytest

import hardness as h
from hardness.learners import Outcome
from hardness.learners.fitting import relative_error
from hardness.learners.levenberg import Levenberg
from hardness.learners.staged import Staged, StageReport, diagnose
from hardness.learners.staged.learner import run_practical
from hardness.learners.staged.progress import Whitening
from hardness.oracles import Budget, ExampleOracle, Meter, Spent
from hardness.runs import run
from hardness.runs.run import attempt
from instances import AttentionLayer, parse
from instances.errors import TooLarge
from instances.teacher import teach
from tests.planted import flagged, learn, measured

EXACT, NOISE, WRONG = (0, 1e-20), (1e-6, 1), (0.1, 1)
LONGER = [
    ("nice:m=1,k=2,d=33", 0, {}, 1, EXACT, 10_000),
    ("nice:m=2,k=2,d=33", 0, {}, 2, EXACT, 20_000),
    ("nice:m=3,k=2,d=8", 200, {}, 3, EXACT, 90_000),
    ("nice:m=3,k=2,d=7,noise=0.5", 1, {}, 3, NOISE, 20_000),
    ("nice:m=2,k=2,d=8,noise=1/10", 0, {"heads": 4}, 2, (1e-6, 0.02), 20_000),
]


@pytest.mark.parametrize(
    ("spec", "seed", "given", "heads", "error", "used"),
    [
        ("nice:m=1,k=2,d=16", 0, {}, 1, EXACT, 1024),
        ("nice:m=2,k=2,d=8,tokens=gaussian", 0, {}, 2, EXACT, 1280),
        *(pytest.param(*one, marks=pytest.mark.weekly) for one in LONGER),
        # Small layers of several heads are not taken for one in noise, and one is proved right.
        ("nice:m=2,k=2,d=6", 203, {}, 2, EXACT, 20_000),
        ("nice:m=1,k=2,d=4", 203, {}, 1, EXACT, 640),
        # Spare heads are taken out, none that matters.
        ("nice:m=2,k=2,d=8", 0, {"heads": 4}, 2, EXACT, 20_000),
        # It stops at noise, which hides no head and adds none.
        ("nice:m=2,k=2,d=8,noise=1/100", 0, {}, 2, (1e-6, 1e-3), 20_000),
        ("nice:m=1,k=2,d=8,noise=0.5", 1, {}, 1, NOISE, 20_000),
        # What is given is obeyed.
        ("nice:m=2,k=2,d=8", 0, {"heads": 1, "examples": 2_000}, 1, WRONG, 2_000),
    ],
)
def test_it_finds_out_heads_and_examples(spec, seed, given, heads, error, used):
    found, examples = learn(spec, seed, Budget(examples=90_000), **given)
    assert found.outcome is None
    assert found.details["heads"] == found.layer.m == heads
    assert error[0] <= found.details["error"] < error[1]
    assert found.details["failed"] is found.details["needs"] is None
    assert given.get("examples", 0) <= examples <= used
    spare = given.get("heads", 0) - heads
    assert found.details["spare"] == (f"{spare} of 4 heads" if spare > 0 else None)
    if error != WRONG:
        assert not flagged(found.details["diagnosis"])
    if error == EXACT:
        instance = parse(spec).instance(seed)
        x = instance.examples(0, 500, "evaluate").x
        assert relative_error(found.predict(x), instance.layer()(x)) < 1e-20
    if given.get("heads") == 1:
        assert not measured(found, "span", "gap")


@pytest.mark.slow
def test_two_heads_under_noise_are_found_as_well_as_by_levenberg():
    for noise, seed in itertools.product(("0.3", "0.4", "0.5"), range(3)):
        instance = parse(f"nice:m=2,k=2,d=8,noise={noise}").instance(seed)
        found = run(Staged(), instance, Budget(), seed)
        assert found.details["heads"] == 2
        rival = run(Levenberg(examples=found.examples), instance, Budget(), seed)
        assert found.risk <= 2 * rival.risk


@pytest.mark.parametrize(
    ("spec", "rank"),
    [("parity:d=12,m=2", 1), ("parity:d=12,m=6", 1), ("nice:m=3,k=2,d=8,parity=1", 1),
     ("nice:m=2,k=4,d=3", 3)],
)  # fmt: skip
def test_degenerate_layers_end_with_an_outcome_and_are_flagged(spec, rank):
    found, used = learn(spec)
    assert found.outcome is Outcome.STAGE_FAILED
    assert f"the labels have rank {rank}:" in found.details["failed"]
    assert used <= max(20 * parse(spec).d ** 2, 1500)  # more would not help
    signals = flagged(found.details["diagnosis"])
    assert "rank of the labels" in signals
    assert signals & {"hold-out error", "error over linear"}


def test_tiny_dimensions_end_without_a_crash():
    small = itertools.product((1, 2), ("k=2,m=1", "k=2,m=2,tokens=gaussian", "k=3,m=2"))
    for d, rest in (*small, (3, "k=2,m=2,tokens=gaussian")):
        spec = f"nice:d={d},{rest}"
        found, _ = learn(spec, budget=Budget(examples=700), polish=2)
        assert found.outcome in (None, Outcome.STAGE_FAILED, Outcome.EXAMPLES_SPENT), spec
    learn("nice:m=3,k=2,d=8", 200_051, Budget(examples=64))  # scipy would warn, here an error


# Budgets and limits


@pytest.mark.parametrize(
    ("spec", "budget", "outcome"),
    [
        ("nice:m=3,k=2,d=16", {"examples": 1}, Outcome.EXAMPLES_SPENT),
        ("nice:m=3,k=2,d=16", {"examples": 300}, Outcome.EXAMPLES_SPENT),
        ("nice:m=3,k=2,d=16", {"seconds": 1e-9}, Outcome.SECONDS_SPENT),
        ("nice:m=1,k=2,d=8", {"examples": 250}, None),  # solved with the last example
        ("nice:m=2,k=2,d=8,noise=0.1", {"examples": 1500}, None),  # near: the judge decides
    ],
)
def test_a_spent_budget_is_an_outcome(spec, budget, outcome):
    found, used = learn(spec, budget=Budget(**budget))
    assert found.outcome is outcome
    assert used <= budget.get("examples", 10**9)
    assert np.isfinite(found.predict(np.ones((3, 2, parse(spec).d)))).all()


def test_what_was_offered_is_left_if_the_seconds_are_over(monkeypatch):
    """Of a draw after the first: what the first examples gave is the run's."""
    oracle = ExampleOracle(parse("nice:m=3,k=2,d=16").instance(0), Meter(Budget()))
    draw, left = oracle.draw, [1]

    def once(count):
        if not left:
            raise Spent("seconds")
        left.pop()
        return draw(count)

    monkeypatch.setattr(oracle, "draw", once)
    found, _ = attempt(Staged(), oracle, 0)
    assert found.outcome is Outcome.SECONDS_SPENT
    assert found.layer is not None
    assert found.details["error"] < 1


def test_what_does_not_fit_in_memory_ends_it_unless_there_is_a_layer(monkeypatch):
    def full(size, asked):
        if size > limit:
            raise TooLarge(f"{asked} needs {size}")

    monkeypatch.setattr(sys.modules[run_practical.__module__], "require_memory", full)
    limit = 50_000
    with pytest.raises(TooLarge, match="d=6 with 640 examples needs"):
        learn("nice:m=3,k=2,d=6")
    limit = 500_000
    found, _ = learn("nice:m=3,k=2,d=6")
    assert "d=6 with 1280 examples needs" in found.details["failed"]
    assert found.layer is not None


def test_limits_are_said_before_it_starts_and_long_runs_are_announced(hardness):
    for heads, most in ((0, 256), (1, 256), (2, 128)):
        assert Staged(heads=heads).supports(parse(f"nice:m=2,k=2,d={most}")) is None
        refused = Staged(heads=heads).supports(parse(f"nice:m=2,k=2,d={most + 1}"))
        assert "at most 256 for one head and 128 for several" in refused


# Tokens of other laws: what is whitened, and what is said of the rest

D = 6
RNG = np.random.default_rng(3)
TURN = np.linalg.qr(RNG.normal(size=(D, D)))[0]
UNEVEN_ROOT = (TURN * np.geomspace(0.05, 5.0, D) ** 0.5) @ TURN.T  # covariance: condition 100
LAWS = {
    "uneven": lambda rng, n: rng.normal(size=(n, 2, D)) @ UNEVEN_ROOT,
    "uneven with a mean": lambda rng, n: rng.normal(size=(n, 2, D)) @ UNEVEN_ROOT + 0.5,
    "positions": lambda rng, n: rng.normal(size=(n, 2, D)) + np.arange(2 * D).reshape(2, D) / 8,
    "thin": lambda rng, n: rng.normal(size=(n, 2, 4)) @ TURN[:, :4].T,
}


def layer(seed=0, d=D):
    return parse(f"nice:m=2,k=2,d={d}").instance(seed).layer()


@pytest.mark.parametrize("law", LAWS)
def test_the_stages_find_the_heads_on_tokens_of_other_laws(law):
    rng = np.random.default_rng(0)
    x = LAWS[law](rng, 30_000)
    found = h.learn("staged", (x, layer()(x)), budget_seconds=None)
    assert found.outcome is Outcome.FITTED
    assert found.layer.m == 2
    fresh = LAWS[law](rng, 9)
    assert np.abs(found.layer(fresh) - layer()(fresh)).max() < 1e-6


def test_the_stages_find_a_layer_with_biases():
    """The constant coordinate is one that no difference of tokens has."""
    with_bias = AttentionLayer(theta=layer().theta, w=layer().w, constant=True)
    found = h.learn("staged", teacher=with_bias)
    assert found.passed
    truth = found.details["truth"]
    assert truth["spare"] == []
    assert max(truth["theta_errors"] + truth["w_errors"]) < 1e-6


@pytest.mark.parametrize("law", ["boolean", "gaussian"])
@pytest.mark.parametrize("d", [4, 16])
def test_standard_tokens_are_left_as_they_are(law, d):
    for seed in range(5):
        instance = teach(layer(d=d), law, seed=seed)
        found = Whitening.fit(np.asarray(instance.examples(0, 640).x, float))
        assert found.inverse is None
        assert found.standard or d == 4  # where signs repeat


def test_a_mean_is_named_where_nothing_was_found():
    x = RNG.normal(size=(500, 2, D)) + 9 * TURN[0]
    measures = Whitening.fit(x).measures
    assert measures["mean"] == pytest.approx(81 / (81 + D), rel=0.02)
    report = StageReport(name="tokens", seconds=0, examples=500, rows=0, measures=measures)
    lost = diagnose([report], error=0.5, upper=0.6, k=2)
    assert {one.name for one in lost if one.flagged} == {"mean of the tokens", "hold-out error"}
    won = diagnose([report], error=1e-9, upper=1e-8, k=2)
    assert [one.name for one in won if one.moot] == ["mean of the tokens"]
