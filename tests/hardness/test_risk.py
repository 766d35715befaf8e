"""Risks: known ones inside their intervals, radii by their formulas, hypotheses that are none."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from hardness.learners import Failed, Hypothesis, Outcome
from hardness.oracles import Budget
from hardness.runs import measure, run
from hardness.runs import risk as risks
from hardness.runs.risk import (
    LOOKS,
    SOLVED_BELOW,
    Risk,
    _sixth_moment,
    _tilted,
    bernstein,
    chernoff,
    cut_of_tokens,
    lengths,
    settled,
)
from instances import ToolkitError, parse
from instances.cubic import coefficients, power, reach
from tests.conftest import ByHand

NOISY = "parity:d=10,m=3,noise=0.1"
NUMBERS = ["nice:m=2,k=2,d=8", "nice:m=1,k=3,d=4,tokens=gaussian,noise=0.2"]
CUBIC = ["linear:m=2,k=2,d=4", "linear:m=5,k=3,d=3,noise=0.5", "linear:m=2,k=2,d=4,tokens=boolean"]
INSTANCE = parse(NOISY).instance(0)
FAMILY, SECRET = INSTANCE.family, INSTANCE.hidden.secret


def scaled(instance, size):
    """What everyone knows, and of the rest so much: an array of sizes is one an example."""

    def predict(x):
        known = instance.family.known(x)
        sizes = np.asarray(size(x) if callable(size) else size)
        return known + sizes.reshape(-1, 1, 1) * (
            instance.family.mean(instance.hidden.secret, x) - known
        )

    return predict


@pytest.mark.parametrize("spec", [NOISY, *NUMBERS, *CUBIC])
def test_known_risks_are_inside_their_intervals(spec):
    instance = parse(spec).instance(1)
    near = 0.05 if spec in CUBIC else 1e-12  # the scale is known, and not sampled
    for size, wanted in ((0.0, 1.0), (0.5, 0.25), (1.0, 0.0), (-1.0, 4.0)):
        found = measure(instance, scaled(instance, size), confidence=0.99)
        assert found.low <= wanted <= found.high
        assert found.value == pytest.approx(wanted, abs=near * max(1, wanted))
        assert size < 0 or found.high - found.low < 0.4
    assert measure(instance, scaled(instance, 1.0)).high < SOLVED_BELOW


def test_a_verdict_of_two_looks_errs_once_in_twenty_at_most(monkeypatch):
    """Of 1,000 risks beside the line; far from it a quarter of the examples tell, at it all do."""
    assert math.isclose(sum(1 - confidence for _, confidence in LOOKS), 0.05)
    rng, asked = np.random.default_rng(2), []

    def drawn(share, predict, examples, confidence):
        """The empirical Bernstein bound of losses in [0, 4] that are 1 on a share of examples."""
        loss = (rng.random((examples or 16384) // 2) < share).astype(float)
        low, high = bernstein(loss, 4.0, confidence)
        asked.append(examples)
        value = float(loss.mean())
        return Risk(value=value, low=low, high=high, confidence=confidence, examples=len(loss),
            unclipped=None)  # fmt: skip

    monkeypatch.setattr(risks, "measure", drawn)

    def passes(share, times):
        asked.clear()
        found = [settled(share, None) for _ in range(times)]
        return sum(one.high <= SOLVED_BELOW for one in found), len(asked)

    assert passes(0.0501, 1000)[0] <= 50
    assert passes(0.0, 20) == (20, 20)
    assert passes(1.0, 20) == (0, 20)
    assert passes(0.03, 20) == (20, 40)


def test_a_member_without_noise_is_not_the_mean_and_unclipped_risk_counts_what_is_known():
    """Predicting labels without shrinking by 1 - 2 eta costs, unless projected back."""
    found = measure(INSTANCE, lambda x: FAMILY.label(SECRET, x))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.unclipped == pytest.approx((0.2 / 0.8) ** 2)
    found = measure(INSTANCE, lambda x: np.zeros(x.shape))
    assert found.value == pytest.approx(1.0)
    constant = float(FAMILY.known_constant) ** 2
    assert found.unclipped == pytest.approx(1 + constant / 0.64, rel=0.05)


def wrong_on_an_eighth(instance):
    """By a sign: the true risk is a half."""
    return scaled(instance, lambda x: np.where((x[:, 0, 1:4] > 0).all(axis=1), -1.0, 1.0)), 0.5


def another_theta(instance):
    """The true risk by two exact powers."""
    layer = instance.layer()
    given = type(layer)(theta=layer.theta + 0.2, w=layer.w, kind="linear")
    powers = [
        power(coefficients(theta, layer.w), 2, "gaussian")
        for theta in (layer.theta - given.theta, layer.theta)
    ]
    return given, powers[0] / powers[1]


@pytest.mark.parametrize(
    ("spec", "make", "seeds", "examples"),
    [
        (NOISY, wrong_on_an_eighth, 60, 2000),
        ("linear:m=1,k=2,d=3", another_theta, 60, 4000),
    ],
)
def test_intervals_cover_and_say_something(spec, make, seeds, examples):
    """At 80 %."""
    missed = 0
    for seed in range(seeds):
        instance = parse(spec).instance(seed)
        predict, truth = make(instance)
        found = measure(instance, predict, examples=examples, confidence=0.8)
        missed += not found.low <= truth <= found.high
        assert found.value == pytest.approx(truth, rel=0.35)
        assert spec != NOISY or found.high - found.low < 0.35
    assert missed <= seeds / 5


def test_an_interval_is_not_empty_never_below_zero_nor_above_what_is_possible():
    found = measure(INSTANCE, INSTANCE.layer(), examples=400)
    assert found.high > 0.05 > found.low
    assert bernstein(np.zeros(10), 1.0, 0.95)[0] == 0.0
    wrong = measure(INSTANCE, lambda x: -FAMILY.label(SECRET, x), examples=20)
    assert wrong.high == FAMILY.risk_bound
    for spec in ("parity:d=8,m=1,noise=0.1", "parity:d=8,m=2,noise=0.3"):
        for seed in range(4):
            instance = parse(spec).instance(seed)
            risk = measure(instance, scaled(instance, -1.0))  # which is read back
            assert risk.low <= risk.value <= risk.high == instance.family.risk_bound


@pytest.mark.parametrize(
    "predict",
    [
        lambda x: np.full(x.shape, np.nan),
        lambda x: x[:, 0],
        lambda x: x.astype(complex),
        lambda x: "labels",
    ],
)
def test_invalid_predictions_have_no_risk(predict):
    assert measure(INSTANCE, predict) is None
    assert measure(parse(CUBIC[0]).instance(0), predict) is None


def test_the_radius_is_the_empirical_bernstein_bound():
    """Maurer and Pontil, both sides, for losses of two values 0 and 4."""
    predict = scaled(INSTANCE, lambda x: np.where(x[:, 0, 1] > 0, 1.0, -1.0))
    found = measure(INSTANCE, predict, examples=2000, confidence=0.9)
    losses = 4.0 * (np.arange(found.examples) < round(found.value / 4 * found.examples))
    assert (found.low, found.high) == pytest.approx(bounds(losses, 4, 0.9))


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
    longest, tail = cut_of_tokens(family, reach, np.sum(pilot**2) / 1024)
    x = instance.examples(0, examples, axis="evaluate").x.astype(float)
    square = np.sum(layer(x) ** 2, axis=(1, 2))
    inside = np.sum(x**2, axis=2).max(axis=1) <= longest
    half, bound = (1 + confidence) / 2, family.k * reach**2 * longest
    low, high = bounds((1 - factor) ** 2 * square * inside, 4 * bound, half)
    small, large = bounds(square * inside, bound, half)
    return low / (large + tail / 4), (high + tail) / small, 1 - inside.mean()


@pytest.mark.parametrize("spec", ["nice:m=2,k=2,d=4", "nice:m=2,k=2,d=4,tokens=gaussian,noise=0.5"])
def test_the_interval_of_numbers_is_two_bernstein_bounds_and_a_cut(spec, monkeypatch):
    monkeypatch.setattr("hardness.runs.risk._TAIL_PART", 0.5)  # so that some tokens are cut
    instance = parse(spec).instance(1)
    layer = instance.layer()
    # Between what was projected and what was not: a factor of 0.2 stays within reach.
    found = measure(instance, lambda x: 0.2 * layer(x), examples=30_000, confidence=0.9)
    low, high, cut = expected(instance, 0.2, 30_000, 0.9)
    assert 0.1 < low < 0.64 < high < 3
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    assert (found.value, found.examples) == (pytest.approx(0.64), 30_000)
    assert (cut > 1e-3) == ("gaussian" in spec)


def test_the_cut_leaves_out_no_more_than_its_part():
    """E |x|^2 1[|x|^2 > T] by integration, for one token; k of them, each in k rows."""
    for k, d, far, scale in ((2, 4, 1.0, 600.0), (3, 7, 2.0, 5000.0), (2, 1, 1.0, 1.0)):
        family = parse(f"nice:m=1,k={k},d={d},tokens=gaussian")
        longest, tail = cut_of_tokens(family, far, scale)
        beyond = chi2.expect(lambda t: t, (d,), lb=longest)
        assert tail == pytest.approx(4 * k * far**2 * k * beyond, rel=1e-6)
        assert tail == pytest.approx(0.004 * scale, rel=1e-6)
    assert cut_of_tokens(parse("nice:m=1,k=2,d=4"), 1.0, 1.0) == (4.0, 0.0)


def test_projection_is_on_the_ball_of_the_longest_token():
    """Of a hypothesis far outside the nearest point is at the reach, in its direction."""
    instance = parse("nice:m=2,k=2,d=4,tokens=gaussian").instance(0)
    layer, reach = instance.layer(), instance.family.reach(instance.hidden.secret)
    x = instance.examples(0, 3000, axis="evaluate").x
    longest = np.sqrt((x**2).sum(axis=2)).max(axis=1)
    direction = np.eye(4)[2]
    y, nearest = layer(x), reach * longest[:, None, None] * direction
    wanted = np.sum((y - nearest) ** 2) / np.sum(y**2)
    for size in (1e6, 1e300):  # the square of the second is beyond float64
        far = size * direction
        found = measure(instance, lambda x, far=far: np.broadcast_to(far, x.shape), examples=3000)
        assert found.value == pytest.approx(wanted)
    assert found.unclipped is None


def test_labels_of_zero_have_no_relative_risk(monkeypatch):
    instance = parse("nice:m=1,k=2,d=4,noise=1").instance(0)
    monkeypatch.setattr(type(instance.family), "mean", lambda self, secret, x: np.zeros(x.shape))
    with pytest.raises(ToolkitError, match="labels are zero"):
        measure(instance, instance.layer(), examples=100)


@pytest.mark.parametrize("spec", ["linear:m=2,k=2,d=3", "nice:m=1,k=2,d=8,noise=0.1", NOISY])
def test_the_evaluation_is_not_what_a_learner_saw_and_may_be_written_into(spec):
    asked, instance = [], parse(spec).instance(0)
    layer = instance.layer()

    def predict(x):
        asked.append(x.copy())
        y = layer(x)
        x[:] = 0
        return y

    found = measure(instance, predict, examples=3000)
    assert found == measure(instance, layer, examples=3000)
    x = np.concatenate(asked)[:3000]
    again = {row.tobytes() for row in np.concatenate(asked)[3000:]}
    assert again == {row.tobytes() for row in x[::8]}
    for axis in ("examples", "evaluate-pilot"):
        assert np.mean(x == instance.examples(0, 3000, axis=axis).x) < 0.6


# Linear attention.


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
    assert (lengths(np.ones((1, 3, 2))) ** 2).sum() == pytest.approx(6.0**3)


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
    low, high = chernoff(3.0 * (np.arange(n) < hits), 3.0, 0.9)
    exact = binomtest(hits, n).proportion_ci(0.9)
    assert low <= 3 * exact.low + 1e-12
    assert high >= 3 * exact.high - 1e-12
    assert high - low < 1.6 * 3 * (exact.high - exact.low)


# What is no function of tokens gets no risk: the judge asks for tokens again.


def right(x):
    return FAMILY.mean(SECRET, x)


def mixed(x, wrong):
    """Be right but for some rows (n,), which get what everyone knows."""
    return np.where(wrong[:, None, None], FAMILY.known(x), right(x))


def a_coin_a_call(share, rng):
    """Be right in a call, or know the family alone with probability `share`: that is its risk."""
    return lambda x: mixed(x, np.full(len(x), rng.random() < share))


def judged(predict, examples=1000):
    try:
        return measure(INSTANCE, predict, examples)
    except Failed:
        return None


@pytest.mark.parametrize("share", [0.05, pytest.param(0.5, marks=pytest.mark.weekly)])
def test_the_interval_covers_the_coin_in_at_least_93_of_100_runs(share):
    """Of 200 runs with one coin a call: refused, or the interval holds the risk over the coins."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(200):
        found = judged(a_coin_a_call(share, rng), 4000)
        missed += found is not None and not found.low <= share <= found.high
    assert missed <= 0.07 * 200


def a_coin_a_row(share):
    rng = np.random.default_rng(0)
    return lambda x: mixed(x, rng.random(len(x)) < share)


class RightFirst:
    """Right in so many calls, and in none after them."""

    def __init__(self, calls):
        self.left = calls

    def __call__(self, x):
        self.left -= 1
        return mixed(x, np.full(len(x), self.left < 0))


class RightUntilItKnowsThem:
    """Right on tokens that it sees for the first time, wrong on what it remembers."""

    def __init__(self):
        self.seen = set()

    def __call__(self, x):
        names = [row.tobytes() for row in x]
        wrong = np.array([name in self.seen for name in names])
        self.seen.update(names)
        return mixed(x, wrong)


NO_FUNCTIONS = {
    "a rare coin a row": a_coin_a_row(0.01),
    "right once": RightFirst(1),
    "right until it knows them": RightUntilItKnowsThem(),
    "right in large batches": lambda x: mixed(x, np.full(len(x), len(x) < 100)),
    "relative to the batch": lambda x: right(x) - right(x).mean(axis=0),
    "right but for single pairs": lambda x: right(x) * (np.nan if len(x) == 1 else 1.0),
    "another shape for single pairs": lambda x: right(x)[0] if len(x) == 1 else right(x),
}


@pytest.mark.parametrize("name", NO_FUNCTIONS)
def test_what_is_no_function_of_tokens_is_refused(name):
    assert judged(NO_FUNCTIONS[name], 16384) is None


@pytest.mark.parametrize(
    "spec", ["parity:d=8,m=3", "nice:m=2,k=2,d=8", "linear:m=1,k=2,d=4", "lpn:n=8,noise=0.1"]
)
def test_every_kind_of_risk_asks_again_and_rounding_is_no_coin(spec):
    instance, calls = parse(spec).instance(0), []

    def rounded(x):
        calls.append(len(x))
        noise = np.random.default_rng(len(calls)).standard_normal(x.shape)
        return instance.family.mean(instance.hidden.secret, x) * (1 + 1e-6 * noise)

    assert measure(instance, rounded, examples=2000).value < 1e-9
    assert (calls[0], sum(calls), min(calls), len(calls) <= 65) == (2000, 2250, 1, True)
    with pytest.raises(Failed):
        measure(instance, lambda x: rounded(x) + (len(x) < 30), examples=2000)


def test_all_batches_of_long_tokens_are_asked_for_again(monkeypatch):
    """Where the tokens do not fit in one call, one that is wrong in a later call is found."""
    monkeypatch.setattr("hardness.runs.risk._BATCH_NUMBERS", 1 << 10)
    assert judged(RightFirst(5), 2000) is None


@dataclass(frozen=True, kw_only=True)
class Coin(ByHand):
    """Knows the secret by its seed, and tosses one coin a call."""

    def learn(self, oracle, rng):
        return Hypothesis(predict=a_coin_a_call(0.5, rng), secret=SECRET)


def test_a_run_says_so_and_a_claimed_secret_is_judged_all_the_same():
    found = run(Coin(), INSTANCE, Budget())
    assert (found.outcome, found.risk) == (Outcome.INVALID, None)
    assert "differ from one call to another" in found.details["reason"]
    assert found.secret_recovered  # it was claimed once: no coin can change it
    assert type(found).read(found.to_dict()) == found
