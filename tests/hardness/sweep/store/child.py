"""Child processes of tests by fork, which need not import all again, and file systems for them."""

import ctypes
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

_NEW_USER, _NEW_MOUNTS, _BIND, _REMOUNT, _READ_ONLY = 0x10000000, 0x20000, 4096, 32, 1


def forked(work: Callable[[TextIO], None]) -> tuple[int, TextIO]:
    """Start a child that writes lines to a pipe: its process id, and where to read them."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
        pid = os.fork()
    if pid:
        os.close(writing)
        return pid, os.fdopen(reading)
    try:
        os.close(reading)
        with os.fdopen(writing, "w", buffering=1) as out:
            try:
                work(out)
            except BaseException as error:
                out.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(0)


def said(work: Callable[[TextIO], None]) -> list[str]:
    """Return the lines that a child writes until it ends."""
    pid, lines = forked(work)
    with lines:
        found = lines.read().splitlines()
    os.waitpid(pid, 0)
    if found and "namespaces" in found[0]:
        pytest.skip(found[0])
    return found


def mount(folder: Path, megabytes: int | None) -> None:
    """In a child: mount a small disk on a folder, or with None the folder itself read-only."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()

    def call(name: str, *arguments: object) -> None:
        if getattr(libc, name)(*arguments):
            raise OSError(ctypes.get_errno(), f"namespaces are not allowed here: {name}")

    call("unshare", _NEW_USER | _NEW_MOUNTS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    place = os.fsencode(folder)
    if megabytes is not None:
        call("mount", b"tmpfs", place, b"tmpfs", 0, f"size={megabytes}m".encode())
        return
    call("mount", place, place, None, _BIND, None)
    call("mount", None, place, None, _BIND | _REMOUNT | _READ_ONLY, None)
