"""The risk on linear attention: exact scale, tilted tokens, intervals that cover."""

import numpy as np
import pytest

from hardness.runs import measure
from hardness.runs.risk import _sixth_moment, _tilted, chernoff, lengths
from hardness.runs.run import SOLVED_BELOW
from instances import parse
from instances.cubic import coefficients, power, reach

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
    share = (lengths(x) ** 2).sum(axis=1) / (x**2).sum(axis=(1, 2)) ** 3
    assert 0.3 < share.max() <= 1 + 1e-12
    parallel = np.ones((1, 3, 2))
    assert (lengths(parallel) ** 2).sum() == pytest.approx(6.0**3)


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


@pytest.mark.parametrize("tokens", ["gaussian", "boolean"])
def test_the_radius_of_a_perfect_hypothesis_is_that_of_its_range(tokens):
    """With d = 1 a loss is at most 4 |F|^2, and |F|^2 is |X|^6 times a constant: the range is 4."""
    instance = parse(f"linear:m=1,k=2,d=1,tokens={tokens}").instance(0)
    found = measure(instance, instance.layer(), examples=5000, confidence=0.95)
    assert found.low == 0
    assert found.high == pytest.approx(4 * (1 - 80 ** (-1 / 5000)))
    layer = instance.layer()  # and the largest loss is met
    worst = measure(instance, lambda x: -1e6 * layer(x), examples=5000)
    assert worst.value == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("spec", ["linear:m=3,k=2,d=3", "linear:m=1,k=3,d=2,tokens=boolean"])
def test_the_range_holds_for_every_prediction(spec):
    """|F(X)_a| <= r |x_a| |S| with the largest singular value r, and it is nearly met."""
    instance = parse(spec).instance(0)
    layer, family = instance.layer(), instance.family
    cubic = coefficients(layer.theta, layer.w)
    largest = np.linalg.svd(cubic.reshape(-1, family.d), compute_uv=False)[0]
    x = family.inputs(0, "any", 0, 20_000).astype(float)
    share = np.sqrt((layer(x) ** 2).sum(axis=2)) / lengths(x)
    assert 0.3 * largest < share.max() <= reach(cubic) * (1 + 1e-12)
    assert reach(cubic) == pytest.approx(largest)
    wrong = measure(instance, lambda x: -1e9 * layer(x), examples=5000)
    scale = power(cubic, family.k, family.tokens)
    bound = 4 * largest**2 * _sixth_moment(family.k * family.d, family.tokens) / scale
    assert wrong.value <= bound
    right = measure(instance, layer, examples=5000)
    assert right.high == pytest.approx(bound * (1 - 80 ** (-1 / 5000)))


@pytest.mark.parametrize(("n", "hits"), [(20, 0), (20, 3), (500, 250), (500, 499), (40, 40)])
def test_the_bound_by_relative_entropy_holds_the_exact_one(n, hits):
    """For values 0 and b Clopper and Pearson's interval is exact; ours is not far around it."""
    from scipy.stats import binomtest

    values = 3.0 * (np.arange(n) < hits)
    low, high = chernoff(values, 3.0, 0.9)
    exact = binomtest(hits, n).proportion_ci(0.9)
    assert low <= 3 * exact.low + 1e-12
    assert high >= 3 * exact.high - 1e-12
    assert high - low < 1.6 * 3 * (exact.high - exact.low)


def test_a_hypothesis_may_write_into_what_it_gets():
    for spec in ("linear:m=2,k=2,d=3", "nice:m=1,k=2,d=4,noise=0.1", "parity:d=8,m=3"):
        instance = parse(spec).instance(0)

        def predict(x, layer=instance.layer()):  # noqa: B008
            y = layer(x)
            x[:] = 0
            return y

        found, wanted = measure(instance, predict), measure(instance, instance.layer())
        assert found == wanted
