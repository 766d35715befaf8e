"""A given layer as a teacher: its labels, its secrecy, its risk on tokens of any law."""

import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import hardness as h
from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import Run, measure, run
from hardness.runs.risk import cut
from hardness.upper import parse_learner
from hardness.upper.matching import match
from instances import AttentionLayer, ToolkitError, UsageError, parse, read_folder, save_layer
from instances.dense import row_reach
from instances.files import write_folder
from instances.heads import Heads
from instances.teacher import teach
from instances.tokenlaw import given_law, law_of

RNG = np.random.default_rng(1)
D = 4
LAYER = parse(f"nice:m=2,k=2,d={D}").instance(0).layer()
WORDS = RNG.normal(size=(5, D)) + 0.3
LAWS = {
    "boolean": law_of("boolean", D),
    "gaussian": law_of("gaussian", D),
    "words": given_law({"embedding": WORDS, "frequencies": [0.4, 0.3, 0.1, 0.1, 0.1]}, D),
    "correlated": given_law(
        {"covariance": np.diag([4, 2, 1, 0.1]), "mean": np.ones(D), "positions": WORDS[:2]}, D
    ),
}


def taught(law, **how):
    return teach(Heads.of(LAYER), LAWS[law], **how)


@pytest.mark.parametrize("law", LAWS)
def test_labels_are_the_layers_on_tokens_of_the_law_and_the_family_tells_nothing_of_it(law):
    instance = taught(law, seed=3)
    whole = instance.examples(0, 200)
    assert (whole.y == instance.layer()(whole.x)).all()
    assert (instance.layer().theta == LAYER.theta).all()
    assert (instance.examples(7, 50).y == whole.y[7:57]).all()
    assert (taught(law, seed=4).examples(0, 9).x != whole.x[:9]).any()
    noisy = taught(law, noise=Fraction(1, 2), seed=3).examples(0, 200)
    assert (noisy.y - whole.y).std() == pytest.approx(0.5, rel=0.1)
    family = instance.family
    assert str(family).startswith("teacher:m=2,k=2,d=4")
    held = pickle.dumps((family, family.law, parse(family.spec)))
    for part in (LAYER.theta, LAYER.w):
        assert all(number.tobytes() not in held for number in part.ravel())


def test_a_layer_is_given_and_not_drawn():
    with pytest.raises(UsageError, match="a layer has to be given, it is not drawn"):
        parse("teacher:m=2,k=2,d=4").instance(0)
    linear = Heads.of(AttentionLayer(theta=LAYER.theta, w=LAYER.w, kind="linear"))
    with pytest.raises(UsageError, match="linear attention given"):
        teach(linear, LAWS["gaussian"])
    with pytest.raises(UsageError, match="there are positions for 2 tokens"):
        taught("correlated", k=3)
    with pytest.raises(UsageError, match="the law came from a file and is not in the spec"):
        _ = parse("teacher:m=2,k=2,d=4,tokens=given").law


def test_a_folder_holds_a_teachers_examples(tmp_path):
    for law in ("boolean", "gaussian"):
        instance = taught(law, seed=3)
        write_folder(tmp_path / law, instance, 40)
        folder = read_folder(tmp_path / law)
        assert folder.examples(0, 40).agrees(instance.examples(0, 40))
        assert (folder.instance.layer().w == LAYER.w).all()


def test_the_risk_interval_covers_the_exact_risk_on_a_vocabulary():
    """Off where the first token is word 0: 60 streams at 80 %, the truth summed over all pairs."""
    shares = LAWS["words"].shares
    pairs = np.array(list(product(range(5), repeat=2)))
    x, chance = WORDS[pairs], shares[pairs].prod(axis=1)
    misses, first = 0, taught("words")

    def predict(x):
        off = np.abs(x[:, 0] - WORDS[0]).max(axis=1) < 1e-9
        return LAYER(x) * np.where(off, 0.4, 1.0)[:, None, None]

    y, known = LAYER(x), first.family.known(x)
    loss, scale = (((y - z) ** 2).sum(axis=(1, 2)) @ chance for z in (predict(x), known))
    for seed in range(60):
        instance = replace(first, hidden=replace(first.hidden, seed=seed))
        found = measure(instance, predict, examples=5000, confidence=0.8)
        misses += not found.low <= loss / scale <= found.high
        assert found.high - found.low < 0.5
    assert misses <= 12


@pytest.mark.parametrize("law", LAWS)
def test_known_risks_lie_in_their_intervals(law):
    """Relative to the mean label, where tokens have a mean: a constant has learned nothing."""
    instance = taught(law)
    family = instance.family
    x = instance.examples(0, 20_000, axis="other").x
    known = family.known(x)
    assert np.abs(LAYER(x).mean(axis=0) - known[0]).max() < 0.1
    for size in (0.0, 0.5, 1.0):
        found = measure(
            instance, lambda x, size=size: size * LAYER(x) + (1 - size) * family.known(x)
        )
        assert found.low <= (1 - size) ** 2 <= found.high
        assert found.value == pytest.approx((1 - size) ** 2, abs=1e-3)
    assert found.high < 0.05


def test_the_cut_is_where_the_rest_is_small():
    instance = taught("correlated")
    reach = row_reach(LAYER)
    longest, tail = cut(instance.family, reach, 10.0)
    assert 0 < tail <= 0.004 * 10 * 1.001
    x = instance.examples(0, 50_000).x
    squares = (x**2).sum(axis=2).max(axis=1)
    assert 4 * 2 * reach**2 * float((squares * (squares > longest)).mean()) <= tail
    longest, tail = cut(taught("words").family, reach, 10.0)
    assert tail == 0
    assert longest == pytest.approx((WORDS**2).sum(axis=1).max())


def test_heads_are_compared_where_labels_show_them():
    tokens = np.eye(D)[:, :3]
    differences = np.eye(D)[:, :2]
    hidden = np.zeros((2, D, D))
    hidden[:, 3, :] = hidden[:, :, 2:] = 5.0
    rows = np.zeros((2, D, D))
    rows[:, 2:] = 7.0
    other = AttentionLayer(theta=LAYER.theta + hidden, w=LAYER.w + rows)
    assert max(match(other, LAYER).theta) > 1
    found = match(other, LAYER, (tokens, differences))
    assert max(found.theta + found.w) < 1e-12


CLOSEST = """
from hardness.upper.plugins import function

@function(view="tokens", examples=400)
def closest(x, y):
    def predict(new):
        apart = ((new[:, None] - x) ** 2).sum(axis=(2, 3))
        return y[apart.argmin(axis=1)]
    return predict
"""


def test_a_learner_from_a_file_sees_examples_alone(tmp_path):
    (tmp_path / "closest.py").write_text(CLOSEST)
    found = run(parse_learner(f"{tmp_path}/closest.py:closest"), taught("words"), Budget())
    assert found.usage.examples == 400
    assert found.risk.value < 1e-9  # it has seen all 25 pairs of words


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the command line runs too
    save_layer(tmp_path / "layer.npz", LAYER)
    np.save("words.npy", WORDS)
    np.savez("places.npz", positions=WORDS[:3])
    q, k, v = RNG.normal(size=(3, 2, D, D))
    bias = RNG.normal(size=(2, D))
    np.savez("biased.npz", q=q, k=k, v=v, o=RNG.normal(size=(2, D, D)), bq=bias, bv=bias)


def test_learn_a_layer_from_a_file(files, hardness):
    words = "learn linear --teacher layer.npz --tokens words.npy --json"
    found = hardness(*words.split()).json
    assert found["spec"] == "teacher:d=4,k=2,m=2,noise=0,tokens=given"
    assert found["details"]["teacher"]["tokens"] == "vocabulary of 5 words"
    again = h.learn("linear", teacher=LAYER, tokens={"embedding": WORDS})
    for name in ("sha256", "tokens_sha256"):
        assert again.details["teacher"][name] == found["details"]["teacher"][name]
    assert again.risk.value == pytest.approx(found["risk"], abs=1e-12)
    assert h.learn("trivial", teacher="layer.npz", tokens="places.npz").spec.count("k=3")
    assert "sha256" in hardness("learn", "trivial", "--teacher", "layer.npz").out


def test_biases_bring_a_constant_coordinate(files):
    found = h.learn("levenberg", teacher="biased.npz", tokens="boolean")
    assert found.spec == "teacher:d=5,k=2,m=2,noise=0,tokens=given"
    assert found.details["teacher"]["tokens"] == "boolean and a constant coordinate"
    assert found.passed
    assert max(found.details["truth"]["theta_errors"] + found.details["truth"]["w_errors"]) < 1e-3


def test_python_refuses_what_is_no_layer_and_what_goes_with_one_without_it():
    for given in (3, np.eye(2)):
        with pytest.raises(ToolkitError, match="an AttentionLayer, is needed"):
            h.learn("trivial", teacher=given)
    with pytest.raises(ToolkitError, match="one of the two"):
        h.learn("trivial")
    for given in ({"k": 3}, {"noise": 5}, {"tokens": "boolean"}, {"layer": 1, "heads": 2}):
        with pytest.raises(UsageError, match="given by --teacher"):
            h.learn("staged", "nice:m=1,k=2,d=4", **given)


def test_labels_that_are_all_equal_have_no_relative_risk():
    for law in ({"embedding": WORDS, "frequencies": [1, 0, 0, 0, 0]}, {"embedding": 0 * WORDS}):
        for name in ("trivial", "linear"):
            with pytest.raises(ToolkitError, match="all equal up to rounding"):
                h.learn(name, teacher=LAYER, tokens=law, budget_examples=300)


def test_a_learner_s_file_that_could_read_its_teacher_is_refused(hardness, tmp_path):
    (tmp_path / "own").mkdir()
    source = "def mine(x, y):\n    return lambda new: 0 * new\n"
    for folder in ("own", "."):
        (tmp_path / folder / "mine.py").write_text(source)
    save_layer(tmp_path / "layer.npz", LAYER)
    np.savez(tmp_path / "data.npz", x=RNG.normal(size=(99, 2, D)), y=RNG.normal(size=(99, 2, D)))
    for what in (("--teacher", tmp_path / "layer.npz"), (tmp_path / "data.npz",)):
        asked = ("learn", f"{tmp_path}/mine.py:mine", *what, "--budget-examples", 100)
        hardness(*asked).one_line("a learner can read its folder, and so what it is judged by")
        beside = ("learn", f"{tmp_path}/own/mine.py:mine", *what, "--budget-examples", 100)
        assert "learned nothing" in hardness(*beside).out
    with pytest.raises(ToolkitError, match="what it is judged by"):
        h.learn(f"{tmp_path}/mine.py:mine", teacher=tmp_path / "layer.npz")


def test_what_a_run_reads_is_not_written_over(hardness, tmp_path):
    save_layer(tmp_path / "layer.npz", LAYER)
    before = (tmp_path / "layer.npz").read_bytes()
    asked = ("learn", "staged", "--teacher", tmp_path / "layer.npz", "--force", "--save-layer")
    hardness(*asked, tmp_path / "layer.npz").one_line("the run reads it")
    assert (tmp_path / "layer.npz").read_bytes() == before


def test_heads_are_said_to_agree_only_in_what_labels_show():
    found = h.learn("levenberg", teacher=LAYER, tokens=WORDS * [1, 1, 0, 0], budget_examples=2000)
    assert found.details["truth"]["seen"] == [2, 2]
    assert "in what labels show: tokens span 2 dimensions, differences 2" in run_words(found)


def test_the_mean_label_has_learned_nothing_also_where_tokens_are_short():
    law = {"embedding": WORDS, "positions": -np.repeat(WORDS[:1], 2, axis=0)}  # word 0 is zero
    risk = h.learn("trivial", teacher=LAYER, tokens=law, budget_examples=300).risk
    assert risk.value == 1
    assert risk.low < 1 < risk.high


def test_the_verdict_names_what_was_found_and_the_condition_that_fails(hardness):
    """Three layers whose answer is known: one to be found, one of equal Theta_i, one too large."""
    made = {"found": "nice:m=1,k=2,d=4", "equal": "nice:m=2,k=2,d=4,trace=1"}
    for name, spec in made.items():
        save_layer(Path(f"{name}.npz"), parse(spec).instance(0).layer())
    for learner, name, end, of in (
        ("levenberg", "found", "heads found", None),
        ("levenberg", "equal", "function found, heads not identified", ("theta", "coherence")),
        ("linear", "equal", "neither", ("theta", "coherence")),
    ):
        ran = hardness("learn", learner, "--teacher", f"{name}.npz", "--out", "run.json", "--force")
        found = Run.load("run.json")
        said = found.details["verdict"]
        assert said["found"] == end
        assert f"verdict  {end}: " in ran.out
        assert f"verdict  {end}: " in run_words(found)
        if of:  # the Theta_i are equal, so their cosine is 1
            assert (said["condition"]["of"], said["condition"]["name"]) == of
            assert said["condition"]["value"] == pytest.approx(1)
            assert "the first condition that fails is Theta coherence 1, red" in " ".join(
                ran.out.split()
            )
        errors = found.details.get("truth", {}).get("theta_errors", [np.inf])
        assert (max(errors) <= said["tolerance"] == 0.25) is (end == "heads found")
    assert "within 0.25 of its norm" in run_words(h.learn("levenberg", teacher="found.npz"))
    free = h.learn("linear", teacher=AttentionLayer(theta=0 * LAYER.theta, w=LAYER.w))
    assert free.passed  # attention that does not look is linear, and shows no heads
    assert free.details["verdict"]["because"].startswith("linear gives no heads")
    assert free.details["verdict"]["found"] == "function found, heads not identified"


@pytest.mark.slow
def test_biases_beyond_the_matrices_of_d2_by_d2(tmp_path):
    rng = np.random.default_rng(1)
    d = 33  # and the constant coordinate, which no difference of tokens has
    q, k, v = rng.standard_normal((3, 2, d, d)) * np.array([0.5, 0.5, 0.17])[:, None, None, None]
    arrays = {"q": q / d**0.25, "k": k / d**0.25, "v": v, "o": rng.standard_normal((2, d, d)) / 6}
    arrays |= dict(zip(("bq", "bk", "bv"), 0.3 * rng.standard_normal((3, 2, d)), strict=True))
    np.savez(tmp_path / "biased.npz", **arrays, bo=rng.standard_normal(d))
    found = h.learn("staged", teacher=tmp_path / "biased.npz", noise="0.1")
    assert found.passed
    assert found.details["heads"] == 2


def test_a_function_that_is_found_by_other_heads_is_said_to_be_no_more_than_that():
    instance = parse("nice:m=3,k=2,d=8,trace=1").instance(0)  # the Theta_i are all equal
    found = run(parse_learner("levenberg"), instance, Budget(), 0)
    assert found.solved
    assert found.outcome.value == "function found, heads not identified"
    assert found.outcome.value in run_words(found)
    assert Run.read(found.to_dict()).outcome is found.outcome
