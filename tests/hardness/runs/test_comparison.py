"""Comparisons: what is run; fitted growth of costs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.report.charts.costs import scaling_rows
from hardness.report.comparison import scaling_words
from hardness.runs import Comparison, compare, values_of
from hardness.runs.comparison import specs_over
from hardness.runs.growth import power_law, slope
from instances import UsageError
from instances.streams import BitStream, generator, key


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6..10..2", ("queries", "elimination"), seeds=2)


def test_runs_are_all_there_in_order(small):
    assert len(small.runs) == 3 * 2 * 2
    assert [r.seed for r in small.runs[:2]] == [0, 1]
    assert small.values == (6, 8, 10)
    assert len(small.runs_of("queries", 8)) == 2
    assert small.certificates[0].spec == "parity:d=6,m=2,noise=0,rho=3"


RANGES = {"d=8..10": (8, 9, 10), "m=1..6..2": (1, 3, 5), "d=9": (9,), "d=9,4,9": (4, 9)}


def test_ranges_and_a_parameter_that_replaces_what_the_spec_says(monkeypatch):
    for text, wanted in RANGES.items():
        assert values_of(text) == (text[0], wanted)
    for text in ("d", "d=", "d=a..b", "d=9..8", "d=1..5..0", "=3", "d=1...3", "d=-1"):
        with pytest.raises(UsageError, match="--over"):
            values_of(text)
    assert specs_over("parity-first", "m", (1, 2)) == [
        "parity:d=16,m=1,noise=0,rho=3",
        "parity:d=16,m=2,noise=0,rho=3",
    ]
    with pytest.raises(UsageError, match="parameters"):
        specs_over("parity:m=2", "k", (1,))
    # Nothing runs before everything was read.
    monkeypatch.setattr("hardness.runs.jobs.run", lambda *a, **k: pytest.fail("ran"))
    for spec, learners, seeds, words in (
        ("parity:m=5", ("elimination",), 1, "between 1 and 3"),
        ("parity:m=2", ("elimination", "elimniation"), 1, "elimination"),
        ("parity:m=2", ("elimination",), 0, "at least one"),
    ):
        with pytest.raises(UsageError, match=words):
            compare(spec, "d=4..8", learners, seeds=seeds)


def test_learners_named_twice_are_one_and_rows_are_not_mixed_up(tmp_path):
    names = ("lowdegree:degree=2", "lowdegree", "lowdegree:degree=1", "elimination")
    found = compare("parity:m=2", "d=6,8", names, seeds=1)
    assert found.learners == ("lowdegree:degree=2", "lowdegree:degree=1", "elimination")
    solved = {(c.learner.split(",")[0], c.value): c.solved for c in found.cells}
    assert solved[("lowdegree:degree=1", 8)] == 0
    assert solved[("lowdegree:degree=2", 8)] == solved[("elimination:checks=32", 8)] == 1
    found.save(tmp_path / "results.json")
    assert Comparison.load(tmp_path) == found


def test_a_bound_that_says_nothing_is_no_number_and_one_that_says_something_is():
    rows = compare("parity:m=3", "d=8..9", ("elimination",), seeds=1)._rows()
    bounds = [row for row in rows if row["learner"] == "certified at least"]
    assert [(row["queries"], row["examples"], row["known"]) for row in bounds] == [
        ("vacuous", 5, "exact"),
        ("vacuous", 6, "exact"),
    ]
    rows = compare("parity:m=1", "d=3..4", ("elimination",), seeds=1)._rows()
    assert [row["known"] for row in rows if row["examples"] == "vacuous"][:1] == ["vacuous"]


def test_a_comparison_of_bounds_alone_has_a_table(tmp_path):
    found = compare("parity:m=3", "d=8..9", ())
    frame = found.to_frame()
    assert list(frame["spec"].unique()) == list(found.specs)
    assert len(frame) == sum(len(one.claims) for one in found.certificates)
    found.save(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().count("sq-dimension,") == 2


@pytest.fixture(scope="module")
def ran():
    return compare("parity:m=2", "d=6..18..2", ("queries", "lowdegree:degree=1"), seeds=3)


def priced(comparison, cost, learner="queries"):
    """The same comparison, every run of a learner at a chosen number of queries."""
    values = dict(zip(comparison.specs, comparison.values, strict=True))
    runs = tuple(
        replace(r, queries=cost(values[r.spec], r.seed)) if r.learner == learner else r
        for r in comparison.runs
    )
    return replace(comparison, runs=runs)


def of(comparison, learner="queries", cost="queries"):
    return next(
        f for f in comparison.scaling.fits if f.learner.startswith(learner) and f.cost == cost
    )


def failed(comparison, value, seed):
    """The same comparison, where one run of `queries` learned nothing."""
    spec = comparison.specs[comparison.values.index(value)]
    bad = next(r for r in comparison.runs if r.learner.startswith("lowdegree"))

    def one(run):
        hit = (run.learner, run.spec, run.seed) == ("queries", spec, seed)
        return replace(run, risk_high=bad.risk_high, outcome=bad.outcome) if hit else run

    return replace(comparison, runs=tuple(map(one, comparison.runs)))


def test_a_size_where_a_seed_did_not_pass_is_left_out_and_named(ran):
    found = priced(failed(ran, 10, 1), lambda d, seed: 1 if (d, seed) == (10, 1) else d**2)
    fit = of(found)
    assert fit.values == (6, 8, 12, 14, 16, 18)
    assert fit.left_out == ((10, "2 of 3 seeds solved"),)
    assert fit.law.exponent == pytest.approx(2)
    assert "queries: without d = 10: 2 of 3 seeds solved" in scaling_words(found)


def test_there_is_no_fit_of_few_sizes_or_of_one_cost(ran):
    few = ran
    for value in (6, 8, 10, 12):
        few = failed(few, value, 0)
    fit = of(few)
    assert (fit.law, len(fit.values)) == (None, 3)
    assert fit.no_fit.startswith("3 sizes count, 5 are needed")
    assert "3 sizes count, 5 are needed" in scaling_words(few)
    same = of(priced(ran, lambda d, seed: 77))
    assert same.law is None
    assert "the same 77 at every size" in same.no_fit
    assert of(ran, "lowdegree", "examples").no_fit == (
        "0 sizes count, 5 are needed, each with every seed solved"
    )


def test_what_is_left_out_of_a_fit(ran):
    fit = of(priced(ran, lambda d, seed: 0 if d == 6 else 1000 * d**3))
    assert fit.left_out == ((6, "it took no queries"),)
    assert fit.law.exponent == pytest.approx(3)
    free = priced(ran, lambda d, seed: 0)
    assert not any(f.cost == "queries" for f in free.scaling.fits)
    found = compare("parity:d=8,m=2", "noise=0,0.1,0.2,0.25,0.3", ("queries",), seeds=2, terms=None)
    fit = of(found)
    assert fit.left_out[0] == (0, "a power law needs a value above 0")
    assert Fraction(1, 5) in fit.values or fit.no_fit
    assert scaling_rows(found)["values"][0] == "0.1"
    with pytest.raises(UsageError, match="no noise above 0"):
        scaling_rows(found.updated(specs=found.specs[:1], runs=found.runs[:2]))


def test_certified_growth_is_that_of_the_closed_form(ran):
    found = {one.quantity: one for one in ran.scaling.certified}
    assert set(found) == {"sq-dimension", "stat-queries", "information-floor"}
    size = found["sq-dimension"]
    for step in size.steps:
        d, e = step.start, step.end
        factor = Fraction(step.factor)
        assert factor == Fraction(math.comb(e - 1, 2), math.comb(d - 1, 2))
        assert step.slope == pytest.approx(math.log(factor) / math.log(e / d))
    assert size.steps[0].slope > size.steps[-1].slope > 2  # falls to the degree m
    assert size.vacuous == ()
    assert found["stat-queries"].vacuous == (6, 8, 10, 12)  # 1, 1, 2 and 2 queries
    assert "degree m = 2 in d" in size.theory
    beside = of(ran)
    assert beside.beside == "stat-queries"
    assert beside.certified_exponent == pytest.approx(found["stat-queries"].exponent)
    found = compare("parity:m=1", "d=3..6", ("trivial",), seeds=1)
    bound = next(c for c in found.scaling.certified if c.quantity == "stat-queries")
    assert (bound.vacuous, bound.values, bound.exponent) == (found.values, (), None)
    assert slope({1000: 10**400, 2000: 32 * 10**400}) == pytest.approx(5)  # integers of any size


# Fits by themselves.

SIZES = np.array([8.0, 11, 14, 17, 20])
WIDE = 8.0 * 2 ** np.arange(6)


def law_of(sizes, costs, name="test"):
    return power_law(np.asarray(sizes, float), np.asarray(costs, float), BitStream(key(0, name)))


def test_a_planted_exponent_is_found_exactly():
    found = law_of(WIDE, np.repeat(7 * WIDE[:, None] ** -1.5, 3, axis=1))
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
    ("kind", "seeds"), [("normal", 3), ("uniform cost", 1), ("uniform cost", 10), ("shrinking", 3)]
)
def test_intervals_cover(kind, seeds):
    rng, hits, count = generator(3, "cover", kind, seeds), 0, 100
    for i in range(count):
        costs = np.exp(3 * np.log(SIZES)[:, None] + noises(kind, (5, seeds), rng))
        law = law_of(SIZES, costs, f"cover {i}")
        assert law.low <= law.bootstrap[0] <= law.bootstrap[1] <= law.high
        hits += law.low <= 3 <= law.high
    assert hits >= 0.86 * count  # 0.93 or more, less chance


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
