import pytest

from hardness.runs.planned import Planned

RUNGS = ("--on", "parity:d=8,m=2", "--on", "parity:d=9,m=3")


def test_a_ladder_of_ones_own_from_a_seed_gives_the_same_and_it_is_told(hardness):
    call = ["stress", "--learner", "lowdegree", *RUNGS, "--seed", 0, "--jobs", 1]
    one, two = (hardness(*call, "--json").json for _ in range(2))
    assert {*one} == {
        *("format", "ladder", "seeds", "base_seed", "seed_source", "budget", "finished"),
        *("passes_to_hold", "confidence", "terms", "learners", "certificates", "runs", "not_run"),
        "paired",
    }
    assert [told["held"] for told in one["learners"]] == [1]
    assert (one["seed_source"], one["confidence"], len(one["runs"])) == ("given", "31/32", 10)
    assert [r["seed"] for r in one["runs"]] == [r["seed"] for r in two["runs"]]
    assert "Base seed 0 was given" in hardness(*call).out


def test_a_named_ladder_with_a_reference(hardness):
    call = ["stress", "--learner", "trivial", "--ladder", "parity-v1", "--jobs", 1]
    call += ["--reference", "elimination", "--seeds", 1]
    found = hardness(*call, "--out", "x.json")
    assert found.code == 0
    assert "trivial holds no rung of parity-v1" in found.out
    assert "elimination*" in found.out
    assert hardness(*call, "--out", "x.json").code == 1  # it exists
    drawn = hardness("figure", "stress", "x.json", "--json").json
    assert [row["reference"] for row in drawn["rows"] if "held" in row] == [False, True]


def test_budgets_of_rungs_are_overridden(hardness):
    call = ["stress", "--learner", "lowdegree", *RUNGS, "--json", "--jobs", 1]
    call += ["--budget-examples", 50, "--budget-cpu", 5, "--budget-memory", "1.5GiB"]
    found = hardness(*call).json
    assert found["budget"] == {
        "examples": 50,
        "queries": None,
        "values": None,
        "seconds": None,
        "cpu_seconds": 5.0,
        "memory_bytes": 3 * 2**29,
    }
    assert found["learners"][0]["rungs"][0]["bound_by"] == {"examples": 5}


def test_ladders_are_listed(hardness):
    every = hardness("stress", "--list", "--json").json["ladders"]
    assert "parity-v1" in [one["name"] for one in every]
    assert "parity-v1" in hardness("stress", "--list").out
    shown = hardness("stress", "--list", "--ladder", "parity-v1")
    assert "d=1000,m=21" in shown.out
    assert hardness("stress", "--list", "--ladder", "parity-v1", "--json").json in every


def test_an_interrupt_keeps_what_was_finished(hardness, monkeypatch):
    ran = []
    real = Planned.do

    def cut(one):
        ran.append(one)
        if len(ran) == 8:
            raise KeyboardInterrupt
        return real(one)

    call = ["stress", "--learner", "elimination", *RUNGS, "--jobs", 1]
    monkeypatch.setattr(Planned, "do", cut)
    found = hardness(*call, "--out", "x.json")
    assert found.code == 130
    found.one_line("5 runs were finished and are kept in x.json; 7 runs are kept: the same command")
    assert hardness("figure", "stress", "x.json", "--out", "x.svg").code == 0
    ran.clear()
    found = hardness(*call)
    assert found.code == 130
    assert "Its climb was interrupted." in " ".join(found.out.split())


LONG = "x" * 200 + "/" + "y" * 200 + ".py"
# A formula, what legends leave out, what has no glyphs, what is long.
ODD = ("$x^$.py", "_mine.py", "日本 <b>.py", LONG)


def test_odd_names_of_files_stand_in_tables_and_figures_as_they_are(hardness, tmp_path):
    text = "def L(x, y):\n    return lambda x: 0.0 * x\n"
    (tmp_path / LONG).parent.mkdir()
    for name in ODD:
        (tmp_path / name).write_text(text)
    call = ["stress", "--on", "parity:d=4,m=1", "--seeds", 1, "--reference", "none", "--jobs", 1]
    for name in ODD:
        call += ["--learner", f"{name}:L"]
    # A learner can read its own folder: there no seeds are drawn in secret.
    assert hardness(*call, "--budget-examples", 20, "--seed", 1, "--out", "x.json").code == 0
    drawn = hardness("figure", "stress", "x.json", "--out", "x.svg")
    assert (drawn.code, drawn.err) == (0, "")
    for name in ODD[:2]:  # the writer of svg puts every text into a comment beside its glyphs
        assert f"{name}:L: holds none" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_seeds_are_not_kept_where_a_learner_could_read_them(hardness, tmp_path):
    (tmp_path / "own").mkdir()
    for place in (".", "own"):
        (tmp_path / place / "mine.py").write_text("def L(x, y):\n    return lambda x: 0.0 * x\n")
    call = ["stress", "--on", "parity:d=4,m=1", "--seeds", 1, "--reference", "none"]
    call += ["--jobs", 1, "--budget-examples", 20, "--out", "x.json", "--learner"]
    refused = hardness(*call, "mine.py:L")
    refused.one_line("x.json given, in the folder of mine.py")
    assert (refused.code, list(tmp_path.glob("x.json*"))) == (1, [])
    assert hardness(*call, "own/mine.py:L").code == 0
    sweep = 'format = "hardness-sweep/1"\nname = "s"\n[[climbs]]\nrungs = ["parity:d=4,m=1"]\n'
    (tmp_path / "s.toml").write_text(sweep + 'learners = ["mine.py:L"]\nseeds = 1\n')
    run = hardness("sweep", "run", "s.toml", "--store", "s.db", "--jobs", 1)
    run.one_line("s.db given, in the folder of mine.py")
    assert not list(tmp_path.glob("s.db*"))


@pytest.mark.parametrize(
    ("call", "out", "row"),
    [
        (["stress", "--learner", "lowdegree", *RUNGS, "--seed", 1], "x.json", "1 & d=8,m=2 & "),
        (
            ["compare", "parity:m=2", "--over", "d=6..8", "--learner", "elimination"],
            *("both", "elimination & d=6"),
        ),
    ],
)
def test_the_table_is_printed_again(hardness, call, out, row):
    printed = hardness(*call, "--jobs", 1, "--out", out)
    assert hardness("report", out).out == printed.out
    assert row in hardness("report", out, "--format", "latex").out
    assert hardness("report", out, "--format", "csv").out
    hardness("report", out, "--format", "csv", "--out", "x.html").one_line("writes a page")


def test_a_budget_that_stops_a_query_learner_early_is_told(hardness):
    call = ["stress", "--learner", "trivial", "--on", "parity:d=24,m=3", "--seeds", 1, "--jobs", 1]
    call += ["--reference", "queries", "--reference", "elimination"]
    told = hardness(*call, "--budget-examples", 50_000)
    told.one_line(
        "queries: 50000 examples are at most 17 queries, and the certified number on rung"
    )
    assert told.code == 0
    assert hardness(*call, "--budget-examples", 50_000, "--quiet").err == ""
    assert hardness(*call, "--budget-examples", 10**6).err == ""
    assert hardness(*call).err == ""


def test_progress_is_told_in_lines_where_there_is_no_terminal(hardness, monkeypatch):
    monkeypatch.setattr("hardness.verbs.progress._EVERY", 0.0)
    call = ["stress", "--learner", "trivial", *RUNGS, "--seeds", 2, "--jobs", 1]
    assert "climbing: 1 of 4, " in hardness(*call).err
    assert hardness(*call, "--quiet").err == ""
