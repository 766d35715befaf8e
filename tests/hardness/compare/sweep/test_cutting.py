"""Searches of a sweep in parts: the rows of searches in one piece, whatever ends when and fails."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random

import pytest

from hardness.compare.jobs import cut_search
from hardness.compare.store import read
from hardness.compare.sweep import Interrupted
from hardness.upper import Outcome
from tests.hardness.compare.sweep.here import Here, sweep_here
from tests.hardness.compare.sweep.test_drive import exported

SEARCH = """
format = "hardness-sweep/1"
name = "search"
seeds = 3
learners = ["bruteforce"]
[budget]
examples = 200
[[runs]]
spec = "lpn:n=10,noise=0.1"
certify = false
"""


class Late(Here):
    """Does tasks in threads, the first ones last."""

    def __init__(self, **how):
        super().__init__(**how)
        self.pool, self.rng = ThreadPoolExecutor(3), Random(0)

    def submit(self, work, payloads, limits):
        def later(pause):
            time.sleep(pause)
            return super(Late, self).submit(work, payloads, limits).result()

        return self.pool.submit(later, self.rng.random() / 20)


@pytest.fixture
def wanted(monkeypatch, tmp_path):
    sweep_here(monkeypatch, SEARCH, tmp_path / "whole.db")
    cut = partial(cut_search, whole=500, steps=1)
    monkeypatch.setattr("hardness.compare.sweep.begin.cut_search", cut)
    return exported(tmp_path / "whole.db")


@pytest.mark.parametrize(("engine", "jobs"), [(Here, 1), (Here, 4), (Late, 3)])
def test_parts_make_the_row_of_a_run(monkeypatch, tmp_path, wanted, engine, jobs):
    ended, done = sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", engine(), jobs=jobs)
    assert len(done) > 3
    assert exported(tmp_path / "a.db") == wanted
    assert ended.progress.planned == ended.progress.done
    assert ended.progress.finished == len(done)
    _, again = sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", resume=True)
    assert again == []


def test_parts_that_are_kept_are_not_done_again(monkeypatch, tmp_path, wanted):
    monkeypatch.setattr("hardness.compare.sweep.ledger.PACE", 0.0)
    stop = Here(stop=2, error=KeyboardInterrupt())
    for _ in range(100):
        stop.stop = len(stop.done) + 2
        try:
            sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", stop, resume=True)
        except Interrupted:
            continue
        break
    every = stop.done
    assert len(every) == len(set(every)) > 4
    assert exported(tmp_path / "a.db") == wanted


def test_a_part_that_fails_ends_a_run_that_needs_it(monkeypatch, tmp_path, wanted):
    def failing(job):
        return "died" if job.start == 0 else None

    sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", Here(failing=failing))
    with read(tmp_path / "a.db") as found:
        assert {r.run.outcome for r in found.runs()} == {Outcome.CRASHED}
    _, again = sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", resume=True, retry=True)
    assert len(again) >= 3
    assert exported(tmp_path / "a.db") == wanted


def test_a_part_that_fails_behind_the_one_that_ends_the_search(monkeypatch, tmp_path, wanted):
    believed = {}
    plain = Here()
    sweep_here(monkeypatch, SEARCH, tmp_path / "a.db", plain)
    with read(tmp_path / "a.db") as found:
        for row in found.runs():
            believed[row.run.seed] = row.run.details["tried"]

    def failing(job):  # all candidates of the parts before were tried
        return "died" if job.start >= believed[job.run.seed] else None

    for engine in (Here, Late):
        store = tmp_path / f"{engine.__name__}.db"
        ended, _ = sweep_here(monkeypatch, SEARCH, store, engine(failing=failing), jobs=4)
        assert ended.missing == ()
        assert exported(store) == wanted
