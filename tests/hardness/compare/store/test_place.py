"""Where a store may lie, who writes it, and what happens on a full disk."""

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from hardness.compare.store.check import check
from hardness.compare.store.connect import DiskFull
from hardness.compare.store.place import refuse_network
from hardness.compare.store.reader import read
from hardness.compare.store.writer import create, reopen
from instances.errors import ToolkitError
from tests.hardness.compare.store.child import forked, mount, said
from tests.hardness.compare.store.making import key, run_row, sweep

MOUNTS = """\
22 1 0:20 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:30 / /home rw - {} server:/home rw
31 30 0:31 / /home/local\\040disk rw shared:1 - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "lustre", "ceph", "fuse.sshfs", "beegfs", "afs"]
)
def test_network_file_systems_are_refused(kind):
    mounts = MOUNTS.format(kind)
    with pytest.raises(ToolkitError, match=f"lies on {kind} .*: give --store") as caught:
        refuse_network(Path("/home/me/runs.db"), mounts)
    assert "\n" not in str(caught.value)
    refuse_network(Path("/home/local disk/runs.db"), mounts)
    refuse_network(Path("/data/homes/runs.db"), mounts)
    refuse_network(Path("/homes/runs.db"), mounts)


@pytest.mark.parametrize("kind", ["ext4", "tmpfs", "overlay", "fuse.fuse-overlayfs", "btrfs"])
def test_local_file_systems_are_not(kind):
    refuse_network(Path("/home/me/runs.db"), MOUNTS.format(kind))


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


def test_a_full_disk_loses_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    made = [run_row(i) for i in range(20_000)]

    def work(out):
        mount(disk, 12)
        writer, done = create(disk / "runs.db"), 0
        try:
            while True:
                done += 50
                writer.write(made[done - 50 : done], sweep(updated=float(done)))
                if done == 1000:
                    fill(disk / "filler")
        except DiskFull as full:
            out.write(f"{full}\n")
        writer.write([], sweep(state="failed"))
        writer.close()
        for file in disk.glob("runs.db*"):
            shutil.copy(file, tmp_path)
        out.write(f"{done}\n")

    why, count = said(work)
    assert why.endswith("all that was finished is written; free some")
    assert int(count) > 1000
    with reopen(tmp_path / "runs.db") as writer:
        assert writer.keys("run") == {key(i) for i in range(int(count))}
        assert writer.run(key(7)) == made[7]
        assert writer.sweep("a" * 64) == sweep(state="failed")
    assert check(tmp_path / "runs.db") is None


def test_a_disk_without_room_for_the_reserve(tmp_path):
    def work(out):
        mount(tmp_path, 4)
        with pytest.raises(ToolkitError, match="8 MiB are needed"):
            create(tmp_path / "runs.db")
        out.write(f"{os.listdir(tmp_path)}\n")

    assert said(work) == ["['runs.db']"]


def fill(path):
    """Take all of a disk that is left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass
