"""Least squares of a stream of rows, by orthogonal transformations in fixed memory.

The triangular factor of [features | labels] is kept and a block of rows is folded into it at a
time. Unlike normal equations this does not square the condition number. [GVL13, section 5.3, 6.5.2]
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.limits import require_memory

Array = NDArray[np.float64]
_SAFE = 1e-9  # reciprocal condition number above which no rank needs to be found
_LEAST_BLOCK = 512


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquaresFit:
    """The solution of least norm, (features, labels), of `rows` rows of a rank.

    residual: sum of squares that is left, total: of the labels, both (labels,).
    """

    solution: Array
    rank: int
    rows: int
    residual: Array
    total: Array

    @property
    def unexplained(self) -> float | None:
        """Share of the labels' second moment that is left, for the degrees of freedom used.

        None where there are no more rows than the rank: any labels would be fitted.
        """
        spare, total = self.rows - self.rank, float(self.total.sum())
        if spare <= 0 or not total:
            return None
        return float(self.residual.sum()) / spare / (total / self.rows)


class LeastSquares:
    """Takes rows in any batches, and gives the same bits for the same rows.

    >>> sums = LeastSquares(features=1, labels=1)
    >>> sums.add(np.array([[1.0], [2.0]]), np.array([[3.0], [6.0]]))
    >>> sums.solve().solution.round(12).tolist()
    [[3.0]]
    """

    def __init__(self, *, features: int, labels: int) -> None:
        """Take the memory: a factor and a block of half its rows; raises TooLarge."""
        width = features + labels
        block = max(_LEAST_BLOCK, -(-width // 2))
        require_memory(8 * (4 * width + block) * width, f"least squares on {features} features")
        self._features = features
        self._factor = np.zeros((width, width), order="F")  # upper triangular
        self._block = np.empty((block, width), order="F")
        self._filled = 0
        self.rows = 0

    def add(self, features: Array, labels: Array) -> None:
        """Add rows: (n, features) and (n, labels); raises UsageError for other shapes."""
        width = len(self._factor)
        shapes = ((len(features), self._features), (len(features), width - self._features))
        if (features.shape, labels.shape) != shapes:
            raise UsageError(
                f"rows of shapes {features.shape} and {labels.shape} given: {shapes} are needed"
            )
        start = 0
        while start < len(features):
            count = min(len(self._block) - self._filled, len(features) - start)
            place = slice(self._filled, self._filled + count)
            self._block[place, : self._features] = features[start : start + count]
            self._block[place, self._features :] = labels[start : start + count]
            self._filled += count
            start += count
            if self._filled == len(self._block):
                self._factor = _folded(self._factor, self._block)
                self._filled = 0
        self.rows += len(features)

    def solve(self) -> LeastSquaresFit:
        """Solve for all rows so far; equals numpy.linalg.lstsq on all of them at once."""
        factor = self._factor
        if self._filled:
            factor = _folded(factor.copy(order="F"), self._block[: self._filled])
        left, right = factor[:, : self._features], factor[:, self._features :]
        cutoff = np.finfo(np.float64).eps * max(self.rows, self._features)
        solution, rank = _solved(left, right, cutoff)
        residual = ((left @ solution - right) ** 2).sum(axis=0)
        return LeastSquaresFit(
            solution=solution,
            rank=rank,
            rows=self.rows,
            residual=residual,
            total=(right**2).sum(axis=0),
        )


def _folded(factor: Array, block: Array) -> Array:
    """Factor of a factor above a block of rows; both may be overwritten."""
    from scipy.linalg.lapack import dtpqrt

    width = len(factor)
    found, _, _, info = dtpqrt(0, min(32, width), factor, block, overwrite_a=1, overwrite_b=1)
    if info:
        raise AssertionError(f"dtpqrt refused its argument {-info}")
    return np.asarray(found)


def _solved(left: Array, right: Array, cutoff: float) -> tuple[Array, int]:
    """Solve a triangular factor: the solution of least norm, and the rank."""
    from scipy.linalg import qr, qr_multiply, solve_triangular
    from scipy.linalg.lapack import dtrcon

    count = left.shape[1]
    square = left[:count]
    if dtrcon(square)[0] > _SAFE:
        return solve_triangular(square, right[:count]), count
    turned, triangle, order = qr_multiply(left, right.T, pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > cutoff * sizes[0]).sum()) if sizes[0] else 0
    solution = np.zeros((count, right.shape[1]))
    if not rank:
        return solution, 0
    # Of the solutions the shortest has no part outside of the rows' span: a complete orthogonal
    # decomposition. [GVL13, section 5.5]
    basis, lower = qr(triangle[:rank].T, mode="economic")
    within = solve_triangular(lower, turned[:, :rank].T, trans="T")
    solution[order] = basis @ within
    return solution, rank
