"""Worker processes: whatever a job does it ends, with what happened; nothing is left at the end."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from hardness.sweep.cluster import engine_of
from hardness.sweep.jobs import read_job
from hardness.sweep.pool import Aborted, Limits, Worker, key_of, local
from hardness.upper.isolated import level
from hardness.upper.isolated.init import below
from instances.errors import ToolkitError, UsageError
from tests.hardness.sweep.misbehaving import answer, bad
from tests.hardness.sweep.seen import (
    NONE,
    done,
    from_file,
    gone,
    nothing_left,
    runs,
    timeless,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
_MIB = 1 << 20


@pytest.fixture(scope="module")
def worker():
    one = Worker(answer)
    yield one
    one.close()


def ends(worker, payload, failure, *words, limits=NONE):
    """The job ends with this failure, and the worker goes on."""
    found = worker.do(payload, limits)
    assert (found.failure, found.result, found.key) == (failure, None, key_of(payload))
    assert "\n" not in found.why
    for word in words:
        assert word in found.why, found.why
    assert worker.do(bad("well", "still"), NONE).result["given"] == "still"
    return found


@pytest.mark.parametrize(
    ("does", "given", "words"),
    [
        ("killed", int(signal.SIGKILL), ("was killed by SIGKILL",)),
        ("killed", int(signal.SIGSEGV), ("was killed by SIGSEGV",)),
        ("exits", 3, ("exited with code 3", "it last printed: going now")),
        ("exits", 0, ("exited with code 0",)),
    ],
)
def test_a_process_that_ends_costs_the_job_alone(worker, does, given, words):
    found = ends(worker, bad(does, given), "died", *words, "attempt 1 of 1")
    assert found.attempts == 1


@pytest.mark.parametrize(
    ("does", "given", "failure", "words"),
    [
        ("raises", "two\nlines", "raised", ("ValueError: two lines (misbehaving.py:",)),
        ("leaves", 3, "raised", ("SystemExit: 3",)),
        ("interrupts", None, "raised", ("KeyboardInterrupt",)),
        ("recurses", None, "raised", ("RecursionError",)),
        ("not_a_number", None, "raised", ("ValueError", "JSON")),
        ("an_object", None, "raised", ("TypeError", "object")),
        ("refuses", "too large: ask\nfor less", "refused", ("too large: ask for less",)),
        ("no_memory", None, "refused", ("MemoryError",)),
    ],
)
def test_what_a_job_raises_ends_no_process(worker, does, given, failure, words):
    worker.do(bad("well"), NONE)
    before = worker.pid
    found = ends(worker, bad(does, given), failure, *words, limits=Limits())
    assert (found.attempts, worker.pid) == (1, before)


@pytest.mark.parametrize("does", ["hangs", "holds_the_interpreter"])
def test_a_hang_ends_at_its_limit(worker, does):
    limits = Limits(seconds=0.3, retries=0)
    found = ends(worker, bad(does), "overdue", "over 0.3 s", limits=limits)
    assert 0.3 <= found.seconds < 60


def test_memory_of_numpy_is_held_and_starts_again_with_every_job(worker):
    limits = Limits(memory_bytes=400 * _MIB, retries=0)
    ends(worker, bad("eats", 4096 * _MIB), "memory", "MiB, over 400.0 MiB", limits=limits)
    high = worker.do(bad("peaks", 200 * _MIB), NONE).result["peak"]
    low = worker.do(bad("peak_now"), NONE).result["peak"]
    assert high > 200 * _MIB > 150 * _MIB > low > 0


def test_what_is_printed_stays_there(worker, capfd):
    worker.do(bad("well"), NONE)
    before = worker.pid
    assert worker.do(bad("prints", 5000), NONE).result == {"printed": 5000}
    assert worker.pid == before
    assert capfd.readouterr() == ("", "")


def test_large_and_foreign_text_comes_back_as_it_was(worker):
    assert len(worker.do(bad("large", 20 * _MIB), NONE).result["text"]) == 20 * _MIB
    for text in ("κόσμε 🎲\u2028\x00\x1f", "a\ud800b", "z" * _MIB, "line\nline"):
        assert worker.do(bad("well", text), NONE).result["given"] == text


def test_retries_are_counted(worker, tmp_path):
    found = worker.do(bad("once", str(tmp_path / "there")), Limits(retries=2))
    assert (found.result, found.attempts, found.failure) == ({"there": True}, 2, None)
    found = worker.do(bad("exits", 7), Limits(retries=1))
    assert (found.failure, found.attempts) == ("died", 2)
    assert "attempt 2 of 2" in found.why


def test_one_that_is_killed_while_it_waits_is_started_again_and_no_attempt(worker):
    worker.do(bad("well"), NONE)
    os.kill(worker.pid, signal.SIGKILL)
    assert gone([worker.pid])
    found = worker.do(bad("well", 1), NONE)
    assert (found.result["given"], found.attempts) == (1, 1)


def test_its_surroundings_are_its_own(worker, monkeypatch):
    """One thread for BLAS and Numba, the same hashes, no Ctrl-C of the terminal."""
    for name in ("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "2")
    worker.close()
    wanted = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    for name, value in wanted.items():
        assert worker.do(bad("environment", name), NONE).result == {"value": value}
        assert os.environ[name] == "2"
    before = worker.pid
    os.kill(before, signal.SIGINT)
    assert worker.do(bad("well"), NONE).result["pid"] == before == os.getsid(before)


def test_its_own_start_is_not_part_of_a_job(worker):
    worker.close()
    assert worker.do(bad("well"), Limits(seconds=0.25, retries=0)).failure is None


def test_a_process_that_cannot_start_is_one_line(monkeypatch):
    monkeypatch.setattr("hardness.sweep.pool._begin", exits_at_once)
    with nothing_left():
        worker = Worker(answer)
        found = worker.do(bad("well"), NONE)
        worker.close()
    assert (found.failure, found.attempts) == ("died", 1)
    assert "its process ended" in found.why


def exits_at_once(*_):
    os._exit(1)


# Engines of several


@pytest.fixture(scope="module")
def directly():
    """What the same runs give without any engine."""
    found = []
    for payload in runs():
        job = read_job(json.loads(payload))
        found.append((job.key, json.loads(json.dumps(job.do()))["risk"]))
    return found


def test_runs_are_the_same_here_and_on_one_worker_or_two(directly):
    with nothing_left():
        with local(1) as engine:
            one = done(engine, runs(), size=6)
        with local(2) as engine:
            two = done(engine, runs())
    assert [(f.key, f.result["risk"]) for f in one] == directly
    assert [timeless(f) for f in one] == [timeless(f) for f in two]
    assert len({f.where for f in one}) == 1 < len({f.where for f in two}) == 2


def test_neighbours_of_what_dies_hangs_and_eats_are_unharmed():
    limits = Limits(seconds=3.0, memory_bytes=300 << 20, retries=1)
    given = [bad("well", i) for i in range(20)]
    given[3], given[8], given[13] = bad("killed", 9), bad("hangs"), bad("eats", 1 << 32)
    with nothing_left(), local(2, answer) as engine:
        found = done(engine, given, limits, size=4)
    failures = {3: "died", 8: "overdue", 13: "memory"}
    assert [f.failure for f in found] == [failures.get(i) for i in range(20)]
    assert [f.result["given"] for i, f in enumerate(found) if i not in failures] == [
        i for i in range(20) if i not in failures
    ]
    assert {found[i].attempts for i in failures} == {2}


def test_abort_drops_what_waits_and_ends_what_runs():
    with nothing_left(), local(2, answer) as engine:
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


def test_leaving_ends_what_runs():
    with nothing_left(), local(2, answer) as engine:
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


# Drivers that are killed


@pytest.fixture
def driver():
    """Start a driver; give it and the processes below it once there are so many."""
    started = []

    def start(engine, payloads, processes):
        arguments = [sys.executable, "-m", "tests.hardness.sweep.driver", engine]
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


# Besides the workers there is Python's tracker of resources.


def test_kill_9_of_the_driver_leaves_nothing(driver):
    process, found = driver("local", [bad("holds_the_interpreter"), bad("hangs")], 3)
    process.kill()
    assert gone(found, within=20)


def test_kill_9_of_the_driver_ends_learners_from_files(driver):
    # A worker, the first process and the learner each, in a namespace bubblewrap too.
    each = 4 if level() == "bubblewrap" else 3
    process, found = driver("local", [from_file("Sleep"), from_file("Loop")], 1 + 2 * each)
    process.kill()
    assert gone(found, within=20)


def test_an_interrupt_of_the_driver_leaves_nothing(driver):
    process, found = driver("local", [bad("well"), bad("hangs")], 3)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert gone(found, within=20)


def test_a_learner_from_a_file_ends_with_its_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    limits = Limits(seconds=1.5, retries=0)
    with local(1) as engine:
        found = done(engine, [from_file("Sleep")], limits)
        assert found[0].failure == "overdue"
        until = time.monotonic() + 5
        while (left := list(tmp_path.iterdir())) and time.monotonic() < until:
            time.sleep(0.02)
        assert left == []
