"""Learners that attack: each is contained, with the outcome it should have, and nothing is left."""

import dataclasses
import json
import os
import pty
import resource
import shutil
import socket
import subprocess
import sys
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
CONTAINING = LEVELS[:2]
CLOSED = "PermissionError"


def attack(name, where=None, budget=BUDGET, folder=None, source=None):
    """Run an attack, its file being in a folder of its own."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(folder or made)
        shutil.copy(LEARNERS / "attacks.py", place)
        (place / "where.json").write_text(json.dumps(where))
        learner = parse_learner(f"{place / 'attacks.py'}:{name}")
        return run(learner, source or parse(SPEC).instance(5), budget, 0)


def got(name, where=""):
    found = attack(name, where)
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.details)
    return flat(found.details)["got"]


@pytest.fixture(params=CONTAINING)
def level(request, tmp_path_factory):
    tmp_path_factory.getbasetemp()  # before there is another temporary folder
    with contained(request.param), nothing_left():
        yield request.param


@pytest.fixture
def host():
    """A TCP port, two unix sockets and a terminal of this machine."""
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
            "Tcp": listening[0].getsockname()[1],
            "Unix": path,
            "Abstract": abstract,
            "Terminal": os.ttyname(theirs),
        }


@pytest.mark.parametrize("name", ["Tcp", "Unix", "Abstract"])
def test_no_socket_of_the_host(level, host, name):
    assert got(name, host[name]) == CLOSED


def test_no_names_of_sockets_of_the_host(level, host):
    where = ["/proc/self/net/unix", host["Abstract"]]
    assert got("Names", where) in (False, CLOSED)
    with contained("off"):
        assert got("Names", where) is True


@pytest.mark.parametrize("name", ["Tcp", "Unix", "Abstract"])
def test_the_sockets_are_there_for_a_learner_that_is_not_contained(host, name):
    with contained("off"):
        assert got(name, host[name]) == "connected"


def test_no_terminal(level, host):
    assert got("Terminal", host["Terminal"]) == []


def test_no_process_outside(level):
    assert got("Limits", os.getpid()) == []
    assert got("Looks", os.getpid()) == []
    assert got("Signals", os.getpid()) in (CLOSED, "ProcessLookupError")
    assert got("Priorities", os.getpid()) in (CLOSED, "ProcessLookupError")


def test_no_arguments_of_others(level):
    with subprocess.Popen(["sleep", "infinity"]) as other:
        seen = got("Arguments")
        other.kill()
    assert seen == []


@pytest.mark.parametrize(
    "name",
    [
        "InFlight",
        "Keyring",
        "Pipes",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                *("Nameless", "Shared", "Segments", "Attributes", "OtherNumbers", "Rings"),
                *("Watches", "RuleSets", "Filters", "Queues", "Locks"),
            )
        ),
    ],
)
def test_no_memory_that_nobody_counts_and_no_keys(level, name):
    assert got(name) == CLOSED


def test_no_namespaces_and_no_settings(level):
    assert got("Namespaces") == []
    assert got("Settings") == []
    assert got("Modes") is False


def test_no_more_addresses_than_their_tables_may_take(level):
    assert got("PageTables") == "OSError"


def test_the_memory_of_the_kernel_counts_in_a_group(level):
    mine = group(1 << 30)
    if mine is None:
        pytest.skip("only root, or who is given one, has control groups")
    mine.remove()
    found = attack("ManyTables", budget=Budget(memory_bytes=200 << 20))  # it would never end
    assert found.outcome is Outcome.MEMORY_SPENT


def test_no_leases_and_no_signals_of_files(level):
    assert got("Leases") == []


def test_the_calls_are_there_for_a_learner_that_is_not_contained():
    with contained("off"):
        assert {"lease", "owner", "signal", "pipe"} <= set(got("Leases"))
        assert [name for name in ("Filters", "Locks") if got(name) == CLOSED] == []


def test_a_process_with_any_name_is_watched(level):
    assert attack("OddName").outcome is Outcome.TOO_MANY_PROCESSES


def test_it_is_watched_by_a_process_with_many_open_files(level):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("over 1024 files cannot be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        assert attack("OddName").outcome is Outcome.TOO_MANY_PROCESSES
    finally:
        for descriptor in kept:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_cannot_be_watched_is_ended(level, monkeypatch):
    def fails(pid):
        raise ValueError("no such field")

    monkeypatch.setattr(watch, "stat", fails)
    found = attack("Rests", budget=Budget())  # it would never end
    assert found.outcome is Outcome.REFUSED
    assert found.details["reason"] == "it could not be watched: ValueError: no such field"


@pytest.mark.parametrize("name", ["landlock", "off"])
def test_folders_of_any_depth_are_removed(name):
    with contained(name), nothing_left("/dev/shm" if os.path.isdir("/dev/shm") else None):
        assert got("Deep") == "made"


def test_a_forged_status_is_not_read(level):
    found = attack("Status")
    assert found.outcome in (Outcome.BROKE_OFF, Outcome.LEARNED_NOTHING)  # under Landlock: closed
    assert "exit_code" not in found.details


@pytest.mark.clocks
@pytest.mark.parametrize("name", ["Nested", "Uncollected"])
def test_children_that_live_half_a_second_count(level, name):
    found = attack(name, budget=dataclasses.replace(BUDGET, cpu_seconds=1.0))
    assert found.outcome is Outcome.CPU_SPENT


def test_files_in_memory_count(level):
    found = attack("SharedFolder")
    said = found.outcome is Outcome.MEMORY_SPENT or flat(found.details)["got"] in (
        "OSError",
        CLOSED,
    )
    assert said, (found.outcome, found.details)
    assert not list(Path("/dev/shm").glob("taken-*"))


def test_what_lies_in_a_folder_of_this_machine_is_no_memory(level):
    with tempfile.NamedTemporaryFile("w", dir="/tmp", suffix=".py") as file:
        file.write("def zero(x, y):\n    return lambda x: 0.0 * x\n")
        file.flush()
        found = run(parse_learner(f"{file.name}:zero"), parse(SPEC).instance(5), BUDGET, 0)
    assert found.outcome is Outcome.LEARNED_NOTHING, (found.outcome, found.details)


@pytest.mark.parametrize("best", LEVELS[:1])
def test_files_without_content_count(best):
    with contained(best):
        assert attack("Empty").outcome is Outcome.MEMORY_SPENT


@pytest.fixture
def secret(tmp_path):
    """A public folder with a learner in it, and the secret beside it."""
    instance = parse(SPEC).instance(5)
    write_folder(tmp_path / "organiser", instance, 50)
    public = tmp_path / "public"
    public.mkdir()
    return tmp_path / "organiser" / "secret.json", public


def reads(public, path, source):
    found = attack("Reads", str(path), folder=public, source=source)
    return flat(found.details).get("got", found.outcome.value)


def test_a_secret_beside_the_public_folder_is_not_there(level, secret):
    path, public = secret
    assert reads(public, path, read_folder(path.parent)) in ("FileNotFoundError", CLOSED)
    assert reads(public, path, parse(SPEC).instance(5)) in ("FileNotFoundError", CLOSED)
    with contained("off"):  # so that the test can fail
        assert reads(public, path, parse(SPEC).instance(5)).startswith("{")


def test_a_secret_below_the_learners_folder_is_hidden_or_refused(level, secret):
    path, public = secret
    moved = path.parent.rename(public / "instance")
    folder = read_folder(moved)
    if level == "landlock":
        with pytest.raises(ToolkitError, match="below the learner's folder"):
            reads(public, moved / "secret.json", folder)
    else:
        assert reads(public, moved / "secret.json", folder) == "FileNotFoundError"


def test_a_secret_by_a_hard_link_is_refused(level, secret):
    path, public = secret
    os.link(path, public / "linked")
    with pytest.raises(ToolkitError, match="hard links"):
        reads(public, public / "linked", read_folder(path.parent))


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
        reads(public, place / "secret.json", read_folder(path.parent))


@root
@pytest.mark.parametrize("at", ["public", "public/results", "apart"])
def test_results_by_a_bind_mount_are_refused(tmp_path, at):
    """The learner's folder, one below it, or that of the results stands at a second place."""
    for name in ("public/results", "apart"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(LEARNERS / "well.py", tmp_path / "public")
    second = tmp_path / "public" / "second" if at == "apart" else tmp_path / "second"
    out = (tmp_path / "apart" if at == "apart" else second) / "out"
    told = ["stress", "--on", "parity:d=4,m=1", "--learner", "public/well.py:Eliminates", "--out"]
    with mounted(tmp_path / at, second):
        said = subprocess.run(
            [sys.executable, "-m", "cli", *told, out], cwd=tmp_path, capture_output=True, text=True
        ).stderr
    assert "in the folder of well.py: a learner can read its folder" in said, said
    assert not (tmp_path / "apart" / "out").exists()


def test_a_secret_by_a_symbolic_link_is_not_there(level, secret):
    path, public = secret
    os.symlink(path, public / "pointed")
    assert reads(public, public / "pointed", read_folder(path.parent)) in (
        "FileNotFoundError",
        CLOSED,
    )


def test_uncontained_a_folder_with_its_secret_is_refused(secret):
    path, public = secret
    with contained("off"), pytest.raises(ToolkitError, match=r"secret\.json"):
        reads(public, path, read_folder(path.parent))


def test_a_message_of_two_gigabytes_is_not_waited_for(level):
    assert attack("Header").outcome is Outcome.BROKE_OFF


def test_what_learners_need_works(level):
    if level == "landlock":  # no locks between processes: see docs/your-learner.md
        assert got("Works") == CLOSED
    else:
        assert got("Works") == 105
    assert "attacks.py" in got("Beside")


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv("HARDNESS_DEVICE", "nvidia77")
    with pytest.raises(UsageError, match="--device nvidia77 given: a GPU is needed"):
        attack("Works")


def test_a_level_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("HARDNESS_CONTAIN", "jail")
    with pytest.raises(UsageError, match="one of bubblewrap, landlock, off"):
        attack("Works")


def test_without_any_containment_the_run_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(contain, "unavailable", lambda: "it is not installed")
    monkeypatch.setattr(fence, "version", lambda: 0)
    monkeypatch.delenv("HARDNESS_CONTAIN", raising=False)
    with pytest.raises(ToolkitError, match="--contain off"):
        attack("Works")
