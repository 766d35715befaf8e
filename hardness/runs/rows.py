"""What a store holds, as records."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from hardness.runs.columns import named
from hardness.runs.run import Run

CERTIFICATES, THRESHOLDS = "certificates", "thresholds"  # labels of jobs that are not runs
_Count = Annotated[int, Meta(ge=0)]
_Moment = Annotated[float, Meta(ge=0, lt=253402300800)]  # to the year 9999


@dataclass(frozen=True, kw_only=True)
class _OfSpec:
    """A row about a spec; family, parameters: of it, as the columns of a run."""

    key: str
    spec: str
    family: str = ""
    parameters: str = ""

    def __post_init__(self) -> None:
        for name, value in zip(("family", "parameters"), named(self.spec), strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class CertificateRow(_OfSpec):
    """A certificate (hardness-certificate JSON) with the terms it is about."""

    terms: dict[str, Any]
    certificate: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ThresholdRow(_OfSpec):
    """The least n of an instance in (low, high], with the `Threshold` whose parts these are."""

    learner: str
    unit: str
    low: _Count
    high: _Count | None
    ended: str
    threshold: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """A sweep as it stands: written again with every commit, in the same transaction.

    sha256: of its text, that of its file. climbs: by name what each of them asked, a stress test
    without runs, whose base seed is drawn where the file gives none. least: by name what thresholds
    were asked for. planned, done: jobs by label.
    started, updated: seconds since 1970.
    """

    name: str
    text: str
    engine: str
    slots: _Count
    climbs: dict[str, dict[str, Any]] = field(default_factory=dict)
    least: dict[str, dict[str, Any]] = field(default_factory=dict)
    sha256: str = ""
    state: Literal["running", "finished", "interrupted", "failed"] = "running"
    planned: dict[str, _Count] = field(default_factory=dict)
    done: dict[str, _Count] = field(default_factory=dict)
    failed: dict[str, _Count] = field(default_factory=dict)
    started: _Moment = field(default_factory=time.time)
    updated: _Moment = field(default_factory=time.time)
    remaining_seconds: Annotated[float, Meta(ge=0, le=1e20)] | None = None

    def __post_init__(self) -> None:
        own = hashlib.sha256(self.text.encode()).hexdigest()
        if self.sha256 not in ("", own):
            raise ValueError("its text was changed")
        object.__setattr__(self, "sha256", own)

    def missing(self, runs: Mapping[str, int]) -> int:
        """Count the runs that it did and a store lacks, at least; runs: of the store, by learner.

        At least, for other sweeps may have done runs of the same learner.
        """
        return sum(
            max(0, done - runs.get(label, 0))
            for label, done in self.done.items()
            if label not in (CERTIFICATES, THRESHOLDS)
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


Row = Run | CertificateRow | ThresholdRow
