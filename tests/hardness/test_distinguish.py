"""Distinguishers: planted truth, learners of nothing, and intervals that hold."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import binom

from hardness.learners import Hypothesis
from hardness.oracles import Budget
from hardness.report.studies import distinction_words
from hardness.runs import distinguish
from hardness.runs.distinguish import (
    Uniform,
    advantage_interval,
    implied_accuracy,
    score,
    threshold,
    trial_seed,
)
from hardness.runs.registry import parse_learner
from instances import ToolkitError, UsageError, parse
from instances.coded import CodedExamples
from tests.conftest import ByHand

LWR = "lwr:n=8,q=16,p=2,secret=binary,h=4"
FAMILIES = [
    LWR,
    "lwr:n=5,q=16,p=4,secret=ternary",
    "lwe:n=3,q=17,sigma=1",
    "lpn:n=70,h=3,noise=0.1",
    "parity:d=10,m=3,noise=0.1",
]


@dataclasses.dataclass(frozen=True)
class Planted(ByHand):
    """A learner whose hypothesis is answer(oracle), made before it sees more than ten examples."""

    answer: dataclasses.InitVar = None

    def __post_init__(self, answer):
        object.__setattr__(self, "_answer", answer)

    def learn(self, oracle, rng):
        oracle.draw(10)
        return Hypothesis(predict=self._answer(oracle))


def cheat(family, seed, trials, sign=1.0):
    """Is handed the secrets of all real trials, and those of strangers for the uniform ones."""
    handed = []
    for trial in range(trials // 2):
        real = family.instance(trial_seed(seed, family, "real", trial)).hidden.secret
        handed += [real, family.instance(10**6 + trial).hidden.secret]

    def answer(oracle):
        secret = handed.pop(0)
        return lambda x: sign * family.mean(secret, x)

    return Planted(answer)


def with_factor(factor):
    """Predictions X[l, 0] times a factor, a number or one an example."""

    def predict(x):
        out = np.zeros(x.shape)
        found = factor(x) if callable(factor) else factor
        out[:, :, 0] = x[:, :, 0] * np.reshape(found, (-1, 1))
        return out

    return predict


def of(predict):
    return Planted(lambda oracle: predict)


def coin(seed):
    """A hypothesis that is random, or wild."""
    return lambda x: np.random.default_rng(seed).normal(0, 3, x.shape)


@pytest.mark.parametrize("spec", FAMILIES)
def test_who_is_handed_the_secret_has_advantage_one(spec):
    family = parse(spec)
    found = distinguish(cheat(family, 5, 20), family, trials=20, seed=5)
    assert found.accepted("real") == 10
    assert found.accepted("uniform") <= 1
    low, high = found.interval
    assert 0 < low <= found.advantage <= high <= 1
    if found.accuracy is not None:
        noise = float(family.noise) if "lpn" not in spec else 0.1
        rounded = 0.5 + (1 - 2 * noise) ** 2 / 2
        assert found.accuracy == pytest.approx(rounded, abs=0.02)
        assert found.accuracy_interval[0] <= found.accuracy <= found.accuracy_interval[1]


def test_who_answers_the_opposite_is_never_right_and_never_accepted():
    family = parse(LWR)
    found = distinguish(cheat(family, 5, 20, sign=-1.0), family, trials=20, seed=5)
    assert found.accepted("real") == 0
    assert found.advantage <= 0
    assert found.accuracy == 0.0
    assert found.interval[0] <= 0 <= found.interval[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spec", [LWR, "parity:d=10,m=3,noise=0.1"])
def test_learners_of_nothing_have_an_interval_with_0_in_it(spec, seed):
    family = parse(spec)
    for learner in (
        parse_learner("trivial"),
        *map(of, (with_factor(1), with_factor(-0.3), coin(seed))),
    ):
        found = distinguish(learner, family, trials=10, seed=seed, heldout=1000)
        assert found.interval[0] < 0 < found.interval[1]
        assert abs(found.advantage) <= 0.2
        assert "nothing is shown" in distinction_words(found)


def test_invalid_hypotheses_count_as_no_knowledge():
    family = parse(LWR)
    for wrong in (lambda x: x * np.nan, lambda x: x[:, :1], lambda x: x.astype(str)):
        found = distinguish(of(wrong), family, trials=4, heldout=200)
        assert found.advantage == 0.0
        assert {play.loss for play in found.plays} == {1.0}


def test_coins_pass_as_rarely_as_the_threshold_says():
    """Hypotheses chosen without the held-out labels, at an alarm that is seen: 0.2."""
    family = parse("lwr:n=2,q=8,p=2")
    passed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=family.d)
        predict = with_factor(lambda x, weights=weights: (x[:, 0] * x[:, 1]) @ weights)
        found = score(predict, Uniform(family=family, seed=seed), 200)
        passed += found.score > threshold(0.2)
    assert 0 <= passed <= 40


def test_results_do_not_depend_on_the_number_of_workers():
    learner, family = parse_learner("lowdegree:degree=1"), parse("lwr:n=3,q=8,p=2,secret=binary")
    one, two = (distinguish(learner, family, trials=6, heldout=300, jobs=j) for j in (1, 2))

    def timeless(found):
        data = found.to_dict()
        data["usage"] = [{**p, "seconds": 0, "peak_bytes": 0} for p in data.pop("plays")]
        return data

    assert timeless(one) == timeless(two)
    assert timeless(one) != timeless(distinguish(learner, family, trials=6, heldout=300, seed=1))


def test_the_interval_covers_the_difference_of_any_two_probabilities():
    """Its coverage, by summing over all outcomes of Bernoulli trials in both worlds."""
    trials = 7
    counts = np.arange(trials + 1)
    ends = np.array(
        [[advantage_interval(r, u, trials, 0.9) for u in counts.tolist()] for r in counts.tolist()]
    )
    assert (ends[..., 0] <= (counts[:, None] - counts) / trials).all()
    assert (ends[..., 1] >= (counts[:, None] - counts) / trials).all()
    for p, q in itertools.product((0.0, 0.01, 0.1, 0.35, 0.5, 0.8, 0.97, 1.0), repeat=2):
        mass = np.outer(binom.pmf(counts, trials, p), binom.pmf(counts, trials, q))
        covered = (ends[..., 0] <= p - q + 1e-12) & (p - q - 1e-12 <= ends[..., 1])
        assert mass[covered].sum() >= 0.9


def test_rounding_at_random_is_as_accurate_as_the_formula_says():
    """Of levels 1 and -1: answer -1 with probability (1 - h')/2, compare with labels."""
    instance = parse("lwr:n=3,q=8,p=2").instance(0)
    family = instance.family
    guess = np.random.default_rng(1).uniform(-1, 1, 1 << family.d)

    def factor(x):
        place = ((x[:, 0] * x[:, 1]) < 0) @ (1 << np.arange(family.d))
        truth = family.mean(instance.hidden.secret, x)[:, 0, 0] * x[:, 0, 0]
        return 0.6 * guess[place] + 0.4 * truth

    found = score(with_factor(factor), instance, 4000)
    held_out = instance.examples(0, 4000, axis="heldout")
    rows = family.open(held_out.words)
    chance, labels = (1 - factor(held_out.x)[rows]) / 2, held_out.codes[rows]
    rng = np.random.default_rng(0)
    right = np.mean([(rng.random(len(chance)) < chance) == labels for _ in range(300)])
    assert 0.5 + found.agreement / 2 == pytest.approx(right, abs=5 / np.sqrt(300 * rows.sum()))


@pytest.mark.parametrize("spec", [LWR, "lpn:n=9,noise=0.2"])
@pytest.mark.parametrize("weight", [-1.0, -0.2, 0.0, 0.3, 0.7, 1.0, 4.0])
def test_the_accuracy_that_a_loss_implies_is_never_above_the_measured_one(spec, weight):
    instance = parse(spec).instance(2)
    rng = np.random.default_rng(0)

    def predict(x):
        truth = instance.family.mean(instance.hidden.secret, x)
        return weight * truth + rng.normal(0, abs(weight) / 2, x.shape)

    found = score(predict, instance, 500)
    assert implied_accuracy(found.bit_loss) <= 0.5 + found.agreement / 2 + 1e-12


@pytest.mark.parametrize("spec", FAMILIES)
def test_coins_have_the_tokens_and_the_shares_of_the_family(spec):
    family = parse(spec)
    source = Uniform(family=family, seed=4)
    whole = source.examples(0, 4000)
    for start, count in ((0, 1), (7, 100), (3999, 1)):
        assert source.examples(start, count).agrees(whole.cut(start, start + count))
    assert isinstance(whole, CodedExamples)
    assert (whole.words == family.instance(4).examples(0, 4000).words).all()
    family.restore(whole.tensors, 4000)
    counts = np.bincount(whole.codes[family.open(whole.words)], minlength=len(family.levels))
    shares = np.array([float(v) for v in family.shares])
    assert shares.sum() == pytest.approx(1)
    total = counts.sum()
    assert (np.abs(counts - total * shares) <= 5 * np.sqrt(total * shares) + 1).all()
    # A member's labels have the same shares.
    real = family.instance(4).examples(0, 4000)
    counts = np.bincount(real.codes[family.open(real.words)], minlength=len(family.levels))
    assert (np.abs(counts - total * shares) <= 5 * np.sqrt(total * shares) + 1).all()
    # What everyone expects is the mean of the coins.
    mean = float(sum(s * v for s, v in zip(family.shares, family.levels, strict=True)))
    assert family.expected(whole.words[:5]) == pytest.approx(np.full(5, mean), abs=1e-12)


def test_what_is_written_down():
    found = distinguish(parse_learner("trivial"), parse("lwe:n=3,q=17,sigma=1"), trials=4)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["accuracy"] is data["accuracy_interval"] is data["implied_accuracy"] is None
    assert (data["trials"], data["advantage"], data["confidence"]) == (4, 0.0, 0.95)
    assert data["accepted"] == {"real": 0, "uniform": 0}
    assert len(data["plays"]) == 4
    assert "more than two levels" in distinction_words(found)
    found = distinguish(parse_learner("elimination"), parse("parity:d=12,m=3"), trials=20)
    assert "lies above 0" in distinction_words(found)
    assert found.accuracy == found.implied_accuracy == 1.0
    budget, long = Budget(examples=50), parse("parity:d=64,m=3")  # of every trial
    found = distinguish(parse_learner("elimination"), long, trials=4, budget=budget, heldout=200)
    assert {play.outcome for play in found.plays} == {"examples spent"}
    assert found.to_dict()["usage"]["examples"] == 200


def test_what_cannot_be_played_is_refused():
    for more, word in (
        ({"trials": 3}, "even number"),
        ({"alarm": 0.0}, "between 0 and 1"),
        ({"heldout": 10}, "at least 100"),
        ({"jobs": 0}, "at least"),
    ):
        with pytest.raises(UsageError, match=word):
            distinguish(parse_learner("trivial"), parse(LWR), **{"trials": 4, **more})
    for learner, spec, word in (
        ("queries", "parity:d=9,m=2", "statistical queries"),
        ("elimination", LWR, "cannot run on"),
        ("trivial", "profile:g=majority,d=9,m=3", "for the family alone"),
        ("trivial", "lwe:n=8,q=2097152,sigma=1", "need q of at most"),
    ):
        with pytest.raises(ToolkitError, match=word):
            distinguish(parse_learner(learner), parse(spec), trials=4)


def test_the_interval_of_the_accuracy_is_that_of_hoeffding():
    found = distinguish(of(with_factor(0)), parse(LWR), trials=6, heldout=300, confidence=0.9)
    tested = sum(p.tested for p in found.plays if p.world == "real")
    assert 350 < tested < 550
    radius = math.sqrt(math.log(2 / 0.1) / (2 * tested))
    assert found.accuracy == 0.5
    assert found.accuracy_interval == pytest.approx((0.5 - radius, 0.5 + radius))


def test_too_few_trials_to_exclude_0_are_named():
    """Of a learner without claims: with 12 trials at most 6 of 6 and 0 of 6 can come out."""
    for trials, words in ((12, "No result of 12 trials excludes 0"), (14, "More trials make it")):
        found = distinguish(parse_learner("trivial"), parse("lpn:n=8,noise=0.1"), trials=trials)
        assert words in " ".join(distinction_words(found).split())
