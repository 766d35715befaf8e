"""Bounds that say nothing, or that no number of queries reaches, are called so wherever shown."""

from fractions import Fraction
from pathlib import Path

import pytest

import hardness
from hardness import estimate
from hardness.bounds import BoundParameters, certify
from hardness.bounds.quantities import vacuous
from hardness.oracles import Budget
from hardness.report.certificate import remedy_words
from hardness.report.charts.runs import both_sides, both_sides_rows
from hardness.report.comparison import bounds_table, comparison_table
from hardness.report.cost import attack_words
from hardness.report.page import page_of_comparison, page_of_stress
from hardness.report.run import game_words
from hardness.report.stress import certified_words, stress_words
from hardness.report.text import laid_out
from hardness.runs import compare
from hardness.runs.certified import number, success
from hardness.runs.game import play
from hardness.runs.registry import parse_learner
from hardness.runs.stress import Stress, stress
from instances import parse
from instances.ladders import ladder_of
from tests.charts import certified, titles
from tests.proofs import named
from tests.reports import shown

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
    lines = [
        s.split() for s in laid_out(comparison_table(small), 80).splitlines() if "certified" in s
    ]
    assert [line[-3:-1] for line in lines] == [*[["vacuous", "vacuous"]] * 3, ["vacuous", "3"]]
    lines = [s for s in laid_out(comparison_table(mixed), 80).splitlines() if "certified" in s]
    assert "vacuous" in lines[0]
    assert lines[-1].split()[-3:-1] == ["7", "8"]
    shown = laid_out(comparison_table(mixed), 80)
    end = shown.index("queries") + len("queries")  # numbers stand to the right
    assert all(line[end - 1] != " " and line[end : end + 1].strip() == "" for line in lines)


def test_vacuous_bounds_are_not_drawn(small, mixed):
    panels = titles(both_sides(both_sides_rows(small)))
    assert "Statistical queries" not in panels  # nobody asked any either
    [line] = certified(titles(both_sides(both_sides_rows(mixed)))["Statistical queries"])
    drawn = [y for _, y in line]
    assert min(drawn) > 2
    assert len(drawn) < len(mixed.values)


def test_games_estimates_and_reports_say_it(small, mixed):
    game = play(parse_learner("queries"), parse("parity:d=3,m=1"), Budget())
    assert (game.certified, "the certified bound is vacuous" in game_words(game)) == (1, True)
    found = estimate("lpn:n=4,noise=0.1")
    claims = found.to_dict()["statistical_queries"]["claims"]
    assert {name: one["vacuous"] for name, one in claims.items()} == {
        "orthogonal-members": False,
        "sq-dimension": False,
        "stat-queries": True,
    }
    assert "stat-queries = vacuous" in " ".join(attack_words(found).split())
    says = shown(page_of_comparison(small, "x"))
    bounds = [row for row in says.rows if row[0] == "certified at least"]
    assert [row[2] for row in bounds] == ["vacuous"] * 4
    assert "at least 1 " not in says.words
    assert "queries to STAT" not in says.words


SAID = "no number of queries to STAT(1/10) is enough for more than success 1/969"


@pytest.fixture(scope="module")
def partly():
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


def test_a_stress_test_says_it_and_its_file_keeps_it(climbed, tmp_path):
    climbed.save(tmp_path / "x.json")
    assert Stress.load(tmp_path / "x.json") == climbed
    assert [one.queries_text for one in climbed.certified] == ["645", "none enough", "none enough"]
    assert [one.success for one in climbed.certified] == [None, "1/969", "1/1771"]
    lines = certified_words(climbed)
    assert "at least 645 queries" in lines[0]
    assert lines[1].startswith(
        f"levels 2 to 3: {SAID}, 1/1771 (level by level) at a relative risk of"
    )
    assert "(certified)" in lines[1]
    assert "vacuous" not in stress_words(climbed)
    table = page_of_stress(climbed, "x").parts[0].table
    assert table["certified queries"].tolist()[:3] == ["645", "none enough", "none enough"]


def test_a_comparison_keeps_the_numbers_of_the_other_sizes(partly):
    every = partly.bounds("stat-queries")
    assert every == [int(one.value("stat-queries")) for one in partly.certificates[:2]] + [None]
    lines = [
        line for line in laid_out(comparison_table(partly), 80).splitlines() if "certified" in line
    ]
    assert [str(n) in line for n, line in zip(every[:2], lines[:2], strict=True)] == [True, True]
    assert "none enough" in lines[2]
    assert "none enough" in bounds_table(partly)
    rows = [one for one in partly._rows() if one["learner"] == "certified at least"]
    assert [one["queries"] for one in rows] == [*every[:2], "none enough"]
    assert {one["known"] for one in rows} == {"exact"}
    [line] = certified(titles(both_sides(both_sides_rows(partly)))["Statistical queries"])
    assert [y for _, y in line] == [float(n) for n in every[:2]]


def test_a_guess_that_is_enough_makes_the_bound_vacuous():
    terms = BoundParameters(success=Fraction(1, 1000))
    found = compare("parity:d=20,m=3", "noise=0.45", (), seeds=1, terms=terms)
    assert found.bounds("stat-queries") == [0]
    assert "none enough" not in bounds_table(found)


SPECS = (
    "parity:d=8,m=3",
    "parity:d=8,m=2,noise=1/8",
    "profile:g=majority,d=16,m=3",
    "profile:g=[0,1,2],d=12,m=2",
    "lwr:n=8,q=16,p=2,secret=binary,h=4",
    "docs/examples/majorities.py:threes",
)


@pytest.mark.parametrize("spec", SPECS)
def test_the_first_tolerance_is_the_first_at_which_certify_says_something(spec):
    made = hardness.certify(spec)
    quantities = {one.quantity for one in made.claims} & {"stat-queries", "csq-queries"}
    assert quantities
    for quantity in quantities:
        first = made.first_tolerance(quantity)
        assert not said_nothing(spec, quantity, first)
        step = next(Fraction(1, 10**k) for k in range(2, 9) if first > Fraction(1, 10 ** (k - 1)))
        assert said_nothing(spec, quantity, first - step)


@pytest.mark.parametrize(
    ("spec", "vstat", "words"),
    [
        ("direction:m=1,d=4", 1, "so it is with every --vstat"),
        ("direction:d=5,m=2", 9, "it says something with --vstat 1"),
        ("direction:d=12,m=4", 100, "it says something with --vstat 12 or less"),
        ("profile:g=majority,d=4,m=2", 1, "so it is with every --vstat"),
        ("profile:g=majority,d=4,m=2", 9, "a smaller --vstat may say something"),
        ("parity:d=8,m=3", 100, "it says something with --vstat 15 or less"),
    ],
)
def test_a_bound_for_vstat_that_says_nothing_says_what_would(spec, vstat, words):
    made = hardness.certify(spec, vstat=vstat)
    assert remedy_words(made, made["vstat-queries"]) == words


@pytest.mark.parametrize("spec", [*SPECS, "lwr:n=8,q=16,p=4", "direction:d=12,m=4"])
def test_the_last_vstat_is_the_last_at_which_certify_says_something(spec):
    made = hardness.certify(spec, vstat=10**9)
    if not any(claim.quantity == "vstat-queries" for claim in made.claims):
        return  # of labels of more values
    assert made["vstat-queries"].vacuous
    last = made.last_vstat()
    if spec.startswith("profile"):  # what a query eliminates follows from a search
        assert last is None
        return
    assert not said_nothing(spec, "vstat-queries", vstat=last)
    assert said_nothing(spec, "vstat-queries", vstat=last + 1)


def said_nothing(spec, quantity, tau="1/10", vstat=100):
    """Whether the claim about queries, or about success in its place, is vacuous."""
    names = (quantity, quantity.replace("queries", "success"))
    made = hardness.certify(spec, tau=tau, vstat=vstat)
    [claim] = [c for c in made.claims if c.quantity in names]
    return vacuous(claim.quantity, claim.value)


def test_certify_says_from_where_a_vacuous_bound_says_something(hardness):
    said = " ".join(hardness("certify", "parity:d=8,m=3").out.split())
    assert (
        "stat-queries is vacuous at these terms; it says something with --tau 0.15 or more." in said
    )
    assert "vacuous" not in hardness("certify", "parity:d=32,m=5").out
    listed = Path(__file__).parents[3] / "docs/examples/majorities.py"
    said = " ".join(hardness("certify", f"{listed}:threes", "--centred").out.split())
    assert "it says something with --tau 0.51 or more" in said
