"""Stages 1 to 5, the single head and the learner, against planted layers."""

import dataclasses
import json
import tracemalloc
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import run
from hardness.upper import Outcome
from hardness.upper.levenberg import Levenberg
from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.constraints import constraints
from hardness.upper.staged.data import Data, relative_error
from hardness.upper.staged.hull import hull
from hardness.upper.staged.learner import Staged
from hardness.upper.staged.moment import disagreement, moment
from hardness.upper.staged.noise import evenness
from hardness.upper.staged.refine import refine
from hardness.upper.staged.single import single
from hardness.upper.staged.span import span
from hardness.upper.staged.stage import StageFailed
from instances import AttentionLayer, UsageError, parse


@cache
def planted(m, k, d, n, seed=0, tokens="boolean", noise=0.0):
    rng = np.random.default_rng([m, k, d, seed])
    theta, w = rng.normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    layer = AttentionLayer(theta=theta, w=w)
    size = (n, k, d)
    x = rng.choice([-1.0, 1.0], size) if tokens == "boolean" else rng.normal(size=size)
    y = layer(x)
    y += noise * np.sqrt(np.mean(y**2)) * rng.normal(size=size)
    return layer, Data(x=x, y=y)


@cache
def stages(m, k, d, n, seed=0, tokens="boolean", noise=0.0):
    """Everything up to the hull, and the truth."""
    layer, data = planted(m, k, d, n, seed, tokens, noise)
    first = moment(data)
    refined = refine(first.w, data)
    found = constraints(refined.agreement, data)
    return layer, data, first, refined, found, hull(found)


def far(w, layer):
    truth = layer.w.sum(axis=0)
    return np.linalg.norm(w - truth) / np.linalg.norm(truth)


def sine(directions, layer):
    """Of the largest principal angle to the true span of differences."""
    true = np.linalg.qr((layer.theta[1:] - layer.theta[0]).reshape(layer.m - 1, -1).T)[0]
    found = directions.reshape(len(directions), -1)
    assert np.allclose(found @ found.T, np.eye(len(found)))
    return np.linalg.norm(true - found.T @ (found @ true), 2)


def off_hull(centre, layer):
    """Distance of a point from the affine hull of the Theta_i, relative to their norm."""
    true = np.linalg.qr((layer.theta[1:] - layer.theta[0]).reshape(layer.m - 1, -1).T)[0]
    off = (centre - layer.theta[0]).ravel()
    return np.linalg.norm(off - true @ (true.T @ off)) / np.linalg.norm(layer.theta[0])


def test_moment_is_least_squares_on_the_sums_of_tokens():
    _, data = planted(2, 3, 6, 500)
    x, y = data.x.sum(axis=1), data.y.sum(axis=1)
    found = moment(data)
    with_one = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    assert np.allclose(found.w, np.linalg.lstsq(with_one, y, rcond=None)[0][:-1])
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    halves = [np.linalg.lstsq(x[i], y[i], rcond=None)[0] for i in (slice(250), slice(250, None))]
    assert found.halves == pytest.approx(disagreement(*halves))
    rows = data.y.reshape(-1, 6)
    assert np.allclose(found.label_spectrum, np.linalg.svd(rows)[1] ** 2 / len(rows))
    assert found.label_rank == 6


@pytest.mark.parametrize(("k", "d"), [(2, 5), (3, 5), (4, 6)])
def test_patterns_are_constrained_least_squares(k, d):
    rng = np.random.default_rng(k)
    data = Data(x=rng.normal(size=(3, k, d)), y=rng.normal(size=(3, k, d)))
    w = rng.normal(size=(d, d))
    found = agreement(w, data)
    assert np.allclose(found.patterns.sum(axis=-1), 1)
    z = data.x @ w
    pairs = [z[:, i] - z[:, j] for i in range(k) for j in range(k) if i != j]
    assert found.scale == pytest.approx(np.sqrt(np.mean(np.sum(np.square(pairs), axis=-1))))
    for e in range(3):
        for a in range(k):
            best = minimize(
                lambda v, e=e, a=a: np.sum((data.y[e, a] - v @ z[e]) ** 2),
                np.full(k, 1 / k),
                constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
                tol=1e-14,
            )
            assert np.allclose(found.patterns[e, a], best.x, atol=1e-5)
            assert found.residuals[e, a] * found.scale == pytest.approx(np.sqrt(best.fun))


def test_coinciding_tokens_get_the_uniform_pattern_and_give_no_constraint():
    layer, data = planted(1, 2, 4, 64)
    x = data.x.copy()
    x[::2, 1] = x[::2, 0]
    data = Data(x=x, y=layer(x))
    found = agreement(layer.w[0], data)
    assert np.allclose(found.patterns[::2], 0.5, atol=1e-2)
    taken = constraints(found, data)
    assert taken.right.any(axis=1).all()
    assert np.allclose(taken.u @ layer.theta[0].ravel(), taken.b, atol=1e-6)


@pytest.mark.parametrize(
    ("m", "k", "d", "n", "crude", "fine"),
    [(2, 2, 16, 20_000, 0.2, 1e-3), (2, 3, 12, 20_000, 0.3, 1e-2), (3, 2, 12, 40_000, 0.2, 5e-3)],
)
def test_stages_find_sum_hull_span_and_heads(m, k, d, n, crude, fine):
    layer, data, first, refined, found, around = stages(m, k, d, n)
    assert 0.05 < far(first.w, layer) < crude
    assert far(refined.w, layer) < fine
    assert refined.halves < 0.05
    assert [step.quantile for step in refined.history] == sorted(
        (step.quantile for step in refined.history), reverse=True
    )
    along = span(found, data)
    assert along.heads == m
    assert along.gap > 3
    assert along.gap == pytest.approx(along.eigenvalues[m - 1] / along.eigenvalues[m - 2])
    assert sine(along.directions, layer) < 0.06
    assert off_hull(around.centre, layer) < 0.06
    assert around.r2 > 0.95
    assert found.rows <= 40 * d * d // k


@pytest.mark.parametrize(("tokens", "noise"), [("gaussian", 0.0), ("boolean", 0.01)])
def test_stages_bear_gaussian_tokens_and_noise(tokens, noise):
    layer, data, _, refined, found, around = stages(2, 2, 12, 12_000, 1, tokens, noise)
    along = span(found, data)
    assert far(refined.w, layer) < 1e-2
    assert along.heads == 2
    assert sine(along.directions, layer) < 0.05
    assert off_hull(around.centre, layer) < 0.05


def test_weights_matter():
    layer, data, _, _, found, around = stages(2, 2, 16, 20_000)
    flat = dataclasses.replace(found, weights=np.ones(len(found)))
    weighted, unweighted = (span(at, data, heads=2).directions for at in (found, flat))
    assert sine(unweighted, layer) > 3 * sine(weighted, layer)
    assert off_hull(hull(flat).centre, layer) > 3 * off_hull(around.centre, layer)


@pytest.mark.parametrize(
    ("k", "d", "tokens"), [(2, 16, "boolean"), (3, 8, "boolean"), (4, 12, "gaussian")]
)
def test_a_single_head_is_exact_from_few_examples(k, d, tokens):
    layer, data = planted(1, k, d, 4 * d * d, 0, tokens)
    stop = len(data) * 7 // 8
    found = single(moment(data).w, data.cut(0, stop), data.cut(stop, len(data)))
    assert found.recognised
    assert found.error < 1e-20
    assert np.allclose(found.theta, layer.theta, atol=1e-8)
    assert np.allclose(found.w, layer.w, atol=1e-8)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_a_single_head_is_told_from_two(noise):
    for m in (1, 2):
        _, data = planted(m, 2, 12, 2_000, 2, "boolean", noise)
        found = single(moment(data).w, data.cut(0, 1_800), data.cut(1_800, 2_000))
        assert found.recognised == (m == 1)
        assert (found.error > 0.1) == (m == 2)


def test_evenness_of_noise_is_one_whatever_the_dimension():
    rng = np.random.default_rng(0)
    for freedom in (6, 15, 60):
        norms = np.linalg.norm(rng.normal(size=(20_000, freedom)), axis=1)
        assert evenness(norms, freedom) == pytest.approx(1, abs=0.05)
        assert evenness(norms[:999], freedom) == 0  # too few to tell noise from a misfit
    assert evenness(np.zeros(2_000), 9) == evenness(np.ones(2_000), 2) == 0


@pytest.mark.parametrize(("spec", "seed"), [("nice:m=2,k=2,d=6", 203), ("nice:m=3,k=2,d=8", 200)])
def test_small_layers_of_several_heads_are_not_taken_for_one_in_noise(spec, seed):
    found, _ = learn(spec, seed)
    assert found.details["heads"] == parse(spec).layer_heads
    assert found.details["error"] < 1e-20


@pytest.mark.parametrize("d", [4, 6])
def test_a_single_head_of_small_dimension_is_proved_right(d):
    found, examples = learn(f"nice:m=1,k=2,d={d}", 203)
    assert examples == 640
    assert found.details["error"] < 1e-15
    assert not [s for s in found.details["diagnosis"] if s["flagged"]]


def test_fewer_constraints_than_unknowns_are_solved_without_a_warning():
    learn("nice:m=3,k=2,d=8", 200_051, Budget(examples=64))  # scipy would warn, here an error


def test_a_single_head_of_many_tokens_takes_little_memory():
    _, data = planted(1, 16, 16, 2_000, 0, "gaussian")
    crude = moment(data).w
    tracemalloc.start()
    with pytest.raises(StageFailed, match="attend to all tokens"):  # after the alternation
        single(crude, data, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * data.x.nbytes  # the tokens once for each token would be 16


def test_too_few_examples_are_refused_with_the_number():
    _, data = planted(2, 2, 8, 128)
    for count, needs, stage in ((31, 32, moment), (127, 128, lambda data: refine(np.eye(8), data))):
        with pytest.raises(StageFailed, match=f"at least {needs} are needed") as error:
            stage(data.cut(0, count))
        assert error.value.needs == needs
        stage(data.cut(0, needs))


def test_zero_labels_are_refused():
    with pytest.raises(StageFailed, match="all labels are zero"):
        moment(Data(x=np.ones((50, 2, 3)), y=np.zeros((50, 2, 3))))


def learn(spec, seed=0, budget=None, **parameters):
    oracle = ExampleOracle(parse(spec).instance(seed), Meter(budget or Budget()))
    found = Staged(**parameters).learn(oracle, np.random.default_rng(seed))
    json.dumps(found.details, allow_nan=False)
    return found, oracle.meter.examples


@pytest.mark.parametrize(
    ("spec", "heads", "examples"),
    [
        ("nice:m=1,k=2,d=16", 1, 1024),
        ("nice:m=2,k=2,d=12", 2, 20_000),
        ("nice:m=2,k=2,d=12,tokens=gaussian", 2, 20_000),
    ],
)
def test_the_learner_finds_out_heads_and_examples(spec, heads, examples):
    found, used = learn(spec)
    assert found.outcome is None
    assert found.details["heads"] == heads
    assert found.details["error"] < 1e-20
    assert used <= examples
    instance = parse(spec).instance(0)
    x = instance.examples(0, 500, "evaluate").x
    assert relative_error(found.predict(x), instance.layer()(x)) < 1e-20
    errors = {one["stage"]: one["error"] for one in found.details["errors"]}
    assert errors["moment"] > errors[list(errors)[-1]]


def test_the_learner_stops_at_noise():
    found, used = learn("nice:m=2,k=2,d=12,noise=1/100")
    assert used < 20_000
    assert found.details["heads"] == 2
    assert 1e-6 < found.details["error"] < 1e-3


@pytest.mark.parametrize("noise", ["0.3", "0.4", "0.5"])
@pytest.mark.parametrize("seed", range(3))
def test_two_heads_under_noise_are_found_as_well_as_by_levenberg(noise, seed):
    instance = parse(f"nice:m=2,k=2,d=8,noise={noise}").instance(seed)
    found = run(Staged(), instance, Budget(), seed)
    assert found.details["heads"] == 2
    rival = run(Levenberg(examples=found.usage.examples), instance, Budget(), seed)
    assert found.risk.value <= 2 * rival.risk.value


@pytest.mark.parametrize("m", [1, 3])
def test_heavy_noise_hides_no_head_and_adds_none(m):
    found, _ = learn(f"nice:m={m},k=2,d=8,noise=0.5", 1)
    assert found.details["heads"] == m


def test_examples_that_are_given_are_used_where_labels_are_noisy():
    found, used = learn("nice:m=1,k=2,d=8,noise=0.3", examples=3_000)
    assert used == 3_000
    assert found.details["heads"] == 1
    assert [s["examples"] for s in found.details["stages"] if s["name"] == "single"] == [560, 2625]


def test_no_polish_and_given_heads_and_examples_are_obeyed():
    found, used = learn("nice:m=2,k=2,d=12", heads=2, examples=12_000, polish=0)
    assert used == 12_000
    names = [stage["name"] for stage in found.details["stages"]]
    assert names == ["moment", "refine", "hull", "span", "net", "projection"]
    assert found.details["error"] < 1e-3


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("parity:d=10,m=3", "rank 1"),
        ("parity:d=10,m=4", "rank 1"),
        ("nice:m=3,k=2,d=8,parity=1", "rank 1"),
        ("nice:m=2,k=4,d=3", "rank 3"),
    ],
)
def test_degenerate_layers_end_with_an_outcome(spec, word):
    found, used = learn(spec)
    assert found.outcome is Outcome.DEGENERATE
    assert word in found.details["failed"]
    assert used <= max(20 * parse(spec).d ** 2, 1500)  # more would not help


def measured(found, stage, name):
    return [s["measures"][name] for s in found.details["stages"] if s["name"] == stage]


def test_without_a_gap_no_heads_are_claimed():
    found, _ = learn("nice:m=3,k=2,d=12", budget=Budget(examples=1_500))
    assert found.outcome is Outcome.EXAMPLES_SPENT
    assert "no gap" in found.details["failed"]
    assert found.details["needs"] > 1_500
    gaps = measured(found, "span", "gap")
    assert max(gaps) < 1.5
    assert len(gaps) == 2  # not again on the same examples
    assert found.details["heads"] == 1
    assert not measured(found, "net", "error")


def test_a_failure_that_more_examples_mend_is_forgotten():
    found, _ = learn("nice:m=3,k=2,d=8", 1)
    gaps = measured(found, "span", "gap")
    assert gaps[0] < 1.5 < gaps[-1]
    assert found.details["failed"] is found.details["needs"] is None
    assert found.details["heads"] == 3
    assert found.details["error"] < 1e-20


def test_a_single_head_may_be_asked_for_where_there_are_two():
    assert learn("nice:m=2,k=2,d=8", heads=1)[1] == 640
    found, used = learn("nice:m=2,k=2,d=8", heads=1, examples=2_000)
    assert used == 2_000
    assert found.details["heads"] == 1
    assert found.details["error"] > 0.1
    assert not measured(found, "span", "gap")


def test_who_solved_it_with_the_last_example_did_not_run_out():
    found, used = learn("nice:m=1,k=2,d=8", budget=Budget(examples=250))
    assert used == 250
    assert found.outcome is None
    assert found.details["error"] < 1e-20


@pytest.mark.parametrize("d", [1, 2, 3])
def test_tiny_dimensions_end_without_a_crash(d):
    for k, m, tokens in ((2, 1, "boolean"), (2, 2, "gaussian"), (3, 2, "boolean")):
        found, _ = learn(
            f"nice:d={d},k={k},m={m},tokens={tokens}", budget=Budget(examples=1_000), polish=5
        )
        assert found.outcome in (None, Outcome.DEGENERATE, Outcome.EXAMPLES_SPENT)


@pytest.mark.parametrize(
    ("budget", "outcome"),
    [
        ({"examples": 1}, Outcome.EXAMPLES_SPENT),
        ({"examples": 20}, Outcome.EXAMPLES_SPENT),
        ({"examples": 300}, Outcome.EXAMPLES_SPENT),
        ({"seconds": 1e-9}, Outcome.SECONDS_SPENT),
        ({"seconds": 0.05}, Outcome.SECONDS_SPENT),
    ],
)
def test_a_spent_budget_is_an_outcome(budget, outcome):
    found, used = learn("nice:m=3,k=2,d=16", budget=Budget(**budget))
    assert found.outcome is outcome
    assert used <= budget.get("examples", 10**9)
    assert np.isfinite(found.predict(np.ones((3, 2, 16)))).all()


def test_a_run_is_reproducible_and_judged():
    budget = Budget(examples=10_000)
    a, b = (run(Staged(), parse("nice:m=2,k=2,d=8").instance(3), budget) for _ in range(2))
    assert a.outcome is Outcome.SOLVED
    assert a.details["errors"] == b.details["errors"]


@pytest.mark.parametrize(
    ("x", "word"),
    [
        ([[[1.0, 2.0], [3.0]]], "ragged"),
        (np.ones((2, 2, 2), complex), "real numbers"),
        (np.full((2, 2, 2), "a"), "real numbers"),
        (np.full((2, 2, 2), 1e200), "scale them"),
    ],
)
def test_data_that_is_no_array_of_moderate_numbers_is_refused(x, word):
    for given in ({"x": x, "y": np.ones((2, 2, 2))}, {"x": np.ones((2, 2, 2)), "y": x}):
        with pytest.raises(UsageError, match=word):
            Data(**given)


def test_data_does_not_lock_the_callers_array():
    x = np.ones((2, 2, 2))
    data = Data(x=x, y=x)
    x[0, 0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        data.x[0, 0, 0] = 3.0


@pytest.mark.parametrize("w", [np.eye(3), np.full((4, 4), np.nan), np.ones(4)])
def test_an_estimate_of_another_shape_or_not_finite_is_refused(w):
    data = Data(x=np.ones((200, 2, 4)), y=np.ones((200, 2, 4)))
    for stage in (agreement, refine):
        with pytest.raises(UsageError, match=r"\(4, 4\)"):
            stage(w, data)


def test_a_learner_near_the_truth_on_its_last_example_is_left_to_the_judge():
    found, _ = learn("nice:m=2,k=2,d=16,noise=0.1", budget=Budget(examples=6000))
    assert found.details["error"] > 1e-12
    assert found.outcome is None
