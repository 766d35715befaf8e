"""Containment of learners from files: which kind this system can hold, and how it is started.

bubblewrap: namespaces of its own for everything (no network, no sockets of the host, no terminal,
own /proc, /dev and /tmp), the interpreter and the learner's folder read-only, all else absent.
landlock: the fallback, which closes the files outside of these, other processes' memory and the
system calls of `fence`. off: limits alone, only where the user asks for it.
"""

import functools
import itertools
import os
import shutil
import site
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from hardness.upper.isolated import fence
from hardness.upper.isolated.reach import require_hidden, within
from instances.errors import ToolkitError, UsageError
from instances.spec import files as families

Level = Literal["bubblewrap", "landlock", "off"]
CONTAIN, DEVICE = "HARDNESS_CONTAIN", "HARDNESS_DEVICE"  # set by --contain and --device
SCRATCH = "/run/learner"  # in the namespace: the working folder
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store")
_ALSO = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
# Of its own process not `net` and `task`, which list the sockets of this machine by their names.
_SEEN = (
    *(f"/proc/self/{name}" for name in ("cmdline", "fd", "maps", "stat", "statm", "status")),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system"),
)
_DEVICES = ("null", "full", "random", "urandom")  # not zero: its shared pages count nowhere
_NVIDIA = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
_WHOLE = (Path("/usr"), Path("/usr/local"))  # prefixes of which the libraries alone are bound


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a learner's process runs: the folder of its file, what is hidden, where it writes.

    scratch: a folder of this machine, None in a namespace. hidden: folders that hold a secret.
    """

    level: Level
    folder: Path
    hidden: tuple[Path, ...]
    scratch: Path | None

    @property
    def working(self) -> str:
        """The folder that is its own."""
        return SCRATCH if self.scratch is None else str(self.scratch)


def place(folder: Path, hidden: tuple[Path, ...]) -> Place:
    """Choose the level and make the scratch folder.

    Raises ToolkitError where a secret would be in reach, UsageError for a folder that is all.
    """
    chosen = level()
    devices()
    for path in hidden:
        require_hidden(path / "secret.json", folder)
        if chosen == "off":
            raise ToolkitError(
                f"{path} holds secret.json, which a learner that is not contained could read: run "
                "it on the SPEC, move secret.json elsewhere, or leave --contain off out"
            )
        if chosen == "landlock" and folder in path.resolve().parents:
            raise ToolkitError(
                f"{path} holds secret.json and lies below the learner's folder, which Landlock "
                "cannot close: move one of them, or install bubblewrap"
            )
    for path, file in itertools.product(hidden, families()):
        if path.resolve() in file.parents:
            raise ToolkitError(f"{path} holds secret.json and {file.name}: move one of the two")
    if len(folder.parts) == 1:
        raise UsageError(f"a learner in {folder} given: put it in a folder of its own")
    scratch = None if chosen == "bubblewrap" else Path(tempfile.mkdtemp(prefix="hardness-learner-"))
    return Place(level=chosen, folder=folder, hidden=hidden, scratch=scratch)


def require_out_of_reach(
    file: Path | None, kept: Path, tells: str = "the seeds of its instances", what: str = "results"
) -> None:
    """Refuse a learner's file that could read what it must not know; raises ToolkitError.

    Its process can read its own folder. tells: what is told there, and `what` tells it, in words.
    """
    if file is None or level() == "off":
        return
    folder = file.resolve().parent
    if within(folder, kept):
        raise ToolkitError(
            f"{kept} given, in the folder of {file.name}: a learner can read its folder, and so "
            f"{tells}: put it in a folder of its own, or {what} elsewhere"
        )


def level() -> Level:
    """Return the level of containment: the one asked for, else the best that this system has.

    Raises UsageError for another word, ToolkitError where none can be held.
    """
    asked = os.environ.get(CONTAIN, "")
    if asked and asked not in get_args(Level):
        raise UsageError(f"--contain {asked} given: one of {', '.join(get_args(Level))}")
    if asked == "off":
        return "off"
    reason = unavailable()
    if asked != "landlock" and reason is None:
        return "bubblewrap"
    if asked != "bubblewrap" and fence.version() and fence.program() is not None:
        return "landlock"
    if asked:
        why = reason if asked == "bubblewrap" else "this system has no Landlock"
        raise ToolkitError(f"--contain {asked} given: {why}")
    raise ToolkitError(
        f"a learner from a file cannot be contained here: {reason}, and this system has no "
        "Landlock; for code that you trust: --contain off"
    )


@functools.cache
def unavailable() -> str | None:
    """Return None where bubblewrap runs on this machine, else the reason, in a few words."""
    if sys.platform != "linux":
        return "bubblewrap runs on Linux alone"
    found = shutil.which("bwrap")
    if found is None:
        return "bubblewrap is not installed (Debian, Ubuntu, Fedora: the package bubblewrap)"
    if fence.program() is None:
        return f"the system calls of {os.uname().machine} are not known here"
    tried = subprocess.run(
        [found, *_ISOLATION, *("--ro-bind", "/", "/"), *("--proc", "/proc"), "true"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    said = " ".join(tried.stderr.split())[:200]
    return f"bubblewrap cannot run ({said})" if tried.returncode else None


_ISOLATION = (
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
)


def command(where: Place, memory: int, given: dict[str, str], filter: int) -> list[str]:
    """Return what to put before a learner's command; nothing where it runs in no namespace.

    memory: bytes that its files in memory may hold, half of it in each of two places. given: its
    environment. filter: the descriptor that the filter of system calls is read from.
    """
    if where.level != "bubblewrap":
        return []
    size = ("--size", str(memory // 2), "--tmpfs")
    parts = [str(shutil.which("bwrap")), *_ISOLATION, "--clearenv"]
    parts += [text for name, value in given.items() for text in ("--setenv", name, value)]
    parts += ["--proc", "/proc", "--size", "1048576", "--tmpfs", "/dev", *size, "/dev/shm"]
    for name in _DEVICES + devices():
        parts += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0")):
        parts += ["--symlink", target, f"/dev/{name}"]
    parts += ["--size", str(memory // 16), "--tmpfs", "/tmp", *size, SCRATCH]
    for path in bound(where):
        if path.is_symlink() and str(path) in _SYSTEM:
            parts += ["--symlink", os.readlink(path), str(path)]
        else:
            parts += ["--ro-bind", str(path), str(path)]
    for path in where.hidden:
        there = str(path.resolve())
        parts += ["--size", "4096", "--tmpfs", there, "--remount-ro", there]
    # For root of this machine what /proc/sys has would be its to change.
    parts += ["--hostname", "learner", "--remount-ro", "/proc", "--remount-ro", "/dev"]
    parts += ["--remount-ro", "/", "--chdir", SCRATCH]
    return [*parts, "--seccomp", str(filter)]


def bound(where: Place) -> list[Path]:
    """List what a learner in a namespace can read, a folder before what lies in it.

    The system's libraries, the interpreter, the environment, this package, the learner's folder,
    the files of a user's families.
    """
    found = [Path(path) for path in (*_SYSTEM, *_ALSO)]
    found += [where.folder]
    for name in (sys.base_prefix, sys.base_exec_prefix, sys.prefix):
        prefix = Path(name)
        found += [] if prefix in _WHOLE else [prefix]
    found += links(Path(sys.executable).absolute())
    found += [packages() / "hardness", packages() / "instances", *families()]
    if site.ENABLE_USER_SITE and site.USER_SITE:
        found += [Path(site.USER_SITE)]
    if devices():  # the driver's libraries are elsewhere on some systems
        found += [Path("/sys"), Path("/usr/local/nvidia"), Path("/usr/local/cuda")]
    kept: list[Path] = []
    for path in sorted({path.absolute() for path in found}, key=lambda path: len(path.parts)):
        if path.exists() and not any(above in kept for above in path.parents):
            kept.append(path)
    return kept


def writable(where: Place) -> list[Path]:
    """List what a learner under Landlock can write."""
    return [Path(where.working), Path("/dev/null"), *(Path("/dev", name) for name in devices())]


def readable(where: Place) -> list[Path]:
    """List what a learner under Landlock can read besides its scratch folder."""
    return [*bound(where), *map(Path, _SEEN), *(Path("/dev", name) for name in _DEVICES)]


def links(path: Path) -> list[Path]:
    """List a path and what it leads to, link by link."""
    found = [path]
    while found[-1].is_symlink() and len(found) < 40:
        found.append(found[-1].parent / os.readlink(found[-1]))
    return found


def packages() -> Path:
    """Return the folder in which this package stands."""
    return Path(__file__).resolve().parents[3]


def devices() -> tuple[str, ...]:
    """List the entries of /dev of the device that --device names; raises UsageError for none."""
    name = os.environ.get(DEVICE, "").removeprefix("/dev/")
    if not name:
        return ()
    found = sorted(path for path in Path("/dev").glob("nvidia[0-9]*"))
    if name == "cuda":
        wanted = [path.name for path in found]
    else:
        wanted = [path.name for path in found if path.name == name]
    if not wanted:
        known = (
            ", ".join(["cuda", *(path.name for path in found)]) if found else "there is none here"
        )
        raise UsageError(f"--device {name} given: a GPU is needed: {known}")
    return (*wanted, *(other for other in _NVIDIA if Path("/dev", other).exists()))
