"""Runs on data of a user: what is held out judges them, beside baselines that saw the same."""

import json
import textwrap
from itertools import product

import numpy as np
import pytest

import hardness as h
from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import Run
from hardness.runs.misfit import Misfit, largest_share, measure_misfit, ratio_interval
from hardness.runs.own import run_on_data
from hardness.upper import Outcome, parse_learner
from hardness.upper.attention import columns, linearize
from hardness.upper.plugins import function
from hardness.upper.trained import layer_gradient
from instances import AttentionLayer, parse
from instances.errors import UsageError
from instances.owndata import split
from tests.conftest import script

LEARNERS = """
    import numpy as np
    from hardness.upper import Hypothesis

    class Own:
        access, revision, about = "examples", 1, "a learner of a user"
        def learn(self, oracle, rng):
            self.rng, drawn = rng, oracle.draw(10**6)
            self.w = np.linalg.lstsq(drawn.x.reshape(-1, 4), drawn.y.reshape(-1, 4), rcond=None)[0]
            told = {"told": oracle.family.spec, "drawn": len(drawn)}
            return Hypothesis(predict=self.predict, details=told)
        def supports(self, family):
            return None

    class Tokenwise(Own):
        def predict(self, x):
            return x @ self.w

    class Coins(Own):
        def predict(self, x):
            return self.rng.normal(size=x.shape)

    class Broken(Own):
        def predict(self, x):
            return x * np.nan

    class Endless(Own):
        def predict(self, x):
            return 1e200 + x
"""


def drawn(spec="nice:m=2,k=2,d=4", n=1000, noise=0.0, seed=0):
    """Tokens and labels of a layer, with noise relative to the labels."""
    found = parse(spec).instance(seed).examples(0, n)
    extra = np.random.default_rng(seed).normal(size=found.y.shape)
    return found.x, found.y + noise * np.sqrt((found.y**2).mean()) * extra


def baselines(run):
    return {
        one["name"]: one["misfit"] and one["misfit"]["value"] for one in run.details["baselines"]
    }


@pytest.mark.parametrize(
    ("spec", "n", "seed"),
    [
        *(("nice:m=1,k=2,d=6", 1000, 0), ("nice:m=2,k=2,d=6", 3000, 1)),
        ("nice:m=2,k=3,d=6,tokens=gaussian", 8000, 0),
    ],
)
def test_the_stages_find_layers_without_noise_though_nobody_says_that_there_is_none(spec, n, seed):
    found = h.learn("staged", drawn(spec, n, seed=seed))
    assert found.outcome is Outcome.FITTED
    assert found.misfit.high < 1e-12
    assert found.layer.m == parse(spec).m
    assert (found.risk, found.secret_recovered, found.passed) == (None, None, False)
    assert found.details["data"]["training"] == n * 4 // 5
    assert baselines(found)["mean label"] > baselines(found)["linear map"] > 0.05


@pytest.mark.parametrize(("m", "noise"), [(2, 1.0), pytest.param(3, 0.1, marks=pytest.mark.slow)])
def test_noise_of_a_size_that_nobody_says_hides_no_heads(m, noise):
    spec = f"nice:m={m},k=2,d=6"
    found = h.learn("staged", drawn(spec, 8000, noise))
    assert found.outcome is Outcome.FITTED
    assert found.layer.m == m
    share = noise**2 / (1 + noise**2)
    assert found.misfit.low < share < found.misfit.high
    truth, x = parse(spec).instance(0).layer(), drawn(spec, 1000)[0]
    assert ((found.layer(x) - truth(x)) ** 2).sum() < 0.01 * noise**2 * (truth(x) ** 2).sum()


def test_what_the_baselines_are():
    x, y = drawn("nice:m=2,k=2,d=4,tokens=gaussian", 600)
    made = split(x, y)
    found = run_on_data(parse_learner("linear:oversample=120"), made, Budget())
    mean = made.held.y.mean(axis=0)
    loss = ((made.hold_out.y - mean) ** 2).sum() / (made.hold_out.y**2).sum()
    assert baselines(found)["mean label"] == pytest.approx(loss)
    assert baselines(found)["linear map"] == pytest.approx(found.misfit.value)
    cubic = run_on_data(parse_learner("lifted:features=cubic"), made, Budget())
    assert baselines(found)["cubic features"] == pytest.approx(cubic.misfit.value)
    few = run_on_data(parse_learner("trivial"), split(x[:50, :, :], y[:50]), Budget())
    assert few.misfit.value == few.misfit.low == few.misfit.high == 1
    assert few.outcome is Outcome.LEARNED_NOTHING
    large = split(np.tile(x, 10), np.tile(y, 10))
    beyond = run_on_data(parse_learner("trivial"), large, Budget()).details["baselines"][2]
    assert beyond["misfit"] is None
    assert "features need" in beyond["reason"]


def test_labels_of_the_first_token_alone(tmp_path, hardness):
    """A layer is found from them, exactly; what is predicted of other tokens is not judged."""
    layer = parse("nice:m=1,k=2,d=4").instance(0).layer()
    x = np.random.default_rng(1).normal(size=(1500, 3, 4))
    y = layer(x)[:, :1]
    found = h.learn("levenberg:heads=1", (x, y))
    assert found.spec == "data:d=4,k=3,rows=1,tokens=real"
    assert found.misfit.value < 1e-20
    assert np.abs(found.layer.theta - layer.theta).max() < 1e-9
    assert np.abs(found.layer.w - layer.w).max() < 1e-9
    apart = split(x, y)
    for name, share in (("all", 1.0), ("none", 0.0)):

        def predict(new, share=share):
            return np.where(np.arange(3)[:, None] < 1, share * layer(new), 1e3)

        misfit = measure_misfit(apart.hold_out, predict)
        assert misfit.value == pytest.approx(1 - share, abs=1e-12), name
    one = [h.learn("linear", (x, given)).misfit for given in (y[:, :, :1], y[:, 0, 0])]
    assert one[0] == one[1]
    held = [
        (part.x[:, 0], part.x.sum(axis=1), part.y[:, 0]) for part in (apart.held, apart.hold_out)
    ]
    rows = [(np.concatenate(part[:2], axis=1), part[2]) for part in held]
    best = np.linalg.lstsq(*rows[0], rcond=None)[0]  # of the first tokens alone
    left = ((rows[1][0] @ best - rows[1][1]) ** 2).sum() / (rows[1][1] ** 2).sum()
    assert h.learn("linear:oversample=10000", (x, y)).misfit.value == pytest.approx(left)
    np.savez(tmp_path / "data.npz", x=x, y=np.sign(y[:, 0, 0]).astype(np.int8))
    told = hardness("learn", "linear", tmp_path / "data.npz", "--json").json
    assert told["misfit"]["value"] < 1
    hardness("learn", "staged", tmp_path / "data.npz").one_line("levenberg:heads=2 fits a layer")
    hardness("learn", "lifted", tmp_path / "data.npz").one_line("labels of all tokens")
    for wrong in (y[:, [0, 0]], layer(x)[:, 0], np.pad(y, ((0, 0), (0, 0), (0, 1)))):
        with pytest.raises(UsageError, match=r"\(n, k, d\)|or \(n,\) where"):
            h.learn("linear", (x, wrong))
    at = linearize(layer.theta, layer.w, columns(x[:50]), 1)
    step, back = np.random.default_rng(2).normal(size=(2, 1, 4, 4)), columns(x[:50])
    whole = np.stack([layer.theta, layer.w])
    assert layer_gradient(whole, x, np.pad(y, ((0, 0), (0, 2), (0, 0))), 1)[0] < 1e-25
    slope = np.sum(layer_gradient(whole + step, x, 0 * x, 1)[1] * step)
    ends = [layer_gradient(whole + e * step, x, 0 * x, 1)[0] for e in (1 - 1e-6, 1 + 1e-6)]
    assert slope == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-6)
    forth, adjoint = np.sum(at.product(*step) * back), at.adjoint(back)
    assert forth == pytest.approx(sum(np.sum(a * s) for a, s in zip(adjoint, step, strict=True)))


@pytest.mark.parametrize("noisy", [False, True])
def test_labels_of_no_layer_are_reported_with_their_misfit(noisy):
    """A layer with a feed-forward map on top, and noise alone."""
    (x, y), rng = drawn(n=1500), np.random.default_rng(1)
    more = np.maximum(y @ rng.normal(size=(4, 4)), 0)
    y = rng.normal(size=y.shape) if noisy else y + more
    found = h.learn("staged", (x, y), budget_seconds=None)
    assert found.misfit.low <= found.misfit.value <= found.misfit.high
    if noisy:
        assert found.outcome in (Outcome.LEARNED_NOTHING, Outcome.DEGENERATE)
        assert found.misfit.high >= 1
        return
    assert found.outcome in (Outcome.FITTED, Outcome.DEGENERATE)
    assert 0.01 < found.misfit.value < baselines(found)["mean label"]
    made = split(x, y).hold_out
    loss = ((found.layer(made.x) - made.y) ** 2).sum() / (made.y**2).sum()
    assert loss == pytest.approx(found.misfit.value)


def test_learners_of_a_file_run_on_it_in_their_own_process(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(LEARNERS))

    def learn(name):
        return h.learn(f"{tmp_path}/mine.py:{name}", drawn(n=200))

    found = learn("Tokenwise")
    assert found.outcome is Outcome.FITTED
    told = {"told": "data:d=4,k=2,tokens=boolean", "drawn": 160}
    assert found.details["reported"] == told
    odd = {"Coins": Outcome.RANDOMISED, "Broken": Outcome.INVALID, "Endless": Outcome.INVALID}
    for name, outcome in odd.items():
        found = learn(name)
        assert (found.outcome, found.misfit) == (outcome, None)
        assert "misfit   not measured" in run_words(found)
    with pytest.raises(UsageError, match="Nobody was not loaded, and nothing was run"):
        learn("Nobody")


def test_learners_that_are_objects_or_have_epochs_run_on_it():
    @function(view="flat")
    def flat(x, y):
        return lambda new: new @ np.linalg.lstsq(x, y, rcond=None)[0]

    found = h.learn(flat, drawn(n=200))
    assert found.misfit.value < 1
    assert found.usage.examples == 160
    rounds = h.learn("student:heads=2,epochs=3,steps=9", drawn(n=200))
    assert rounds.usage.examples == 160
    spent = h.learn("student:heads=2,steps=9", drawn(n=200), budget_examples=50)
    assert spent.outcome is Outcome.EXAMPLES_SPENT
    assert h.learn("mlp:epochs=2,steps=9", drawn(n=200)).usage.examples == 160
    for name, why in (("levenberg", "how many heads"), ("elimination", "lacks")):
        with pytest.raises(UsageError, match=why):
            h.learn(name, drawn(n=200))


def test_the_record_is_read_back_and_what_cannot_be_is_refused():
    found = h.learn("linear", drawn(n=200))
    data = json.loads(json.dumps(found.to_dict()))
    again = Run.read(data)
    assert (again.misfit, again.outcome) == (found.misfit, found.outcome)
    assert run_words(again) == run_words(found)
    assert "misfit" not in h.learn("trivial", "nice:m=1,k=2,d=4").to_dict()
    good = data["misfit"]
    wrong = {"kind": "finite", "examples": 0, "value": float("nan")}
    wrong |= {"low": good["high"] + 1}
    for misfit in (good | {name: value} for name, value in wrong.items()):
        with pytest.raises(ValueError):  # noqa: PT011 - each has its own words
            Run.read(data | {"misfit": misfit})


def test_the_command_prints_and_saves_what_python_gives(hardness):
    x, y = drawn("nice:m=1,k=2,d=4", 400, noise=1.0)
    np.savez("data.npz", x=x.astype(np.float32), y=y)
    asked = ("learn", "staged", "data.npz", "--hold-out", "0.04", "--seed", 5)
    said = hardness(*asked, "--save-layer", "found.npz").out
    for words in ("384 examples to learn from, 16 held out by seed 5", "x was float32",
                  "fewer than 20", "95% interval, asymptotic", "mean label"):  # fmt: skip
        assert words in said, said
    assert "secret" not in said
    ours = h.learn("staged", "data.npz", hold_out=0.04, seed=5)
    theirs = hardness(*asked, "--json").json
    assert theirs["misfit"] == ours.misfit.to_dict()
    assert theirs["details"]["baselines"] == ours.details["baselines"]
    assert hardness("inspect", "found.npz", "--json").json["d"] == 4
    header, row = hardness(*asked, "--format", "csv").out.splitlines()
    assert header.startswith("misfit_value,misfit_low,misfit_high")
    assert float(row.split(",")[0]) == pytest.approx(ours.misfit.value)
    assert f"{ours.misfit.value:.4f}"[:5] in repr(ours)
    np.savez("a\nrisk     0.npz", x=x[:60], y=y[:60])  # whose name writes no lines
    said = run_words(h.learn("trivial", "a\nrisk     0.npz"))
    assert "a?risk     0.npz: 48 examples" in said
    hardness("learn", "linear", "data.npz", "--oracle", "exact").one_line("no queries")


COMMANDS = (
    *("compare {} --over d=4..5", "stress --learner linear --on {}", "distinguish linear {}"),
    *("certify {}", "verify {}", "attack {}", "inspect {}", "spectrum {}"),
    "generate {} --out made",
)


def test_other_commands_refuse_it_in_one_line(hardness):
    np.savez("data.npz", **dict(zip("xy", drawn(n=60), strict=True)))
    for source, command in product(("data.npz", "data:d=4,k=2"), COMMANDS):
        left = hardness(*command.format(source).split())
        left.one_line()
        assert left.code in (1, 2)


def test_the_interval_of_a_ratio():
    rng = np.random.default_rng(0)
    norm = rng.chisquare(8, size=(500, 20))
    loss = norm * rng.chisquare(4, size=(500, 20)) / 8
    inside = [low <= 0.5 <= high for low, high in map(ratio_interval, loss, norm)]
    assert np.mean(inside) >= 0.93
    low, high = ratio_interval(loss[0], norm[0])
    assert low < loss[0].sum() / norm[0].sum() < high
    small = ratio_interval(1e-30 * loss[0], norm[0])
    assert small == pytest.approx((1e-30 * low, 1e-30 * high))
    one = np.eye(20)[0]
    assert ratio_interval(one, norm[0]) == ratio_interval(norm[0], one) == (0.0, np.inf)
    assert ratio_interval(0 * one, norm[0]) == (0.0, 0.0)


def test_one_example_that_has_much_of_the_residuals_widens_the_interval_and_is_said():
    even = np.tile([0.5, 1.5], 200)
    odd = even.copy()
    odd[0] = 8.0  # a residual of 7 beside 399 of 1/2
    for loss, share, errors in ((even, 1 / 400, 1.97), (odd, 0.33, 2.99)):
        low, _ = ratio_interval(loss, np.ones(400))
        assert largest_share(loss, np.ones(400)) == pytest.approx(share, rel=0.02)
        assert loss.mean() - low == pytest.approx(errors * loss.std() / 20, rel=0.01)
    made = {"value": 1.0, "low": 0.0, "confidence": 0.95, "examples": 20, "tail": 0.5}
    assert Misfit(**made, high=2.0, largest=0.04).remark == ""
    assert "widened: one example has 38 % of" in Misfit(**made, high=2.0, largest=0.384).remark
    unbounded = Misfit(**made, high=np.inf, largest=1.0)
    assert "there is no interval: one example has 100 % of" in unbounded.remark
    assert Misfit.read(unbounded.to_dict()) == unbounded


FEW = [pytest.param(n, marks=pytest.mark.slow) for n in (20, 50)]


@pytest.fixture(scope="module")
def misfits():
    """The benchmark that prints the table of docs/own-data.md."""
    return script("benchmarks/misfit.py")


@pytest.mark.parametrize("held_out", [*FEW, 100])
def test_the_interval_covers_the_misfit_whatever_the_tails(misfits, held_out):
    for name, law in misfits.LAWS.items():
        given, covered = misfits.covered(np.random.default_rng(3), law, held_out, 400)
        assert given >= 0.95, name
        assert covered >= 0.93 * given, (name, covered)


@pytest.mark.parametrize("held_out", [*FEW, 100, 300])
def test_no_interval_where_the_same_few_examples_have_the_largest_labels_and_losses(
    misfits, held_out
):
    for name, law in misfits.HEAVY.items():
        given, covered = misfits.covered(np.random.default_rng(4), law, held_out, 500)
        assert given - covered <= 0.05, (name, given, covered)
    y = np.exp(1.5 * np.random.default_rng(0).normal(size=(1000, 2, 4)).mean(axis=(1, 2))[:, None])
    y = np.tile(y[:, :, None] ** 3, (1, 2, 4))
    found = h.learn("linear", (np.random.default_rng(1).normal(size=y.shape), y))
    assert Run.read(json.loads(json.dumps(found.to_dict()))).misfit == found.misfit
    mean = found.details["baselines"][0]["misfit"]
    assert mean["high"] is None
    assert "there is no interval: the same few examples have the largest" in mean["remark"]
    assert f"mean label: {mean['remark']}" in run_words(found)
    assert "the misfit has no interval" in run_words(found)
    exact = h.learn("linear", (y * np.arange(1, 5), y))
    assert exact.misfit.tail > 0.83
    assert exact.misfit.high < 1e-12
    assert exact.outcome is Outcome.FITTED
    assert exact.misfit.remark in run_words(exact)


def test_all_examples_are_used_where_a_stage_cannot_go_on():
    rng = np.random.default_rng(5)
    layer = AttentionLayer(theta=rng.standard_normal((2, 3, 3)), w=rng.standard_normal((2, 3, 3)))
    x = rng.standard_normal((4000, 4, 3))  # more tokens than coordinates: no row shows agreement
    y = layer(x) + 0.1 * rng.standard_normal(x.shape)
    found = h.learn("staged", (x, y))
    assert found.usage.examples == 3200
    assert found.misfit.value < 0.02


def test_what_a_baseline_finds_is_not_called_noise():
    """One epoch of twelve steps learns little of labels that a linear map explains."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3840, 2, 4))
    noise = rng.normal(size=x.shape)
    short = run_words(h.learn("mlp:epochs=1,steps=1,rate=1e-6", (x, 0.01 * noise + x[:, ::-1])))
    assert (
        "outcome  learned nothing: nothing better than predicting zero was shown. The linear"
        in (short)
    )
    assert "noise" not in short.partition("data  ")[0]
    found = h.learn("mlp", (x, 0.01 * noise + x[:, ::-1]))
    assert found.outcome is Outcome.FITTED
    assert found.misfit.value < 0.01
    assert found.details["held_out_error"] < 0.01
    coins = run_words(h.learn("mlp:epochs=1", (x, noise)))
    assert "nor by the baselines" in coins
    assert "or the labels are noise" in coins
