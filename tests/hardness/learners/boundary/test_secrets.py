"""A learner that looks for the secret in memory, arguments, environment, files: it finds none."""

import json
import os
import shutil

import pytest

from hardness.learners import Outcome, boundary
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from hardness.runs.workers import execute
from instances import parse, read_folder, write_folder
from tests.hardness.learners.boundary.driving import LEARNERS, PLACES, flat, nothing_left, placed

SPEC, SEED = "parity:d=1000,m=21", 3_141_592_653_589_793_238


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
    """The spy in a folder of its own, the planted secret beside that folder."""
    folder = tmp_path / "spy"
    folder.mkdir()
    (tmp_path / "planted").mkdir()
    shutil.copy(LEARNERS / "spies.py", folder)
    hidden = [bytes(b ^ 0x55 for b in n).hex() for n in needles(instance)]
    look = {"needles": hidden, "parent": os.getpid(), "planted": str(tmp_path / "planted")}
    (folder / "look.json").write_text(json.dumps(look))
    return f"{folder}/spies.py:Spy"


@pytest.fixture(params=PLACES[:1])
def sandboxed(request):
    with placed(request.param):
        yield


def looked(found):
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.details)
    return flat(found.details)


def test_the_spy_finds_what_is_there(instance, spy, tmp_path):
    (tmp_path / "planted" / "secret.json").write_bytes(needles(instance)[2])
    look = tmp_path / "spy" / "look.json"  # in all of this process's memory it looks long
    look.write_text(json.dumps(json.loads(look.read_text()) | {"parent": 0}))
    with placed(False):
        found = looked(run(parse_learner(spy), instance, Budget(), 0))
    assert "by its path" in found["found"]


def test_nothing_shows_the_secret(instance, spy, sandboxed, monkeypatch):
    """Neither what it can read, nor what it is sent."""
    sent = []
    tell = boundary.Child.tell

    def telling(self, content):
        sent.append(content)
        tell(self, content)

    monkeypatch.setattr(boundary.Child, "tell", telling)
    with nothing_left():
        found = looked(run(parse_learner(spy), instance, Budget(), 0))
    assert found["found"] == []
    assert not [place for place in found["opened"] if place.startswith("above 1")]
    # Its input, its output into a nameless file, and the connection to the process that knows the
    # secret. Newer releases of libffi, by which Python calls C, hold their library's file open too.
    held = {name for name in found["descriptors"] if "/libffi.so." not in name}
    nameless = {name for name in held if name.endswith(" (deleted)")}
    assert (held - nameless, len(nameless)) == ({"/dev/null", "socket"}, 1)
    assert str(SEED) not in "".join(found["arguments"])
    assert len(sent) >= 3
    assert not [needle for needle in needles(instance) if any(needle in part for part in sent)]


def test_the_folder_of_the_instance_is_closed(instance, spy, tmp_path, sandboxed):
    shutil.rmtree(tmp_path / "planted")
    write_folder(tmp_path / "planted", instance, 200)
    found = looked(run(parse_learner(spy), read_folder(tmp_path / "planted"), Budget(), 0))
    assert found["found"] == []
    assert not [way for way in found["opened"] if way.startswith(("by ", "through ", "in "))]
    assert (tmp_path / "planted" / "secret.json").is_file()


def spied(task):
    text, seed = task
    return run(parse_learner(text), parse(SPEC).instance(seed), Budget(), 0)


def test_workers_show_none_of_their_tasks(spy, sandboxed):
    for _, found in execute(spied, [(spy, SEED), (spy, SEED + 1)], jobs=2):
        assert looked(found)["found"] == []
