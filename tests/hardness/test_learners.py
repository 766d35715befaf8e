"""Learners: what each finds and how it ends, gradients, epochs, heads beside the true ones."""

import itertools
import json
from contextlib import suppress
from fractions import Fraction
from statistics import mean

import numpy as np
import pytest

import hardness as h
from hardness.learners import Outcome, learner_spec, mlp, regression
from hardness.learners.fitting import match
from hardness.learners.mlp import evaluate, gradient, initial
from hardness.learners.regression import features
from hardness.learners.student import layer_gradient
from hardness.oracles import Budget, Epochs, ExampleOracle, Meter, Spent
from hardness.report.run import run_words
from hardness.runs import run
from hardness.runs.registry import parse_learner
from hardness.runs.run import layer_of
from instances import AttentionLayer, ToolkitError, parse, read_folder, write_folder
from instances.files import load_layer
from tests.slopes import slopes_agree


def learn(learner, spec, seed=0, budget=None, **more):
    return run(parse_learner(learner), parse(spec).instance(seed), budget or Budget(), seed, **more)


DEGREE = "lowdegree:oversample=60,degree="
SOLVED = [  # with the largest risk
    *(("elimination", f"parity:d={d}", 1e-12) for d in ("200,m=7", "1000,m=21", "2,m=1")),
    ("queries", "parity:d=10,m=2,noise=0.2", 1e-12),
    *((f"lowdegree:degree={k}", f"parity:d=12,m={m}", 0.1) for k, m in ((1, 1), (2, 2), (3, 3))),
    ("lowdegree:degree=3", "parity:d=12,m=2", 0.1),
    (f"{DEGREE}2", "parity:d=10,m=2,noise=0.2", 0.1),  # against the mean without noise
    (f"{DEGREE}2", "lpn:n=10,h=2,noise=0.1", 0.1),
    (f"{DEGREE}4", "lwr:n=2,q=4,p=2,secret=binary", 0.1),
    (f"{DEGREE}3", "lwe:n=1,q=8,error=none", 0.1),
    ("student", "parity:d=8,m=1", 0.1),
    ("mlp:steps=1500", "lpn:n=8,h=2,noise=0.1", 0.05),
    ("mlp:steps=1000,optimizer=sgd,rate=0.2", "parity:d=9,m=1", 0.05),
    ("mlp:steps=1000,optimizer=momentum,rate=0.02", "parity:d=9,m=1", 0.05),
    pytest.param(
        *("mlp:view=tokens,steps=1500,rate=0.003,width=256", "parity:d=8,m=2,noise=0.1", 0.05),
        marks=pytest.mark.slow,
    ),
    ("mlp:steps=2000,rate=0.01", "lwr:n=4,q=8,p=2,secret=binary,h=2", 0.05),
    *(
        pytest.param(*one, marks=pytest.mark.weekly)
        for one in (
            ("mlp:view=tokens,steps=1500,rate=0.003,width=256", "profile:g=majority,d=8,m=3", 0.05),
            ("mlp:steps=3000", "nice:scale=0.1,m=1,k=2,d=4,tokens=gaussian", 0.1),
        )
    ),
    *(("linear", f"nice:m=3,k={k},d=8,scale=0.001", 1e-5) for k in (2, 3)),  # it does not look
]


@pytest.mark.parametrize(("learner", "spec", "most"), SOLVED)
def test_what_is_within_reach_is_learned(learner, spec, most):
    found = learn(learner, spec)
    assert found.outcome is Outcome.SOLVED
    assert found.risk < most
    claims = spec.startswith("parity") and learner.startswith(("eli", "que", "low"))
    assert found.secret_recovered is (True if claims else None)
    if learner == "elimination":
        assert found.examples <= 2.5 * parse(spec).d + 200


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        *((f"lowdegree:degree={k}", f"parity:d=16,m={m}") for k, m in ((0, 1), (1, 2), (2, 3))),
        (f"{DEGREE}2", "lpn:n=10,h=3,noise=0.1"),
        (f"{DEGREE}2", "lwr:n=8,q=8,p=2,secret=binary,h=4"),  # 4 odd entries: from degree 4 on
        ("student:steps=500", "parity:d=16,m=4"),
        ("levenberg:restarts=1,steps=20", "parity:d=10,m=4"),
        ("trivial", "parity:d=10,m=3"),
        ("trivial", "nice:m=2,k=3,d=6"),
    ],
)
def test_what_is_beyond_reach_is_said_to_be_so(learner, spec):
    found = learn(learner, spec)
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert found.risk > 0.9
    assert found.risk_high >= 1
    assert "certificate" in found.outcome.advice
    if learner.startswith("lowdegree"):
        assert found.risk_low < 1 < found.risk_high
    if learner == "trivial":
        assert (found.risk, found.examples) == (pytest.approx(1), 0)


def test_a_set_is_claimed_from_half_of_its_coefficient_on():
    family = parse("parity:d=8,m=2,noise=0.25")  # a coefficient of 1/2
    assert [regression._claimed(family, (1, 2), c) for c in (0.24, 0.26)] == [None, (1, 2)]
    assert learn("lowdegree:oversample=2", "parity:d=16,m=2,noise=0.45").secret_recovered is None


def test_noise_and_steps_that_are_too_long_are_outcomes():
    for noise in ("0.1", "0.3", "0.45"):
        found = learn("elimination", f"parity:d=100,m=5,noise={noise}")
        assert (found.outcome, found.secret_recovered) == (Outcome.NO_CLAIM, None)
        assert "noisy" in found.details["reason"]
        assert found.details["contradictions"] > 0
    for name in ("student", "mlp"):
        found = learn(f"{name}:optimizer=sgd,rate=90,steps=200", "parity:d=8,m=2")
        assert found.outcome is Outcome.STAGE_FAILED
        assert found.risk == pytest.approx(1)
        json.dumps(found.to_dict(), allow_nan=False)


LWR = "lwr:n=16,q=16,p=2,secret=binary,h=4"
SPENT = [
    ("queries", "parity:d=16,m=3", {"queries": 1}),
    ("queries", "parity:d=64,m=8", {"seconds": 1}),
    ("elimination", "parity:d=64,m=3", {"examples": 50}),
    ("lowdegree", "parity:d=20,m=3", {"examples": 500}),
    ("mlp", LWR, {"seconds": 1}),
    ("mlp", LWR, {"examples": 1000}),
    ("levenberg", "nice:m=2,k=2,d=8", {"examples": 1}),
    ("linear", "nice:m=2,k=2,d=32", {"seconds": 1e-6}),
    *(
        (learner, spec, given)
        for learner, spec in (
            ("modlinear", "lwe:n=20,q=257,error=none"),
            ("dual", "lwe:n=10,q=97,sigma=1,secret=binary"),
        )
        for given in ({"examples": 20}, {"seconds": 1e-9})
    ),
]


@pytest.mark.parametrize(("learner", "spec", "budget"), SPENT)
def test_a_spent_budget_is_an_outcome(learner, spec, budget, ticks):
    ticks(0.1)
    found = learn(learner, spec, budget=Budget(**budget))
    (name,) = budget
    assert found.outcome is Outcome[f"{name.upper()}_SPENT"]
    assert found.examples <= budget.get("examples", 10**9)
    assert found.queries <= budget.get("queries", 10**9)
    assert found.risk is not None
    assert "raise --budget" in found.outcome.advice


def test_mlp_keeps_its_seconds_when_it_goes_round(ticks):
    ticks(0.01)
    found = learn("mlp", "parity:d=9,m=3", budget=Budget(examples=300, seconds=2))
    assert found.outcome is Outcome.SECONDS_SPENT
    assert 50 <= found.details["steps"] <= 200
    assert found.details["held_out_error"] < 2


def test_queries_take_at_most_all_members_and_half_on_average():
    runs = [learn("queries", "parity:d=12,m=3", seed) for seed in range(20)]
    used = [r.queries for r in runs]
    assert all(r.secret_recovered and r.outcome is Outcome.SOLVED for r in runs)
    assert max(used) <= 164
    assert 50 < mean(used) < 115


def test_queries_conclude_by_exclusion():
    """The last candidate needs no query."""
    family = parse("parity:d=5,m=2")
    assert list(family.members()) == list(itertools.combinations(range(1, 5), 2))
    seeds = {family.instance(s).hidden.secret: s for s in range(60)}
    assert len(seeds) == 6
    used = {s: learn("queries", family.spec, seed).queries for s, seed in seeds.items()}
    assert sorted(used.values()) == [1, 2, 3, 4, 5, 5]
    assert used[(3, 4)] == 5


def test_queries_where_tau_hides_everything_and_by_samples():
    found = learn("queries", "parity:d=10,m=2,noise=0.2", tau=Fraction(15, 100))
    assert (found.outcome, found.queries) == (Outcome.NO_CLAIM, 0)
    assert found.details["tau_below"] == pytest.approx(0.15)
    a, b = (learn("queries", "parity:d=12,m=3", oracle=o) for o in ("exact", "samples"))
    assert a.details["claimed_secret"] == b.details["claimed_secret"]
    assert a.queries == b.queries
    assert a.examples == 0


@pytest.mark.parametrize("k", [2, 3])
def test_student_gradients_are_those_of_the_loss(k):
    rng = np.random.default_rng(k)
    layer = rng.normal(size=(2, 2, 4, 4))
    x, y = rng.normal(size=(2, 5, k, 4))

    def value(layer):
        return float(((AttentionLayer(theta=layer[0], w=layer[1])(x) - y) ** 2).sum()) / len(x)

    loss, slope = layer_gradient(layer, x, y)
    assert loss == pytest.approx(value(layer), rel=1e-12)
    slopes_agree(value, slope, layer)


@pytest.mark.parametrize("outputs", [1, 3])
def test_mlp_gradients_are_those_of_the_loss(outputs):
    rng = np.random.default_rng(0)
    theta = initial(rng, 6, 5, outputs).astype(np.float64)
    z, values = rng.choice([-1.0, 1.0], (40, 6)), rng.normal(size=(40, outputs))

    def value(at):
        return float(((evaluate(at, z, outputs) - values) ** 2).sum(axis=1).mean())

    loss, slope = gradient(theta, z, values)
    assert loss == pytest.approx(value(theta), rel=1e-12)
    slopes_agree(value, slope, theta)


def test_mlp_sees_the_tokens_or_their_product_alone(monkeypatch):
    """Nothing of z is in the input of view=tokens, and nothing of the tokens in that of view=z."""
    seen = []
    monkeypatch.setattr(mlp, "gradient", lambda *given: seen.append(given) or gradient(*given))
    examples = parse("parity:d=6,m=2").instance(0).examples(0, 2048)
    x = examples.x[examples.x[:, 0, 0] != examples.x[:, 1, 0]]
    for view, wanted in {"tokens": x.reshape(len(x), -1), "z": (x[:, 0] * x[:, 1])[:, 1:]}.items():
        found = learn(f"mlp:view={view},steps=1,batch=64", "parity:d=6,m=2")
        _, z, values = seen.pop()
        assert z.shape == (64, wanted.shape[1])
        every = {row.tobytes() for row in wanted.astype(np.float32)}
        assert len(every & {row.tobytes() for row in z}) > 5
        assert set(values.ravel().tolist()) == {-1.0, 1.0}
        assert found.details["steps"] == 1


def test_mlp_uses_every_example_once_and_has_a_curve_of_its_losses():
    found = learn("mlp:steps=1500", "parity:d=9,m=2")
    assert found.outcome is Outcome.SOLVED
    assert found.risk < 0.05
    steps, examples, losses = map(list, zip(*found.details["curve"], strict=True))
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (1, found.details["steps"])
    assert examples == [256 * s for s in steps]
    assert 0.5 < losses[0] < 10
    assert losses[-1] < 0.1
    found = learn("mlp:steps=300,batch=50", "lwr:n=4,q=8,p=2", seed=3)
    assert found.details["trained_on"] == 300 * 50
    # Half of the examples have a label to learn from.
    assert 1.8 < found.examples / found.details["trained_on"] < 2.2


def keys(examples):
    """One number for each example."""
    parts = [t.reshape(len(examples), -1).astype(np.float64) for t in examples.tensors.values()]
    return [hash(row.tobytes()) for row in np.concatenate(parts, axis=1)]


@pytest.mark.parametrize(
    "spec", ["parity:d=24,m=3", "nice:m=1,k=2,d=12,tokens=boolean", "nice:m=1,k=3,d=6"]
)
@pytest.mark.parametrize("stored", [False, True])
def test_each_epoch_gives_the_same_examples_in_another_order(spec, stored, tmp_path):
    source, meter = parse(spec).instance(0), Meter(Budget(examples=None if stored else 50))
    if stored:
        source = write_folder(tmp_path / "folder", source, 50)
    oracle = Epochs(ExampleOracle(source, meter), 3, np.random.default_rng(1))
    order = []
    with suppress(Spent):
        while len(order) <= 150:
            order += keys(oracle.draw(20))
    assert (len(order), meter.examples, oracle.epoch, oracle.ended) == (150, 50, 3, True)
    first, second, third = order[:50], order[50:100], order[100:]
    assert len(set(first)) == 50
    assert set(first) == set(second) == set(third)
    assert first != second != third


def test_one_epoch_is_the_oracle_itself_and_there_may_be_nothing_to_go_round():
    instance, rng = parse("parity:d=8,m=2").instance(0), np.random.default_rng(0)
    oracle = Epochs(ExampleOracle(instance, Meter(Budget(examples=7))), 1, rng)
    assert oracle.draw(9).agrees(instance.examples(0, 7))
    with pytest.raises(Spent):
        oracle.draw(1)
    assert not oracle.ended
    assert rng.random() == np.random.default_rng(0).random()
    under = ExampleOracle(instance, Meter(Budget(examples=9)))
    drawn = under.draw(9)
    assert under.again().agrees(drawn)
    assert under.meter.examples == 9
    with pytest.raises(Spent):
        Epochs(under, 5, rng).draw(1)
    late = ExampleOracle(instance, Meter(Budget(examples=9)))
    late.draw(4)  # no part of any epoch
    oracle = Epochs(late, 2, rng)
    assert set(keys(oracle.draw(9))) == set(keys(oracle.draw(9))) == set(keys(drawn)[4:])


@pytest.mark.parametrize("learner", ["mlp:steps=1000,rate=0.01,batch=64", "student:batch=64"])
def test_epochs_solve_what_one_does_not_and_count_each_example_once(learner):
    limit = Budget(examples=600)
    once, often = (
        learn(f"{learner},epochs={epochs}", "parity:d=7,m=1", budget=limit) for epochs in (1, 60)
    )
    assert (once.outcome, once.details["epochs"]) == (Outcome.EXAMPLES_SPENT, 1)
    assert often.outcome is Outcome.SOLVED
    assert 1 < often.details["epochs"] <= 60
    assert once.examples == often.examples == 600


def test_a_folder_without_its_secret_can_be_learned_but_not_judged(tmp_path):
    write_folder(tmp_path / "x", parse("parity:d=20,m=3").instance(0), 500)
    whole = run(parse_learner("elimination"), read_folder(tmp_path / "x"), Budget())
    assert whole.secret_recovered
    (tmp_path / "x" / "secret.json").unlink()
    found, trained = (
        run(parse_learner(learner), read_folder(tmp_path / "x"), Budget())
        for learner in ("elimination", "student:epochs=3")
    )
    assert (found.outcome, found.risk, found.secret_recovered) == (Outcome.UNJUDGED, None, None)
    assert found.details["claimed_secret"] == whole.details["claimed_secret"]
    assert (trained.outcome, trained.risk) == (Outcome.UNJUDGED, None)
    assert (trained.examples, trained.details["epochs"]) == (500, 3)


def test_learners_of_one_epoch_keep_their_names_and_so_their_coins():
    assert learner_spec(parse_learner("student")) == (
        "student:batch=256,heads=0,optimizer=adam,rate=0.01,steps=4000"
    )
    assert "epochs" not in learner_spec(parse_learner("student:epochs=1"))
    assert parse_learner(learner_spec(parse_learner("mlp:epochs=2"))).epochs == 2


@pytest.mark.parametrize(
    "spec", ["nice:m=2,k=2,d=8", "nice:m=3,k=3,d=5,tokens=gaussian", "nice:m=1,k=4,d=5,scale=5"]
)
def test_levenberg_finds_random_layers_and_all_their_heads(spec):
    found = learn("levenberg", spec)
    assert found.outcome is Outcome.SOLVED
    assert found.details["held_out_error"] < 1e-20
    truth = found.details["truth"]
    assert sorted(truth["heads"]) == list(range(parse(spec).m))
    assert max(truth["theta_errors"] + truth["w_errors"]) < 1e-9
    assert truth["spare"] == []
    assert "paired; largest relative errors: Theta" in run_words(found)


def test_levenberg_ends_near_the_noise_and_has_heads_to_spare():
    risks = [
        learn(f"levenberg:examples={n},restarts=1", "nice:m=2,k=2,d=6,noise=0.2").risk
        for n in (400, 4000)
    ]
    assert risks[1] < 0.3 * risks[0] < 0.03
    found = learn("levenberg:heads=3,restarts=1,steps=30", "nice:m=2,k=2,d=5")
    assert len(found.details["truth"]["spare"]) == 1
    assert "2 of 2 paired, 1 to spare" in run_words(found)


def test_linear_is_least_squares_on_the_token_and_the_sum():
    family = parse("nice:m=2,k=3,d=6")
    found = learn("linear:oversample=50", family.spec)
    drawn = family.instance(0).examples(0, 200)
    assert found.examples == 200
    rows, labels = features(drawn.x).reshape(-1, 12), drawn.y.reshape(-1, 6)
    best, *_ = np.linalg.lstsq(rows, labels, rcond=None)
    unseen = family.instance(0).examples(0, 5000, "test")
    error = np.sum((features(unseen.x) @ best - unseen.y) ** 2) / np.sum(unseen.y**2)
    assert found.risk == pytest.approx(error, rel=0.05)
    assert 0.02 < error < 0.6
    weak, strong = (learn("linear", f"nice:m=3,k=2,d=8,scale={s}") for s in (0.3, 2))
    assert weak.risk < 0.3 * strong.risk


def layer(m, d, seed):
    theta, w = np.random.default_rng(seed).normal(size=(2, m, d, d))
    return AttentionLayer(theta=theta, w=w)


@pytest.mark.parametrize(("found", "true"), [(3, 3), (2, 4), (4, 2), (1, 1)])
def test_the_matching_is_the_best_of_all(found, true):
    def relative(x, y):
        return np.linalg.norm(x - y) / np.linalg.norm(y)

    for seed in range(5):
        a, b = layer(found, 3, seed), layer(true, 3, seed + 100)
        matching = match(a, b)
        got = sum(e for e in matching.theta + matching.w if e is not None)
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


def test_the_true_layer_is_left_out_where_it_is_large_or_beyond_float64():
    assert layer_of(parse("parity:d=8,m=3").instance(0)).m == 3
    assert layer_of(parse("parity:d=1000,m=21").instance(0)) is None
    assert layer_of(parse("parity:d=62,m=60,rho=1.0625").instance(0)) is None
    assert "truth" in learn("student:steps=5", "parity:d=8,m=3").details
    assert "truth" not in learn("trivial", "parity:d=8,m=3").details


OWN = """
import numpy as np
from hardness.learners import Hypothesis
from instances import AttentionLayer

class Own:
    def learn(self, oracle, rng):
        layer = AttentionLayer(theta=np.zeros((1, 4, 4)), w=np.eye(4)[None])
        return Hypothesis(predict=layer, layer=layer)
"""


@pytest.mark.parametrize(
    ("name", "ending"),
    [("staged", "npz"), ("levenberg", "safetensors"), ("student:steps=20", "npz")],
)
def test_the_layer_that_a_learner_found_is_saved_and_read_back(hardness, tmp_path, name, ending):
    spec, path = "nice:m=1,k=2,d=4", tmp_path / f"layer.{ending}"
    assert hardness("learn", name, spec, "--save-layer", path).code == 0
    run, saved = h.learn(name, spec), load_layer(path)
    assert np.array_equal(saved.theta, run.layer.theta)
    assert np.array_equal(saved.w, run.layer.w)
    assert hardness("inspect", path, "--json").json["heads"] == 1
    hardness("learn", name, spec, "--save-layer", path, "--budget-examples", 9).one_line("--force")
    assert np.array_equal(load_layer(path).w, saved.w)


def test_the_layer_of_a_learner_from_a_file_is_saved(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    h.learn(f"{tmp_path}/mine.py:Own", "nice:m=1,k=2,d=4", save_layer=tmp_path / "layer.npz")
    assert (load_layer(tmp_path / "layer.npz").w == np.eye(4)).all()


CRASHES = """
class Own:
    def learn(self, oracle, rng):
        raise RuntimeError("boom")
"""


def test_where_no_layer_was_found_the_run_is_printed_and_none_is_written(hardness, tmp_path):
    (tmp_path / "mine.py").write_text(CRASHES)
    asked = ("nice:m=1,k=2,d=4", "--budget-examples", 3)
    for learner, outcome in (("staged", "examples spent"), ("mine.py:Own", "crashed")):
        alone = hardness("learn", learner, *asked)
        left = hardness("learn", learner, *asked, "--save-layer", "l.npz")
        assert (alone.code, left.code) == (0, 1)
        assert left.out.splitlines()[:2] == alone.out.splitlines()[:2]
        assert (
            f"no layer was found: {learner} gave none, and the run ended as {outcome}" in left.err
        )
        assert len(left.err.splitlines()) == 1
    assert "RuntimeError in learn, line 4 of mine.py: boom" in left.out
    assert [file.name for file in tmp_path.iterdir()] == ["mine.py"]
    with pytest.raises(ToolkitError, match="no layer was found") as caught:
        h.learn("staged", asked[0], budget_examples=3, save_layer=tmp_path / "l.npz")
    assert caught.value.partial.outcome is Outcome.EXAMPLES_SPENT
