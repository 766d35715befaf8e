"""A given layer as a teacher: its labels, its secrecy, its risk on tokens of any law."""

import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import hardness as h
from hardness.learners.fitting import match
from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import Run, measure, run
from hardness.runs.registry import parse_learner
from hardness.runs.risk import cut_of_tokens
from instances import AttentionLayer, ToolkitError, UsageError, parse, read_folder
from instances.dense import row_reach
from instances.files import write_folder
from instances.teacher import teach

RNG = np.random.default_rng(1)
D = 4
LAYER = parse(f"nice:m=2,k=2,d={D}").instance(0).layer()
BIASED = AttentionLayer.from_qkvo(
    *RNG.normal(size=(4, 2, D, D)) / 2, bq=RNG.normal(size=(2, D)), bo=RNG.normal(size=D)
)
CASES = {"boolean": (LAYER, "boolean"), "gaussian": (LAYER, "gaussian")}
CASES |= {f"{law}, biased": (BIASED, law) for law in ("boolean", "gaussian")}


def taught(case, **how):
    layer, law = CASES[case]
    return teach(layer, law, **how)


@pytest.mark.parametrize("law", CASES)
def test_labels_are_the_layers_on_tokens_of_the_law_and_the_family_tells_nothing_of_it(law):
    instance = taught(law, seed=3)
    whole = instance.examples(0, 200)
    assert (whole.y == instance.layer()(whole.x)).all()
    layer = CASES[law][0]
    assert (instance.layer().theta == layer.theta).all()
    assert (instance.examples(7, 50).y == whole.y[7:57]).all()
    assert (taught(law, seed=4).examples(0, 9).x != whole.x[:9]).any()
    noisy = taught(law, noise=Fraction(1, 2), seed=3).examples(0, 200)
    assert (noisy.y - whole.y).std() == pytest.approx(0.5, rel=0.1)
    family = instance.family
    assert str(family).startswith(f"teacher:m=2,k=2,d={layer.d}")
    held = pickle.dumps((family, family.law, parse(family.spec)))
    for part in (layer.theta, layer.w):
        assert all(number.tobytes() not in held for number in part[part != 0])


def test_a_layer_is_given_and_not_drawn():
    with pytest.raises(UsageError, match="a layer of yours, it is not drawn"):
        parse("teacher:m=2,k=2,d=4").instance(0)
    with pytest.raises(UsageError, match="softmax attention, got linear"):
        teach(AttentionLayer(theta=LAYER.theta, w=LAYER.w, kind="linear"))
    with pytest.raises(UsageError, match="tokens must be boolean or gaussian"):
        parse("teacher:m=2,k=2,d=4,tokens=given")


def test_a_folder_holds_a_teachers_examples(tmp_path):
    for law in CASES:
        instance = taught(law, seed=3)
        write_folder(tmp_path / law, instance, 40)
        folder = read_folder(tmp_path / law)
        assert folder.examples(0, 40).agrees(instance.examples(0, 40))
        assert (folder.instance.layer().w == CASES[law][0].w).all()


def test_the_risk_interval_covers_the_exact_risk_on_signs():
    """Off where the first sign is +1: 60 streams at 80 %, the truth summed over all tokens."""
    x = np.array(list(product((-1.0, 1.0), repeat=2 * D))).reshape(-1, 2, D)
    misses, first = 0, taught("boolean")

    def predict(x):
        return LAYER(x) * np.where(x[:, 0, 0] > 0, 0.4, 1.0)[:, None, None]

    y, known = LAYER(x), first.family.known(x)
    loss, scale = (((y - z) ** 2).sum() for z in (predict(x), known))
    for seed in range(60):
        instance = replace(first, hidden=replace(first.hidden, seed=seed))
        found = measure(instance, predict, examples=5000, confidence=0.8)
        misses += not found.low <= loss / scale <= found.high
        assert found.high - found.low < 0.5
    assert misses <= 12


@pytest.mark.parametrize("law", CASES)
def test_known_risks_lie_in_their_intervals(law):
    """Relative to the mean label, where tokens have a mean: a constant has learned nothing."""
    instance = taught(law)
    family = instance.family
    x = instance.examples(0, 20_000, axis="other").x
    known, layer = family.known(x), CASES[law][0]
    assert np.abs(layer(x).mean(axis=0) - known[0]).max() < 0.1
    for size, examples in ((0.0, 4096), (0.5, 4096), (1.0, None)):
        found = measure(
            instance, lambda x, size=size: size * layer(x) + (1 - size) * family.known(x), examples
        )
        assert found.low <= (1 - size) ** 2 <= found.high
        assert found.value == pytest.approx((1 - size) ** 2, abs=1e-3)
    assert found.high < 0.05


def test_the_cut_is_where_the_rest_is_small():
    instance = taught("gaussian, biased")
    reach = row_reach(BIASED)
    longest, tail = cut_of_tokens(instance.family, reach, 10.0)
    assert 0 < tail <= 0.004 * 10 * 1.001
    x = instance.examples(0, 50_000).x
    squares = (x**2).sum(axis=2).max(axis=1)
    assert 4 * 2 * reach**2 * float((squares * (squares > longest)).mean()) <= tail
    longest, tail = cut_of_tokens(taught("boolean, biased").family, reach, 10.0)
    assert (longest, tail) == (D + 1, 0)


def test_heads_are_compared_where_labels_show_them():
    hidden, rows = np.zeros((2, 2, D, D))
    hidden[:, :, -1], rows[:, -1] = 5.0, 7.0  # of the constant coordinate
    other = AttentionLayer(theta=LAYER.theta + hidden, w=LAYER.w + rows)
    assert max(match(other, LAYER).theta) > 1
    found = match(other, AttentionLayer(theta=LAYER.theta, w=LAYER.w, constant=True))
    assert max(found.theta + found.w) < 1e-12


CLOSEST = """
from hardness.learners.plugins import function

@function(view="tokens", examples=4000)
def closest(x, y):
    def predict(new):
        apart = ((new[:, None] - x) ** 2).sum(axis=(2, 3))
        return y[apart.argmin(axis=1)]
    return predict
"""


def test_a_learner_from_a_file_sees_examples_alone(tmp_path):
    (tmp_path / "closest.py").write_text(CLOSEST)
    found = run(parse_learner(f"{tmp_path}/closest.py:closest"), taught("boolean"), Budget())
    assert found.examples == 4000
    assert found.risk < 1e-9  # it has seen all 256 pairs of tokens


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the command line runs too
    LAYER.save(tmp_path / "layer.npz")
    q, k, v = RNG.normal(size=(3, 2, D, D))
    bias = RNG.normal(size=(2, D))
    np.savez("biased.npz", q=q, k=k, v=v, o=RNG.normal(size=(2, D, D)), bq=bias, bv=bias)


def test_learn_a_layer_from_a_file(files, hardness):
    words = "learn linear --teacher layer.npz --tokens boolean --k 3 --json"
    found = hardness(*words.split()).json
    assert found["spec"] == "teacher:d=4,k=3,m=2,noise=0,tokens=boolean"
    assert found["details"]["teacher"]["tokens"] == "boolean"
    again = h.learn("linear", teacher=LAYER, tokens="boolean", k=3)
    assert again.details["teacher"]["sha256"] == found["details"]["teacher"]["sha256"]
    assert again.risk == pytest.approx(found["risk"], abs=1e-12)
    assert "sha256" in hardness("learn", "trivial", "--teacher", "layer.npz").out


def test_biases_bring_a_constant_coordinate(files):
    found = h.learn("levenberg", teacher="biased.npz", tokens="boolean")
    assert found.spec == "teacher:constant=1,d=5,k=2,m=2,noise=0,tokens=boolean"
    assert found.details["teacher"]["tokens"] == "boolean and a constant coordinate"
    assert found.passed
    assert max(found.details["truth"]["theta_errors"] + found.details["truth"]["w_errors"]) < 1e-3
    assert found.details["truth"]["seen"] == [5, 4]
    assert "in what labels show: tokens span 5 dimensions, differences 4" in run_words(found)
    run = h.learn("trivial", teacher="biased.npz", budget_examples=300)
    assert run.risk == 1  # the mean label has learned nothing
    assert run.risk_low < 1 < run.risk_high


def test_python_refuses_what_is_no_layer_and_what_goes_with_one_without_it():
    with pytest.raises(ToolkitError, match="an AttentionLayer is needed"):
        h.learn("trivial", teacher=np.eye(2))
    for given in ({"k": 3}, {"noise": 5}, {"tokens": "boolean"}):
        with pytest.raises(UsageError, match="only applies to --teacher"):
            h.learn("staged", "nice:m=1,k=2,d=4", **given)


def test_labels_that_are_all_equal_have_no_relative_risk():
    even = AttentionLayer.from_qkvo(*np.zeros((4, 1, D, D)), bo=np.ones(D))
    for name in ("trivial", "linear"):
        with pytest.raises(ToolkitError, match="all equal up to rounding"):
            h.learn(name, teacher=even, budget_examples=300)


def test_a_learner_s_file_that_could_read_its_teacher_is_refused(hardness, tmp_path):
    (tmp_path / "own").mkdir()
    source = "def mine(x, y):\n    return lambda new: 0 * new\n"
    for folder in ("own", "."):
        (tmp_path / folder / "mine.py").write_text(source)
    LAYER.save(tmp_path / "layer.npz")
    np.savez(tmp_path / "data.npz", x=RNG.normal(size=(999, 2, D)), y=RNG.normal(size=(999, 2, D)))
    for what in (("--teacher", tmp_path / "layer.npz"), (tmp_path / "data.npz",)):
        asked = ("learn", f"{tmp_path}/mine.py:mine", *what, "--budget-examples", 100)
        hardness(*asked).one_line("a learner can read its folder, and so what it is judged by")
        beside = ("learn", f"{tmp_path}/own/mine.py:mine", *what, "--budget-examples", 100)
        assert "learned nothing" in hardness(*beside).out
    with pytest.raises(ToolkitError, match="what it is judged by"):
        h.learn(f"{tmp_path}/mine.py:mine", teacher=tmp_path / "layer.npz")


def test_what_a_run_reads_is_not_written_over(hardness, tmp_path):
    LAYER.save(tmp_path / "layer.npz")
    before = (tmp_path / "layer.npz").read_bytes()
    asked = ("learn", "staged", "--teacher", tmp_path / "layer.npz", "--force", "--save-layer")
    hardness(*asked, tmp_path / "layer.npz").one_line("is read by this command")
    assert (tmp_path / "layer.npz").read_bytes() == before


def test_the_verdict_names_what_was_found(hardness):
    """Two layers whose answer is known: one to be found, and one of equal Theta_i."""
    made = {"found": "nice:m=1,k=2,d=4", "equal": "nice:m=2,k=2,d=4,trace=1"}
    for name, spec in made.items():
        parse(spec).instance(0).layer().save(f"{name}.npz")
    for learner, name, end in (
        ("levenberg", "found", "heads found"),
        ("levenberg", "equal", "function found, heads not identified"),
        ("linear", "equal", "neither"),
    ):
        ran = hardness("learn", learner, "--teacher", f"{name}.npz", "--out", "run.json", "--force")
        found = Run.load("run.json")
        said = found.details["verdict"]
        assert said["found"] == end
        assert f"verdict  {end}: " in ran.out
        assert f"verdict  {end}: " in run_words(found)
        truth = found.details.get("truth", {"theta_errors": [np.inf], "w_errors": []})
        errors = truth["theta_errors"] + truth["w_errors"]
        assert (max(errors) <= said["tolerance"] == 0.25) is (end == "heads found")
    assert "within 0.25 of its norm" in run_words(h.learn("levenberg", teacher="found.npz"))
    free = h.learn("linear", teacher=AttentionLayer(theta=0 * LAYER.theta, w=LAYER.w))
    assert free.passed  # attention that does not look is linear, and shows no heads
    assert free.details["verdict"]["because"].startswith("linear gives no heads")
    assert free.details["verdict"]["found"] == "function found, heads not identified"
