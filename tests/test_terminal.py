"""What is printed fits a terminal: 80 columns, plain where piped, colour that only decorates."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

import cli
import hardness as h
from hardness.api import progress
from hardness.cli.root import GROUPS, WELCOME
from hardness.oracles import clock
from hardness.report.text import laid_out
from tests.test_commands import COMMANDS
from tests.test_docs import PAGES, blocks

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


LWE = "lwe:n=6,q=31,sigma=1"
LONG = "lwr:n=64,q=256,p=2,secret=binary,h=6"
SWEEP = """\
name = "a sweep with a long name, which is cut where it has to be"
seeds = 1
[budget]
examples = 2000
[[grid]]
specs = "parity:m=2"
over = { d = [8, 10], noise = [0, 0.1] }
learners = ["elimination", "lowdegree:degree=2,oversample=9", "student:steps=20,rate=0.1"]
"""
TINY = "--d 2 --n 4 --layers 1"
# What no page of `make test` shows, and what is longer than there.
REST = (
    f"generate {LWE},secret=gaussian,spread=1 --examples 90 --out lwe",
    "reduce attention-to-lwr lwe --out samples.npz",
    "reduce lwr-to-attention samples.npz --out x",
    *(f"certify {LONG}", f"estimate {LONG}"),
    "certify parity:d=1001,m=20,noise=0.1 --about all --steps 1e9",
    "attack lwe:n=6,q=31,error=cbd,eta=1 --learner trivial --learner mlp:steps=2 --seeds 1",
    "distinguish student:steps=20,rate=0.05 parity:d=8,m=2 --trials 2",
    "compare lwr:q=16,p=2,secret=binary,h=3 --over n=5,6 --learner student:steps=20,rate=0.05 "
    "--learner mlp:steps=2,width=20 --learner bruteforce:samples=300 --seeds 1",
    "compare profile:g=majority,m=3 --over d=8,1001 --learner none",
    f"stress --learner trivial --learner elimination --on {LWE} --on {LONG} --seeds 2",
    *("sweep s.toml --dry-run", "sweep s.toml --out s.db", "report s.db"),
    f"icl train {TINY} --steps 3 --samples 16",
    f"icl curves {TINY} --steps 3 --samples 16",
)


@pytest.mark.slow
def test_what_no_page_shows_reads_well_too(hardness):
    Path("s.toml").write_text(SWEEP)
    for line in REST:
        found = hardness(*line.split(), "--jobs", 1)
        assert (found.code, found.err) == (0, ""), line
        found.reads_well()


def test_every_command_is_shown_somewhere():
    shown = [line for page in PAGES for line, _ in blocks(page)] + [f"hardness {x}" for x in REST]
    lost = [path for path in COMMANDS if not any(f"hardness {path} " in f"{x} " for x in shown)]
    assert set(lost) <= {"demo"}  # of which `make demo` is shown


def test_the_first_screen_names_five_commands_that_are_there(hardness):
    found = hardness()
    assert (found.code, found.out) == (0, WELCOME + "\n")
    lines = found.out.splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("  hardness ")]
    assert len(commands) == 5
    for command in commands:
        assert hardness(*command, "--help").code == 0


def test_help_lists_every_command_in_one_group(hardness):
    listed = re.findall(r"^  ([a-z]+) ", hardness("--help").out, re.M)
    assert sorted(listed) == sorted(cli.cli.commands)
    assert all(f"\n{title}:\n" in hardness("--help").out for title in GROUPS)


def test_options_are_shown_where_they_do_something_and_taken_everywhere(hardness):
    assert "--seed" not in hardness("check", "--help").out
    assert "--jobs" not in hardness("learn", "--help").out
    assert "--jobs" in hardness("attack", "--help").out
    plain = hardness("families").out
    assert hardness("families", "--seed", 3, "--jobs", 2, "--quiet", "--force").out == plain


def on_terminal(command: str, columns: int = 80, **environment: str) -> str:
    """What a command writes to a terminal."""
    driver, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "COLUMNS")}
    child = subprocess.Popen(
        [sys.executable, "-c", "import cli; cli.main()", *command.split()],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
        env={**kept, "TERM": "xterm", **environment},
    )
    os.close(terminal)
    found = b""
    try:
        while more := os.read(driver, 1 << 16):
            found += more
    except OSError:  # the other end is closed, as Linux says it
        pass
    os.close(driver)
    assert child.communicate()[1] == b""
    assert child.returncode == 0
    return found.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_colour_on_a_terminal_is_the_same_text(hardness):
    command = "certify parity:d=6,m=1 --about gd --steps 9 --noise-std 100"
    piped = hardness(*command.split()).out
    shown = on_terminal(command)
    assert ESCAPE.sub("", shown) == piped
    if "vacuous" in piped:
        assert "\x1b[0;2mvacuous" in shown
    listed = on_terminal("stress --list")
    assert listed.startswith("\x1b[0;1mladder")
    assert on_terminal("stress --list", NO_COLOR="1") == ESCAPE.sub("", listed)
    assert on_terminal("stress --list", TERM="dumb") == ESCAPE.sub("", listed)
    assert on_terminal("stress --list", NO_COLOR="") == listed


@pytest.mark.parametrize(
    ("call", "marked"),
    [
        (lambda: h.learn("elimination", "parity:d=8,m=2"), ["solved"]),
        (lambda: h.learn("trivial", "parity:d=8,m=2"), []),
        (lambda: h.check(h.certify("parity:d=8,m=2")), ["accepted"]),
        (lambda: h.certify("parity:d=8,m=3"), ["quantity", "vacuous"]),
        (lambda: h.list_learners("show", "elimination"), ["parameter"]),
    ],
)
def test_what_is_coloured(call, marked):
    found = call()
    shown = found.text(80, colour=True)
    assert ESCAPE.sub("", shown) == found.text() == repr(found)
    words = re.findall(r"\x1b\[[0-9;]*[1-9]m([^\x1b ]*)", shown)
    assert words[: len(marked)] == marked
    assert set(words) <= set(marked)


def test_what_others_wrote_is_neither_coloured_nor_cut():
    spec = "parity:d=" + "8" * 90
    told = f"\x1b[31mred {spec}\nname  {spec} and more words than those of a title of five"
    shown = laid_out(told, 40, colour=True)
    assert "\x1b" not in shown
    assert shown.count(spec) == 2


@pytest.mark.parametrize("module", ["click", "hardness.api.instances", "numpy"])
def test_an_interrupt_while_modules_are_imported_is_one_line(module):
    """As Ctrl-C in the first moments of a command: whatever is being imported then."""
    code = f"""
import sys

class Cut:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Cut())
from cli import main
main(["inspect", "parity:d=8,m=2"])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr.lstrip("\n") == "hardness: interrupted: nothing was left half-written\n"


def test_a_log_has_a_line_every_30_seconds_with_the_time_left(capfd, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(clock, "now", lambda: now[0])
    monkeypatch.setattr(progress, "_LOG_SECONDS", 30.0)
    monkeypatch.setattr(progress, "_TICK", threading.TIMEOUT_MAX)
    with progress.showing(True), progress.counted(100, "running") as bar:
        for _ in range(100):
            now[0] += 1
            bar(1)
    assert capfd.readouterr().err.splitlines() == [
        "running: 30 of 100, 30 s so far, about 1 min 10 s left",
        "running: 60 of 100, 1 min 0 s so far, about 40 s left",
        "running: 90 of 100, 1 min 30 s so far, about 10 s left",
    ]
    with progress.showing(False), progress.counted(2, "running") as bar:
        now[0] += 99
        bar(1)
    assert capfd.readouterr().err == ""
