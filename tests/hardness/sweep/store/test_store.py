"""What is written is read, once, in one order; what is not a store, or damaged, is one line."""

import contextlib
import dataclasses
import os
import random
import shutil
import signal
import sqlite3

import pytest
from msgspec.structs import replace

from hardness.sweep.damage import check
from hardness.sweep.jobs import key_of
from hardness.sweep.store import create, decide, held, read, reopen
from hardness.upper import Outcome
from hardness.verbs.stores import show, status
from instances.errors import AlreadyExists, DamagedFile, ToolkitError, UsageError
from tests.hardness.sweep.store.child import forked, mount, said
from tests.hardness.sweep.store.making import key, made_run, rows, sweep


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "runs.db"
    with create(path) as writer:
        writer.write(rows(30), sweep())
    return path


def edit(path, *changes):
    connection = sqlite3.connect(path)
    for change in changes:
        connection.execute(change)
    connection.commit()
    connection.close()


def test_what_is_written_is_read(db):
    given = rows(30)
    with read(db) as store:
        assert {r.key: r for r in store.runs()} == {r.key: r for r in given[:30]}
        assert list(store.certificates()) == [given[30]]
        assert store.sweeps() == [sweep()]
        assert sum(n for found in store.counts().values() for n in found.values()) == 30
        summary = store.summary()
        assert (summary["runs"], summary["sweeps"], summary["not_reproducible"]) == (30, 1, 3)
    assert os.listdir(db.parent) == ["runs.db"]
    with reopen(db) as writer:
        assert not writer.empty
        assert set(writer.finished()) == {*map(key, range(30)), "c" * 32}
        assert writer.failed() == {key(9), key(19), key(29)}
        assert (writer.run(key(3)), writer.run("none")) == (made_run(3), None)
        assert (writer.sweep(sweep().sha256), writer.sweep("b" * 64)) == (sweep(), None)


def test_seeds_budgets_and_names_of_any_kind_in_one_order(tmp_path):
    budget = dataclasses.replace(made_run(1).budget, examples=2**70)
    given = [made_run(i) for i in range(2, 40)]
    odd = replace(made_run(0), seed=2**200), replace(made_run(1), budget=budget)
    given += [replace(one, key=key_of(one)) for one in odd]
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
        assert not check(writer.path).damage
    assert sorted(orders[0], key=lambda row: row.key) == sorted(given, key=lambda row: row.key)
    assert orders[0] == orders[1]
    assert orders[0][0].spec.startswith("parity:d=9")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("ALTER TABLE runs ADD COLUMN large AS (zeroblob(500000000))", "table runs"),
        ("DROP TABLE runs; CREATE VIRTUAL TABLE runs USING fts5(key, spec)", "table runs"),
        ("DROP TABLE runs", "table runs"),
        (
            "DROP TABLE certificates; CREATE VIEW certificates AS "
            "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n",
            "table certificates",
        ),
    ],
)
def test_a_store_whose_tables_are_others_is_refused_in_one_line(db, change, what):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.executescript(change)
    for use in (read, reopen, check):
        with pytest.raises(DamagedFile, match=rf"not as a store's: .*{what}.*\.recover"):
            use(db)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE mine (x)",
        "CREATE TRIGGER mine AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
    ],
)
def test_a_store_with_more_than_its_tables_is_read_and_not_written(db, change):
    edit(db, change)
    with pytest.raises(DamagedFile, match=r"not as a store's: .* mine.*\.recover"):
        reopen(db)
    assert "not as a store's" in check(db).damage
    with read(db) as store:
        assert len(list(store.runs())) == 30


def test_a_value_is_not_larger_than_the_file_that_it_comes_from(db):
    with read(db) as store, pytest.raises(UsageError, match="too big"):
        store.query("SELECT zeroblob(500000000)")


SOLVED = made_run(1)
RAISED = replace(SOLVED, outcome=Outcome.RAISED, risk=None)
CRASHED = replace(SOLVED, outcome=Outcome.CRASHED, risk=None)
LATE = replace(SOLVED, outcome=Outcome.SECONDS_SPENT)


@pytest.mark.parametrize(
    ("old", "new", "takes_its_place"),
    [
        (RAISED, SOLVED, True),
        (RAISED, CRASHED, False),
        (SOLVED, RAISED, False),
        (SOLVED, LATE, False),
        (SOLVED, replace(SOLVED, attempts=3, machine="another"), False),
        (CRASHED, SOLVED, True),
        (CRASHED, CRASHED, True),
        (LATE, SOLVED, True),
        (LATE, CRASHED, False),
        (CRASHED, LATE, True),
    ],
)
def test_which_of_two_results_stands(tmp_path, old, new, takes_its_place):
    assert decide(old, new) is takes_its_place
    with create(tmp_path / "a") as writer:
        writer.write([old])
        writer.write([new])
        assert writer.run(old.key) == (new if takes_its_place else old)


def test_what_is_not_a_store_is_one_line(tmp_path, db):
    def changed(name, change):
        path = shutil.copy(db, tmp_path / name)
        edit(path, change)
        return path

    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("no store")
    (tmp_path / "folder").mkdir()
    cases = [
        (tmp_path / "none", "does not exist"),
        (tmp_path / "empty", "is empty"),
        (tmp_path / "text", "no store at all: file is not a database"),
        (tmp_path / "folder", "is a folder"),
        (
            changed("newer", "PRAGMA user_version = 7"),
            "of version 7: this hardness reads 6; install",
        ),
        (changed("older", "PRAGMA user_version = 5"), "of version 5: this hardness reads 6; an ea"),
        (changed("other", "PRAGMA application_id = 7"), "but no store: its application id is 7"),
        (changed("zero", "PRAGMA user_version = 0"), "of version 0"),
    ]
    for path, why in cases:
        for use in (lambda p: read(p).counts(), reopen):
            with pytest.raises(ToolkitError, match=why) as caught:
                use(path)
            assert str(path) in str(caught.value)
            assert "\n" not in str(caught.value)
    with pytest.raises(AlreadyExists):
        create(tmp_path / "empty")
    assert not list(tmp_path.glob("*-lock"))
    (tmp_path / "gone-wal").write_bytes(b"log")
    with pytest.raises(AlreadyExists, match="log of a store that is not there"):
        create(tmp_path / "gone")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE runs SET risk = 0.25 WHERE rowid = 4", f"1 row of runs ({key(3)})"),
        ("UPDATE runs SET risk = -1 WHERE rowid = 4", f"1 row of runs ({key(3)})"),
        ("UPDATE runs SET outcome = 'won'", "30 rows of runs"),
        ("UPDATE runs SET details = '{' WHERE rowid = 5", f"1 row of runs ({key(4)})"),
        ('UPDATE certificates SET terms = \'{"tau":1,"tau":2}\'', "1 row of certificates"),
        ("UPDATE sweeps SET state = 'over'", "1 row of sweeps"),
        ("UPDATE sweeps SET climbs = '{'", "1 row of sweeps"),
        ("UPDATE sweeps SET climbs = '{\"a\":5}'", "1 row of sweeps"),
        ("UPDATE sweeps SET done = '{\"a\":-5}'", "1 row of sweeps"),
        ("UPDATE runs SET key = key || 'x'", "30 rows of runs"),
        ("UPDATE runs SET passed = 'x'", "30 rows of runs"),
        ("UPDATE runs SET attempts = -3", "30 rows of runs"),
        ("UPDATE runs SET learner = 'bkw'", "30 rows of runs"),
        ("UPDATE runs SET risk_confidence = 0.5 WHERE rowid = 4", f"1 row of runs ({key(3)})"),
        ("UPDATE certificates SET certificate = '{}'", "1 row of certificates"),
        ("UPDATE certificates SET certificate = replace(certificate, 'STAT', 'S')", "1 row of"),
        ("UPDATE certificates SET terms = '{}'", "1 row of certificates"),
        ("UPDATE sweeps SET slots = -1", "1 row of sweeps"),
        ("UPDATE sweeps SET updated = 1e300", "1 row of sweeps"),
        ("UPDATE sweeps SET updated = 9e999", "1 row of sweeps"),
        ("UPDATE sweeps SET remaining_seconds = 9e999", "1 row of sweeps"),
        # As the guide says: the store has no digests; a run that matters is done again.
        ("UPDATE runs SET examples = examples + 1 WHERE rowid = 4", ""),
    ],
)
def test_rows_that_cannot_be_rows_are_named(db, change, why):
    edit(db, change)
    assert why in check(db).damage


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET learner = NULL WHERE rowid = 1",
        "UPDATE runs SET learner = x'ff' WHERE rowid = 1",
        "UPDATE runs SET outcome = NULL WHERE rowid = 1",
        "UPDATE sweeps SET updated = 1e300",
        "UPDATE sweeps SET updated = 9e999",
    ],
)
def test_a_store_that_cannot_be_counted_is_damaged(db, change):
    edit(db, change)
    for look in (show, status):
        with pytest.raises(DamagedFile, match=f"{db.name} is damaged"):
            look(db)
    assert check(db).damage


def test_a_lock_that_is_a_link_or_a_pipe_harms_nobody(db, tmp_path):
    precious, lock = tmp_path / "thesis.txt", db.with_name(f"{db.name}-lock")
    precious.write_text("years of work")
    lock.symlink_to(precious)
    with pytest.raises(ToolkitError):
        reopen(db)
    assert precious.read_text() == "years of work"
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(ToolkitError, match="no regular file"):
        reopen(db)
    assert not held(db)  # nor does a reader wait for one


def test_one_writer_by_whichever_name(db, tmp_path):
    soft, hard = tmp_path / "soft.db", tmp_path / "hard.db"
    soft.symlink_to(db)
    with reopen(db), pytest.raises(ToolkitError, match="being written by process"):
        reopen(soft)
    hard.hardlink_to(db)
    with pytest.raises(ToolkitError, match="several names"):
        reopen(hard)


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
        reopen(db)

    def leave(out):
        reopen(db).write([made_run(30)])
        os.kill(os.getpid(), signal.SIGKILL)

    if state == "closed":
        count, refused = said(look)
        assert count == "30"
        assert "cannot be written: Read-only file system" in refused
    elif state == "being written":
        with reopen(db) as writer:
            writer.write([made_run(30)])
            assert said(look)[0] == "31"
    else:
        said(leave)
        assert said(look)[0] == "31"


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "runs.db"

    def hold(out):
        _ = create(path)
        out.write("here\n")
        signal.pause()

    other, lines = forked(hold)
    try:
        assert lines.readline() == "here\n"
        with pytest.raises(ToolkitError, match=f"written by process {other} on "):
            reopen(path)
        with read(path) as store:
            assert store.summary()["runs"] == 0
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
        lines.close()
    with reopen(path) as writer:
        assert writer.empty
        with pytest.raises(ToolkitError, match=f"process {os.getpid()} "):
            reopen(path)
    assert os.listdir(tmp_path) == ["runs.db"]


def test_a_full_disk_loses_nothing_that_was_written(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    made = [made_run(i) for i in range(20_000)]

    def work(out):
        mount(disk, 12)
        writer, done = create(disk / "runs.db"), 0
        try:
            while True:
                writer.write(made[done : done + 50], sweep(updated=float(done)))
                done += 50
                if done == 1000:
                    fill(disk / "filler")
        except ToolkitError as full:
            out.write(f"{full}\n")
        writer.close()
        for file in disk.glob("runs.db*"):
            shutil.copy(file, tmp_path)
        out.write(f"{done}\n")

    why, count = said(work)
    assert why.endswith("the disk is full: free some of it")
    assert int(count) >= 1000
    with reopen(tmp_path / "runs.db") as writer:
        assert set(writer.finished()) == {key(i) for i in range(int(count))}
        assert writer.run(key(7)) == made[7]
    assert not check(tmp_path / "runs.db").damage


def fill(path):
    """Take all of a disk that is left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass


def test_queries_read_and_nothing_else(db):
    with read(db) as store:
        names, found = store.query("SELECT learner, count(*) AS n FROM runs GROUP BY 1")
        assert names == ["learner", "n"]
        assert sum(n for _, n in found) == 30
        assert store.query("SELECT json_extract(parameters, '$.d') FROM runs")[1][0][0] in (9, 10)
        count = "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        for sql, why in [
            ("DELETE FROM runs", "SELECT alone"),
            ("ATTACH 'x' AS y", "SELECT alone"),
            ("PRAGMA user_version = 9", "SELECT alone"),
            ("SELECT load_extension('x')", "SELECT alone"),
            ("VACUUM INTO 'x'", "SELECT alone"),
            ("SELECT 1; SELECT 2", "one statement"),
            ("SELECT nowhere FROM runs", "the tables runs"),
            ("", "one SELECT"),
            (f"WITH RECURSIVE {count} SELECT i FROM n", "LIMIT"),
        ]:
            with pytest.raises(UsageError, match=why) as caught:
                store.query(sql, most=1000)
            assert "\n" not in str(caught.value)
