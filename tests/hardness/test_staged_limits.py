"""Spare heads, what holds beyond d = 32, and the seconds of a budget inside every stage."""

import itertools
import sys

import numpy as np
import pytest

import hardness
from hardness.oracles import Budget, ExampleOracle, Meter, Spent
from hardness.upper import Outcome
from hardness.upper.staged import (
    Data,
    Staged,
    agreement,
    constraints,
    grid,
    hull,
    moment,
    net,
    polish,
    project,
    prune,
    refine,
    single,
    span,
)
from hardness.upper.staged.body import Body, extract, least_epsilon, minimum_norm
from hardness.upper.staged.span import RowMoment
from hardness.upper.staged.stage import require_seconds
from instances import AttentionLayer, parse
from instances.errors import TooLarge


def heads(m, d, seed=0):
    theta, w = np.random.default_rng([seed, m, d]).normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    return theta, w


def labelled(theta, w, n, noise=0.0, k=2):
    rng = np.random.default_rng([n, k])
    x = rng.choice([-1.0, 1.0], (n, k, theta.shape[1]))
    y = AttentionLayer(theta=theta, w=w)(x)
    return Data(x=x, y=y + noise * rng.normal(size=y.shape))


def learn(spec, budget=None, **parameters):
    oracle = ExampleOracle(parse(spec).instance(0), Meter(budget or Budget()))
    return Staged(**parameters).learn(oracle, np.random.default_rng(0))


# Spare heads


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["nothing", "merged", "cancelling"])
def test_spare_heads_are_taken_out(kind, noise):
    theta, w = heads(2, 6)
    data = labelled(theta, w, 3000, noise)
    other, added = heads(1, 6, 1)
    if kind == "nothing":
        more, values = np.concatenate([theta, other]), np.concatenate([w, 0 * added])
    elif kind == "merged":
        more, values = np.concatenate([theta, theta[:1]]), np.concatenate([w, added])
        values[0] -= added[0]
    else:
        more, values = np.concatenate([theta, other, other]), np.concatenate([w, added, -added])
    parts = data.cut(0, 2000), data.cut(2000, 3000)
    if noise:
        fitted = polish(more, values, *parts, steps=20)
        more, values = fitted.theta, fitted.w
    found = prune(more, values, *parts, steps=20)
    assert len(found.theta) == 2
    assert found.error < (1e-20 if noise == 0 else 1.2 * noise**2 / np.mean(data.y**2))


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_weak_head_that_matters_is_kept(noise):
    theta, w = heads(3, 6)
    w[2] *= 0.1
    data = labelled(theta, w, 3000, noise)
    found = prune(theta, w, data.cut(0, 2000), data.cut(2000, 3000), steps=20)
    assert found.theta is theta


def test_without_noise_a_fit_that_is_off_says_nothing_of_spare_heads():
    """Two wrong heads of which one does as well: labels that are exact say both are wrong."""
    theta, w = heads(3, 6)
    data = labelled(theta, w, 3000)
    parts = data.cut(0, 2000), data.cut(2000, 3000)
    wrong = np.stack([theta.mean(axis=0)] * 2), np.stack([w.sum(axis=0) / 2] * 2)
    assert len(prune(*wrong, *parts, steps=5, noisy=False).theta) == 2
    assert len(prune(*wrong, *parts, steps=5, noisy=True).theta) == 1


@pytest.mark.parametrize("noise", ["0", "1/10"])
def test_the_learner_with_four_heads_ends_with_the_two_there_are(noise):
    found = learn(f"nice:m=2,k=2,d=8,noise={noise}", Budget(examples=20_000), heads=4)
    assert found.details["heads"] == found.layer.m == 2
    assert found.details["spare"] == "2 of 4 heads"
    assert found.details["error"] < (1e-20 if noise == "0" else 0.02)
    kept = learn(f"nice:m=2,k=2,d=8,noise={noise}", Budget(examples=20_000), heads=2)
    assert (kept.details["heads"], kept.details["spare"]) == (2, None)


# Beyond d = 32


def test_the_span_by_products_is_that_by_matrices(monkeypatch):
    theta, w = heads(3, 12)
    data = labelled(theta, w, 15_000)
    found = constraints(refine(moment(data).w, data).agreement, data)
    by_matrices = span(found, data)
    monkeypatch.setattr(sys.modules["hardness.upper.staged.span"], "MATRIX_D", 8)
    by_products = span(found, data)
    assert by_products.heads == by_matrices.heads == 3
    assert by_products.gap == pytest.approx(by_matrices.gap, rel=0.3)
    one, other = (a.directions.reshape(2, -1) for a in (by_matrices, by_products))
    assert np.linalg.svd(one @ other.T, compute_uv=False).min() > 0.995


def test_the_operator_of_the_constraints_is_their_matrix():
    theta, w = heads(2, 5)
    data = labelled(theta, w, 400, k=3)
    found = constraints(agreement(w.sum(axis=0), data), data)
    matrix = found.weights[:, None] * found.u
    np.testing.assert_allclose(found.operator() @ np.eye(25), matrix, atol=1e-12)
    np.testing.assert_allclose(found.operator().H @ np.eye(len(found)), matrix.T, atol=1e-12)
    assert found.trace == pytest.approx(np.sum(matrix**2))


def test_the_law_of_all_rows_is_what_data_shows():
    x = np.random.default_rng(0).normal(0.0, 0.1, (40_000, 3, 4))
    data = Data(x=x, y=x)
    law = RowMoment.of(data)
    half = np.stack([law.whiten(unit) for unit in np.eye(16)])
    shown = np.zeros((16, 16))
    for a, i, j in itertools.product(range(3), repeat=3):
        u = data.x[:, a, :, None] * (data.x[:, i] - data.x[:, j])[:, None]
        shown += np.tensordot(u, u, axes=(0, 0)).reshape(16, 16) / (18 * len(data))
    np.testing.assert_allclose(half @ shown @ half, np.eye(16), atol=0.05)


@pytest.mark.parametrize("m", [1, 2])
def test_layers_beyond_32_are_learned(m):
    found = learn(f"nice:m={m},k=2,d=33")
    assert found.outcome is None
    assert found.details["heads"] == m
    assert found.details["error"] < 1e-20


@pytest.mark.parametrize(
    ("d", "parameters", "taken"),
    [(256, {}, True), (257, {}, False), (128, {"heads": 2}, True), (129, {"heads": 2}, False)],
)
def test_the_limits_are_said_before_it_starts(d, parameters, taken):
    refused = Staged(**parameters).supports(parse(f"nice:m=2,k=2,d={d}"))
    assert (refused is None) == taken
    assert taken or "at most 256 for one head and 128 for several" in refused


def test_a_long_run_is_announced(hardness):
    short = ("--budget-seconds", "0.01", "--quiet")
    said = hardness("learn", "staged", "nice:m=1,k=2,d=128", *short[:2]).err
    assert "staged at d=128 takes about 1 min and" in said
    assert "for two, on one core" in said
    assert hardness("learn", "staged", "nice:m=1,k=2,d=128", *short).err == ""
    assert "takes" not in hardness("learn", "staged", "nice:m=1,k=2,d=48", *short[:2]).err
    assert "two" not in Staged().forecast(parse("nice:m=1,k=2,d=200"))


def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setattr("instances.limits.available_memory", lambda: 1 << 20)
    with pytest.raises(TooLarge, match="d=16 with 1024 examples needs"):
        learn("nice:m=1,k=2,d=16")


# Seconds


class Ending:
    """A clock that ends after some questions."""

    def __init__(self, questions):
        self.left = questions

    def __call__(self):
        self.left -= 1
        if self.left < 0:
            raise Spent("seconds")
        return np.inf


class Counting(Meter):
    """A meter to which every question takes a second."""

    asked = 0.0

    @property
    def seconds(self):
        self.asked += 1
        return self.asked


def test_every_stage_asks_the_clock_and_ends_with_it():
    theta, w = heads(2, 6)
    data = labelled(theta, w, 4000)
    validation, rng = data.cut(0, 500), np.random.default_rng(0)
    crude = moment(data).w
    agreed = refine(crude, data).agreement
    found = constraints(agreed, data)
    centre, directions = hull(found).centre, span(found, data, heads=2).directions
    leaders = net(centre, directions, data, validation, rng).leaders
    small = constraints(agreed, data, rows=60)
    u, b = small.u, small.b
    body = Body(u=u, b=b, epsilon=1.5 * least_epsilon(u, b, 8.0)[0], bound=8.0)
    stages = [
        lambda clock: moment(data, clock),
        lambda clock: agreement(crude, data, clock),
        lambda clock: refine(crude, data, clock=clock),
        lambda clock: single(crude, data, validation, clock),
        lambda clock: constraints(agreed, data, clock=clock),
        lambda clock: hull(found, clock=clock),
        lambda clock: span(found, data, clock=clock),
        lambda clock: net(centre, directions, data, validation, rng, clock),
        lambda clock: project(centre, directions, leaders, data, validation, clock),
        lambda clock: prune(theta, w, data, validation, 5, clock=clock),
        lambda clock: grid(centre, directions, data, validation, clock),
        lambda clock: least_epsilon(u, b, 8.0, clock),
        lambda clock: minimum_norm(body, clock),
        lambda clock: extract(body, 2, rng, clock=clock),
    ]
    for stage in stages:
        with pytest.raises(Spent, match="seconds"):
            stage(Ending(0))
    for stage in (stages[i] for i in (0, 2, 3, 5, 7, 8, 10, 13)):
        clock = Ending(3)
        with pytest.raises(Spent, match="seconds"):
            stage(clock)
        assert clock.left == -1


def test_what_cannot_be_stopped_is_not_started():
    require_seconds(lambda: 2.0, 1.0)
    with pytest.raises(Spent, match="seconds"):
        require_seconds(lambda: 1.0, 2.0)
    with pytest.raises(Spent, match="seconds"):
        least_epsilon(np.eye(4), np.ones(4), 8.0, lambda: 1e-9)


@pytest.mark.parametrize(
    ("spec", "parameters"),
    [("nice:m=3,k=2,d=16", {}), ("nice:m=2,k=2,d=12", {"mode": "paper"}), ("nice:m=2,k=9,d=8", {})],
)
def test_the_best_layer_so_far_is_what_is_left_at_the_end_of_the_seconds(spec, parameters):
    oracle = ExampleOracle(parse(spec).instance(0), Counting(Budget(seconds=60)))
    found = Staged(**parameters).learn(oracle, np.random.default_rng(0))
    assert found.outcome is Outcome.SECONDS_SPENT
    assert found.layer is not None
    assert found.details["error"] < 1


def test_a_small_vocabulary_is_not_asked_for_more_examples():
    rng = np.random.default_rng(1)
    layer = AttentionLayer(
        theta=4 * rng.standard_normal((3, 6, 6)), w=rng.standard_normal((3, 6, 6))
    )
    found = hardness.learn("staged", teacher=layer, tokens=rng.standard_normal((8, 6)), seed=1)
    assert "only 64 are different" in found.details["failed"]
    assert found.details["needs"] is None
