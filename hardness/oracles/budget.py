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
_LONGEST = 1e9  # seconds: 31 years, which every clock and timeout of the system can hold


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a learner may use; None means no limit. Raises UsageError for what cannot be a limit.

    Every one is above 0; seconds and cpu_seconds are at most 1e9, the others integers. values are
    membership queries: labels of inputs that the learner chooses.

    cpu_seconds and memory_bytes (resident) are of all its processes together: they are held where
    a learner runs in a process of its own, as those from files do.

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
            if not 0 < found <= _LONGEST:
                raise UsageError(
                    f"a budget of {name} must be above 0 and at most {_LONGEST:g}, got {found:g}; "
                    "leave it out for none"
                )
            object.__setattr__(self, name, found)

    @property
    def needs_process(self) -> bool:
        """Whether only a process of its own keeps a learner within it that computes for long."""
        limits = (self.seconds, self.cpu_seconds, self.memory_bytes)
        return os.name == "posix" and any(limit is not None for limit in limits)


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a learner used; peak_bytes is the peak resident memory of its process while it learned.

    Where the system is not Linux it is that of the process so far. Of a learner in a process of its
    own it is that of all its processes together.
    """

    examples: _Count
    queries: _Count
    values: _Count = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
    peak_bytes: _Count


class Spent(Exception):
    """A budget ran out; `resource` says which."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        self.resource: Resource = resource


class Meter:
    """Counts what is used and says when the budget is spent."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.examples = 0
        self.queries = 0
        self.values = 0
        self.peak_bytes: int | None = None  # of a learner in a process of its own
        self.offered: Any = None
        self.restart()

    def offer(self, hypothesis: Any) -> None:
        """Keep the best hypothesis so far: the run's, if a budget is spent before the next."""
        self.offered = hypothesis

    def restart(self) -> None:
        """Start the clock again: what a learner imports is not part of its learning."""
        self._start = clock.now()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return clock.now() - self._start

    def take_examples(self, count: int) -> int:
        """Take up to `count` examples of the budget; raises Spent where none is left."""
        self.require_time()
        limit = self.budget.examples
        granted = count if limit is None else min(count, limit - self.examples)
        if granted <= 0 < count:
            raise Spent("examples")
        self.examples += granted
        return granted

    def take_query(self, count: int = 1) -> None:
        """Take one query of the budget, or `count`; raises Spent where so many are not left."""
        self.require_time()
        if self.budget.queries is not None and self.queries + count > self.budget.queries:
            raise Spent("queries")
        self.queries += count

    def require_values(self, count: int) -> None:
        """Raise Spent where the budget has not `count` values left, or the seconds are over."""
        self.require_time()
        if self.budget.values is not None and self.values + count > self.budget.values:
            raise Spent("values")

    def take_values(self, count: int) -> None:
        """Take `count` values of the budget; raises Spent, and takes none, where fewer are left."""
        self.require_values(count)
        self.values += count

    def has_time(self) -> bool:
        """Return whether the seconds are not over yet."""
        return self.budget.seconds is None or self.seconds <= self.budget.seconds

    def require_time(self) -> None:
        """Raise Spent where the seconds are over."""
        if not self.has_time():
            raise Spent("seconds")

    def usage(self) -> Usage:
        """Return what was used so far."""
        peak = peak_bytes() if self.peak_bytes is None else self.peak_bytes
        counts = {"examples": self.examples, "queries": self.queries, "values": self.values}
        return Usage(**counts, seconds=self.seconds, peak_bytes=peak)


def restart_peak(*processes: int) -> None:
    """Let the peak memory of processes, or of this one, start again from now; on Linux alone."""
    for process in processes or (os.getpid(),):
        with suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Return the peak resident memory of this process in bytes, 0 where the system cannot say."""
    # What getrusage says there is never less than its parent held when it was started.
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
