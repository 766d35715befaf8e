"""Files are read strictly: what strangers wrote, and what is no regular file."""

import json
import math
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

from instances.errors import DamagedFile
from instances.strict import one_line, opened, read_bytes, read_json, read_strangers_json, shown


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
        (b'{"a": -Infinity}', "invalid"),
        (b'{"a": 1e999}', "out of range"),
        (b'{"a": ' + b"9" * 5000 + b"}", "out of range"),
        (b'{"a": "\\ud800"}', "cannot be read as JSON"),
        (b'{"a": "\xff"}', "cannot be read as JSON"),
        (b'\xef\xbb\xbf{"a": 1}', "invalid"),
        ('{"a": 1}'.encode("utf-16"), "invalid"),
        (b"[" * 100_000, "recursion"),
        (b'{"a": 1}]', "trailing"),
        (b"[1]", "not an object"),
        (b"", "truncated"),
        (b'{"a": 1', "truncated"),
    ],
)
def test_what_is_no_json_object_is_refused_in_one_line(tmp_path, content, why):
    path = written(tmp_path, content)
    refused(read_json, path, why)
    refused(read_strangers_json, path, why)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"value": 1, "value": 2}', "the key 'value' stands twice"),
        (b'{"value": 1, "\\u0076alue": 1}', "the key 'value' stands twice"),
        (b'{"a": [{"b": 1, "b": 1}]}', "the key 'b' stands twice"),
        (b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "nested over 64 deep"),
        (b'{"a": [' + b"[]," * 2_200_000 + b"0]}", "it holds over 4194304 values"),
    ],
)
def test_what_strangers_may_not_write_is_refused_in_one_line(tmp_path, content, why):
    path = written(tmp_path, content)
    refused(read_strangers_json, path, why)
    assert read_json(path)  # ours is not looked at so


@pytest.mark.parametrize("code", [0x7, 0x1B, 0x7F, 0x85, 0x9B, 0x200B, 0x202E, 0x2066, 0x2028])
@pytest.mark.parametrize("escaped", [False, True])
def test_steering_characters_are_refused_in_strings_of_strangers(tmp_path, code, escaped):
    """Control characters of both ranges, directions and zero widths, in values and in keys."""
    for data in ({"a": f"x{chr(code)}y"}, {f"x{chr(code)}y": 1}, {"a": [{"b": chr(code)}]}):
        text = json.dumps(data, ensure_ascii=escaped)
        path = written(tmp_path, text.encode())
        refused(read_strangers_json, path, "not printable")
        assert read_json(path) == data  # what learners print may stand in results


def test_what_a_certificate_may_hold_is_read(tmp_path):
    deep: list = []
    for _ in range(62):
        deep = [deep]
    for data in (
        {"a": 10**999 - 1, "b": -(10**997)},
        {str(i): {} for i in range(1 << 16)},
        {"a": [[0.5] * 100] * 1000, "b": 1.7976931348623157e308, "c": 5e-324, "d": -0.0},
        {"a": "é" * 1000, "b": "\\", "c": '"', "d": '\\"'},
        {"a": deep},
    ):
        assert read_strangers_json(written(tmp_path, json.dumps(data).encode())) == data


def test_only_regular_files_are_opened_and_none_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    (tmp_path / "loop").symlink_to("loop")
    for name, said in (
        ("fifo", "no regular file"),
        ("socket", "cannot be read"),
        (".", "is a folder"),
        ("none", "does not exist"),
        ("loop", "cannot be read"),
        ("/dev/zero", "no regular file"),
        ("/dev/tty", "no regular file|cannot be read"),
        ("x\0y", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ):
        for read in (read_json, lambda path: read_bytes(path, 10)):
            with pytest.raises(DamagedFile, match=said):
                read(tmp_path / name)
    listening.close()
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


@pytest.mark.parametrize("values", [b"[],", pytest.param(b"[[[", marks=pytest.mark.slow)])
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
    for said in (shown(hard), one_line(ValueError(hard)), shown({hard: 1}), shown([hard])):
        assert said.isprintable()
        assert len(said) < 200
    assert shown("\u202e") == r"'\u202e'"
    assert shown(10**100_000) == "an integer of 332193 bits"
    assert shown(math.pi) == "3.141592653589793"
    assert one_line(KeyError()) == "KeyError"
    assert shown(np.float64(1.5)).endswith("1.5)")
