"""Limits on what learners may use, as arguments of the functions of `import hardness`."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from fractions import Fraction

    from hardness.oracles import Budget

    Number = int | float | str | Fraction


class Limits(TypedDict, total=False):
    """What learners may use: 60 seconds if nothing is said, and all else without limit.

    budget_values are membership queries; budget_cpu (seconds) and budget_memory (bytes, or a text
    such as 4GiB) are of each process of learners from files.
    """

    budget_examples: int | None
    budget_queries: int | None
    budget_values: int | None
    budget_seconds: "Number | None"
    budget_cpu: "Number | None"
    budget_memory: int | str | None


_FIELDS = {"budget_cpu": "cpu_seconds", "budget_memory": "memory_bytes"}


def budget_of(limits: Mapping[str, Any], seconds: float | None = 60.0) -> "Budget":
    """Make a budget from arguments named as in `Limits`.

    seconds: the limit if none is given. Raises UsageError for a limit out of range, and TypeError
    for another name.

    >>> budget_of({"budget_examples": 100}).examples
    100
    """
    from hardness.oracles import Budget
    from instances.arguments import integral, number_between
    from instances.limits import bytes_of

    read: dict[str, Any] = {"seconds": seconds}
    for name, value in limits.items():
        if name not in Limits.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
        field = _FIELDS.get(name, name.removeprefix("budget_"))
        if value is None:
            read[field] = None
        elif field in ("seconds", "cpu_seconds"):
            read[field] = number_between(name, value, 0)
        elif field == "memory_bytes" and isinstance(value, str):
            read[field] = bytes_of(value, name)
        else:
            read[field] = integral(name, value, 1)
    return Budget(**read)


def cores(jobs: int | None) -> int:
    """Return the number of processes: `jobs`, or all cores if it is None; raises UsageError."""
    from instances.arguments import integral

    return (os.cpu_count() or 1) if jobs is None else integral("jobs", jobs, 0) or 1
