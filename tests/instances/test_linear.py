"""Linear attention as a cubic map, and its power."""

import itertools

import numpy as np
import pytest

from instances import AttentionLayer
from instances.cubic import coefficients, evaluate, power, reach


def heads(m, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, d, d)), rng.standard_normal((m, d, d))


def signs(k, d):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=k * d))).reshape(-1, k, d)


def definition(theta, w, x):
    """By the formula, head by head and example by example."""
    return np.array([sum(a @ t @ a.T @ a @ v for t, v in zip(theta, w, strict=True)) for a in x])


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 3), (4, 3, 5), (20, 4, 2)])
def test_the_layer_is_its_cubic_map(m, k, d):
    theta, w = heads(m, d)
    x = np.random.default_rng(1).standard_normal((50, k, d))
    wanted = definition(theta, w, x)
    scale = np.abs(wanted).max()
    layer = AttentionLayer(theta=theta, w=w, kind="linear")
    assert np.abs(layer(x) - wanted).max() < 1e-13 * scale
    assert np.abs(evaluate(coefficients(theta, w), x) - wanted).max() < 1e-13 * scale


def test_only_the_symmetric_part_is_seen():
    """Layers whose Theta column and W row are exchanged are one function."""
    d = 3
    first, second = np.zeros((1, d, d)), np.zeros((1, d, d))
    theta, w = first.copy(), second.copy()
    theta[0, 0, 1], w[0, 2, 0] = 1.0, 1.0  # x_0 S_12
    other, v = first.copy(), second.copy()
    other[0, 0, 2], v[0, 1, 0] = 1.0, 1.0  # x_0 S_21
    assert (coefficients(theta, w) == coefficients(other, v)).all()
    x = np.random.default_rng(0).standard_normal((5, 2, d))
    assert np.allclose(definition(theta, w, x), definition(other, v, x), atol=1e-14)


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 1), (2, 2, 3), (3, 3, 3), (2, 4, 2), (1, 2, 5)])
def test_power_on_signs_is_the_mean_over_all_of_them(m, k, d):
    theta, w = heads(m, d, seed=k)
    x = signs(k, d)
    wanted = (definition(theta, w, x) ** 2).sum() / len(x)
    assert power(coefficients(theta, w), k, "boolean") == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 1), (2, 2, 3), (3, 3, 2)])
def test_power_on_normal_tokens_is_that_of_quadrature(m, k, d):
    """Gauss-Hermite nodes of four points are exact up to degree 7, and a row has degree 6."""
    theta, w = heads(m, d, seed=k)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    x = np.array(list(itertools.product(nodes, repeat=k * d))).reshape(-1, k, d)
    mass = np.array(list(itertools.product(weights, repeat=k * d))).prod(axis=1)
    wanted = (mass * (definition(theta, w, x) ** 2).sum(axis=(1, 2))).sum()
    assert power(coefficients(theta, w), k, "gaussian") == pytest.approx(wanted, rel=1e-10)


def test_rows_stay_within_reach():
    theta, w = heads(3, 4)
    cubic = coefficients(theta, w)
    x = np.random.default_rng(0).standard_normal((5000, 2, 4))
    rows = np.linalg.norm(evaluate(cubic, x), axis=2)
    grams = np.linalg.norm(x @ x.transpose(0, 2, 1), axis=(1, 2))
    share = rows / (np.linalg.norm(x, axis=2) * grams[:, None])
    assert 0.3 * reach(cubic) < share.max() <= reach(cubic)
