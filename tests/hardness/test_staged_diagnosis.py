import json

import numpy as np
import pytest

from hardness.oracles import Budget, Meter
from hardness.runs import run
from hardness.upper.staged.data import Data, error_bound, relative_error
from hardness.upper.staged.diagnosis import HoldOut, diagnose, moment_measures
from hardness.upper.staged.journal import Journal
from hardness.upper.staged.learner import Staged
from hardness.upper.staged.moment import moment
from hardness.upper.staged.stage import StageFailed, StageReport
from instances import AttentionLayer, parse

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


def flagged(signals):
    return {signal.name for signal in signals if signal.flagged}


def learn(spec, seed, budget=None, **learner):
    return run(Staged(**learner), parse(spec).instance(seed), budget or Budget(), seed)


def warnings(found):
    return {s["name"] for s in found.details["diagnosis"] if s["flagged"]}


def test_a_sound_run_has_all_signals_and_none_is_flagged():
    signals = diagnose(reports(), HoldOut(error=1e-9, upper=2e-3), k=2)
    assert not flagged(signals)
    assert len(signals) == 10
    assert all(signal.advice for signal in signals)


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
        ({"hull__r2": 0.5}, 2, "R^2 of the logits"),
        ({"span__gap": 1.3}, 2, "gap of the span"),
    ],
)
def test_each_signal_has_its_own_threshold(change, k, name):
    signals = diagnose(reports(**change), HoldOut(error=0.01, upper=0.02), k=k)
    assert flagged(signals) == {name}
    json.dumps([signal.to_dict() for signal in signals], allow_nan=False)


def test_patterns_of_more_tokens_are_impossible_more_often():
    sound = HoldOut(error=0.01, upper=0.02)
    assert not flagged(diagnose(reports(refine__outside=0.25), sound, k=3))
    assert flagged(diagnose(reports(refine__outside=0.35), sound, k=3)) == {
        "patterns out of [0, 1]"
    }


def test_an_error_that_few_examples_bound_badly_is_flagged():
    seen = reports(moment__linear=0.79)
    assert "hold-out error" in flagged(diagnose(seen, HoldOut(error=0.05, upper=0.2), k=2))


def test_the_linear_part_is_measured_on_the_hold_out():
    """As many features as labelled tokens leave nothing of the examples, and explain nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2, 8))
    whole = Data(x=x, y=y)
    seen = moment_measures(moment(whole), whole.cut(0, 8), whole.cut(8, 100))
    assert seen["linear"] > 1
    assert seen["label_square"] == pytest.approx(np.mean(y**2))
    assert seen["label_rank"] == 8


def test_what_the_hold_out_has_proved_is_not_doubted():
    weak = reports(span__gap=1.3, hull__r2=0.5)
    assert not flagged(diagnose(weak, HoldOut(error=1e-5, upper=1e-3), k=2))
    # Rows cannot show agreement, however well it went.
    rank = reports(moment__label_rank=1)
    assert flagged(diagnose(rank, HoldOut(error=1e-5, upper=1e-3), k=2)) == {"rank of the labels"}


def test_known_label_noise_is_no_fault_and_unknown_noise_is_named():
    noisy, seen = HoldOut(error=0.2, upper=0.21), reports(moment__linear=0.5)
    assert not flagged(diagnose(seen, noisy, k=2, noise=0.2**0.5))
    found = {s.name: s for s in diagnose(seen, noisy, k=2) if s.flagged}
    assert set(found) == {"hold-out error", "error over linear"}
    assert all("noise" in signal.advice for signal in found.values())
    assert flagged(diagnose(seen, HoldOut(error=0.4, upper=0.41), k=2, noise=0.2**0.5))
    # 0.95 of the labels is noise: half of the remaining square is not explained.
    faint = diagnose(seen, HoldOut(error=0.975, upper=0.98), k=2, noise=0.95**0.5)
    assert "hold-out error" in flagged(faint)
    assert "hold-out error" in flagged(diagnose(seen, noisy, k=2, noise=1.0))
    # Beside noise of 0.2 the linear part leaves 0.375 of what is not noise, the layer 0.044.
    close = HoldOut(error=0.22, upper=0.235)
    assert flagged(diagnose(seen, close, k=2, noise=0.2**0.5)) == {"error over linear"}
    all_noise = reports(moment__linear=0.2)
    found = flagged(diagnose(all_noise, close, k=2, noise=0.2**0.5))
    assert found == {"error over linear"}


def test_a_large_known_part_hides_nothing():
    """A parity's linear part makes the relative error small with nothing learned."""
    easy = reports(moment__linear=0.04)
    assert flagged(diagnose(easy, HoldOut(error=0.04, upper=0.05), k=2)) == {"error over linear"}
    unsure = HoldOut(error=0.02, upper=0.04)  # the linear part left 0.3
    assert flagged(diagnose(reports(), unsure, k=2)) == {"error over linear"}


def test_a_small_hold_out_is_not_called_a_wrong_layer():
    wrong, unsure = (
        next(s for s in diagnose(reports(), left, k=2) if s.name == "hold-out error")
        for left in (HoldOut(error=0.3, upper=0.5), HoldOut(error=1e-26, upper=0.2))
    )
    assert wrong.flagged
    assert unsure.flagged
    assert "not the one sought" in wrong.advice
    assert "too few examples are held out" in unsure.advice


def test_failures_say_whether_more_examples_help():
    error = HoldOut(error=1e-9, upper=1e-3)
    (few,) = [
        s
        for s in diagnose(reports(), error, k=2, failed=StageFailed("refine", "few", needs=9000))
        if s.flagged
    ]
    assert (few.name, few.value, few.threshold) == ("examples", 5000.0, 9000.0)
    assert flagged(diagnose([], error, k=2, failed=StageFailed("x", "degenerate"))) == {"stages"}
    early = StageReport(name="single", seconds=0.1, examples=100, rows=0)
    failed = StageFailed("x", "few", needs=9000)
    (few,) = [s for s in diagnose([early, *reports()], error, k=2, failed=failed) if s.flagged]
    assert few.value == 5000.0


def test_the_error_bound_covers_the_error_of_few_examples():
    """Labels of which one in fifty is missed altogether: relative error 0.02."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        y = rng.normal(size=(80, 2, 3))
        predicted = y * (rng.random((80, 1, 1)) > 0.02)
        assert error_bound(predicted, y) > relative_error(predicted, y)
        covered += error_bound(predicted, y) >= 0.02
    assert covered >= 295
    assert error_bound(np.zeros((4, 2, 2)), np.zeros((4, 2, 2))) == np.inf


def test_the_error_bound_covers_the_error_of_many_examples():
    """Where faults are seen the standard error counts, and not much more than that."""
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(200):
        y = rng.normal(size=(2000, 2, 3))
        bounds.append(error_bound(y * (rng.random((2000, 1, 1)) > 0.05), y))
    assert np.mean(np.array(bounds) >= 0.05) >= 0.98
    assert max(bounds) < 0.1


def test_the_journal_keeps_the_best_and_what_it_is_at_most():
    rng = np.random.default_rng(0)
    theta, w, x = (rng.normal(size=(n, 2, 2)) for n in (1, 1, 60))
    held_out = Data(x=x, y=AttentionLayer(theta=theta, w=w)(x))
    journal = Journal(Meter(Budget()))
    assert journal.error == np.inf
    errors = [journal.offer("x", theta, c * w, 50, held_out) for c in (0.5, 0.9, 0.8)]
    np.testing.assert_allclose(errors, [0.25, 0.01, 0.04])
    assert journal.best.error == journal.error == errors[1]
    assert journal.best.upper == pytest.approx(0.01 + 3 / 60)
    (hold_out,) = (s for s in journal.diagnose(2) if s.name == "hold-out error")
    assert hold_out.value == journal.best.upper
    journal.failed = StageFailed("x", "degenerate")
    assert "stages" in flagged(journal.diagnose(2))


def test_the_journal_refuses_what_is_not_finite_and_reports_what_fails():
    one, held_out = np.ones((1, 2, 2)), Data(x=np.ones((5, 2, 2)), y=np.zeros((5, 2, 2)))
    journal = Journal(Meter(Budget()))
    with pytest.raises(StageFailed, match="left the range of float64"):
        journal.offer("net", np.inf * one, one, 5, held_out)
    with pytest.raises(StageFailed, match="hold-out are all zero"):
        journal.offer("net", one, one, 5, held_out)

    def fail():
        with journal.stage("net", 5) as entry:
            entry.measures["points"] = 3
            np.linalg.cholesky(-np.eye(2))

    with pytest.raises(StageFailed, match=r"stage net: .*too degenerate"):
        fail()
    (report,) = journal.reports
    assert (report.name, report.measures) == ("net", {"points": 3.0})


@pytest.mark.parametrize("m", range(2, 7))
def test_parities_are_flagged(m):
    found = learn(f"parity:d=12,m={m}", m, examples=2000, polish=0)
    assert found.risk.value > 0.1
    assert "rank of the labels" in warnings(found)
    assert warnings(found) & {"hold-out error", "error over linear"}


def test_w_of_alternating_signs_are_flagged():
    found = learn("nice:m=2,k=2,d=8,shared=1,signs=alternating", 0, heads=2, examples=3000)
    assert warnings(found) & {"halves of the refined sum", "patterns out of [0, 1]"}


@pytest.mark.parametrize("examples", [20, 100, 400])
def test_too_few_examples_are_flagged_wherever_the_risk_is_large(examples):
    for seed in range(3):
        found = learn("nice:m=3,k=2,d=12", seed, Budget(examples=examples))
        assert warnings(found) or found.risk.value < 0.1
    assert examples > 100 or "examples" in warnings(found)


@pytest.mark.parametrize(
    ("spec", "heads"),
    [
        ("nice:m=1,k=2,d=16", 0),
        ("nice:m=1,k=2,d=16,noise=0.3", 1),
        ("nice:m=2,k=2,d=8", 2),
        ("nice:m=2,k=2,d=8,noise=0.05", 2),
    ],
)
def test_nice_layers_are_not_flagged(spec, heads):
    found = learn(spec, 1, heads=heads)
    assert found.risk.value < 0.01
    assert not warnings(found)
