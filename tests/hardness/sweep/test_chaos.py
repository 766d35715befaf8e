"""Stores in three kinds of chaos: killed at any moment, damaged, and written by several at once."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from hardness.sweep.store import create, held, read, reopen
from hardness.verbs.stores import show, status
from instances.errors import AlreadyExists, DamagedFile, ToolkitError
from tests.hardness.sweep.making import edit, forked, key, made_run, mount, rows, said, sweep
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
PAGE, RUNS = 4096, 300


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "runs.db"
    with create(path) as writer:
        writer.write([*map(made_run, range(RUNS)), *rows(0)], sweep())
    return path


@pytest.fixture
def db(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "runs.db")


# Killed at any moment: nothing is lost that was said to be written.


def test_a_writer_is_killed_at_random_moments(tmp_path):
    rng = random.Random(9)
    path, written, kept = tmp_path / "runs.db", set(), {}
    _ = [*map(made_run, range(3))]  # what all children make theirs of

    def work(out):
        while True:  # a moment may also be one of opening or of closing
            with reopen(path) if path.exists() else create(path) as writer:
                done = len(writer.finished())
                for i in range(done, done + 8):
                    writer.write([made_run(i)], sweep(updated=float(i)))
                    out.write(f"{i}\n")

    for _ in range(12):
        child, lines = forked(work)
        with lines:
            written.add(int(lines.readline()))
            time.sleep(rng.uniform(0, 0.08))
            os.kill(child, signal.SIGKILL)
            written |= {int(line) for line in lines if line.endswith("\n")}
        os.waitpid(child, 0)
        with read(path) as store:
            kept = {row.key: row for row in store.runs()}
        assert {key(i) for i in written} <= set(kept)
        assert len(kept) - len(written) <= 12  # at most one a kill: committed and not yet said
    assert all(kept[key(i)] == made_run(i) for i in written)
    with reopen(path) as writer:
        assert len(writer.finished()) == len(kept)
        assert writer.sweep(sweep().sha256).updated >= max(written)
    litter = [name for name in os.listdir(tmp_path) if name != "runs.db"]
    assert not [name for name in litter if not name.startswith(".runs.db.")], litter


KILLED = """
format = "hardness-sweep/1"
name = "killed"
seeds = 6
[[runs]]
spec = "parity:m=2"
over = { d = [10, 14] }
learners = ["elimination", "queries", "student:steps=300"]
budget = { examples = 4000 }
"""


def test_a_sweep_whose_driver_is_killed_goes_on_to_the_same_export(tmp_path):
    """Twice by SIGKILL, each time after more runs were written."""
    (tmp_path / "killed.toml").write_text(KILLED)

    def sweep_into(store):
        command = ["sweep", "run", "killed.toml", "--store", store, "--resume", "--jobs", "2"]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [sys.executable, "-m", "cli", *command], cwd=tmp_path, stdout=quiet, stderr=quiet
        )

    def held_by(store):
        with suppress(ToolkitError), read(tmp_path / store) as found:
            return {row.key: row for row in found.runs()}
        return {}

    def exported(store):
        line = ["store", "export", store, "--comparable", "--out", f"{store}.csv"]
        subprocess.run([sys.executable, "-m", "cli", *line], cwd=tmp_path, check=True)
        return (tmp_path / f"{store}.csv").read_bytes()

    assert sweep_into("whole.db").wait() == 0
    kept = {}
    for _ in range(2):
        running, before = sweep_into("runs.db"), len(kept)
        wait_for(lambda before=before: len(held_by("runs.db")) > before)
        running.kill()
        running.wait()
        now = held_by("runs.db")
        assert kept.items() <= now.items()
        kept = now
    assert len(kept) < 36
    assert sweep_into("runs.db").wait() == 0
    assert kept.items() <= held_by("runs.db").items()
    assert exported("runs.db") == exported("whole.db")


LONG = """
format = "hardness-sweep/1"
name = "long"
seeds = 2000
certify = false
[[runs]]
spec = "parity:d=8,m=2"
learners = ["elimination", "student:steps=1000000000"]
budget = { examples = 4000 }
"""


def started(tmp_path, *engine):
    """Start a sweep that never ends, and wait until it writes."""
    (tmp_path / "long.toml").write_text(LONG)
    store = tmp_path / "runs.db"
    command = [sys.executable, "-m", "cli", "sweep", "run", "long.toml", "--store", str(store)]
    running = subprocess.Popen(
        [*command, "--jobs", "1", *engine], cwd=tmp_path, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, start_new_session=True,
        # Tests that a shell's & started do not heed it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip

    def written():
        with suppress(ToolkitError), read(store) as found:
            return found.sweeps()

    wait_for(written)
    return running, store


@pytest.mark.cluster
def test_ctrl_c_of_a_terminal_is_the_drivers_alone(tmp_path):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    running, _ = started(tmp_path, "--engine", "dask")
    os.killpg(running.pid, signal.SIGINT)
    told = running.communicate()[1]
    assert running.returncode == 130, told
    assert told.count("\n") == 1, told
    assert "go on with: hardness sweep run" in told


@pytest.mark.parametrize("what", ["moved", "replaced"])
def test_a_store_that_is_taken_away_ends_the_sweep_at_once(tmp_path, what):
    running, store = started(tmp_path)
    if what == "moved":
        store.rename(tmp_path / "moved")
    else:
        (tmp_path / "other").write_bytes(b"another's")
        (tmp_path / "other").rename(store)
    told = running.communicate()[1]
    assert (running.returncode, told.count("\n")) == (1, 1)
    assert "runs.db was moved, removed or replaced while it was written" in told
    assert not list(tmp_path.glob("runs.db-*"))
    if what == "moved":
        with read(tmp_path / "moved") as found:
            assert sum(found.sweeps()[0].planned.values()) == 4000
    else:
        assert store.read_bytes() == b"another's"


def test_a_full_disk_loses_nothing_that_was_written(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    made = [made_run(i) for i in range(4000)]

    def work(out):
        mount(disk, 12)
        writer, done = create(disk / "runs.db"), 0
        try:
            while True:
                writer.write(made[done : done + 50], sweep(updated=float(done)))
                done += 50
                if done == 1000:  # take all that is left
                    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
                        while file.write(bytes(1 << 12)):
                            pass
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
        assert writer.row("runs", key(7)) == made[7]


# Damaged: it is said in one way.


def test_a_page_of_rows_that_is_lost_is_seen(sound, tmp_path):
    """The first, a middle and the last leaf of the table of runs."""
    with closing(sqlite3.connect(sound)) as connection:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
        (root,) = connection.execute(sql).fetchone()
    content = sound.read_bytes()
    page = content[(root - 1) * PAGE : root * PAGE]
    assert page[0] == 5  # an interior page: its cells begin with the numbers of leaves
    cells = int.from_bytes(page[3:5], "big")
    starts = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(cells)]
    leaves = [int.from_bytes(page[at : at + 4], "big") for at in starts]
    last = int.from_bytes(page[8:12], "big")
    for number in (leaves[0], leaves[len(leaves) // 2], last):
        damaged = tmp_path / "damaged.db"
        start = (number - 1) * PAGE
        damaged.write_bytes(content[:start] + b"\xff" * PAGE + content[start + PAGE :])
        with read(damaged) as store, pytest.raises(DamagedFile, match=r"sqlite3 .*\.recover"):
            list(store.runs())


def test_pages_and_bytes_at_random(sound, tmp_path):
    """Overwritten, flipped, or cut off."""
    for seed in range(4):
        rng, damaged = random.Random(seed), shutil.copy(sound, tmp_path / f"{seed}.db")
        size = damaged.stat().st_size
        with damaged.open("r+b") as file:
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(PAGE, size)
                how = rng.choice(["page", "bytes", "zeros", "cut"])
                if how == "cut":
                    file.truncate(max(at, size // 2))
                    continue
                file.seek(at // PAGE * PAGE if how in ("page", "zeros") else at)
                size_of = rng.choice([1, 90, PAGE])
                file.write(bytes(PAGE) if how == "zeros" else rng.randbytes(size_of))
        with contextlib.suppress(DamagedFile), read(damaged) as store:
            list(store.runs())


def refused(path, words, *uses, error=DamagedFile):
    """In one line that names the store."""
    for use in uses:
        with pytest.raises(error, match=words) as caught:
            use(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_damage_that_sqlite_cannot_say_in_letters_is_one_line(db):
    changed = b"CREATE TABLE runs (", b"CREATE \xdf\xfe\xff\xdf\xdf runs ("
    db.write_bytes(db.read_bytes().replace(*changed, 1))
    refused(db, "is damaged", read, reopen)


TABLES = {
    "ALTER TABLE runs ADD COLUMN large AS (zeroblob(500000000))": "table runs",
    "DROP TABLE runs; CREATE VIRTUAL TABLE runs USING fts5(key, spec)": "table runs",
    "DROP TABLE runs": "table runs",
    "DROP TABLE certificates; CREATE VIEW certificates AS WITH RECURSIVE n AS "
    "(SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n": "table certificates",
}


def test_a_store_whose_tables_are_others_is_refused(sound, tmp_path):
    for i, (change, what) in enumerate(TABLES.items()):
        path = shutil.copy(sound, tmp_path / str(i))
        edit(path, change)
        refused(path, rf"not as a store's: .*{what}.*\.recover", read, reopen)


def test_what_is_not_a_store_is_one_line(tmp_path, db):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("no store")
    (tmp_path / "folder").mkdir()
    cases = {
        "none": "does not exist",
        "empty": "is empty",
        "text": "no store at all: file is not a database",
        "folder": "is a folder",
        "user_version = 9": "of version 9: this hardness reads 8; install",
        "user_version = 6": "of version 6: this hardness reads 8; an ea",
        "user_version = 0": "of version 0",
        "application_id = 7": "but no store: its application id is 7",
    }
    for name, why in cases.items():
        if "=" in name:
            edit(shutil.copy(db, tmp_path / name), f"PRAGMA {name}")
        refused(tmp_path / name, why, lambda p: read(p).counts(), reopen, error=ToolkitError)
    with pytest.raises(AlreadyExists):
        create(tmp_path / "empty")
    assert not list(tmp_path.glob("*-lock"))
    (tmp_path / "gone-wal").write_bytes(b"log")
    with pytest.raises(AlreadyExists, match="log of a store that is not there"):
        create(tmp_path / "gone")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    path = tmp_path_factory.mktemp("few") / "runs.db"
    with create(path) as writer:
        writer.write(rows(30), sweep())
    return path


def test_a_store_that_cannot_be_counted_is_damaged(few, tmp_path):
    for change in (
        *("runs SET learner = NULL", "runs SET learner = x'ff'", "runs SET outcome = NULL"),
        *("sweeps SET updated = 1e300", "sweeps SET updated = 9e999"),
    ):
        path = shutil.copy(few, tmp_path / "a.db")
        edit(path, f"UPDATE {change} WHERE rowid = 1")
        for look in (show, status):
            with pytest.raises(DamagedFile, match=r"a\.db is damaged"):
                look(path)


# Several writers: one at a time, by whichever name; any number read.


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


def test_a_reader_beside_a_writer_sees_one_moment(db):
    with reopen(db) as writer, read(db) as store:
        found = store.runs()
        next(found)
        writer.write([made_run(i) for i in range(RUNS, RUNS + 10)])
        assert len(list(found)) == RUNS - 1
        assert len(list(store.runs())) == RUNS + 10
        assert store.query("SELECT count(*) FROM runs")[1] == [(RUNS + 10,)]


@pytest.mark.parametrize("state", ["closed", "being written", "left by a killed writer"])
def test_a_folder_that_may_not_be_written(db, state):
    def look(out):
        mount(db.parent, None)  # read-only, also for root
        with read(db) as store:
            out.write(f"{len(list(store.runs()))}\n")
        reopen(db)

    def leave(out):
        reopen(db).write([made_run(RUNS)])
        os.kill(os.getpid(), signal.SIGKILL)

    if state == "closed":
        count, refused = said(look)
        assert count == str(RUNS)
        assert "cannot be written: Read-only file system" in refused
    elif state == "being written":
        with reopen(db) as writer:
            writer.write([made_run(RUNS)])
            assert said(look)[0] == str(RUNS + 1)
    else:
        said(leave)
        assert said(look)[0] == str(RUNS + 1)
