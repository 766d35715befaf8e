"""Two results of one key: which stands, and what makes them contradict each other."""

from hardness.runs.run import Run
from hardness.sweep.store.flat import comparable
from hardness.upper import Outcome
from instances.errors import ToolkitError

_SHOWN = 60
FAILED = frozenset(  # ends that the machine or a fault of the learner's code made
    {
        *(o.value for o in (Outcome.RAISED, Outcome.EXITED, Outcome.CRASHED, Outcome.BROKE_OFF)),
        *(o.value for o in (Outcome.NOT_LOADED, Outcome.TOO_MANY_PROCESSES)),
        Outcome.MEMORY_SPENT.value,
        "overdue",
        "could not run",
    }
)


class Conflict(ToolkitError):
    """Two reproducible results of one key differ."""


def decide(old: Run, new: Run) -> bool:
    """Say whether a run takes the place of an earlier one of its key; raises Conflict.

    One that is not reproducible gives way, and so does one that ended in a fault, which may have
    been mended since.
    """
    if not old.reproducible or old.outcome.value in FAILED:
        return new.reproducible or not old.reproducible
    if new.reproducible and new.outcome.value not in FAILED:
        reason = difference(old, new)
        if reason:
            raise Conflict(f"run {new.key} has two results: {reason}")
    return False


def difference(old: Run, new: Run) -> str | None:
    """Say in what two runs differ, times and memory apart; None where they do not."""
    one, other = comparable(old), comparable(new)
    names = [name for name in one if one[name] != other[name]]
    if not names:
        return None
    name = names[0]
    said = f"{name} is {str(one[name])[:_SHOWN]!r} and {str(other[name])[:_SHOWN]!r}"
    by, to = f"{old.machine} {old.versions}", f"{new.machine} {new.versions}"
    return said if by == to else f"{said}; done by {by} and by {to}"
