"""What is written is read, once, in one order; what is no store, or is another's, is one line."""

import os
import random
import shutil
import signal
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from hardness.runs.rows import PartRow, WholeRow
from hardness.sweep.store.check import check
from hardness.sweep.store.conflict import Conflict
from hardness.sweep.store.reader import read
from hardness.sweep.store.schema import VERSION
from hardness.sweep.store.writer import create, reopen
from hardness.upper import Outcome
from instances.errors import AlreadyExists, DamagedFile, ToolkitError, UsageError
from tests.hardness.sweep.store.child import mount, said
from tests.hardness.sweep.store.making import SPEC, base, key, made_run, rows, sweep


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "runs.db"
    with create(path) as writer:
        writer.write(rows(30), sweep())
    return path


def test_what_is_written_is_read(db):
    given = rows(30)
    with read(db) as store:
        assert {r.key: r for r in store.runs()} == {r.key: r for r in given[:30]}
        assert list(store.certificates()) == [given[30]]
        assert sorted(store.parts(), key=lambda p: p.index) == [given[32], given[31]]
        assert list(store.wholes()) == [given[33]]
        assert store.whole(key("v")[:6]) == given[33]
        assert store.figures() == [given[34]]
        assert store.sweeps() == [sweep()]
        assert sum(n for found in store.counts().values() for n in found.values()) == 30
        summary = store.summary()
        assert (summary["runs"], summary["parts"], summary["not_reproducible"]) == (30, 2, 3)
    assert os.listdir(db.parent) == ["runs.db"]


def test_seeds_and_budgets_of_any_size(tmp_path):
    large = made_run(0)
    large = replace(large, seed=2**200)
    vast = replace(made_run(1), budget=replace(made_run(1).budget, examples=2**70))
    with create(tmp_path / "a") as writer:
        writer.write([large, vast, made_run(6)])
        assert writer.run(large.key) == large
        assert writer.run(vast.key) == vast
    with read(tmp_path / "a") as store:
        assert [r.seed for r in store.runs()] == [1, 2**200, 0]


def test_the_order_of_reading_is_that_of_the_runs(tmp_path):
    given = [made_run(i) for i in range(60)]
    orders = []
    for name in ("a", "b", "c"):
        random.Random(name).shuffle(given)
        with create(tmp_path / name) as writer:
            for row in given:
                writer.write([row])
        with read(tmp_path / name) as store:
            orders.append(list(store.runs()))
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0].spec.startswith("parity:d=9")


def test_the_writer_knows_what_is_there(db):
    with reopen(db) as writer:
        assert not writer.empty
        assert writer.keys("run") == {key(i) for i in range(30)}
        assert writer.keys("whole") == {key("v")}
        assert writer.failed() == {key(9), key(19), key(29)}
        assert writer.run(key(3)) == made_run(3)
        assert writer.run(key("none")) is None
        assert writer.part_indices(key("w")) == {2, 7}
        assert [p.index for p in writer.parts(key("w"))] == [2, 7]
        assert writer.sweep("a" * 64) == sweep()
        assert writer.sweep("b" * 64) is None


def test_an_empty_store(tmp_path):
    with create(tmp_path / "a") as writer:
        assert writer.empty
        writer.write([], sweep(state="finished"))
        assert writer.empty
    with read(tmp_path / "a") as store:
        assert (list(store.runs()), store.counts()) == ([], {})
        assert store.sweeps()[0].state == "finished"


def test_a_whole_takes_the_place_of_its_parts(db):
    with reopen(db) as writer:
        whole = WholeRow(key=key("w"), kind="gram", spec=SPEC, content={}, arrays={"a": b"1"})
        writer.write([whole])
        assert writer.part_indices(key("w")) == set()
        writer.write([PartRow(whole=key("w"), index=1, content=b"late")])
        assert writer.part_indices(key("w")) == set()
        writer.write([replace(whole, arrays={"b": b"2"})])
    with read(db) as store:
        assert store.whole(key("w")).arrays == {"b": b"2"}
    assert check(db) is None


def test_which_of_two_results_stands(db):
    other = replace(made_run(3), seed=77)
    mended = replace(base("trivial"), key=key(9))
    later = replace(made_run(3), attempts=3, machine="another")
    machine = replace(made_run(3), outcome=Outcome.OVERDUE, seed=77)
    raised = replace(made_run(4), outcome=Outcome.RAISED)
    with reopen(db) as writer:
        with pytest.raises(Conflict, match=key(3) + " has two results: seed is '0' and '77'"):
            writer.write([made_run(40), other])
        assert writer.run(key(40)) is None
        writer.write([later, machine])
        assert writer.run(key(3)) == made_run(3)
        writer.write([mended])
        writer.write([made_run(9)])
        assert writer.run(key(9)) == mended
        writer.write([raised])
        assert writer.run(key(4)) == made_run(4)
        assert len(writer.keys("run")) == 30
    assert check(db) is None


def test_a_store_of_version_1_is_read_and_migrated(tmp_path):
    old = tmp_path / "old.db"
    dump = Path(__file__).with_name("version1.sql").read_text()
    connection = sqlite3.connect(old)
    connection.executescript(dump)
    connection.close()
    before = old.read_bytes()
    with read(old) as store:
        assert store.version == 1
        runs, counts = list(store.runs()), store.counts()
        assert len(runs) == 3
        assert len(list(store.wholes())) == len(store.figures()) == len(store.sweeps()) == 1
    assert old.read_bytes() == before
    with reopen(old) as writer:
        writer.write([made_run(5)])
    with read(old) as store:
        assert store.version == VERSION == 2
        assert store.counts()["trivial"] == counts["trivial"]
        assert len(list(store.runs())) == 4
    connection = sqlite3.connect(old)
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT learner, ending, count(*) FROM run GROUP BY learner, ending"
    ).fetchall()
    connection.close()
    assert "COVERING INDEX run_status" in str(plan)


def test_what_is_no_store_is_one_line(tmp_path, db):
    def broken(name, change):
        path = tmp_path / name
        shutil.copy(db, path)
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.commit()
        connection.close()
        return path

    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("no store")
    (tmp_path / "folder").mkdir()
    cases = [
        (tmp_path / "none", "does not exist"),
        (tmp_path / "empty", "is empty"),
        (tmp_path / "text", "does not begin as SQLite files do"),
        (tmp_path / "folder", "is a folder"),
        (broken("newer", "PRAGMA user_version = 3"), "of version 3: this hardness reads 1 to 2"),
        (broken("other", "PRAGMA application_id = 7"), "but no store: its application id is 7"),
        (broken("zero", "PRAGMA user_version = 0"), "of version 0"),
        (broken("lost", "DROP TABLE learner"), "damaged"),
    ]
    for path, why in cases:
        for use in (lambda p: read(p).counts(), reopen):
            with pytest.raises(ToolkitError, match=why) as caught:
                use(path)
            assert str(path) in str(caught.value)
            assert "\n" not in str(caught.value)
    for name in ("empty", "text", "folder"):
        with pytest.raises(AlreadyExists):
            create(tmp_path / name)
    assert not list(tmp_path.glob("*-lock"))
    (tmp_path / "gone-wal").write_bytes(b"log")
    with pytest.raises(AlreadyExists, match="log of a store that is not there"):
        create(tmp_path / "gone")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE run SET risk = 0.25 WHERE id = 4", "1 of run"),
        ("UPDATE run SET learner = 1 + learner % 3", "30 of run"),
        ("UPDATE learner SET text = 'other' WHERE id = 2", "1 of learner and 10 of run"),
        ("UPDATE learner SET name = 'other' WHERE id = 2", "1 of learner"),
        ("UPDATE run SET details = '{}' WHERE id = 5", "1 of run"),
        ("UPDATE array SET content = x'00'", "1 of array"),
        ("DELETE FROM array", "1 of whole lack arrays"),
        ("DELETE FROM budget", "30 of run"),
        ("UPDATE sweep SET state = 'finished'", "1 of sweep"),
        ("UPDATE figure SET data = '{'", "1 of figure"),
    ],
)
def test_edited_rows_are_found(db, change, why):
    connection = sqlite3.connect(db)
    connection.execute(change)
    connection.commit()
    connection.close()
    assert why in str(check(db))
    content = db.read_bytes()
    with pytest.raises(DamagedFile, match="hardness store recover"):
        reopen(db)
    assert db.read_bytes() == content


def test_an_edited_run_is_not_read(db):
    connection = sqlite3.connect(db)
    connection.execute("UPDATE run SET passed = 1 - passed WHERE id = 4")
    connection.commit()
    connection.close()
    with read(db) as store, pytest.raises(DamagedFile, match="row 4 of run"):
        list(store.runs())


def test_a_reader_beside_a_writer_sees_one_moment(db):
    with reopen(db) as writer, read(db) as store:
        found = store.runs()
        next(found)
        writer.write([made_run(i) for i in range(30, 40)])
        assert len(list(found)) == 29
        assert len(list(store.runs())) == 40
        assert store.query("SELECT count(*) FROM runs")[1] == [(40,)]


@pytest.mark.parametrize("state", ["closed", "being written", "left by a killed writer"])
def test_a_folder_that_may_not_be_written(db, state):
    def look(out):
        mount(db.parent, None)  # read-only, also for root
        with read(db) as store:
            out.write(f"{len(list(store.runs()))}\n")

    def leave(out):
        reopen(db).write([made_run(30)])
        os.kill(os.getpid(), signal.SIGKILL)

    if state == "being written":
        with reopen(db) as writer:
            writer.write([made_run(30)])
            assert said(look) == ["31"]
    elif state == "closed":
        assert said(look) == ["30"]
    else:
        said(leave)
        assert said(look) == ["31"]


def test_queries_read_and_nothing_else(db):
    with read(db) as store:
        names, found = store.query("SELECT learner, count(*) AS n FROM runs GROUP BY 1")
        assert names == ["learner", "n"]
        assert sum(n for _, n in found) == 30
        assert store.query("SELECT json_extract(parameters, '$.d') FROM runs")[1][0][0] in (9, 10)
        count = "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        for sql, why in [
            ("DELETE FROM run", "SELECT alone"),
            ("UPDATE run SET risk = 0", "SELECT alone"),
            ("ATTACH 'x' AS y", "SELECT alone"),
            ("PRAGMA user_version = 9", "SELECT alone"),
            ("SELECT load_extension('x')", "SELECT alone"),
            ("CREATE TEMP TABLE x (y)", "SELECT alone"),
            ("VACUUM INTO 'x'", "SELECT alone"),
            ("SELECT 1; SELECT 2", "one statement"),
            ("SELECT nowhere FROM runs", "the views runs"),
            ("", "one SELECT"),
            ("SELECT zeroblob(1000000000)", "too big"),
            (f"WITH RECURSIVE {count} SELECT i FROM n", "LIMIT"),
        ]:
            with pytest.raises(UsageError, match=why) as caught:
                store.query(sql, most=1000)
            assert "\n" not in str(caught.value)
        assert len(list(store.runs())) == 30
    assert os.listdir(db.parent) == ["runs.db"]


def test_a_name_need_not_be_text(tmp_path):
    path = tmp_path / os.fsdecode(b"r\xff%20?#.db")
    with create(path) as writer:
        writer.write(rows(0))
    with read(path) as found:
        assert found.summary()["wholes"] == 1
