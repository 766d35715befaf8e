"""Messages, arrays in the window, processes below one, and what Landlock leaves open."""

import json
import os
import socket
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

from hardness.upper.isolated import landlock, processes
from hardness.upper.isolated.child import plain
from hardness.upper.isolated.wire import MOST, Broken, Channel, Late, Window, shared


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    with one, other:
        yield Channel(one), other


@pytest.fixture
def window():
    made = Window(shared(1 << 12), 1 << 12)
    yield made
    made.close()


def framed(content):
    return struct.pack("<I", len(content)) + content


def test_messages_arrive_as_they_were(ends):
    here, other = ends
    there = Channel(other)
    said = [{"op": "draw", "count": 3}, {"text": "ä\0", "deep": [[[{}]]]}, {}]
    for message in said:
        there.send(message)
    assert [here.receive(time.monotonic() + 5) for _ in said] == said


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"3",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"a": 1} {"b": 2}',
        b"[" * 20_000,
        b'{"a": ' * 5_000,
        b'{"count": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_message_is_refused(ends, content):
    here, other = ends
    other.sendall(framed(content))
    with pytest.raises(Broken):
        here.receive(time.monotonic() + 5)


@pytest.mark.parametrize("content", [b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}'])
def test_numbers_that_json_does_not_have_are_refused(ends, content):
    here, other = ends
    other.sendall(framed(content))
    with pytest.raises(Broken):
        here.receive(time.monotonic() + 5)
    with pytest.raises(ValueError, match="JSON"):
        here.send({"a": float("nan")})


def test_lengths_are_bounded_on_both_sides(ends):
    here, other = ends
    other.sendall(struct.pack("<I", MOST + 1))
    with pytest.raises(Broken, match="1048577 bytes"):
        here.receive()
    with pytest.raises(ValueError, match="are allowed"):
        here.send({"text": "x" * MOST})


def test_half_a_message_is_late_and_a_closed_end_is_broken(ends):
    here, other = ends
    other.sendall(struct.pack("<I", 100) + b"{")
    with pytest.raises(Late):
        here.receive(time.monotonic() + 0.05)
    other.close()
    with pytest.raises(Broken):
        here.receive(time.monotonic() + 5)


def test_time_is_over_whatever_has_come(ends):
    here, other = ends
    Channel(other).send({"op": "draw"})
    with pytest.raises(Late):
        here.receive(time.monotonic() - 1)


def test_who_does_not_read_holds_up_nobody(ends):
    here, _ = ends
    until = time.monotonic() + 0.2
    with pytest.raises(Late):  # noqa: PT012
        while True:
            here.send({"text": "x" * 10_000}, until)
    assert time.monotonic() < until + 1


def test_arrays_pass_through_the_window(window):
    arrays = {
        "words": np.arange(6, dtype=np.uint64).reshape(1, 2, 3),
        "none": np.zeros((0, 4)),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "codes": np.array([1, 2], np.uint8),
    }
    places = json.loads(json.dumps(window.put(arrays)))
    found = window.take(places)
    assert all(np.array_equal(found[n], a) and found[n].dtype == a.dtype for n, a in arrays.items())
    window.put({"over": np.full(100, 7.0)})
    assert np.array_equal(found["words"], arrays["words"])  # it was copied
    with pytest.raises(ValueError, match="4096 bytes"):
        window.put({"x": np.zeros(513)})


PLACE = {"type": "<f8", "shape": [4], "start": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": -8},
        {"start": 4090},
        {"start": 1 << 60},
        {"start": 0.0},
        {"start": True},
        {"shape": [-1]},
        {"shape": [513]},
        {"shape": [1 << 40, 1 << 40]},
        {"shape": [1 << 62, 4]},
        {"shape": ["4"]},
        {"shape": 4},
        {"shape": None},
        {"shape": [1] * 100},
        {"type": "O"},
        {"type": "|S8"},
        {"type": "<U4"},
        {"type": "<M8[s]"},
        {"type": "V8"},
        {"type": "c16"},
        {"type": "f8,f8"},
        {"type": "no type"},
        {"type": None},
        {"type": ["f8"]},
    ],
)
def test_places_that_are_none_are_refused(window, wrong):
    with pytest.raises(Broken):
        window.take({"y": PLACE | wrong})


@pytest.mark.parametrize("places", [None, 3, "y", [PLACE], {"y": None}, {"y": {}}, {"y": [1]}])
def test_what_is_no_place_is_refused(window, places):
    with pytest.raises(Broken):
        window.take(places)


def test_the_window_cannot_be_cut_off(window):
    with pytest.raises(PermissionError):
        os.truncate(window.descriptor, 10)


def test_details_become_json():
    deep: dict = {}
    for _ in range(50):
        deep = {"in": deep}
    odd = {
        "a": np.arange(3),
        "b": np.float64("inf"),
        "c": 1 << 20_000,
        "d": {1, 2},
        "deep": deep,
        "e": np.bool_(True),
        2: "two",
    }
    found = json.loads(json.dumps(plain(odd), allow_nan=False))
    assert found["a"] == [0, 1, 2]
    assert found["b"] is None
    assert found["e"] is True
    assert found["c"] == "an integer of 20001 bits"
    assert found["2"] == "two"
    assert plain({"a": ["x" * 900] * 100}).keys() == {"dropped"}


SLEEPERS = """
import os, sys, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            break
        break
print("there", flush=True)
time.sleep(1000)
"""


def test_processes_below_are_found_and_ended():
    command = [sys.executable, "-S", "-c", SLEEPERS]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        for _ in range(7):
            started.stdout.readline()
        found = [started.pid, *processes.below(started.pid)]
        assert len(found) == 7
        use = processes.use(found)
        assert use.count == use.threads == 7
        assert use.resident >= processes.proportional(found) > 1 << 20
        assert processes.high_water(found) >= use.resident
        processes.end(found)
    until = time.monotonic() + 5
    while processes.use(found).count and time.monotonic() < until:
        time.sleep(0.01)
    assert processes.use(found).count == 0
    for pid in found[1:]:
        try:
            os.waitpid(pid, 0)  # this process may have adopted it
        except ChildProcessError:
            continue


def test_of_a_process_that_is_gone_nothing_is_said():
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as started:
        started.wait()
    gone = started.pid
    assert processes.below(gone) == []
    assert processes.use([gone]) == processes.Use(resident=0, cpu=0.0, count=0, threads=0)
    assert processes.proportional([gone]) is None
    processes.end([gone])


def test_a_locked_folder_is_removed(tmp_path):
    place = tmp_path / "it"
    (place / "closed" / "deeper").mkdir(parents=True)
    (place / "closed" / "file").write_text("x")
    (place / "out").symlink_to(tmp_path / "kept")
    (tmp_path / "kept").mkdir(mode=0o755)
    for path in (place / "closed" / "deeper", place / "closed", place):
        path.chmod(0)
    processes.remove(str(place))
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o755


def test_all_but_is_everything_but_what_is_hidden(tmp_path):
    for name in ("a/secret", "a/other", "b", "c/also"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "secret")
    hidden = [tmp_path / "a" / "secret", tmp_path / "c"]
    kept = {path for path in landlock.all_but(hidden) if path.is_relative_to(tmp_path)}
    real = {path.resolve() for path in kept}
    assert real >= {tmp_path / "b", tmp_path / "a" / "other", tmp_path / "a" / "file"}
    for path in hidden:
        assert not any(path == one or path.is_relative_to(one) for one in real)
    assert landlock.all_but([hidden[0], tmp_path / "a"]) == landlock.all_but([tmp_path / "a"])
