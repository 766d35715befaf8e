"""Workers are made ready before their first task, and give the same results for any number."""

import os
from functools import partial
from pathlib import Path

import pytest

from hardness.runs.planned import warm
from hardness.runs.processes import execute


def note(folder):
    (Path(folder) / f"ready-{os.getpid()}").touch()


def seen(folder):
    return (Path(folder) / f"ready-{os.getpid()}").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_process_is_ready_before_its_first_task(tmp_path, jobs):
    found = dict(execute(seen, [str(tmp_path)] * 4, jobs, partial(note, str(tmp_path))))
    assert found == dict.fromkeys(range(4), True)
    assert len(list(tmp_path.iterdir())) <= jobs


def test_getting_ready_runs_what_can_run_and_passes_over_the_rest():
    warm("parity:d=8,m=2", ("elimination", "primal", "no-such-file.py:Name"))
