"""Engines: the same results on every executor, neighbours unharmed, nothing left at the end."""

import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from hardness.oracles import Budget
from hardness.sweep.engines import Aborted, Engine, Limits, Slot, engine_of, local
from hardness.sweep.jobs import read_job, run_job
from hardness.upper import parse_learner
from hardness.upper.isolated import level
from hardness.upper.isolated.init import below
from instances.errors import ToolkitError, UsageError
from tests.hardness.sweep.engines.seen import (
    COMMAND,
    NONE,
    bad,
    gone,
    nothing_left,
    runs,
    timeless,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def misbehaving(monkeypatch):
    module = importlib.import_module("hardness.sweep.engines.attempt")
    monkeypatch.setattr(module, "Slot", partial(Slot, COMMAND))


def done(engine, payloads, limits=NONE, size=1):
    parts = [payloads[i : i + size] for i in range(0, len(payloads), size)]
    tasks = [(engine.submit(part, limits), part) for part in parts]
    return [one for task, part in tasks for one in engine.collect(task, part)]


@pytest.fixture(scope="module")
def directly():
    """What the same runs give without any engine."""
    found = []
    for payload in runs():
        job = read_job(json.loads(payload))
        found.append((job.key, json.loads(json.dumps(job.do()))["risk"]))
    return found


def test_runs_are_the_same_here_and_on_one_slot_or_two(directly):
    with nothing_left():
        with local(1) as engine:
            one = done(engine, runs(), size=6)
        with local(2) as engine:
            two = done(engine, runs())
    assert [(f.key, f.result["risk"]) for f in one] == directly
    assert [timeless(f) for f in one] == [timeless(f) for f in two]
    assert len({f.where for f in one}) == 1 < len({f.where for f in two}) == 2


def test_any_executor_of_python_will_do(directly):
    spawn = multiprocessing.get_context("spawn")
    with nothing_left():
        with ThreadPoolExecutor(1) as threads:
            first = done(Engine("threads", threads, 1), runs(3), size=3)
        assert [(f.key, f.result["risk"]) for f in first] == directly[:3]
    with ProcessPoolExecutor(1, mp_context=spawn) as processes:
        second = done(Engine("processes", processes, 1), runs(3), size=3)
        started = [int(f.where.partition(":")[2]) for f in second]
    assert [timeless(f) for f in first] == [timeless(f) for f in second]
    assert gone(started)


def test_a_pool_that_is_broken_is_one_line():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        engine = Engine("processes", processes, 1)
        task = processes.submit(os._exit, 1)
        with pytest.raises(ToolkitError, match="a worker process of processes was killed"):
            engine.collect(task, [])
        with pytest.raises(ToolkitError, match="a worker process of processes was killed"):
            engine.submit([], NONE)


def test_neighbours_of_what_dies_hangs_and_eats_are_unharmed(misbehaving):
    limits = Limits(seconds=1.0, memory_bytes=300 << 20, retries=1)
    given = [bad("well", i) for i in range(20)]
    given[3], given[8], given[13] = bad("killed", 9), bad("hangs"), bad("eats", 1 << 32)
    with nothing_left(), local(2) as engine:
        found = done(engine, given, limits, size=4)
    ends = {3: "died", 8: "overdue", 13: "memory"}
    assert [f.failure for f in found] == [ends.get(i) for i in range(20)]
    assert [f.result["given"] for i, f in enumerate(found) if i not in ends] == [
        i for i in range(20) if i not in ends
    ]
    assert {found[i].attempts for i in ends} == {2}


def test_abort_drops_what_waits_and_ends_what_runs(misbehaving):
    with nothing_left(), local(2) as engine:
        done(engine, [bad("well")] * 2)
        tasks = [engine.submit([bad("hangs")], Limits()) for _ in range(5)]
        time.sleep(0.3)
        start = time.monotonic()
        engine.abort()
        for task in tasks:
            with pytest.raises(Aborted):
                engine.collect(task, [bad("hangs")])
        assert time.monotonic() - start < 60
        with pytest.raises(ToolkitError):
            engine.submit([bad("well")], NONE)


def test_leaving_ends_what_runs(misbehaving):
    with nothing_left(), local(2) as engine:
        for _ in range(5):
            engine.submit([bad("hangs")], Limits())


def test_what_is_no_engine_is_refused():
    for text, words in {
        "dusk": "local, dask",
        "dask:": "tcp://127.0.0.1:8786",
        "dask:nonsense": "tcp://127.0.0.1:8786",
        "dask:tcp://nonsense": "tcp://127.0.0.1:8786",
        "dask:tcp://127.0.0.1:99999": "tcp://127.0.0.1:8786",
        "dask:http://127.0.0.1:80": "tcp://127.0.0.1:8786",
    }.items():
        with pytest.raises(UsageError, match=words) as refused, engine_of(text, 1):
            pass
        assert "\n" not in str(refused.value)
    for name in ("local", "dask"):
        with pytest.raises(UsageError, match="jobs=0 given"), engine_of(name, 0):
            pass


@pytest.fixture
def driver():
    """Start a driver; give it and the processes below it once there are so many."""
    started = []

    def start(engine, payloads, processes):
        arguments = [sys.executable, "-m", "tests.hardness.sweep.engines.driver", engine]
        process = subprocess.Popen([*arguments, *payloads], stderr=subprocess.PIPE)
        started.append(process)
        until = time.monotonic() + 60
        while len(found := below(process.pid)) < processes and time.monotonic() < until:
            time.sleep(0.05)
        assert len(found) == processes
        time.sleep(1.0)  # until they are at it
        return process, below(process.pid)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def from_file(name):
    learner = Path(__file__).parents[2] / "upper" / "isolated" / "learners" / f"ends.py:{name}"
    job = run_job("parity:d=8,m=2", parse_learner(str(learner)), 0, Budget())
    return json.dumps({"kind": job.kind, **job.to_json()})


def test_kill_9_of_the_driver_leaves_nothing(driver):
    # One of the two never lets the thread run that sees its owner go.
    process, found = driver("local", [bad("holds_the_interpreter"), bad("hangs")], 2)
    process.kill()
    assert gone(found, within=2)


def test_kill_9_of_the_driver_ends_learners_from_files(driver):
    # A slot's child, the first process and the learner each, in a namespace bubblewrap too.
    each = 4 if level() == "bubblewrap" else 3
    process, found = driver("local", [from_file("Sleep"), from_file("Loop")], 2 * each)
    process.kill()
    assert gone(found, within=3)


def test_an_interrupt_of_the_driver_leaves_nothing(driver):
    process, found = driver("local", [bad("well"), bad("hangs")], 2)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert gone(found, within=0.5)


def test_a_learner_from_a_file_ends_with_its_slot(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    limits = Limits(seconds=1.5, retries=0)
    with nothing_left(), local(1) as engine:
        found = done(engine, [from_file("Sleep")], limits)
        assert found[0].failure == "overdue"
        assert list(tmp_path.iterdir()) == []
