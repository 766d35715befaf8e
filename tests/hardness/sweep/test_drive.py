"""Sweeps from end to end: whatever the engine, the order and the accidents, one table."""

import json
from concurrent.futures import BrokenExecutor
from random import Random

import pytest

from hardness.report.stored_rows import export
from hardness.runs.processes import Aborted
from hardness.runs.stress import Stress, stress
from hardness.sweep import Interrupted, drive, pool, read_text
from hardness.sweep.pool import Engine
from hardness.sweep.store import Writer, create, read
from instances.errors import ToolkitError
from tests.hardness.sweep.here import Here, sweep_here

SMALL = """
format = "hardness-sweep/1"
name = "small"
seeds = 3
[[runs]]
spec = "parity:m=2"
over = { d = [8, 10] }
learners = ["elimination", "lowdegree"]
budget = { examples = [60, 3000] }
"""
CLIMB = """
format = "hardness-sweep/1"
name = "climb"
[[climbs]]
learners = ["lowdegree", "elimination"]
rungs = ["parity:d=8,m=2", "parity:d=10,m=3", "parity:d=12,m=3"]
seed = 7
budget = { examples = 3000 }
"""
ELIMINATION = "elimination:checks=32"


@pytest.fixture
def sweep(monkeypatch, tmp_path):
    """Do a sweep in this process, into a.db unless another store is named."""

    def do(text, executor=None, batch=1, store="a.db", **how):
        return sweep_here(monkeypatch, text, tmp_path / store, executor, batch, **how)

    return do


@pytest.fixture
def held(tmp_path):
    """Read a store: its one sweep, its runs, its climbs by name."""

    def look(store="a.db"):
        with read(tmp_path / store) as found:
            return found.sweeps()[0], list(found.runs()), found.climbs()

    return look


@pytest.fixture
def exported(tmp_path):
    def write(store="a.db"):
        with read(tmp_path / store) as found:
            done = export(found, tmp_path / "out.csv", "csv", True, True)
        return (tmp_path / "out.csv").read_bytes(), done

    return write


@pytest.mark.parametrize("batch", [1, 7])
def test_what_is_finished_is_never_run_again(sweep, held, exported, batch):
    sweep(SMALL, store="whole.db")
    rng, all_done, started, resume = Random(batch), [], set(), False
    for _ in range(40):
        stop = KeyboardInterrupt() if rng.random() < 0.5 else BrokenExecutor("gone")
        engine = Here(stop=rng.randint(1, 6), error=stop)
        try:
            _, done = sweep(SMALL, engine, batch, resume=resume, jobs=rng.randint(1, 3))
        except Interrupted:
            all_done += engine.done
            state = "interrupted" if isinstance(stop, KeyboardInterrupt) else "failed"
            assert held()[0].state == state
            started.add(held()[0].started)
            resume = True
            continue
        all_done += done
        break
    assert len(all_done) == len(set(all_done)) == 26
    assert started == {held()[0].started}
    assert exported() == exported("whole.db")


def test_a_sweep_that_grew_does_what_is_new_and_groups_share_runs(sweep):
    sweep(SMALL)
    more = SMALL.replace("seeds = 3", "seeds = 4").replace("[8, 10]", "[8, 10, 12]")
    _, done = sweep(more, resume=True)
    assert len(done) == 3 * 2 * 2 * 4 - 24 + 1  # and one more certificate
    twice = more + SMALL[SMALL.index("[[runs]]") :].replace("[8, 10]", "[10, 14]")
    ended, done = sweep(twice, resume=True)
    assert len(done) == 2 * 2 * 4 + 1
    assert ended.progress.total == ended.progress.finished == 4 * 2 * 2 * 4 + 4


@pytest.mark.parametrize("text", [SMALL, CLIMB])
def test_what_fails_has_an_outcome_and_is_tried_again_when_asked(sweep, held, exported, text):
    ends = {0: "died", 1: "memory", 2: "overdue"}

    def failing(job):
        return ends[job.seed % 3] if job.label == ELIMINATION else None

    ended, _ = sweep(text, Here(failing=failing))
    count = {SMALL: 12, CLIMB: 5}[text]  # which climbs no further
    assert ended.progress.failed == {ELIMINATION: count}
    assert ended.missing == ()  # each has its row
    rows = [row for row in held()[1] if row.learner == ELIMINATION]
    names = {"died": "crashed", "memory": "memory spent", "overdue": "crashed"}
    assert all(row.outcome.value == names[ends[row.seed % 3]] for row in rows)
    assert all(not r.reproducible and r.attempts == 3 and r.details["reason"] for r in rows)
    assert exported()[1].left_out == len(rows) == count
    left, again = sweep(text, resume=True)
    assert again == []
    assert left.progress.failed == {ELIMINATION: count}  # those of before, still
    sweep(text, resume=True, retry=True)
    sweep(text, store="b.db")
    assert exported() == exported("b.db")
    assert held()[2] == held("b.db")[2]


def test_a_certificate_that_fails_is_said_and_tried_again(sweep):
    failing = {"certificates": "refused"}.get
    ended, _ = sweep(SMALL, Here(failing=lambda job: failing(job.label)))
    assert ended.missing == ("certificates: refused: as asked for",) * 2
    ended, done = sweep(SMALL, resume=True)
    assert (ended.missing, len(done)) == ((), 2)


def test_an_engine_that_stops_leaves_no_failures_and_one_without_workers_is_not_waited_for(
    sweep, held, monkeypatch, tmp_path
):
    with pytest.raises(Interrupted):
        sweep(SMALL, Here(stop=5, error=Aborted("stop")))
    row = held()[0]
    assert (row.state, row.failed) == ("failed", {})
    monkeypatch.setattr(pool, "_ASKED", -1.0)
    monkeypatch.setattr(pool, "_ALONE", -1.0)
    engine = Engine("dask:tcp://there", Here(), None, 0)
    with create(tmp_path / "b.db") as writer, pytest.raises(Interrupted) as cut:
        drive.Driver(read_text(SMALL, "test"), writer, engine).drive()
    assert "dask:tcp://there has had no workers for" in str(cut.value.__cause__)


def test_a_full_disk_ends_the_sweep_with_what_was_written(sweep, held, monkeypatch):
    real, calls = Writer.write, []

    def write(self, rows, sweep=None):
        calls.append(len(rows))
        if len(calls) == 3:
            raise ToolkitError("the disk is full")
        real(self, rows, sweep)

    monkeypatch.setattr(Writer, "write", write)
    monkeypatch.setattr(drive, "PACE", 0.0)
    with pytest.raises(Interrupted) as cut:
        sweep(SMALL)
    assert str(cut.value.__cause__) == "the disk is full"
    assert calls[3:] == []
    kept = sum(calls[:2])
    assert sum(held()[0].done.values()) == kept
    assert str(cut.value) == f"{kept} of 26 jobs are done"
    monkeypatch.setattr(Writer, "write", real)
    assert len(sweep(SMALL, resume=True)[1]) == 26 - kept


@pytest.mark.parametrize("learners", [["lowdegree", "elimination"], ["queries"]])
def test_a_climb_is_that_of_stress(sweep, held, learners):
    text = CLIMB.replace('["lowdegree", "elimination"]', json.dumps(learners))
    text = text.replace("3000", "400_000" if learners == ["queries"] else "3000")
    asked = read_text(text, "test").climbs[0]
    wanted = stress(learners, asked.ladder, base_seed=7, budget=asked.budget)
    sweep(text, jobs=3)
    _, runs, climbs = held()
    (kept,) = (data for name, data in climbs.items() if name.startswith("climbs 1 of "))
    climbed, reached = [
        [(one.learner, one.held, one.unsupported, [t.passes for t in one.rungs]) for one in every]
        for every in (Stress.of_store(kept, runs).climbs, wanted.climbs)
    ]
    assert climbed == reached
    used, those = [
        sorted((r.spec, r.seed, r.usage.queries) for r in found) for found in (runs, wanted.runs)
    ]
    assert used == those
    assert any(queries for *_, queries in used) is (learners == ["queries"])


def test_climbs_and_runs_share_what_they_both_ask_for(sweep, held):
    alone, done = sweep(CLIMB)
    seeds = [run.seed for run in held()[1] if run.spec.startswith("parity:d=8")][:5]
    both = CLIMB + "[[runs]]\nspec = 'parity:d=8,m=2'\ncertify = false\n"
    both += f"seeds = {seeds}\nlearners = ['lowdegree', 'elimination']\n"
    both += "budget = { examples = 3000, seconds = 60.0 }\n"
    for jobs in (1, 3):
        ended, again = sweep(both, store=f"{jobs}.db", jobs=jobs)
        assert sorted(again) == sorted(done)
        assert ended.progress.total == alone.progress.total
