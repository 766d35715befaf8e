import math

import numpy as np
import pytest

from hardness.compare import measure
from hardness.compare.run import SOLVED_BELOW
from instances import parse

INSTANCE = parse("parity:d=10,m=3,noise=0.1").instance(0)
FAMILY, SECRET = INSTANCE.family, INSTANCE.hidden.secret


def test_known_risks_are_inside_their_intervals():
    for size, wanted in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.25), (-1.0, 4.0)):

        def predict(x, size=size):
            known = FAMILY.known(x)
            return known + size * (FAMILY.mean(SECRET, x) - known)

        found = measure(INSTANCE, predict)
        assert found.low <= wanted <= found.high
        assert found.value == pytest.approx(wanted, abs=1e-12)


def test_the_noiseless_member_is_not_the_mean():
    """Predicting labels without shrinking by 1 - 2 eta costs, unless projected back."""
    found = measure(INSTANCE, lambda x: FAMILY.label(SECRET, x))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.unclipped == pytest.approx((0.2 / 0.8) ** 2)


def test_the_interval_covers_and_says_something():
    """Wrong on an eighth of the tokens, the true risk is a half; on 100 instances at 80 %."""
    misses, widths = 0, []
    for seed in range(100):
        instance = FAMILY.instance(seed)

        def predict(x, secret=instance.hidden.secret):
            known = FAMILY.known(x)
            sign = np.where((x[:, 0, 1:4] > 0).all(axis=1), -1.0, 1.0)[:, None, None]
            return known + sign * (FAMILY.mean(secret, x) - known)

        found = measure(instance, predict, examples=2000, confidence=0.8)
        misses += not found.low <= 0.5 <= found.high
        widths.append(found.high - found.low)
    assert misses <= 20
    assert max(widths) < 0.35


def test_an_interval_around_no_observed_loss_is_not_empty():
    found = measure(INSTANCE, INSTANCE.layer(), examples=400)
    assert found.high > 0.05 > found.low
    assert measure(INSTANCE, INSTANCE.layer()).high < SOLVED_BELOW


@pytest.mark.parametrize(
    "predict",
    [
        lambda x: np.full(x.shape, np.nan),
        lambda x: np.full(x.shape, np.inf),
        lambda x: x[:, 0],
        lambda x: x.astype(complex),
        lambda x: "labels",
        lambda x: None,
    ],
)
def test_invalid_predictions_have_no_risk(predict):
    assert measure(INSTANCE, predict) is None


def test_the_radius_is_the_empirical_bernstein_bound():
    """Maurer and Pontil, both sides, for losses of two values 0 and 4."""

    def predict(x):
        known = FAMILY.known(x)
        sign = np.where(x[:, 0, 1] > 0, 1.0, -1.0)[:, None, None]
        return known + sign * (FAMILY.mean(SECRET, x) - known)

    found = measure(INSTANCE, predict, examples=2000, confidence=0.9)
    n, share = found.examples, found.value / 4
    variance = 16 * share * (1 - share) * n / (n - 1)
    log_term = math.log(4 / 0.1)
    radius = math.sqrt(2 * variance * log_term / n) + 7 * 4 * log_term / (3 * (n - 1))
    assert found.high == pytest.approx(found.value + radius)
    assert found.low == pytest.approx(found.value - radius)


def test_unclipped_risk_counts_what_everyone_knows():
    found = measure(INSTANCE, lambda x: np.zeros(x.shape))
    assert found.value == pytest.approx(1.0)
    constant = float(FAMILY.known_constant) ** 2
    assert found.unclipped == pytest.approx(1 + constant / 0.64, rel=0.05)


NUMBERS = ["nice:m=2,k=2,d=8", "nice:m=4,k=3,d=16,tokens=gaussian,noise=0.2"]


@pytest.mark.parametrize("spec", NUMBERS)
def test_relative_risks_of_numbers_are_inside_their_intervals(spec):
    instance = parse(spec).instance(2)
    layer = instance.layer()
    for size, wanted in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.25)):
        found = measure(instance, lambda x, size=size: size * layer(x), confidence=0.99)
        assert found.value == pytest.approx(wanted, abs=1e-12)
        assert found.low <= wanted <= found.high
        assert found.high - found.low < 0.3
    assert measure(instance, layer).high < SOLVED_BELOW


@pytest.mark.parametrize("spec", NUMBERS)
def test_rows_are_within_reach_and_predictions_are_projected_there(spec):
    instance = parse(spec).instance(0)
    reach = instance.family.reach(instance.hidden.secret)
    x = instance.examples(0, 4000).x.astype(float)
    longest = np.sqrt((x**2).sum(axis=2).max(axis=1))
    rows = np.sqrt((instance.layer()(x) ** 2).sum(axis=2)).max(axis=1)
    assert (rows <= reach * longest).all()
    wild = measure(instance, lambda x: np.full(x.shape, 1e200))
    assert 1 < wild.value < 1e4
    assert wild.unclipped is None


def test_the_cut_of_long_gaussian_tokens_is_paid_for():
    """The bound of what is cut off holds for samples of it, and is not far above."""
    from hardness.compare.risk import _cut

    family = parse("nice:m=1,k=3,d=4,tokens=gaussian")
    longest, tail = _cut(family, 1.0, scale=600.0)
    lengths = np.random.default_rng(0).chisquare(4, (400_000, 3)).max(axis=1)
    loss = 4 * 3 * lengths * (lengths > longest)
    assert 0.7 * tail < loss.mean() <= tail + 4 * loss.std() / math.sqrt(len(loss))


def test_intervals_of_numbers_cover():
    """Right up to a half on every eighth token: 100 instances at 80 %."""
    family = parse("nice:m=1,k=2,d=6")
    misses = 0
    for seed in range(100):
        instance = family.instance(seed)
        layer = instance.layer()

        def predict(x, layer=layer):
            return layer(x) * np.where((x[:, 0, :3] > 0).all(axis=1), 0.0, 1.0)[:, None, None]

        x = ((np.arange(1 << 12)[:, None] >> np.arange(12)) & 1) * 2.0 - 1
        x = x.reshape(-1, 2, 6)
        truth = ((layer(x) - predict(x)) ** 2).sum() / (layer(x) ** 2).sum()
        found = measure(instance, predict, examples=2000, confidence=0.8)
        misses += not found.low <= truth <= found.high
    assert misses <= 20
