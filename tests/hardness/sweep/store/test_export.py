"""Stores put together, and tables that depend on the results alone."""

import csv
import json
import os
import random

import pytest
from msgspec.structs import replace

from hardness.runs.columns import COLUMNS, PASSING
from hardness.sweep.export import export
from hardness.sweep.store import Conflict, create, merge, read
from instances.errors import AlreadyExists, UsageError
from tests.hardness.sweep.store.making import key, made_run, rows, sweep


def again(row, i):
    """The same result, executed at another time and place."""
    usage = replace(row.usage, seconds=0.01 * i, peak_bytes=i)
    details = {**row.details, "fit_seconds": 1.0 * i, "stages": [{"seconds": 2.0 * i}]}
    versions = {**row.versions, "numpy": f"2.{i}"}
    same = {"usage": usage, "details": details, "machine": f"m{i}", "versions": versions}
    return replace(row, **same, attempts=1 + i)


def store_of(path, given, sweep_row=None):
    with create(path) as writer:
        writer.write(given, sweep_row)
    return path


def exported(path, form, only_comparable=False):
    out = path.with_suffix(f".{only_comparable}.{form}")
    with read(path) as store:
        return export(store, out, form, only_comparable), out


@pytest.mark.parametrize("form", ["csv", "json"])
def test_comparable_tables_are_equal_byte_for_byte(tmp_path, form):
    """Of equal runs, written in another order, at other times, and put together of two stores."""
    given = [made_run(i) for i in range(40)]
    files, every = [], []
    for name in ("a", "b"):
        random.Random(name).shuffle(given)
        lot = [again(row, len(files) * 9 + i) for i, row in enumerate(given)]
        if name == "b":
            lot = [row for row in lot if row.reproducible]
        two = store_of(tmp_path / f"{name}1", lot[:25]), store_of(tmp_path / f"{name}2", lot[20:])
        merge(two[0], [two[1]], tmp_path / name)
        done, out = exported(tmp_path / name, form, True)
        assert (done.runs, done.left_out) == (36, 4 if name == "a" else 0)
        files.append(out.read_bytes())
        every.append(exported(tmp_path / name, form)[1].read_bytes())
    assert files[0] == files[1]
    assert every[0] != every[1]


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


WILD = '=cmd|"a,b".py:Mine'


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


def test_what_stands_in_a_merged_store(tmp_path):
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


def test_contradictions_are_refused(tmp_path):
    store_of(tmp_path / "a", rows(9))
    store_of(tmp_path / "b", [replace(made_run(3), details={"rank": 5})])
    with pytest.raises(Conflict, match=f"b contradicts those before it: run {key(3)}.*details"):
        merge(tmp_path / "a", [tmp_path / "b"], tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
