"""Tasks on other processes: one that is killed is one line, and none outlives its owner."""

import os
import signal
import subprocess
import sys

import pytest

from hardness.runs.planned import warm
from hardness.runs.processes import execute
from instances.errors import ToolkitError
from tests.hardness.sweep.seen import below, wait_until_gone


def kill(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def parent(number):
    return os.getppid()


def test_a_process_that_is_killed_is_one_line():
    with pytest.raises(ToolkitError, match="a worker process was killed, by the system"):
        list(execute(kill, range(8), jobs=2))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_kill_9_of_the_owner_leaves_nothing():
    code = (
        "from tests.hardness.runs.test_processes import execute, parent\n"
        "found = execute(parent, range(4), jobs=2)\n"
        "print(next(found), flush=True)\n"
        "input()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout.readline()
    workers = below(owner.pid)
    assert len(workers) >= 2
    owner.kill()
    owner.communicate()
    wait_until_gone(workers)


def test_getting_ready_runs_what_can_run_and_passes_over_the_rest():
    warm("parity:d=8,m=2", ("elimination", "primal", "no-such-file.py:Name"))
