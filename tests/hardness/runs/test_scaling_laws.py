"""The fits of costs: planted rates, coverage and verdicts by simulation, degenerate inputs."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from hardness.runs.growth import growth
from instances.streams import BitStream, generator, key

SIZES = np.array([8.0, 11, 14, 17, 20])
WIDE = 8.0 * 2 ** np.arange(6)


def fit(sizes, costs, name="test"):
    return growth(np.asarray(sizes, float), np.asarray(costs, float), BitStream(key(0, name)))


@pytest.mark.parametrize("law", ["power", "exponential"])
def test_a_planted_law_is_found_exactly_and_named(law):
    costs = 7 * WIDE**-1.5 if law == "power" else 7 * np.exp(0.3 * WIDE)
    found = fit(WIDE, np.repeat(costs[:, None], 3, axis=1))
    right, wrong = found.power, found.exponential
    if law == "exponential":
        right, wrong = wrong, right
    rate = -1.5 if law == "power" else 0.3
    assert (right.low, right.rate, right.high) == pytest.approx((rate, rate, rate), abs=1e-6)
    assert right.log_constant == pytest.approx(np.log(7))
    assert wrong.low < wrong.rate < wrong.high
    assert found.verdict.startswith(law)


def test_the_p_value_is_that_of_least_squares_with_both_regressors():
    rng = generator(1, "both")
    logs = rng.standard_normal(7)
    sizes = np.arange(3.0, 10)
    found = fit(sizes, np.exp(logs)[:, None])
    design = np.column_stack([np.ones(7), np.log(sizes), sizes])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ logs
    variance = ((logs - design @ beta) ** 2).sum() / 4
    for j, p in ((2, found.power_refused), (1, found.exponential_refused)):
        t = beta[j] / np.sqrt(variance * inverse[j, j])
        assert p == pytest.approx(2 * stats.t.sf(abs(t), 4))
    assert found.bent_refused is None


@pytest.mark.parametrize("seeds", [1, 5])
def test_a_constant_added_to_a_power_is_never_called_exponential(seeds):
    rng = generator(2, "bent", seeds)
    for constant, power, _ in product((10, 31, 300), (1, 3), range(10)):
        noise = np.exp(0.01 * rng.standard_normal((6, seeds)))
        costs = (constant**power + WIDE**power)[:, None] * noise
        assert fit(WIDE, costs).verdict != "exponential"


def noises(kind, shape, rng):
    growing = np.linspace(0.1, 0.4, shape[0])[:, None]
    if kind == "normal":
        return 0.3 * rng.standard_normal(shape)
    if kind == "uniform cost":  # the logarithm of a uniform number
        return 1 - rng.exponential(size=shape)
    return growing[::-1] * rng.standard_normal(shape)


@pytest.mark.parametrize(
    ("kind", "seeds"),
    [("normal", 3), ("uniform cost", 1), ("uniform cost", 10), ("shrinking", 3)],
)
def test_intervals_cover(kind, seeds):
    rng, hits, count = generator(3, "cover", kind, seeds), 0, 100
    for i in range(count):
        costs = np.exp(3 * np.log(SIZES)[:, None] + noises(kind, (5, seeds), rng))
        law = fit(SIZES, costs, f"cover {i}").power
        assert law.low <= law.bootstrap[0] <= law.bootstrap[1] <= law.high
        hits += law.low <= 3 <= law.high
    assert hits >= 0.86 * count  # 0.93 or more, less chance


@pytest.mark.parametrize("kind", ["uniform cost", "shrinking"])
@pytest.mark.parametrize("truth", ["power law", "exponential"])
def test_wrong_verdicts_are_rare(kind, truth):
    rng, wrong, count = generator(4, "verdict", kind, truth), 0, 100
    sizes = np.arange(8.0, 21, 2)
    logs = 3 * np.log(sizes) if truth == "power law" else 0.25 * sizes
    for i in range(count):
        found = fit(sizes, np.exp(logs[:, None] + noises(kind, (7, 3), rng)), f"verdict {i}")
        wrong += found.verdict not in (truth, "cannot tell")
    assert wrong <= 0.1 * count  # 0.05 at most, and chance


def test_sizes_next_to_one_another_cannot_tell():
    sizes = np.arange(1e8, 1e8 + 5)
    found = fit(sizes, np.exp(np.arange(5.0))[:, None])
    assert (found.power_refused, found.exponential_refused) == (1.0, 1.0)
    assert found.verdict == "cannot tell"


def test_everything_is_finite_whatever_the_costs():
    for costs in (
        np.ones((4, 1)),
        np.ones((4, 3)),
        np.full((4, 2), 1e-300),
        10.0 ** SIZES[:4, None],
    ):
        found = fit([1e-9, 1, 2, 1e9], costs)
        for law in (found.power, found.exponential):
            assert np.isfinite([law.rate, law.low, law.high, *law.bootstrap, law.misfit]).all()
        assert 0 <= found.power_refused <= 1
        assert 0 <= found.exponential_refused <= 1


def test_the_bootstrap_is_what_it_is_said_to_be():
    """Resample by resample with numpy's own least squares, from the same random words."""
    sizes, rng = np.arange(4.0, 10), np.random.default_rng(5)
    costs = np.exp(2 * np.log(sizes)[:, None] + 0.3 * rng.exponential(size=(6, 3)))
    stream = BitStream(key(1, "bootstrap"))
    found = growth(sizes, costs, stream).power
    u, logs = np.log(sizes), np.log(costs)
    rate, constant = np.polyfit(u, logs.mean(axis=1), 1)
    leverage = 1 / 6 + (u - u.mean()) ** 2 / ((u - u.mean()) ** 2).sum()
    pool = ((logs - (constant + rate * u)[:, None]) / np.sqrt(1 - leverage)[:, None]).ravel()
    pool -= pool.mean()

    def fit(means):
        slope, start = np.polyfit(u, means, 1)
        rest = means - start - slope * u
        return slope, np.sqrt(rest @ rest / 4 / ((u - u.mean()) ** 2).sum())

    words = stream.words(0, 999 * 18).reshape(999, 6, 3) % np.uint64(18)
    ratios = [slope / error for slope, error in (fit(pool[w].mean(axis=1)) for w in words)]
    low, high = np.quantile(ratios, [0.025, 0.975])
    error = fit(logs.mean(axis=1))[1]
    assert found.bootstrap == pytest.approx((rate - high * error, rate - low * error), rel=1e-9)
    assert found.low <= found.bootstrap[0] < found.bootstrap[1] <= found.high


def test_a_power_law_with_a_constant_is_no_exponential():
    """(32 + x)^9, x in units of the least size, is bent as an exponential is."""
    sizes = np.arange(8.0, 21)
    noise = 0.01 * np.random.default_rng(3).normal(size=(13, 5))
    found = fit(sizes, np.exp(9 * np.log(32 + sizes / 8)[:, None] + noise))
    assert found.power_refused < 0.01
    assert found.exponential_refused > 0.05
    assert found.bent_refused > 0.5
    assert found.verdict == "cannot tell"


def test_a_noisy_exponential_is_named_where_bent_laws_are_of_high_degree():
    """Without a cap on the degree some power law with a constant is as near as one likes."""
    noise = 0.1 * np.random.default_rng(4).normal(size=(6, 5))
    found = fit(WIDE, np.exp(0.05 * WIDE[:, None] + noise))
    assert found.bent_refused < 0.05
    assert found.verdict == "exponential", found.reason
