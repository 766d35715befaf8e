"""Statements about learning in stages: their predictions by other ways, and what refuses them."""

import itertools
import math

import numpy as np
import pytest

from hardness.theory import Point, Predicted, stages, statement
from hardness.theory.statement import mean


def softmax_layer(theta, w, x):
    """A layer by its formula: theta, w (m, d, d) and x (n, k, d)."""
    weights = np.exp(np.einsum("nad,mde,nbe->nmab", x, theta, x))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("nmab,nbd,mde->nae", weights, x, w, optimize=True)


def numbers(theta, w):
    return np.concatenate([theta.ravel(), w.ravel()])


def slopes(theta, w, x):
    """Derivatives of all labels in all numbers of the heads, by central differences."""
    flat, step, columns = numbers(theta, w), 1e-5, []
    for i in range(flat.size):
        sides = []
        for sign in (1, -1):
            moved = flat.copy()
            moved[i] += sign * step
            halves = moved.reshape(2, *theta.shape)
            sides.append(softmax_layer(*halves, x).ravel())
        columns.append((sides[0] - sides[1]) / (2 * step))
    return np.stack(columns, axis=1)


def test_the_floor_of_noise_is_that_of_least_squares_on_the_slopes():
    rng = np.random.default_rng(0)
    theta, w = rng.normal(size=(2, 2, 3, 3)) * 0.5
    x, fresh = (rng.choice([-1.0, 1.0], size=(n, 2, 3)) for n in (400, 400))
    known, unseen = slopes(theta, w, x), slopes(theta, w, fresh)
    floor = np.trace(np.linalg.inv(known.T @ known) @ (unseen.T @ unseen)) / len(fresh)
    unknowns = theta.size + w.size
    assert np.linalg.matrix_rank(known) == unknowns
    assert floor == pytest.approx(unknowns / len(x), rel=0.1)
    told = statement("noise-floor").predict(sigma=0.3, examples=8000)
    assert told.low == told.high == pytest.approx(0.09 * 2 * 2 * 49 / 7000)


def test_counted_examples_are_those_that_unknowns_ask_for():
    for layer, m, k, d in (("m=2,k=2", 2, 2, 9), ("m=4,k=2", 4, 2, 6), ("m=3,k=4", 3, 4, 5)):
        enough = (n for n in itertools.count(1) if n * k * d >= 2 * m * d * d)
        ratios = (n for n in itertools.count(1) if n * k * (k - 1) >= d * d)
        low = statement("examples-counted").predict(layer=layer, d=d).low
        assert math.ceil(low) == max(next(enough), next(ratios))


def test_stages_fail_where_fewer_entries_are_left_than_agreement_asks_for():
    predict = statement("examples-tokens").predict
    assert [predict(k=k).low for k in (2, 5, 6, 7)] == [None, None, None, 1 << 16]
    enough = stages.median([(8192, 16384, "confirmed")] * 6, "layers")
    assert Point(at={"k": 7}, predicted=predict(k=7), measured=enough).verdict == "fails"


def test_thresholds_are_searched_and_their_median_bounded(monkeypatch):
    for least in (100, 5000):
        monkeypatch.setattr(
            stages, "learned", lambda learner, instance, n, least=least: (None, float(n < least))
        )
        low, high, end = stages.bracket("staged", None, 0.05)
        assert low < least <= high
        assert end == "confirmed"
    monkeypatch.setattr(stages, "learned", lambda learner, instance, n: (None, 1.0))
    over = stages.bracket("staged", None, 0.05)
    assert over == (1 << 16, None, "over")
    found = stages.median([over] * 6, "layers")
    assert (found.low, found.high) == (1 << 16, None)


def test_an_error_is_that_of_fresh_examples_without_noise():
    (one,) = stages._instances("nice:m=1,k=2,d=4,noise=1", 0, 1)
    _, error = stages.learned("levenberg", one, 60)
    assert error > 0.01
    found, exact = stages.learned("levenberg", stages._instances("nice:m=1,k=2,d=4", 0, 1)[0], 60)
    assert exact < 1e-20
    assert found.layer


def test_what_is_measured_decides():
    every = stages._instances
    stages._instances = lambda spec, seed, count: every(spec, seed, min(count, 6))
    try:
        open_heads = stages._open("one Θ", 2, seed=1)
        random = stages._open("random", 2, seed=1)
    finally:
        stages._instances = every
    assert (open_heads.value, random.value) == (1, 1)
    assert stages._predict_open("one Θ", 2).low == 1
    off = mean([1.9, 2.0, 2.1], "layers")
    assert Point(at={}, predicted=Predicted(high=0.0), measured=off).verdict == "fails"


def test_bounds_that_no_run_could_break_are_not_predicted():
    heads = statement("examples-heads").predict
    assert [heads(m=m).high for m in (1, 2, 4)] == [18**2, None, None]
    error = statement("error-heads").predict
    assert error(m=3, examples="growing").high is None
    assert not error(m=3, examples="fixed").within
