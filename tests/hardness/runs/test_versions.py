"""Runs of two versions, budgets or tolerances of a learner are never one row of a table."""

from pathlib import Path

import hardness as h

FILE = """
def mine(x, y):
    return lambda new: {value} * new[:, 0]
"""


def edited(value):
    Path("mine.py").write_text(FILE.format(value=value))


def test_a_folder_refuses_an_edited_learner(hardness):
    line = "compare parity:m=2 --over d=6,7 --learner mine.py:mine --seeds 1 --jobs 1 --out both"
    edited("0.0")
    assert hardness(*line.split()).code == 0
    edited("0.1")
    refused = hardness(*line.split())
    assert refused.code == 2
    refused.one_line("both holds runs of another version of mine.py:mine on parity")
    assert hardness(*line.split(), "--fresh").code == 0
    assert len(h.read_runs("both").runs) == 2


def test_a_sweep_keeps_its_rows_apart(hardness):
    specs = "parity:d=6,m=1"
    grids = [{"specs": specs, "budget": {"examples": n}} for n in (10, 1000)]
    asked = {"learners": ["lowdegree"], "seeds": 2, "grid": grids}
    made = h.sweep(asked, out="runs.db", jobs=1)
    rows = made._rows()
    assert "examples=1000" in repr(made)
    assert [row["budget"] for row in rows] == ["examples=10", "examples=1000"]
    assert [row["solved"] for row in rows] == ["0/2", "2/2"]
    assert not {"oracle", "tau", "version"} & {name for row in rows for name in row}


def test_a_sweep_does_not_take_over_the_folder_of_another_command(hardness):
    hardness(
        *[
            "compare",
            "parity:m=2",
            "--over",
            "d=6",
            "--learner",
            "trivial",
            "--seeds",
            "1",
            "--out",
            "both",
        ]
    )
    text = 'learners = ["trivial"]\nseeds = 1\n[[grid]]\nspecs = "parity:d=6,m=2"\n'
    Path("a.toml").write_text(text)
    refused = hardness("sweep", "a.toml", "--out", "both/runs.db")
    assert refused.code == 2
    refused.one_line("holds runs of another command")
    forced = hardness("sweep", "a.toml", "--out", "a.db", "--force")
    assert forced.code == 2
    forced.one_line("--fresh")
