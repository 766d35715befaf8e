"""The diagnosis: what is flagged of reports, and of layers on which the stages must fail."""

import json

import numpy as np
import pytest

from hardness.oracles import Budget, Meter
from hardness.runs import run
from hardness.upper import parse_learner
from hardness.upper.fitting import Data, Result, error_bound, relative_error
from hardness.upper.staged import StageFailed, StageReport, diagnose, moment
from hardness.upper.staged.moment import beyond_linear
from hardness.upper.staged.runner import Runner
from instances import AttentionLayer, parse
from tests.planted import flagged

GOOD = {
    "moment": {"halves": 0.03, "label_rank": 16, "label_square": 1.0, "linear": 0.3},
    "single": {"beyond": 0.5},
    "refine": {"halves": 0.001, "outside": 0.0},
    "hull": {"r2": 0.99},
    "span": {"heads": 2, "gap": 200.0},
}


def reports(**changes):
    """Reports of a sound run, with some measures changed."""
    stages = {name: dict(measures) for name, measures in GOOD.items()}
    for key, value in changes.items():
        stage, _, measure = key.partition("__")
        stages[stage][measure] = value
    return [
        StageReport(name=name, seconds=0.1, examples=5000, rows=100, measures=measures)
        for name, measures in stages.items()
    ]


def signals(error=np.inf, upper=np.inf, *, k=2, noise=0.0, failed=None, stages=None, **changes):
    seen = reports(**changes) if stages is None else stages
    found = diagnose(seen, k=k, error=error, upper=upper, noise=noise, failed=failed)
    return [json.loads(json.dumps(signal.to_dict(), allow_nan=False)) for signal in found]


def flags(*errors, **given):
    return flagged(signals(*errors, **given))


def learn(spec, seed, budget=None, learner="staged"):
    found = run(parse_learner(learner), parse(spec).instance(seed), budget or Budget(), seed)
    return found.risk.value, flagged(found.details["diagnosis"])


def test_a_sound_run_has_all_signals_and_none_is_flagged():
    found = signals(1e-9, 2e-3)
    assert not flagged(found)
    assert len(found) == 10
    assert all(signal["advice"] for signal in found)


@pytest.mark.parametrize(
    ("change", "k", "name"),
    [
        ({"moment__label_rank": 1}, 2, "rank of the labels"),
        ({"moment__label_rank": 2}, 3, "rank of the labels"),
        ({"single__beyond": 1e-20}, 2, "rows beyond one pattern"),
        ({"moment__halves": 0.6}, 2, "halves of the moment"),
        ({"moment__halves": np.nan}, 2, "halves of the moment"),
        ({"moment__linear": 0.9}, 2, "share beyond linear"),
        ({"refine__halves": 0.3}, 2, "halves of the refined sum"),
        ({"refine__outside": 0.2}, 2, "patterns out of [0, 1]"),
        ({"refine__outside": 0.25}, 3, None),
        ({"refine__outside": 0.35}, 3, "patterns out of [0, 1]"),
        ({"hull__r2": 0.5}, 2, "R^2 of the logits"),
        ({"span__gap": 1.3}, 2, "gap of the span"),
    ],
)
def test_each_signal_has_its_own_threshold(change, k, name):
    assert flags(0.01, 0.02, k=k, **change) == {name} - {None}


def test_the_linear_part_is_measured_on_the_hold_out():
    """As many features as labelled tokens leave nothing of the examples, and explain nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2, 8))
    whole = Data(x=x, y=y)
    assert beyond_linear(whole.cut(0, 8), whole.cut(8, 100)) > 1
    seen = moment(whole, whole).measures
    assert seen["linear"] == beyond_linear(whole, whole) < 1
    assert seen["label_square"] == pytest.approx(np.mean(y**2))
    assert seen["label_rank"] == 8


def test_what_the_hold_out_has_proved_is_not_doubted():
    assert not flags(1e-5, 1e-3, span__gap=1.3, hull__r2=0.5)
    # Rows cannot show agreement, however well it went.
    assert flags(1e-5, 1e-3, moment__label_rank=1) == {"rank of the labels"}


def test_known_label_noise_is_no_fault_and_unknown_noise_is_named():
    assert not flags(0.2, 0.21, noise=0.2**0.5, moment__linear=0.5)
    found = {s["name"]: s for s in signals(0.2, 0.21, moment__linear=0.5) if s["flagged"]}
    assert set(found) == {"hold-out error", "error over linear"}
    assert all("noise" in signal["advice"] for signal in found.values())
    assert flags(0.4, 0.41, noise=0.2**0.5, moment__linear=0.5)
    # 0.95 of the labels is noise: half of the remaining square is not explained.
    assert "hold-out error" in flags(0.975, 0.98, noise=0.95**0.5, moment__linear=0.5)
    assert "hold-out error" in flags(0.2, 0.21, noise=1.0, moment__linear=0.5)
    # Beside noise of 0.2 the linear part leaves 0.375 of what is not noise, the layer 0.044.
    for linear in (0.5, 0.2):
        close = flags(0.22, 0.235, noise=0.2**0.5, moment__linear=linear)
        assert close == {"error over linear"}


def test_a_large_known_part_hides_nothing():
    """A parity's linear part makes the relative error small with nothing learned."""
    assert flags(0.04, 0.05, moment__linear=0.04) == {"error over linear"}
    assert flags(0.02, 0.04) == {"error over linear"}  # the linear part left 0.3


@pytest.mark.parametrize(
    ("error", "upper", "word"),
    [
        (0.3, 0.5, "not the one sought"),
        (1e-26, 0.2, "too few examples are held out"),
        (0.05, 0.2, "too few examples are held out"),
    ],
)
def test_a_small_hold_out_is_not_called_a_wrong_layer(error, upper, word):
    (found,) = (s for s in signals(error, upper) if s["name"] == "hold-out error")
    assert found["flagged"]
    assert word in found["advice"]


def test_failures_say_whether_more_examples_help():
    early = StageReport(name="single", seconds=0.1, examples=100, rows=0)
    failed = StageFailed("refine", "few", needs=9000)
    (few,) = (s for s in signals(1e-9, 1e-3, stages=[early, *reports()], failed=failed)
              if s["flagged"])  # fmt: skip
    assert (few["name"], few["value"], few["threshold"]) == ("examples", 5000.0, 9000.0)
    assert flags(1e-9, 1e-3, stages=[], failed=StageFailed("x", "degenerate")) == {"stages"}


@pytest.mark.parametrize(
    ("n", "share", "most"), [(80, 0.02, np.inf), (2000, 0.05, 0.1)], ids=["few", "many"]
)
def test_the_error_bound_covers_the_error(n, share, most):
    """Labels of which a share is missed altogether; where faults are seen, not much more."""
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(200):
        y = rng.normal(size=(n, 2, 3))
        predicted = y * (rng.random((n, 1, 1)) > share)
        bounds.append(error_bound(predicted, y))
        assert bounds[-1] > relative_error(predicted, y)
    assert np.mean(np.array(bounds) >= share) >= 0.98
    assert max(bounds) < most
    assert error_bound(np.zeros((4, 2, 2)), np.zeros((4, 2, 2))) == np.inf


def offered(run, theta, w, **measures):
    """The stage "net" with a layer."""

    class Found(Result):
        layer = theta, w

    return run.stage("net", lambda clock: Found(measures=measures))


def test_the_runner_keeps_the_best_and_what_it_is_at_most():
    rng = np.random.default_rng(0)
    theta, w, x = (rng.normal(size=(n, 2, 2)) for n in (1, 1, 60))
    held_out = Data(x=x, y=AttentionLayer(theta=theta, w=w)(x))
    run = Runner(Meter(Budget()))
    assert run.error == np.inf
    run.go_on(held_out, held_out.cut(0, 5))
    for part in (0.5, 0.9, 0.8):
        offered(run, theta, part * w)
    run.go_on(held_out, held_out)  # all are judged again, by the same examples
    errors = [report.measures["error"] for report in run.reports]
    np.testing.assert_allclose(errors, [0.25, 0.01, 0.04])
    np.testing.assert_allclose([one.error for one in run.found], errors)
    assert run.best is run.found[1]
    assert run.best.upper == pytest.approx(0.01 + 3 / 60)


def test_the_runner_refuses_what_is_not_finite_and_reports_what_fails():
    one, zero = np.ones((1, 2, 2)), Data(x=np.ones((5, 2, 2)), y=np.zeros((5, 2, 2)))
    run = Runner(Meter(Budget()))
    run.go_on(zero, zero)
    with pytest.raises(StageFailed, match="left the range of float64"):
        offered(run, np.inf * one, one)
    with pytest.raises(StageFailed, match="hold-out are all zero"):
        offered(run, one, one, points=3)
    with pytest.raises(StageFailed, match=r"stage net: .*too degenerate"):
        run.stage("net", lambda clock: np.linalg.cholesky(-np.eye(2)))
    assert [report.measures for report in run.reports] == [{}, {"points": 3.0}, {}]


def test_w_of_alternating_signs_are_flagged():
    spec = "nice:m=2,k=2,d=8,shared=1,signs=alternating"
    _, found = learn(spec, 0, learner="staged:heads=2,examples=3000")
    assert found & {"halves of the refined sum", "patterns out of [0, 1]"}


@pytest.mark.parametrize("examples", [20, 100, 400])
def test_too_few_examples_are_flagged_wherever_the_risk_is_large(examples):
    for seed in range(3):
        risk, found = learn("nice:m=3,k=2,d=12", seed, Budget(examples=examples))
        assert found or risk < 0.1
    assert examples > 100 or "examples" in found
