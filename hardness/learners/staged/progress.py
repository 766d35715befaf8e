"""The state of a run of the stages: its examples, the reports of stages, the best layer.

A stage is a function from records to a record and does not change this state. The pipelines
(`learner.py`, `paper.py`) call `draw` and `stage`, and read `best`.

Before the stages, tokens are mapped to second moment one. Let x = z A with A invertible. A layer
Theta, W on x has the same labels as the layer A Theta A^T, A W on z. So the stages work on z, and
the heads are mapped back. A shift has no such equivalent: for x = z + mu logits have a part mu
Theta z_b^T that no Theta produces. The stages after the first do not assume that tokens have mean
zero, but a large mean saturates the attention. The theorem is for standard tokens.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from hardness.learners.fitting import (
    Array,
    Data,
    Result,
    StageFailed,
    StageReport,
    draw,
    error_bound,
    relative_error,
    repeated,
)
from hardness.learners.learner import Hypothesis, Outcome, nothing
from hardness.learners.staged.diagnosis import diagnose
from hardness.oracles import ExampleOracle, Spent
from instances.dense import Dense
from instances.layer import AttentionLayer

Returned = TypeVar("Returned", bound=Result)
PRUNE = "prune"  # the stage whose layer replaces the previous one
_LARGEST_HOLD_OUT = 4096
POLISHED, _ROUGH = 1e-12, 1e-3  # hold-out errors that end the run, with and without a polish
_EVEN_CONDITION = 4.0  # a ratio of eigenvalues that the stages tolerate
_RANK = 1e-12  # relative to the largest eigenvalue: smaller ones are rounding errors
_STANDARD_MEAN, _STANDARD_REPEATS = 0.05, 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """The map x = z A with symmetric A, given by its inverse; None if tokens are not mapped.

    measures: condition, that of the second moment of tokens on their span; mean, the share of
    |E x|^2 in E|x|^2, over the tokens of an example; repeats, the share of repeated examples;
    unseen, the number of dimensions outside the span; whitened, whether tokens are mapped.

    >>> x = np.random.default_rng(0).normal(size=(500, 2, 2)) * [1.0, 10.0]
    >>> whitening = Whitening.fit(x)
    >>> flat = whitening.tokens(x).reshape(-1, 2)
    >>> bool(np.allclose(flat.T @ flat / 1000, np.eye(2))), whitening.measures["unseen"]
    (True, 0)
    """

    inverse: Array | None
    measures: dict[str, float]

    @staticmethod
    def fit(x: Array) -> "Whitening":
        """Choose the map for tokens like x (n, k, d); none if their moment is nearly isotropic."""
        n, k, d = x.shape
        flat = x.reshape(-1, d)
        values, vectors = np.linalg.eigh(flat.T @ flat / (n * k))
        size = float(values[-1]) or 1.0
        there = values > _RANK * size
        condition = size / float(values[there][0]) if there.any() else 1.0
        # The moment of a sample is anisotropic by about this much.
        chance = np.sqrt(d / (n * k))
        least = _EVEN_CONDITION * ((1 + chance) / (1 - chance)) ** 2 if chance < 1 else np.inf
        roots = np.sqrt(np.where(there, values, 1.0))
        inverse = (vectors / roots) @ vectors.T if condition > least else None
        square = float(np.mean((flat**2).sum(axis=1))) or 1.0
        measures = {
            "condition": condition,
            "mean": float(np.mean((x.mean(axis=0) ** 2).sum(axis=1))) / square,
            "repeats": float(repeated(x).mean()),
            "unseen": d - int(there.sum()),
            "whitened": inverse is not None,
        }
        return Whitening(inverse=inverse, measures=measures)

    @property
    def standard(self) -> bool:
        """Whether the tokens need no report."""
        even = self.inverse is None and not self.measures["unseen"]
        few = self.measures["repeats"] < _STANDARD_REPEATS
        return even and self.measures["mean"] < _STANDARD_MEAN and few

    def tokens(self, x: Array) -> Array:
        """Map tokens (n, k, d): x -> z."""
        return x if self.inverse is None else x @ self.inverse

    def back(self, layer: AttentionLayer) -> AttentionLayer:
        """Map a layer on z to the equivalent layer on x."""
        if self.inverse is None:
            return layer
        theta = self.inverse @ layer.theta @ self.inverse
        return AttentionLayer(theta=theta, w=self.inverse @ layer.w)


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A layer of a stage, its relative hold-out error, and an upper bound of this error."""

    stage: str
    examples: int
    layer: AttentionLayer
    error: float
    upper: float


class Progress:
    """The state of a run on an oracle of examples, and its fixed parameters.

    heads, examples: 0 if unknown. polish: the number of steps, 0 for none. noisy: whether labels
    may have noise. Families state it; for given data it is unknown. The residual of a wrong layer
    can look like noise, so labels without noise need this flag. use_all: whether all examples are
    to be used, the given number or those of given data. Then residuals that look like noise do not
    end the run.

    `draw` sets data and held_out. An eighth of the examples is held out, at most 4096. `whitening`,
    chosen by the first batch, maps their tokens.

    >>> from hardness.learners.staged import moment
    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> source = parse("parity:d=8,m=3").instance(0)
    >>> progress = Progress(ExampleOracle(source, Meter(Budget(examples=100))))
    >>> progress.draw(80)
    >>> len(progress.data), len(progress.held_out), progress.exhausted
    (70, 10, False)
    >>> crude = progress.stage("moment", moment, progress.data)
    >>> progress.best.stage, progress.reports[0].rows
    ('moment', 140)
    >>> progress.draw(800)
    >>> len(progress.data), len(progress.held_out), progress.exhausted
    (88, 12, True)
    """

    data: Data
    held_out: Data
    whitening: Whitening

    def __init__(
        self, oracle: ExampleOracle, heads: int = 0, examples: int = 0, polish: int = 0
    ) -> None:
        self.family = family = oracle.family
        self.heads, self.examples, self.polish = heads, examples, polish
        self.noisy = family.noise > 0 or not family.noise_known
        self.use_all = examples > 0 or not family.noise_known
        self.goal = POLISHED if polish else _ROUGH  # the hold-out error that ends the run
        self.exhausted = False  # no examples are left in the budget
        self.reports: list[StageReport] = []
        self.errors: list[dict[str, Any]] = []  # those of all layers, for a chart
        self.figures: dict[str, Any] = {}
        self.best: Candidate | None = None
        self.failed: StageFailed | None = None  # what ended the last attempt early
        self._oracle = oracle
        self._drawn: Data | None = None
        self._latest: Candidate | None = None
        self._most_heads = 0  # heads of the largest layer whose spare heads were removed

    @property
    def error(self) -> float:
        """The smallest error so far, infinite before the first layer."""
        return self.best.error if self.best else float("inf")

    @property
    def layer(self) -> AttentionLayer:
        """The best layer, which exists after the first stage."""
        assert self.best is not None
        return self.best.layer

    def draw(self, count: int) -> None:
        """Hold `count` examples, or fewer at the end of the budget; evaluates the best layer again.

        Raises Spent if there are fewer than two, or if another budget is spent.
        """
        missing = count - (len(self._drawn) if self._drawn else 0)
        if missing > 0 and not self.exhausted:
            self._draw_more(missing)
        there = min(count, len(self._drawn)) if self._drawn else 0
        if not self._drawn or there < 2:
            raise Spent("examples")
        cut = there - min(max(there // 8, 1), _LARGEST_HOLD_OUT)
        self.data, self.held_out = self._drawn.cut(0, cut), self._drawn.cut(cut, there)
        if self.best:
            self.best = self._evaluate(self.best.stage, self.best.examples, self.best.layer)
        elif not self.reports and not self.whitening.standard:
            self.reports.append(StageReport("tokens", 0.0, cut, 0, self.whitening.measures))

    def _draw_more(self, missing: int) -> None:
        try:
            x, y, self.exhausted = draw(self._oracle, missing)
        except Spent as spent:
            if spent.resource != "examples" or not self._drawn:
                raise
            self.exhausted = True
            return
        if not self._drawn:
            self.whitening = Whitening.fit(x)
            self._drawn = Data(x=self.whitening.tokens(x), y=y)
            return
        both = (self._drawn.x, self.whitening.tokens(x)), (self._drawn.y, y)
        x, y = map(np.concatenate, both)
        self._drawn = Data(x=x, y=y)

    def stage(
        self, name: str, work: Callable[..., Returned], *arguments: Any, examples: int | None = None
    ) -> Returned:
        """Run a stage, report it even if it fails, and evaluate its layer; raises StageFailed.

        examples: the number that it reads, all by default. The best layer so far is offered as the
        hypothesis of the run.
        """
        rows, measures, start = 0, dict[str, float](), time.perf_counter()
        count, better = len(self.data) if examples is None else examples, False
        try:
            result = work(*arguments)
            rows, measures = result.rows, dict(result.measures)
            self.figures |= result.figures
            if result.theta is not None and result.w is not None and result.offered:
                better = self._keep(name, result.theta, result.w)
                measures["error"] = self.errors[-1]["error"]
        except np.linalg.LinAlgError as error:
            raise StageFailed(name, f"the labels are too degenerate ({error})") from error
        finally:
            measures = {key: float(value) for key, value in measures.items()}
            report = StageReport(name, time.perf_counter() - start, count, rows, measures)
            self.reports.append(report)
        if better:
            self._oracle.meter.offer(self.hypothesis())
        return result

    def _keep(self, stage: str, theta: Array, w: Array) -> bool:
        """Evaluate a layer; return whether it is the best."""
        theta, w = (part.reshape(-1, *part.shape[-2:]) for part in (theta, w))
        if not (np.isfinite(theta).all() and np.isfinite(w).all()):
            raise StageFailed(stage, "its layer has left the range of float64")
        judged = self._evaluate(stage, len(self.data), AttentionLayer(theta=theta, w=w))
        if not np.isfinite(judged.error):
            raise StageFailed(stage, "the labels of the hold-out are all zero or out of range")
        self.errors.append({"stage": stage, "examples": len(self.data), "error": judged.error})
        pruned = stage == PRUNE and self.best is self._latest
        if stage == PRUNE and self._latest:
            self._most_heads = max(self._most_heads, self._latest.layer.m)
        self._latest = judged
        if pruned or judged.error < self.error:
            self.best = judged
            return True
        return False

    def _evaluate(self, stage: str, examples: int, layer: AttentionLayer) -> Candidate:
        predicted = layer(self.held_out.x)
        error, upper = (f(predicted, self.held_out.y) for f in (relative_error, error_bound))
        return Candidate(stage=stage, examples=examples, layer=layer, error=error, upper=upper)

    def details(self) -> dict[str, Any]:
        """Return reports, signals and the best layer's numbers as JSON values."""
        best, spare = self.best, None
        if best and best.layer.m < self._most_heads:
            spare = f"{self._most_heads - best.layer.m} of {self._most_heads} heads"
        signals = diagnose(
            self.reports,
            k=self.family.k,
            error=self.error,
            upper=best.upper if best else np.inf,
            failed=self.failed,
            noise=float(self.family.noise) if isinstance(self.family, Dense) else 0.0,
            heads=self.heads,
        )
        return {
            "heads": best.layer.m if best else 0,
            "error": best.error if best else None,
            "from_stage": best.stage if best else None,
            "spare": spare,
            "failed": str(self.failed) if self.failed else None,
            "needs": self.failed.needs if self.failed else None,
            "stages": [asdict(report) for report in self.reports],
            "errors": self.errors.copy(),
            **self.figures,
            "diagnosis": [signal.to_dict() for signal in signals],
        }

    def hypothesis(self, outcome: Outcome | None = None) -> Hypothesis:
        """Return the best layer with all details, or the baseline if the layer is no better."""
        details = self.details()
        if self.best is None or self.best.error >= 1:
            return nothing(self.family, outcome, **details)
        layer = self.whitening.back(self.best.layer)
        return Hypothesis(predict=layer, outcome=outcome, details=details, layer=layer)
