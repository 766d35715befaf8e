"""Bad input: one clear line, the right exit code, nothing lost or half-written."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardness.runs import Comparison
from hardness.verbs import progress
from tests.waiting import wait_for

FOREIGN = [
    '{"a": ' + "1" * 5000 + "}",
    "",
    "{",
    "[1]",
    "null",
    '{"format": "other/1"}',
    "\x00\x01",
    "[" * 100_000,
]


@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize("line", ["check f.json", "report f.json --out r.html", "verify f.json"])
def test_damaged_and_foreign_files_are_refused(hardness, line, text):
    Path("f.json").write_text(text)
    found = hardness(*line.split())
    assert found.code in (1, 2)
    found.one_line("f.json" if "verify" not in line else "hardness: ")
    assert [p.name for p in Path().iterdir()] == ["f.json"]


def test_a_truncated_certificate_is_refused(hardness):
    whole = hardness("certify", "parity:d=8,m=3", "--json").out
    for part in (1, 10, len(whole) // 2, len(whole) - 3):
        Path("c.json").write_text(whole[:part])
        found = hardness("check", "c.json")
        assert found.code == 1
        found.one_line("c.json")


@pytest.mark.parametrize(
    "line",
    [
        "certify parity:d=8,m=3 --out f",
        "check c.json --out f",
        "verify parity:d=8,m=3 --samples 1000 --out f",
        "learn elimination parity:d=8,m=3 --out f",
        "inspect parity:d=8,m=3 --out f",
        "report c --out f",
        "generate parity:d=8,m=3 --out f",
        "compare parity:m=2 --over d=6 --out f",
        "map parity:d=8,m=2,noise=0.1 --learner restricted --out f",
    ],
)
def test_an_output_that_exists_is_kept_unless_forced(hardness, line):
    if line.startswith("check"):
        hardness("certify", "parity:d=8,m=3", "--out", "c.json")
    if line.startswith("report"):
        hardness("compare", "parity:m=2", "--over", "d=6", "--learner", "elimination", "--out", "c")
    Path("f").write_text("precious")
    found = hardness(*line.split())
    assert found.code == 1
    found.one_line("f", "kept")
    assert Path("f").read_text() == "precious"


def test_force_replaces_files_and_only_own_folders(hardness):
    Path("f").write_text("old")
    assert hardness("certify", "parity:d=8,m=3", "--out", "f", "--force").code == 0
    assert json.loads(Path("f").read_text())["about"]["spec"] == "parity:d=8,m=3,noise=0,rho=3"
    Path("d").mkdir()
    Path("d/thesis").write_text("precious")
    found = hardness("generate", "parity:d=8,m=3", "--out", "d", "--force")
    assert found.code == 1
    found.one_line("not ours")
    assert Path("d/thesis").read_text() == "precious"


def test_a_secret_given_for_a_public_file(hardness):
    hardness("generate", "parity:d=8,m=3", "--out", "x")
    for line in ("verify", "inspect", "certify", "learn elimination"):
        found = hardness(*line.split(), "x/secret.json")
        assert found.code == 2
        found.one_line("secret part")
    found = hardness("check", "x/secret.json")
    assert found.code == 1
    found.one_line("no certificate")


def test_a_folder_with_a_damaged_shard(hardness):
    hardness("generate", "parity:d=8,m=3", "--examples", 100, "--out", "x")
    shard = Path("x/examples-00000.safetensors")
    shard.write_bytes(shard.read_bytes()[:-1])
    for line in ("verify", "learn elimination"):
        found = hardness(*line.split(), "x")
        assert found.code == 1
        found.one_line("examples-00000")


def test_queries_need_the_secret_part(hardness):
    hardness("generate", "parity:d=8,m=3", "--examples", 100, "--out", "x")
    Path("x/secret.json").unlink()
    found = hardness("learn", "queries", "x")
    assert found.code == 1
    found.one_line("secret part")
    assert hardness("learn", "elimination", "x", "--json").json["outcome"] == "not judged"


def test_interruption_exits_130_and_leaves_nothing(hardness, monkeypatch):
    from instances.family import Instance

    def stop(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(Instance, "examples", stop)
    found = hardness("generate", "parity:d=8,m=3", "--examples", 10, "--out", "x")
    assert found.code == 130
    assert found.err.strip() == "hardness: interrupted: nothing was left half-written"
    assert not list(Path().iterdir())


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
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    "line",
    [
        "generate parity:d=8,m=3 --examples 10 --out x",
        "compare parity:m=3 --over d=8..9 --learner elimination --jobs 1 --out x",
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


def test_a_signal_while_an_error_is_said_ends_the_command_too(hardness, monkeypatch):
    monkeypatch.setattr("cli._pointed", lambda error: signal.raise_signal(signal.SIGTERM))
    found = hardness("learn")
    assert found.code == 130
    found.one_line("interrupted")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_comparison_ends_the_workers_too(tmp_path, interruptible, number):
    command = [
        sys.executable, "-m", "cli", "compare", "parity:m=3", "--over", "d=16..30", "--learner",
        "student:steps=1000000000", "--budget-seconds", "1e9", "--jobs", "2",
        "--out", str(tmp_path / "c"),
    ]  # fmt: skip
    with session(command, stdout=subprocess.PIPE) as started:
        wait_for(lambda: len(children(started.pid)) >= 3)
        family = children(started.pid)
        started.send_signal(number)
        out, err = started.communicate()
        wait_for(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()])
    assert started.returncode == 130
    assert err.strip() == "hardness: interrupted: nothing was left half-written"
    assert out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_the_sizes_that_were_finished(hardness, monkeypatch, jobs, interruptible):
    """The small sizes take milliseconds, the last one would take minutes."""
    finished = itertools.count(1)

    def count(done):
        if next(finished) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress, "counted", lambda *_: contextlib.nullcontext(count))
    found = hardness(
        "compare", "parity:m=6", "--over", "d=8,9,45", "--learner", "queries", "--seeds", 1,
        "--budget-seconds", "1e9", "--jobs", jobs, "--out", "c",
    )  # fmt: skip
    assert found.code == 130
    found.one_line("interrupted", "2 of 3 sizes were finished and are kept in")
    kept = Comparison.load("c/results.json")
    assert [*kept.values] == [8, 9]
    assert len(kept.runs) == 2
    assert Path("c/report.html").exists()


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


def test_a_comparison_is_not_taken_for_a_demo(hardness):
    made = ("compare", "parity:m=2", "--over", "d=6", "--learner", "elimination", "--out", "c")
    hardness(*made)
    before = Path("c/results.json").read_bytes()
    found = hardness("demo", "--out", "c")
    assert found.code == 1
    found.one_line("no demo made")
    assert Path("c/results.json").read_bytes() == before
    Path("c/thesis.tex").write_text("precious")
    found = hardness(*made, "--force")
    assert found.code == 1
    found.one_line("thesis.tex", "not ours")
    assert Path("c/thesis.tex").exists()
    found = hardness("demo", "--out", "c/thesis.tex")
    assert found.code == 1
    found.one_line("is a file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_or_closed_stdout_is_one_line(tmp_path):
    command = [sys.executable, "-m", "cli", "families"]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    closed = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m cli families >&-"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert closed.returncode == 1
    assert "Traceback" not in closed.stderr


def test_an_output_that_cannot_be_written_is_said_before_the_work(hardness, monkeypatch):
    from hardness.upper.modlinear import Elimination

    Path("file").write_text("x")
    monkeypatch.setattr(Elimination, "learn", lambda *a: pytest.fail("ran"))
    for line in (
        "certify parity:d=8,m=3 --out file/x.json",
        "learn elimination parity:d=8,m=2 --out file/x",
        "compare parity:m=2 --over d=6 --learner elimination --jobs 1 --out file/x/y",
        "demo --jobs 1 --out file/x",
    ):
        found = hardness(*line.split())
        assert found.code == 1
        found.one_line("file/x", "cannot be written")


def test_a_comparison_keeps_what_was_finished_when_a_size_cannot_be_done(hardness):
    found = hardness(
        "compare", "parity:m=3", "--over", "d=8,12,400", "--learner", "lowdegree:degree=4",
        "--seeds", 1, "--jobs", 1, "--out", "c",
    )  # fmt: skip
    assert found.code == 1
    found.one_line("memory", "2 of 3 sizes were finished and are kept in c")
    assert hardness("report", "c", "--out", "r.html").code == 0


def test_a_users_own_certificate_is_not_taken_for_the_demos(hardness):
    Path("out").mkdir()
    Path("out/results.json").write_text(
        '{"format": "hardness-results/2", "command": "hardness demo"}'
    )
    hardness("certify", "parity:d=9,m=2", "--out", "out/certificate.json")
    before = Path("out/certificate.json").read_bytes()
    found = hardness("demo")
    assert found.code == 1
    found.one_line("no demo made")
    assert Path("out/certificate.json").read_bytes() == before


def test_a_misspelt_learner_is_wrong_usage(hardness):
    Path("mine.py").write_text("def fine(x, y):\n    return None\n")
    found = hardness("learn", "mine.py:fin", "parity:d=8,m=2")
    assert found.code == 2
    found.one_line("unknown name 'fin': did you mean 'fine'?")


def test_a_folder_in_place_of_a_file(hardness):
    Path("both").mkdir()
    found = hardness("check", "both")
    assert found.code == 1
    found.one_line("both is a folder: give the name of a file")


def test_a_file_of_another_command_names_the_one_that_is_wanted(hardness):
    hardness("certify", "parity:d=8,m=2", "--out", "c.json")
    found = hardness("report", "c.json", "--out", "r.html")
    assert found.code == 1
    found.one_line("is wanted, which `hardness compare` writes")
