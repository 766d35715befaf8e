"""Sweep files: what is read with its jobs; every mistake with its place; the command."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardness as front
from hardness.oracles import Budget
from hardness.runs.cache import Cache
from hardness.runs.results import Runs, read_runs
from hardness.runs.sweep import MOST_RUNS, read_sweep, read_text
from instances.errors import DamagedFile, UsageError

RUN = '[[grid]]\nspecs = "parity:d=8,m=2"\nlearners = ["queries"]\n'
FULL = """\
format = "hardness-sweep/2"
name = "hidden parities"
tau = 0.05
seeds = "3..7..2"
learners = ["queries", "lowdegree:degree=3", "queries"]
[budget]
examples = 100_000
seconds = 9
[[grid]]
specs = "parity:m=3"
over = { d = "8..16..4", noise = ["0", "1/10", 0.1] }
learners = ["elimination", {learner = "mlp:steps=9", over = {width = "16..32..*2"}}]
budget = { examples = [1000, 1e4], queries = 7, seconds = "none" }
[[grid]]
specs = ["parity-first", "parity:d=8,m=2", "parity:m=3,d=16"]
oracle = "exact"
"""


def test_a_whole_file():
    found = read_text(FULL, "x.toml")
    first, second = found.grids
    assert first.title == "grid 1"
    assert len(first.cells) == 6 * 3 * 2  # d of 8, 12, 16; noise of 0, 0.1; learners; budgets
    assert {(job.spec, job.learner) for job in first.cells[:2]} == {
        ("parity:d=8,m=3,noise=0,rho=3", "elimination:checks=32")
    }
    names = [job.learner for job in first.cells]
    assert {name.split("width=")[1] for name in names if "mlp" in name} == {"16", "32"}
    assert first.seeds == range(3, 8, 2)
    budgets = [job.budget for job in first.cells[:2]]
    assert budgets == [Budget(examples=1000, queries=7), Budget(examples=10_000, queries=7)]
    assert {job.tau for job in first.cells} == {Fraction(1, 20)}
    assert len(second.cells) == 4  # parity-first and parity:d=16,m=3 are one, queries too
    assert {job.oracle for job in second.cells if job.learner == "queries"} == {"exact"}
    assert {job.budget for job in second.cells} == {Budget(examples=100_000, seconds=9.0)}
    works = found.works
    assert found.count == len(works) == (36 + 4) * 3
    assert [job.seed for job in works[:37]] == [3] * 36 + [5]  # every cell before the next seed
    assert len({job.key for job in works}) == len(works)
    assert found.toml == FULL


def test_what_cannot_run_is_left_out_and_counted(hardness):
    text = '[[grid]]\nspecs = ["parity:d=8,m=2", "nice:m=2,k=2,d=4", "nice:m=1,k=2,d=4"]\n'
    text += 'learners = ["elimination", "trivial"]\n'
    found = read_text(text, "x").grids[0]
    assert len(found.cells) == 4
    (one,) = found.left_out
    assert (one.learner, one.specs) == ("elimination:checks=32", 2)
    assert one.reason.startswith("nice lacks `noisy_parities`")
    Path("x.toml").write_text(text)
    said = hardness("sweep", "x.toml", "--dry-run").out
    assert "x: 4 runs" in said
    assert "left out of grid 1: elimination on 2 specs: nice lacks" in " ".join(said.split())


def test_a_learner_from_a_file_is_named_and_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("raise SystemExit('executed')")
    learners = 'learners = ["mine.py:L", {learner = "mine.py:L:a=1", over = {b = [2, 0.5]}}]'
    found = read_text(RUN.replace('learners = ["queries"]', learners), "x").grids[0]
    names = [job.learner for job in found.cells]
    assert names == ["mine.py:L", "mine.py:L:a=1,b=2", "mine.py:L:a=1,b=0.5"]
    first = found.cells[0].key
    (tmp_path / "mine.py").write_text("a = 2")
    again = read_text(RUN.replace('learners = ["queries"]', learners), "x").grids[0]
    assert again.cells[0].key != first  # it is known by its text


ASKED, ALONE = "learners = ['queries']\n", "[[grid]]\nspecs = 'parity:d=8,m=2'\n"
MISTAKES = [  # the file, the place, words of the message
    ("name = 'x'\n", "", "grid is missing: write grid = [...]"),
    (RUN + "seeds = [1, 2,, 3]\n", "", "Invalid value (at line 4"),
    (RUN + "a" + ".a" * 300_000 + " = 1", "", "over 100 parts"),
    (RUN + "learner = 'trivial'\n", "grid[1].learner", "did you mean 'learners'?"),
    (RUN + '"a\\u0000b" = 1\n', "grid[1].a?b", "unknown key"),
    ("[grid]\nspecs = 'parity:d=8,m=2'\n", "grid", "a list is needed"),
    (RUN + RUN + "seeds = 0\n", "grid[2].seeds", "0: an integer of at least 1 is needed"),
    ('seeds = "7..3"\n' + RUN, "seeds", "the range is empty"),
    (RUN + "tau = 2\n", "grid[1].tau", "at most 1"),
    (RUN + 'oracle = "exakt"\n', "grid[1].oracle", "did you mean 'exact'"),
    (RUN + "budget = {examples = [1,\n0]}\n", "grid[1].budget.examples[2]", "0: an integer of"),
    (RUN + "seeds = 1.5\n", "grid[1].seeds",
     "1.5: an integer, a text or a list is needed, not a decimal number"),
    (RUN + "over = {m = {a = 1}}\n", "grid[1].over.m", "or a list is needed, not a table"),
    (RUN + "seeds = 2020-01-01\n", "grid[1].seeds", "2020-01-01: an integer, a text or a list"),
    (RUN + "budget = {}\n[grid.budgets]\n", "grid[1].budgets", "did you mean 'budget'"),
    (ASKED + "[[grid]]\nseeds = 1\n", "grid[1]", "specs is missing: write specs = [...]"),
    (ALONE, "grid[1]", "learners is missing"),
    (ASKED + "[[grid]]\nspecs = 'mine.py:F'\nover = {d = [1]}", "grid[1].specs", "--family path"),
    (ASKED + "[[grid]]\nspecs = [\n'parity-first',\n'parity:d=8,m=9']\n", "grid[1].specs[2]",
     "got 9"),
    (RUN + "over = {m = '1...3'}\n", "grid[1].over.m", "8..20..4"),
    (RUN + "over = {q = '1..3'}\n", "grid[1].over", "unknown parameter of parity 'q'"),
    (RUN + "over.d = '1..1000000000'\nseeds = 3", "grid[1].over", "3 seeds, 3000000000 runs"),
    (ALONE + "learners = ['queries',\n'elimniation']\n", "grid[1].learners[2]", "elimination'"),
    (ALONE + "learners = [{learner = 'mlp', over = {wdth = [1]}}]\n", "grid[1].learners[1].over",
     "did you mean 'width'"),
    (ALONE + "learners = ['gone.py:L']\n", "grid[1].learners[1]", "there is no file"),
    ("[[grid]]\nspecs = 'nice:m=2,k=2,d=4'\nlearners = ['elimination']\n", "grid[1]",
     "nothing can run: elimination: nice lacks `noisy_parities`"),
    ("format = 'hardness-sweep/1'\n" + RUN, "format", "'hardness-sweep/1': this version"),
    ("[[runs]]\nspec = 'parity:d=8,m=2'\n", "runs", "write [[grid]] with specs"),
    ("[limits]\nretries = 1\n" + RUN, "limits", "leave limits out"),
    ("[[climbs]]\nladder = 'parity-v1'\n", "climbs", "hardness stress"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "words"), MISTAKES)
def test_a_mistake_is_one_line_with_its_place(text, key, words):
    with pytest.raises(UsageError) as found:
        read_text(text, "x.toml")
    said = str(found.value)
    assert said.startswith("x.toml: " + (f"{key}: " if key else "")), said[:300]
    assert words in said
    assert not re.search("`(int|float|str|bool|array|object|null)`|Expected `", said)
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "grid is missing"),
        (RUN.encode() + b"# \xff\n", "no text in UTF-8"),
        (b"\x00\x01" * 99, "Illegal character|Invalid statement"),
        (b"#" * (2 << 20), "at most 1048576"),
    ],
)
def test_files_that_are_none(tmp_path, data, words):
    path = tmp_path / "s.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=words):
        read_sweep(path)


def test_a_byte_order_mark_and_windows_lines(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes(b"\xef\xbb\xbf" + RUN.replace("\n", "\r\n").encode())
    assert read_sweep(path).count == 1


PIECES = ["", "[", "]", "{", "}", "=", ",", "..", '"', "'", "\n", "1e9", "nan", "true", "\x00"]


@given(st.integers(0, len(FULL)), st.sampled_from([0, 1, 5]), st.sampled_from(PIECES))
def test_whatever_is_mangled_is_read_or_refused_in_a_line(start, cut, put):
    text = FULL[:start] + put + FULL[start + cut :]
    try:
        assert read_text(text, "x").count
    except UsageError as error:
        said = str(error)
        assert said.startswith("x: ")
        assert "\n" not in said


def test_over_a_million_runs_are_refused():
    with pytest.raises(UsageError, match=r"1000001 runs: at most 1000000"):
        read_text(RUN + f"seeds = {MOST_RUNS + 1}\n", "x")
    assert read_text(RUN + f"seeds = {MOST_RUNS}\n", "x").count == MOST_RUNS


@pytest.mark.parametrize("name", ["parities", "binding", "results"])
def test_the_examples_are_read(name):
    found = read_sweep(Path(__file__).parents[3] / f"docs/examples/{name}.toml")
    assert sum(row["runs"] for row in found.to_dict()["parts"]) == found.count > 0


FEW = """
name = "few"
seeds = 2
budget = { examples = 2_000 }
[[grid]]
specs = "parity:m=2"
over = { d = "6..8..2" }
learners = ["elimination", "trivial"]
"""


def test_the_same_command_goes_on_and_says_so(hardness):
    Path("few.toml").write_text(FEW)
    first = hardness("sweep", "few.toml", "--out", "runs.db", "--jobs", 1)
    assert (first.code, first.err) == (0, "")
    assert "runs.db: 8 runs" in first.out
    again = hardness("sweep", "few.toml", "--out", "runs.db", "--jobs", 1)
    assert again.out == first.out  # times too: nothing was done again
    assert again.err == "hardness: 8 runs found in runs.db, which are not done again\n"
    Path("few.toml").write_text(FEW.replace("seeds = 2", "seeds = 3"))
    more = hardness("sweep", "few.toml", "--out", "runs.db", "--jobs", 1)
    assert "12 runs" in more.out
    fresh = hardness("sweep", "few.toml", "--out", "runs.db", "--jobs", 1, "--fresh")
    assert fresh.err == ""
    assert hardness("report", "runs.db").out == fresh.out
    frame = front.read_runs("runs.db").to_frame()
    assert len(frame) == 12
    assert frame.groupby("learner")["solved"].sum().to_dict() == {
        "elimination:checks=32": 6, "trivial": 0,
    }  # fmt: skip


def test_a_file_of_two_sweeps_gives_each_its_own_runs(tmp_path):
    """What else the file holds is another request's: `read_runs` gives all."""
    asked = {"specs": "parity:d=8,m=2", "learners": ["trivial"], "seeds": 2}
    path = tmp_path / "runs.db"
    front.sweep(asked, out=path, jobs=1)
    second = front.sweep(asked | {"specs": "parity:d=9,m=2"}, out=path, jobs=1)
    assert {run.spec for run in second.runs} == {"parity:d=9,m=2,noise=0,rho=3"}
    assert len(second.runs) == 2
    assert len(read_runs(path).runs) == 4


def test_runs_of_several_conditions_are_never_one_row():
    """Budgets, tolerances; a learner that asks nothing has none, and costs are of who solved."""
    asked = [
        {"specs": "parity:d=8,m=2", "learners": ["queries", "trivial"], "seeds": 2},
        {"specs": "parity:d=8,m=2", "learners": ["queries"], "tau": "0.05", "seeds": 2,
         "budget": {"examples": [5000, "none"]}},
    ]  # fmt: skip
    found = front.sweep({"grid": asked}, jobs=1)
    rows = {(row["learner"].split(":")[0], row["budget"], row["tau"]): row for row in found._rows()}
    assert {key: row["solved"] for key, row in rows.items()} == {
        ("queries", "", 0.1): "2/2", ("queries", "", 0.05): "2/2",
        ("queries", "examples=5000", 0.05): "0/2", ("trivial", "", None): "0/2",
    }  # fmt: skip
    spent = sorted(run.queries for run in found.runs if run.details.get("tau") == "1/10")
    assert rows["queries", "", 0.1]["queries"] == sum(spent) / 2
    assert rows["trivial", "", None]["examples"] is None
    assert "version" not in found._rows()[0]
    assert "examples=5000" in found.text(200)


def test_a_dry_run_says_what_the_file_holds(hardness):
    Path("few.toml").write_text(FEW)
    dry = ("sweep", "few.toml", "--dry-run", "--out", "runs.db")
    assert "few: 8 runs\n" in hardness(*dry).out
    assert not Path("runs.db").exists()
    hardness("sweep", "few.toml", "--out", "runs.db", "--jobs", 1)
    Path("few.toml").write_text(FEW.replace("seeds = 2", "seeds = 3"))
    assert "few: 12 runs, of which runs.db holds 8\n" in hardness(*dry).out
    assert hardness(*dry, "--json").json["done"] == 8
    assert "few: 12 runs\n" in hardness(*dry, "--fresh").out
    hardness("compare", "parity:m=2", "--over", "d=6", "--learner", "trivial", "--out", "both")
    other = hardness(*dry[:3], "--out", "both/runs.db")
    assert (other.code, "another command" in other.err) == (2, True)


@pytest.mark.parametrize("name", ["foo.json", "foo.csv", "foo.HTML", "foo.parquet"])
def test_a_name_of_another_format_is_refused(hardness, name):
    Path("few.toml").write_text(FEW)
    said = hardness("sweep", "few.toml", "--out", name)
    assert said.code == 2
    assert "name it foo.db" in said.err
    assert [one.name for one in Path().iterdir()] == ["few.toml"]


def test_a_parameter_given_twice_is_refused(hardness):
    for over, spec in (("d=6..8", "parity:d=8,m=2"), ("m=2", "parity:d=8,m=2")):
        for command in (("compare",), ("least", "--learner", "trivial")):
            said = hardness(command[0], spec, *command[1:], "--over", over)
            assert said.code == 2
            assert f"{over[0]} stands in {spec} and in --over: give it once" in said.err
    grid = '[[grid]]\nspecs = "parity:d=8,m=2"\nlearners = ["trivial"]\n'
    with pytest.raises(UsageError, match=r"x: grid\[1\]\.over: d stands in parity:d=8,m=2"):
        read_text(grid + 'over = {d = "8..9"}\n', "x")
    learner = "learners = [{learner = 'mlp:width=8', over = {width = [8, 9]}}]\n"
    with pytest.raises(UsageError, match="width stands in mlp:width=8"):
        read_text(ALONE + learner, "x")
    named = grid.replace("parity:d=8,m=2", "parity-first") + 'over = {d = "8..9"}\n'
    assert read_text(named, "x").count == 2  # of the catalog: its own value is replaced


def test_a_folder_without_runs_and_a_result_without_a_page_are_said(hardness):
    Path("empty").mkdir()
    said = hardness("report", "empty")
    assert "empty is a folder without runs: name the folder" in said.err
    attack = ("attack", "parity:d=12,m=2", "--learner", "elimination", "--seeds", 2)
    hardness(*attack, "--jobs", 1, "--out", "found")
    assert hardness("report", "found").code == 0
    page = hardness("report", "found", "--out", "page.html")
    assert page.code != 0
    assert "found is no comparison, sweep, stress test or search of thresholds" in page.err


def test_a_warning_names_the_line_of_the_caller(tmp_path):
    def zeros(x, y, rng):
        return lambda x: 0.0 * x

    asked = {"specs": "parity:d=8,m=2", "learners": [zeros], "budget": {"examples": 200}}
    calls = (
        lambda: front.sweep(asked, out=tmp_path / "runs.db", jobs=1),
        lambda: front.compare("parity:m=2", "d=6..7", zeros, out=tmp_path / "both", jobs=1),
    )
    for call in calls:
        with pytest.warns(UserWarning, match="are not kept in") as said:
            call()
        assert {Path(one.filename).name for one in said} == {Path(__file__).name}


def test_a_dictionary_with_objects_is_a_sweep(tmp_path):
    def zeros(x, y, rng):
        return lambda x: 0.0 * x

    asked = {"specs": "parity:d=8,m=2", "learners": [zeros, "elimination"], "seeds": 2}
    found = front.sweep(asked | {"budget": {"examples": 200}}, jobs=1)
    assert isinstance(found, Runs)
    assert [run.outcome.value for run in found.runs].count("solved") == 2
    with pytest.warns(UserWarning, match="runs of zeros are not kept in"):
        kept = front.sweep(asked, out=tmp_path / "runs.db", jobs=1)
    assert {run.learner for run in kept.runs} == {"elimination:checks=32", "zeros"}
    with pytest.raises(UsageError, match="the dictionary given: learner: unknown key"):
        front.sweep({"grid": [asked], "learner": 3})


def test_what_holds_no_runs_is_refused_in_a_line(tmp_path):
    for name, text in {
        "a.json": "{}",
        "b.json": "[]",
        "c.txt": "x",
        "d.json": '{"format": 1}',
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(DamagedFile) as no:
            read_runs(tmp_path / name)
        assert "\n" not in str(no.value)
    with pytest.raises(UsageError, match="folder"):
        read_runs(tmp_path)
    with Cache(tmp_path / "later.db") as cache:
        cache.store_request({"format": "hardness-sweep/99", "name": "x"})
    with pytest.raises(
        DamagedFile, match="'hardness-sweep/99': this version reads hardness-sweep/2"
    ):
        read_runs(tmp_path / "later.db")
