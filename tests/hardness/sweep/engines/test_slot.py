"""A slot: whatever its child does, the job ends, with what happened, and the next one is done."""

import os
import signal
import sys
import threading
import time

import pytest

from hardness.sweep.engines import Aborted, Limits, Slot, tree
from hardness.sweep.engines.finished import key_of
from tests.hardness.sweep.engines.seen import NONE, alive, bad, gone, nothing_left, slot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
_MIB = 1 << 20


@pytest.fixture(scope="module")
def shared():
    with nothing_left(), slot() as one:
        assert one.pid is None  # nothing is started before it is needed
        yield one


def ends(one, payload, failure, *words, limits=NONE):
    """The job ends with this failure, and the slot goes on."""
    found = one.do(payload, limits)
    assert (found.failure, found.result, found.key) == (failure, None, key_of(payload))
    assert "\n" not in found.why
    for word in words:
        assert word in found.why, found.why
    assert one.do(bad("well", "still"), NONE).result["given"] == "still"
    return found


@pytest.mark.parametrize(
    ("does", "given", "words"),
    [
        ("killed", int(signal.SIGKILL), ("killed by SIGKILL",)),
        ("killed", int(signal.SIGSEGV), ("killed by SIGSEGV",)),
        ("exits", 3, ("exited with code 3", "it last printed: going now")),
        ("exits", 0, ("exited with code 0",)),
        ("closes", None, ("closed the connection",)),
        ("answers_badly", "what\n", ("cannot be read",)),
        ("answers_badly", '{"result": 3}\n', ("cannot be read",)),
        ("breaks_off", '{"result": {"a"', ("exited with code 0",)),
        ("no_record", None, ("cannot be read",)),
    ],
)
def test_a_process_that_ends_costs_the_job_alone(shared, does, given, words):
    found = ends(shared, bad(does, given), "died", *words, "attempt 1 of 1")
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
def test_what_a_job_raises_ends_no_process(shared, does, given, failure, words):
    shared.do(bad("well"), NONE)
    before = shared.pid
    found = ends(shared, bad(does, given), failure, *words, limits=Limits())
    assert (found.attempts, shared.pid) == (1, before)


def test_a_hang_ends_at_its_limit(shared):
    found = ends(
        shared, bad("hangs"), "overdue", "over 0.3 s", limits=Limits(seconds=0.3, retries=0)
    )
    assert 0.3 <= found.seconds < 60
    ends(shared, bad("holds_the_interpreter"), "overdue", limits=Limits(seconds=0.2, retries=0))


def test_memory_is_held_and_starts_again_with_every_job(shared):
    limits = Limits(memory_bytes=400 * _MIB, retries=0)
    ends(shared, bad("eats", 4096 * _MIB), "memory", "MiB, over 400.0 MiB", limits=limits)
    high = shared.do(bad("peaks", 200 * _MIB), NONE).result["peak"]
    low = shared.do(bad("peak_now"), NONE).result["peak"]
    assert high > 200 * _MIB > 150 * _MIB > low > 0


def test_prints_do_not_reach_the_conversation(shared, capfd):
    shared.do(bad("well"), NONE)
    before = shared.pid
    assert shared.do(bad("prints", 5000), NONE).result == {"printed": 5000}
    assert shared.pid == before
    assert capfd.readouterr() == ("", "")


def test_large_and_foreign_text_comes_back_as_it_was(shared):
    assert len(shared.do(bad("large", 20 * _MIB), NONE).result["text"]) == 20 * _MIB
    for text in ("κόσμε 🎲\u2028\x00\x1f", "a\ud800b", "z" * _MIB, "line\nline"):
        assert shared.do(bad("well", text), NONE).result["given"] == text


def test_a_payload_may_have_lines_of_its_own(shared):
    assert shared.do(bad("well").replace(", ", ",\n"), NONE).failure is None


def test_retries_are_counted(shared, tmp_path):
    found = shared.do(bad("once", str(tmp_path / "there")), Limits(retries=2))
    assert (found.result, found.attempts, found.failure) == ({"there": True}, 2, None)
    found = shared.do(bad("exits", 7), Limits(retries=1))
    assert (found.failure, found.attempts) == ("died", 2)
    assert "attempt 2 of 2" in found.why


def test_its_children_end_with_it(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "_TIDYING", 0.3)
    file = tmp_path / "pids"
    found = shared.do(bad("has_children", str(file)), Limits(seconds=0.5, retries=0))
    assert found.failure == "overdue"
    assert gone(map(int, file.read_text().split()), within=0.1)


def test_who_is_killed_while_it_waits_is_started_again_and_no_attempt(shared):
    shared.do(bad("well"), NONE)
    os.kill(shared.pid, signal.SIGKILL)
    shared._child.wait(10)  # all of its threads: one that is left keeps the process a little
    found = shared.do(bad("well", 1), NONE)
    assert (found.result["given"], found.attempts) == (1, 1)


def test_interrupts_of_the_terminal_do_not_reach_it(shared):
    shared.do(bad("well"), NONE)
    before = shared.pid
    os.kill(before, signal.SIGINT)
    assert shared.do(bad("well"), NONE).result["pid"] == before
    assert os.getsid(before) == before


def test_abort_ends_what_runs_and_counts_nothing():
    with nothing_left(), slot() as one:
        one.do(bad("well"), NONE)
        threading.Timer(0.2, one.abort).start()
        start = time.monotonic()
        with pytest.raises(Aborted):
            one.do(bad("hangs"), Limits(retries=5))
        assert time.monotonic() - start < 60
        assert one.do(bad("well", 2), NONE).result["given"] == 2


def test_its_own_start_is_not_part_of_a_job():
    with nothing_left(), slot() as one:
        assert one.do(bad("well"), Limits(seconds=0.25, retries=0)).failure is None


def test_a_slot_that_is_forgotten_leaves_nothing():
    with nothing_left():
        one = Slot((sys.executable, "-c", "import time; print('{}', flush=True); time.sleep(100)"))
        assert one.do(bad("well"), Limits(seconds=0.1, retries=0)).failure == "overdue"
        one.do(bad("well"), Limits(seconds=0.1, retries=0))
        pid = one._ready(0).pid
        assert alive(pid)
        del one
        assert gone([pid])


def test_what_cannot_be_started_is_said():
    with nothing_left():
        found = Slot(("/nowhere/python",)).do(bad("well"), NONE)
        assert found.failure == "died"
        assert "no process could be started: No such file or directory" in found.why
        found = Slot((sys.executable, "-c", "import no_such_module")).do(bad("well"), NONE)
        assert "exited with code 1" in found.why
        assert "ModuleNotFoundError: No module named 'no_such_module'" in found.why
