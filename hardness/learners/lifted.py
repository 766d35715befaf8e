"""Least squares on cubic features, in which linear attention is a linear map.

It is exact from as many examples as there are features, for any number of heads. [YAMTJA24] For
softmax layers it learns the part of first order in the logits, nearly all if these are small. Both
feature maps multiply every token by every entry of a symmetric matrix of all tokens. An
off-diagonal entry is used once, times sqrt(2), which preserves inner products.

Rows are solved by orthogonal transformations, which do not square the condition number as normal
equations do. They are stored in a stack of bounded size; a full stack is replaced by its triangular
factor. [GVL13, section 5.3]
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, qr

from hardness.learners.learner import SPENT, BuiltIn, Hypothesis, Outcome, View
from hardness.oracles import ExampleOracle, Spent
from instances.dense import Dense
from instances.errors import UsageError, require
from instances.family import Family
from instances.limits import require_memory
from instances.parameters import OneOf

Array = NDArray[np.float64]
_LEAST_BLOCK = 512
_MOST_FEATURES = {"cubic": 1 << 15, "softmax": 5000}  # they take an hour, ten minutes
_OVERSAMPLE = {
    "cubic": 1.2,  # exact from 1 on
    "softmax": 10.0,  # with an error that is a ninth above that of the best linear predictor
}
_NOISE_RISK = 0.01  # the risk that label noise may add, relative to the labels' second moment
_MOST_OVERSAMPLE = 1000.0  # for any noise
_GROWTH = 1.25  # factor of each step while the rank is too low, as boolean tokens repeat
_RANK_OVERSAMPLE = 20.0  # most examples while the rank is too low, relative to the fewest
_BATCH_EXAMPLES = 4096  # examples drawn at once
_BLOCK_NUMBERS = 1 << 21  # numbers in a block of features


@dataclass(frozen=True, kw_only=True)
class Cubic:
    """The features x_a (x) vech(X^T X) of a token, in which linear attention is linear.

    They are computed for each of the k tokens of dimension d of an example.

    >>> Cubic(k=2, d=3).count, Cubic(k=2, d=3).rank(boolean=True)
    (18, 12)
    """

    name: ClassVar[str] = "cubic"

    k: int
    d: int

    @property
    def count(self) -> int:
        """The number of features, d^2 (d + 1) / 2."""
        return self.d**2 * (self.d + 1) // 2

    def rank(self, boolean: bool) -> int:
        """Return the dimension of the features' span; boolean tokens have a constant diagonal."""
        return self.d * (self.d * (self.d - 1) // 2 + 1) if boolean else self.count

    def examples(self, boolean: bool) -> int:
        """Return the fewest examples of full rank; on normal tokens they suffice."""
        return -(-self.rank(boolean) // min(self.k, self.d))

    def _parts(self, x: Array) -> tuple[Array, Array]:
        """Compute features common to all tokens, (n, shared), and the matrix, (n, pairs)."""
        return x[:, 0, :0], pair_moments(x)

    def __call__(self, x: NDArray[Any]) -> Array:
        """Compute the features: (n, k, d) -> (n, k, count)."""
        real = _real(x, self.k, self.d)
        shared, matrix = self._parts(real)
        products = real[..., None] * matrix[:, None, None]
        common = np.broadcast_to(shared[:, None], (*real.shape[:2], shared.shape[1]))
        flat = products.reshape(*real.shape[:2], self.d * matrix.shape[1])
        return np.concatenate([common, flat], axis=2)

    def predict(self, solution: Array, x: NDArray[Any]) -> Array:
        """Return self(x) @ solution without storing features: (n, k, d)."""
        real, d = _real(x, self.k, self.d), self.d
        out, at_once = np.empty(real.shape), max(1, _BLOCK_NUMBERS // d**2)
        for start in range(0, len(real), at_once):
            part = real[start : start + at_once]
            shared, matrix = self._parts(part)
            first, rest = np.split(solution, [shared.shape[1]])
            turned = rest.reshape(d, -1, d).transpose(1, 0, 2).reshape(-1, d * d)
            out[start : start + at_once] = part @ (matrix @ turned).reshape(-1, d, d)
            out[start : start + at_once] += (shared @ first)[:, None]
        return out


@dataclass(frozen=True, kw_only=True)
class FirstOrder(Cubic):
    """The mean token and x_a (x) vech of the tokens' covariance: softmax at small logits.

    softmax(x_a Theta X^T) X = mean + x_a Theta cov + second order in the logits, with cov =
    (1/k) sum_j (x_j - mean)(x_j - mean)^T.

    >>> FirstOrder(k=2, d=3).count
    21
    """

    name: ClassVar[str] = "softmax"

    @property
    def count(self) -> int:
        """The number of features, d + d^2 (d + 1) / 2."""
        return self.d + self.d**2 * (self.d + 1) // 2

    def rank(self, boolean: bool) -> int:
        """Return the number of features, as the covariance's diagonal is never constant."""
        return self.count

    def examples(self, boolean: bool) -> int:
        """Return the fewest examples of full rank.

        For two tokens the difference of the rows is (x_1 - x_2) (x) cov, a symmetric cubic form.
        """
        products = self.count - self.d
        most = max(-(-self.count // min(self.k, self.d + 1)), -(-products // min(self.k, self.d)))
        return max(most, self.count - math.comb(self.d + 2, 3)) if self.k == 2 else most

    def _parts(self, x: Array) -> tuple[Array, Array]:
        mean = x.sum(axis=1) / self.k
        return mean, pair_moments(x - mean[:, None]) / self.k


MAPS: dict[str, type[Cubic]] = {kind.name: kind for kind in (Cubic, FirstOrder)}


def pair_moments(x: Array) -> Array:
    """Write sum_a x_a x_a^T over the tokens in d (d + 1) / 2 coordinates: (n, k, d) -> (n, pairs).

    The inner product of coordinates is that of the matrices.

    >>> pair_moments(np.array([[[1.0, 2.0]]])).round(3).tolist()
    [[1.0, 2.828, 4.0]]
    """
    first, second = np.triu_indices(x.shape[2])
    # Token by token: BLAS would round by the number of examples.
    total = x[:, 0, first] * x[:, 0, second]
    for a in range(1, x.shape[1]):
        total += x[:, a, first] * x[:, a, second]
    return np.asarray(total * np.where(first == second, 1.0, math.sqrt(2.0)))


def _real(x: NDArray[Any], k: int, d: int) -> Array:
    if x.ndim != 3 or x.shape[1:] != (k, d):
        raise UsageError(f"tokens must have the shape (n, {k}, {d}), got {x.shape}")
    return np.asarray(x, np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquaresFit:
    """The minimum-norm solution (features, labels), its rank, and sums of squares (labels,).

    residual: of what the fit leaves. total: of the labels.
    """

    solution: Array
    rank: int
    rows: int
    residual: Array
    total: Array

    @property
    def unexplained(self) -> float | None:
        """The unexplained share of the labels' second moment, per degree of freedom, or None."""
        spare, total = self.rows - self.rank, float(self.total.sum())
        left = float(self.residual.sum())
        return left / spare / (total / self.rows) if spare > 0 < total else None


class LeastSquares:
    """Least squares on rows that are added in batches; equal batches give equal bits.

    >>> sums = LeastSquares(features=1, labels=1)
    >>> sums.add(np.array([[1.0], [2.0]]), np.array([[3.0], [6.0]]))
    >>> sums.solve().solution.round(12).tolist()
    [[3.0]]
    """

    def __init__(self, *, features: int, labels: int) -> None:
        """Reserve a stack of half as many rows as columns, and a factor; raises TooLarge."""
        width = features + labels
        self._most = width + max(_LEAST_BLOCK, -(-width // 2))
        require_memory(16 * self._most * width, f"least squares on {features} features")
        self._features, self.rows = features, 0
        self._batches: list[Array] = [np.empty((0, width), np.float64)]

    def add(self, features: Array, labels: Array) -> None:
        """Add rows (n, features), (n, labels); a full stack is replaced by its factor."""
        self._batches.append(np.concatenate([features, labels], axis=1))
        self.rows += len(features)
        if sum(map(len, self._batches)) >= self._most:
            self._batches = [np.concatenate(self._batches)]
            (factor,) = qr(self._batches[0], mode="r", overwrite_a=True, check_finite=False)
            self._batches = [np.array(factor[: factor.shape[1]], np.float64)]

    def solve(self) -> LeastSquaresFit:
        """Solve for all rows so far, like numpy.linalg.lstsq on all rows."""
        self._batches = [np.concatenate(self._batches)]
        left, right = np.split(self._batches[0], [self._features], axis=1)
        cutoff = np.finfo(np.float64).eps * max(self.rows, self._features)
        # A complete orthogonal decomposition is faster than singular values.
        solution, _, rank, _ = lstsq(
            left, right, cond=cutoff, lapack_driver="gelsy", check_finite=False
        )
        residual, total = (np.sum(v**2, axis=0) for v in (left @ solution - right, right))
        return LeastSquaresFit(
            solution=solution, rank=int(rank), rows=self.rows, residual=residual, total=total
        )


@dataclass(frozen=True, kw_only=True)
class Lifted(BuiltIn):
    """Least squares on `features` ("auto": "cubic" of linear attention, else "softmax").

    oversample: examples, as a multiple of the fewest that determine all coefficients; 0: chosen by
    the noise.
    """

    name: ClassVar[str] = "lifted"
    computes_long: ClassVar[bool] = True
    revision: ClassVar[int] = 2
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "least squares on cubic features: linear attention, exactly"

    features: Annotated[str, OneOf(("auto", *MAPS))] = "auto"
    oversample: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.oversample == 0 or 1 <= self.oversample <= 10**6,
            f"oversample must be 1 to 1000000, or 0 for what is due, got {self.oversample}",
        )

    def supports(self, family: Family) -> str | None:
        """Return None for families with few enough features, else the reason."""
        if family.rows:
            return f"it takes labels of all tokens, and {family} has them of the first"
        features = self.map_of(family)
        limit = _MOST_FEATURES[features.name]
        if features.count > limit:
            return f"d={family.d} makes {features.count} features, {limit} at most are solved for"
        return None

    def map_of(self, family: Family) -> Cubic:
        """Choose the features."""
        linear = "cubic" if family.kind == "linear" else "softmax"
        return MAPS[linear if self.features == "auto" else self.features](k=family.k, d=family.d)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Gather as many examples as are needed, and solve."""
        family = oracle.family
        features, boolean = self.map_of(family), family.token_text == "boolean"
        least, goal = features.examples(boolean), features.rank(boolean)
        rows, outcome = _Rows(oracle, features), None
        try:
            rows.gather(math.ceil((self.oversample or _OVERSAMPLE[features.name]) * least))
            if not self.oversample:
                rows.gather(math.ceil(_needed_oversample(rows, features) * least))
                while rows.solve().rank < goal and rows.examples < _RANK_OVERSAMPLE * least:
                    rows.gather(math.ceil(_GROWTH * rows.examples))
        except Spent as spent:
            outcome = SPENT[spent.resource]
        fit = rows.solve()
        if outcome is Outcome.EXAMPLES_SPENT and fit.rank == goal:
            outcome = None  # more examples would only average noise
        details: dict[str, Any] = {"features": features.count, "unexplained": fit.unexplained}
        details |= {"rank": fit.rank, "expected_rank": goal}
        details |= {"examples_given": rows.examples, "examples_needed": least}

        def predict(x: NDArray[Any]) -> Array:
            return family.known(x) + features.predict(fit.solution, x)

        return Hypothesis(predict=predict, outcome=outcome, details=details)


class _Rows:
    """The rows of examples, drawn in an order and in blocks that no budget changes."""

    def __init__(self, oracle: ExampleOracle, features: Cubic) -> None:
        self.oracle, self.features = oracle, features
        self.family = oracle.family
        self.sums = LeastSquares(features=features.count, labels=self.family.d)
        self.examples, self.squares = 0, 0.0
        self._fit: LeastSquaresFit | None = None

    def gather(self, examples: int) -> None:
        """Draw examples until there are `examples`; raises Spent."""
        while self.examples < examples:
            batch = self.oracle.draw(min(_BATCH_EXAMPLES, examples - self.examples))
            x, y = batch.x, batch.y - self.family.known(batch.x)
            at_once = max(1, _BLOCK_NUMBERS // (self.family.k * self.features.count))
            for start in range(0, len(x), at_once):
                part = slice(start, start + at_once)
                rows = self.features(x[part]).reshape(-1, self.features.count)
                self.sums.add(rows, y[part].reshape(-1, self.family.d))
            self.examples += len(x)
            self.squares += float((y**2).sum())

    def solve(self) -> LeastSquaresFit:
        if self._fit is None or self._fit.rows < self.sums.rows:
            self._fit = self.sums.solve()
        return self._fit


def _needed_oversample(rows: _Rows, features: Cubic) -> float:
    """Return the needed multiple x of the fewest examples, from the noise of the labels.

    With x times as many rows as coefficients, the excess error in a label's entry is noise^2 / x
    for large x. Near 1 these heavy-tailed features cost more: measured (d = 6) about noise^2 (x +
    3) / (x (x - 1)). The function solves this for x.
    """
    if not rows.family.noise_known:
        return _MOST_OVERSAMPLE  # that is, all there are
    noise = float(rows.family.noise) ** 2 if isinstance(rows.family, Dense) else 0.0
    if not noise:
        return _OVERSAMPLE[features.name]
    entries = rows.examples * rows.family.k * rows.family.d
    signal = rows.squares / entries - noise
    allowed = max(_NOISE_RISK * signal / noise, 1 / _MOST_OVERSAMPLE)
    over = (1 + allowed + math.sqrt((1 + allowed) ** 2 + 12 * allowed)) / (2 * allowed)
    return min(_MOST_OVERSAMPLE, max(_OVERSAMPLE[features.name], over))


def tensor(solution: Array) -> Array:
    """Write a solution on cubic features as coefficients T (d, d, d, d), of the same norm."""
    d = solution.shape[1]
    first, second = np.triu_indices(d)
    scaled = solution.reshape(d, -1, d) / np.where(first == second, 1.0, math.sqrt(2.0))[:, None]
    out = np.empty((d, d, d, d))
    out[:, first, second] = scaled
    out[:, second, first] = scaled
    return out
