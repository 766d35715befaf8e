"""What can be read from a learner's folder: what lies below it, by whichever name it is given.

A folder can be mounted at a second place (bind mounts), and a file can have a second name (hard
links): what lies apart by its path may be the same.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from instances.errors import ToolkitError

_MOUNTS = Path("/proc/self/mountinfo")  # not on macOS


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A file system, or a folder of one, and where it is: device, folder there, place here."""

    device: str
    root: Path
    place: Path


def within(folder: Path, path: Path) -> bool:
    """Whether a path lies in a folder or below it, by this name or where it is mounted again."""
    folder, path = folder.resolve(), path.resolve()
    if path.is_relative_to(folder):
        return True
    found = mounts()
    device, inner = _origin(path, found)
    seen = [_origin(folder, found)]
    seen += [(one.device, one.root) for one in found if folder in one.place.parents]
    return any(at == device and inner.is_relative_to(root) for at, root in seen)


def require_hidden(secret: Path, folder: Path) -> None:
    """Refuse a secret file that could be read from the learner's folder; raises ToolkitError.

    Below it by its own path it is hidden; not so by another name.
    """
    if secret.exists() and secret.stat().st_nlink > 1:
        raise ToolkitError(
            f"{secret} has {secret.stat().st_nlink} names (hard links), and a learner could read "
            "it by another one: remove them, or copy the file"
        )
    if any(path.samefile(secret.parent) for path in (folder, *folder.parents)):
        raise ToolkitError(
            f"{folder} is, or is in, the folder of {secret.name}: put the learner elsewhere"
        )
    below = [one.place for one in mounts() if folder in one.place.parents]
    if below:
        raise ToolkitError(
            f"{below[0]} is mounted below the learner's folder, and the secret could be read "
            "there: put the learner in another folder"
        )
    if within(folder, secret) and not secret.resolve().is_relative_to(folder.resolve()):
        raise ToolkitError(
            f"{secret} lies in the learner's folder {folder} by another mount, where nothing "
            "hides it: put the learner elsewhere"
        )


def mounts() -> list[Mount]:
    """List what is mounted where, as the kernel tells; nothing on other systems than Linux."""
    lines = _MOUNTS.read_bytes().splitlines() if _MOUNTS.exists() else []
    found = []
    for line in lines:
        _, _, device, root, place = map(_name, line.split(b" ")[:5])
        found.append(Mount(device=device, root=Path(root), place=Path(place)))
    return found


def _name(field: bytes) -> str:
    """Read a field of mountinfo: bytes of a name, of which some stand as numbers."""
    plain = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), field)
    return plain.decode(errors="surrogateescape")


def _origin(path: Path, found: list[Mount]) -> tuple[str, Path]:
    """Say where a path lies: the device, and the path from the root of its file system."""
    above = [one for one in found if path.is_relative_to(one.place)]
    if not above:
        return "", path
    # Of several at one place the last hides the others.
    last = max(reversed(above), key=lambda one: len(one.place.parts))
    return last.device, last.root / path.relative_to(last.place)
