"""The page of a report: whole, alone, nothing in it that runs but its own; and what it says."""

import base64
import dataclasses
import hashlib
import json
import re
import shlex
from fractions import Fraction
from statistics import median

import pytest
from msgspec.structs import replace

from hardness.bounds import BoundParameters, certify
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.charts.runs import both_sides
from hardness.report.comparison import comparison_table
from hardness.report.page.build import page, report, report_of, report_of_comparison
from hardness.report.page.write import write
from hardness.report.plot import named
from hardness.report.text import laid_out
from hardness.runs import compare
from hardness.runs.cells import enough
from hardness.runs.certified import Certifier
from hardness.runs.names import short
from hardness.runs.run import Run
from hardness.runs.stress import stress
from instances import parse
from instances.errors import DamagedFile
from instances.ladders import ladder_of
from tests.reports import HOSTILE, SOLVED, Page, hostile, material, page_of, row


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=8..16..4", ("queries", "lowdegree:degree=1"), seeds=3)


@pytest.fixture(scope="module")
def text(small):
    return page(small)


@pytest.fixture(scope="module")
def bad():
    return write(hostile())


def test_the_page_stands_alone(text):
    found = Page(text)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 3  # its data, what draws, and its own script
    assert not {"link", "iframe", "img", "object", "form"} & set(names)
    policy = next(a["content"] for tag, a in found.tags if tag == "meta" and "http-equiv" in a)
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in found.scripts[1:]
    ]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy.startswith(f"default-src 'none'; script-src {hashes}; style-src")
    assert "unsafe-eval" not in policy
    outside = [v for _, a in found.tags for k, v in a.items() if k in ("src", "href") and v]
    assert all(v.startswith("#") for v in outside)
    ids = re.findall(r'\bid="([^"]*)"', text.partition("<script")[0])
    assert len(ids) == len(set(ids))


def test_the_figure_is_first_then_three_sentences_then_tables(small, text):
    shown = [
        *("<h1", "<figure", "<b>Solved</b>", "<b>Not solved</b>", "<b>Proved</b>"),
        *('id="learners"', 'id="certificates"', 'id="runs"', 'id="reproduce"'),
    ]
    places = [text.index(part) for part in shown]
    assert places == sorted(places)
    assert text.count('class="said"') == 3
    words = Page(text).words
    good = sum(run.solved for run in small.runs)
    assert f"{good} of 18 runs passed (queries 9 of 9, lowdegree:degree=1 0 of 9)" in words
    assert "On parity:m=2 at d = 16, the largest run, at least 2/3 of the runs passed of" in words
    assert "fewer passed there of lowdegree:degree=1 (0 of 3). No run passed of" in words
    assert "lowdegree:degree=1 (0 of 9, all: learned nothing)" in words
    assert "That a learner failed says nothing of other learners, budgets or sizes." in words
    assert "by exact arithmetic" in words
    assert f"needs at least {small.bounds('stat-queries')[-1]} queries to reach" in words
    assert "hardness check certificate.json" in words


def test_hostile_names_show_as_text(bad):
    found = Page(bad)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 3
    assert not {"img", "iframe"} & set(names)
    assert not [k for _, given in found.tags for k in given if k.startswith("on")]
    own = bad.replace(found.scripts[1], "")
    assert not set("\u202e\u2066\u200b\x00") & set(own)
    assert bad.encode()
    assert HOSTILE[0] in found.words
    shown = [named(short(name)) for name in HOSTILE]
    legends = json.dumps(found.data["charts"], ensure_ascii=False)
    assert all(json.dumps(name, ensure_ascii=False)[1:-1] in legends for name in shown)


def test_what_is_the_same_in_every_row_is_said_once():
    runs = [row(seed=seed, budget=Budget(examples=200_000)) for seed in range(3)]
    runs += [row(seed=3, learner="trivial", budget=Budget(examples=200_000))]
    made = write(dataclasses.replace(report(material(runs)), charts=()))
    assert "budget</bdi> <b>200,000 examples</b>" in made
    assert "budget" not in [one["name"] for one in Page(made).data["tables"]["learners"]]
    other = page_of(report(material([*runs, row(seed=4, learner="queries")])))
    assert "budget" in [one["name"] for one in other.data["tables"]["learners"]]


def test_costs_are_what_was_enough_for_the_success_of_the_bound(small):
    cell = small.cells[0]
    used = sorted(r.usage.queries for r in small.of("queries", 8))
    assert cell.enough["queries"] == used[1]
    assert cell.queries == median(used)  # of tables
    assert enough([3], Fraction(2, 3)) == 3
    assert enough([1, 2, 3, 4], Fraction(1)) == 4


def test_the_table_and_the_figure_show_both_sides(small):
    lines = laid_out(comparison_table(small), 80).splitlines()
    assert len(lines) == 1 + 3 * 3
    assert max(map(len, lines)) <= 80
    assert sum(line.endswith("certified") for line in lines) == 3
    assert "learned nothing" in comparison_table(small)
    drawn = both_sides(small).decode()
    assert all(title in drawn for title in ("Statistical queries", "Examples", "Time"))


def test_a_family_without_bounds_has_a_page():
    found = compare("nice:k=2,d=4", "m=1,2", ("trivial", "linear"), seeds=1)
    assert not found.certificates
    made = page(found)
    assert "No bound on queries is certified for these problems." in made
    assert "No bound is drawn; <bdi" in made
    assert 'data-key="both-sides-1"' in made
    assert "certified" not in comparison_table(found)


@pytest.mark.parametrize(
    ("over", "said"), [(" d=6..20", "This is partial: 4 of the 15 sizes"), ("=d=6..9", "")]
)
def test_a_comparison_that_was_cut_says_so(over, said):
    found = compare("parity:m=2", "d=6..9", ("queries", "elimination"), seeds=2)
    cut = replace(found, command=f"hardness compare parity:m=2 --over{over} --seeds 1")
    made = report_of_comparison(cut, "some folder")
    words = page_of(made).words
    assert said in words
    assert ("is partial" in words) is bool(said)
    assert "elimination learns from examples" in words
    assert "hardness figure both-sides 'some folder' --out" in words


def test_learners_whose_files_or_families_differ_have_rows_apart():
    """Of one name: no count is over two programs, nor over two revisions of a family."""
    name, old = "mine.py:Net", {"family": 1, "learner": 1}
    runs = [row(learner=name, seed=s, details={"sha256": "a" * 64}) for s in range(3)]
    runs += [row(learner=name, seed=s, details={"sha256": "b" * 64}, solved=False) for s in (3, 4)]
    runs = [replace(one, revisions=old) for one in runs]
    runs += [replace(one, revisions={**old, "family": 2}) for one in runs[:1]]
    made = report(material(runs)).learners
    assert set(zip(made["asked"], made["solved"], made["runs"], strict=True)) == {
        (f"revision 1 {'a' * 16}, family revision 1", 3, 3),
        (f"revision 1 {'b' * 16}, family revision 1", 0, 2),
        (f"revision 1 {'a' * 16}, family revision 2", 1, 1),
    }


def test_what_the_machine_ended_is_told_apart():
    """A learner that does not take the family is not laid to the machine."""
    found = compare("parity:m=2", "d=6..7", ("elimination", "trivial"), seeds=1)
    ends = (Outcome.COULD_NOT_RUN, Outcome.SECONDS_SPENT, Outcome.CRASHED)
    changed = [
        replace(one, outcome=end, risk=None) for one, end in zip(found.runs, ends, strict=False)
    ]
    changed[0] = replace(changed[0], details={"stage": "supports"})
    found = replace(found, runs=(*changed, *found.runs[3:]))
    words = page_of(report_of_comparison(found, "x")).words
    assert "2 runs ended by what is not the same on every machine (1 by machine, 1 by se" in words


def test_growth_names_the_sizes_of_its_fit_the_runs_it_is_of_and_the_certified_exponent():
    """Not those where a run failed, and not the same law of another budget."""
    runs = []
    for examples in (100, 200):
        for d in range(6, 13):
            usage = replace(SOLVED.usage, examples=d * d + examples // 100)
            budget = Budget(examples=examples)
            spec = parse(f"parity:d={d},m=2").spec
            runs.append(row(spec, usage=usage, solved=d < 12, budget=budget, seed=len(runs)))
    words = page_of(report(material(runs))).words
    said = re.findall(
        r"elimination on parity:m=2 \(budget_examples == 200\): its number of[^.]*d\^.*?;", words
    )
    assert len(said) == 1
    assert "95 % interval [" in said[0]
    assert "over 6 sizes in 6 to 11;" in said[0]
    assert "; the certified number grows as d^" in words


def test_a_card_says_which_end_of_a_bracket_is_claimed_and_every_condition():
    """Of an interval the lower end; a tolerance of many digits is there too."""
    terms = BoundParameters(tau=Fraction(1, 10**100))
    found = compare("profile:g=majority,m=4", "d=9", (), seeds=1, terms=terms)
    rows = {line[0]: line[1:] for line in page_of(report_of_comparison(found, "x")).rows if line}
    assert rows["sq-dimension"][0] == "2..3"
    assert "value 2, which is what is certified; upper 3)" in rows["sq-dimension"][2]
    assert "tau 1/1000000" in rows["stat-queries"][2]
    found = compare("lwe:q=17,sigma=1", "n=8", (), seeds=1)
    words = page_of(report_of_comparison(found, "x")).words
    assert "value 0; upper 146028888051/" in words


def test_a_run_of_staged_that_was_ended_is_left_out_of_its_stages():
    """The report is made all the same, from those that came so far."""
    found = compare("nice:m=1,k=2", "d=2..3", ("staged",), seeds=1)
    crashed = replace(found.runs[-1], details={}, risk=None, outcome=Outcome.CRASHED)
    made = report_of_comparison(replace(found, runs=(*found.runs[:-1], crashed)), "x")
    (chart,) = (chart for chart in made.charts if chart.name == "stages")
    assert chart.title == "Stages of staged on nice:m=1,k=2,d=2, seed 0"
    assert 'data-key="stages-1"' in write(made)


def test_families_without_a_bound_are_named_beside_those_with_one():
    """A catalog name has the bound of its family."""
    runs = [row(), row("gone:d=9"), row("parity-first", "queries")]
    words = page_of(report(material(runs))).words
    assert "No bound is certified for gone." in words
    assert "elimination learns from examples" in words


def test_the_budget_of_a_comparison_is_in_its_file_and_its_report(tmp_path):
    found = compare("parity:m=2", "d=6..7", ("elimination",), seeds=1, budget=Budget(examples=900))
    found.save(tmp_path / "results.json")
    assert "budget 900 examples" in page_of(report_of(tmp_path)).words
    data = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps(data | {"budget": {"examples": 0}}))
    with pytest.raises(DamagedFile, match="a budget of examples must be an integer"):
        report_of(tmp_path)


def test_results_of_a_withdrawn_learner_say_what_serves_and_not_that_they_are_damaged(tmp_path):
    compare("parity:m=2", "d=6", ("elimination",), seeds=1).save(tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text().replace('"elimination"', '"km"')
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(DamagedFile, match=": the learner 'km' is gone: flips") as seen:
        report_of(tmp_path)
    assert "damaged" not in str(seen.value)


def test_what_solved_below_the_information_floor_is_named():
    spec = parse("parity:d=16,m=3").spec
    floor = certify(parse(spec)).integer("information-floor")

    def said(*used: tuple[str, int, int, int]) -> str:
        runs = [
            row(spec, name, seed, usage=replace(SOLVED.usage, examples=n, queries=q, values=v))
            for seed, (name, n, q, v) in enumerate(used)
        ]
        found = re.search(r"below the information floor: (.*)\. By chance", below(runs))
        return found[1] if found else ""

    def below(runs: list[Run]) -> str:
        return page_of(report(material(runs, certifier=Certifier()))).words

    others = [("queries", 1, 40, 0), ("mine.py:Flips", 0, 0, floor)]  # of queries; not below
    low, high = ("elimination", floor - 1, 0, 0), ("elimination", floor, 0, 0)
    labels = f"(1 run, from {floor - 1} labels on, floor {floor})"
    assert said(low, high, *others) == f"elimination on parity:d=16,m=3 {labels}"
    assert said(high, *others) == ""
    chosen = ("mine.py:Flips", 0, 0, floor - 1)  # a label that is chosen is a label
    assert said(high, chosen) == f"mine.py:Flips on parity:d=16,m=3 {labels}"


def test_a_stress_test_has_a_page_of_its_climbs(tmp_path):
    """Its headlines and what is certified come first."""
    own = ladder_of(["parity:d=8,m=1", "parity:d=24,m=3"])
    found = stress(["elimination", "trivial"], own, 5, base_seed=1)
    found.save(tmp_path / "x.json")
    made = report_of(tmp_path / "x.json")
    shown = page_of(made)
    assert [tag for tag, a in shown.tags if a.get("class") == "said"] == ["li"] * 5
    said = [
        "elimination climbs your ladder to rung 2 of 2",
        "trivial holds no rung of your ladder.",
        "Proved, by exact arithmetic, rung 2: any statistical-query learner needs",
        "What the numbers do not say",
        f"of {len(found.runs)} runs passed",
    ]
    places = [shown.words.index(one) for one in said]
    assert places == sorted(places)
    least, floor = found.certified[1].queries, found.certified[1].floor
    wanted = ["certified queries", "certified examples", "elimination", "trivial"]
    assert ["rung", "parity", *wanted] in shown.rows
    assert ["2", "d=24,m=3", str(least), str(floor), "5/5", "not run"] in shown.rows
    assert ["held at 96.88%", "", "", "", "2", "0"] in shown.rows
    assert dict(made.provenance)["base seed"].startswith("1, given")
    assert shlex.split(made.reproduce[0].command)[-4:] == ["--seeds", "5", "--seed", "1"]


def test_queries_are_told_of_learners_that_ask_alone(small):
    rows = report_of_comparison(small, "x").learners.set_index("learner")
    asked = rows.loc[rows.index.str.startswith("queries")]
    assert (asked["queries"] > 0).all()
    assert set(asked["asked"]) == {"samples, tau 1/10"}
    others = rows.loc[~rows.index.str.startswith("queries")]
    assert others["queries"].isna().all()
    assert set(others["asked"]) == {""}
