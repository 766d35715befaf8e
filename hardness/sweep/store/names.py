"""Texts that stand once in a store, and what is read off them for tables that are queried."""

import math
import re
from typing import Any

from hardness.sweep.store.seal import compact
from instances.errors import UsageError
from instances.parameters import split_list
from instances.strict import loads

_NAME = re.compile(r"[A-Za-z][\w-]*")


def derived(table: str, text: str) -> tuple[Any, ...]:
    """Read the columns of a name off its text; raises ValueError or KeyError for what is none.

    >>> derived("spec", "parity:d=8,m=2,noise=0.1,rho=1/3")
    ('parity', '{"d":8,"m":2,"noise":0.1,"rho":"1/3"}')
    >>> derived("ending", '["solved","none"]')
    ('solved', 'none', 1)
    """
    if table in ("spec", "learner"):
        return _called(text)
    found = loads(text)
    if table == "ending":
        outcome, bound = found
        return outcome, bound, int(bound in ("none", "examples", "queries"))
    if table == "budget":
        parts = ("examples", "queries", "seconds", "cpu_seconds", "memory_bytes")
        return tuple(_column(found.get(part)) for part in parts)
    versions, revisions = found["versions"], found["revisions"]
    return (
        found["machine"],
        compact(versions),
        *(versions.get(part) for part in ("hardness", "numpy", "python")),
        *(revisions.get(part) for part in ("family", "learner")),
    )


def _called(text: str) -> tuple[str, str]:
    """Take "name:key=value,..." apart; what is no such name, as a file's, is kept whole."""
    name, _, rest = text.partition(":")
    if not _NAME.fullmatch(name):
        return text, "{}"
    try:
        pairs = [part.partition("=") for part in split_list(rest)] if rest else []
    except UsageError:  # brackets that do not match: no list of parameters
        return text, "{}"
    if not all(equals for _, equals, _ in pairs):
        return text, "{}"
    return name, compact({key: _value(value) for key, _, value in pairs})


def _value(text: str) -> int | float | str:
    """Read a number that JSON holds exactly enough; anything else stays a text."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        fits = abs(value) < 2**63 if kind is int else math.isfinite(value)
        return value if fits else text
    return text


def _column(value: Any) -> Any:
    """Write a number as SQLite takes it: integers of 2^63 and more as texts."""
    return str(value) if isinstance(value, int) and value >= 2**63 else value
