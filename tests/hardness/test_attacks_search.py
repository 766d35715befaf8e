import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from hardness.kernels.halves import Fit, Sorted
from hardness.kernels.supports import Parities, SumsModQ, heads
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.run import attempt
from hardness.upper import Outcome, bruteforce, mitm, parse_learner, restricted
from hardness.upper.attack import needed
from hardness.upper.blocks import Rows, amplify, clear, scores
from hardness.upper.costs import MISS, UNIT, costs
from hardness.upper.equations import equations
from hardness.upper.middle import stride
from hardness.upper.restricted import expected_trials, success
from hardness.upper.search import gather
from instances import ToolkitError, limits, parse
from instances.coded import CodedExamples
from instances.samples import samples
from instances.tokens import pack

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


@pytest.mark.parametrize(
    ("learner", "spec", "said"),
    [
        ("bruteforce", "lwr:n=128,q=64,p=2,secret=binary,h=20", "at most 2\\^44"),
        ("bruteforce", "profile:g=majority,d=10,m=3", "profile given: it lacks `linear_forms`"),
        ("mitm", "lwr:n=512,q=64,p=2,secret=binary", "2\\^256.0 half secrets"),
        ("mitm", "nice:m=2,k=2,d=6", "nice given: it lacks `linear_forms`"),
        ("restricted", "lwe:n=8,q=17,sigma=1", "lwe given: it lacks `noisy_parities`"),
        ("restricted", "lpn:n=400,noise=0.2", "at most 2\\^50"),
        ("bkw", "lpn:n=300,noise=0.1", "2\\^22 samples"),
        ("bkw", "lwe:n=8,q=17,sigma=10", "say nothing"),
        ("bkw", "nice:m=2,k=2,d=6", "nice given: it lacks `linear_forms`"),
    ],
)
def test_what_cannot_be_attacked_is_refused_with_the_reason(learner, spec, said):
    assert re.search(said, parse_learner(learner).supports(parse(spec)))


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 16)
    instance = parse("lwr:n=40,q=1024,p=4,secret=binary,h=6").instance(0)
    with pytest.raises(ToolkitError, match="half secrets"):
        attack("mitm", instance)


def vectors(n, weight, values):
    for places in itertools.combinations(range(n), weight):
        for digits in itertools.product(range(values), repeat=weight):
            yield tuple(zip(places, digits, strict=True))


@pytest.mark.parametrize(("n", "weight", "values"), [(7, 3, 1), (5, 2, 3), (4, 4, 2), (6, 1, 2)])
def test_sums_mod_q_are_searched_through_as_by_hand(n, weight, values):
    rng = np.random.default_rng(n)
    q, many = 11, 7
    columns = rng.integers(0, q, (values, n, many))
    table = rng.integers(1, 100, (2, q)).astype(np.uint16)
    rows, shifts = rng.integers(0, 2, many), rng.integers(0, q, many)
    search = SumsModQ(columns, np.tile(table, 2), rows, shifts, np.full(many, 10**6))

    def cost(entries):
        t = shifts + sum(columns[v, j] for j, v in entries)
        return int(table[rows, t % q].sum())

    whole = heads(n, weight, values)
    tried, best = search.run(weight, 0, whole)
    assert tried == math.comb(n, weight) * values**weight
    everything = {v: cost(v) for v in vectors(n, weight, values)}
    assert best.cost == min(everything.values()) == everything[best.entries]
    parts = [search.run(weight, i, 1) for i in range(whole)]
    assert sum(p[0] for p in parts) == tried
    assert min(p[1].cost for p in parts if p[1]) == best.cost


@pytest.mark.parametrize(("n", "weight", "many"), [(9, 3, 70), (6, 1, 64), (7, 7, 5)])
def test_parities_are_searched_through_as_by_hand(n, weight, many):
    rng = np.random.default_rng(n)
    a, codes = rng.integers(0, 2, (many, n)), rng.integers(0, 2, many)
    words = -(-many // 64)
    search = Parities(pack(1 - 2 * a.T), pack(1 - 2 * codes), np.full(words, many))
    tried, best = search.run(weight, 0, heads(n, weight, 1))
    wrong = {
        s: int(((a[:, list(s)].sum(axis=1) + codes) % 2).sum())
        for s in itertools.combinations(range(n), weight)
    }
    assert tried == len(wrong)
    assert best.cost == min(wrong.values()) == wrong[tuple(j for j, _ in best.entries)]


@pytest.mark.parametrize(("keyed", "buckets"), [(1, 2), (2, 4), (3, 5), (2, 16)])
def test_all_pairs_that_fit_are_met(keyed, buckets):
    rng = np.random.default_rng(buckets)
    q, p, many = 16, 4, 6
    left, right = (rng.integers(0, q, (size, many)).astype(np.uint16) for size in (90, 120))
    rows, shifts = rng.integers(0, p, many), rng.integers(0, q, many)
    table = np.where(np.arange(q) * p // q == np.arange(p)[:, None], 0, 65535).astype(np.uint16)
    fit = Fit(
        tables=np.tile(table, 2),
        rows=rows,
        shifts=shifts,
        limits=np.zeros(many, np.int64),
        low=np.arange(p) * q // p,
        width=np.full(p, q // p),
        keyed=keyed,
        buckets=buckets,
    )
    met = Sorted(right, fit)
    sums = (shifts + left[:, None].astype(int) + right[None].astype(int)) % q
    fits = (sums * p // q == rows).all(axis=2)
    assert fits.any()
    for i in range(len(left)):
        pair = met.join(left[i : i + 1])[1]
        assert (pair is not None) == fits[i].any()
        assert pair is None or fits[i, pair[1]]


def test_some_rotation_of_the_window_has_half_of_any_support():
    for n in range(1, 10):
        assert math.gcd(stride(n), n) == 1
        windows = [{(i + r * stride(n)) % n for i in range(n // 2)} for r in range(n)]
        for h in range(1, n + 1):
            for support in itertools.combinations(range(n), h):
                assert any(len(w & set(support)) == h // 2 for w in windows)


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


@pytest.mark.parametrize("spec", ["parity:d=70,m=3,noise=0.1", "lpn:n=69,noise=0.1"])
def test_packed_equations_say_what_the_samples_say(spec):
    instance = parse(spec).instance(0)
    family, secret = instance.family, instance.hidden.secret
    found = equations(instance.examples(0, 300))
    bits = family.to_linear(secret)
    assert family.from_linear(bits) == secret
    lpn = gather(ExampleOracle(instance, Meter(Budget())), len(found))
    assert lpn.evidence(bits) == pytest.approx(found.evidence(bits))
    assert found.errors(bits) == int(((lpn.a @ np.array(bits) + lpn.codes) % 2).sum())
    assert not (found.words[:, 0] & np.uint64(1)).any()


def test_the_expected_number_of_trials_is_that_of_simulated_ones():
    d, m, noise, kept = 30, 3, Fraction(1, 10), 12
    rng = np.random.default_rng(0)
    places = rng.permuted(np.tile(np.arange(d - 1), (200_000, 1)), axis=1)[:, :kept]
    inside = (places < m).sum(axis=1) == m
    clean = (rng.random((200_000, kept)) >= 0.1).all(axis=1)
    assert (inside & clean).mean() == pytest.approx(success(d, m, noise, kept), rel=0.1)
    assert expected_trials(d, m, noise, kept).expected == pytest.approx(
        1 / success(d, m, noise, kept)
    )
    assert success(d, m, noise, 2) == 0


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


@pytest.mark.parametrize("q", [2, 5, 16])
def test_rounds_of_bkw_keep_samples_without_error(q):
    rng = np.random.default_rng(q)
    a = rng.integers(0, q, (300, 5)).astype(np.uint8)
    secret = rng.integers(0, q, 5)

    def labels(a, secret):
        out = np.exp(2j * np.pi * (a.astype(int) @ secret) / q)
        return out.real if q == 2 else out

    rows = Rows(q=q, a=a, labels=labels(a, secret))
    cleared = clear(rows, 2, 300)
    assert cleared.a.shape == (300, 3)
    assert np.allclose(cleared.labels, labels(cleared.a, secret[2:]))
    more = amplify(rows, 1000)
    assert more.a.shape == (1000, 5)
    assert np.allclose(more.labels, labels(more.a, secret))
    table = scores(cleared)
    every = np.array(list(itertools.product(range(q), repeat=3)))
    by_hand = np.real(cleared.labels @ np.conj([labels(cleared.a, s) for s in every]).T)
    assert np.allclose(table * math.sqrt(300), by_hand, atol=1e-6)
    assert (every[table.argmax()] == secret[2:] % q).all()


def test_differences_are_bounded_after_every_word():
    """The true secret lies beyond with a chance of 2^-20 at most, in all words together."""
    family = parse("lpn:n=5,noise=0.2")
    found = gather(ExampleOracle(family.instance(0), Meter(Budget())), 150)
    bounds = bruteforce._differences(found)
    assert len(bounds) == 3
    for bound, count in zip(bounds, (64, 128, 150), strict=True):
        assert binom.sf(bound, count, 0.2) <= bruteforce.MISS / 3 < binom.sf(bound - 1, count, 0.2)


def test_limits_of_costs_are_missed_as_rarely_as_they_say():
    """By adding up the true secret's cost exactly, a distribution on whole numbers."""
    family = parse("lwe:n=3,q=17,sigma=1")
    found = gather(ExampleOracle(family.instance(0), Meter(Budget())), 12)
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
