"""The commands of stores: what they print, write and refuse."""

import csv
import io
import sqlite3
from collections import Counter

import pytest

from hardness.runs.rows import CERTIFICATES
from hardness.sweep.store import create
from tests.hardness.sweep.store.making import key, made_run, rows, sweep
from tests.reports import Page


@pytest.fixture
def db(tmp_path):
    with create(tmp_path / "runs.db") as writer:
        writer.write(rows(20), sweep())
    return tmp_path / "runs.db"


def test_show(hardness, db):
    shown = hardness("store", "show", db, "--json").json
    assert (shown["runs"], shown["not_reproducible"], shown["version"]) == (20, 2, 6)
    assert shown["outcomes"]["trivial"]["learned nothing"] > 0
    assert shown["sweeps"][0]["state"] == "running"
    text = hardness("store", "show", db).out
    assert "20 runs" in text
    assert "sweep small: running, 1 of 3" in text
    assert max(map(len, text.split("\n"))) <= max(80, len(str(db)) + 40)


def test_export(hardness, db):
    def export(*given):
        return hardness("store", "export", db, "--out", *given)

    done = export("a.csv", "--json").json
    assert done == {"runs": 20, "left_out": 0, "format": "csv", "out": "a.csv"}
    assert export("c.json", "--json").json["format"] == "json"
    assert "18 runs, 2 not reproducible left out" in export("b.json", "--comparable").out
    export("b.json").one_line("exists")
    unsaid = export("c.txt")
    unsaid.one_line("c.txt given", ".csv, .json or .parquet", "--format")
    assert unsaid.code == 2
    assert export("c.txt", "--format", "csv").out.startswith("written: c.txt (CSV): ")
    assert export("d.json", "--format", "csv", "--json").json["format"] == "csv"
    hardness("store", "export", db).one_line("--out")


def test_query(hardness, db):
    def query(sql, *given):
        return hardness("store", "query", db, sql, *given)

    sql = "SELECT learner_name, count(*) AS n FROM runs GROUP BY 1 ORDER BY 1"
    found = query(sql, "--json").json
    assert [row["learner_name"] for row in found] == ["elimination", "lowdegree", "trivial"]
    table = list(csv.DictReader(io.StringIO(query(sql, "--format", "csv").out)))
    assert [int(row["n"]) for row in table] == [row["n"] for row in found]
    for columns in ("key, spec, learner, details", "*"):
        wide = query(f"SELECT {columns} FROM runs LIMIT 2").out.splitlines()
        assert max(map(len, wide)) <= 80
    assert sum(line.startswith("learner_parameters ") for line in wide) == 2
    refused = query("DROP TABLE runs")
    refused.one_line("SELECT alone")
    assert refused.code == 2
    query("SELECT d FROM runs").one_line("parameters->>'d'")
    query("SELECT 1", "--format", "csv", "--json").one_line("one of the two")
    for given in (("--json",), ("--format", "csv")):
        query("SELECT 1 AS a, 2 AS a", *given).one_line("two columns have one name")


def test_merge_and_check(hardness, db):
    assert hardness("store", "merge", db, db, "--out", "c.db", "--json").json["runs"] == 20
    hardness("store", "merge", db, "--out", "c.db").one_line("exists")
    hardness("store", "merge", db).one_line("--out")
    hardness("store", "merge", db, "--out", "c.db", "--force").one_line("never replaces")
    assert hardness("store", "check", "c.db").out == "c.db: all is well\n"
    connection = sqlite3.connect("c.db")
    connection.execute(f"UPDATE runs SET passed = 1 - passed WHERE key = '{key(2)}'")
    connection.commit()
    connection.close()
    checked = hardness("store", "check", "c.db", "--json")
    assert (checked.code, checked.json["records"]) == (1, {"runs": 1})
    assert checked.json["rows"] == {"runs": [key(2)]}
    said = hardness("store", "check", "c.db")
    assert "sqlite3 c.db .recover | sqlite3 NEW.db" in " ".join(said.out.split())
    assert said.err == "hardness: c.db is damaged\n"
    hardness("store", "show", "none.db").one_line("none.db does not exist")


def test_runs_that_a_sweep_did_and_a_store_lacks_are_counted(hardness, tmp_path):
    """Deleted, or lost with a page: what is left may be what passed."""
    runs = [made_run(i) for i in range(24)]
    done = dict(Counter(one.learner for one in runs)) | {CERTIFICATES: 2}
    with create(tmp_path / "p.db") as writer:
        writer.write(runs, sweep(state="finished", planned=done, done=done, climbs={}))
    whole = hardness("store", "show", "p.db").out
    assert "missing" not in whole
    assert hardness("sweep", "status", "p.db", "--json").json["sweeps"][0]["missing"] == 0
    page = hardness("report", "p.db", "--out", "a.html")
    assert page.code == 0, page.err
    assert "partial: the sweep" not in (tmp_path / "a.html").read_text()
    connection = sqlite3.connect(tmp_path / "p.db")
    left = connection.execute("DELETE FROM runs WHERE NOT passed").rowcount
    connection.commit()
    connection.close()
    assert 0 < left < 24
    for command in (("store", "show"), ("sweep", "status")):
        shown = " ".join(hardness(*command, "p.db").out.split())
        assert f"at least {left} runs of it missing here" in shown
    assert hardness("sweep", "status", "p.db", "--json").json["sweeps"][0]["missing"] == left
    assert hardness("report", "p.db", "--out", "b.html").code == 0
    said = f"with 26 of 26 jobs done, and at least {left} runs of it missing here"
    words = Page((tmp_path / "b.html").read_text()).words
    assert f"This is partial: the sweep small is finished, {said}" in words
