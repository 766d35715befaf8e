"""The engine dask: as on this machine, whatever is lost of the cluster; all need the extra."""

import importlib.metadata
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from hardness import __version__
from hardness.oracles import Budget
from hardness.runs.processes import Aborted
from hardness.sweep import cluster
from hardness.sweep.cluster import _Dask, engine_of
from hardness.sweep.pool import answer as well
from hardness.upper.isolated.sandbox import sandboxed
from instances.errors import ToolkitError
from tests.hardness.sweep.misbehaving import answer, bad
from tests.hardness.sweep.seen import (
    done,
    from_file,
    payload_of,
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
def listener(greets):
    """Something that listens and is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            held = []
            while True:
                try:
                    held.append(server.accept()[0])
                    held[-1].sendall(greets)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


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
def scheduler(*more):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = ("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", *more)
    with dask_process(*given) as process:
        wait_for(lambda: listens(port))
        yield process, f"{'tls' if more else 'tcp'}://127.0.0.1:{port}"


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def test_where_no_scheduler_is_one_line(monkeypatch):
    with listener(b"HTTP/1.0 400 Bad\r\n\r\n") as address:
        refused(address, "no dask scheduler at", "speaks another protocol")
        refused(address.replace("tcp", "tls"), "no certificates for tls://")
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)  # where nobody ever answers
    refused("tcp://127.0.0.1:1", "no dask scheduler at tcp://127.0.0.1:1")
    refused("tcp://nonsense.invalid:8786", "no dask scheduler at tcp://nonsense.invalid")
    with listener(b"") as address:
        refused(address, "no dask scheduler at", "no answer")


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


# TLS: of clusters made here by itself, of others by certificates that dask's configuration names.


def keys(folder):
    """Make files of new certificates: options of dask's commands, and its configuration."""
    import distributed

    made = distributed.Security.temporary()
    texts = {
        "ca-file": made.tls_ca_file,
        "client.cert": made.tls_client_cert,
        "client.key": made.tls_client_key,
    }
    folder.mkdir()
    for kind, text in texts.items():
        (folder / kind).write_text(text)
    ca, cert, key = (str(folder / kind) for kind in texts)
    named = {f"distributed.comm.tls.{kind}": str(folder / kind) for kind in texts}
    return ("--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key), named


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


def test_a_scheduler_with_tls_takes_its_own_certificates_alone(distributed, tmp_path, monkeypatch):
    import dask

    given, known = keys(tmp_path / "ours")
    _, others = keys(tmp_path / "others")
    with scheduler(*given) as (_, address), dask_process("worker", address, *given):
        with dask.config.set(known), engine_of(f"dask:{address}", 1) as engine:
            assert engine.name == f"dask:{address}"
            assert done(engine, [NO_JOB])[0].failure == "raised"
        monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
        refused(address, "no certificates for tls://", "distributed.comm.tls")
        refused(address.replace("tls", "tcp"), "no dask scheduler at tcp://", "tls://")
        with dask.config.set(known | {"distributed.comm.tls.ca-file": "/none.pem"}):
            refused(address, "the certificates for tls://", "cannot be read")
        with dask.config.set(others):
            refused(address, "certificate", "no dask scheduler")
    with dask.config.set(known), scheduler() as (_, address):
        refused(address.replace("tcp", "tls"), "no dask scheduler")


INTRUDER = """
import asyncio
from pathlib import Path

import distributed
import numpy as np

from hardness.upper import Hypothesis


async def intrude(address, keys):
    given = {"asynchronous": True, "timeout": 2, "security": keys}
    async with distributed.Client(address, **given) as client:
        await client.submit(Path("MARK").touch)


class Intruder:
    access, revision = "examples", 1

    def learn(self, oracle, rng):
        told = {}
        for kind, keys in (("tls", distributed.Security.temporary()), ("tcp", None)):
            try:
                asyncio.run(asyncio.wait_for(intrude(f"{kind}://127.0.0.1:PORT", keys), 5))
                told[kind] = "ran"
            except BaseException as error:
                told[kind] = type(error).__name__
        return Hypothesis(predict=lambda x: np.zeros(x.shape), details=told)
"""


def test_a_learner_cannot_have_the_scheduler_run_its_code(three, tmp_path):
    mark, file = tmp_path / "mark", tmp_path / "intruder.py"
    port = three._client.scheduler.address.rpartition(":")[2]
    file.write_text(INTRUDER.replace("MARK", str(mark)).replace("PORT", port))
    (found,) = done(three, [payload_of(f"{file}:Intruder", Budget(examples=9))])
    assert (found.failure, found.result["outcome"]) == (None, "learned nothing")
    told = found.result["details"]["reported"]
    assert set(told) == {"tls", "tcp"}
    assert "ran" not in told.values()
    assert not mark.exists()


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
