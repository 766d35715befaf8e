"""Names of former versions, each with what serves instead: a request for one is refused with it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def withdrawn_names() -> Mapping[str, Mapping[str, str]]:
    """Return what serves instead of each name, by what it named: command, family, option, ..."""
    import tomllib  # where a name is refused, and nowhere else

    table: dict[str, dict[str, str]] = tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    )
    return table


def withdrawn(kind: str, name: str) -> str:
    """Say that a name is gone and what serves instead; empty for a name that never was.

    >>> withdrawn("command", "challenge"), withdrawn("command", "certify")
    ("the command 'challenge' is gone", '')
    """
    instead = withdrawn_names().get(kind, {}).get(name)
    if instead is None:
        return ""
    return f"the {kind} '{name}' is gone" + (f": {instead}" if instead else "")
