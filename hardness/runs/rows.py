"""What a store holds, as records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hardness.runs.run import Run

NO_RUNS = ("certificates",)  # labels of the jobs that are not runs of a learner


@dataclass(frozen=True, kw_only=True)
class CertificateRow:
    """A certificate (hardness-certificate JSON) with the terms it is about."""

    key: str
    spec: str
    terms: dict[str, Any]
    certificate: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """The data of a figure, by its name; a later one of the same name takes its place.

    written: seconds since 1970; 0 until a store holds it.
    """

    name: str
    data: dict[str, Any]
    written: float = field(default=0.0, compare=False)


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """A sweep as it stands: written again with every commit, in the same transaction.

    sha256: of its file's text. planned, done: jobs by label. state: running, finished, interrupted,
    failed, or recovered from a store that was damaged. base_seeds: of climbs, drawn from the
    operating system where the file gives none.
    """

    name: str
    sha256: str
    text: str
    engine: str
    slots: int
    state: Literal["running", "finished", "interrupted", "failed", "recovered"]
    planned: dict[str, int]
    done: dict[str, int]
    failed: dict[str, int]
    started: float  # seconds since 1970
    updated: float
    remaining_seconds: float | None = None
    base_seeds: dict[str, int] = field(default_factory=dict)

    def missing(self, runs: Mapping[str, int]) -> int:
        """Count the runs that it did and a store lacks, at least; runs: of the store, by learner.

        At least, for other sweeps may have done runs of the same learner.
        """
        return sum(
            max(0, done - runs.get(label, 0))
            for label, done in self.done.items()
            if label not in NO_RUNS
        )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A sweep at a moment: jobs by label (a learner, or the kind of what is computed)."""

    planned: dict[str, int]
    done: dict[str, int]
    failed: dict[str, int]
    elapsed: float  # seconds
    remaining: float | None  # seconds, estimated; None while nothing is known

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.planned.values())

    @property
    def finished(self) -> int:
        """Those that are done, failed ones with them."""
        return sum(self.done.values())

    def to_dict(self) -> dict[str, Any]:
        """Write how far the sweep is."""
        return {
            "event": "progress",
            "finished": self.finished,
            "total": self.total,
            "planned": self.planned,
            "done": self.done,
            "failed": self.failed,
            "elapsed_seconds": round(self.elapsed, 3),
            "remaining_seconds": None if self.remaining is None else round(self.remaining, 3),
        }


Row = Run | CertificateRow | FigureRow
