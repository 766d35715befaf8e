import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.run import attempt
from hardness.upper import Outcome, bruteforce, mitm, parse_learner, restricted
from hardness.upper.attack import gather, needed
from hardness.upper.costs import MISS, UNIT, costs
from hardness.upper.restricted import expected_trials
from instances import ToolkitError, limits, parse
from instances.coded import CodedExamples
from instances.samples import samples

CASES = [
    ("bruteforce", "lwr:n=16,q=64,p=2,secret=binary,h=4"),
    ("bruteforce", "lwr:n=12,q=64,p=4,secret=ternary,h=3"),
    ("bruteforce", "lwr:n=3,q=8,p=2"),
    ("bruteforce", "lwr:n=3,q=32,p=4,secret=gaussian,spread=1"),
    ("bruteforce", "lwe:n=14,q=113,secret=binary,h=4,sigma=3"),
    ("bruteforce", "lwe:n=2,q=31,sigma=1"),
    ("bruteforce", "lwe:n=10,q=17,error=uniform,width=3,secret=ternary,h=2"),
    ("bruteforce", "window:n=12,q=32,parts=4,secret=binary,h=3"),
    ("bruteforce", "lpn:n=20,h=4,noise=0.2"),
    ("bruteforce", "lpn:n=10,noise=0.1"),
    ("bruteforce", "lpn:n=12,h=3,noise=0"),
    ("bruteforce", "parity:d=70,m=3,noise=0.1"),
    ("bruteforce", "parity:d=30,m=1"),
    ("bruteforce", "window:n=6,q=2,parts=2"),
    ("mitm", "lwr:n=20,q=1024,p=4,secret=binary,h=6"),
    ("mitm", "lwr:n=15,q=64,p=2,secret=ternary,h=3"),
    ("mitm", "lwr:n=10,q=64,p=4,secret=binary"),
    ("mitm", "lwe:n=21,q=113,secret=binary,h=5,sigma=2"),
    ("mitm", "lwe:n=5,q=17,secret=ternary,sigma=1"),
    ("mitm", "window:n=12,q=32,parts=4,secret=binary,h=4"),
    ("mitm", "lpn:n=24,h=4,noise=0.1"),
    ("mitm", "parity:d=41,m=5"),
    ("mitm", "parity:d=3,m=1"),
    ("restricted", "parity:d=60,m=3,noise=0.1"),
    ("restricted", "parity:d=130,m=6,noise=0.02"),
    ("restricted", "parity:d=66,m=4"),
    ("restricted", "lpn:n=20,noise=0.1"),
    ("restricted", "lpn:n=40,h=4,noise=0.1"),
    ("bkw", "lpn:n=32,noise=0.1"),
    ("bkw", "lpn:n=24,noise=0.2"),
    ("bkw", "parity:d=33,m=5,noise=0.1"),
    ("bkw", "lwe:n=6,q=31,sigma=1"),
    ("bkw", "lwe:n=4,q=17,error=uniform,width=2"),
    ("bkw", "lwr:n=5,q=32,p=4"),
    ("bkw", "lwr:n=5,q=16,p=2,secret=ternary"),
    ("bkw", "window:n=4,q=16,parts=4"),
]
ATTACKS = ("bruteforce", "mitm", "restricted", "bkw")


class Coins:
    """An instance whose labels are those of other examples: they say nothing."""

    def __init__(self, spec, seed=0):
        self.family = parse(spec)
        self._tokens, self._labels = (self.family.instance(seed + i) for i in (0, 1000))

    def examples(self, start, count):
        given, other = (i.examples(start, count, "x") for i in (self._tokens, self._labels))
        codes = np.resize(other.codes[self.family.open(other.words)], count)
        opened = self.family.open(given.words)
        codes = np.where(opened, codes, 0).astype(given.codes.dtype)
        return CodedExamples(family=self.family, words=given.words, codes=codes)


class Looks(Meter):
    """A clock that runs out after a number of looks at it."""

    def __init__(self, looks, budget=None):
        super().__init__(budget or Budget())
        self._looks = looks

    def has_time(self):
        self._looks -= 1
        return self._looks >= 0


def attack(learner, source, meter=None, seed=0):
    oracle = ExampleOracle(source, meter or Meter(Budget()))
    return attempt(parse_learner(learner), oracle, seed)[0]


@pytest.mark.parametrize(("learner", "spec"), CASES)
def test_planted_secrets_are_recovered(learner, spec):
    for seed in range(3):
        instance = parse(spec).instance(seed)
        found = attack(learner, instance, seed=seed)
        assert found.secret == instance.hidden.secret, (seed, found.details)
        assert found.outcome is None
        assert found.details["evidence"] >= found.details["evidence_wanted"] - 0.01


@pytest.mark.parametrize(("learner", "spec"), CASES)
def test_coins_give_no_secret(learner, spec):
    found = attack(learner, Coins(spec))
    assert found.secret is None
    assert found.outcome in (Outcome.INCONSISTENT, Outcome.NOT_FOUND)


@pytest.mark.parametrize(
    ("learner", "spec", "patch"),
    [
        ("bruteforce", "lwr:n=16,q=64,p=2,secret=binary,h=4", (bruteforce, "_STEP", 100)),
        ("bruteforce", "lwe:n=3,q=13,sigma=1", (bruteforce, "_STEP", 1000)),
        ("bruteforce", "lpn:n=10,noise=0.1", (bruteforce, "_STEP", 100)),
        ("mitm", "lwr:n=20,q=64,p=4,secret=binary,h=6", (mitm, "_WORK", 2000)),
        ("restricted", "parity:d=60,m=3,noise=0.1", (restricted, "_STEP", 20_000)),
        ("bkw", "lpn:n=16,noise=0.1", (bruteforce, "_STEP", 1)),
    ],
)
def test_a_search_that_was_cut_goes_on_where_it_stopped(learner, spec, patch, monkeypatch):
    monkeypatch.setattr(*patch)
    cuts = 0
    for seed in range(3):
        instance = parse(spec).instance(seed)
        whole = attack(learner, instance)
        start, tried = 0, 0
        while True:
            part = attack(
                f"{learner}:start={start}", instance, Looks(10 if learner == "mitm" else 6)
            )
            tried += part.details.get("tried", 0)
            if part.outcome is not Outcome.SECONDS_SPENT:
                break
            assert part.secret is None
            assert part.details["start"] > start
            start, cuts = part.details["start"], cuts + 1
        assert part.secret == whole.secret == instance.hidden.secret
        assert tried == whole.details.get("tried", 0)
        assert part.details.get("trials") == whole.details.get("trials")
    assert cuts or learner == "bkw"


def test_a_cut_within_an_order_of_bkw_starts_it_again():
    instance = parse("lpn:n=40,noise=0.1").instance(0)
    oracle = ExampleOracle(instance, Looks(7))
    found = attempt(parse_learner("bkw"), oracle, 0)[0]
    assert found.outcome is Outcome.SECONDS_SPENT
    assert found.details.get("start", 0) == 0
    again = attack("bkw:start=1", instance)
    assert again.details["order"] == 1
    assert again.secret == instance.hidden.secret


@pytest.mark.parametrize("learner", ATTACKS)
def test_few_examples_are_reported(learner):
    spec = "parity:d=41,m=3,noise=0.05"
    found = attack(learner, parse(spec).instance(0), Meter(Budget(examples=20)))
    assert found.outcome is Outcome.EXAMPLES_SPENT
    assert found.details["samples"] <= 20
    assert found.details["samples_wanted"] == needed(parse(spec).linear_forms)


@pytest.mark.parametrize("learner", ["bruteforce", "mitm"])
def test_fewer_samples_than_it_takes_to_be_sure_give_a_guess_and_its_doubt(learner):
    spec = "lwr:n=20,q=1024,p=4,secret=binary,h=4"  # 12.2 bits of secrets, 2 bits a sample
    instance = parse(spec).instance(1)
    found = attack(f"{learner}:samples=12", instance)
    assert found.outcome is Outcome.EXAMPLES_SPENT
    assert found.secret == instance.hidden.secret
    assert found.details["coins"] == pytest.approx(parse(spec).size * 2.0**-24)
    assert attack(f"{learner}:samples=8", instance).secret is None


def test_bkw_amplifies_few_samples():
    instance = parse("lpn:n=32,noise=0.1").instance(0)
    found = attack("bkw:samples=300", instance)
    assert found.details["amplified"]
    assert found.secret == instance.hidden.secret


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 16)
    instance = parse("lwr:n=40,q=1024,p=4,secret=binary,h=6").instance(0)
    with pytest.raises(ToolkitError, match="half secrets"):
        attack("mitm", instance)


@pytest.mark.parametrize("spec", ["lwe:n=4,q=31,sigma=2", "lwe:n=4,q=17,error=cbd,eta=2"])
def test_the_true_secret_is_seldom_given_up_and_costs_are_the_evidence(spec):
    for seed in range(50):
        instance = parse(spec).instance(seed)
        found = samples(instance.examples(0, 60))
        of = costs(found)
        t = of.shifts + found.a @ np.array(instance.hidden.secret)
        cost = of.tables[of.rows, t % found.family.q].astype(np.int64)
        assert (cost.cumsum() <= of.limits).all()
        best = math.log2(found.family.chances.max() * found.family.q)
        bits = len(found) * best - cost.sum() / UNIT
        assert bits == pytest.approx(found.evidence(instance.hidden.secret), abs=0.01 * len(found))


def test_trials_are_as_many_as_expected():
    d, m, noise = 40, 3, Fraction(1, 10)
    used = []
    for seed in range(60):
        found = attack(
            "restricted:samples=4000", parse(f"parity:d={d},m={m},noise=0.1").instance(seed)
        )
        used.append(found.details["trials"])
    expected = expected_trials(d, m, noise).expected  # geometric: deviation as large as the mean
    assert np.mean(used) == pytest.approx(expected, rel=4 / math.sqrt(60))


def test_differences_are_bounded_after_every_word():
    """The true secret lies beyond with a chance of 2^-20 at most, in all words together."""
    family = parse("lpn:n=5,noise=0.2")
    found = gather(ExampleOracle(family.instance(0), Meter(Budget())), 150, samples)
    bounds = bruteforce._differences(found)
    assert len(bounds) == 3
    for bound, count in zip(bounds, (64, 128, 150), strict=True):
        assert binom.sf(bound, count, 0.2) <= bruteforce.MISS / 3 < binom.sf(bound - 1, count, 0.2)


def test_limits_of_costs_are_missed_as_rarely_as_they_say():
    """By adding up the true secret's cost exactly, a distribution on whole numbers."""
    family = parse("lwe:n=3,q=17,sigma=1")
    found = gather(ExampleOracle(family.instance(0), Meter(Budget())), 12, samples)
    of = costs(found)
    table = of.tables[0][-np.arange(17) % 17]  # by error
    one = np.bincount(table, weights=family.chances)
    total, missed = np.ones(1), 0.0
    for limit in of.limits:
        total = np.convolve(total, one)
        missed += total[limit + 1 :].sum()
    assert missed <= MISS
    assert total[of.limits[-1] // 2 :].sum() > MISS


@pytest.mark.parametrize("name", ["bruteforce", "mitm", "bkw"])
@pytest.mark.parametrize("spec", ["lwr:n=6,q=3,p=3,secret=ternary,h=2", "lwr:n=4,q=2,p=2,h=4"])
def test_hardly_any_samples_are_too_few(name, spec):
    source = ExampleOracle(parse(spec).instance(0), Meter(Budget(examples=1)))
    found, _ = attempt(parse_learner(name), source, 0)
    assert found.outcome is Outcome.EXAMPLES_SPENT
