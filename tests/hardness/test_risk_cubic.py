"""The risk on linear attention: exact scale, tilted tokens, intervals that cover."""

import numpy as np
import pytest

from hardness.compare import measure
from hardness.compare.risk.cubic import _lengths, _sixth_moment, _tilted
from hardness.compare.run import SOLVED_BELOW
from instances import parse
from instances.cubic import coefficients, power

SPECS = ["linear:m=2,k=2,d=4", "linear:m=5,k=3,d=3,noise=0.5", "linear:m=2,k=2,d=4,tokens=boolean"]


@pytest.mark.parametrize("spec", SPECS)
def test_known_risks_are_inside_their_intervals(spec):
    instance = parse(spec).instance(1)
    layer = instance.layer()
    for size, wanted in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.25)):
        found = measure(instance, lambda x, size=size: size * layer(x), confidence=0.99)
        assert found.low <= wanted <= found.high
        assert found.value == pytest.approx(wanted, abs=0.05)
        assert found.high - found.low < 0.4
    assert measure(instance, layer).high < SOLVED_BELOW


def test_the_tilt_leaves_means_as_they_are():
    """E f(X) under the normal law equals the weighted mean under the tilted one."""
    instance = parse("linear:m=1,k=2,d=2").instance(0)
    x, weight = _tilted(instance, instance.family, 0, 400_000)
    for f, wanted in (
        (lambda x: np.ones(len(x)), 1.0),
        (lambda x: (x**2).sum(axis=(1, 2)), 4.0),
        (lambda x: x[:, 0, 0] ** 4, 3.0),
        (lambda x: (x**2).sum(axis=(1, 2)) ** 3, _sixth_moment(4, "gaussian")),
    ):
        values = f(x) * weight
        assert abs(values.mean() - wanted) <= 4 * values.std() / np.sqrt(len(x)) + 1e-9


def test_no_weighted_loss_exceeds_its_bound():
    """The sum of squared lengths of the rows is at most |X|^6."""
    x = np.random.default_rng(0).standard_normal((10_000, 3, 2))
    share = (_lengths(x) ** 2).sum(axis=1) / (x**2).sum(axis=(1, 2)) ** 3
    assert 0.3 < share.max() <= 1 + 1e-12
    parallel = np.ones((1, 3, 2))
    assert (_lengths(parallel) ** 2).sum() == pytest.approx(6.0**3)


def test_the_interval_covers_a_risk_that_is_known_by_the_power():
    """Against a hypothesis with another Theta the risk is a ratio of two exact powers."""
    misses = 0
    family = parse("linear:m=1,k=2,d=3")
    for seed in range(60):
        instance = family.instance(seed)
        layer = instance.layer()
        given = type(layer)(theta=layer.theta + 0.2, w=layer.w, kind="linear")
        away = coefficients(layer.theta - given.theta, layer.w)
        truth = power(away, 2, "gaussian") / power(
            coefficients(layer.theta, layer.w), 2, "gaussian"
        )
        found = measure(instance, given, examples=4000, confidence=0.8)
        misses += not found.low <= truth <= found.high
        assert found.value == pytest.approx(truth, rel=0.2)
    assert misses <= 12


def test_wild_predictions_are_projected():
    instance = parse("linear:m=2,k=2,d=4").instance(0)
    wild = measure(instance, lambda x: np.full(x.shape, 1e200))
    assert 1 < wild.value < 1e3
    assert wild.unclipped is None
    assert measure(instance, lambda x: np.full(x.shape, np.nan)) is None
