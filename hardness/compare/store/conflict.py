"""Two results of one key: which stands, and what makes them contradict each other."""

from collections.abc import Collection

from hardness.compare.store.flat import comparable
from hardness.compare.store.rows import RunRow
from instances.errors import ToolkitError

_SHOWN = 60


class Conflict(ToolkitError):
    """Two reproducible results of one key differ."""


def keeps(old: RunRow, failed: Collection[str]) -> bool:
    """Say whether a run stands against a later one of its key.

    One that is not reproducible gives way, and so does one that ended in a fault, which may have
    been mended since.
    """
    return old.reproducible and old.run.outcome.value not in failed


def difference(old: RunRow, new: RunRow) -> str | None:
    """Say in what two runs differ, times and memory apart; None where they do not."""
    one, other = comparable(old), comparable(new)
    names = [name for name in one if one[name] != other[name]]
    if not names:
        return None
    name = names[0]
    return f"{name} is {str(one[name])[:_SHOWN]!r} and {str(other[name])[:_SHOWN]!r}"
