"""Statements about softmax layers: predictions by a second way, measurements with a fault."""

import itertools
from math import comb, erf, sqrt

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.theory import Measured, Point, find, statement, sums
from hardness.upper.attention import columns, linearize
from instances.layer import AttentionLayer

SMALL = {  # a setting that takes a moment, and by what a measurement there is off in the fault
    "first-estimate": ({"d": 16, "estimate": "one step", "examples": 1000}, 1.5),
    "first-estimate-floor": ({"d": 8, "tokens": "boolean"}, 2.0),
    "concentration-weight": ({"d": 50, "of": "a sample"}, 0.9),
    "concentration-given-weight": ({"d": 8, "substring": 0.5}, 3.0),
    "logit-gaussian": ({"d": 8, "theta": "signs"}, 2.0),
    "logit-slices": ({"reach": 0.01, "tokens": "boolean"}, 1.5),
    "equivariance": ({"d": 8, "k": 2, "size": 0.01}, 2.0),
    "multi-index": ({"d": 8, "heads": "full"}, 2.0),
}


def test_lines_agree_at_a_small_size_and_a_measurement_that_is_off_does_not():
    for name, (at, factor) in SMALL.items():
        point = find(replace(statement(name), settings=[at])).points[0]
        assert point.verdict in ("agrees", "cannot tell"), (name, point)
        m = point.measured
        off = Measured(value=factor * m.value, low=factor * m.low, high=factor * m.high, how=m.how)
        assert Point(at=point.at, predicted=point.predicted, measured=off).verdict == "fails", name


def test_without_a_permutation_that_follows_the_tokens_equivariance_fails(monkeypatch):
    at = {"d": 8, "k": 3, "size": 0.0}
    line = replace(statement("equivariance"), settings=[at])
    assert find(line).verdict.startswith("looser")
    monkeypatch.setattr(
        AttentionLayer, "__call__", lambda self, x: np.cumsum(x, axis=1) @ self.w[0]
    )
    assert find(line).verdict == "fails"


def test_the_spread_of_weights_is_that_of_drawn_logits_and_of_a_quadrature():
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    for s in (0.5, 2.0, 4.0):
        pair = weights @ (0.5 / np.cosh(s * nodes / sqrt(2)) ** 2) / weights.sum()
        assert sums.spread(s, 2) == pytest.approx(pair, rel=1e-3)
    drawn = np.exp(3 * np.random.default_rng(0).standard_normal((100_000, 5)))
    weights = drawn / drawn.sum(axis=1, keepdims=True)
    assert sums.spread(3.0, 5) == pytest.approx(1 - (weights**2).sum(axis=1).mean(), abs=3e-3)


def test_the_bias_is_that_of_all_inputs_enumerated_by_numpy_alone():
    """Two tokens of eight signs: E[X^T J softmax(X Theta X^T) X] / k - I over all 2^16 inputs."""
    d, k, s = 8, 2, 2.0
    cube = np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    first, second = np.repeat(cube, len(cube), axis=0), np.tile(cube, (len(cube), 1))
    rng, squares = np.random.default_rng(1), []
    for _ in range(8):
        theta = rng.standard_normal((d, d))
        theta *= s / np.sqrt((theta**2).sum())
        out = np.zeros((len(first), d))
        for query in (first, second):
            gap = ((query @ theta) * (first - second)).sum(axis=1)
            weight = 1 / (1 + np.exp(-gap))[:, None]
            out += weight * first + (1 - weight) * second
        error = (first + second).T @ out / len(first) / k - np.eye(d)
        squares.append((error**2).sum() / d)
    assert sqrt(np.mean(squares)) == pytest.approx(sums.bias(k, d), rel=2 / d)
    # Small norms: Lemma 19 (b).
    for tokens in (2, 3, 4):
        assert sums.bias(tokens, 64, 1e-3) == pytest.approx(
            (tokens - 1) / tokens * 1e-3 / 8, rel=0.05
        )


def test_a_hamming_weight_shows_one_quadratic_form_of_a_logit():
    """E[x Theta x | weight of x on n places] has the variance 2 s^2 / d^2, over all Theta."""
    d, shares = 6, []
    cube = np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    rng = np.random.default_rng(0)
    for places in (3, 6):
        weight = cube[:, :places].sum(axis=1)
        alike = weight[:, None] == weight
        apart = alike / alike.sum(axis=1)
        for _ in range(1500):
            theta = rng.standard_normal((d, d))
            logit = ((cube @ theta) * cube).sum(axis=1) * 2 / np.linalg.norm(theta)
            given = apart @ logit
            shares.append(np.var(given))
    assert np.mean(shares) == pytest.approx(2 * 2**2 / d**2, rel=0.08)


def test_the_distance_of_a_logit_from_normal_is_that_of_its_atoms():
    for d in (4, 8):
        found = statement("logit-gaussian").measure(d=d, theta="identity", seed=0)
        values = np.array([sum(one) for one in itertools.product((-1, 1), repeat=d)]) / sqrt(d)
        apart = [
            abs(np.mean(values <= v + side) - (1 + erf(v / sqrt(2))) / 2)
            for v in set(values)
            for side in (-1e-9, 1e-9)
        ]
        assert found.value == pytest.approx(max(apart), abs=1e-9)
        assert found.value == pytest.approx(comb(d, d // 2) / 2 ** (d + 1), abs=1e-12)


def test_two_logits_of_signs_are_as_often_equal_as_their_tokens():
    predict = statement("logit-slices").predict
    mid = {t: predict(1e-9, t) for t in ("boolean", "gaussian")}
    assert (mid["boolean"].low + mid["boolean"].high) / 2 == pytest.approx(2**-8, rel=1e-4)
    assert mid["gaussian"].high < 1e-8
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 200_000, 8))
    size = 2 * np.linalg.norm(x, axis=1) * np.linalg.norm(x - y, axis=1)
    theta = rng.standard_normal((100_000, 64))
    theta = np.sort(np.abs(theta[:, 0]) / np.linalg.norm(theta, axis=1))
    below = np.searchsorted(theta, 0.1 / size) / len(theta)
    found = predict(0.1, "gaussian")
    assert found.high == pytest.approx(below.mean(), rel=0.03)


def test_the_gradient_in_the_tokens_is_that_of_differences():
    rng = np.random.default_rng(0)
    layer = AttentionLayer(theta=rng.normal(size=(2, 4, 4)), w=rng.normal(size=(2, 4, 4)))
    x, turned = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4))
    slope = linearize(layer.theta, layer.w, columns(x)).tokens(columns(turned))
    for place in itertools.product(range(2), range(3), range(4)):
        step = np.zeros_like(x)
        step[place] = 1e-6
        apart = (turned * (layer(x + step) - layer(x - step))).sum() / 2e-6
        assert slope[place[1], place[2], place[0]] == pytest.approx(apart, rel=1e-6, abs=1e-8)


def test_the_error_of_the_first_estimate_falls_with_d_and_not_with_the_rank():
    at = [{"d": d, "rank": rank} for d, rank in ((16, 1), (16, 4), (48, 4))]
    found = find(replace(statement("first-estimate-rank"), settings=at))
    assert all(one.verdict != "fails" for one in found.points)
    one, four, far = (point.measured.value for point in found.points)
    assert far < 0.75 * four
    assert one < four  # 1/r would be four times smaller


def test_few_values_keep_a_logit_further_from_normal_than_its_kurtosis():
    """Sums of ten signs times normal numbers, by numpy alone; without the atoms it fails."""
    rng, d, found = np.random.default_rng(0), 10, []
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    for _ in range(1000):
        u = rng.standard_normal(d)
        sums_ = np.sort(signs @ u) / np.linalg.norm(u)
        normal = np.array([(1 + erf(v / sqrt(2))) / 2 for v in sums_])
        ranks = np.arange(len(sums_) + 1) / len(sums_)
        found.append(max((ranks[1:] - normal).max(), (normal - ranks[:-1]).max()))
    said = statement("logit-gaussian").predict(d=d, theta="normal")
    assert said.low < np.mean(found) < said.high
    assert np.mean(found) > 0.0161 + 4 * np.std(found) / sqrt(1000)
