"""A control group of the kernel for a learner, where one can be made: it counts all of its memory.

Pages, files in memory and what the kernel keeps for its processes count, and the kernel ends one of
them before there is more. Root can make a group, and whoever is given a part of the tree; elsewhere
there is none, and what is resident and in files is measured. [cgroups(7)]
"""

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_BESIDE = 64 << 20  # bytes beyond the limit: what is measured comes to it first, where it can be
_NUMBERS = itertools.count()


class Group:
    """A group with a limit, and the file that says whether it was come to."""

    def __init__(self, folder: Path, events: str) -> None:
        """Take a group that was made."""
        self._folder, self._events = folder, folder / events

    def within(self, command: list[str]) -> list[str]:
        """Return a command that goes into the group before all else."""
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["/bin/sh", "-c", enter, str(self._folder / "cgroup.procs"), *command]

    def passed(self) -> bool:
        """Return whether the kernel had to end a process of it."""
        found = re.search(rb"^oom_kill ([0-9]+)", self._events.read_bytes(), re.MULTILINE)
        return found is not None and int(found[1]) > 0

    def remove(self) -> None:
        """Remove it, once its processes have ended."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                self._folder.rmdir()
                return
            time.sleep(0.01)


def group(memory: int) -> Group | None:
    """Make a group of so many bytes below that of this process; None where that cannot be."""
    most = str(memory + _BESIDE)
    for folder, limit, swap, events in _places():
        with contextlib.suppress(OSError):
            for left in folder.glob("hardness-*"):  # of a process that was killed
                if not Path("/proc", left.name.split("-")[1]).exists():
                    left.rmdir()
            made = folder / f"hardness-{os.getpid()}-{next(_NUMBERS)}"
            made.mkdir()
            try:
                (made / limit).write_text(most)
            except OSError:
                made.rmdir()
                continue
            with contextlib.suppress(OSError):  # a system without swap
                (made / swap).write_text("0" if swap == "memory.swap.max" else most)
            return Group(made, events)
    return None


def _places() -> Iterator[tuple[Path, str, str, str]]:
    """Find the group of this process: its folder, and the files of limits and of what happened."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for number, kinds, path in (line.split(":", 2) for line in lines):
        if "memory" in kinds.split(","):  # version 1
            limits = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
            yield _ROOT / "memory" / path.lstrip("/"), *limits, "memory.oom_control"
        elif number == "0":
            yield _ROOT / path.lstrip("/"), "memory.max", "memory.swap.max", "memory.events"
