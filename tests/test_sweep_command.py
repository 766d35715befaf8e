"""`hardness sweep` and `hardness store`: for people and for machines, and how commands end."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardness.report.sweep import status_words
from hardness.sweep.store import create, read
from tests.hardness.sweep.making import rows, sweep
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
SWEEP = [sys.executable, "-m", "cli", "sweep", "run"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A store of the small sweep, and what the command printed in lines of JSON."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "small.toml").write_text(SMALL)
    command = [*SWEEP, "small.toml", "--store", "runs.db", "--jobs", "2", "--json"]
    how = {"env": ENVIRONMENT, "capture_output": True, "text": True, "check": True}
    ended = subprocess.run(command, cwd=folder, **how)
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
    # A store that holds runs wants --resume, and its certificates are accepted.
    line = ("sweep", "run", done[0] / "small.toml", "--store", done[0] / "runs.db")
    found = hardness(*line)
    assert found.code == 1
    found.one_line("runs.db holds runs", "--resume")
    found = hardness(*line, "--resume", "--quiet")
    assert (found.code, found.err) == (0, "")
    assert "20 of 20 jobs are done" in found.out
    with read(done[0] / "runs.db") as store:
        certificates = list(store.certificates())
    assert len(certificates) == 2
    for row in certificates:
        Path("c.json").write_text(json.dumps(row.certificate))
        assert hardness("check", "c.json").code == 0


def test_an_interrupted_sweep_says_how_to_go_on(hardness):
    endless = SMALL.replace('"lowdegree"', '"student:steps=1000000000"')
    endless = endless.replace("examples = 2000", "examples = 1000000000")
    Path("slow.toml").write_text(endless)
    command = [*SWEEP, "slow.toml", "--store", "runs.db"]
    started = subprocess.Popen(
        [*command, "--jobs", "1", "--quiet"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )

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
    for name, options in (("one", ["--jobs", "1"]), ("dask", ["--engine", "dask", "--jobs", "3"])):
        command = [*SWEEP, done[0] / "small.toml", "--store", f"{name}.db", "--quiet", *options]
        subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True)
    stores = {"two": done[0] / "runs.db", "one": "one.db", "dask": "dask.db"}
    for name, store in stores.items():
        found = hardness("store", "export", store, "--comparable", "--out", f"{name}.csv", "--json")
        assert found.json == {"runs": 18, "left_out": 0, "format": "csv", "out": f"{name}.csv"}
    assert len({Path(f"{name}.csv").read_bytes() for name in stores}) == 1


# Stores.


@pytest.fixture
def db(tmp_path):
    with create(tmp_path / "runs.db") as writer:
        writer.write(rows(20), sweep())
    return tmp_path / "runs.db"


def test_show_export_and_query(hardness, db):
    def store(command, *given):
        return hardness("store", command, db, *given)

    shown = store("show", "--json").json
    assert (shown["runs"], shown["not_reproducible"], shown["version"]) == (20, 2, 9)
    assert shown["outcomes"]["trivial"]["learned nothing"] > 0
    assert shown["sweeps"][0]["state"] == "running"
    text = store("show").out
    assert "20 runs" in " ".join(text.split())  # the path of the store may take the line
    assert "sweep small: running, 1 of 3" in text
    assert max(map(len, text.split("\n"))) <= max(80, len(str(db)) + 40)

    done = store("export", "--out", "a.csv", "--json").json
    assert done == {"runs": 20, "left_out": 0, "format": "csv", "out": "a.csv"}
    said = store("export", "--out", "b.json", "--comparable").out
    assert "18 runs, 2 not reproducible left out" in said
    refused = store("export", "--out", "c.txt")
    refused.one_line("c.txt given", ".csv, .json or .parquet", "--format")

    sql = "SELECT learner_name, count(*) AS n FROM runs GROUP BY 1 ORDER BY 1"
    found = store("query", sql, "--json").json
    assert [row["learner_name"] for row in found] == ["elimination", "lowdegree", "trivial"]
    table = list(csv.DictReader(io.StringIO(store("query", sql, "--format", "csv").out)))
    assert [int(row["n"]) for row in table] == [row["n"] for row in found]
    for columns in ("key, spec, learner, details", "*"):
        wide = store("query", f"SELECT {columns} FROM runs LIMIT 2").out.splitlines()
        assert max(map(len, wide)) <= 80
    assert sum(line.startswith("learner_parameters ") for line in wide) == 2
    refused = store("query", "DROP TABLE runs")
    refused.one_line("SELECT alone")
    assert refused.code == 2
    store("query", "SELECT d FROM runs").one_line("parameters->>'d'")
    for given in (("--json",), ("--format", "csv")):
        store("query", "SELECT 1 AS a, 2 AS a", *given).one_line("two columns have one name")


def test_merge(hardness, db):
    assert hardness("store", "merge", db, db, "--out", "c.db", "--json").json["runs"] == 20
    hardness("store", "merge", db, "--out", "c.db").one_line("exists")
    hardness("store", "merge", db).one_line("--out")
    hardness("store", "merge", db, "--out", "c.db", "--force").one_line("never replaces")
    hardness("store", "show", "none.db").one_line("none.db does not exist")
