"""Runs on data of a user: what is held out judges them."""

import json
import textwrap
from itertools import product

import numpy as np
import pytest

import hardness as h
from hardness.api.sources import own_data
from hardness.learners import Outcome
from hardness.learners.fitting import columns, linearize
from hardness.learners.plugins import function
from hardness.learners.student import layer_gradient
from hardness.report.run import run_words
from hardness.runs import Run
from hardness.runs.heldout import measure_held_out, no_interval_reason, ratio_interval
from hardness.runs.own import read_data, split
from instances import AttentionLayer, DamagedFile, UsageError, parse
from instances.spec import parse_stored
from tests.slopes import slopes_agree

LEARNERS = """
    import numpy as np
    from hardness.learners import Hypothesis

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
    assert found.held_out_error.high < 1e-12
    assert found.layer.m == parse(spec).m
    assert (found.risk, found.secret_recovered, found.passed) == (None, None, False)
    assert found.details["data"]["training"] == n * 4 // 5


@pytest.mark.parametrize(("m", "noise"), [(2, 1.0), pytest.param(3, 0.1, marks=pytest.mark.weekly)])
def test_noise_of_a_size_that_nobody_says_hides_no_heads(m, noise):
    spec = f"nice:m={m},k=2,d=6"
    found = h.learn("staged", drawn(spec, 8000, noise))
    assert found.outcome is Outcome.FITTED
    assert found.layer.m == m
    share = noise**2 / (1 + noise**2)
    assert found.held_out_error.low < share < found.held_out_error.high
    truth, x = parse(spec).instance(0).layer(), drawn(spec, 1000)[0]
    assert ((found.layer(x) - truth(x)) ** 2).sum() < 0.01 * noise**2 * (truth(x) ** 2).sum()


def test_labels_of_the_first_token_alone(tmp_path, hardness):
    """A layer is found from them, exactly; what is predicted of other tokens is not judged."""
    layer = parse("nice:m=1,k=2,d=4").instance(0).layer()
    x = np.random.default_rng(1).normal(size=(1500, 3, 4))
    y = layer(x)[:, :1]
    found = h.learn("levenberg:heads=1", (x, y))
    assert found.spec == "data:d=4,k=3,rows=1,tokens=real"
    assert found.held_out_error.value < 1e-20
    assert np.abs(found.layer.theta - layer.theta).max() < 1e-9
    assert np.abs(found.layer.w - layer.w).max() < 1e-9
    apart = split(x, y)
    for name, share in (("all", 1.0), ("none", 0.0)):

        def predict(new, share=share):
            return np.where(np.arange(3)[:, None] < 1, share * layer(new), 1e3)

        error = measure_held_out(apart.hold_out, predict)
        assert error.value == pytest.approx(1 - share, abs=1e-12), name
    one = [h.learn("linear", (x, given)).held_out_error for given in (y[:, :, :1], y[:, 0, 0])]
    assert one[0] == one[1]
    held = [
        (part.x[:, 0], part.x.sum(axis=1), part.y[:, 0]) for part in (apart.loaded, apart.hold_out)
    ]
    rows = [(np.concatenate(part[:2], axis=1), part[2]) for part in held]
    best = np.linalg.lstsq(*rows[0], rcond=None)[0]  # of the first tokens alone
    left = ((rows[1][0] @ best - rows[1][1]) ** 2).sum() / (rows[1][1] ** 2).sum()
    assert h.learn("linear:oversample=10000", (x, y)).held_out_error.value == pytest.approx(left)
    np.savez(tmp_path / "data.npz", x=x, y=np.sign(y[:, 0, 0]).astype(np.int8))
    told = hardness("learn", "linear", tmp_path / "data.npz", "--json").json
    assert told["held_out_error"]["value"] < 1
    hardness("learn", "staged", tmp_path / "data.npz").one_line("levenberg:heads=2 fits a layer")
    hardness("learn", "lifted", tmp_path / "data.npz").one_line("labels of all tokens")
    for wrong in (y[:, [0, 0]], layer(x)[:, 0], np.pad(y, ((0, 0), (0, 0), (0, 1)))):
        with pytest.raises(UsageError, match=r"\(n, k, d\)|or \(n,\) if"):
            h.learn("linear", (x, wrong))
    at = linearize(layer.theta, layer.w, columns(x[:50]), 1)
    step, back = np.random.default_rng(2).normal(size=(2, 1, 4, 4)), columns(x[:50])
    whole = np.stack([layer.theta, layer.w])
    assert layer_gradient(whole, x, np.pad(y, ((0, 0), (0, 2), (0, 0))), 1)[0] < 1e-25
    slope = layer_gradient(whole + step, x, 0 * x, 1)[1]
    slopes_agree(lambda at: layer_gradient(at, x, 0 * x, 1)[0], slope, whole + step)
    forth, adjoint = np.sum(at.product(*step) * back), at.adjoint(back)
    assert forth == pytest.approx(sum(np.sum(a * s) for a, s in zip(adjoint, step, strict=True)))


@pytest.mark.parametrize("noisy", [False, True])
def test_labels_of_no_layer_are_reported_with_their_error(noisy):
    """A layer with a feed-forward map on top, and noise alone."""
    (x, y), rng = drawn(n=1500), np.random.default_rng(1)
    more = np.maximum(y @ rng.normal(size=(4, 4)), 0)
    y = rng.normal(size=y.shape) if noisy else y + more
    found = h.learn("staged", (x, y), budget_seconds=None)
    assert found.held_out_error.low <= found.held_out_error.value <= found.held_out_error.high
    if noisy:
        assert found.outcome in (Outcome.LEARNED_NOTHING, Outcome.STAGE_FAILED)
        assert found.held_out_error.high >= 1
        return
    assert found.outcome in (Outcome.FITTED, Outcome.STAGE_FAILED)
    assert 0.01 < found.held_out_error.value < 1
    made = split(x, y).hold_out
    loss = ((found.layer(made.x) - made.y) ** 2).sum() / (made.y**2).sum()
    assert loss == pytest.approx(found.held_out_error.value)


def test_learners_of_a_file_run_on_it_in_their_own_process(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(LEARNERS))

    def learn(name):
        return h.learn(f"{tmp_path}/mine.py:{name}", drawn(n=1000))

    found = learn("Tokenwise")
    assert found.outcome is Outcome.FITTED
    told = {"told": "data:d=4,k=2,tokens=boolean", "drawn": 800}
    assert found.details["reported"] == told
    odd = {"Coins": Outcome.INVALID, "Broken": Outcome.INVALID, "Endless": Outcome.INVALID}
    for name, outcome in odd.items():
        found = learn(name)
        assert (found.outcome, found.held_out_error) == (outcome, None)
        assert "error    not measured" in run_words(found)
    with pytest.raises(UsageError, match="Nobody was not loaded, and nothing was run"):
        learn("Nobody")


def test_learners_that_are_objects_or_have_epochs_run_on_it():
    @function(view="flat")
    def flat(x, y):
        return lambda new: new @ np.linalg.lstsq(x, y, rcond=None)[0]

    found = h.learn(flat, drawn(n=200))
    assert found.held_out_error.value < 1
    assert found.examples == 160
    rounds = h.learn("student:heads=2,epochs=3,steps=9", drawn(n=200))
    assert rounds.examples == 160
    spent = h.learn("student:heads=2,steps=9", drawn(n=200), budget_examples=50)
    assert spent.outcome is Outcome.EXAMPLES_SPENT
    assert h.learn("mlp:epochs=2,steps=9", drawn(n=200)).examples == 160
    for name, why in (("levenberg", "how many heads"), ("elimination", "lacks")):
        with pytest.raises(UsageError, match=why):
            h.learn(name, drawn(n=200))


def test_the_record_is_read_back_and_what_cannot_be_is_refused():
    found = h.learn("linear", drawn(n=1000))
    data = json.loads(json.dumps(found.to_dict()))
    again = Run.read(data)
    assert (again.held_out_error, again.outcome) == (found.held_out_error, found.outcome)
    assert run_words(again) == run_words(found)
    assert "held_out_error" not in h.learn("trivial", "nice:m=1,k=2,d=4").to_dict()
    good = data["held_out_error"]
    wrong = {"kind": "finite", "examples": 0, "value": float("nan")}
    for error in (good | {name: value} for name, value in wrong.items()):
        with pytest.raises(ValueError):  # noqa: PT011 - each has its own words
            Run.read(data | {"held_out_error": error})


def test_the_command_prints_and_saves_what_python_gives(hardness):
    x, y = drawn("nice:m=1,k=2,d=4", 400, noise=1.0)
    np.savez("data.npz", x=x.astype(np.float32), y=y)
    asked = ("learn", "staged", "data.npz", "--seed", 5)
    said = hardness(*asked, "--save-layer", "found.npz").out
    for words in ("320 examples to learn from, 80 held out by seed 5", "at 95% (bootstrap)",
                  "held-out E|Y - F^|^2 / E|Y|^2: 1 is predicting 0"):  # fmt: skip
        assert words in said, said
    assert "secret" not in said
    ours = h.learn("staged", "data.npz", seed=5)
    theirs = hardness(*asked, "--json").json
    assert theirs["held_out_error"] == ours.held_out_error.to_dict()
    assert hardness("inspect", "found.npz", "--json").json["d"] == 4
    header, row = hardness(*asked, "--format", "csv").out.splitlines()
    assert header.startswith("held_out_error_value,held_out_error_low,held_out_error_high")
    assert float(row.split(",")[0]) == pytest.approx(ours.held_out_error.value)
    assert f"{ours.held_out_error.value:.4f}"[:5] in repr(ours)
    np.savez("a\nrisk     0.npz", x=x[:60], y=y[:60])  # whose name writes no lines
    said = run_words(h.learn("trivial", "a\nrisk     0.npz"))
    assert "a?risk     0.npz: 48 examples" in said
    hardness("learn", "linear", "data.npz", "--oracle", "exact").one_line("no queries")
    hardness("learn", "linear", "x.npy", "--labels", "y.npy").one_line("a .npz of x and y")


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


def test_the_interval_of_a_ratio_covers_it():
    """Against a law whose ratio is 1/2 exactly; each miss has probability 5 %."""
    rng = np.random.default_rng(0)
    norm = rng.chisquare(8, size=(200, 100))
    loss = norm * rng.chisquare(4, size=(200, 100)) / 8
    ends = [ratio_interval(*pair, seed) for seed, pair in enumerate(zip(loss, norm, strict=True))]
    assert 0.9 <= np.mean([low <= 0.5 <= high for low, high in ends]) <= 0.99
    low, high = ends[0]
    assert low < loss[0].sum() / norm[0].sum() < high
    # Where samples are many it is the interval of the normal law, by another formula.
    wide = rng.chisquare(8, size=(2, 40_000))
    ratio = wide[0].sum() / wide[1].sum()
    error = np.sqrt(((wide[0] - ratio * wide[1]) ** 2).sum()) / wide[1].sum()
    assert ratio_interval(*wide) == pytest.approx(
        (ratio - 1.96 * error, ratio + 1.96 * error), abs=0.3 * error
    )
    assert ratio_interval(norm[0], norm[0]) == (1.0, 1.0)
    small = ratio_interval(1e-30 * loss[0], norm[0], 0)
    assert small == pytest.approx((1e-30 * low, 1e-30 * high))


def test_there_is_no_interval_if_one_example_has_much_of_the_loss_or_of_the_labels():
    even, odd = np.ones(100), np.ones(100)
    odd[3] = 20.0
    assert no_interval_reason(even, even) == no_interval_reason(0 * even, even) == ""
    assert "one of 100 held-out examples has 16.8 % of the loss" in no_interval_reason(odd, even)
    assert "16.8 % of the squared labels" in no_interval_reason(even, odd)
    assert "has 10.0 % of the loss: an interval needs at most 5.0 %" in no_interval_reason(
        even[:10], even[:10]
    )
    x = np.random.default_rng(1).normal(size=(1000, 2, 4))
    y = np.exp(4 * np.random.default_rng(0).normal(size=(1000, 1, 1))) * np.ones((1, 2, 4))
    found = h.learn("linear", (x, y))
    assert (found.outcome, found.held_out_error.low) == (Outcome.UNJUDGED, None)
    assert Run.read(json.loads(json.dumps(found.to_dict()))).held_out_error == found.held_out_error
    words = " ".join(run_words(found).split())
    assert "not judged: the held-out error has no interval" in words
    assert "no interval: one of 200 held-out examples has" in words
    assert found.to_frame()["held_out_error_low"][0] is None


def test_all_examples_are_used_where_a_stage_cannot_go_on():
    rng = np.random.default_rng(5)
    layer = AttentionLayer(theta=rng.standard_normal((2, 3, 3)), w=rng.standard_normal((2, 3, 3)))
    x = rng.standard_normal((4000, 4, 3))  # more tokens than coordinates: no row shows agreement
    y = layer(x) + 0.1 * rng.standard_normal(x.shape)
    found = h.learn("staged", (x, y))
    assert found.examples == 3200
    assert found.held_out_error.value < 0.02


# ---- what is read, and which part is held out


X, Y = np.random.default_rng(0).normal(size=(2, 100, 3, 4))
HOLED = np.where(np.arange(X.size).reshape(X.shape) == 50, np.nan, X)


def written(folder, **arrays):
    np.savez(folder / "data.npz", **arrays)
    return folder / "data.npz"


@pytest.mark.parametrize("kind", ["float16", "float32", "int32", "bool", "float64"])
@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_files_give_what_arrays_give(tmp_path, kind, ending):
    from safetensors.numpy import save_file

    x, path = (X > 0 if kind == "bool" else 3 * X).astype(kind), tmp_path / f"x.{ending}"
    if ending == "npz":
        np.savez(path, x=x, y=np.asfortranarray(Y))
    else:
        save_file({"x": x, "y": Y}, path)
    read = read_data(path, seed=3)
    made = split(x, Y, seed=3)
    for part in ("loaded", "hold_out"):
        one, other = getattr(read, part), getattr(made, part)
        assert np.array_equal(one.x, other.x)
        assert np.array_equal(one.y, other.y)
        assert one.x.dtype == one.y.dtype == np.float64


def test_the_seed_alone_says_which_examples_are_held_out():
    one, same, other = (split(X, Y, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.hold_out.x, same.hold_out.x)
    assert not np.array_equal(one.hold_out.x, other.hold_out.x)
    for made in (one, other):
        rows = (
            np.concatenate([made.loaded.x, made.hold_out.x]),
            np.concatenate([made.loaded.y, made.hold_out.y]),
        )
        assert (len(made.loaded), len(made.hold_out), made.repeated) == (80, 20, 0)
        order = [int(np.flatnonzero((x == X).all(axis=(1, 2)))[0]) for x in rows[0]]
        assert sorted(order) == list(range(100))
        assert np.array_equal(rows[1], Y[order])
    twice = split(np.tile(X[:50], (2, 1, 1)), Y)
    seen = [(x == twice.loaded.x).all(axis=(1, 2)).any() for x in twice.hold_out.x]
    assert twice.repeated == sum(seen)
    assert twice.repeated > 0


def test_a_learner_in_another_process_reads_the_family_and_its_examples():
    for x, tokens in ((X, "real"), (np.sign(X), "boolean")):
        made = split(x, Y)
        family = parse_stored(made.family.spec)
        assert family == made.family == parse(f"data:d=4,k=3,tokens={tokens}")
        again = family.restore(made.loaded.tensors, len(made.loaded))
        assert again.agrees(made.loaded)
        assert again.x.dtype == (np.int8 if tokens == "boolean" else np.float64)
    with pytest.raises(UsageError, match="no instance is drawn"):
        family.instance(0)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (X, Y[:, :, :3], "labels have the tokens' shape"),
        (X, Y[:50], "labels have the tokens' shape"),
        (HOLED, Y, "x has 1 entries that are not finite, the first in example 4"),
        (X, HOLED, "y has 1 entries"),
        (X * 1e200, Y, "scale them"),
        (X, 0 * Y, "are zero"),
        (X[:7], Y[:7], "give 10 examples or more"),
        (X + 1j, Y, "complex128: real numbers"),
        ([X[0], X[1][:2]], Y, "ragged"),
        (X.astype(str), Y, "real numbers"),
    ],
)
def test_arrays_that_are_no_data_are_refused_in_one_line(x, y, words):
    with pytest.raises(UsageError, match=words) as refused:
        own_data((x, y), 0)
    assert "\n" not in str(refused.value)


def test_files_that_hold_something_else_are_refused(tmp_path):
    def refused(words, error=UsageError, **arrays):
        with pytest.raises(error, match=words):
            own_data(written(tmp_path, **arrays), 0)

    refused("holds x: x and y", x=X)
    refused("holds inputs, targets: x and y", inputs=X, targets=Y)
    refused("it holds objects", DamagedFile, x=np.array([X[0], None], object), y=Y)
    assert own_data(written(tmp_path, a=np.ones((4, 3), int), b=np.ones(4, int)), 0) is None
    (tmp_path / "junk.npz").write_bytes(b"junk")
    with pytest.raises(DamagedFile, match="not ours"):
        own_data(tmp_path / "junk.npz", 0)
    AttentionLayer(theta=X[:1, :3, :3], w=X[:1, :3, :3]).save(tmp_path / "layer.npz")
    assert own_data(tmp_path / "layer.npz", 0) is None  # `target` says what it is
    for source in ("parity:d=8,m=2", tmp_path):
        assert own_data(source, 0) is None
    with pytest.raises(UsageError, match=r"a pair \(x, y\)"):
        own_data([X], 0)
