"""The fits of costs: planted exponents, coverage by simulation, degenerate inputs."""

import numpy as np
import pytest

from hardness.runs.growth import power_law
from instances.streams import BitStream, generator, key

SIZES = np.array([8.0, 11, 14, 17, 20])
WIDE = 8.0 * 2 ** np.arange(6)


def fit(sizes, costs, name="test"):
    return power_law(np.asarray(sizes, float), np.asarray(costs, float), BitStream(key(0, name)))


def test_a_planted_exponent_is_found_exactly():
    found = fit(WIDE, np.repeat(7 * WIDE[:, None] ** -1.5, 3, axis=1))
    ends = (found.low, found.exponent, found.high)
    assert ends == pytest.approx((-1.5, -1.5, -1.5), abs=1e-6)
    assert found.log_constant == pytest.approx(np.log(7))


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
        law = fit(SIZES, costs, f"cover {i}")
        assert law.low <= law.bootstrap[0] <= law.bootstrap[1] <= law.high
        hits += law.low <= 3 <= law.high
    assert hits >= 0.86 * count  # 0.93 or more, less chance


def test_everything_is_finite_whatever_the_costs():
    for costs in (
        np.ones((4, 1)),
        np.ones((4, 3)),
        np.full((4, 2), 1e-300),
        10.0 ** SIZES[:4, None],
    ):
        law = fit([1e-9, 1, 2, 1e9], costs)
        assert np.isfinite([law.exponent, law.low, law.high, *law.bootstrap, law.misfit]).all()


def test_the_bootstrap_is_what_it_is_said_to_be():
    """Resample by resample with numpy's own least squares, from the same random words."""
    sizes, rng = np.arange(4.0, 10), np.random.default_rng(5)
    costs = np.exp(2 * np.log(sizes)[:, None] + 0.3 * rng.exponential(size=(6, 3)))
    stream = BitStream(key(1, "bootstrap"))
    found = power_law(sizes, costs, stream)
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
