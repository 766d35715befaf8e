"""Features in which attention without softmax is linear, and softmax attention to first order.

Both maps take every token times every entry of a symmetric matrix of all tokens. Each off-diagonal
pair is taken once, times sqrt(2), so that inner products are those of the full products.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

Array = NDArray[np.float64]


class FeatureMap(Protocol):
    """`count` features of every token of an example of k tokens of dimension d."""

    name: ClassVar[str]

    @property
    def count(self) -> int:
        """The number of features."""

    def rank(self, boolean: bool) -> int:
        """Dimension of the span of the features as functions of boolean, or of real, tokens."""

    def examples(self, boolean: bool) -> int:
        """The fewest examples whose rows have that rank; enough on normal tokens."""

    def __call__(self, x: NDArray[Any]) -> Array:
        """Compute the features: (n, k, d) -> (n, k, count)."""

    def predict(self, solution: Array, x: NDArray[Any]) -> Array:
        """Equal self(x) @ solution, without the features: (count, d), (n, k, d) -> (n, k, d)."""


@dataclass(frozen=True, kw_only=True)
class PairFeatures:
    """Coordinates of symmetric (d, d) matrices in which the inner product is that of matrices.

    >>> PairFeatures(d=2).moments(np.array([[[1.0, 2.0]]])).round(3).tolist()
    [[1.0, 2.828, 4.0]]
    """

    d: int

    @cached_property
    def index(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of the upper triangle."""
        return np.triu_indices(self.d)

    @cached_property
    def scale(self) -> Array:
        """1 on the diagonal, sqrt(2) off it."""
        first, second = self.index
        return np.where(first == second, 1.0, math.sqrt(2.0))

    def moments(self, x: Array) -> Array:
        """Coordinates of sum_a x_a x_a^T over the tokens: (n, k, d) -> (n, d (d + 1) / 2)."""
        first, second = self.index
        # Token by token, without BLAS: it rounds by the number of examples at once.
        total = x[:, 0, first] * x[:, 0, second]
        for a in range(1, x.shape[1]):
            total += x[:, a, first] * x[:, a, second]
        return np.asarray(total * self.scale)


@dataclass(frozen=True, kw_only=True)
class Cubic:
    """x_a (x) vech(X^T X): linear attention is linear in them, whatever the number of heads.

    >>> Cubic(k=2, d=3).count, Cubic(k=2, d=3).rank(boolean=True)
    (18, 12)
    """

    name: ClassVar[str] = "cubic"

    k: int
    d: int

    @property
    def count(self) -> int:
        """d^2 (d + 1) / 2."""
        return self.d**2 * (self.d + 1) // 2

    def rank(self, boolean: bool) -> int:
        """All of them on real tokens; on boolean ones the diagonal of X^T X is constant."""
        return self.d * (self.d * (self.d - 1) // 2 + 1) if boolean else self.count

    def examples(self, boolean: bool) -> int:
        """An example adds k to the rank, or d where its tokens span all dimensions."""
        return -(-self.rank(boolean) // min(self.k, self.d))

    def __call__(self, x: NDArray[Any]) -> Array:
        """Compute the features: (n, k, d) -> (n, k, count)."""
        real = _real(x, self.k, self.d)
        return _products(real, PairFeatures(d=self.d).moments(real))

    def predict(self, solution: Array, x: NDArray[Any]) -> Array:
        """Equal self(x) @ solution, without the features: (count, d), (n, k, d) -> (n, k, d)."""
        real = _real(x, self.k, self.d)
        return _contracted(solution, real, PairFeatures(d=self.d).moments(real))


@dataclass(frozen=True, kw_only=True)
class FirstOrder:
    """The mean token and x_a (x) vech of the tokens' covariance: softmax at small logits.

    softmax(x_a Theta X^T) X = mean + x_a Theta cov + second order in the logits, with cov =
    (1/k) sum_j (x_j - mean)(x_j - mean)^T.

    >>> FirstOrder(k=2, d=3).count
    21
    """

    name: ClassVar[str] = "softmax"

    k: int
    d: int

    @property
    def count(self) -> int:
        """d + d^2 (d + 1) / 2."""
        return self.d + self.d**2 * (self.d + 1) // 2

    def rank(self, boolean: bool) -> int:
        """All of them: the diagonal of the covariance is not constant, on boolean tokens either."""
        return self.count

    def examples(self, boolean: bool) -> int:
        """Count what an example adds to the rank of the products, and with the mean.

        Of two tokens the difference of the rows is (x_1 - x_2) (x) cov, a symmetric cubic form.
        """
        products = self.count - self.d
        most = max(-(-self.count // min(self.k, self.d + 1)), -(-products // min(self.k, self.d)))
        return max(most, self.count - math.comb(self.d + 2, 3)) if self.k == 2 else most

    def __call__(self, x: NDArray[Any]) -> Array:
        """Compute the features: (n, k, d) -> (n, k, count)."""
        real = _real(x, self.k, self.d)
        mean, spread = self._moments(real)
        common = np.broadcast_to(mean[:, None], real.shape)
        return np.concatenate([common, _products(real, spread)], axis=2)

    def predict(self, solution: Array, x: NDArray[Any]) -> Array:
        """Equal self(x) @ solution, without the features: (count, d), (n, k, d) -> (n, k, d)."""
        real = _real(x, self.k, self.d)
        mean, spread = self._moments(real)
        common = (mean @ solution[: self.d])[:, None]
        return np.asarray(common + _contracted(solution[self.d :], real, spread))

    def _moments(self, real: Array) -> tuple[Array, Array]:
        mean = real.sum(axis=1) / self.k
        return mean, PairFeatures(d=self.d).moments(real - mean[:, None]) / self.k


MAPS: dict[str, type[Cubic] | type[FirstOrder]] = {kind.name: kind for kind in (Cubic, FirstOrder)}


def _real(x: NDArray[Any], k: int, d: int) -> Array:
    if x.ndim != 3 or x.shape[1:] != (k, d):
        raise UsageError(f"tokens of shape {x.shape} given: (n, {k}, {d}) is needed")
    return np.asarray(x, np.float64)


def _products(x: Array, matrix: Array) -> Array:
    """Multiply each entry of a token with each of its example's matrix: (n, k, d * pairs)."""
    n, k, d = x.shape
    return (x[..., None] * matrix[:, None, None]).reshape(n, k, d * matrix.shape[1])


def _contracted(solution: Array, x: Array, matrix: Array) -> Array:
    """Equal _products(x, matrix) @ solution, by a (d, d) matrix for each example."""
    d, pairs = x.shape[2], matrix.shape[1]
    turned = solution.reshape(d, pairs, d).transpose(1, 0, 2).reshape(pairs, d * d)
    return np.asarray(x @ (matrix @ turned).reshape(-1, d, d))
