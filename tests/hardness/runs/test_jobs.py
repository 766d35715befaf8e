"""The loop of jobs: what is done is not done again, whoever dies; equal whoever does it."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hardness.api import sources
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs import jobs
from hardness.runs.cache import Cache
from hardness.runs.jobs import Job, Runner, run_jobs
from hardness.runs.registry import KEYS, OBJECTS
from instances.errors import DamagedFile, ToolkitError, UsageError
from tests.hardness.runs.misbehaving import SPEC, bad, lost, well
from tests.sweeping import timeless

LEARNERS = ("elimination", "lowdegree", "trivial", "queries")


def grid(seeds=3):
    """The budget of the larger size is too small for some."""
    return [
        Job(spec=f"parity:d={d},m=2", learner=name, seed=seed, budget=Budget(examples=examples))
        for d, examples in ((8, 50_000), (9, 200))
        for name in LEARNERS
        for seed in range(seeds)
    ]


def plain(run):
    return {name: part for name, part in timeless(run.to_dict()).items() if name != "key"}


@pytest.fixture(scope="module")
def once():
    return [plain(run) for run in run_jobs(grid())]


@pytest.mark.parametrize("order", [pytest.param(1, marks=pytest.mark.weekly), 2])
def test_runs_are_equal_on_two_workers_in_any_order(once, order):
    works = grid()
    places = list(range(len(works)))
    random.Random(order).shuffle(places)
    done = run_jobs([works[i] for i in places], n_jobs=2)
    assert [plain(run) for run in done] == [once[i] for i in places]
    assert {Outcome.SOLVED, Outcome.EXAMPLES_SPENT} <= {run.outcome for run in done}


def test_what_is_in_the_cache_is_not_done_again(tmp_path):
    file = tmp_path / "done"
    works = [bad("counted", file, seed) for seed in range(4)]
    with Cache(tmp_path / "runs.db") as cache:
        first = run_jobs(works[:2], cache)
        runner = Runner(cache=cache)
        again = runner.run(works)
    assert len(file.read_text().split()) == 4
    assert runner.reused == 2
    assert [plain(run) for run in again[:2]] == [plain(run) for run in first]


def test_a_key_is_of_all_that_a_run_depends_on():
    job = well(0)
    assert Job(**{n: getattr(job, n) for n in job.__struct_fields__}).key == job.key
    same = Job(spec="parity:m=2,d=8", learner="trivial:", seed=0, budget=job.budget)
    assert same.key == job.key
    others = [
        well(1),
        Job(spec=SPEC, learner="trivial", seed=0, budget=Budget(examples=51)),
        Job(spec=SPEC, learner="trivial", seed=0, budget=Budget(examples=50, seconds=1)),
        Job(spec=SPEC, learner="elimination", seed=0, budget=job.budget),
        Job(spec="parity:d=9,m=2", learner="trivial", seed=0, budget=job.budget),
    ]
    assert len({job.key, *(one.key for one in others)}) == 6
    sixty = (Budget(seconds=60), Budget(seconds=60.0))
    assert len({Job(spec=SPEC, learner="trivial", seed=0, budget=b).key for b in sixty}) == 1
    asks = [
        Job(spec=SPEC, learner="queries", seed=0, budget=Budget(), oracle=oracle)
        for oracle in ("samples", "exact")
    ]
    assert asks[0].key != asks[1].key
    blind = [
        Job(spec=SPEC, learner="trivial", seed=0, budget=Budget(), oracle=oracle)
        for oracle in ("samples", "exact")
    ]
    assert blind[0].key == blind[1].key  # it asks none


def test_a_learner_in_a_file_is_known_by_its_text(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("def learn(x, y, rng):\n    return lambda x: 0.0 * x\n")
    first, second = (
        Job(spec=SPEC, learner=f"{file}:learn", seed=0, budget=Budget(examples=50))
        for _ in range(2)
    )
    assert first.key
    file.write_text(file.read_text() + "# another\n")
    assert second.key != first.key
    assert "is another here" in run_jobs([first])[0].details["reason"]
    assert run_jobs([second])[0].outcome is Outcome.LEARNED_NOTHING


# Workers that die.


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (("killed", signal.SIGKILL), "was killed by SIGKILL"),
        pytest.param(("killed", signal.SIGSEGV), "was killed by SIGSEGV", marks=pytest.mark.weekly),
        pytest.param(("exits", 3), "exited with code 3", marks=pytest.mark.weekly),
        (("exits", 0), "exited with code 0"),
    ],
)
def test_a_job_that_kills_its_worker_is_named_and_the_others_are_done(does, said, tmp_path):
    works = [well(seed) for seed in range(6)]
    works.insert(3, bad(*does, 3))
    with Cache(tmp_path / "runs.db") as cache:
        done = run_jobs(works, cache, n_jobs=2)
    assert [lost(run) for run in done] == [i == 3 for i in range(7)]
    assert said in done[3].details["reason"]
    assert ("going now" in done[3].details["reason"]) is (does[0] == "exits")
    assert done[3].seed == 3


def test_in_a_batch_the_one_that_kills_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "_batch", lambda waiting, works, took: take(waiting, 5))
    works = [well(seed) for seed in range(10)]
    works[2] = bad("exits", 0, 2)
    done = run_jobs(works, n_jobs=2)
    assert [lost(run) for run in done] == [i == 2 for i in range(10)]


def take(waiting, most):
    return [waiting.popleft() for _ in range(min(most, len(waiting)))]


def test_a_worker_that_dies_costs_one_more_try(tmp_path):
    done = run_jobs([bad("once", tmp_path / "there"), well(1), well(2)], n_jobs=2)
    assert [run.outcome for run in done] == [Outcome.LEARNED_NOTHING] * 3


def test_what_the_machine_ended_is_done_again_by_the_same_command(tmp_path):
    file = tmp_path / "there"
    works = [bad("once", file), well(1)]
    with Cache(tmp_path / "runs.db") as cache:
        row = works[0].lost(Outcome.CRASHED, "its process was killed", 1.0)
        cache.add([(works[0].key, jobs.text_of(row))])
        file.touch()
        done = run_jobs(works, cache)
        assert [run.outcome for run in done] == [Outcome.LEARNED_NOTHING] * 2
        runner = Runner(cache=cache)
        runner.run(works)
        assert runner.reused == 2


def test_what_cannot_be_done_and_a_fault_have_rows(tmp_path):
    works = [bad("refuses", "too large"), bad("faults", "gone", 1), well(2)]
    done = run_jobs(works, n_jobs=2)
    assert [run.outcome.value for run in done] == ["could not run", "crashed", "learned nothing"]
    assert done[0].details["reason"] == "too large"
    assert "KeyError: 'gone' in misbehaving.py" in done[1].details["reason"]


def test_nothing_is_left_of_workers(tmp_path):
    file = tmp_path / "pids"
    run_jobs([bad("pid", file, seed) for seed in range(4)], n_jobs=2)
    pids = {int(line) for line in file.read_text().split()}
    assert len(pids) == 2
    assert os.getpid() not in pids
    for one in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(one, 0)


# Kills of the command itself.

DRIVER = """
import sys
from pathlib import Path
from hardness.runs.cache import Cache
from hardness.runs.jobs import run_jobs
from tests.hardness.runs.misbehaving import bad
folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
with Cache(folder / "runs.db") as cache:
    run_jobs([bad("slow", folder / "done", seed) for seed in range(12)], cache, n_jobs=jobs)
print("finished")
"""


def driver(folder, n):
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), str(n)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.weekly), 2])
def test_a_kill_loses_what_is_at_work_and_no_more(tmp_path, n):
    file, kept = tmp_path / "done", 0
    for kills in range(1, 4):
        process, more = driver(tmp_path, n), kept + random.Random(kills).randint(1, 3)
        while process.poll() is None and lines(file) < more:
            process.poll()
        process.kill()
        process.communicate()
        with Cache(tmp_path / "runs.db") as cache:
            now = cache.count
        assert now >= kept
        assert lines(file) <= now + kills * (n + 1)
        kept = now
    process = driver(tmp_path, n)
    assert process.communicate()[0] == "finished\n"
    works = [bad("slow", file, seed) for seed in range(12)]
    with Cache(tmp_path / "runs.db") as cache:
        runner = Runner(cache=cache)
        again = [plain(run) for run in runner.run(works)]
    assert runner.reused == 12
    assert again == [plain(run) for run in run_jobs([well(seed) for seed in range(12)])]


def lines(file):
    return len(file.read_text().split()) if file.exists() else 0


def test_two_commands_share_a_file_and_lose_nothing(tmp_path):
    both = [driver(tmp_path, 1) for _ in range(2)]
    assert [one.communicate()[0] for one in both] == ["finished\n"] * 2
    with Cache(tmp_path / "runs.db") as cache:
        assert cache.count == 12


# The file.


def test_a_full_disk_is_one_line_and_keeps_what_was_there(tmp_path):
    with Cache(tmp_path / "runs.db") as cache:
        run_jobs([well(seed) for seed in range(3)], cache)
        pages = cache.connection.execute("PRAGMA page_count").fetchone()[0]
        cache.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ToolkitError, match=r"the disk is full; what was done .* is kept"):
            run_jobs([well(seed) for seed in range(3, 99)], cache)
        assert cache.count >= 3


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(ToolkitError, match="cannot be written"):
        Cache(tmp_path / "there" / "runs.db")
    with Cache(tmp_path / "runs.db") as cache:
        run_jobs([well(0)], cache)
        cache.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(ToolkitError, match="cannot be written"):
            run_jobs([well(1)], cache)


def test_a_file_that_is_moved_while_it_is_written_is_said(tmp_path):
    with Cache(tmp_path / "runs.db") as cache:
        cache.add([("a", "1")])
        (tmp_path / "runs.db").rename(tmp_path / "other.db")
        with pytest.raises(ToolkitError, match="was moved, removed or replaced"):
            cache.add([("b", "2")])


@pytest.mark.parametrize("moved", [True, False])
def test_a_file_that_is_gone_is_said_as_it_is(hardness, monkeypatch, moved):
    """One that was moved goes on where it is put back; of one that was removed nothing is left."""
    there, add = Path("both/runs.db"), Cache.add

    def gone(cache, rows):
        monkeypatch.setattr(Cache, "add", add)
        add(cache, rows[:1])
        there.rename("kept.db") if moved else there.unlink()
        add(cache, rows[1:])

    command = ("compare", "parity:m=2", "--over", "d=6..8", "--learner", "trivial", "--jobs", 1)
    monkeypatch.setattr(Cache, "add", gone)
    said = hardness(*command, "--out", "both")
    assert said.code == 1
    assert "of one that was removed they are lost" in said.err
    assert "runs are kept in" not in said.err
    if moved:
        Path("kept.db").rename(there)
    again = hardness(*command, "--out", "both")
    assert again.code == 0
    assert ("runs found in both/runs.db" in again.err) is moved


def test_what_is_no_file_of_runs_is_refused_in_a_line(tmp_path):
    (tmp_path / "text").write_text("no database")
    for sql, said in {
        "CREATE TABLE sweeps (name)": "is a store of an earlier version",
        "CREATE TABLE other (name)": "is a database without runs",
    }.items():
        path = tmp_path / f"{len(said)}.db"
        with closing(sqlite3.connect(path)) as made:
            made.execute(sql)
        for writes in (True, False):
            with pytest.raises(DamagedFile, match=said):
                Cache(path, writes=writes)
    with pytest.raises(DamagedFile, match="holds no runs"):
        Cache(tmp_path / "text", writes=False)
    with pytest.raises(UsageError, match="no such file"):
        Cache(tmp_path / "gone.db", writes=False)
    with Cache(tmp_path / "new.db") as cache:
        cache.connection.execute("PRAGMA user_version = 9")
    with pytest.raises(DamagedFile, match="is of format 9"):
        Cache(tmp_path / "new.db")


def test_a_closed_file_is_one_file(tmp_path):
    with Cache(tmp_path / "runs.db") as cache:
        cache.add([("a", "1")])
    assert [one.name for one in tmp_path.iterdir()] == ["runs.db"]


# Objects.


@pytest.fixture
def objects():
    yield
    OBJECTS.clear()
    KEYS.clear()


def guess(x, y, rng):
    return lambda x: 0.0 * x


def zeros(x, y, rng):
    return lambda x: 0.0 * x


def test_runs_of_an_object_are_kept_by_its_key_alone(objects, tmp_path):
    (plainly,) = sources.names(guess)
    (keyed,) = sources.names(sources.learner(guess, key="1"))
    assert Job(spec=SPEC, learner=keyed, seed=0, budget=Budget()).key
    (other,) = sources.names(sources.learner(guess, key="2"))
    keys = {Job(spec=SPEC, learner=name, seed=0, budget=Budget()).key for name in (keyed, other)}
    assert len(keys) == 1  # of one name: the later one stands
    del KEYS[keyed]
    job = Job(spec=SPEC, learner=plainly, seed=0, budget=Budget(examples=50))
    assert job.key == ""
    with Cache(tmp_path / "runs.db") as cache:
        with pytest.warns(UserWarning, match="runs of guess are not kept"):
            run_jobs([job], cache)
        assert cache.count == 0


def test_what_cannot_be_carried_is_done_here_and_said(objects):
    lock = __import__("threading").Lock()

    def held(x, y, rng):
        with lock:
            return lambda x: 0.0 * x

    (name,) = sources.names(held)
    works = [
        Job(spec=SPEC, learner=name, seed=seed, budget=Budget(examples=50)) for seed in range(3)
    ]
    with pytest.warns(UserWarning, match="one after another in this process"):
        done = run_jobs(works, n_jobs=2)
    assert [run.outcome.value for run in done] == ["learned nothing"] * 3


def test_objects_are_carried_to_workers_and_those_with_a_key_are_kept(objects, tmp_path):
    names = sources.names([guess, sources.learner(zeros, key="v1")])
    works = [
        Job(spec=SPEC, learner=name, seed=seed, budget=Budget(examples=50))
        for name in names
        for seed in range(3)
    ]
    with Cache(tmp_path / "runs.db") as cache:
        with pytest.warns(UserWarning, match="runs of guess are not kept"):
            there = run_jobs(works, cache, n_jobs=2)
        assert cache.count == 3
    assert [plain(run) for run in there] == [plain(run) for run in run_jobs(works)]
    assert [run.outcome.value for run in there] == ["learned nothing"] * 6
    assert {run.details.get("object_key") for run in there[3:]} == {"v1"}


def test_a_backend_is_named_in_a_line():
    with pytest.raises(UsageError, match="one of local, dask"):
        Runner(backend="slurm")
    with pytest.raises(UsageError, match="--scheduler"):
        Runner(backend="dask")
    with pytest.raises(UsageError, match="--scheduler"):
        Runner(scheduler="tcp://127.0.0.1:1")


def test_rows_are_json(tmp_path):
    with Cache(tmp_path / "runs.db") as cache:
        run_jobs([well(0)], cache)
        (text,) = cache.texts()
    assert json.loads(text)["kind"] == "Run"


def test_a_damaged_file_is_one_line(tmp_path):
    with Cache(tmp_path / "runs.db") as cache:
        cache.add([(str(key), "{}" * 99) for key in range(999)])
    whole = (tmp_path / "runs.db").read_bytes()
    (tmp_path / "half.db").write_bytes(whole[:5000])
    for writes in (True, False):
        with pytest.raises(DamagedFile, match="is damaged"):
            Cache(tmp_path / "half.db", writes=writes)
