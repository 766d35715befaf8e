"""Fitted growth of comparisons: which sizes count, and what is certified."""

import json
import math
from fractions import Fraction

import pytest
from msgspec.structs import replace

from hardness.report.charts.costs import of_scaling
from hardness.report.comparison import scaling_words
from hardness.runs import Comparison, compare
from hardness.runs.growth import slope


@pytest.fixture(scope="module")
def ran():
    return compare("parity:m=2", "d=6..18..2", ("queries", "lowdegree:degree=1"), seeds=3)


def priced(comparison, cost, learner="queries"):
    """The same comparison, every run of a learner at a chosen number of queries."""
    values = dict(zip(comparison.specs, comparison.values, strict=True))
    runs = tuple(
        replace(r, usage=replace(r.usage, queries=cost(values[r.spec], r.seed)))
        if r.learner == learner
        else r
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
    runs = tuple(
        replace(r, risk=bad.risk, outcome=bad.outcome)
        if (r.learner, r.spec, r.seed) == ("queries", spec, seed)
        else r
        for r in comparison.runs
    )
    return replace(comparison, runs=runs)


def test_planted_costs_give_their_exponent(ran):
    assert of(priced(ran, lambda d, seed: 1000 * d**3)).law.exponent == pytest.approx(3)


def test_a_size_where_a_seed_did_not_pass_is_left_out_and_named(ran):
    found = priced(failed(ran, 10, 1), lambda d, seed: 1 if (d, seed) == (10, 1) else d**2)
    fit = of(found)
    assert fit.values == (6, 8, 12, 14, 16, 18)
    assert fit.left_out == ((10, "2 of 3 seeds passed"),)
    assert fit.law.exponent == pytest.approx(2)
    assert "queries: without d = 10: 2 of 3 seeds passed" in scaling_words(found)


def test_there_is_no_fit_of_few_sizes_or_of_one_cost(ran):
    few = ran
    for value in (6, 8, 10, 12):
        few = failed(few, value, 0)
    fit = of(few)
    assert (fit.law, len(fit.values)) == (None, 3)
    assert fit.no_fit.startswith("3 sizes count, 4 are needed")
    assert "3 sizes count, 4 are needed" in scaling_words(few)
    same = of(priced(ran, lambda d, seed: 77))
    assert same.law is None
    assert "the same 77 at every size" in same.no_fit
    assert of(ran, "lowdegree", "examples").no_fit == (
        "0 sizes count, 4 are needed, each with every seed passed"
    )


def test_a_cost_of_nothing_is_left_out(ran):
    fit = of(priced(ran, lambda d, seed: 0 if d == 6 else d))
    assert fit.left_out == ((6, "it took no queries"),)
    free = priced(ran, lambda d, seed: 0)
    assert not any(f.cost == "queries" for f in free.scaling.fits)


def test_values_of_0_are_left_out():
    found = compare("parity:d=8,m=2", "noise=0,0.1,0.2,0.25,0.3", ("queries",), seeds=2, terms=None)
    fit = of(found)
    assert fit.left_out[0] == (0, "a power law needs a value above 0")
    assert Fraction(1, 5) in fit.values or fit.no_fit
    assert of_scaling(found)["values"][0] == "0.1"


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
    assert found["stat-queries"].vacuous == (6, 8, 10, 12)  # 1, 1, 2 and 2 queries
    assert "degree m = 2 in d" in size.theory
    beside = of(ran)
    assert beside.beside == "stat-queries"
    assert beside.certified_exponent == pytest.approx(found["stat-queries"].exponent)


def test_a_bound_that_says_nothing_is_vacuous_and_not_fitted():
    found = compare("parity:m=1", "d=3..6", ("trivial",), seeds=1)
    bound = next(c for c in found.scaling.certified if c.quantity == "stat-queries")
    assert bound.vacuous == found.values
    assert (bound.values, bound.exponent) == ((), None)


def test_slopes_of_integers_of_any_size():
    assert slope({1000: 10**400, 2000: 32 * 10**400}) == pytest.approx(5)


def test_growth_is_no_part_of_a_file_and_is_computed_again(ran, tmp_path):
    ran.save(tmp_path / "results.json")
    stored = json.loads((tmp_path / "results.json").read_text())
    assert not {"scaling", "paired", "values"} & set(stored)
    assert Comparison.load(tmp_path).scaling == ran.scaling
    (tmp_path / "results.json").write_text(json.dumps(ran.to_dict()))  # as --json prints it
    assert Comparison.load(tmp_path) == ran
