"""The two-sample test: kernel, moments, both worlds, and the learner that scores coordinates."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hardness.kernels.pairsums import strips
from hardness.lower.learners import LowDegree, certify_named
from hardness.measures.pairs import PairStatistic
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.run import attempt, run
from hardness.upper import Outcome, parse_learner
from hardness.upper.pairs import pairs_cost, success, tables
from hardness.upper.signs import signs
from instances import parse
from instances.krawtchouk import column
from instances.symmetric import to_float
from instances.tokens import pack

FAMILIES = [  # with levels at which they have a part
    ("parity:d=6,m=2,noise=0.1", 2),
    ("parity:d=7,m=3", 3),
    ("profile:g=majority,d=8,m=3,noise=0.1", 1),
    ("profile:g=majority,d=8,m=3,noise=0.1", 3),
    ("profile:g=threshold(1),d=7,m=3,noise=0.05", 2),
    ("profile:g=exactly(2),d=8,m=4,noise=0.1", 2),
    ("profile:g=mod(3),d=7,m=4", 3),
]


def pair_sums(words, values, table):
    return sum(strips(words, values, table))


def cube(n):
    return np.array(list(itertools.product([1, -1], repeat=n)))


def characters(z, degree):
    """chi_T(z) for all T of a size: (points, sets)."""
    sets = itertools.combinations(range(z.shape[1]), degree)
    return np.stack([z[:, list(t)].prod(axis=1) for t in sets], axis=1)


def drawn(n, count, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice([-1, 1], (count, n))
    return z, pack(z), rng.normal(size=count)


def test_the_kernel_is_the_sum_over_all_sets():
    for n in range(1, 9):
        z = cube(n)
        distance = (n - z @ z.T) // 2
        for degree in range(n + 1):
            chi = characters(z, degree)
            assert (np.array(column(n, degree))[distance] == chi @ chi.T).all()


@pytest.mark.parametrize(("spec", "level"), FAMILIES)
def test_scores_are_the_sums_over_sets_with_the_coordinate(spec, level):
    statistic = PairStatistic.of(parse(spec), level)
    n = statistic.n
    z, words, v = drawn(n, 40)
    chi = characters(z, level) * v[:, None]
    pairs = ((chi.sum(axis=0)) ** 2 - (chi**2).sum(axis=0)) / 2  # of every set T
    sets = list(itertools.combinations(range(n), level))
    expected = [sum(p for p, t in zip(pairs, sets, strict=True) if a in t) for a in range(n)]
    common, own = tables(statistic)
    found = pair_sums(words, z * v[:, None], own) + pair_sums(words, v[:, None], common)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    whole = pair_sums(words, v[:, None], np.array(column(n, level), np.float64))
    assert found.sum() == pytest.approx(level * whole[0])


@pytest.mark.parametrize(("spec", "level"), FAMILIES)
def test_moments_by_summing_over_all_tokens_and_signs(spec, level):
    """The pair's term and its conditional mean, on the whole cube."""
    family = parse(spec)
    statistic = PairStatistic.of(family, level)
    fade, mu, z = to_float(statistic.fade), to_float(statistic.mu), cube(family.d - 1)
    chi = characters(z, level).astype(float)
    kernel = chi @ chi.T
    high = max(family.values)
    value = np.array([1 if v == high else -1 for v in family.values])
    plus = (1 + fade * value[(z[:, : family.m] < 0).sum(axis=1)]) / 2  # Pr[s = 1 | z]
    first = plus * (1 - mu) - (1 - plus) * (1 + mu)
    assert first.mean() == pytest.approx(0, abs=1e-12)
    points = len(z)
    mean = first @ kernel @ first / points**2
    coins = (1 - mu**2) ** 2 * (kernel**2).mean()
    assert to_float(statistic.edge * statistic.inside) == pytest.approx(mean)
    assert to_float(statistic.strength) == pytest.approx(mean**2 / coins)


@pytest.mark.parametrize("spec", ["parity:d=100,m=4,noise=0.1", "parity:d=24,m=3"])
def test_the_square_of_the_advantage_is_a_step_of_the_low_degree_ratio(spec):
    """From degree 2 m + 1 to 2 (m + 1), at 200 open examples: equal as rationals."""
    family = parse(spec)
    low, high = (
        Fraction(made.value("low-degree-advantage-open"))
        for degree in (2 * family.m + 1, 2 * family.m + 2)
        for made in [certify_named(family, [LowDegree(degree=degree, examples=200)])]
    )
    strength = Fraction(str(PairStatistic.of(family).strength))
    assert math.comb(200, 2) * strength == high - low > 0


def learned(learner, spec, seed=0, **budget):
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


@pytest.mark.parametrize(
    "spec",
    [
        "parity:d=24,m=3,noise=0.1",
        "parity:d=70,m=2,noise=0.3",
        "parity:d=20,m=5",
        "parity:d=4,m=3,noise=0.2",
        "profile:g=majority,d=60,m=5,noise=0.1",
        "profile:g=threshold(1),d=20,m=3",
        "profile:g=exactly(2),d=20,m=4,noise=0.05",
        "profile:g=mod(3),d=16,m=4",
    ],
)
def test_it_learns_from_what_it_predicts(spec):
    for seed in range(2):
        found = learned("pairs", spec, seed)
        assert found.secret_recovered
        assert found.outcome is Outcome.SOLVED
        plan = pairs_cost(parse(spec), miss=0.01)
        assert found.details["samples"] == plan.opened
        assert found.usage.examples < 2.5 * plan.opened + 100


@pytest.mark.parametrize("level", [1, 3])
def test_any_level_with_a_part_will_do(level):
    found = learned(f"pairs:level={level}", "profile:g=majority,d=16,m=3,noise=0.1")
    assert found.secret_recovered
    assert found.details["level"] == level


def hits(spec, opened, seeds):
    """How often the m largest scores are those of the hidden set."""
    family = parse(spec)
    statistic, found = PairStatistic.of(family), 0
    for seed in range(seeds):
        instance = family.instance(seed)
        given = signs(instance.examples(0, 3 * opened + 50)).cut(opened)
        values = given.z * (given.signs - to_float(statistic.mu))[:, None]
        scores = pair_sums(given.words, values, tables(statistic)[1])
        found += set(np.argsort(-scores)[: family.m] + 1) == set(instance.hidden.secret)
    return found / seeds


@pytest.mark.parametrize("spec", ["parity:d=24,m=3,noise=0.1", "profile:g=majority,d=60,m=5"])
def test_success_is_about_as_predicted(spec):
    statistic = PairStatistic.of(parse(spec))
    for opened in (20, 60, 120):
        predicted = success(statistic, opened)
        assert abs(hits(spec, opened, 60) - predicted) < 0.25
    assert success(statistic, 20) < 0.1
    assert success(statistic, 1000) > 0.999


def test_it_fails_well_below_its_prediction_and_says_so():
    few = pairs_cost(parse("parity:d=60,m=3"), miss=0.01).opened // 4
    outcomes = [learned(f"pairs:samples={few}", "parity:d=60,m=3", seed) for seed in range(6)]
    assert sum(bool(found.secret_recovered) for found in outcomes) <= 2
    missed = [found for found in outcomes if not found.secret_recovered]
    assert {found.outcome for found in missed} == {Outcome.EXAMPLES_SPENT}
    assert all("claimed_secret" not in found.details for found in missed)


class Coins:
    """An instance whose labels are those of other examples: they say nothing."""

    def __init__(self, spec, seed):
        self.family = parse(spec)
        self._tokens, self._labels = (self.family.instance(seed + i) for i in (0, 1000))

    def examples(self, start, count):
        given, other = (i.examples(start, count, "x") for i in (self._tokens, self._labels))
        codes = np.resize(other.codes[self.family.open(other.words)], count)
        codes = np.where(self.family.open(given.words), codes, 0).astype(given.codes.dtype)
        return replace(given, codes=codes)


@pytest.mark.parametrize(
    "spec", ["parity:d=14,m=3,noise=0.1", "parity:d=12,m=2", "profile:g=threshold(1),d=14,m=3"]
)
def test_coins_show_no_secret(spec):
    for seed in range(20):
        oracle = ExampleOracle(Coins(spec, seed), Meter(Budget()))
        found, _ = attempt(parse_learner("pairs"), oracle, seed)
        assert found.secret is None
        assert found.outcome is Outcome.NOT_FOUND


@pytest.mark.parametrize("spec", ["parity:d=12,m=2,noise=0.2", "profile:g=threshold(1),d=9,m=3"])
def test_evidence_is_the_logarithm_of_a_ratio_of_chances(spec):
    """Its mean over coins of 2^evidence is 1, which is what makes belief rare among them."""
    family = parse(spec)
    statistic = PairStatistic.of(family)
    mu, fade = to_float(statistic.mu), to_float(statistic.fade)
    instance = family.instance(0)
    given = signs(instance.examples(0, 40))
    secret = instance.hidden.secret
    high = max(family.values)
    h = (given.z[:, [j - 1 for j in secret]] < 0).sum(axis=1)
    value = np.array([1 if v == high else -1 for v in family.values])[h]
    chances = (1 + fade * value * given.signs) / (1 + mu * given.signs)
    assert given.evidence(secret) == pytest.approx(np.log2(chances).sum())
    total = sum((1 + mu * s) / 2 * (1 + fade * value * s) / (1 + mu * s) for s in (-1, 1))
    assert total == pytest.approx(np.ones(len(value)))


def test_what_it_costs_grows_with_the_root_of_the_members_and_the_square_of_the_noise():
    def opened(spec):
        return pairs_cost(parse(spec)).opened

    for m in (4, 6, 8):
        growth = opened(f"parity:d=401,m={m + 2}") / opened(f"parity:d=401,m={m}")
        members = math.comb(399, m + 1) / math.comb(399, m - 1)
        assert growth == pytest.approx(members**0.5, rel=0.05)
    noisy = opened("parity:d=401,m=5,noise=0.25") / opened("parity:d=401,m=5")
    assert noisy == pytest.approx(4, rel=0.05)
    plan = pairs_cost(parse("parity:d=1001,m=20"))
    assert plan.opened > 2**60
    assert plan.examples == 2 * plan.opened
    assert plan.operations == math.comb(plan.opened, 2) * 1001
    assert plan.seconds > 1e20
    assert pairs_cost(parse("parity:d=100000,m=120")).opened > 2**390
