"""The workers of a dask cluster: the same runs as here, whatever of the cluster is lost."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

from hardness.oracles import Budget
from hardness.runs import workers
from hardness.runs.cache import Cache
from hardness.runs.jobs import Job, Runner, run_jobs
from instances.errors import ToolkitError
from tests.hardness.runs.misbehaving import bad, lost, well
from tests.sweeping import timeless
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.cluster,
    # dask's own, at the end of its clients and clusters
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True, scope="module")
def distributed():
    return pytest.importorskip("distributed", reason="the extra `cluster` is not installed")


@contextmanager
def dask_process(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, arguments)],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@contextmanager
def cluster(count):
    """A scheduler and so many workers: its process and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with ExitStack() as stack:
        given = ("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        scheduler = stack.enter_context(dask_process(*given))
        wait_for(lambda: listens(port))
        for _ in range(count):
            stack.enter_context(dask_process("worker", address, "--nthreads", 1, "--no-dashboard"))
        yield scheduler, address


@pytest.fixture(scope="module")
def address():
    with cluster(2) as (_, address):
        yield address


def plain(run):
    return timeless(run.to_dict())


def test_runs_are_those_of_this_machine(address):
    works = [
        Job(spec=f"parity:d={d},m=2", learner=name, seed=seed, budget=Budget(examples=20_000))
        for d in (8, 9)
        for name in ("elimination", "lowdegree", "queries")
        for seed in range(3)
    ]
    there = run_jobs(works, backend="dask", scheduler=address)
    assert [plain(run) for run in there] == [plain(run) for run in run_jobs(works)]


def test_a_job_that_kills_its_workers_is_named_and_the_others_are_done(address, tmp_path):
    works = [*(well(seed) for seed in range(6)), bad("killed", signal.SIGKILL, 6)]
    with Cache(tmp_path / "runs.db") as cache:
        done = run_jobs(works, cache, backend="dask", scheduler=address)
        assert cache.count == 7
    assert [lost(run) for run in done] == [False] * 6 + [True]


DRIVER = """
import sys
from pathlib import Path
from hardness.runs.cache import Cache
from hardness.runs.jobs import run_jobs
from tests.hardness.runs.misbehaving import bad
folder = Path(sys.argv[1])
with Cache(folder / "runs.db") as cache:
    works = [bad("slow", folder / "done", seed) for seed in range(12)]
    run_jobs(works, cache, backend="dask", scheduler=sys.argv[2])
print("finished")
"""


def test_a_kill_of_the_command_loses_what_is_at_work_and_no_more(address, tmp_path):
    file, kept = tmp_path / "done", 0
    command = [sys.executable, "-c", DRIVER, str(tmp_path), address]
    for more in (2, 3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        wait_for(lambda p=process, n=more + kept: p.poll() is not None or lines(file) >= n)
        process.kill()
        process.communicate()
        with Cache(tmp_path / "runs.db") as cache:
            assert cache.count >= kept
            kept = cache.count
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout == "finished\n"
    works = [bad("slow", file, seed) for seed in range(12)]
    with Cache(tmp_path / "runs.db") as cache:
        runner = Runner(cache=cache)
        again = [plain(run) for run in runner.run(works)]
    assert runner.reused == 12
    assert [one["outcome"] for one in again] == ["learned nothing"] * 12


def lines(file):
    return len(file.read_text().split()) if file.exists() else 0


def test_where_nobody_answers_or_works_is_one_line(monkeypatch):
    monkeypatch.setattr(workers, "_ANSWER_SECONDS", 1)
    with pytest.raises(ToolkitError, match="no dask scheduler answers there") as no:
        run_jobs([well(0), well(1)], backend="dask", scheduler="tcp://127.0.0.1:1")
    assert "\n" not in str(no.value)
    with (
        cluster(0) as (_, address),
        pytest.raises(ToolkitError, match="the scheduler has no worker"),
    ):
        run_jobs([well(0), well(1)], backend="dask", scheduler=address)


def test_a_scheduler_that_is_lost_is_one_line_and_what_was_done_is_kept(tmp_path):
    file = tmp_path / "done"
    works = [well(0), *(bad("slow", file, seed) for seed in range(1, 40))]
    with cluster(1) as (scheduler, address), Cache(tmp_path / "runs.db") as cache:
        runner = Runner(cache=cache, backend="dask", scheduler=address)

        def progress(done):
            if cache.count >= 2 and scheduler.poll() is None:
                os.killpg(scheduler.pid, signal.SIGKILL)

        runner.progress = progress
        with pytest.raises(ToolkitError, match="the dask scheduler is gone") as no:
            runner.run(works)
        assert "\n" not in str(no.value)
        assert cache.count >= 2
