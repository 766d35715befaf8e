"""What a run of the stages writes down: reports, the layers it came by, the numbers of figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hardness.oracles import Meter, clock
from hardness.upper.staged.agreement import Agreement
from hardness.upper.staged.data import Array, Data, error_bound, relative_error
from hardness.upper.staged.diagnosis import HoldOut, Signal, diagnose
from hardness.upper.staged.stage import StageFailed, StageReport
from hardness.upper.staged.whiten import Whitening
from instances.layer import AttentionLayer

_BINS = 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A layer that a stage arrived at, with its relative squared error on the hold-out.

    upper: what that error is at most, with confidence.
    """

    stage: str
    examples: int
    layer: AttentionLayer
    error: float
    upper: float


@dataclass(kw_only=True)
class StageEntry:
    """What a running stage fills in: the rows it accepted and its measures."""

    rows: int = 0
    measures: dict[str, float] = field(default_factory=dict)


class Journal:
    """Times the stages against the budget's clock and keeps what they arrive at.

    >>> from hardness.oracles import Budget
    >>> journal = Journal(Meter(Budget()))
    >>> with journal.stage("moment", 100) as entry:
    ...     entry.measures["halves"] = 0.1
    >>> journal.reports[0].name, journal.reports[0].measures
    ('moment', {'halves': 0.1})
    """

    def __init__(self, meter: Meter) -> None:
        """Start with empty pages."""
        self.meter = meter
        self.reports: list[StageReport] = []
        self.found: list[Found] = []
        self.figures: dict[str, Any] = {}
        self.failed: StageFailed | None = None
        self.single: bool | None = None  # whether a single head explains the data, if known
        self.heads = 0  # where the last span saw its largest gap
        self.replaced: list[Found] = []  # those that have spare heads

    @contextmanager
    def stage(self, name: str, examples: int) -> Iterator[StageEntry]:
        """Time a stage and report it, also where it fails; raises Spent where the time is over."""
        self.meter.require_time()
        entry, start = StageEntry(), clock.now()
        try:
            yield entry
        except np.linalg.LinAlgError as error:
            raise StageFailed(name, f"the labels are too degenerate ({error})") from error
        finally:
            self.reports.append(
                StageReport(
                    name=name,
                    seconds=clock.now() - start,
                    examples=examples,
                    rows=entry.rows,
                    measures={key: float(value) for key, value in entry.measures.items()},
                )
            )

    def describe(self, tokens: Whitening) -> None:
        """Report what the tokens are like, before all stages."""
        first = self.reports[0].examples if self.reports else 0
        report = StageReport(
            name="tokens", seconds=0.0, examples=first, rows=0, measures=tokens.measures
        )
        self.reports.insert(0, report)

    def offer(self, stage: str, theta: Array, w: Array, examples: int, validation: Data) -> float:
        """Keep a stage's layer theta, w (m, d, d); returns its error on the hold-out.

        Raises StageFailed for a layer or an error that is not finite.
        """
        if not (np.isfinite(theta).all() and np.isfinite(w).all()):
            raise StageFailed(stage, "its layer has left the range of float64")
        layer = AttentionLayer(theta=theta, w=w)
        predicted = layer(validation.x)
        error, upper = (f(predicted, validation.y) for f in (relative_error, error_bound))
        if not np.isfinite(error):
            raise StageFailed(stage, "the labels of the hold-out are all zero or out of range")
        self.found.append(
            Found(stage=stage, examples=examples, layer=layer, error=error, upper=upper)
        )
        return error

    def measure(self, validation: Data) -> None:
        """Measure the layers found so far on a hold-out that all of them are compared by."""
        fresh = {}
        for one in self.found:
            predicted = one.layer(validation.x)
            error, upper = (f(predicted, validation.y) for f in (relative_error, error_bound))
            fresh[id(one)] = replace(one, error=error, upper=upper)
        self.replaced = [fresh[id(one)] for one in self.replaced]
        self.found = list(fresh.values())

    @property
    def best(self) -> Found | None:
        """The layer of least error so far, those with spare heads apart."""
        left = (found for found in self.found if found not in self.replaced)
        return min(left, key=lambda found: found.error, default=None)

    @property
    def error(self) -> float:
        """The least error so far, infinite before the first layer."""
        return self.best.error if self.best else float("inf")

    def diagnose(self, k: int, noise: float = 0.0, heads: int = 0) -> tuple[Signal, ...]:
        """Judge what is written here; k tokens, label noise of a known standard deviation."""
        best = self.best
        hold_out = HoldOut(error=best.error, upper=best.upper) if best else HoldOut()
        return diagnose(self.reports, hold_out, k=k, failed=self.failed, noise=noise, heads=heads)

    def draw_residuals(self, agreement: Agreement, accepted: float) -> None:
        """Keep the histogram of log10 of the residuals, and the largest one that was accepted."""
        logs = np.log10(np.maximum(agreement.residuals, 1e-18))
        counts, edges = np.histogram(logs, bins=_BINS)
        self.figures["residuals"] = {
            "log10_edges": edges.tolist(),
            "counts": counts.tolist(),
            "accepted": float(accepted),
        }

    def _spare(self) -> str | None:
        """Say how many heads of the best layer's were spare, if any were."""
        if not self.best or not self.replaced:
            return None
        most = max(found.layer.m for found in self.replaced)
        if self.best.layer.m >= most:  # heads were added since
            return None
        return f"{most - self.best.layer.m} of {most} heads"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able values."""
        best = self.best
        return {
            "heads": best.layer.m if best else 0,
            "error": best.error if best else None,
            "from_stage": best.stage if best else None,
            "spare": self._spare(),
            "failed": str(self.failed) if self.failed else None,
            "needs": self.failed.needs if self.failed else None,
            "stages": [report.to_dict() for report in self.reports],
            "errors": [
                {"stage": one.stage, "examples": one.examples, "error": one.error}
                for one in self.found
            ],
            **self.figures,
        }
