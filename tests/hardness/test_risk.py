import math

import numpy as np
import pytest
from scipy.stats import chi2

from hardness.runs import measure
from hardness.runs.risk import bernstein, cut
from hardness.runs.run import SOLVED_BELOW
from instances import ToolkitError, parse

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


NUMBERS = ["nice:m=2,k=2,d=8", "nice:m=3,k=3,d=8,tokens=gaussian,noise=0.2"]


@pytest.mark.parametrize("spec", NUMBERS)
def test_relative_risks_of_numbers_are_inside_their_intervals(spec):
    instance = parse(spec).instance(2)
    layer = instance.layer()
    for size, wanted in ((0.0, 1.0), (0.5, 0.25)):
        found = measure(instance, lambda x, size=size: size * layer(x), confidence=0.99)
        assert found.value == pytest.approx(wanted, abs=1e-12)
        assert found.low <= wanted <= found.high
        assert found.high - found.low < 0.3
    found = measure(instance, layer)
    assert found.low <= found.value < 1e-12
    assert found.high < SOLVED_BELOW


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


def bounds(values, top, confidence):
    """Maurer and Pontil's, both sides, for values in [0, top]."""
    n, log_term = len(values), math.log(4 / (1 - confidence))
    spread = np.sum((values - values.mean()) ** 2) / (n - 1)
    radius = math.sqrt(2 * spread * log_term / n) + 7 * top * log_term / (3 * (n - 1))
    return values.mean() - radius, values.mean() + radius


def expected(instance, factor, examples, confidence):
    """The interval for factor * F as a hypothesis, term by term, and the share of tokens cut."""
    family, layer = instance.family, instance.layer()
    reach = sum(np.linalg.svd(w, compute_uv=False)[0] for w in layer.w)
    pilot = layer(instance.examples(0, 1024, axis="evaluate-pilot").x)
    longest, tail = cut(family, reach, np.sum(pilot**2) / 1024)
    x = instance.examples(0, examples, axis="evaluate").x.astype(float)
    square = np.sum(layer(x) ** 2, axis=(1, 2))
    inside = np.sum(x**2, axis=2).max(axis=1) <= longest
    half, bound = (1 + confidence) / 2, family.k * reach**2 * longest
    low, high = bounds((1 - factor) ** 2 * square * inside, 4 * bound, half)
    small, large = bounds(square * inside, bound, half)
    return low / (large + tail / 4), (high + tail) / small, 1 - inside.mean()


@pytest.mark.parametrize("spec", ["nice:m=2,k=2,d=4", "nice:m=2,k=2,d=4,tokens=gaussian,noise=0.5"])
def test_the_interval_of_numbers_is_two_bernstein_bounds_and_acut(spec, monkeypatch):
    monkeypatch.setattr("hardness.runs.risk._TAIL_PART", 0.5)  # so that some tokens are cut
    instance = parse(spec).instance(1)
    layer = instance.layer()
    # Between what was projected and what was not: a factor of 0.2 stays within reach.
    found = measure(instance, lambda x: 0.2 * layer(x), examples=30_000, confidence=0.9)
    low, high, cut = expected(instance, 0.2, 30_000, 0.9)
    assert 0.1 < low < 0.64 < high < 3
    assert found.low == pytest.approx(low, rel=1e-9)
    assert found.high == pytest.approx(high, rel=1e-9)
    assert found.value == pytest.approx(0.64)
    assert found.examples == 30_000
    assert (cut > 1e-3) == ("gaussian" in spec)


def test_an_interval_is_never_below_zero_nor_above_what_is_possible():
    assert bernstein(np.zeros(10), 1.0, 0.95)[0] == 0.0
    wrong = measure(INSTANCE, lambda x: -FAMILY.label(SECRET, x), examples=20)
    assert wrong.high == FAMILY.risk_bound


def test_the_cut_leaves_out_no_more_than_its_part():
    """E |x|^2 1[|x|^2 > T] by integration, for one token; k of them, each in k rows."""
    for k, d, reach, scale in ((2, 4, 1.0, 600.0), (3, 7, 2.0, 5000.0), (2, 1, 1.0, 1.0)):
        family = parse(f"nice:m=1,k={k},d={d},tokens=gaussian")
        longest, tail = cut(family, reach, scale)
        beyond = chi2.expect(lambda t: t, (d,), lb=longest)
        assert tail == pytest.approx(4 * k * reach**2 * k * beyond, rel=1e-6)
        assert tail == pytest.approx(0.004 * scale, rel=1e-6)
    assert cut(parse("nice:m=1,k=2,d=4"), 1.0, 1.0) == (4.0, 0.0)


def test_projection_is_on_the_ball_of_the_longest_token():
    """Of a hypothesis far outside the nearest point is at the reach, in its direction."""
    instance = parse("nice:m=2,k=2,d=4,tokens=gaussian").instance(0)
    layer, reach = instance.layer(), instance.family.reach(instance.hidden.secret)
    x = instance.examples(0, 3000, axis="evaluate").x
    longest = np.sqrt((x**2).sum(axis=2)).max(axis=1)
    nearest = np.zeros_like(x)
    nearest[..., 2] = reach * longest[:, None]
    y = layer(x)
    wanted = np.sum((y - nearest) ** 2) / np.sum(y**2)
    for size in (1e6, 1e300):  # the square of the second is beyond float64
        far = np.zeros(4)
        far[2] = size
        found = measure(instance, lambda x, far=far: np.broadcast_to(far, x.shape), examples=3000)
        assert found.value == pytest.approx(wanted)
    assert found.unclipped is None


def test_the_evaluation_is_not_what_a_learner_saw():
    for spec in ("nice:m=1,k=2,d=8", "parity:d=8,m=3"):
        asked = []
        instance = parse(spec).instance(0)

        def predict(x, asked=asked):
            asked.append(x)
            return np.zeros(x.shape)

        measure(instance, predict, examples=3000)
        again = {row.tobytes() for row in np.concatenate(asked)[3000:]}
        x = np.concatenate(asked)[:3000]
        assert again == {row.tobytes() for row in x[::8]}
        assert x.shape == (3000, 2, 8)
        assert np.mean(x == instance.examples(0, 3000).x) < 0.6
        assert np.mean(x == instance.examples(0, 3000, axis="evaluate-pilot").x) < 0.6


def test_labels_of_zero_have_no_relative_risk(monkeypatch):
    instance = parse("nice:m=1,k=2,d=4,noise=1").instance(0)
    monkeypatch.setattr(type(instance.family), "mean", lambda self, secret, x: np.zeros(x.shape))
    with pytest.raises(ToolkitError, match="labels are zero"):
        measure(instance, instance.layer(), examples=100)


@pytest.mark.parametrize("spec", ["parity:d=8,m=1,noise=0.1", "parity:d=8,m=2,noise=0.3"])
def test_the_worst_of_predictions_has_a_risk_that_is_read_back(spec):
    for seed in range(4):
        instance = parse(spec).instance(seed)

        def wrong(x, instance=instance):
            family = instance.family
            return 2 * family.known(x) - family.mean(instance.hidden.secret, x)

        risk = measure(instance, wrong)
        assert risk.low <= risk.value <= risk.high == instance.family.coded.risk_bound
