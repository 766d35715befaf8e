"""The strict reader: what it refuses before it decodes, and that all else is what json.loads gives.

Memory and processor time are measured, or limited by the system, in processes of their own.
"""

import json
import math
import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.errors import DamagedFile
from instances.strict import (
    CERTIFICATE,
    SMALL,
    Limits,
    loads,
    one_line,
    opened,
    read_bytes,
    read_json,
    shown,
)

TEXTS = Limits(size=1 << 26)


def written(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"value": 1, "\\u0076alue": 1}', "the key 'value' stands twice"),
        (b'{"a": [{"b": 1, "b": 1}]}', "the key 'b' stands twice"),
        (b'{"a": NaN}', "'NaN' is no number"),
        (b'{"a": 1e999}', "beyond float64"),
        (b'{"a": ' + b"9" * 1001 + b"}", "over 1000 bytes"),
        (b'{"a": "\\ud800"}', "surrogates"),
        (b'{"a": "\xff"}', "utf-8"),
        (b'\xef\xbb\xbf{"a": 1}', "BOM"),
        (b'{"a": "' + b"\n" + b'"}', "control character"),
        (b'{"a":' * 65 + b"0" + b"}" * 65, "nested over 64 deep"),
        (b'{"hardness-": [' + b"[]," * 6_000_000 + b"0]}", "more values than any"),
        (b"[1]", "not an object"),
        (b"", "Expecting value"),
        (b'{"a": 1', "delimiter"),
    ],
)
def test_what_is_damaged_or_ambiguous_is_refused_in_one_line(tmp_path, content, said):
    path = written(tmp_path, content)
    with pytest.raises(DamagedFile) as caught:
        read_json(path)
    message = str(caught.value)
    assert said in message
    assert str(path) in message
    assert len(message) < len(str(path)) + 200
    assert message.isprintable()


@pytest.mark.parametrize("code", [0x7, 0x1B, 0x7F, 0x85, 0x9B, 0x200B, 0x202E, 0x2066, 0x2028])
@pytest.mark.parametrize("escaped", [False, True])
def test_steering_characters_are_refused_where_strings_are_lines(tmp_path, code, escaped):
    """Control characters of both ranges, directions and zero widths, in values and in keys."""
    for data in ({"a": f"x{chr(code)}y"}, {f"x{chr(code)}y": 1}, {"a": [{"b": chr(code)}]}):
        text = json.dumps(data, ensure_ascii=escaped)
        path = written(tmp_path, text.encode())
        with pytest.raises(DamagedFile, match="not printable"):
            read_json(path, CERTIFICATE)
        assert read_json(path) == data  # what learners print may stand in results


def test_limits_themselves_are_accepted(tmp_path):
    rows = [[0.5] * 100] * 1000
    for data in (
        {"a": 10**999 - 1, "b": -(10**997)},
        {str(i): {} for i in range(1 << 16)},
        {"a": rows, "b": 1.7976931348623157e308, "c": 5e-324, "d": -0.0},
        {"a": "é" * 1000, "b": "\\", "c": '"', "d": '\\"'},
    ):
        path = written(tmp_path, json.dumps(data).encode())
        assert read_json(path, CERTIFICATE if "a" in data else SMALL) == data
    deep: list = []
    for _ in range(63):
        deep = [deep]
    assert loads(json.dumps(deep)) == deep


def duplicates(text):
    def once(pairs):
        assert len({k for k, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


PIECES = ['"', "\\", "[", "]", "{", "}", ",", ":", "1", "-", "e", ".", " ", "\\u00", "é", "a", "0"]
PIECES += ['"a"', '"\\u0061"', "true", "null", '{"a":', "\n", "NaN", "1e999", "\\ud800", '""']


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_is_read_is_what_json_loads_reads_and_nothing_is_lost(text):
    """Both ways: nothing else is accepted, and refused beside that is only what is said."""
    try:
        found = loads(text, TEXTS)
    except ValueError:
        try:
            other = duplicates(text)
        except (ValueError, AssertionError):
            return
        said = json.dumps(other)
        assert "NaN" in said or "Infinity" in said or "\\ud800" in said
        return
    assert found == json.loads(text)


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
