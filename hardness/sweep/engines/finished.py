"""What became of a job: its result, or what went wrong after all attempts."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from hardness.sweep.jobs.job import content_key
from instances.errors import ToolkitError, UsageError

# died: its process ended, by a signal or by itself. overdue: over its hard limit of seconds.
# memory: over its hard limit. raised: an exception that is a fault. refused: a ToolkitError, such
# as a size that does not fit here.
Failure = Literal["died", "overdue", "memory", "raised", "refused"]


class Aborted(ToolkitError):
    """An engine was told to stop: what ran is neither done nor a failure, and may be done again."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The hard limits of one attempt, held from outside, and how often a job is tried again.

    seconds: of wall-clock time; memory_bytes: resident, of the worker process; None is no limit.
    retries: after a process that died, or was ended at a limit. Raises UsageError out of range.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    retries: int = 2

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_bytes"):
            given = getattr(self, name)
            if given is not None and not 0 < given < 2**63:
                raise UsageError(f"a limit of {given} {name} given: it must be above 0")
        if not 0 <= self.retries <= 100:
            raise UsageError(f"retries={self.retries} given: 0 to 100")


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a job: `result` is what it gave, or None with the failure and why.

    attempts: from 1. seconds: of the last one, wall clock, of the job alone. where: host and
    process that did it.
    """

    key: str
    result: dict[str, Any] | None = None
    failure: Failure | None = None
    why: str = ""
    attempts: int = 1
    seconds: float = 0.0
    where: str = ""

    def to_json(self) -> dict[str, Any]:
        """Write it."""
        return dict(vars(self))  # not asdict: it would copy the result, at any depth

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Finished":
        """Read it."""
        return Finished(**data)


def died(payload: str, why: str) -> Finished:
    """Write down that the process which had a job is gone, and nobody saw how.

    >>> died('{"kind": "none"}', "its worker was killed").failure
    'died'
    """
    return Finished(key=key_of(payload), failure="died", why=why)


def key_of(payload: str) -> str:
    """Return the content key of the job of a payload, {"kind": ..., **job.to_json()} as text."""
    given = json.loads(payload)
    return content_key(given.pop("kind"), given)
