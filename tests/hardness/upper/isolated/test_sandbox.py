"""Learners that attack: what they reach for is closed, each ends as it should, nothing is left."""

import dataclasses
import json
import os
import pty
import resource
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from hardness.upper.isolated import contain, fence, watch
from hardness.upper.isolated.group import group
from instances import parse, read_folder, write_folder
from instances.errors import ToolkitError, UsageError
from tests.hardness.upper.isolated.driving import (
    LEARNERS,
    LEVELS,
    SPEC,
    contained,
    flat,
    nothing_left,
)

BUDGET = Budget(examples=1000, memory_bytes=200 << 20)
SIGNED = Path(__file__).parents[4] / "docs/examples/signed_majority.py"
CLOSED, ABSENT = "PermissionError", "FileNotFoundError"
UNSEEN = (CLOSED, "ProcessLookupError")
KINDS = {  # what each gets where it is contained
    **dict.fromkeys(["tcp", "unix", "abstract"], (CLOSED,)),
    "names": (False, CLOSED),
    "terminal": ([],),
    "limits": ([],),
    "signals": UNSEEN,
    "priorities": UNSEEN,
    "arguments": ([],),
    **dict.fromkeys(["in_flight", "nameless", "shared", "segments", "attributes"], (CLOSED,)),
    **dict.fromkeys(["reads_keyring", "adds_key", "pipes", "rule_sets", "filters"], (CLOSED,)),
    **dict.fromkeys(["queues", "watches", "other_numbers", "rings"], (CLOSED,)),
    "tables": ("OSError",),  # no more addresses than their tables may take
    **dict.fromkeys(["locks", "namespaces", "settings", "leases"], ([],)),
    "modes": (False,),
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


@pytest.fixture(params=LEVELS)
def level(request, tmp_path_factory):
    tmp_path_factory.getbasetemp()  # before there is another temporary folder
    with contained(request.param), nothing_left():
        yield request.param


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
            **dict.fromkeys(["limits", "signals", "priorities"], os.getpid()),
            "tables": 200_000,
        }


def test_what_they_reach_for_is_closed_and_what_they_need_works(level, host):
    said = got(dict.fromkeys(KINDS) | host)
    wanted = KINDS
    if level == "landlock":  # no locks between processes: see docs/your-learner.md
        wanted = KINDS | {"works": (CLOSED,)}
    assert {name: said[name] for name in wanted if said[name] not in wanted[name]} == {}


def test_it_is_there_for_a_learner_that_is_not_contained(host):
    wheres = {name: host.get(name) for name in ("tcp", "unix", "abstract", "names")}
    with contained("off"):
        said = got(wheres | dict.fromkeys(["leases", "filters", "locks"]))
    assert [said[name] for name in wheres] == ["connected"] * 3 + [True]
    assert {"lease", "owner", "signal", "pipe"} <= set(said["leases"])
    assert said["locks"]
    assert said["filters"] != CLOSED


@pytest.mark.parametrize(
    ("name", "outcome", "says"),
    [
        ("nested", Outcome.CPU_SPENT, ()),
        ("uncollected", Outcome.CPU_SPENT, ()),
        ("shared_folder", Outcome.MEMORY_SPENT, ("OSError", CLOSED)),
        ("empty", Outcome.MEMORY_SPENT, ()),
        ("many_tables", Outcome.MEMORY_SPENT, ()),
        ("status", Outcome.BROKE_OFF, (CLOSED,)),
    ],
)
def test_what_never_ends_is_ended_or_refused(level, name, outcome, says):
    """says: what it may get instead, as under Landlock."""
    if name == "empty" and level == "landlock":
        pytest.skip("its folder is on a disk")
    if name == "many_tables":
        if (mine := group(1 << 30)) is None:
            pytest.skip("only root, or who is given one, has control groups")
        mine.remove()
    seconds = None
    if outcome is Outcome.CPU_SPENT:  # more than its start takes, and a fraction of its children's
        start = attack({"beside": None}).details["cpu_seconds"]
        seconds = 1.5 * start + 1
    found = attack({name: None}, dataclasses.replace(BUDGET, cpu_seconds=seconds))
    if found.outcome is Outcome.LEARNED_NOTHING:
        assert flat(found.details)[name] in says
    else:
        assert found.outcome is outcome, (found.outcome, found.details)
    assert "exit_code" not in found.details  # which a forged status would say
    assert not list(Path("/dev/shm").glob("taken-*"))


def test_it_is_watched_under_any_name_by_a_process_with_many_open_files(level):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, 2000)
    with ExitStack() as kept:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        kept.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100 if most == 2000 else 0):
            kept.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        assert attack({"odd_name": None}).outcome is Outcome.TOO_MANY_PROCESSES


def test_what_cannot_be_watched_is_ended(level, monkeypatch):
    def fails(pid):
        raise ValueError("no such field")

    monkeypatch.setattr(watch, "stat", fails)
    found = attack({"rests": None}, Budget())  # it would never end
    assert found.outcome is Outcome.REFUSED
    assert found.details["reason"] == "it could not be watched: ValueError: no such field"


@pytest.mark.parametrize("name", ["landlock", "off"])
def test_folders_of_any_depth_are_removed(name):
    with contained(name), nothing_left("/dev/shm" if os.path.isdir("/dev/shm") else None):
        assert got({"deep": None})["deep"] == "made"


def test_what_lies_in_a_folder_of_this_machine_is_no_memory(level):
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


def test_a_secret_beside_the_public_folder_is_not_there(level, secret):
    path, public = secret
    os.symlink(path, public / "pointed")
    for source in (read_folder(path.parent), parse(SPEC).instance(5)):
        assert {*reads([path, public / "pointed"], public, source)} <= {ABSENT, CLOSED}
    with contained("off"):  # so that the test can fail
        assert reads([path], public)[0].startswith("{")


def test_a_secret_below_the_learners_folder_is_hidden_or_refused(level, secret):
    path, public = secret
    moved = path.parent.rename(public / "instance")
    folder = read_folder(moved)
    if level == "landlock":
        with pytest.raises(ToolkitError, match="below the learner's folder"):
            reads([moved / "secret.json"], public, folder)
    else:
        assert reads([moved / "secret.json"], public, folder) == [ABSENT]


def test_a_secret_by_a_hard_link_is_refused(level, secret):
    path, public = secret
    os.link(path, public / "linked")
    with pytest.raises(ToolkitError, match="hard links"):
        reads([public / "linked"], public, read_folder(path.parent))


@contextmanager
def mounted(folder, place):
    """A folder at a second place."""
    place.mkdir()
    subprocess.run(["mount", "--bind", folder, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes bind mounts")


@root
def test_a_secret_by_a_bind_mount_is_refused(level, secret):
    path, public = secret
    refused = pytest.raises(ToolkitError, match="is mounted below the learner's folder")
    with mounted(path.parent, public / "mounted") as place, refused:
        reads([place / "secret.json"], public, read_folder(path.parent))


@root
@pytest.mark.parametrize("at", ["public", "public/results", "apart"])
def test_results_by_a_bind_mount_are_refused(tmp_path, at, hardness):
    """The learner's folder, one below it, or that of the results stands at a second place."""
    for name in ("public/results", "apart"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(LEARNERS / "well.py", tmp_path / "public")
    second = tmp_path / "public" / "second" if at == "apart" else tmp_path / "second"
    out = (tmp_path / "apart" if at == "apart" else second) / "out"
    told = ["stress", "--on", "parity:d=4,m=1", "--learner", "public/well.py:Eliminates", "--out"]
    with mounted(tmp_path / at, second):
        hardness(*told, out).one_line("in the folder of well.py: a learner can read its folder")
    assert not (tmp_path / "apart" / "out").exists()


def test_uncontained_a_folder_with_its_secret_is_refused(secret):
    path, public = secret
    with contained("off"), pytest.raises(ToolkitError, match=r"secret\.json"):
        reads([path], public, read_folder(path.parent))


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


def test_a_users_family_is_read_and_nothing_else_beside_it(level, home):
    names = ["signed.py", "notes.txt", "x/secret.json", "y/secret.json", "x", "."]
    family, *closed, inner, outer = reads(
        [home / name for name in names], source=read_folder(Path("x"))
    )
    assert family == SIGNED.read_text()[:9]
    assert {*closed} <= {ABSENT, CLOSED}
    if level == "bubblewrap":
        assert (inner, outer) == ([], ["signed.py", "x"])
    else:
        assert inner == outer == CLOSED


def test_a_family_beside_a_secret_is_refused(home):
    for path in (home / "x").iterdir():
        shutil.copy(path, home)
    with pytest.raises(ToolkitError, match=r"secret.json and signed.py: move one of the two"):
        attack({}, source=read_folder(home))


def test_a_family_that_does_not_load_is_no_run(home):
    family = parse("signed-majority:d=9,m=3")
    (home / "signed.py").write_text(SIGNED.read_text() + "\n")
    done = attack({}, source=family.instance(0))
    assert done.outcome is Outcome.NOT_LOADED
    assert "was changed meanwhile" in done.details["reason"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HARDNESS_DEVICE", "nvidia77", "--device nvidia77 given: a GPU is needed"),
        ("HARDNESS_CONTAIN", "jail", "one of bubblewrap, landlock, off"),
    ],
)
def test_a_device_or_a_level_that_is_none_is_refused(monkeypatch, name, value, words):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=words):
        attack({})


def test_without_any_containment_the_run_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(contain, "unavailable", lambda: "it is not installed")
    monkeypatch.setattr(fence, "version", lambda: 0)
    monkeypatch.delenv("HARDNESS_CONTAIN", raising=False)
    with pytest.raises(ToolkitError, match="--contain off"):
        attack({})
