"""Stages 2 and 4: affine constraints on the Theta_i from the rows where all heads agree. [CL24]

Where every head attends from token a with the same weights v, every Theta_i satisfies
X_a Theta (X_j - X_l)^T = ln(v_j / v_l) for all tokens j, l: the affine hull of the Theta_i does.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hardness.upper.staged.agreement import Agreement, smallest
from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.stage import StageFailed

# Below this weight the logarithm of an estimated pattern is too noisy.
LEAST = 0.02
# The residual below which rows count alike is this quantile of the residuals that are taken.
_FLOOR = 0.01
_ROUNDING = 1e-8


@dataclass(frozen=True, kw_only=True, eq=False)
class Constraints:
    """R constraints left_r Theta right_r^T = b_r, from rows of the smallest residuals.

    left, right: (R, d). b, weights, residuals: (R,). The standard deviation of b_r is taken as
    1/weights_r, up to a common factor: a least squares problem has its rows multiplied by weights.
    rows: the number of rows of the data that they are from.
    """

    left: Array
    right: Array
    b: Array
    weights: Array
    residuals: Array
    rows: int

    def __len__(self) -> int:
        return len(self.b)

    @property
    def u(self) -> Array:
        """The constraints as vectors (R, d*d): u_r . vec(Theta) = b_r."""
        return np.asarray((self.left[:, :, None] * self.right[:, None, :]).reshape(len(self), -1))

    def cut(self, part: slice) -> "Constraints":
        """Return some of the constraints."""
        return Constraints(
            left=self.left[part],
            right=self.right[part],
            b=self.b[part],
            weights=self.weights[part],
            residuals=self.residuals[part],
            rows=self.rows,
        )


def constraints(found: Agreement, data: Data, rows: int = 0) -> Constraints:
    """Take the rows of smallest residual whose weights all exceed LEAST; raises StageFailed.

    rows: how many, by default 40 d^2 / k (a count carries over between sizes, a tolerance on the
    residual does not). Of constraints equal up to sign, which boolean tokens have at small d, the
    one of smallest residual stays.
    """
    n, k, d = data.x.shape
    usable = np.all(found.patterns > LEAST, axis=-1)
    there = int(usable.sum())
    least = -(-3 * d * d // (2 * (k - 1)))
    if there < least:
        needs = -(-len(data) * least // there) if there else None
        why = f"{there} of {n * k} rows of {n} examples attend to all tokens, {least} must"
        raise StageFailed("constraints", why, needs=needs)
    e, a = smallest(np.where(usable, found.residuals, np.inf), min(rows or 40 * d * d // k, there))
    order = np.argsort(found.residuals[e, a], kind="stable")
    order = order[_apart(data.x[e[order]])]
    if not len(order):
        raise StageFailed("constraints", "in every row that attends to all tokens two coincide")
    e, a = e[order], a[order]
    x, v, residuals = data.x[e], found.patterns[e, a], found.residuals[e, a]
    # A row that half agrees tells less: the error of b goes as its residual over the weights.
    floor = max(float(np.quantile(residuals, _FLOOR)), _ROUNDING)
    doubt = np.hypot(residuals, floor) / floor
    parts = [
        (x[:, i] - x[:, j], np.log(v[:, i] / v[:, j]), np.minimum(v[:, i], v[:, j]) / doubt)
        for i, j in combinations(range(k), 2)
    ]
    right, b, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    left = np.tile(data.x[e, a], (len(parts), 1))
    kept = _distinct(left, right)
    return Constraints(
        left=left[kept],
        right=right[kept],
        b=b[kept],
        weights=weights[kept],
        residuals=np.tile(residuals, len(parts))[kept],
        rows=len(e),
    )


def _distinct(left: Array, right: Array) -> NDArray[np.intp]:
    """Indices of the first of each class of constraints equal up to sign."""
    both = np.hstack([_positive(left), _positive(right)]) + 0.0  # no negative zeros
    return np.sort(np.unique(both, axis=0, return_index=True)[1])


def _apart(x: Array) -> NDArray[np.bool_]:
    """Say for which of x (r, k, d) all tokens differ: else the pattern is not determined."""
    pairs = combinations(range(x.shape[1]), 2)
    return np.all([np.any(x[:, i] != x[:, j], axis=-1) for i, j in pairs], axis=0)


def _positive(rows: Array) -> Array:
    """Flip the rows whose first entry other than zero is negative."""
    leading = np.take_along_axis(rows, np.argmax(rows != 0, axis=-1)[:, None], axis=-1)
    return np.where(leading < 0, -rows, rows)
