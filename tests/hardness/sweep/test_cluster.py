"""The engine dask: as on this machine, whatever is lost of the cluster; all need the extra."""

import importlib.metadata
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from hardness import __version__
from hardness.learners.boundary import sandboxed
from hardness.runs.processes import Aborted
from hardness.sweep import cluster
from hardness.sweep.cluster import _Dask, engine_of
from hardness.sweep.pool import answer as well
from instances.errors import ToolkitError
from tests.hardness.sweep.misbehaving import answer, bad
from tests.hardness.sweep.seen import (
    done,
    from_file,
    require_neighbours_unharmed,
    wait_until_gone,
)
from tests.hardness.sweep.test_pool import driver
from tests.waiting import NEVER, wait_for

pytestmark = [
    pytest.mark.cluster,
    # dask's own, at the end of its clients and clusters
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]
__all__ = ["driver"]
NO_JOB = '{"kind": "none"}'


@pytest.fixture(autouse=True, scope="module")
def distributed():
    """With all the time that schedulers and workers may need to answer, where they are there."""
    found = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_PATIENCE", NEVER)
        patch.setattr(cluster, "_ARRIVING", NEVER)
        yield found


@pytest.fixture(scope="module")
def three(distributed):
    with engine_of("dask", 3) as engine:
        yield engine


def _misbehave(on):
    """Let workers do jobs that misbehave, or not."""
    cluster.answer = answer if on else well


@pytest.fixture
def bad_three(three):
    three._client.wait_for_workers(3, timeout=NEVER)  # one that was killed is made anew
    three._client.run(_misbehave, True)
    yield three
    three._client.run(_misbehave, False)


def test_what_dies_hangs_and_eats_ends_as_on_this_machine(bad_three):
    require_neighbours_unharmed(bad_three)


def waiting(file):
    """Return the process that waits, and its owner, once they have written themselves down."""
    wait_for(file.exists)
    return tuple(map(int, file.read_text().split()))


def test_abort_ends_what_runs_on_all_workers(bad_three, tmp_path):
    engine, files = _Dask(bad_three._client, "dask"), [tmp_path / str(i) for i in range(3)]
    tasks = [engine.submit([bad("first_waits", str(file))]) for file in files]
    children, owners = zip(*map(waiting, files), strict=True)
    tasks += [engine.submit([bad("hangs")]) for _ in range(3)]
    engine.abort()
    assert len(set(owners)) == 3
    wait_until_gone(children)
    for task in tasks:
        with pytest.raises(Aborted):
            engine.collect(task, [bad("hangs")])
    assert done(bad_three, [bad("well", 1)])[0].result["given"] == 1  # another engine's job


def test_jobs_that_kill_every_worker_have_died(three):
    three._client.run_on_scheduler(_allow, 0)
    task = three.executor.submit(_kill_9)
    found = three.collect(task, [bad("well"), bad("well", 1)])
    three._client.run_on_scheduler(_allow, 3)
    assert [f.failure for f in found] == ["died", "died"]
    assert "every dask worker" in found[0].why


def _allow(failures, dask_scheduler):
    dask_scheduler.allowed_failures = failures


def _kill_9():
    os.kill(os.getpid(), signal.SIGKILL)


def _pretend(version):
    cluster.version = (lambda name: version) if version else importlib.metadata.version


def test_a_worker_with_another_version_is_named(three):
    three._client.run(_pretend, "0.0.9")
    here = re.escape(__version__)
    with pytest.raises(ToolkitError, match=rf"has hardness-toolkit 0\.0\.9, {here} is here"):
        done(three, [bad("well")])
    three._client.run(_pretend, None)
    assert done(three, [NO_JOB])[0].failure == "raised"


def test_kill_9_of_the_driver_leaves_nothing(driver):
    # Two workers of a cluster made here, a tracker of resources, and what runs on them: a worker
    # process and the learner each, in a sandbox two of bubblewrap too.
    each = 4 if sandboxed() else 2
    process, found = driver("dask", [from_file("sleep"), from_file("loop")], 3 + 2 * each)
    process.kill()
    wait_until_gone(found)


# Schedulers that are not there, are of another kind, or go.


def refused(address, *words):
    with pytest.raises(ToolkitError) as found, engine_of(f"dask:{address}", 1):
        pass
    for word in words:
        assert word in str(found.value), str(found.value)
    assert "\n" not in str(found.value)


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


@contextmanager
def scheduler():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = ("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    with dask_process(*given) as process:
        wait_for(lambda: listens(port))
        yield process, f"tcp://127.0.0.1:{port}"


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def test_where_no_scheduler_is_one_line(monkeypatch):
    refused("tls://127.0.0.1:1", "no certificates for tls://")
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)  # where nobody ever answers
    refused("tcp://127.0.0.1:1", "no dask scheduler at tcp://127.0.0.1:1")


def test_a_scheduler_without_workers_and_a_worker_are_one_line(monkeypatch):
    with scheduler() as (_, address):
        with monkeypatch.context() as patch:
            patch.setattr(cluster, "_ARRIVING", 0.5)
            refused(address, "has no workers", "dask worker")
        with dask_process("worker", address, "--nthreads", 1):
            with engine_of(f"dask:{address}", 1) as engine:
                worker = next(iter(engine._client.nthreads()))
            refused(worker, "no dask scheduler", "what listens there is Worker")


def test_a_scheduler_that_is_lost_is_one_line_and_nothing_hangs(tmp_path):
    with (
        scheduler() as (process, address),
        dask_process("worker", address, "--nthreads", 1),
        engine_of(f"dask:{address}", 1) as engine,
    ):
        engine._client.run(_misbehave, True)
        assert done(engine, [bad("well", 1)])[0].result["given"] == 1
        given = [bad("hangs", str(tmp_path / str(i))) for i in range(3)]
        tasks = [engine.submit([one]) for one in given]
        wait_for(lambda: list(tmp_path.iterdir()))
        engine._client._timeout = 0.5  # nobody will answer
        os.killpg(process.pid, signal.SIGKILL)
        for task, one in zip(tasks, given, strict=True):
            with pytest.raises(ToolkitError, match=r"the scheduler of dask:.* is gone"):
                engine.collect(task, [one])
        with pytest.raises(ToolkitError, match="is gone"):
            engine._count()
        engine.abort()


def _held():
    """What a worker would hand down: environment and arguments, and what is left on the disk."""
    left = list(Path(tempfile.gettempdir()).glob("*/dask.pem"))
    return [*os.environ.values(), *sys.argv, *map(str, left)]


@pytest.mark.filterwarnings("ignore")  # clients that are refused leave coroutines of dask's behind
def test_a_cluster_made_here_takes_nobody_without_its_keys_and_hands_none_down(three, distributed):
    for words in three._client.run(_held).values():
        assert not [word for word in words if "BEGIN" in word or ".pem" in word]
    address = three._client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")
    assert all(worker.startswith("tls://") for worker in three._client.nthreads())
    stranger = distributed.Security.temporary()
    tcp = address.replace("tls", "tcp")
    for there, security in ((address, None), (tcp, None), (address, stranger)):
        with pytest.raises((OSError, TypeError)):
            distributed.Client(there, timeout=1, set_as_default=False, security=security)
    assert done(three, [NO_JOB])[0].failure == "raised"  # and goes on


def lost_task():
    cancelled = Future()
    cancelled.set_exception(CancelledError("lost dependencies"))
    return cancelled


def test_what_a_lost_worker_was_doing_is_handed_over_again(three, monkeypatch, ticks):
    """dask cancels a task where a worker is lost, and a busy scheduler may miss some calls.

    One that goes on missing them is gone, and why is said.
    """
    asked = three._client.nthreads
    for misses in (0, 3, None):
        failing = [] if misses == 0 else [OSError("no route")] * (misses or 10**6)

        def answers(failing=failing):
            if failing:
                raise failing.pop()
            return asked()

        monkeypatch.setattr(three._client, "nthreads", answers)
        ticks(cluster._PATIENCE / 5)
        if misses is not None:
            three.submit([NO_JOB])
            assert len(three.collect(lost_task(), [NO_JOB])) == 1
            continue
        for call in (lambda: three.collect(lost_task(), [NO_JOB]), three._count):
            with pytest.raises(ToolkitError, match=r"dask is gone \(OSError: no route\): what is"):
                call()
