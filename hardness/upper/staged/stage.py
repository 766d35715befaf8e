"""What a stage leaves behind: a report with its measures, or why it could not go on."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from hardness.oracles import Spent
from instances.errors import UsageError

# The seconds that are left; raises Spent where there are none. A stage asks between bounded pieces.
Clock = Callable[[], float]


def endless() -> float:
    """Be the clock of a stage that may take as long as it needs.

    >>> endless()
    inf
    """
    return math.inf


def require_seconds(clock: Clock, needed: float) -> None:
    """Raise Spent where a piece of work that cannot be stopped would take longer than is left.

    >>> require_seconds(endless, 1e9)
    """
    if clock() < needed:
        raise Spent("seconds")


class StageFailed(UsageError):
    """A stage cannot go on; `needs` is the number of examples it asks for, None if more won't do.

    >>> raise StageFailed("moment", "3 examples given", needs=32)
    Traceback (most recent call last):
    hardness.upper.staged.stage.StageFailed: stage moment: 3 examples given: at least 32 are needed
    """

    def __init__(self, stage: str, why: str, needs: int | None = None) -> None:
        super().__init__(
            f"stage {stage}: {why}" + (f": at least {needs} are needed" if needs else "")
        )
        self.stage = stage
        self.needs = needs


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """One run of one stage: seconds, examples it read, rows it accepted, its own error measures.

    >>> StageReport(name="moment", seconds=0.1, examples=8, rows=8).to_dict()["rows"]
    8
    """

    name: str
    seconds: float
    examples: int
    rows: int
    measures: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-able values."""
        return asdict(self)
