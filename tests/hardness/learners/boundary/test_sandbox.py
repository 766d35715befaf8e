"""What learners reach for: closed in the sandbox, which is required, used where it runs, or not."""

import json
import os
import pty
import shutil
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from hardness.learners import Outcome, boundary
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse, read_folder, write_folder
from instances.errors import ToolkitError
from tests.hardness.learners.boundary.driving import (
    LEARNERS,
    PLACES,
    SPEC,
    flat,
    nothing_left,
    placed,
)

BUDGET = Budget(examples=1000)
SIGNED = Path(__file__).parents[4] / "docs/examples/signed_majority.py"
ABSENT = "FileNotFoundError"
UNSEEN = ("PermissionError", "ProcessLookupError")
CLOSED = {  # what each gets in the sandbox
    "tcp": ("ConnectionRefusedError",),
    "unix": (ABSENT,),
    "abstract": ("ConnectionRefusedError",),
    "names": (False,),
    "terminal": ([],),
    "signals": UNSEEN,
    "priorities": UNSEEN,
    "arguments": ([],),
    "beside": (["attacks.py"],),
    "works": (105,),
}


def attack(wheres, budget=BUDGET, folder=None, source=None):
    """Run attacks, each with what it is after, their file being in a folder of its own."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(folder or made)
        shutil.copy(LEARNERS / "attacks.py", place)
        (place / "where.json").write_text(json.dumps(wheres))
        learner = parse_learner(f"{place / 'attacks.py'}:Attacks")
        return run(learner, source or parse(SPEC).instance(5), budget, 0)


def got(wheres, **how):
    found = attack(wheres, **how)
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.details)
    return flat(found.details)


@pytest.fixture(params=PLACES[:1])
def sandboxed(request, tmp_path_factory):
    tmp_path_factory.getbasetemp()  # before there is another temporary folder
    with placed(request.param), nothing_left():
        yield


@pytest.fixture
def host():
    """A TCP port, two unix sockets, a terminal and a process of this machine."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        path, abstract = f"{folder}/socket", f"hardness-test-{os.getpid()}"
        addresses = [(socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, path)]
        listening = []
        for kind, address in [*addresses, (socket.AF_UNIX, "\0" + abstract)]:
            one = stack.enter_context(socket.socket(kind))
            one.bind(address)
            one.listen()
            listening.append(one)
        ours, theirs = pty.openpty()
        stack.callback(os.close, ours)
        stack.callback(os.close, theirs)
        yield {
            "tcp": listening[0].getsockname()[1],
            "unix": path,
            "abstract": abstract,
            "names": ["/proc/self/net/unix", abstract],
            "terminal": os.ttyname(theirs),
            **dict.fromkeys(["signals", "priorities"], os.getpid()),
        }


def test_what_they_reach_for_is_closed_and_what_they_need_works(sandboxed, host):
    said = got(dict.fromkeys(CLOSED) | host)
    assert {name: said[name] for name in CLOSED if said[name] not in CLOSED[name]} == {}


def test_it_is_there_for_a_learner_without_a_sandbox(host):
    wheres = {name: host.get(name) for name in ("tcp", "unix", "abstract", "names")}
    with placed(False):
        said = got(wheres)
    assert [said[name] for name in wheres] == ["connected"] * 3 + [True]
    assert said["process"] == "not sandboxed"


def test_a_learner_in_the_temporary_folder_runs(sandboxed):
    with tempfile.NamedTemporaryFile("w", dir="/tmp", suffix=".py") as file:
        file.write("def zero(x, y):\n    return lambda x: 0.0 * x\n")
        file.flush()
        found = run(parse_learner(f"{file.name}:zero"), parse(SPEC).instance(5), BUDGET, 0)
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.details)


@pytest.fixture
def secret(tmp_path):
    """A public folder with a learner in it, and the secret beside it."""
    instance = parse(SPEC).instance(5)
    write_folder(tmp_path / "organiser", instance, 50)
    public = tmp_path / "public"
    public.mkdir()
    return tmp_path / "organiser" / "secret.json", public


def reads(paths, folder=None, source=None):
    """What is read of some paths, in their order."""
    said = got({"reads": list(map(str, paths))}, folder=folder, source=source)
    return list(said["reads"].values())


def test_a_secret_beside_the_public_folder_is_not_there(sandboxed, secret):
    path, public = secret
    os.symlink(path, public / "pointed")
    for source in (read_folder(path.parent), parse(SPEC).instance(5)):
        assert reads([path, public / "pointed"], public, source) == [ABSENT] * 2
    with placed(False):  # so that the test can fail
        assert reads([path], public)[0].startswith("{")


def test_a_secret_below_the_learners_folder_is_hidden(sandboxed, secret):
    path, public = secret
    moved = path.parent.rename(public / "instance")
    assert reads([moved / "secret.json"], public, read_folder(moved)) == [ABSENT]


@pytest.mark.parametrize("place", PLACES)
def test_a_learner_in_the_folder_of_the_secret_is_refused(secret, place):
    path, _ = secret
    (inner := path.parent / "inner").mkdir()
    for folder in (path.parent, inner):
        with placed(place), pytest.raises(ToolkitError, match="and the learner: move"):
            attack({}, folder=folder, source=read_folder(path.parent))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a user's family, notes, and two instances with their secrets."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(SIGNED, home / "signed.py")
    (home / "notes.txt").write_text("private")
    monkeypatch.chdir(home)
    family = parse("signed.py:SignedMajority:d=9,m=3")
    for name in ("x", "y"):
        write_folder(home / name, family.instance(0), 100)
    return home


def test_a_users_family_comes_by_value_and_its_folder_is_not_seen(sandboxed, home):
    names = ["signed.py", "notes.txt", "x/secret.json", "y/secret.json", "x", "."]
    paths = [home / name for name in names]
    assert reads(paths, source=read_folder(Path("x"))) == [*[ABSENT] * 4, [], ["x"]]


def test_a_sandbox_that_is_required_is_there_or_the_run_is_refused(hardness, monkeypatch):
    shutil.copy(LEARNERS / "well.py", "mine.py")
    told = ["learn", "mine.py:Eliminates", "parity:d=8,m=2", "--budget-examples", 500]
    required = [*told, "--sandbox"]
    if not boundary.unavailable():
        assert hardness(*required, "--json").json["sandboxed"]
    with placed(False):
        assert hardness(*told, "--json").json["sandboxed"] is False
        refused = hardness(*required)
        assert (refused.code, refused.out) == (1, "")
        refused.one_line("--sandbox cannot be used: bubblewrap is not installed")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (None, "bubblewrap is not installed"),
        ("#!/bin/sh\necho 'setting up uid map: not allowed' >&2\nexit 1\n", "not allowed"),
    ],
)
def test_where_bubblewrap_is_missing_or_refused_is_known_by_a_trial(
    tmp_path, monkeypatch, script, reason
):
    if script:
        (tmp_path / "bwrap").write_text(script)
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert reason in boundary.unavailable.__wrapped__()
