"""Landlock: what files a process and all that it starts may touch from now on, without any right.

A Linux of 5.13 or later that has it switched on can do this for whoever asks. A process under it
writes only below the folders given, may not look into other processes' memory, and (6.12) may send
signals to nobody outside.
"""

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ or TYPE_CHECKING:
    from hardness.upper.isolated.linux import NO_NEW_PRIVILEGES, libc, prctl
else:  # of the guard, which is a script
    from linux import NO_NEW_PRIVILEGES, libc, prctl

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_CHANGES = sum(1 << bit for bit in range(4, 13))  # remove and make whatever
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_READS = _EXECUTE | _READ | _LIST
_SIGNALS = 1 << 1


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that the system has; 0 where it has none."""
    if not hasattr(os, "O_PATH"):  # not Linux
        return 0
    return max(0, _call(_CREATE, None, 0, 1))


def restrict(writable: list[Path], hidden: list[Path]) -> bool:
    """Let this process write below `writable` only, and read nothing below `hidden`.

    It holds for the thread that asks and for all that this one starts. False, and nothing has
    changed, where the system cannot do it.
    """
    there = version()
    if not there:
        return False
    writes = _WRITE | _CHANGES | (_REFER if there >= 2 else 0) | (_TRUNCATE if there >= 3 else 0)
    handled = writes | (_READS if hidden else 0)
    rules = _Rules(files=handled, scoped=_SIGNALS if there >= 6 else 0)
    size = 24 if there >= 6 else 8
    made = _call(_CREATE, ctypes.byref(rules), size, 0)
    if made < 0:
        return False
    try:
        for path in writable:
            _allow(made, path, handled)
        if hidden:
            for path in all_but(hidden):
                _allow(made, path, _READS)
        prctl(NO_NEW_PRIVILEGES, 1)
        return _call(_RESTRICT, made, 0) == 0
    finally:
        os.close(made)


def all_but(hidden: list[Path]) -> list[Path]:
    """List paths below which lies all that there is, but for what lies below the hidden ones.

    >>> here = Path(__file__).parent
    >>> kept = all_but([here])
    >>> here in kept, Path(__file__) in kept, here.parent / "learner.py" in kept
    (False, False, True)
    """
    closed = {path.resolve() for path in hidden}
    opened = {above for path in closed for above in path.parents} - closed
    found = []
    for folder in sorted(opened):
        if any(above in closed for above in folder.parents):
            continue
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            continue
        others = [entry for entry in entries if entry not in opened and entry not in closed]
        # A link is judged by what it leads to: a rule for it would be one for that.
        found += [entry for entry in others if not entry.is_symlink()]
    return found


def _allow(rules: int, path: Path, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return  # it is gone, or not for us
    try:
        if not path.is_dir():
            allowed &= _EXECUTE | _WRITE | _READ | _TRUNCATE
        rule = _Beneath(allowed=allowed, parent=place)
        _call(_ADD, rules, 1, ctypes.byref(rule), 0)
    except OSError:
        return
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(libc().syscall(ctypes.c_long(number), *given))
