"""Where no number of queries is enough, the strongest bound there is, every view says so."""

import json
from fractions import Fraction

import pytest

from hardness.lower import BoundParameters, certify
from hardness.report.charts.ladder import draw_stress, of_stress
from hardness.report.charts.phase import budgets, diagrams, draw_phase, infeasible, of_phase
from hardness.report.charts.runs import draw_both_sides, of_both_sides
from hardness.report.page.build import report_of_comparison
from hardness.report.page.tables import rungs
from hardness.report.page.write import write
from hardness.report.stress import certified_words, stress_words
from hardness.report.summary import bounds_table, comparison_table
from hardness.runs import compare
from hardness.runs.cells import bounds
from hardness.runs.certified import Certifier, number, success
from hardness.runs.names import short_specs
from hardness.runs.stress import read_stress, stress, write_stress
from hardness.runs.table import planes, table
from instances import parse
from instances.ladders import ladder_of

SAID = "no number of queries to STAT(1/10) is enough for more than success 1/969"


@pytest.fixture(scope="module")
def mixed():
    """Noise that a query rules members out of, and noise that none does."""
    return compare("parity:d=20,m=3", "noise=0.3,0.4,0.45", ("trivial",), seeds=1)


@pytest.fixture(scope="module")
def climbed():
    own = ["parity:d=20,m=3,noise=0.4", "parity:d=20,m=3,noise=0.45", "parity:d=24,m=3,noise=0.45"]
    return stress(["trivial"], ladder_of(own), 1, base_seed=1)


def test_the_success_of_a_guess_is_held_against_the_one_that_is_asked_for():
    """K/N = 1/969: no number gives 2/3; nobody needs a query for 1/969."""
    hard = certify(parse("parity:d=20,m=3,noise=0.45"))
    assert success(hard, "stat-queries") == Fraction(1, 969)
    assert number(hard, "stat-queries", Fraction(2, 3)) is None
    assert number(hard, "stat-queries", Fraction(1, 968)) is None
    assert number(hard, "stat-queries", Fraction(1, 969)) == 0
    easy = certify(parse("parity:d=20,m=3,noise=0.4"))
    assert success(easy, "stat-queries") is None
    assert number(easy, "stat-queries", Fraction(2, 3)) == int(easy.value("stat-queries"))


def test_a_stress_test_says_it(climbed):
    assert [one.shown for one in climbed.certified] == ["645", "none enough", "none enough"]
    assert [one.success for one in climbed.certified] == [None, "1/969", "1/1771"]
    lines = certified_words(climbed)
    assert "at least 645 queries" in lines[0]
    assert lines[1].startswith(f"rungs 2 to 3: {SAID}, 1/1771 (rung by rung) at a relative risk of")
    assert "(certified)" in lines[1]
    assert "vacuous" not in stress_words(climbed)
    assert [line[2] for line in rungs(climbed).table.rows[:3]] == [
        "645",
        "none enough",
        "none enough",
    ]
    data = of_stress(climbed)
    assert data["certified_queries"] == [645.0, None, None]
    assert draw_stress(data)


def test_files_of_stress_tests_keep_it(climbed, tmp_path):
    write_stress(tmp_path / "x.json", climbed)
    assert read_stress(tmp_path / "x.json") == climbed


def test_a_comparison_keeps_the_numbers_of_the_other_sizes(mixed):
    every = bounds(mixed, "stat-queries")
    assert every == [int(one.value("stat-queries")) for one in mixed.certificates[:2]] + [None]
    lines = [line for line in comparison_table(mixed).splitlines() if "certified" in line]
    assert [str(n) in line for n, line in zip(every[:2], lines[:2], strict=True)] == [True, True]
    assert "none enough" in lines[2]
    assert "none enough" in bounds_table(mixed)
    rows = [one for one in mixed._summary()[1] if one["learner"] == "certified at least"]
    assert [one["queries"] for one in rows] == [*every[:2], "none enough"]
    assert {one["known"] for one in rows} == {"exact"}
    drawn = json.dumps(draw_both_sides(of_both_sides(mixed)))
    assert f'"queries": {float(every[1])}' in drawn


def test_a_page_says_it():
    hard = compare("parity:d=20,m=3", "noise=0.45,0.49", ("trivial",), seeds=1)
    report = report_of_comparison(hard, "results.json", "")
    text = write(report)
    assert "No bound on queries" not in text
    assert SAID in text
    assert "none enough" in {cell for line in report.cards[0].others.rows for cell in line}


def test_a_page_says_both(mixed):
    said = " ".join(report_of_comparison(mixed, "results.json", "").summary)
    assert "needs at least 645 queries" in said
    assert SAID in said


def test_a_phase_diagram_hatches_it_at_every_budget():
    every = [compare(f"parity:d={d},m=3", "noise=0.4,0.45", ("trivial",), 1) for d in (16, 20)]
    (plane,) = diagrams(planes(table([run for one in every for run in one.runs])))
    data = of_phase(plane, Certifier(()))
    endless = [
        (i, j)
        for i, line in enumerate(data["certified"])
        for j, one in enumerate(line)
        if one["queries"] is None
    ]
    assert len(endless) == 2
    assert all(infeasible(data, i, j, most) for i, j in endless for most in budgets(data))
    assert not all(infeasible(data, i, j, 10**9) for i in range(2) for j in range(2))
    assert "none enough" in json.dumps(draw_phase(data))


def test_a_guess_that_is_enough_makes_the_bound_vacuous():
    terms = BoundParameters(success=Fraction(1, 1000))
    found = compare("parity:d=20,m=3", "noise=0.45", (), seeds=1, terms=terms)
    assert bounds(found, "stat-queries") == [0]
    assert "none enough" not in bounds_table(found)


def test_a_rung_of_defaults_alone_has_a_name():
    own = ["parity:d=20,m=3", "parity:d=20,m=3,noise=0.45"]
    assert short_specs(ladder_of(own)) == ("parity:d=20,m=3", ["noise=0", "noise=0.45"])
