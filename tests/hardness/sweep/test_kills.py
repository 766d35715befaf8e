"""Sweeps whose processes are killed, and what becomes of them: `benchmarks/chaos.py`, in short."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hardness.sweep.store import read
from instances.errors import ToolkitError
from tests.waiting import wait_for

CHAOS = Path(__file__).parents[3] / "benchmarks" / "chaos.py"
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
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


@pytest.mark.parametrize(
    ("engine", "seed"), [("local", 3), pytest.param("dask", 1, marks=pytest.mark.cluster)]
)
def test_kills_of_drivers_workers_and_nannies_lose_nothing(engine, seed):
    if engine == "dask":
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    found = subprocess.run(
        [sys.executable, CHAOS, "--engine", engine, "--kills", "1", "--seed", str(seed),
         "--seeds", "1", "--pause", "0.5"],
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    row = found.stdout.splitlines()[-1]
    assert re.fullmatch(rf"\| {engine} \| 1: .* \| [1-9]\d* \| 0 \| 0 \| 0 \|", row)


def started(tmp_path, *engine):
    """Start a sweep that never ends, and wait until it writes."""
    (tmp_path / "long.toml").write_text(LONG)
    store = tmp_path / "runs.db"
    command = [sys.executable, "-m", "cli", "sweep", "run", "long.toml", "--store", str(store)]
    sweep = subprocess.Popen(
        [*command, "--jobs", "1", *engine], cwd=tmp_path, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, start_new_session=True,
        # Tests that a shell's & started do not heed it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip

    def written():
        with suppress(ToolkitError), read(store) as found:
            return found.sweeps()

    wait_for(written)
    return sweep, store


@pytest.mark.cluster
def test_ctrl_c_of_a_terminal_is_the_drivers_alone(tmp_path):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    sweep, _ = started(tmp_path, "--engine", "dask")
    os.killpg(sweep.pid, signal.SIGINT)
    said = sweep.communicate()[1]
    assert sweep.returncode == 130, said
    assert said.count("\n") == 1, said
    assert "go on with: hardness sweep run" in said


@pytest.mark.parametrize("what", ["moved", "replaced"])
def test_a_store_that_is_taken_away_ends_the_sweep_at_once(tmp_path, what):
    sweep, store = started(tmp_path)
    if what == "moved":
        store.rename(tmp_path / "moved")
    else:
        (tmp_path / "other").write_bytes(b"another's")
        (tmp_path / "other").rename(store)
    said = sweep.communicate()[1]
    assert (sweep.returncode, said.count("\n")) == (1, 1)
    assert "runs.db was moved, removed or replaced while it was written" in said
    assert not list(tmp_path.glob("runs.db-*"))
    if what == "moved":
        with read(tmp_path / "moved") as found:
            assert sum(found.sweeps()[0].planned.values()) == 4000
    if what == "replaced":
        assert store.read_bytes() == b"another's"
