"""What is reported of a run: what is flagged, and of which layers."""

import itertools
import json

import numpy as np
import pytest

from hardness.learners.fitting import Data, Fit, error_bound, relative_error
from hardness.learners.staged import StageFailed, StageReport, diagnose, moment
from hardness.learners.staged.moment import beyond_linear
from hardness.learners.staged.progress import Progress
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import AttentionLayer, parse
from tests.planted import flagged

GOOD = {
    "moment": {"label_rank": 16, "label_square": 1.0, "linear": 0.3},
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
    return found.risk, flagged(found.details["diagnosis"])


def test_a_sound_run_has_all_signals_and_none_is_flagged():
    found = signals(1e-9, 2e-3)
    assert not flagged(found)
    assert len(found) == 4
    assert all(signal["advice"] for signal in found)


NOISY = {"noise": 0.2**0.5, "moment__linear": 0.5}
FLAGS = [  # error and its bound, what else is given, what is flagged
    ((0.01, 0.02), {"moment__label_rank": 2, "k": 3}, {"rank of the labels"}),
    ((0.01, 0.02), {"moment__label_rank": 3, "k": 3}, set()),
    ((0.01, 0.02), {"span__gap": 1.3}, {"gap of the span"}),
    # What the hold-out has proved is not doubted; but no row shows agreement, however well it went.
    ((1e-5, 1e-3), {"span__gap": 1.3}, set()),
    ((1e-5, 1e-3), {"moment__label_rank": 1}, {"rank of the labels"}),
    # Label noise that is known is no fault: what it leaves is judged.
    ((0.2, 0.21), NOISY, set()),
    ((0.2, 0.21), {"moment__linear": 0.5}, {"hold-out error", "error over linear"}),
    ((0.975, 0.98), NOISY | {"noise": 0.95**0.5}, {"hold-out error", "error over linear"}),
    ((0.2, 0.21), NOISY | {"noise": 1.0}, {"hold-out error", "error over linear"}),
    # Beside noise of 0.2 the linear part leaves 0.375 of what is not noise, the layer 0.044.
    ((0.22, 0.235), NOISY, {"error over linear"}),
    # A parity's linear part makes the relative error small with nothing learned.
    ((0.04, 0.05), {"moment__linear": 0.04}, {"error over linear"}),
    ((1e-9, 1e-3), {"stages": [], "failed": StageFailed("x", "degenerate")}, {"stages"}),
]


def test_each_signal_has_its_own_threshold():
    for errors, given, names in FLAGS:
        assert flags(*errors, **given) == names, (errors, given)


def test_the_linear_part_is_measured_on_the_hold_out():
    """As many features as labelled tokens leave nothing of the examples, and explain nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2, 8))
    whole = Data(x=x, y=y)
    assert beyond_linear(whole.cut(0, 8), whole.cut(8, 100)) > 1
    assert moment(whole, whole).measures["linear"] == beyond_linear(whole, whole) < 1


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


def offered(theta, w, **more):
    return Fit(theta=theta, w=w, error=0.0, **more)


def in_progress(tokens, layer, budget=None):
    """A run on a layer's examples of random tokens (n, 2, 2), 80 of them drawn."""
    source = parse("nice:m=1,k=2,d=2,tokens=gaussian").instance(0)
    progress = Progress(ExampleOracle(source, Meter(Budget())))
    progress.draw(80)
    progress.data = progress.held_out = Data(x=tokens, y=layer(tokens))
    return progress


def test_progress_keeps_the_best_layer_and_offers_it():
    rng = np.random.default_rng(0)
    theta, w, x = (rng.normal(size=(n, 2, 2)) for n in (1, 1, 60))
    progress = in_progress(x, AttentionLayer(theta=theta, w=w))
    assert progress.error == np.inf
    for part in (0.5, 0.9, 0.8):
        progress.stage("net", lambda part=part: offered(theta, part * w))
    errors = [report.measures["error"] for report in progress.reports]
    np.testing.assert_allclose(errors, [0.25, 0.01, 0.04])
    assert [row["error"] for row in progress.errors] == errors
    assert (progress.layer.w == 0.9 * w).all()
    assert progress.best.upper == pytest.approx(0.01 + 3 / 60)
    hypothesis = progress._oracle.meter.offered
    assert (hypothesis.layer.w == 0.9 * w).all()
    assert hypothesis.details["error"] == pytest.approx(0.01)
    # Without its spare heads the layer before counts no more, were it better.
    both = np.concatenate([theta, theta]), np.concatenate([w, 0 * w])
    progress.stage("polish", lambda: offered(*both))
    progress.stage("prune", lambda: offered(theta, 0.95 * w))
    assert progress.details()["spare"] == "1 of 2 heads"
    assert progress.error == pytest.approx(0.0025)
    progress.draw(90)  # by other examples, of another layer
    assert progress.error > 0.1


def test_a_layer_that_is_not_finite_is_refused_and_a_stage_that_fails_is_reported():
    one = np.ones((1, 2, 2))
    progress = in_progress(np.ones((5, 2, 2)), lambda x: 0 * x)
    for layer, message in (((np.inf * one, one), "the range of float64"), ((one, one), "all zero")):
        with pytest.raises(StageFailed, match=message):
            progress.stage("net", lambda layer=layer: offered(*layer, measures={"points": 3}))
    with pytest.raises(StageFailed, match=r"stage net: .*too degenerate"):
        progress.stage("net", lambda: np.linalg.cholesky(-np.eye(2)))
    measures = [report.measures for report in progress.reports if report.name == "net"]
    assert measures == [{"points": 3.0}, {"points": 3.0}, {}]


def test_layers_on_which_the_stages_must_fail_are_flagged():
    spec = "nice:m=2,k=2,d=8,shared=1"
    _, found = learn(spec, 0, learner="staged:heads=2,examples=3000,polish=5")
    assert "error over linear" in found
    for examples, seed in itertools.product((20, 100, 400), range(3)):
        budget = Budget(examples=examples)
        risk, found = learn("nice:m=3,k=2,d=12", seed, budget, "staged:polish=20")
        assert found or risk < 0.1
        assert examples > 100 or "examples" in found
