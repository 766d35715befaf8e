"""Stores: what is written is read, once, in one order; tables that depend on results alone."""

import csv
import dataclasses
import json
import os
import random

import pytest
from msgspec.structs import replace

from hardness.learners import Outcome
from hardness.report.stored_rows import export
from hardness.runs.columns import COLUMNS, PASSING
from hardness.sweep.store import Conflict, create, decide, merge, read, reopen
from instances.errors import AlreadyExists, UsageError
from tests.hardness.sweep.making import key, made_run, rows, sweep


def store_of(path, given, sweep_row=None):
    with create(path) as writer:
        writer.write(given, sweep_row)
    return path


def exported(path, form, only_comparable=False):
    out = path.with_suffix(f".{only_comparable}.{form}")
    with read(path) as store:
        return export(store, out, form, only_comparable), out


def test_what_is_written_is_read(tmp_path):
    given, db = rows(30), tmp_path / "runs.db"
    store_of(db, given, sweep())
    with read(db) as store:
        assert {r.key: r for r in store.runs()} == {r.key: r for r in given[:30]}
        assert list(store.certificates()) == [given[30]]
        assert store.sweeps() == [sweep()]
        assert sum(n for found in store.counts().values() for n in found.values()) == 30
        summary = store.summary()
        assert (summary["runs"], summary["sweeps"], summary["not_reproducible"]) == (30, 1, 3)
    assert os.listdir(tmp_path) == ["runs.db"]
    with reopen(db) as writer:
        assert not writer.empty
        assert set(writer.finished()) == {*map(key, range(30)), "c" * 32}
        assert writer.failed() == {key(9), key(19), key(29)}
        assert (writer.row("runs", key(3)), writer.row("runs", "none")) == (made_run(3), None)
        assert (writer.sweep(sweep().sha256), writer.sweep("b" * 64)) == (sweep(), None)


def test_seeds_budgets_and_names_of_any_kind_in_one_order(tmp_path):
    budget = dataclasses.replace(made_run(1).budget, examples=2**70)
    odd = replace(made_run(0), seed=2**200), replace(made_run(1), budget=budget)
    given = [*map(made_run, range(2, 40)), *(replace(one, key=key(i)) for i, one in enumerate(odd))]
    orders = []
    for name in (b"a", b"r\xff%20?#.db"):
        random.Random(name).shuffle(given)
        with create(tmp_path / os.fsdecode(name)) as writer:
            writer.write([], sweep())
            assert writer.empty
            for row in given:
                writer.write([row])
        with read(writer.path) as store:
            orders.append(list(store.runs()))
    assert sorted(orders[0], key=lambda row: row.key) == sorted(given, key=lambda row: row.key)
    assert orders[0] == orders[1]
    assert orders[0][0].spec.startswith("parity:d=9")


SOLVED = made_run(1)
CRASHED = replace(SOLVED, outcome=Outcome.CRASHED, risk=None)
RAISED = replace(CRASHED, details=SOLVED.details | {"type": "ValueError"})
LATE = replace(SOLVED, outcome=Outcome.SECONDS_SPENT)
DECIDED = [  # an earlier result of a key, a new one, whether that takes its place
    *((RAISED, SOLVED, True), (RAISED, CRASHED, False), (SOLVED, RAISED, False)),
    *((SOLVED, LATE, False), (SOLVED, replace(SOLVED, attempts=3, machine="another"), False)),
    *((CRASHED, SOLVED, True), (CRASHED, CRASHED, True), (CRASHED, LATE, True)),
    *((LATE, SOLVED, True), (LATE, CRASHED, False)),
]


def test_which_of_two_results_stands(tmp_path):
    for i, (old, new, takes_its_place) in enumerate(DECIDED):
        assert decide(old, new) is takes_its_place
        with create(tmp_path / str(i)) as writer:
            writer.write([old])
            writer.write([new])
            assert writer.row("runs", old.key) == (new if takes_its_place else old), i


def again(row, i):
    """The same result, executed at another time and place."""
    usage = replace(row.usage, seconds=0.01 * i, peak_bytes=i)
    details = {**row.details, "fit_seconds": 1.0 * i, "stages": [{"seconds": 2.0 * i}]}
    versions = {**row.versions, "numpy": f"2.{i}"}
    same = {"usage": usage, "details": details, "machine": f"m{i}", "versions": versions}
    return replace(row, **same, attempts=1 + i)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_comparable_tables_are_equal_byte_for_byte(tmp_path, form):
    """Of equal runs, written in another order, at other times, and put together of two stores."""
    given, files, every = [made_run(i) for i in range(40)], [], []
    for name in ("a", "b"):
        random.Random(name).shuffle(given)
        lot = [again(row, len(files) * 9 + i) for i, row in enumerate(given)]
        if name == "b":
            lot = [row for row in lot if row.reproducible]
        two = store_of(tmp_path / f"{name}1", lot[:25]), store_of(tmp_path / f"{name}2", lot[20:])
        merge(two[0], [two[1]], tmp_path / name)
        done, out = exported(tmp_path / name, form, True)
        assert (done.rows, done.left_out) == (36, 4 if name == "a" else 0)
        files.append(out.read_bytes())
        every.append(exported(tmp_path / name, form)[1].read_bytes())
    assert files[0] == files[1]
    assert every[0] != every[1]


WILD = '=cmd|"a,b".py:Mine'


def test_a_file_holds_what_the_table_holds(tmp_path):
    db = store_of(tmp_path / "a", [*rows(12), replace(made_run(0), key="wild", learner=WILD)])
    as_csv, as_json = exported(db, "csv")[1], exported(db, "json")[1]
    with read(db) as store:
        names, found = store.query("SELECT * FROM runs")
        records = [row.record() for row in store.runs()]
        with pytest.raises(AlreadyExists):
            export(store, as_csv, "csv")
        with pytest.raises(UsageError, match="csv, json, parquet"):
            export(store, tmp_path / "a.xls", "xls")
    assert names == list(COLUMNS) == list(records[0])
    by_key = {row[0]: row for row in found}
    assert all(tuple(one.values()) == by_key[one["key"]] for one in records)
    with as_csv.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["key"] for row in table] == [one["key"] for one in records]
    assert [float(row["seconds"]) for row in table] == [one["seconds"] for one in records]
    assert table[0]["learner"] == "'" + WILD  # no formula
    loaded = json.loads(as_json.read_text())
    assert (loaded[0]["learner"], loaded[0]["parameters"]["m"]) == (WILD, 2)
    with exported(db, "csv", True)[1].open(newline="") as file:
        assert next(csv.reader(file)) == [c for c in COLUMNS if c not in PASSING]
    empty = store_of(tmp_path / "empty", [])
    assert json.loads(exported(empty, "json")[1].read_text()) == []


@pytest.mark.cluster
def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    large = replace(made_run(0), key="large", seed=2**70)
    a = exported(store_of(tmp_path / "a", [*rows(12), large]), "parquet", True)[1]
    b = exported(store_of(tmp_path / "b", [large, *reversed(rows(12))]), "parquet", True)[1]
    assert a.read_bytes() == b.read_bytes()
    table = parquet.read_table(a).to_pylist()
    assert len(table) == 12
    assert str(2**70) in {row["seed"] for row in table}
    assert {type(row["risk"]) for row in table} == {float}


def test_what_stands_in_a_merged_store_and_contradictions_are_refused(tmp_path):
    failed, mended = made_run(9), replace(made_run(8), key=key(9))
    store_of(tmp_path / "a", [*rows(9), failed], sweep(updated=5.0, state="finished"))
    store_of(tmp_path / "b", [mended, made_run(30)], sweep(updated=3.0))
    for first, other in (("a", "b"), ("b", "a")):
        merge(tmp_path / first, [tmp_path / other], tmp_path / f"{first}{other}")
        with read(tmp_path / f"{first}{other}") as store:
            found = {row.key: row for row in store.runs()}
            assert len(found) == 11
            assert found[failed.key] == mended
            assert store.sweeps() == [sweep(updated=5.0, state="finished")]
    with pytest.raises(AlreadyExists):
        merge(tmp_path / "a", [], tmp_path / "ab")
    store_of(tmp_path / "c", [replace(made_run(3), details={"rank": 5})])
    with pytest.raises(Conflict, match=f"c contradicts those before it: run {key(3)}.*details"):
        merge(tmp_path / "a", [tmp_path / "c"], tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["a", "ab", "b", "ba", "c"]


REFUSED = {  # queries that are more than reading, or too much of it
    **dict.fromkeys(("DELETE FROM runs", "ATTACH 'x' AS y", "VACUUM INTO 'x'"), "SELECT alone"),
    **dict.fromkeys(("PRAGMA user_version = 9", "SELECT load_extension('x')"), "SELECT alone"),
    **{"SELECT 1; SELECT 2": "one statement", "SELECT nowhere FROM runs": "the tables runs"},
    **{"": "one SELECT", "SELECT zeroblob(500000000)": "too big"},  # larger than the file
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n": "LIMIT",
}


def test_queries_read_and_nothing_else(tmp_path):
    with read(store_of(tmp_path / "a", rows(30))) as store:
        names, found = store.query("SELECT learner, count(*) AS n FROM runs GROUP BY 1")
        assert names == ["learner", "n"]
        assert sum(n for _, n in found) == 30
        assert store.query("SELECT json_extract(parameters, '$.d') FROM runs")[1][0][0] in (9, 10)
        for sql, why in REFUSED.items():
            with pytest.raises(UsageError, match=why) as caught:
                store.query(sql, most=1000)
            assert "\n" not in str(caught.value)
