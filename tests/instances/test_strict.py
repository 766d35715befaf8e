"""Files are read strictly: what is no JSON object, and what is no regular file."""

import json
import math
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

from instances.disk import one_line, opened, quoted, read_bytes, read_json
from instances.errors import DamagedFile, UsageError


def written(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    return path


def refused(read, path, why):
    with pytest.raises(DamagedFile) as caught:
        read(path)
    message = str(caught.value)
    assert why in message
    assert str(path) in message
    assert len(message) < len(str(path)) + 200
    assert message.isprintable()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"a": NaN}', "invalid"),
        (b'{"a": 1e999}', "out of range"),
        (b'{"a": "\\ud800"}', "cannot be read as JSON"),
        ('{"a": 1}'.encode("utf-16"), "invalid"),
        (b"[" * 100_000, "while deserializing an object"),
        (b'{"a": 1}]', "trailing"),
        (b"[1]", "not an object"),
        (b'{"a": 1', "truncated"),
    ],
)
def test_what_is_no_json_object_is_refused_in_one_line(tmp_path, content, why):
    path = written(tmp_path, content)
    refused(read_json, path, why)


def test_only_regular_files_are_opened_and_none_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    (tmp_path / "loop").symlink_to("loop")
    for name, kind, said in (
        ("fifo", UsageError, "no regular file"),
        ("socket", DamagedFile, "cannot be read"),
        (".", UsageError, "is a folder"),
        ("loop", DamagedFile, "cannot be read"),
        ("/dev/zero", UsageError, "no regular file"),
        ("/dev/tty", (UsageError, DamagedFile), "no regular file|cannot be read"),
        ("x\0y", DamagedFile, "cannot be read"),
        ("x" * 5000, DamagedFile, "cannot be read"),
    ):
        for read in (read_json, lambda path: read_bytes(path, 10)):
            with pytest.raises(kind, match=said):
                read(tmp_path / name)
    listening.close()
    with pytest.raises(UsageError, match="no such file: "):
        read_json(tmp_path / "none")
    (tmp_path / "long").write_bytes(b"x" * 11)
    with pytest.raises(DamagedFile, match="11 bytes: what belongs here has at most 10"):
        read_bytes(tmp_path / "long", 10)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ZeroDivisionError), opened(tmp_path / "long", 11):
        raise ZeroDivisionError
    assert len(os.listdir("/proc/self/fd")) == before


# A process of its own starts the command: what a large one forks counts as its child's memory.
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(
    [sys.executable, "-m", "cli", "check", sys.argv[1]], capture_output=True, text=True,
)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, done.stdout, done.stderr, used.ru_maxrss]))
"""


@pytest.mark.parametrize("values", [b"[],", pytest.param(b"[[[", marks=pytest.mark.weekly)])
def test_hostile_json_is_one_line_in_bounded_memory(tmp_path, values):
    """126 MB: 300 MB for the whole of `hardness check`."""
    path = written(tmp_path, b'{"format":"hardness-certificate/2","a":[{' + values * 42_000_000)
    command = [sys.executable, "-c", MEASURED, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    code, out, err, memory = json.loads(ran.stdout)
    assert (code, out) == (1, ""), err[-300:]
    assert err.count("\n") == 1
    assert str(path) in err
    assert memory < 300_000


def test_what_is_quoted_is_one_short_printable_line():
    hard = "x\n\x1b[31m\u202e\u200b\x85" + "y" * 10_000
    for said in (quoted(hard), one_line(ValueError(hard)), quoted({hard: 1}), quoted([hard])):
        assert said.isprintable()
        assert len(said) < 200
    assert quoted("\u202e") == r"'\u202e'"
    assert quoted(10**100_000) == "an integer of 332193 bits"
    assert quoted(math.pi) == "3.141592653589793"
    assert one_line(KeyError()) == "KeyError"
    assert quoted(np.float64(1.5)) == "1.5"
