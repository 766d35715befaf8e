"""Where a store may lie, who writes it, and what happens on a full disk."""

import contextlib
import os
import shutil
import signal
import time

import pytest

from hardness.sweep.store.check import check
from hardness.sweep.store.reader import read
from hardness.sweep.store.writer import create, reopen
from instances.errors import ToolkitError
from tests.hardness.sweep.store.child import forked, mount, said
from tests.hardness.sweep.store.making import key, made_run, sweep


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "runs.db"

    def hold(out):
        writer = create(path)
        out.write("here\n")
        time.sleep(60)
        writer.close()

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
        assert writer.keys("run") == {key(i) for i in range(int(count))}
        assert writer.run(key(7)) == made[7]
    assert check(tmp_path / "runs.db") is None


def fill(path):
    """Take all of a disk that is left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass
