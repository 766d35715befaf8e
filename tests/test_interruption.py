"""Commands that are cut: one line, exit code 130, what was finished is kept and no more."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardness.api import progress
from hardness.runs import read_runs
from tests.waiting import wait_for

SIGNALLED = """
import os, signal, sys
import cli
from instances.family import Instance

def signalled(*arguments, **more):
    try:
        os.kill(os.getpid(), signal.{number})
        while True:  # work that only the signal ends
            pass
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.{number})  # while what is finished is written: once is enough
        raise

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell's `&`
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and below `nohup`
Instance.examples = signalled
cli.main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize(
    ("number", "line"),
    [
        ("SIGINT", "compare parity:m=3 --over d=8..9 --learner elimination --jobs 1 --out x"),
        ("SIGTERM", "generate parity:d=8,m=3 --examples 10 --out x"),
        ("SIGHUP", "generate parity:d=8,m=3 --examples 10 --out x"),
    ],
)
def test_a_signal_that_ends_a_command_leaves_nothing_half_written(tmp_path, line, number):
    code = SIGNALLED.format(number=number)
    done = subprocess.run(
        [sys.executable, "-c", code, *line.split()],
        cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert done.stderr.strip() == "hardness: interrupted: nothing was left half-written"
    assert done.stdout == ""
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc")
def test_a_signal_during_a_comparison_ends_the_workers_too(tmp_path, interruptible):
    command = [
        sys.executable, "-m", "cli", "compare", "parity:m=3", "--over", "d=16..30", "--learner",
        "student:steps=1000000000", "--budget-seconds", "1e9", "--jobs", "2",
        "--out", str(tmp_path / "c"),
    ]  # fmt: skip
    with session(command, stdout=subprocess.PIPE) as started:
        wait_for(lambda: len(children(started.pid)) >= 3)
        family = children(started.pid)
        started.send_signal(signal.SIGTERM)
        out, err = started.communicate()
        wait_for(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()])
    assert started.returncode == 130
    assert err.strip() == "hardness: interrupted: nothing was left half-written"
    assert out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.slow
def test_ctrl_c_keeps_the_runs_that_were_finished(hardness, monkeypatch, interruptible):
    """The small sizes take milliseconds, the last one would take minutes."""
    finished = itertools.count(1)

    def count(done):
        if next(finished) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress, "counted", lambda *_: contextlib.nullcontext(count))
    found = hardness(
        "compare", "parity:m=6", "--over", "d=8,9,45", "--learner", "queries", "--seeds", 1,
        "--budget-seconds", "1e9", "--jobs", 2, "--out", "c",
    )  # fmt: skip
    assert found.code == 130
    found.one_line("interrupted", "2 runs are kept in c/runs.db: the same command goes on")
    kept = read_runs("c")
    assert [run.spec.split(",")[0] for run in kept.runs] == ["parity:d=8", "parity:d=9"]
    assert hardness("report", "c", "--out", "r.html").code == 0


@contextlib.contextmanager
def session(command, **more):
    """A command in a session of its own; nobody of it goes on beside the tests that follow."""
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, **more
    ) as started:
        try:
            yield started
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The processes of a process' session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[3] == str(pid):
                found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_or_closed_stdout_is_one_line():
    command = [sys.executable, "-m", "cli", "families"]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    closed = shell("families >&-")
    assert (closed.returncode, closed.stdout) == (1, "")
    assert closed.stderr == "hardness: stdout is closed: send it to a file or to /dev/null\n"


def shell(line, **more):
    """Run a command as a shell does, with its redirections."""
    command = ["/bin/sh", "-c", f"{sys.executable} -m cli {line}"]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | more)


@pytest.mark.slow
def test_a_closed_stderr_stops_no_command():
    """Also one that starts processes: nothing that they open takes the place of stderr."""
    version = shell("--version 2>&-")
    assert (version.returncode, version.stdout[:8]) == (0, "hardness")
    assert shell("certify parity:d=8 2>&-").returncode == 2
    made = "compare parity:d=8 --over m=2 --learner elimination --seeds 2 --jobs 2"
    closed = shell(f"{made} 2>&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    assert "2/2 solved" in closed.stdout


def test_what_the_encoding_of_stderr_lacks_is_named():
    env = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "cli", "certify", "β"], capture_output=True, env=env
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert rb"\N{GREEK SMALL LETTER BETA}" in done.stderr


def test_a_size_that_cannot_be_done_is_named_and_the_others_are_done(hardness):
    line = "compare parity:m=3 --over d=8,12,400 --learner lowdegree:degree=4 --seeds 1 --jobs 1"
    found = hardness(*line.split(), "--out", "c", "--json")
    assert found.code == 0
    ends = [run["outcome"] for run in found.json["runs"]]
    assert ends[-1] == "could not run"
    assert "memory" in found.json["runs"][-1]["details"]["reason"]
    assert "could not run" not in ends[:2]
    none = hardness(*line.replace("8,12,", "").split())
    assert none.code == 1
    none.one_line("memory")
