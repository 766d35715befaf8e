"""bubblewrap around a learner's process, where it runs: without network, with few files to read."""

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from instances.errors import ToolkitError, UsageError

SANDBOX = "HARDNESS_SANDBOX"  # set by --sandbox
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/nix/store", "/etc/ld.so.cache", "/etc/localtime")
_CLOSED = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
SCRATCH = "/run/learner"  # in the sandbox: the working folder, in memory
_EMPTY = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", SCRATCH)
PACKAGES = Path(__file__).resolve().parents[3]  # the folder in which this package stands


def sandboxed() -> bool:
    """Whether learners from files run in bubblewrap; raises ToolkitError if --sandbox cannot."""
    reason = unavailable()
    if reason and os.environ.get(SANDBOX):
        raise ToolkitError(f"--sandbox given: {reason}; leave it out for code that you trust")
    return reason is None


@cache
def unavailable() -> str | None:
    """Return None if bubblewrap runs on this machine, else the reason in a few words."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu, Fedora: the package bubblewrap)"
    command = ["bwrap", *_CLOSED, *_EMPTY, *_bound("--ro-bind-try", map(Path, _SYSTEM)), "true"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    reason = " ".join(tried.stderr.split())[:200]
    return f"bubblewrap cannot run ({reason})" if tried.returncode else None


def prefix(folder: Path, secrets: tuple[Path, ...]) -> list[str]:
    """Return what stands before the command of a learner.

    folder: of its file. secrets: folders that hold a secret. It reads the system, the interpreter
    with its packages, this package and its folder.
    """
    if folder == Path(folder.anchor):
        raise UsageError(f"a learner in {folder} given: put it in a folder of its own")
    python = Path(sys.executable).absolute()
    read = [Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.prefix), python]
    while read[-1].is_symlink():
        read.append(read[-1].parent / os.readlink(read[-1]))
    read += [PACKAGES / "hardness", PACKAGES / "instances", folder]
    if site.ENABLE_USER_SITE and site.USER_SITE:
        read.append(Path(site.USER_SITE))
    cards = sorted(Path("/dev").glob("nvidia*"))
    if cards:  # the driver's own places
        read.append(Path("/sys"))
    read += map(Path, _SYSTEM)
    outer = [path for path in dict.fromkeys(read) if not {*path.parents} & {*read}]
    return [
        *("bwrap", *_CLOSED, *_EMPTY, *_bound("--ro-bind-try", outer)),
        *_bound("--dev-bind", cards),
        *(text for path in secrets for text in ("--tmpfs", str(path.resolve()))),
        *("--chdir", SCRATCH),
    ]


def _bound(option: str, paths: Iterable[Path]) -> list[str]:
    return [text for path in paths for text in (option, str(path), str(path))]


def require_hidden(folder: Path, secrets: tuple[Path, ...]) -> None:
    """Refuse a secret that nothing can hide from a learner; raises ToolkitError."""
    for secret in secrets:
        if folder.is_relative_to(secret.resolve()):
            reason = f"{secret} holds secret.json and the learner: move one of the two"
            raise ToolkitError(reason)


def require_out_of_reach(
    file: Path | None, kept: Path, tells: str = "the seeds of its instances", what: str = "results"
) -> None:
    """Refuse a learner's file whose folder holds what it must not know; raises ToolkitError.

    tells: what is told there, and `what` tells it, in words.
    """
    if file and kept.resolve().is_relative_to(file.resolve().parent):
        raise ToolkitError(
            f"{kept} given, in the folder of {file.name}: a learner can read its folder, and so "
            f"{tells}: put it in a folder of its own, or {what} elsewhere"
        )
