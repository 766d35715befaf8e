"""What a learner's process can read must not hold the secret of the challenge that it runs on."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hardness.runs.challenge.record import Challenge
from hardness.upper.isolated import contain
from instances.errors import ToolkitError, UsageError

_LARGEST = 1 << 22  # bytes of a secret file
_MOST = 10_000  # files of a learner's folder


def require_out_of_reach(challenge: Challenge, file: Path) -> None:
    """Refuse a learner's file where the challenge's secret file lies beside it, or below.

    Its folder is what its process can read. By content: under any name, through links of any kind,
    as a copy. Raises ToolkitError with the place, UsageError for a folder of over 10,000 files.
    """
    folder = file.resolve().parent
    for count, path in enumerate(_files(folder), 1):
        if count > _MOST:
            raise UsageError(
                f"the learner's folder {folder} holds over {_MOST} files, and its process may read "
                "them all: put the learner in a folder of its own"
            )
        if _tells(path, challenge.id.encode()):
            raise ToolkitError(
                f"{path} is the secret of this challenge, and the learner's process may read all "
                f"of {folder}: keep the secret, and every link to it, elsewhere"
            )


def require_contained() -> None:
    """Refuse to run a learner from a file but in bubblewrap, or as the user says; ToolkitError."""
    if contain.level() == "landlock":
        raise ToolkitError(
            f"{contain.unavailable() or 'Landlock was asked for'}: a challenge runs a learner from "
            "a file in bubblewrap alone, which leaves nothing else of this machine in its reach; "
            "for a learner of your own: --contain off"
        )


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names)


def _tells(path: Path, name: bytes) -> bool:
    """Return whether a file names the challenge and holds a nonce; what cannot be read does not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return False
        data = file.read(_LARGEST)
    return name in data and b'"nonce"' in data
