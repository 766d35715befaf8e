"""A learner that looks for the secret in memory, arguments, environment, files: it finds none."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from hardness.compare import run
from hardness.compare.pool import execute
from hardness.oracles import Budget
from hardness.upper import Outcome, parse_learner
from hardness.upper.isolated import foreign, landlock
from hardness.upper.isolated.wire import Channel, Window
from instances import parse, read_folder, write_folder
from tests.hardness.upper.isolated.driving import LEARNERS, nothing_left

SPEC, SEED = "parity:d=1000,m=21", 3_141_592_653_589_793_238
NO_LANDLOCK = "needs a Linux with Landlock 6: elsewhere learners are not confined"
needs_landlock = pytest.mark.skipif(landlock.version() < 6, reason=NO_LANDLOCK)


def needles(instance):
    """What gives the secret away: the seed, the secret, the nonce, as text and as bytes."""
    hidden = instance.hidden
    return [
        str(hidden.seed).encode(),
        hidden.seed.to_bytes(8, "little"),
        json.dumps(list(hidden.secret)).encode(),
        ", ".join(map(str, hidden.secret)).encode(),
        b"".join(j.to_bytes(8, "little") for j in hidden.secret),
        b"".join(j.to_bytes(4, "little") for j in hidden.secret),
        hidden.nonce,
        hidden.nonce.hex().encode(),
    ]


@pytest.fixture
def instance():
    return parse(SPEC).instance(SEED)


@pytest.fixture
def spy(instance, tmp_path):
    """The spy in a folder of its own; it does not look beyond this process and its folder."""
    folder = tmp_path / "spy"
    folder.mkdir()
    (tmp_path / "planted").mkdir()
    shutil.copy(LEARNERS / "spies.py", folder)
    hidden = [bytes(b ^ 0x55 for b in n).hex() for n in needles(instance)]
    look = {"needles": hidden, "ancestor": os.getpid(), "planted": str(tmp_path / "planted")}
    (folder / "look.json").write_text(json.dumps(look))
    return f"{folder}/spies.py:Spy"


@pytest.fixture(params=[True, False], ids=["confined", "unconfined"])
def confined(request, monkeypatch):
    if request.param and landlock.version() < 6:
        pytest.skip(NO_LANDLOCK)
    monkeypatch.setattr(foreign, "CONFINE", request.param)
    return request.param


def looked(found):
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.usage, found.details)
    return found.details


def test_the_spy_finds_what_is_there(instance, spy, tmp_path, confined):
    (tmp_path / "planted" / "secret.json").write_bytes(needles(instance)[2])
    found = looked(run(parse_learner(spy), instance, Budget(seconds=60), 0))
    assert {"by its path", "through a process's root"} <= set(found["found"])


def test_no_process_shows_the_secret(instance, spy, confined):
    found = looked(run(parse_learner(spy), instance, Budget(seconds=60), 0))
    assert found["found"] == []
    assert found["processes"] == 2  # the guard, and this one
    told = {place for place in found["opened"] if place.startswith("above 1")}
    assert told <= {"above 1 cmdline"}
    if confined:
        assert {p for p in found["opened"] if p.startswith("above 0")} <= {"above 0 cmdline"}
    window = "/memfd:hardness (deleted)"  # Python maps a copy of the descriptor
    held = ["/dev/null", window, window, "pipe", "pipe", "socket"]
    assert found["descriptors"] == held  # its input, the window, its output, the connection
    assert len(found["arguments"]) == 4
    assert all(text.isdigit() and len(text) < 10 for text in found["arguments"])


def test_nothing_that_is_sent_holds_the_secret(instance, spy, monkeypatch):
    sent = []
    send, put = Channel.send, Window.put

    def sending(self, message, until=None):
        sent.append(json.dumps(message).encode())
        send(self, message, until)

    def putting(self, arrays):
        sent.extend(array.tobytes() for array in arrays.values())
        return put(self, arrays)

    monkeypatch.setattr(Channel, "send", sending)
    monkeypatch.setattr(Window, "put", putting)
    looked(run(parse_learner(spy), instance, Budget(seconds=60), 0))
    assert len(sent) > 4
    assert not [needle for needle in needles(instance) if any(needle in part for part in sent)]


@needs_landlock
@pytest.mark.parametrize("count", [0, 200])
def test_the_folder_of_the_instance_is_closed(instance, spy, tmp_path, count):
    shutil.rmtree(tmp_path / "planted")
    write_folder(tmp_path / "planted", instance, count)
    with nothing_left():
        found = looked(run(parse_learner(spy), read_folder(tmp_path / "planted"), Budget(), 0))
    assert found["found"] == []
    assert not [way for way in found["opened"] if way.startswith(("by ", "through ", "in "))]
    assert (tmp_path / "planted" / "secret.json").is_file()


def test_unconfined_a_folder_with_its_secret_is_refused(instance, spy, tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "CONFINE", False)
    shutil.rmtree(tmp_path / "planted")
    folder = write_folder(tmp_path / "planted", instance, 200)
    with pytest.raises(foreign.ToolkitError, match=r"secret\.json"):
        run(parse_learner(spy), folder, Budget(), 0)


def spied(task):
    text, seed = task
    return run(parse_learner(text), parse(SPEC).instance(seed), Budget(seconds=60), 0)


def test_who_hands_out_the_tasks_shows_none_of_them(instance, spy, confined):
    parse_learner(spy)  # as every command does before it starts workers
    if not confined:
        pytest.skip("workers are spawned: what is patched here does not reach them")
    for _, found in execute(spied, [(spy, SEED), (spy, SEED + 1)], jobs=2):
        details = looked(found)
        assert details["processes"] == 3  # the guard, the worker, this one
        assert details["found"] == []
        shown = {p for p in details["opened"] if p.startswith(("above 1", "above 2"))}
        assert shown <= {"above 1 cmdline", "above 2 cmdline"}


@pytest.mark.parametrize("said", [["--seed", str(SEED)], [f"--seed={SEED}"]])
def test_arguments_show_no_seed(instance, spy, tmp_path, said):
    command = [sys.executable, "-c", "import cli; cli.main()", "learn", spy, SPEC, "--json", *said]
    with open(tmp_path / "out", "w") as out, subprocess.Popen(command, stdout=out) as started:
        look = tmp_path / "spy" / "look.json"
        look.write_text(json.dumps(json.loads(look.read_text()) | {"ancestor": started.pid}))
        assert started.wait() == 0
    found = json.loads((tmp_path / "out").read_text())["details"]
    assert found["processes"] == 2
    assert "above 1 cmdline" in found["opened"]
    assert found["found"] == []
