"""Stage 6 and the polish, against planted layers and planted hulls."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from hardness.oracles import Spent
from hardness.upper.attention import columns, linearize
from hardness.upper.staged.data import Data, relative_error
from hardness.upper.staged.net import net
from hardness.upper.staged.polish import enough, polish
from hardness.upper.staged.projection import project
from instances import AttentionLayer, UsageError

CASES = [(2, 2, 16, 0.02), (2, 3, 12, 0.024), (3, 2, 16, 0.07), (3, 3, 16, 0.12), (4, 2, 16, 0.18)]
ERRORS = [1e-3, 1e-3, 5e-3, 2e-2, 3e-2]


def planted(m, d, seed=0):
    rng = np.random.default_rng([seed, m, d])
    theta, w = rng.normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    return AttentionLayer(theta=theta, w=w)


def labelled(layer, n, k, seed=0, noise=0.0, gaussian=False):
    rng = np.random.default_rng([seed, n, k])
    shape = (n, k, layer.d)
    x = rng.normal(size=shape) if gaussian else rng.choice([-1.0, 1.0], shape)
    return Data(x=x, y=layer(x) + noise * rng.normal(size=shape))


@dataclass(frozen=True)
class Hull:
    """The affine hull of a layer's heads, every direction turned by an angle of a given sine."""

    centre: np.ndarray
    directions: np.ndarray


def hull(layer, sine=0.0, seed=0):
    m, d = layer.m, layer.d
    rng = np.random.default_rng([seed, m, d, 1])
    flat = layer.theta.reshape(m, d * d)
    span = np.linalg.qr((flat[1:] - flat[0]).T)[0].T
    centre = flat[0] - span.T @ (span @ flat[0])
    basis = np.linalg.qr(np.vstack([span, centre, rng.normal(size=(m, d * d))]).T)[0].T
    turned = np.sqrt(1 - sine**2) * span + sine * basis[m : 2 * m - 1]
    turned = np.linalg.qr(rng.normal(size=(m - 1, m - 1)))[0] @ turned
    moved = centre + sine / 2 * np.linalg.norm(centre) * basis[-1]
    return Hull(moved.reshape(d, d), turned.reshape(m - 1, d, d))


def fitted(layer, found, data, validation, seed=0):
    start = net(found.centre, found.directions, data, validation, np.random.default_rng(seed))
    return start, project(found.centre, found.directions, start.leaders, data, validation)


@pytest.mark.parametrize(("k", "gaussian"), [(2, False), (3, True)])
def test_the_jacobian_is_that_of_the_layer_and_the_adjoint_is_its_adjoint(k, gaussian):
    layer = planted(3, 5)
    rng = np.random.default_rng(1)
    data = labelled(layer, 7, k, gaussian=gaussian)
    x = columns(data.x)
    at = linearize(layer.theta, layer.w, x)
    np.testing.assert_allclose(at.value, columns(layer(data.x)), atol=1e-13)
    theta, w = rng.normal(size=(2, 3, 5, 5))
    h = 1e-6
    ahead, behind = (linearize(layer.theta + t * theta, layer.w + t * w, x).value for t in (h, -h))
    product = at.product(theta, w)
    np.testing.assert_allclose(product, (ahead - behind) / (2 * h), atol=1e-8)
    cotangent = rng.normal(size=at.value.shape)
    back_theta, back_w = at.adjoint(cotangent)
    inner = np.sum(back_theta * theta) + np.sum(back_w * w)
    assert np.sum(product * cotangent) == pytest.approx(inner, rel=1e-12)


@pytest.mark.parametrize(("case", "error"), list(zip(CASES, ERRORS, strict=True)))
def test_heads_are_found_from_a_hull_that_is_off(case, error):
    m, k, d, sine = case
    layer = planted(m, d)
    data, validation = labelled(layer, enough(m, k, d), k), labelled(layer, 500, k, 1)
    start, projected = fitted(layer, hull(layer, sine), data, validation)
    for part in (start, projected):
        fit = AttentionLayer(theta=part.theta, w=part.w)
        assert part.error == pytest.approx(relative_error(fit(validation.x), validation.y))
    assert projected.error < min(error, start.error)
    end = polish(projected.theta, projected.w, data, validation)
    assert end.error < 1e-27
    assert end.end == "exact"
    assert end.history[-1] == min(end.history)
    again = AttentionLayer(theta=end.theta, w=end.w)
    assert relative_error(again(validation.x), validation.y) < 1e-27


def test_opposite_heads_whose_mean_is_zero():
    layer = planted(2, 8)
    layer = AttentionLayer(theta=np.stack([layer.theta[0], -layer.theta[0]]), w=layer.w)
    data, validation = labelled(layer, enough(2, 2, 8), 2), labelled(layer, 200, 2, 1)
    start, projected = fitted(layer, hull(layer), data, validation)
    assert projected.error < 1e-9
    assert np.abs(start.coefficients).max() > 1.5  # the heads are at 2 and -2


@pytest.mark.parametrize(("k", "gaussian"), [(2, True), (4, False), (3, True)])
def test_the_polish_ends_at_the_floor_of_the_noise(k, gaussian):
    """The excess over the noise is that of least squares: parameters / numbers, relative."""
    m, d, noise = 2, 8, 0.05
    layer = planted(m, d)
    data, validation = (
        labelled(layer, n, k, seed, noise, gaussian) for seed, n in ((0, 3000), (1, 1000))
    )
    rng = np.random.default_rng(0)
    start = (part * (1 + 0.3 * rng.normal(size=part.shape)) for part in (layer.theta, layer.w))
    end = polish(*start, data, validation)
    assert end.end == "flat"
    clean = labelled(layer, 1000, k, 1, 0.0, gaussian)
    excess = relative_error(AttentionLayer(theta=end.theta, w=end.w)(clean.x), clean.y)
    expected = noise**2 * 2 * m * d * d / (3000 * k * d) / np.mean(clean.y**2)
    assert 0.5 < excess / expected < 2
    floor = noise**2 / np.mean(validation.y**2)
    assert end.error == pytest.approx(floor, rel=0.1)


def test_the_polish_stops_when_it_is_told_to_and_keeps_what_it_has():
    layer = planted(2, 8)
    data, validation = labelled(layer, 300, 2), labelled(layer, 100, 2, 1)

    def after(products):
        calls = itertools.count()

        def clock():
            if next(calls) == products:
                raise Spent("seconds")
            return np.inf

        return polish(layer.theta * 0.7, layer.w, data, validation, clock=clock)

    some, none = after(80), after(0)
    assert some.end == none.end == "stopped"
    assert 0 < some.steps < 10
    assert some.error < 0.01
    assert none.steps == 0
    assert (none.theta == layer.theta * 0.7).all()
    two = polish(layer.theta * 0.7, layer.w, data, validation, steps=2)
    assert (two.end, two.steps) == ("steps", 2)


@pytest.mark.parametrize("w", [0.0, 1.0])
def test_the_polish_bears_heads_that_are_alike_or_nothing(w):
    layer = planted(2, 6)
    data = labelled(layer, 300, 2)
    theta = np.stack([layer.theta[0]] * 2)
    end = polish(theta, w * np.stack([layer.w[0]] * 2), data, data, steps=5)
    assert np.isfinite(end.theta).all()
    assert end.error <= end.history[0]


def test_a_hull_of_another_shape_is_refused():
    data = labelled(planted(2, 4), 10, 2)
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match=r"a hull of shapes \(3, 3\)"):
        net(np.eye(3), np.zeros((1, 3, 3)), data, data, rng)
    with pytest.raises(UsageError, match="are needed for tokens of dimension 4"):
        project(np.eye(4), np.zeros((4, 4)), np.zeros((1, 2, 1)), data, data)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_labels_of_zero_and_few_examples_do_no_harm(n):
    layer = planted(3, 5)
    found = hull(layer)
    for data in (labelled(layer, n, 2), Data(x=np.ones((n, 2, 5)), y=np.zeros((n, 2, 5)))):
        _, projected = fitted(layer, found, data, data)
        end = polish(projected.theta, projected.w, data, data, steps=5)
        assert np.isfinite(end.theta).all()
        assert np.isfinite(end.w).all()
