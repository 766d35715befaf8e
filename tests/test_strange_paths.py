"""Whatever a path is, a pipe, a device, a folder, every command that reads it ends in one line."""

import json
import os
from pathlib import Path

import pytest

FIGURES = ("scaling", "icl-curves", "stages", "phase", "least")
LINES = [
    "check {}",
    "report {} --out r.html",
    *(f"figure {name} {{}} --out f.svg" for name in FIGURES),
    "inspect {}",
    "learn queries {}",
    "sweep {} --out m.db",
]


@pytest.mark.parametrize("line", LINES)
def test_no_kind_of_path_is_waited_for_or_a_traceback(hardness, line):
    os.mkfifo("fifo")
    Path("folder").mkdir()
    for name in ("results.json", "instance.json", "secret.json"):
        os.mkfifo(f"folder/{name}")
    Path("empty").touch()
    for path in ("fifo", "folder", "empty", "/dev/zero", "none"):
        found = hardness(*line.replace("{}", path).split())
        assert found.code in (1, 2), (path, found.out)
        found.one_line()


DIGITS = "9" * 4000


@pytest.mark.parametrize("value", [DIGITS, f"0.{DIGITS}", "9" * 5000, f'"{DIGITS}"'])
def test_numbers_of_4000_digits_in_toml_are_one_short_line(hardness, value):
    lines = ['name = "few"', "[[grid]]", 'specs = "parity:d=8,m=2"']
    lines += ['learners = ["queries"]', "seeds = 1", f"tau = {value}"]
    Path("x.toml").write_text("\n".join(lines))
    found = hardness("sweep", "x.toml", "--dry-run")
    assert found.code == 2
    found.one_line("s")
    assert len(found.err) < 300


def test_what_a_file_says_reaches_the_terminal_short_and_without_control(hardness):
    hostile = "\x1b[31m\u202e\n" + "x" * 100_000
    for data in (
        {"format": hostile},
        {"format": "hardness-certificate/1" + hostile},
        {"format": "hardness-transcript/1", hostile: 1},
        {"format": "hardness-certificate/1", "spec": hostile, "claims": [hostile]},
    ):
        Path("x.json").write_text(json.dumps(data))
        for line in (
            "check x.json",
            "figure both-sides x.json --out f.svg",
            "report x.json --out r.html",
        ):
            found = hardness(*line.split())
            assert found.code in (1, 3)
            found.one_line()
            assert len(found.err) < 500
            assert found.err.rstrip("\n").isprintable()
