"""What a stage reports, and the error it raises if it cannot go on."""

from dataclasses import dataclass, field

from instances.errors import UsageError


class StageFailed(UsageError):
    """A stage cannot go on; `needs` is the number of examples it asks for, None if more won't do.

    >>> raise StageFailed("moment", "3 examples", needs=32)
    Traceback (most recent call last):
    hardness.learners.staged.reports.StageFailed: stage moment: 3 examples: at least 32 are needed
    """

    def __init__(self, stage: str, why: str, needs: int | None = None) -> None:
        super().__init__(
            f"stage {stage}: {why}" + (f": at least {needs} are needed" if needs else "")
        )
        self.needs = needs


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """One run of one stage: seconds, examples it read, rows it accepted, its own error measures."""

    name: str
    seconds: float
    examples: int
    rows: int
    measures: dict[str, float] = field(default_factory=dict)
