"""The one runner of the stages, in both modes: it times them, reports, and judges their layers.

A stage is a function from records to a record that says what it found; the runner keeps what a run
wrote down, and what is best follows from the list of the layers that were found.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np

from hardness.learners.attention import Array
from hardness.learners.fitting import Data, Result, error_bound, relative_error
from hardness.oracles import Meter, clock
from instances.errors import UsageError
from instances.layer import AttentionLayer

Returned = TypeVar("Returned", bound=Result)
PRUNE = "prune"  # the stage whose layer takes the place of the one before it


class StageFailed(UsageError):
    """A stage cannot go on; `needs` is the number of examples it asks for, None if more won't do.

    >>> raise StageFailed("moment", "3 examples", needs=32)
    Traceback (most recent call last):
    hardness.learners.staged.runner.StageFailed: stage moment: 3 examples: at least 32 are needed
    """

    def __init__(self, stage: str, why: str, needs: int | None = None) -> None:
        super().__init__(
            f"stage {stage}: {why}" + (f": at least {needs} are needed" if needs else "")
        )
        self.stage = stage
        self.needs = needs


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """One run of one stage: seconds, examples it read, rows it accepted, its own error measures."""

    name: str
    seconds: float
    examples: int
    rows: int
    measures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """A layer that a stage arrived at, with its relative squared error on the hold-out.

    upper: what that error is at most, with confidence.
    """

    stage: str
    examples: int
    layer: AttentionLayer
    error: float
    upper: float


class Runner:
    """Runs stages against a budget's clock, on the examples and the hold-out of the moment.

    >>> from hardness.oracles import Budget
    >>> from hardness.learners.staged import moment
    >>> data = Data(x=(x := np.random.default_rng(0).normal(size=(40, 2, 3))), y=x)
    >>> run = Runner(Meter(Budget()))
    >>> run.go_on(data.cut(0, 35), data.cut(35, 40))
    >>> found = run.stage("moment", moment, run.data)
    >>> run.reports[0].rows, run.best.stage, run.best.error == run.reports[0].measures["error"]
    (70, 'moment', True)
    """

    data: Data
    validation: Data

    def __init__(self, meter: Meter) -> None:
        """Start with empty pages."""
        self.meter = meter
        self.reports: list[StageReport] = []
        self.found: list[Judged] = []
        self.figures: dict[str, Any] = {}
        self.failed: StageFailed | None = None  # what ended the last attempt early

    def go_on(self, data: Data, validation: Data) -> None:
        """Take other examples; all layers found so far are compared by the new hold-out."""
        self.data, self.validation = data, validation
        self.found = [self._judged(one.stage, one.examples, one.layer) for one in self.found]

    def stage(
        self, name: str, work: Callable[..., Returned], *given: Any, examples: int | None = None
    ) -> Returned:
        """Run a stage on what it is given, report it, also where it fails, and judge its layer.

        examples: how many it reads, all by default. Raises Spent where the time is over, and
        StageFailed.
        """
        self.meter.require_time()
        rows, measures, start = 0, dict[str, float](), clock.now()
        try:
            found = work(*given, clock=self.meter.left)
            rows, measures = found.rows, dict(found.measures)
            if found.layer:
                measures["error"] = self.offer(name, *found.layer)
        except np.linalg.LinAlgError as error:
            raise StageFailed(name, f"the labels are too degenerate ({error})") from error
        finally:
            self.reports.append(
                StageReport(
                    name=name,
                    seconds=clock.now() - start,
                    examples=len(self.data) if examples is None else examples,
                    rows=rows,
                    measures={key: float(value) for key, value in measures.items()},
                )
            )
        self.figures |= found.figures
        return found

    def offer(self, stage: str, theta: Array, w: Array) -> float:
        """Keep a stage's layer theta, w (m, d, d); returns its error on the hold-out.

        Raises StageFailed for a layer or an error that is not finite.
        """
        if not (np.isfinite(theta).all() and np.isfinite(w).all()):
            raise StageFailed(stage, "its layer has left the range of float64")
        judged = self._judged(stage, len(self.data), AttentionLayer(theta=theta, w=w))
        if not np.isfinite(judged.error):
            raise StageFailed(stage, "the labels of the hold-out are all zero or out of range")
        self.found.append(judged)
        return judged.error

    def _judged(self, stage: str, examples: int, layer: AttentionLayer) -> Judged:
        predicted = layer(self.validation.x)
        error, upper = (f(predicted, self.validation.y) for f in (relative_error, error_bound))
        return Judged(stage=stage, examples=examples, layer=layer, error=error, upper=upper)

    @property
    def replaced(self) -> list[Judged]:
        """The layers with spare heads."""
        pairs = zip(self.found, self.found[1:], strict=False)
        return [before for before, after in pairs if after.stage == PRUNE]

    @property
    def best(self) -> Judged | None:
        """The layer of least error so far, those with spare heads apart."""
        left = (one for one in self.found if one not in self.replaced)
        return min(left, key=lambda one: one.error, default=None)

    @property
    def error(self) -> float:
        """The least error so far, infinite before the first layer."""
        return self.best.error if self.best else float("inf")

    def _spare(self) -> str | None:
        """Say how many heads of the best layer's were spare, if any were."""
        if not self.best or not self.replaced:
            return None
        most = max(one.layer.m for one in self.replaced)
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
            "stages": [asdict(report) for report in self.reports],
            "errors": [
                {"stage": one.stage, "examples": one.examples, "error": one.error}
                for one in self.found
            ],
            **self.figures,
        }
