"""Tasks on other processes: one that is killed is one line, and none outlives its owner."""

import os
import signal

import pytest

from hardness.runs.planned import warm
from hardness.runs.processes import execute
from instances.errors import ToolkitError


def kill(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_one_line():
    with pytest.raises(ToolkitError, match="a worker process was killed, by the system"):
        list(execute(kill, range(8), jobs=2))


def test_getting_ready_runs_what_can_run_and_passes_over_the_rest():
    warm("parity:d=8,m=2", ("elimination", "primal", "no-such-file.py:Name"))
