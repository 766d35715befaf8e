"""Linear attention is linear: least squares on the features in which the layer is.

Exact from as many examples as there are features, whatever the number of heads. [YAMTJA24] Of
softmax layers it learns what is of first order in the logits: nearly all while they are small.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.features import MAPS, FeatureMap
from hardness.upper.learner import SPENT, Hypothesis, Outcome, View
from hardness.upper.leastsquares import Array, LeastSquares, LeastSquaresFit
from instances.capabilities import REAL_LABELS
from instances.family import Family, require

_MOST_FEATURES = {"cubic": 1 << 15, "softmax": 5000}  # an hour, ten minutes
_OVER = {"cubic": 1.2, "softmax": 10.0}  # exact from 1 on; a ninth above the best linear predictor
_EXCESS = 0.01  # of the labels' second moment: what noise in them may add to the risk
_MOST_OVER = 1000.0  # however large the noise
_GROWTH, _LONGEST = 1.25, 20.0  # while the rank is short: few boolean tokens repeat
_AT_ONCE, _NUMBERS = 4096, 1 << 21  # examples drawn at once; numbers in a block of features


@dataclass(frozen=True, kw_only=True)
class Lifted:
    """Least squares on `features` ("auto": "cubic" of linear attention, else "softmax").

    oversample: examples, as a multiple of the fewest that tell all coefficients; 0: as many as are
    due.
    """

    name: ClassVar[str] = "lifted"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "least squares on cubic features: linear attention, exactly"

    features: str = "auto"
    oversample: float = 0.0

    def __post_init__(self) -> None:
        require(
            self.features in ("auto", *MAPS),
            f"features={self.features} given: auto, {' or '.join(MAPS)}",
        )
        require(
            self.oversample == 0 or 1 <= self.oversample <= 10**6,
            f"oversample={self.oversample} given: from 1 to 1000000, or 0 for as many examples as "
            "are due",
        )

    def supports(self, family: Family) -> str | None:
        """Any family whose features are not too many."""
        features = self.map_of(family)
        most = _MOST_FEATURES[features.name]
        if features.count > most:
            return f"d={family.d} makes {features.count} features, {most} at most are solved for"
        return None

    def map_of(self, family: Family) -> FeatureMap:
        """Choose the features."""
        linear = "cubic" if family.kind == "linear" else "softmax"
        return MAPS[linear if self.features == "auto" else self.features](k=family.k, d=family.d)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Gather as many examples as are due, and solve."""
        family = oracle.family
        features, boolean = self.map_of(family), _boolean(family)
        rows = _Rows(oracle, features)
        outcome: Outcome | None = None
        try:
            rows.gather(math.ceil(self._factor(features) * features.examples(boolean)))
            if not self.oversample:
                rows.gather(math.ceil(_due(rows, features) * features.examples(boolean)))
                rows.gather_rank()
        except Spent as spent:
            outcome = SPENT[spent.resource]
        fit = rows.solve()
        if outcome is Outcome.EXAMPLES_SPENT and fit.rank == features.rank(boolean):
            outcome = None  # more would only average noise: the risk says what these were worth
        details: dict[str, Any] = {
            "features": features.count,
            "rank": fit.rank,
            "expected_rank": features.rank(boolean),
            "examples_given": rows.examples,
            "examples_needed": features.examples(boolean),
            "unexplained": fit.unexplained,
        }
        return Hypothesis(
            predict=lambda x: family.known(x) + predict(features, fit.solution, x),
            outcome=outcome,
            details=details,
        )

    def _factor(self, features: FeatureMap) -> float:
        return self.oversample or _OVER[features.name]


class _Rows:
    """Draws examples and adds their rows, in an order and blocks that no budget changes."""

    def __init__(self, oracle: ExampleOracle, features: FeatureMap) -> None:
        self.oracle, self.features = oracle, features
        self.family = oracle.family
        self.sums = LeastSquares(features=features.count, labels=self.family.d)
        self.examples, self.squares = 0, 0.0
        self._fit: LeastSquaresFit | None = None

    def gather(self, examples: int) -> None:
        """Go on to so many examples; raises Spent."""
        while self.examples < examples:
            batch = self.oracle.draw(min(_AT_ONCE, examples - self.examples))
            x, y = batch.x, batch.y - self.family.known(batch.x)
            at_once = max(1, _NUMBERS // (self.family.k * self.features.count))
            for start in range(0, len(x), at_once):
                part = slice(start, start + at_once)
                rows = self.features(x[part]).reshape(-1, self.features.count)
                self.sums.add(rows, y[part].reshape(-1, self.family.d))
            self.examples += len(x)
            self.squares += float((y**2).sum())
            self._fit = None

    def gather_rank(self) -> None:
        """Go on while the rank is short of what is expected; raises Spent."""
        boolean = _boolean(self.family)
        goal, least = self.features.rank(boolean), self.features.examples(boolean)
        while self.solve().rank < goal and self.examples < _LONGEST * least:
            self.gather(math.ceil(_GROWTH * self.examples))

    def solve(self) -> LeastSquaresFit:
        """Solve for the rows so far."""
        if self._fit is None:
            self._fit = self.sums.solve()
        return self._fit


def _due(rows: _Rows, features: FeatureMap) -> float:
    """Say how many times the fewest examples are due, by the noise of the labels.

    From x times as many rows as coefficients the excess error in an entry of a label is noise^2 / x
    for large x. Nearer to 1 these heavy-tailed features cost more, by measurement (d = 6)
    about noise^2 (x + 3) / (x (x - 1)), so that is solved for x.
    """
    if not rows.family.noise_known:
        return _MOST_OVER  # all that there are
    real = REAL_LABELS.of(rows.family)
    noise = float(real.noise) ** 2 if real else 0.0
    if not noise:
        return _OVER[features.name]
    entries = rows.examples * rows.family.k * rows.family.d
    signal = rows.squares / entries - noise
    allowed = max(_EXCESS * signal / noise, 1 / _MOST_OVER)
    over = (1 + allowed + math.sqrt((1 + allowed) ** 2 + 12 * allowed)) / (2 * allowed)
    return min(_MOST_OVER, max(_OVER[features.name], over))


def _boolean(family: Family) -> bool:
    return family.token_text == "boolean"


def predict(features: FeatureMap, solution: Array, x: Any) -> Array:
    """Predict labels in batches of bounded memory: (n, k, d) -> (n, k, d)."""
    out = np.empty(x.shape)
    at_once = max(1, _NUMBERS // x.shape[2] ** 2)
    for start in range(0, len(x), at_once):
        part = slice(start, start + at_once)
        out[part] = features.predict(solution, x[part])
    return out


def tensor(solution: Array) -> Array:
    """Write a solution on cubic features as coefficients T (d, d, d, d), of the same norm."""
    d = solution.shape[1]
    first, second = np.triu_indices(d)
    scaled = solution.reshape(d, -1, d) / np.where(first == second, 1.0, math.sqrt(2.0))[:, None]
    out = np.empty((d, d, d, d))
    out[:, first, second] = scaled
    out[:, second, first] = scaled
    return out
