"""`hardness sweep` on the command line: output for people and machines, how each command ends."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardness.report.sweep import status_words
from hardness.sweep.store import read
from tests.waiting import wait_for

SMALL = """\
format = "hardness-sweep/1"
name = "small"
seeds = 2
[budget]
examples = 2000
[[runs]]
spec = "parity:m=2"
over = { d = [8, 10] }
learners = ["elimination", "lowdegree"]
[[climbs]]
rungs = ["parity:d=8,m=2", "parity:d=10,m=3"]
learners = ["elimination"]
seeds = 5
seed = 1
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A store of the small sweep, and what the command printed in lines of JSON."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "small.toml").write_text(SMALL)
    command = [sys.executable, "-m", "cli", "sweep", "run", "small.toml", "--store", "runs.db"]
    ended = subprocess.run(
        [*command, "--jobs", "2", "--json"],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return folder, ended


def test_lines_of_json_end_with_what_came_of_it(done):
    folder, ended = done
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["event"] for line in lines[:-1]] == ["progress"] * (len(lines) - 1)
    last = lines[-1]
    assert last["event"] == "finished"
    assert last["finished"] == last["total"] == 8 + 10 + 2
    assert last["planned"] == last["done"]
    assert last["missing"] == []
    assert all("so far" in line for line in ended.stderr.splitlines())  # on a slow machine
    assert sorted(p.name for p in folder.iterdir()) == ["runs.db", "small.toml"]


def test_status_says_how_it_stands(done, hardness):
    found = hardness("sweep", "status", done[0] / "runs.db", "--json").json
    (one,) = found["sweeps"]
    assert found["writing"] is False
    assert (one["name"], one["state"]) == ("small", "finished")
    assert one["planned"] == one["done"]
    assert one["missing"] == 0
    assert one["planned"]["elimination:checks=32"] == 4 + 10
    shown = hardness("sweep", "status", done[0] / "runs.db").out
    assert shown.startswith("small: finished, 20 of 20 jobs done")
    with read(done[0] / "runs.db") as found:
        (row,) = found.sweeps()
    old = replace(row, name="a name of some length, as sweeps have", updated=row.updated - 4000)
    for text in (shown, status_words(done[0] / "runs.db", [old], {}, writing=False)):
        assert max(map(len, text.splitlines())) <= 80


def test_a_store_that_holds_runs_wants_resume(done, hardness):
    line = ("sweep", "run", done[0] / "small.toml", "--store", done[0] / "runs.db")
    found = hardness(*line)
    assert found.code == 1
    found.one_line("runs.db holds runs", "--resume")
    found = hardness(*line, "--resume", "--quiet")
    assert (found.code, found.err) == (0, "")
    assert "20 of 20 jobs are done" in found.out


def test_certificates_of_a_store_are_accepted(done, hardness):
    with sqlite3.connect(done[0] / "runs.db") as base:
        rows = base.execute("SELECT certificate FROM certificates").fetchall()
    assert len(rows) == 2
    for (text,) in rows:
        Path("c.json").write_text(text)
        assert hardness("check", "c.json").code == 0


@pytest.mark.clocks
def test_an_interrupted_sweep_says_how_to_go_on(hardness):
    endless = SMALL.replace('"lowdegree"', '"student:steps=1000000000"')
    endless = endless.replace("examples = 2000", "examples = 1000000000")
    Path("slow.toml").write_text(endless)
    command = [sys.executable, "-m", "cli", "sweep", "run", "slow.toml", "--store", "runs.db"]
    root = str(Path(__file__).parent.parent)
    started = subprocess.Popen(
        [*command, "--jobs", "1", "--quiet"],
        env=os.environ | {"PYTHONPATH": root}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def status():
        found = hardness("sweep", "status", "runs.db", "--json")
        return found.json if found.code == 0 else {"outcomes": None}

    wait_for(lambda: status()["outcomes"])
    assert status()["writing"] is True
    for _ in range(5):  # an impatient end; SIGINT and SIGHUP have the same handler
        started.send_signal(signal.SIGTERM)
        time.sleep(0.002)  # else they may be one
    said = started.communicate()[1]
    assert started.returncode == 130
    assert said.count("\n") == 1
    assert said.startswith("hardness: interrupted: ")
    assert "hardness sweep run slow.toml --store runs.db --resume --jobs 1 --quiet" in said
    (one,) = hardness("sweep", "status", "runs.db", "--json").json["sweeps"]
    assert one["state"] == "interrupted"
    assert hardness("store", "check", "runs.db").code == 0


def test_a_mistake_in_the_file_is_one_line_with_its_place(hardness):
    Path("wrong.toml").write_text(SMALL.replace("d = [8, 10]", 'd = "8..1000000000"'))
    for line in ("plan wrong.toml", "run wrong.toml --store runs.db"):
        found = hardness("sweep", *line.split())
        assert (found.code, found.out) == (2, "")
        found.one_line("wrong.toml: runs[1].over", "at most 1000000")
    assert not Path("runs.db").exists()


def test_engines_that_are_not_there(hardness):
    Path("small.toml").write_text(SMALL)
    line = ("sweep", "run", "small.toml", "--store", "runs.db", "--engine")
    there = "no dask scheduler" if find_spec("distributed") else "[cluster]"
    none = ("", "slurm", "dask:nonsense", "dask:tcp://a", "dask:tcp://a:99999", "http://a:80")
    wrong = [(engine, 2, "127.0.0.1:8786") for engine in none]
    for engine, code, what in (*wrong, ("dask:tcp://127.0.0.1:1", 1, there)):
        found = hardness(*line, engine)
        assert found.code == code
        *notes, error = found.err.splitlines()
        assert error.startswith("hardness: ")
        assert what in error
        assert ["has no TLS" in note for note in notes] == [True] * engine.startswith("dask:tcp:")
        assert not Path("runs.db").exists()


@pytest.mark.cluster
@pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra `cluster`")
def test_the_same_table_on_one_worker_and_on_a_cluster_of_three(done, hardness):
    root = str(Path(__file__).parent.parent)
    for name, options in (("one", ["--jobs", "1"]), ("dask", ["--engine", "dask", "--jobs", "3"])):
        command = [sys.executable, "-m", "cli", "sweep", "run", str(done[0] / "small.toml")]
        subprocess.run(
            [*command, "--store", f"{name}.db", "--quiet", *options],
            env=os.environ | {"PYTHONPATH": root}, capture_output=True, check=True,
        )  # fmt: skip
    stores = {"two": done[0] / "runs.db", "one": "one.db", "dask": "dask.db"}
    for name, store in stores.items():
        found = hardness("store", "export", store, "--comparable", "--out", f"{name}.csv", "--json")
        assert found.json == {"runs": 18, "left_out": 0, "format": "csv", "out": f"{name}.csv"}
    assert len({Path(f"{name}.csv").read_bytes() for name in stores}) == 1
