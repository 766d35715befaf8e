"""Budgets and their use: examples, queries, values, seconds, bytes."""

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from hardness.oracles import clock
from instances.arguments import integral, real
from instances.errors import UsageError

Resource = Literal["examples", "queries", "values", "seconds"]
_MAX_SECONDS = 1e9  # 31 years: every clock and timeout of the system can hold this


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits on what a learner may use; None means no limit. Raises UsageError for bad limits.

    Each limit is above 0. seconds and cpu_seconds are at most 1e9; the others are integers. values
    counts membership queries: labels of inputs that the learner chooses.

    cpu_seconds and memory_bytes (resident) count all processes of the learner together. They are
    enforced if the learner runs in a process of its own, as those from files do.

    >>> Budget(examples=100).examples
    100
    """

    examples: int | None = None
    queries: int | None = None
    values: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        for name in ("examples", "queries", "values", "memory_bytes"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, integral(f"a budget of {name}", given, 1))
        for name in ("seconds", "cpu_seconds"):
            if (given := getattr(self, name)) is None:
                continue
            found = real(f"a budget of {name}", given)
            if not 0 < found <= _MAX_SECONDS:
                raise UsageError(
                    f"a budget of {name} must be above 0 and at most {_MAX_SECONDS:g}, "
                    f"got {found:g}; leave it out for none"
                )
            object.__setattr__(self, name, found)

    @property
    def needs_process(self) -> bool:
        """Whether a learner that computes for long is kept within them only in its own process."""
        limits = (self.seconds, self.cpu_seconds, self.memory_bytes)
        return os.name == "posix" and any(limit is not None for limit in limits)


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a learner used; peak_bytes is the peak resident memory of its process while it learned.

    On systems other than Linux it is the peak since the process started. For a learner in a process
    of its own it is the peak of all its processes together.
    """

    examples: _Count
    queries: _Count
    values: _Count = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
    peak_bytes: _Count


class Spent(Exception):
    """A budget is used up; `resource` names it."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        self.resource: Resource = resource


class Meter:
    """Counts what is used, and raises Spent when the budget is used up."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.examples = 0
        self.queries = 0
        self.values = 0
        self.peak_bytes: int | None = None  # of a learner in a process of its own
        self.offered: Any = None
        self.restart()

    def offer(self, hypothesis: Any) -> None:
        """Keep the best hypothesis so far: the result, if a budget is spent before the next one."""
        self.offered = hypothesis

    def restart(self) -> None:
        """Restart the clock: the imports of a learner do not count as learning."""
        self._start = clock.now()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return clock.now() - self._start

    def take_examples(self, count: int) -> int:
        """Take up to `count` examples of the budget; raises Spent if none is left."""
        self.require_time()
        limit = self.budget.examples
        granted = count if limit is None else min(count, limit - self.examples)
        if granted <= 0 < count:
            raise Spent("examples")
        self.examples += granted
        return granted

    def take_query(self, count: int = 1) -> None:
        """Take `count` queries of the budget; raises Spent if fewer are left."""
        self.require_time()
        if self.budget.queries is not None and self.queries + count > self.budget.queries:
            raise Spent("queries")
        self.queries += count

    def require_values(self, count: int) -> None:
        """Raise Spent if fewer than `count` values are left in the budget, or no seconds."""
        self.require_time()
        if self.budget.values is not None and self.values + count > self.budget.values:
            raise Spent("values")

    def take_values(self, count: int) -> None:
        """Take `count` values of the budget; if fewer are left, takes none and raises Spent."""
        self.require_values(count)
        self.values += count

    def has_time(self) -> bool:
        """Return whether any seconds are left."""
        return self.budget.seconds is None or self.seconds <= self.budget.seconds

    def require_time(self) -> None:
        """Raise Spent if no seconds are left."""
        if not self.has_time():
            raise Spent("seconds")

    def usage(self) -> Usage:
        """Return what was used so far."""
        peak = peak_bytes() if self.peak_bytes is None else self.peak_bytes
        counts = {"examples": self.examples, "queries": self.queries, "values": self.values}
        return Usage(**counts, seconds=self.seconds, peak_bytes=peak)


def restart_peak(*processes: int) -> None:
    """Reset the peak memory of these processes, or of this one; has an effect only on Linux."""
    for process in processes or (os.getpid(),):
        with suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Return the peak resident memory of this process in bytes, 0 if the system has no number."""
    # On Linux getrusage never reports less than the parent used when it started this process.
    if peak := memory_peak(os.getpid()):
        return peak
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_peak(pid: int) -> int:
    """Read the peak resident memory of a process since `restart_peak`, in bytes; 0 for none."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_bytes()
        if line := re.search(rb"^VmHWM:\s*(\d+) kB", text, re.MULTILINE):
            return 1024 * int(line[1])
    return 0
