"""Stores put together, and tables that depend on the results alone."""

import csv
import json
import os
import random
from dataclasses import replace

import pytest

from hardness.runs.rows import ArtifactRow, FigureRow
from hardness.sweep.columns import COLUMNS, PASSING, record_of
from hardness.sweep.export import cell, export
from hardness.sweep.store import Conflict, create, merge, read
from instances.errors import AlreadyExists, ToolkitError, UsageError
from tests.hardness.sweep.store.making import SPEC, key, made_run, rows, sweep


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


def exported(path, out, form, only_comparable):
    with read(path) as store:
        return export(store, out, form, only_comparable)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_comparable_tables_are_equal_byte_for_byte(tmp_path, form):
    given = [made_run(i) for i in range(40)]
    files = []
    for name in ("a", "b"):
        random.Random(name).shuffle(given)
        lot = [again(row, len(files) * 9 + i) for i, row in enumerate(given)]
        if name == "b":
            lot = [row for row in lot if row.reproducible]
        store_of(tmp_path / name, lot[:25])
        store_of(tmp_path / f"{name}2", lot[20:])
        merge(tmp_path / name, [tmp_path / f"{name}2"], tmp_path / f"{name}3")
        done = exported(tmp_path / f"{name}3", tmp_path / f"{name}.out", form, True)
        files.append((tmp_path / f"{name}.out").read_bytes())
        assert (done.runs, done.left_out) == (36, 4 if name == "a" else 0)
    assert files[0] == files[1]
    for name in ("a3", "b3"):
        exported(tmp_path / name, tmp_path / f"{name}.all", form, False)
    assert (tmp_path / "a3.all").read_bytes() != (tmp_path / "b3.all").read_bytes()


def test_a_table_holds_what_the_view_holds(tmp_path):
    store_of(tmp_path / "a", rows(12))
    exported(tmp_path / "a", tmp_path / "a.csv", "csv", False)
    exported(tmp_path / "a", tmp_path / "a.json", "json", False)
    exported(tmp_path / "a", tmp_path / "b.csv", "csv", True)
    with read(tmp_path / "a") as store:
        names, found = store.query("SELECT * FROM runs")
        flats = [record_of(row) for row in store.runs()]
    assert names == list(COLUMNS) == list(flats[0])
    by_key = {row[0]: row for row in found}
    assert all(tuple(one.values()) == by_key[one["key"]] for one in flats)
    with (tmp_path / "a.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["key"] for row in table] == [one["key"] for one in flats]
    assert [float(row["seconds"]) for row in table] == [one["seconds"] for one in flats]
    opened = json.loads((tmp_path / "a.json").read_text())
    assert opened[0]["parameters"]["m"] == 2
    with (tmp_path / "b.csv").open(newline="") as file:
        assert next(csv.reader(file)) == [c for c in COLUMNS if c not in PASSING]
    with read(tmp_path / "a") as store:
        with pytest.raises(AlreadyExists):
            export(store, tmp_path / "a.csv", "csv")
        with pytest.raises(UsageError, match="csv, json, parquet"):
            export(store, tmp_path / "a.xls", "xls")


def test_names_are_no_formulas_and_are_quoted(tmp_path):
    name = '=cmd|"a,b".py:Mine'
    row = made_run(0)
    store_of(tmp_path / "a", [replace(row, learner=name)])
    exported(tmp_path / "a", tmp_path / "a.csv", "csv", False)
    exported(tmp_path / "a", tmp_path / "a.json", "json", False)
    with (tmp_path / "a.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["learner"] == "'" + name
    assert json.loads((tmp_path / "a.json").read_text())[0]["learner"] == name


@pytest.mark.parametrize("start", "=+-@\t\r")
def test_a_text_is_no_formula(start):
    assert cell(f"{start}1") == f"'{start}1"


def test_an_empty_table(tmp_path):
    store_of(tmp_path / "a", [])
    exported(tmp_path / "a", tmp_path / "a.json", "json", False)
    exported(tmp_path / "a", tmp_path / "a.csv", "csv", False)
    assert json.loads((tmp_path / "a.json").read_text()) == []
    assert (tmp_path / "a.csv").read_text().count("\n") == 1


@pytest.mark.cluster
def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    large = replace(made_run(0), key=key("large"), seed=2**70)
    store_of(tmp_path / "a", [*rows(12), large])
    store_of(tmp_path / "b", [large, *reversed(rows(12))])
    for name in ("a", "b"):
        exported(tmp_path / name, tmp_path / f"{name}.parquet", "parquet", True)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert len(table) == 12
    assert str(2**70) in {row["seed"] for row in table}
    assert {type(row["risk"]) for row in table} == {float}


def test_what_stands_in_a_merged_store(tmp_path):
    failed, mended = made_run(9), replace(made_run(8), key=key(9))
    whole = ArtifactRow(key=key("w"), kind="gram", spec=SPEC, content={}, arrays={"a": b"1"})
    store_of(tmp_path / "a", [*rows(9), failed], sweep(updated=5.0, state="finished"))
    store_of(tmp_path / "b", [mended, made_run(30), whole], sweep(updated=3.0))
    with create(tmp_path / "c") as writer:
        writer.write([FigureRow(name="growth", data={"x": [3]})])
    for order in (["a", "b", "c"], ["b", "a", "c"]):
        first, *others = [tmp_path / name for name in order]
        out = tmp_path / ("out" + "".join(order))
        merge(first, others, out)
        with read(out) as store:
            found = {row.key: row for row in store.runs()}
            assert len(found) == 11
            assert found[failed.key] == mended
            assert list(store.parts()) == []
            assert {w.key for w in store.artifacts()} == {key("v"), key("w")}
            assert store.figures()[0].data == {"x": [3]}
            assert store.sweeps() == [sweep(updated=5.0, state="finished")]
    with pytest.raises(AlreadyExists):
        merge(tmp_path / "a", [], out)


def test_the_latest_figure_stands_whatever_the_order(tmp_path):
    a, b = tmp_path / "a.db", tmp_path / "b.db"
    store_of(a, [FigureRow(name="phase", data={"is": "new"}, written=2.0)])
    store_of(b, [FigureRow(name="phase", data={"is": "old"}, written=1.0)])
    for i, (first, other) in enumerate(((a, b), (b, a))):
        merge(first, [other], tmp_path / f"{i}.db")
        with read(tmp_path / f"{i}.db") as found:
            assert [f.data for f in found.figures()] == [{"is": "new"}]


def test_contradictions_are_refused(tmp_path):
    other = replace(made_run(3), details={"rank": 5})
    store_of(tmp_path / "a", rows(9))
    store_of(tmp_path / "b", [other])
    with pytest.raises(Conflict, match=f"b contradicts those before it: run {key(3)}.*details"):
        merge(tmp_path / "a", [tmp_path / "b"], tmp_path / "out")
    with pytest.raises(ToolkitError, match="does not exist"):
        merge(tmp_path / "a", [tmp_path / "none"], tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
