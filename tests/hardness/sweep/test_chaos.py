"""Stores whose writer is killed or cut off, that are damaged, or that several would write."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hardness.sweep.store import StoreGone, create, read, reopen
from instances.errors import AlreadyExists, DamagedFile, ToolkitError
from tests.hardness.sweep.making import edit, made_run, rows, sweep
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


def test_a_store_that_is_replaced_or_on_a_full_disk_keeps_what_was_written(db):
    with reopen(db) as writer:
        pages = writer.connection.execute("PRAGMA page_count").fetchone()[0]
        writer.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ToolkitError, match="the disk is full: free some of it"):
            writer.write([made_run(i) for i in range(RUNS, 4000)])
        assert len(writer.finished()) == RUNS + 1
        db.rename(db.with_name("moved"))
        db.write_bytes(b"another's")
        with pytest.raises(StoreGone, match=r"runs\.db was moved, removed or replaced"):
            writer.write([made_run(RUNS)])
    assert db.read_bytes() == b"another's"


# Damaged: it is said in one way.


def test_a_page_that_is_lost_is_seen_or_costs_no_run(sound, tmp_path):
    content, damaged, refusals = sound.read_bytes(), tmp_path / "damaged.db", []
    for start in range(PAGE, len(content), 7 * PAGE):
        damaged.write_bytes(content[:start] + b"\xff" * PAGE + content[start + PAGE :])
        try:
            with read(damaged) as store:
                assert len(list(store.runs())) == RUNS
        except DamagedFile as error:
            refusals.append(str(error))
    assert len(refusals) > len(content) / PAGE / 7 / 2
    assert all(re.search(r"sqlite3 .*\.recover", refusal) for refusal in refusals)


def refused(path, words, *uses, error=DamagedFile):
    """In one line that names the store."""
    for use in uses:
        with pytest.raises(error, match=words) as caught:
            use(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_is_not_a_store_is_one_line(tmp_path, db):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("no store")
    (tmp_path / "folder").mkdir()
    cases = {
        "none": "does not exist",
        "empty": "is empty",
        "text": "no store at all: file is not a database",
        "folder": "is a folder",
        "PRAGMA user_version = 10": "of version 10: this hardness reads 9; install",
        "PRAGMA user_version = 6": "of version 6: this hardness reads 9; an ea",
        "PRAGMA application_id = 7": "but no store: its application id is 7",
        "DROP TABLE runs": r"not as a store's: .*table runs.*\.recover",
    }
    for name, why in cases.items():
        if " " in name:
            edit(shutil.copy(db, tmp_path / name), name)
        refused(tmp_path / name, why, lambda p: read(p).counts(), reopen, error=ToolkitError)
    with pytest.raises(AlreadyExists):
        create(tmp_path / "empty")
    assert not list(tmp_path.glob("*-lock"))
    (tmp_path / "gone-wal").write_bytes(b"log")
    with pytest.raises(AlreadyExists, match="log of a store that is not there"):
        create(tmp_path / "gone")


# Several writers: one at a time; any number read.


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "runs.db"
    (tmp_path / "link.db").symlink_to(path)
    with create(path) as writer:
        for name in ("runs.db", "link.db"):
            with pytest.raises(ToolkitError, match=f"being written by process {os.getpid()} on "):
                reopen(tmp_path / name)
        with read(path) as store:
            assert store.summary()["runs"] == 0
        assert writer.empty
    assert sorted(os.listdir(tmp_path)) == ["link.db", "runs.db"]
    (tmp_path / "hard.db").hardlink_to(path)
    with pytest.raises(ToolkitError, match="several names"):
        reopen(tmp_path / "hard.db")
