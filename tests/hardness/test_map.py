"""The map of noisy parity: its curves by second formulas, its files, its figure, its words."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.check.kernel.low_degree import advantage, least_examples
from hardness.lower import BoundParameters, certify
from hardness.lower.learners import LowDegree, certify_named
from hardness.oracles import Budget
from hardness.report.charts.parity_map import draw_map, of_map
from hardness.report.figures import numbers
from hardness.report.parity_map_words import map_words
from hardness.runs.information import (
    fano,
    least_of_layer,
    least_open,
    log_pmf,
    success_at_least,
    success_at_most,
)
from hardness.runs.noisy_parity import Map, noisy_map, usual
from hardness.runs.parity_curves import SPARE, Rates, curves, effort, moments
from hardness.upper import Outcome
from hardness.upper.restricted import work
from instances import UsageError, parse
from instances.capabilities import NOISY_PARITIES
from tests.charts import rows_of, said

RATES = Rates(candidate=1e-9, word=2e-9, group=5e-9, query=1e-10, example=1e-7, machine="a desk")
SPEC = "parity:d=16,m=2,noise=0.1"
SPECS = [
    "parity:d=32,m=3,noise=0.1",
    "parity:d=100,m=4,noise=0.1",
    "parity:d=200,m=8,noise=0.02",
    "parity:d=1000,m=10,noise=0.005",
    "parity:d=40,m=5,noise=0.4",
    "lpn:n=24,noise=0.1",
    "lpn:n=40,h=3,noise=0.25",
    "lpn:n=800,noise=0.2",
]


def characters(n: int, m: int) -> np.ndarray:
    """All parities of m of n bits, as masks (M, n)."""
    sets = itertools.combinations(range(n), m)
    return np.array([[int(j in s) for j in range(n)] for s in sets])


def likelihood_success(n: int, m: int, noise: float, examples: int, trials: int) -> np.ndarray:
    """How often the nearest parity is the hidden one, ties drawn: a chance a trial."""
    rng = np.random.default_rng(1)
    masks = characters(n, m)
    out = np.empty(trials)
    for i in range(trials):
        labels = masks @ rng.integers(0, 2, (n, examples)) % 2
        hidden = labels[i % len(masks)] ^ (rng.random(examples) < noise)
        errors = (labels ^ hidden).sum(axis=1)
        nearest = np.flatnonzero(errors == errors.min())
        out[i] = (i % len(masks) in nearest) / len(nearest)
    return out


@pytest.mark.parametrize(
    ("n", "m", "noise", "examples"),
    [(8, 2, 0.1, 8), (8, 2, 0.1, 16), (9, 3, 0.05, 9), (9, 3, 0.2, 24), (10, 1, 0.3, 30)],
)
def test_maximum_likelihood_lies_between_the_bounds(n, m, noise, examples):
    found = likelihood_success(n, m, noise, examples, 3000)
    error = 4 * found.std() / math.sqrt(len(found))
    size = math.comb(n, m)
    low = success_at_least(size, noise, examples)
    high = success_at_most(size, noise, examples)
    assert low - error <= found.mean() <= high + error
    assert high - low < 0.45  # both say something here
    assert fano(size, noise, found.mean() - error) <= examples


def exact_most(size: int, noise: Fraction, examples: int) -> Fraction:
    """The power of the best test of false alarm 1/size, by filling up the likeliest counts."""
    left, power = Fraction(1, size), Fraction(0)
    for e in range(examples + 1):
        coins = Fraction(math.comb(examples, e), 2**examples)
        flips = math.comb(examples, e) * noise**e * (1 - noise) ** (examples - e)
        share = min(Fraction(1), left / coins)
        power, left = power + share * flips, left - share * coins
    return power


def exact_least(size: int, noise: Fraction, examples: int) -> Fraction:
    lost = Fraction(0)
    for e in range(examples + 1):
        nearer = Fraction(sum(math.comb(examples, i) for i in range(e + 1)), 2**examples)
        flips = math.comb(examples, e) * noise**e * (1 - noise) ** (examples - e)
        lost += flips * min(Fraction(1), (size - 1) * nearer)
    return 1 - lost


@pytest.mark.parametrize("noise", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 200)])
@pytest.mark.parametrize("size", [3, 45, 10**6, 10**23])
def test_bounds_on_the_chance_are_those_of_exact_sums(size, noise):
    for examples in (1, 2, 7, 30, 90, 160):
        most = success_at_most(size, float(noise), examples)
        assert most == pytest.approx(float(exact_most(size, noise, examples)), rel=1e-9)
        low = success_at_least(size, float(noise), examples)
        assert low == pytest.approx(max(0.0, float(exact_least(size, noise, examples))), abs=1e-9)
        assert low <= most + 1e-12


def test_fano_is_the_formula_for_three_sets():
    assert fano(3, 0.1, 1 / 3) == pytest.approx(0, abs=1e-12)  # a guess
    bits = 1 + 0.1 * math.log2(0.1) + 0.9 * math.log2(0.9)
    assert fano(3, 0.1, 2 / 3) * bits == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "noise", "success"),
    [(455, 0.1, 0.1), (10**13, 0.02, 0.5), (10**23, 0.005, 0.99), (50, 0.4, 2 / 3)],
)
def test_thresholds_are_the_first_and_in_order(size, noise, success):
    low, high = (least_open(size, noise, success, f) for f in (success_at_most, success_at_least))
    assert fano(size, noise, success) <= low <= high
    assert success_at_most(size, noise, low) >= success > success_at_most(size, noise, low - 1)
    assert success_at_least(size, noise, high) >= success > success_at_least(size, noise, high - 1)


@pytest.mark.parametrize(
    ("size", "noise", "success"),
    [(math.comb(99, 4), 0.1, 2 / 3), (math.comb(199, 8), 0.02, 0.1), (20, 0.3, 0.9)],
)
def test_counts_of_the_layer_are_means_over_how_many_are_open(size, noise, success):
    found = [least_of_layer(size, noise, success, f) for f in (success_at_most, success_at_least)]
    for count, bound in zip(found, (success_at_most, success_at_least), strict=True):

        def mean(examples, bound=bound):
            ways = (math.comb(examples, n) for n in range(examples + 1))
            return sum(way * bound(size, noise, n) for n, way in enumerate(ways)) / 2**examples

        assert mean(count) >= success - 1e-9 > mean(count - 1) - 2e-9
    assert found[0] <= found[1]


def test_many_examples_are_counted_in_steps_to_the_careful_side():
    size, noise = math.comb(99, 4), 0.45
    floor, enough = (
        least_of_layer(size, noise, 2 / 3, f) for f in (success_at_most, success_at_least)
    )
    opened = [least_open(size, noise, 2 / 3, f) for f in (success_at_most, success_at_least)]
    assert floor == pytest.approx(2 * opened[0], rel=0.01)
    assert enough == pytest.approx(2 * opened[1], rel=0.01)
    for count, bound, side in ((floor, success_at_most, 1), (enough, success_at_least, -1)):
        every = np.arange(count // 2 - 300, count // 2 + 300)
        chances = np.exp(log_pmf(count, 0.5)[every])
        mean = chances @ [bound(size, noise, int(n)) for n in every]
        assert side * (2 / 3 - mean) > -1e-9  # the exact mean is not past what was claimed
        assert mean == pytest.approx(2 / 3, abs=0.02)


def test_the_low_degree_ratio_is_that_of_all_labels():
    """The mean square of the ratio over all tokens and labels, at n = 3, m = 1 and two examples."""
    n, m, fade, examples = 3, 1, Fraction(3, 5), 2
    masks = characters(n, m)
    tokens = list(itertools.product((0, 1), repeat=n))
    total, count = Fraction(0), 0
    for drawn in itertools.product(tokens, repeat=examples):
        for labels in itertools.product((1, -1), repeat=examples):
            likelihood = Fraction(0)
            for mask in masks:
                product = Fraction(1)
                for z, y in zip(drawn, labels, strict=True):
                    product *= 1 + fade * y * (-1) ** int(mask @ np.array(z))
                likelihood += product / len(masks)
            total, count = total + likelihood**2, count + 1
    assert total / count - 1 == advantage(moments(len(masks), fade, examples), examples)


def test_low_degree_thresholds_are_those_of_the_ratio_by_degree():
    family = parse("parity:d=100,m=4,noise=0.1")
    size, fade = family.size, Fraction(4, 5)
    assert advantage(moments(size, fade, 1), 200) == Fraction(16, 470547)
    assert advantage(moments(size, fade, 2), 200) == Fraction(16, 7275)
    for groups in range(1, 7):
        made = certify_named(family, [LowDegree(degree=5 * groups)])
        expected = made.integer("low-degree-examples-open")
        assert least_examples(moments(size, fade, groups)) == expected
        rough = (math.factorial(groups) * size) ** (1 / groups) / float(fade**2)
        assert 0.7 * rough < expected < 1.1 * rough + groups


@pytest.mark.parametrize("equations", [60, 150, 3000])
def test_scarce_examples_take_the_least_work_over_all_kept(equations):
    from scipy.stats import binom

    family = NOISY_PARITIES.need(parse("parity:d=40,m=3,noise=0.1"))
    flipped = int(binom.ppf(0.5, equations, 0.1))
    costs = {
        k: work(40, k)
        * Fraction(math.comb(39, 3), math.comb(k, 3))
        * Fraction(math.comb(equations, k), math.comb(equations - flipped, k))
        for k in range(3, 40)
        if k <= min(equations - flipped, equations - SPARE)
    }
    found = effort(family, equations, 0.5)
    best = min(costs, key=costs.__getitem__)
    assert found.kept == best
    assert found.operations == pytest.approx(float(costs[best]), rel=1e-9)
    assert found.trials == pytest.approx(found.operations / work(40, best), rel=1e-9)
    assert effort(family, 12, 0.5) is None


@pytest.mark.parametrize("spec", SPECS)
def test_curves_stand_in_order(spec):
    family = parse(spec)
    found = {curve.name: curve for curve in curves(family, RATES)}
    size = NOISY_PARITIES.need(family).size
    floors = [
        found[name].marks[0].examples
        for name in ("Fano's inequality", "information floor", "union bound")
    ]
    assert floors == sorted(floors)
    brute = found["brute force"].marks[0]
    assert brute.examples == floors[2]
    assert brute.seconds == pytest.approx(size * 1e-9 + brute.examples * 1e-7)
    bent = found["restricted elimination"].marks
    assert [m.seconds for m in bent] == sorted((m.seconds for m in bent), reverse=True)
    assert all(m.examples >= floors[2] for m in bent)
    tests = [m.examples for m in found["low-degree tests"].marks]
    assert tests == sorted(tests, reverse=True)
    assert all(x >= floors[2] for x in tests)
    assert all(curve.says and curve.known and curve.source for curve in found.values())


def test_the_query_line_is_that_of_the_certificate():
    family = parse("parity:d=100,m=4,noise=0.1")
    (line,) = (c for c in curves(family, RATES) if c.role == "queries")
    product = line.marks[0].seconds / RATES.query
    for count in (80, 1000, 10**5):
        claims = certify(family, BoundParameters(vstat=count)).claims
        (asked,) = (c.value for c in claims if c.quantity == "vstat-queries")
        # A query rules out a whole number of members: the certificate's cap is rounded down.
        cap = Fraction(3 * count, 4) * (1 - 2 * family.noise) ** 2
        assert product * (1 - 1e-9) <= int(asked) * count < product * cap / math.floor(cap) + count
    assert line.marks[1].note.startswith("1 queries")


@pytest.fixture(scope="module")
def small():
    made = noisy_map(parse(SPEC), ("restricted", "bruteforce"), seeds=2, budget=Budget(seconds=30))
    return made.updated(rates=RATES)


def drawn(family, rates=RATES):
    """A map without runs."""
    return Map(spec=family.spec, rates=rates, runs=(), left_out={})


@pytest.mark.clocks
def test_learners_find_the_set_and_a_seed_gives_the_same(small):
    again = noisy_map(parse(SPEC), ("restricted", "bruteforce"), seeds=2)
    for field in ("candidate", "word", "group", "query", "example"):
        assert 0 < getattr(again.rates, field) < math.inf, field
    assert len(small.runs) == 4
    assert all(run.secret_recovered for run in small.runs)
    for one, two in zip(small.runs, again.runs, strict=True):
        assert (one.learner, one.seed, one.details) == (two.learner, two.seed, two.details)
        assert one.usage.examples == two.usage.examples


def test_what_is_not_worth_a_run_is_left_out_with_the_reason():
    family = parse("parity:d=200,m=6,noise=0.02")
    named, left = usual(drawn(family), budget=5.0)
    assert "restricted" in named
    assert "bruteforce" in left
    assert "times the budget" in left["bruteforce"]
    assert "monomials" in left["lowdegree:degree=6"]
    tight = [name for name in named if name.startswith("restricted:")]
    assert len(tight) == 1
    family = parse("parity:d=10,m=2,noise=0.1")
    assert "lowdegree:degree=2" in usual(drawn(family), 5.0)[0]


def test_a_map_is_drawn_from_its_file_alone(small, tmp_path):
    small.save(tmp_path / "results.json")
    assert Map.load(tmp_path).curves == small.curves
    assert [c["name"] for c in small.to_dict()["curves"]] == [c.name for c in small.curves]
    data = numbers("map", tmp_path)
    assert data == {"figure": "map", **of_map(small)}
    assert json.loads(json.dumps(data)) == data
    assert "no learner at all" in said("map", data)


def test_hollow_marks_did_not_find_the_set(small):
    lost = small.runs[0].updated(secret_recovered=None, outcome=Outcome.SECONDS_SPENT, risk=None)
    data = of_map(small.updated(runs=(lost, *small.runs[1:])))
    assert [r["solved"] for r in data["rows"] if r["kind"] == "run"] == [False, True, True, True]
    drawn = [row["solved"] for row in rows_of(draw_map(data)) if row.get("kind") == "run"]
    assert drawn == [False, True, True, True]


@pytest.mark.parametrize("spec", SPECS[3::4])
def test_maps_of_all_sizes_are_drawn_and_said_in_80_columns(spec, small):
    family = parse(spec)
    found = drawn(family).updated(left_out={"x": "y " * 60})
    assert "information floor" in said("map", of_map(found))
    text = map_words(found)
    assert max(map(len, f"{text}\n{map_words(small)}".splitlines())) <= 80
    assert "2/2" in map_words(small)
    assert "not claimed" in text
    for curve in found.curves:  # one without marks is left out
        assert (curve.name in text) == bool(curve.marks)
        assert not curve.marks or curve.known in text.replace("\n  ", " ")


def test_what_has_no_map_is_refused():
    """What test_mistakes.py has not."""
    for spec, word in (
        ("profile:g=majority,d=8,m=3", "parity or lpn"),
        ("parity:d=16,m=3,noise=0.49999", "lower the noise"),
        ("lpn:n=2000,noise=0.2", "lower its size"),
    ):
        with pytest.raises(UsageError, match=word):
            curves(parse(spec), RATES)
