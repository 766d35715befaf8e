"""The errors of the toolkit, each with its exit code; a message is one line."""

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from instances.text import cut

_MESSAGE_LENGTH, _QUOTE_LENGTH = 1000, 100  # characters of a message, and of a name quoted in it


class ToolkitError(Exception):
    """Something could not be done; the message says what is wrong, what is allowed, what to do."""

    exit_code = 1

    def __init__(self, message: object = "") -> None:
        """Put the message on one line, and cut out its middle if it is too long."""
        line = cut(str(message), sys.maxsize)
        half = _MESSAGE_LENGTH // 2
        if len(line) > _MESSAGE_LENGTH:
            line = f"{line[: half - 1]}…{line[-half:]}"
        super().__init__(line)


class UsageError(ToolkitError, ValueError):
    """The request is wrong: a value out of range, an unknown name, the wrong kind of file."""

    exit_code = 2


class UnknownFamily(UsageError):
    """A spec names a family that is neither built in nor named by the user."""


class DamagedFile(ToolkitError):
    """A file is damaged, truncated or not one of ours."""


class AlreadyExists(ToolkitError):
    """An output is in the way and was kept."""


class TooLarge(ToolkitError):
    """The request does not fit in the memory or on the disk of this machine."""


def require(condition: bool, message: str) -> None:
    """Refuse a parameter that is out of range; raises UsageError."""
    if not condition:
        raise UsageError(message)


def unknown(subject: str, name: str, known: Iterable[str], listed: str = "") -> UsageError:
    """Build the error for an unknown name, with the nearest known one.

    listed: a command that lists the names, for the message to give in place of the names.

    >>> str(unknown("family", "partiy", ["parity"]))
    "unknown family 'partiy': did you mean 'parity'? known: parity"
    >>> str(unknown("family", "partiy", ["parity"], listed="`hardness families`"))
    "unknown family 'partiy': did you mean 'parity'? `hardness families` lists all"
    """
    if gone := withdrawn(subject.removesuffix(" or catalog name"), name):
        return UsageError(gone)
    names, shown = sorted(known), cut(name, _QUOTE_LENGTH)
    if not names:
        return UsageError(f"unknown {subject} '{shown}': there are none")
    near = get_close_matches(name[:_QUOTE_LENGTH], names, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? " if near else ""
    rest = f"{listed} lists all" if listed else f"known: {', '.join(names)}"
    return UsageError(f"unknown {subject} '{shown}': {hint}{rest}")


@cache
def withdrawn_names() -> Mapping[str, Mapping[str, str]]:
    """Return replacements of names of earlier versions, by kind (command, family, option)."""
    import tomllib  # needed only when a name is refused

    table: dict[str, dict[str, str]] = tomllib.loads(
        Path(__file__).with_name("withdrawn.toml").read_text(encoding="utf-8")
    )
    return table


def withdrawn(kind: str, name: str) -> str:
    """Say that a name is gone and what replaces it; empty for a name that never existed.

    >>> withdrawn("command", "challenge"), withdrawn("command", "certify")
    ("the command 'challenge' is gone", '')
    """
    instead = withdrawn_names().get(kind, {}).get(name)
    if instead is None:
        return ""
    return f"the {kind} '{name}' is gone" + (f": {instead}" if instead else "")


class Refuted(ToolkitError):
    """A certificate, a bound or a family failed: the claim does not follow from its proof."""

    exit_code = 3
