"""Fitted growth of comparisons: which sizes count, what is certified, and what files may say."""

import dataclasses
import json
import math
from fractions import Fraction

import pytest

from hardness.report.charts.costs import of_scaling
from hardness.report.scaling import scaling_words
from hardness.runs import compare, read_comparison, scaling
from hardness.runs.fits import slope
from instances.errors import DamagedFile


@pytest.fixture(scope="module")
def ran():
    return compare("parity:m=2", "d=6..18..2", ("queries", "lowdegree:degree=1"), seeds=3)


def priced(comparison, cost, learner="queries"):
    """The same comparison, every run of a learner at a chosen number of queries."""
    values = dict(zip(comparison.specs, comparison.values, strict=True))
    runs = tuple(
        dataclasses.replace(
            r, usage=dataclasses.replace(r.usage, queries=cost(values[r.spec], r.seed))
        )
        if r.learner == learner
        else r
        for r in comparison.runs
    )
    return dataclasses.replace(comparison, runs=runs)


def of(comparison, learner="queries", cost="queries"):
    return next(
        f for f in scaling(comparison).fits if f.learner.startswith(learner) and f.cost == cost
    )


def failed(comparison, value, seed):
    """The same comparison, where one run of `queries` learned nothing."""
    spec = comparison.specs[comparison.values.index(value)]
    bad = next(r for r in comparison.runs if r.learner.startswith("lowdegree"))
    runs = tuple(
        dataclasses.replace(r, risk=bad.risk, outcome=bad.outcome)
        if (r.learner, r.spec, r.seed) == ("queries", spec, seed)
        else r
        for r in comparison.runs
    )
    return dataclasses.replace(comparison, runs=runs)


def test_planted_costs_give_their_exponent(ran):
    fit = of(priced(ran, lambda d, seed: 1000 * d**3))
    assert fit.growth.power.rate == pytest.approx(3)
    assert fit.growth.verdict == "power law"
    fit = of(priced(ran, lambda d, seed: 2**d))
    assert fit.growth.exponential.rate == pytest.approx(math.log(2))
    assert fit.growth.verdict == "exponential"


def test_a_size_where_a_seed_did_not_pass_is_left_out_and_named(ran):
    found = priced(failed(ran, 10, 1), lambda d, seed: 1 if (d, seed) == (10, 1) else d**2)
    fit = of(found)
    assert fit.values == (6, 8, 12, 14, 16, 18)
    assert fit.left_out == ((10, "2 of 3 seeds passed"),)
    assert fit.growth.power.rate == pytest.approx(2)
    assert "queries: without d = 10: 2 of 3 seeds passed" in scaling_words(found)


def test_there_is_no_fit_of_few_sizes_or_of_one_cost(ran):
    few = ran
    for value in (6, 8, 10, 12):
        few = failed(few, value, 0)
    fit = of(few)
    assert (fit.growth, len(fit.values)) == (None, 3)
    assert fit.no_fit.startswith("3 sizes count, 4 are needed")
    assert "3 sizes count, 4 are needed" in scaling_words(few)
    same = of(priced(ran, lambda d, seed: 77))
    assert same.growth is None
    assert "the same 77 at every size" in same.no_fit
    assert of(ran, "lowdegree", "examples").no_fit == (
        "0 sizes count, 4 are needed, each with every seed passed"
    )


def test_a_cost_of_nothing_is_left_out(ran):
    fit = of(priced(ran, lambda d, seed: 0 if d == 6 else d))
    assert fit.left_out == ((6, "it took no queries"),)
    free = priced(ran, lambda d, seed: 0)
    assert not any(f.cost == "queries" for f in scaling(free).fits)


def test_values_of_0_are_left_out():
    found = compare("parity:d=8,m=2", "noise=0,0.1,0.2,0.25,0.3", ("queries",), seeds=2, terms=None)
    fit = of(found)
    assert fit.left_out[0] == (0, "a power law needs a value above 0")
    assert Fraction(1, 5) in fit.values or fit.no_fit
    assert of_scaling(found)["values"][0] == "0.1"


def test_certified_growth_is_that_of_the_closed_form(ran):
    found = {one.quantity: one for one in scaling(ran).certified}
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
    bound = next(c for c in scaling(found).certified if c.quantity == "stat-queries")
    assert bound.vacuous == found.values
    assert (bound.values, bound.exponent, bound.rate) == ((), None, None)


def test_slopes_of_integers_of_any_size():
    assert slope([1000, 2000], [10**400, 32 * 10**400], exponential=False) == pytest.approx(5)


def write(tmp_path, data):
    (tmp_path / "results.json").write_text(json.dumps(data))
    return read_comparison(tmp_path)


def test_results_with_their_growth_are_read_and_earlier_ones_without(ran, tmp_path):
    data = json.loads(json.dumps(ran.to_dict(), allow_nan=False))
    assert scaling(write(tmp_path, data)) == scaling(ran)
    del data["scaling"]
    write(tmp_path, data)


@pytest.mark.parametrize(
    "forge",
    [
        lambda s: s["fits"][0]["growth"]["power"].update(rate=1.0),
        lambda s: s["fits"][0]["growth"].update(verdict="exponential"),
        lambda s: s["fits"].pop(),
        lambda s: s["certified"][0]["steps"][0].update(factor="3"),
        lambda s: s.update(extra=1),
    ],
)
def test_forged_growth_is_refused(ran, tmp_path, forge):
    data = json.loads(json.dumps(ran.to_dict()))
    forge(data["scaling"])
    with pytest.raises(DamagedFile, match="fitted growth"):
        write(tmp_path, data)
