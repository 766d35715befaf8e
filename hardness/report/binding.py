"""Which learners no bound on statistical queries binds, though they see no examples, in words."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hardness.upper.classes import CLASSES, class_of

if TYPE_CHECKING:
    from hardness.runs.run import Run


def unbound(runs: "Iterable[Run]") -> list[str]:
    """Name the learners by membership queries, each once."""
    every = dict.fromkeys((run.learner, bool(run.usage.values)) for run in runs)
    free = (name for name, asked in every if class_of(name, asked) is CLASSES["membership"])
    return list(dict.fromkeys(free))


def unbound_words(runs: "Iterable[Run]", short: Callable[[str], str]) -> list[str]:
    """Say of learners by membership queries what binds them; empty where there are none.

    A label that is chosen is a label: the information floor counts it as an example. short: writes
    the name of a learner.
    """
    names = [short(name) for name in unbound(runs)]
    found = CLASSES["membership"]
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} {found.does}: only the information floor binds it."]
    return [f"{', '.join(names)} {found.do}: only the information floor binds them."]
