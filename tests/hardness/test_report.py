"""The page of a report: static, alone, and what it says."""

import json
import shlex
from fractions import Fraction
from statistics import median

import pytest
from msgspec.structs import replace

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.comparison import comparison_table
from hardness.report.page import (
    page_of,
    page_of_comparison,
    page_of_stress,
    render,
    runs_table,
    save,
    stress_command,
)
from hardness.report.text import laid_out
from hardness.runs import compare
from hardness.runs.comparison import cost_within
from hardness.runs.results import read_runs
from hardness.runs.stress import stress
from instances.errors import DamagedFile
from instances.ladders import ladder_of
from tests.reports import HOSTILE, PARITY, Shown, row, shown
from tests.thresholds import thresholds


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=8..16..4", ("queries", "lowdegree:degree=1"), seeds=3)


@pytest.fixture(scope="module")
def text(small):
    asked = small.updated(command="hardness compare parity:m=2 --over d=8..16..4")
    return render(page_of_comparison(asked, "some folder"))


def test_the_page_is_static_and_stands_alone(text):
    found = Shown(text)
    names = [tag for tag, _ in found.tags]
    assert not {"script", "link", "iframe", "img", "object", "form"} & set(names)
    assert names.count("svg") == 1
    policy = next(a["content"] for tag, a in found.tags if tag == "meta" and "http-equiv" in a)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    links = [v for _, a in found.tags for k, v in a.items() if k in ("src", "href", "xlink:href")]
    assert all(v.startswith("#") for v in links)
    assert not [k for _, a in found.tags for k in a if k.startswith("on")]
    assert len(text.encode()) < 300_000
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_what_was_asked_the_figure_the_table_the_runs_and_the_command_follow(small, text):
    places = [
        text.index(part)
        for part in (
            *("<h1", 'class="lead"', "<svg", "<figcaption", "Proved for"),
            *("certified at least", "<h2>Runs</h2>", "<h2>How to make it again</h2>"),
        )
    ]
    assert places == sorted(places)
    found = Shown(text)
    good = sum(run.solved for run in small.runs)
    assert f"{good} of 18 runs solved (queries 9 of 9, lowdegree:degree=1 0 of 9)" in found.words
    least = small.bounds("stat-queries")[-1]
    assert f"needs at least {least} queries to STAT" in found.words
    assert "hardness compare parity:m=2 --over d=8..16..4" in found.words
    assert "hardness figure both-sides 'some folder' --out both-sides.pdf" in found.words
    rows = [one for one in found.rows if one[:1] == ["certified at least"]]
    assert [one[1] for one in rows] == ["d=8", "d=12", "d=16"]
    assert len([one for one in found.rows if one[0].startswith("parity:d=")]) == 18
    for name, value in small.runs[0].versions.items():
        assert f"{name} {value}" in found.words


def test_the_table_of_runs_has_their_numbers(small):
    table = runs_table(small.runs)
    assert table["examples"].tolist() == [run.examples for run in small.runs]
    assert table["queries"].tolist() == [run.queries or None for run in small.runs]
    assert table["seed"].tolist() == [str(run.seed) for run in small.runs]
    assert table["outcome"].tolist() == [run.outcome.value for run in small.runs]
    assert "values" not in table  # in which nothing stands


def test_hostile_names_show_as_text():
    runs = tuple(row(learner=name, seed=i) for i, name in enumerate(HOSTILE))
    base = compare("parity:m=2", "d=8", ("elimination",), seeds=1)
    names = tuple(HOSTILE)
    made = base.updated(
        runs=runs, learners=names, canonical=names, specs=(PARITY,), command=HOSTILE[0]
    )
    text = render(page_of_comparison(made, HOSTILE[1]))
    found = Shown(text)
    tags = [tag for tag, _ in found.tags]
    assert not {"script", "img"} & set(tags)
    assert not [k for _, a in found.tags for k in a if k.startswith("on")]
    for name in HOSTILE:
        assert name in found.words


def test_costs_are_what_was_enough_for_the_success_of_the_bound(small):
    cell = small.cells[0]
    used = sorted(r.queries for r in small.runs_of("queries", 8))
    assert cell.enough["queries"] == used[1]
    assert cell.queries == median(used)  # of tables
    assert cost_within([3], Fraction(2, 3)) == 3
    assert cost_within([1, 2, 3, 4], Fraction(1)) == 4


def test_the_table_shows_both_sides(small):
    lines = laid_out(comparison_table(small), 80).splitlines()
    assert len(lines) == 1 + 3 * 3
    assert max(map(len, lines)) <= 80
    assert sum(line.endswith("certified") for line in lines) == 3
    assert "learned nothing" in comparison_table(small)


def test_a_family_without_bounds_has_a_page():
    found = compare("nice:k=2,d=4", "m=1,2", ("trivial", "linear"), seeds=1)
    assert not found.certificates
    page = page_of_comparison(found)
    assert "No bound is certified" in shown(page).words
    assert "Dashed" not in page.parts[0].figure.caption
    assert "certified" not in comparison_table(found)


def test_growth_is_drawn_from_five_fitted_sizes_on():
    few = compare("parity:m=2", "d=6..9", ("elimination",), seeds=1)
    many = compare("parity:m=2", "d=6..10", ("elimination",), seeds=1)
    assert [part.title.startswith("Growth") for part in page_of_comparison(few).parts] == [False]
    parts = page_of_comparison(many).parts
    assert [part.title.startswith("Growth") for part in parts] == [False, True]
    assert "power laws" in parts[1].figure.caption


def test_what_ended_a_run_stands_in_its_row():
    found = compare("parity:m=2", "d=6..7", ("elimination", "trivial"), seeds=1)
    ends = (Outcome.COULD_NOT_RUN, Outcome.SECONDS_SPENT, Outcome.CRASHED)
    changed = [
        replace(one, outcome=end, risk=None) for one, end in zip(found.runs, ends, strict=False)
    ]
    table = runs_table((*changed, *found.runs[3:]))
    assert table["limited by"].tolist() == [one.limited_by for one in changed] + [None]
    assert "seconds" in table["limited by"].tolist()


def test_results_are_read_from_a_folder_and_damaged_ones_are_a_line(tmp_path):
    found = compare("parity:m=2", "d=6..7", ("elimination",), seeds=1, budget=Budget(examples=900))
    found.save(tmp_path / "results.json")
    assert page_of(tmp_path).runs == 2
    data = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps(data | {"budget": {"examples": 0}}))
    with pytest.raises(
        DamagedFile, match="a budget of examples must be an integer of at least 1, got 0"
    ):
        page_of(tmp_path)


def test_results_of_a_withdrawn_learner_say_what_serves_and_not_that_they_are_damaged(tmp_path):
    compare("parity:m=2", "d=6", ("elimination",), seeds=1).save(tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text().replace('"elimination"', '"km"')
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(DamagedFile, match=": the learner 'km' is gone: flips") as seen:
        page_of(tmp_path)
    assert "damaged" not in str(seen.value)


def test_a_stress_test_has_a_page_of_its_levels(tmp_path):
    own = ladder_of(["parity:d=8,m=1", "parity:d=24,m=3"])
    found = stress(["elimination", "trivial"], own, 5, base_seed=1)
    found.save(tmp_path / "x.json")
    page = page_of(tmp_path / "x.json")
    says = shown(page)
    wanted = [
        f"of {len(found.runs)} runs solved",
        "elimination passes levels 1 to 2 of the 2 of your ladder",
        "trivial passes no level of your ladder.",
        "level 2: any statistical-query learner needs",
    ]
    places = [says.words.index(one) for one in wanted]
    assert places == sorted(places)
    least = found.certified[1].queries
    assert ["level", "parity", "certified queries", "elimination", "trivial"] in says.rows
    assert ["2", "d=24,m=3", str(least), "5/5", "not run"] in says.rows
    assert dict(page.versions)["base seed"].startswith("1, given")
    assert shlex.split(stress_command(found))[-4:] == ["--seeds", "5", "--seed", "1"]
    assert page_of_stress(found, "x").commands[0][1] == stress_command(found)


def test_a_page_says_which_learners_were_not_sandboxed(tmp_path):
    made = compare("parity:m=1", "d=4,5", ("elimination",), seeds=1)
    ran = tuple(r.updated(details=r.details | {"process": "not sandboxed"}) for r in made.runs)
    made.updated(runs=ran).save(tmp_path / "results.json")
    found = dict(page_of(tmp_path).versions)
    assert found[f"process of {ran[0].learner}"] == "not sandboxed"


@pytest.mark.slow
def test_a_page_of_thresholds_has_the_command_that_finds_them_again(hardness, tmp_path):
    call = "least parity:m=1 --over d=5,6 --learner elimination --seeds 6 --jobs 1"
    assert hardness(*call.split(), "--out", "kept").code == 0
    [(_, again)] = page_of(tmp_path / "kept").commands
    found = hardness(*shlex.split(again)[1:], "--jobs", 1, "--json").json
    kept = json.loads(read_runs("kept").to_json())
    timed = dict.fromkeys(("thresholds", "pilots", "cells"))
    assert found | timed == kept | timed
    assert [one["tried"] for one in found["thresholds"]] == [
        one["tried"] for one in kept["thresholds"]
    ]


def test_a_page_shows_thresholds_with_the_numbers_of_the_picture(tmp_path):
    found = thresholds()
    made = compare("parity:m=2", "d=6,8", ("trivial",), seeds=1)
    save(tmp_path, made, "out", thresholds=(found,))
    assert (tmp_path / "least.svg").read_bytes().startswith(b"<?xml")
    says = shown(page_of(tmp_path))
    rows = [one for one in says.rows if one[:1] in (["elimination"], ["lowdegree"])]
    rows = [one for one in rows if one[1:2] and one[1].startswith("d=")]
    wanted = found._rows()
    assert [one[:2] for one in rows] == [[one["learner"], one["size"]] for one in wanted]
    for one, known in zip(rows, wanted, strict=True):
        middle = "–" if known["least"] is None else f"{known['least']}"
        assert one[2:6] == ["examples", middle, known["interval"], known["range"]]
    assert f"hardness figure least {tmp_path}" in says.words


def test_a_page_of_thresholds_counts_its_runs_and_lists_none(hardness, tmp_path):
    line = "least parity:d=6,m=1 --learner elimination --seeds 6 --jobs 1 --out t"
    hardness(*line.split())
    page = page_of(tmp_path / "t")
    assert page.runs == int(read_runs("t").to_frame()["runs"].sum()) > 0
    assert "The first" not in render(page)
    assert "<h2>Runs</h2>" not in render(page)
