"""Rules of descent, gradients on sampled prompts, and losses integrated exactly."""

import math

import numpy as np
import pytest
from cubature import cubature, hessian
from rules import Adam, Momentum, State, clipped
from sampled import batch, loss_and_gradient, predict, sample

from hardness.icl import gram
from hardness.icl.prompts import Prompts
from hardness.icl.steps import best_scalars
from hardness.icl.wishart import moments
from instances.streams import generator
from tests.slopes import slopes_agree

LAW = Prompts.named(3, 5, "rotated(1,2,0.5)", "toeplitz(0.3)", 0.3)
WIDE = Prompts.named(4, 7, "rotated(0.5,1,2,3)", "toeplitz(0.6)", 0.7)
PLAIN = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))


def walk(rule, gradients):
    state, steps = State(), []
    for gradient in gradients:
        state, step = rule(state, gradient)
        steps.append(step)
    return np.array(steps)


@pytest.fixture(scope="module")
def gradients():
    return np.random.default_rng(0).standard_normal((6, 4))


def test_momentum_is_a_weighted_sum_of_all_gradients(gradients):
    weights = np.array([[0.7 ** (t - s) if s <= t else 0.0 for s in range(6)] for t in range(6)])
    assert np.allclose(walk(Momentum(rate=0.3, decay=0.7), gradients), -0.3 * weights @ gradients)
    assert np.allclose(walk(Momentum(rate=0.3, decay=0.0), gradients), -0.3 * gradients)


def test_adam_is_a_ratio_of_weighted_means(gradients):
    def mean(decay, values):
        weights = np.array([[decay ** (t - s) * (s <= t) for s in range(6)] for t in range(6)])
        return weights @ values / weights.sum(axis=1, keepdims=True)

    expected = -0.1 * mean(0.9, gradients) / (np.sqrt(mean(0.99, gradients**2)) + 1e-3)
    found = walk(Adam(rate=0.1, first=0.9, second=0.99, eps=1e-3), gradients)
    assert np.allclose(found, expected)


def test_clipping_shortens_and_keeps_the_direction(gradients):
    for limit in (0.1, 1.0, 100.0, math.inf):
        short = clipped(gradients, limit)
        assert np.linalg.norm(short) == pytest.approx(min(limit, np.linalg.norm(gradients)))
        assert (short * gradients >= 0).all()


def layers(count, d, seed=1):
    return 0.4 * np.random.default_rng(seed).standard_normal((count, 2, d, d))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_predictions_are_those_of_the_layers_token_by_token(count):
    theta, drawn = layers(count, 3), LAW.draw(0, "test", 0, 20)
    expected = gram.Layers(p=theta[:, 0], q=theta[:, 1]).predict(drawn.x, drawn.y)
    found = predict(theta, batch(drawn.x, drawn.y, drawn.target))
    assert np.allclose(found, expected, rtol=1e-10)
    data = sample(LAW, np.random.default_rng(2), 40)
    slopes_agree(lambda x: loss_and_gradient(x, data)[0], loss_and_gradient(theta, data)[1], theta)


def test_the_mean_of_sampled_losses_is_the_exact_one():
    theta, count = layers(2, 3, 5) / 2, 40_000
    data = sample(LAW, np.random.default_rng(5), count)
    errors = (predict(theta, data) - data.target) ** 2
    fresh = sample(LAW, np.random.default_rng(6), count).grams.transpose(2, 0, 1)
    exact = gram.losses(theta[:, 0], theta[:, 1], np.ascontiguousarray(fresh), LAW)
    spread = math.sqrt((errors.var() + exact.var()) / count)
    assert abs(errors.mean() - exact.mean()) < 4 * spread
    assert spread < 0.05 * exact.mean()


def test_heavy_tailed_points_have_the_norms_they_should():
    # |x|^2 ~ Gamma(k, sqrt(2 d / k)): mean sqrt(2 d k), variance 2 d; k = d / 2 is Gaussian
    for shape, mean in ((0.1, 1.0), (2.5, 5.0)):
        data = sample(PLAIN, np.random.default_rng(7), 40_000, shape)
        squares = (data.query**2).sum(axis=0)
        assert abs(squares.mean() - mean) < 4 * math.sqrt(10 / 40_000)
        assert squares.var() == pytest.approx(10, rel=0.3)
    plain = sample(PLAIN, np.random.default_rng(8), 40_000).query
    assert np.quantile(squares, 0.9) == pytest.approx(np.quantile((plain**2).sum(0), 0.9), rel=0.03)


def test_exact_rules_have_the_moments_of_wishart_and_the_loss_of_scalar_layers():
    for n, d in ((5, 1), (9, 2), (4, 3)):
        grams, weights = cubature(n, d, 4)
        powers = [np.trace(np.linalg.matrix_power(grams, k), axis1=1, axis2=2) for k in range(7)]
        exact = [float(int(m.p) / int(m.q)) * d for m in moments(n, d, 6)]
        assert [weights @ power for power in powers[:5]] == pytest.approx(exact[:5], rel=1e-12)
        assert weights @ powers[6] < exact[6] * (1 - 1e-6)  # beyond its degree it falls short
    found = best_scalars(9, 2, 2)
    p, q = (np.array(v)[:, None, None] * np.eye(2) for v in (found.p, found.q))
    grams, weights = cubature(9, 2, 8)
    law = Prompts(n=9, sigma=np.eye(2), task=np.eye(2))
    loss, *slopes = gram.loss_and_gradient(p, q, grams, law, weights)
    assert loss == pytest.approx(float(found.loss), rel=1e-12)
    assert np.abs(slopes).max() < 1e-7


@pytest.mark.parametrize("free", ["q", "both"])
def test_weighted_gradients_and_second_derivatives_are_those_of_differences(free):
    moving, q = 0.3 * generator(0, "layers").normal(size=(2, 3, 4, 4))
    p = moving if free == "both" else None
    grams, weights = (
        gram.sample(WIDE, 0, "hessian", 30),
        generator(0, "weights").uniform(size=30),
    )
    many = np.repeat(grams, [2, *[1] * 29], axis=0)
    twice = np.array([2.0, *[1.0] * 29]) / 31
    for one, two in zip(
        gram.loss_and_gradient(p, q, many, WIDE),
        gram.loss_and_gradient(p, q, grams, WIDE, twice),
        strict=True,
    ):
        assert two == pytest.approx(one, rel=1e-10, abs=1e-10)
    found = hessian(p, q, grams, WIDE, weights)
    kept = 3 * 4 * 4 + (p is not None) * 2 * 4 * 4
    x = np.concatenate([q.ravel(), moving.ravel()])

    def slope(x):
        q, moved = x.reshape(2, 3, 4, 4)
        _, dp, dq = gram.loss_and_gradient(None if p is None else moved, q, grams, WIDE, weights)
        return np.concatenate([dq.ravel(), dp.ravel()])[:kept]

    assert found.shape == (kept, kept)
    for i in (0, 5, kept - 1):
        step = 1e-5 * np.eye(len(x))[i]
        near = (slope(x + step) - slope(x - step)) / 2e-5
        assert found[i] == pytest.approx(near, rel=1e-5, abs=1e-6 * np.abs(near).max())
