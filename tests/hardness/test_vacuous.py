"""A bound that says nothing is called vacuous wherever bounds are shown, and drawn nowhere."""

from fractions import Fraction

import pytest

from hardness import estimate
from hardness.claims import vacuous
from hardness.lower import certify
from hardness.oracles import Budget
from hardness.report.charts.ladder import draw_stress, of_stress
from hardness.report.charts.phase import certified_queries, infeasible
from hardness.report.charts.runs import draw_both_sides, of_both_sides
from hardness.report.charts.style import BOUND
from hardness.report.cost import attack_words, estimate_words
from hardness.report.page.build import report_of_comparison
from hardness.report.run import game_words
from hardness.report.stress import certified_words, stress_words
from hardness.report.summary import comparison_table
from hardness.runs import compare, scaling
from hardness.runs.game import play
from hardness.runs.stress import stress
from hardness.upper import parse_learner
from instances import parse
from instances.ladders import ladder_of
from tests.proofs import named

NEEDED = {"queries", "floor", "steps", "features"}


@pytest.fixture(scope="module")
def small():
    """Sizes of which all bounds on queries are 1, and the floors 1, 2, 2 and 3."""
    return compare("parity:m=1", "d=3..9..2", ("trivial",), seeds=1)


@pytest.fixture(scope="module")
def mixed():
    """Sizes of which the first bounds on queries are vacuous, and the last say something."""
    return compare("parity:m=2", "d=4..24..4", ("trivial",), seeds=1)


def test_every_quantity_has_its_rule():
    every = {"csq-queries", "csq-success", "stat-success"}
    every |= {one.quantity for one in named("parity:d=8,m=3").claims}
    for spec in ("parity:d=3,m=1", "profile:g=majority,d=5,m=2", "lpn:n=4,noise=0.4"):
        every |= {one.quantity for one in certify(parse(spec)).claims}
    for name in every:
        needed = name.split("-")[-1] in NEEDED
        assert vacuous(name, 0) is (needed or name == "kernel-error"), name
        above = name.startswith("low-degree") or name.endswith("-success")
        assert vacuous(name, 1) is (needed or above), name
        asked = name.endswith(("-queries", "-floor"))
        assert vacuous(name, 2) is (asked or (above and "examples" not in name)), name
        assert vacuous(name, 3) is (above and "examples" not in name), name


def test_numbers_of_any_size_are_compared():
    many = 10**6000 - 1
    assert not vacuous("stat-queries", many)
    assert vacuous("low-degree-advantage", Fraction(many, many // 10))
    assert not vacuous("low-degree-advantage", Fraction(many // 10, many))


def test_tables_of_comparisons_say_it_and_keep_columns_of_numbers(small, mixed):
    lines = [s.split() for s in comparison_table(small).splitlines() if "certified" in s]
    assert [line[-3:-1] for line in lines] == [
        ["vacuous", "vacuous"],
        ["vacuous", "vacuous"],
        ["vacuous", "vacuous"],
        ["vacuous", "3"],
    ]
    lines = [s for s in comparison_table(mixed).splitlines() if "certified" in s]
    assert "vacuous" in lines[0]
    assert lines[-1].split()[-3:-1] == ["7", "8"]
    end = comparison_table(mixed).index("queries") + len("queries")  # numbers stand to the right
    assert all(line[end - 1] != " " and line[end : end + 1].strip() == "" for line in lines)


def test_vacuous_bounds_are_not_drawn(small, mixed):
    panels = draw_both_sides(of_both_sides(small))["concat"]
    assert "Statistical queries" not in [one["title"] for one in panels if not _lines(one)]
    assert all("queries" not in point for one in panels for line in _lines(one) for point in line)
    (line,) = _lines(draw_both_sides(of_both_sides(mixed))["concat"][0])
    drawn = [point["queries"] for point in line]
    assert min(drawn) > 2
    assert len(drawn) < len(mixed.values)


def _lines(panel):
    """The points of the black lines of a panel, which are what is certified."""
    lines = [one for one in panel["layer"] if isinstance(one["mark"], dict)]
    black = [one for one in lines if one["mark"].get("color") == BOUND]
    return [one["data"]["values"] for one in black if one["mark"]["type"] == "line"]


def test_vacuous_bounds_are_not_fitted(mixed):
    found = {one.quantity: one for one in scaling(mixed).certified}
    made = zip(mixed.values, mixed.certificates, strict=True)
    values = {value: int(one.value("stat-queries")) for value, one in made}
    assert found["stat-queries"].vacuous == tuple(v for v, n in values.items() if n <= 2)
    assert found["stat-queries"].values == tuple(v for v, n in values.items() if n > 2)
    assert found["stat-queries"].vacuous
    assert found["sq-dimension"].vacuous == ()


def test_a_phase_diagram_hatches_none_at_any_budget():
    data = {"quantity": "stat-queries", "query_budget": 0, "certified": [
        [{"queries": "2", "log10": 0.3}, {"queries": "3", "log10": 0.5}, None]]}  # fmt: skip
    assert [certified_queries(data, 0, j) for j in range(3)] == [None, "3", None]
    assert [infeasible(data, 0, j) for j in range(3)] == [False, True, False]


def test_climbs_part_rungs_with_and_without_a_bound():
    found = stress(["trivial"], ladder_of([f"parity:d={d},m=2" for d in (5, 8, 24)]), 1)
    lines = certified_words(found)
    assert lines[0].startswith("rungs 1 to 2: the query bound is vacuous.")
    assert "rung 3: any statistical-query learner needs at least 7 queries" in lines[1]
    rows = [line.split() for line in stress_words(found).splitlines()]
    assert [row[2] for row in rows if row[1:2] and row[1].startswith("d=")] == [
        "vacuous",
        "vacuous",
        "7",
    ]
    examples, _, queries = draw_stress(of_stress(found))["concat"]
    (floor,), (bound,) = _lines(examples), _lines(queries)
    assert [point["rung"] for point in floor] == ["2: d=8", "3: d=24"]
    assert [point["rung"] for point in bound] == ["3: d=24"]
    assert all(point["cost"] > 2 for point in floor + bound)


def test_games_estimates_and_reports_say_it(small, mixed):
    game = play(parse_learner("queries"), parse("parity:d=3,m=1"), Budget())
    assert (game.bound, "the certified bound is vacuous" in game_words(game)) == (1, True)
    found = estimate("lpn:n=4,noise=0.1")
    claims = found.to_dict()["statistical_queries"]["claims"]
    assert {name: one["vacuous"] for name, one in claims.items()} == {
        "orthogonal-members": False,
        "sq-dimension": False,
        "stat-queries": True,
    }
    assert "stat-queries = vacuous" in " ".join(attack_words(found).split())
    assert "the bound is vacuous" in estimate_words(found)
    (card,) = report_of_comparison(small, "results.json", "").cards
    assert {one.quantity: one.value for one in card.claims}["stat-queries"] == "vacuous"
    assert "Vacuous here, saying nothing: stat-queries and vstat-queries." in card.means
    assert not any("at least 1:" in line for line in card.means)
    report = report_of_comparison(mixed, "results.json", "")
    assert "vacuous" in {cell for line in report.cards[0].others.rows for cell in line}
