"""What a page says, held against the store itself by SQL; what is drawn of runs, by hand."""

import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

from hardness.bounds import certify
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.charts.phase import certified_queries, phase_rows
from hardness.report.figures import rows_of
from hardness.report.page import page_of
from hardness.report.stored import comparison_of, phase_of
from hardness.runs import compare
from hardness.runs.cache import Cache
from hardness.runs.groups import _plane, comparable, over_one, over_two, where
from hardness.runs.results import read_runs
from hardness.runs.risk import interval
from hardness.runs.sweep import read_text
from instances import parse
from instances.errors import UsageError
from tests.reports import row, shown
from tests.sweeping import sweep_to

SWEEP = """
name = "<b>small & wild</b>"
seeds = 2
[budget]
examples = 2_000
queries = 3
[[grid]]
specs = "parity:noise=0"
over = { d = [6, 8, 10, 12], m = [2, 3] }
learners = ["queries", "elimination", "trivial"]
[[grid]]
specs = "linear:k=3,m=1"
over = { d = [3, 4] }
learners = ["linear"]
[[grid]]
specs = ["parity:d=8,m=2", "parity:d=10,m=3"]
learners = ["elimination"]
budget = { examples = "none", queries = "none", seconds = 60 }
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of real runs."""
    return sweep_to(tmp_path_factory.mktemp("report") / "runs.db", SWEEP)


def test_a_grid_is_cut_along_its_longest_parameter_and_a_cross_along_both():
    """d of a grid of 3 x 2; then noise of what stands alone, with what else is on that line."""
    grid = [row(parse(f"parity:d={d},m={m}").spec) for d in (6, 8, 10) for m in (2, 3)]
    arms = [row(parse(f"parity:d=6,m=2,noise={n}").spec) for n in ("0.1", "0.2")]

    def cut(rows):
        found = over_one(rows)
        return [(one.where, one.comparison.parameter, one.comparison.values) for one in found]

    assert cut(grid) == [("m == 2", "d", (6, 8, 10)), ("m == 3", "d", (6, 8, 10))]
    crossed = [one[1:] for one in cut(grid + arms)]
    assert crossed.count(("d", (6, 8, 10))) == 2
    assert ("noise", (0, Fraction(1, 10), Fraction(1, 5))) in crossed
    (plane,) = over_two(grid + arms)
    assert (plane.x, plane.y, plane.xs, plane.ys) == ("d", "m", (6, 8, 10), (2, 3))


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        (None, [0, 1, 2, 3]),
        ("noise == 0.1 or m == 3", [1, 2]),
        ("noise == 1/3", [3]),
        ("budget_examples.isna() and m >= 2", [0, 1, 3]),
        ("learner in ['trivial']", [3]),
    ],
)
def test_runs_are_chosen_by_a_condition_over_their_parameters(query, kept):
    rows = [
        row(parse("parity:d=8,m=2").spec),
        row(parse("parity:d=8,m=3").spec),
        row(parse("parity:d=8,m=2,noise=0.1").spec, budget=Budget(examples=100)),
        row(parse("parity:d=8,m=2,noise=1/3").spec, "trivial"),
    ]
    assert where(rows, query) == [rows[i] for i in kept]


@pytest.mark.parametrize("query", ["m = 3", "x == 3", "import os", "m > 'a'", ""])
def test_a_condition_that_is_none_is_one_line_with_the_columns(query):
    with pytest.raises(
        UsageError, match=r'write a condition as "m == 3", over .*d, m, noise'
    ) as no:
        where([row(parse("parity:d=8,m=2").spec)], query)
    assert "\n" not in str(no.value)


def plane_of(rows):
    """The plane of d and m, maybe of one m alone."""
    ((fixed, some),) = comparable(rows).items()
    return _plane("d", "m", some, fixed)


def test_phase_cells_follow_from_hand_made_runs():
    """Two thirds, fewer, none; ended by the machine; late; not run."""
    a, b, c, d, e = (parse(f"parity:d={d},m=2").spec for d in (6, 7, 8, 9, 10))
    rows = [row(a, seed=s, solved=s < 2) for s in range(3)]
    rows += [row(b, seed=s, solved=s < 1) for s in range(3)]
    rows += [row(c, seed=s, solved=False) for s in range(2)]
    rows += [row(d, seed=s, outcome=Outcome.CRASHED, risk=None) for s in range(2)]
    rows += [row(e, "trivial", solved=False)]
    plane = plane_of(rows)
    data = phase_rows(plane)
    cells = [one for one in data["rows"] if one["kind"] == "cell"]
    said = [(one["x"], one["state"], one["passed"], one["runs"]) for one in cells]
    assert data["xs"] == ["6", "7", "8", "9", "10"]
    assert data["y"] == "m"
    assert said == [
        *(("6", "solved", 2, 3), ("7", "partly", 1, 3), ("8", "not solved", 0, 2)),
        *(("9", "could not run", 0, 2), ("10", "not solved", 0, 1)),
    ]
    late = plane_of([row(a, seconds=9.0, budget=Budget(seconds=1))])
    assert phase_rows(late)["rows"][-1]["state"] == "not solved"


def test_what_is_hatched_is_what_the_certificate_says():
    """Above the budget of the runs, or one that shows it; for each cell its own number."""
    specs = [parse(f"parity:d={d},m={m}").spec for d in (8, 20, 40) for m in (2, 3)]
    rows = [row(spec, "queries", budget=Budget(queries=20)) for spec in specs]
    (plane,) = over_two(rows)
    data = phase_rows(plane)
    certified = {
        (str(d), str(m)): int(certify(parse(f"parity:d={d},m={m}")).value("stat-queries"))
        for m in (2, 3)
        for d in (8, 20, 40)
    }
    rows = [one for one in data["rows"] if one["kind"] == "certified"]
    assert {(one["x"], one["y"]): int(one["queries"]) for one in rows} == certified
    telling = {at: n for at, n in certified.items() if n > 2}  # others are vacuous
    assert certified_queries(data) == telling
    assert {n > data["query_budget"] for n in certified.values()} == {True, False}
    assert data["budget_given"]
    (free,) = over_two([row(spec, "queries") for spec in specs])
    shown = phase_rows(free)
    assert shown["query_budget"] < max(certified.values()) <= 10 * shown["query_budget"]
    assert not shown["budget_given"]


def test_runs_over_one_parameter_have_no_phase_diagram(tmp_path):
    """A curve is no diagram: none is drawn, and the command says so."""
    assert over_two([row(parse(f"parity:d={d},m=2").spec) for d in (6, 7)]) == ()
    compare("parity:m=2", "d=6..7", ("trivial",)).save(tmp_path / "results.json")
    with pytest.raises(UsageError, match="a phase diagram is drawn from runs of a sweep"):
        phase_of(tmp_path)


def test_the_numbers_of_a_page_are_those_of_its_store(store):
    """Every count again, by its frame."""
    page, frame = page_of(store), read_runs(store).to_frame()
    words = shown(page).words
    assert page.runs == len(frame)
    assert f"{frame['passed'].sum()} of {len(frame)} runs solved (" in words
    assert sorted(page.table["examples"]) == sorted(frame["examples"])
    assert page.title == "<b>small & wild</b>"
    largest = int(certify(parse("parity:d=12,m=3")).value("stat-queries"))
    assert f"needs at least {largest} " in words


def test_every_figure_of_a_page_is_drawn_again_by_its_command(store):
    """Its name, source and condition give the same data."""
    page = page_of(store)
    drawn = [part for part in page.parts if part.figure]
    names = {shlex.split(part.command)[2] for part in drawn}
    assert names >= {"both-sides", "phase"}
    for part in drawn:
        words = shlex.split(part.command)
        query = words[words.index("--where") + 1] if "--where" in words else None
        assert words[:2] == ["hardness", "figure"]
        assert words[3] == str(store)
        assert rows_of(words[2], store, query)["rows"] == part.figure.rows


def test_intervals_are_those_of_scipy():
    """Clopper and Pearson, by the other way."""
    from scipy.stats import binomtest

    for runs in (1, 3, 20):
        for passes in range(runs + 1):
            found = binomtest(passes, runs).proportion_ci(0.95, "exact")
            assert interval(passes, runs) == pytest.approx((found.low, found.high), abs=1e-9)


def test_a_sweep_without_runs_has_a_page(tmp_path):
    with Cache(tmp_path / "empty.db") as cache:
        cache.store_request(read_text(SWEEP, "test").filed())
    assert "There are no runs here." in shown(page_of(tmp_path / "empty.db")).words


def test_which_runs_are_meant_must_be_said(store):
    """One line with conditions that leave one figure."""
    with pytest.raises(UsageError, match=r"\d+ figures can be drawn .*--where \"family ==") as no:
        comparison_of(store)
    for query in re.findall(r'--where "(.*?)"', str(no.value)):
        assert comparison_of(store, query).specs
    with pytest.raises(UsageError, match=r"choose one, as by --where \"\(m == 3\) and budget_ex"):
        comparison_of(store, "m == 3")
    with pytest.raises(UsageError, match="no runs are left"):
        comparison_of(store, "m == 9")
    chosen = comparison_of(store, "m == 3 and budget_examples == 2000")
    assert chosen.values == (6, 8, 10, 12)
    with pytest.raises(UsageError, match="over one parameter"):
        phase_of(store, "m == 3 and budget_examples == 2000")
