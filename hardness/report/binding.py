"""Which learners the certified numbers do not bind, in words."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hardness.upper.classes import CLASSES, class_of

if TYPE_CHECKING:
    from hardness.runs.run import Run


def unbound(runs: "Iterable[Run]") -> list[str]:
    """Name the learners that no certified number binds, each once: those by membership queries."""
    every = dict.fromkeys((run.learner, bool(run.usage.values)) for run in runs)
    free = (name for name, asked in every if class_of(name, asked) is CLASSES["membership"])
    return list(dict.fromkeys(free))


def unbound_words(runs: "Iterable[Run]", short: Callable[[str], str]) -> list[str]:
    """Say of the learners that no certified number binds that none does; empty where each may.

    short: writes the name of a learner.
    """
    names = [short(name) for name in unbound(runs)]
    found = CLASSES["membership"]
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} {found.does}: no statistical-query bound binds it."]
    return [f"{', '.join(names)} {found.do}: no statistical-query bound binds them."]
