"""Worker processes: whatever a job does it ends, with what happened; nothing is left at the end."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from hardness.learners.boundary import below, sandboxed
from hardness.oracles import Budget
from hardness.runs import planned, processes, run
from hardness.runs.processes import Aborted, HardLimits, Worker, execute
from hardness.runs.registry import parse_learner
from hardness.sweep.pool import attempt, local
from instances.errors import ToolkitError
from instances.spec import parse
from tests.hardness.sweep.misbehaving import answer, bad
from tests.hardness.sweep.seen import (
    NONE,
    from_file,
    nothing_left,
    require_neighbours_unharmed,
    wait_until_gone,
)
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
_MIB = 1 << 20


class Bad(Worker):
    """A worker that does jobs which misbehave."""

    def do(self, payload, limits=NONE):
        return attempt(self, payload, limits, answer=answer)


@pytest.fixture(scope="module")
def worker():
    one = Bad()
    yield one
    one.close()


ENDS = [  # what a job does, given what, how that ends, in which words, at which limits
    ("killed", int(signal.SIGKILL), "died", "its process was killed by SIGKILL", {}),
    ("exits", 3, "died", "its process exited with code 3 after .*; it last printed: going", {}),
    ("holds_the_interpreter", None, "overdue", "it took over 0.3 s", {"seconds": 0.3}),
    ("eats", 500 * _MIB, "memory", "it held .* MiB, over 400.0", {"memory_bytes": 400 * _MIB}),
    ("raises", "ValueError: two\nlines", "raised", r"ValueError: two lines \(misb", {}),
    ("leaves", 3, "raised", "SystemExit: 3", {}),
    ("not_a_number", None, "raised", "ValueError: Out of range float values are not JSON", {}),
    ("raises", "ToolkitError: ask\nfor less", "refused", "ask for less", {}),
]


@pytest.mark.parametrize(("does", "given", "failure", "words", "limits"), ENDS)
def test_whatever_a_job_does_ends_with_what_happened(worker, does, given, failure, words, limits):
    worker.do(bad("well"))
    before, payload = worker.pid, bad(does, given)
    found = worker.do(payload, HardLimits(**limits))
    assert (found.failure, found.result) == (failure, None)
    assert re.match(words, found.why), found.why
    assert "\n" not in found.why
    assert worker.do(bad("well", "still")).result["given"] == "still"
    assert (worker.pid == before) is (failure in ("raised", "refused"))


def test_what_is_printed_stays_there_and_results_come_back_as_they_were(worker, capfd):
    worker.do(bad("well"))
    before = worker.pid
    assert worker.do(bad("prints", 5000)).result == {"printed": 5000}
    for text in ("y" * (20 * _MIB), "κόσμε 🎲\u2028\x00\x1f", "a\ud800b", "line\nline"):
        assert worker.do(bad("well", text)).result["given"] == text
    assert worker.pid == before
    assert capfd.readouterr() == ("", "")


def test_retries_are_counted(worker, tmp_path):
    found = worker.do(bad("once", str(tmp_path / "there")), HardLimits(retries=2))
    assert (found.result, found.attempts, found.failure) == ({"there": True}, 2, None)
    found = worker.do(bad("exits", 7), HardLimits(retries=1))
    assert (found.failure, found.attempts) == ("died", 2)
    worker.do(bad("well"))
    os.kill(worker.pid, signal.SIGKILL)  # while it waits, which is no attempt
    wait_until_gone([worker.pid])
    found = worker.do(bad("well", 1))
    assert (found.result["given"], found.attempts) == (1, 1)


def test_its_surroundings_are_its_own(worker, monkeypatch):
    """One thread for BLAS and Numba, the same hashes, no Ctrl-C of the terminal."""
    for name in ("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "2")
    worker.close()
    wanted = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    for name, value in wanted.items():
        assert worker.do(bad("environment", name)).result == {"value": value}
        assert os.environ[name] == "2"
    before = worker.pid
    os.kill(before, signal.SIGINT)
    assert worker.do(bad("well")).result["pid"] == before == os.getsid(before)


def test_a_process_that_cannot_start_is_one_line(monkeypatch):
    monkeypatch.setattr(processes, "_begin", exits_at_once)
    with nothing_left():
        worker = Bad()
        found = worker.do(bad("well"))
        worker.close()
    assert (found.failure, found.attempts) == ("died", 1)
    assert "its process ended" in found.why


def exits_at_once(*_):
    os._exit(1)


# Engines of several


def test_neighbours_of_what_dies_hangs_and_eats_are_unharmed():
    with nothing_left(), local(2, answer) as engine:
        require_neighbours_unharmed(engine)


@pytest.mark.parametrize("told", [True, False])
def test_abort_and_leaving_drop_what_waits_and_end_what_runs(told, tmp_path):
    given = [bad("hangs", str(tmp_path / str(i))) for i in range(5)]
    with nothing_left(), local(2, answer) as engine:
        tasks = [engine.submit([one]) for one in given]
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        if told:
            engine.abort()
            for task, one in zip(tasks, given, strict=True):
                with pytest.raises(Aborted):
                    engine.collect(task, [one])
            with pytest.raises(ToolkitError):
                engine.submit([bad("well")])


# Drivers that are killed


@pytest.fixture
def driver():
    """Start a driver; give it and the processes below it once there are so many."""
    started = []

    def start(engine, payloads, processes):
        arguments = [sys.executable, "-m", "tests.hardness.sweep.driver", engine]
        process = subprocess.Popen([*arguments, *payloads], stderr=subprocess.PIPE)
        started.append(process)
        wait_for(lambda: len(below(process.pid)) >= processes)
        found = below(process.pid)
        assert len(found) == processes
        return process, found

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_kill_9_of_the_driver_leaves_nothing_of_learners_from_files_either(driver):
    # Python's tracker of resources, two workers, a learner, in a sandbox two of bubblewrap too.
    more = 3 if sandboxed() else 1
    given = [bad("holds_the_interpreter"), from_file("sleep")]
    process, found = driver("local", given, 3 + more)
    process.kill()
    wait_until_gone(found)


def kill(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_one_line():
    with pytest.raises(ToolkitError, match="a worker process was killed, by the system"):
        list(execute(kill, range(8), jobs=2))


def test_getting_ready_runs_what_can_run_and_passes_over_the_rest(monkeypatch):
    asked, learn_once = [], planned.learn_once

    def noted(learner, *rest):
        asked.append(learner.name)
        done = learn_once(learner, *rest)
        asked.append("ran")
        return done

    monkeypatch.setattr(planned, "_warm", set())
    monkeypatch.setattr(planned, "learn_once", noted)
    for _ in range(2):
        planned.warm("parity:d=8,m=2", ("elimination", "primal", "no-such-file.py:Name"))
    assert asked == ["elimination", "ran", "primal"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a peak cannot start again")
def test_the_peak_of_a_run_does_not_hold_what_was_freed_before_it():
    instance, learner = parse("parity:d=8,m=2").instance(0), parse_learner("trivial")
    block = np.ones(1 << 25)  # 256 MiB
    with_it = run(learner, instance, Budget(examples=100), seed=0).usage.peak_bytes
    del block
    after = run(learner, instance, Budget(examples=100), seed=0).usage.peak_bytes
    assert after < with_it - (1 << 27)
