"""Stages 2 and 4: affine constraints on the Theta_i from the rows where all heads agree. [CL24]

Where every head attends from token a with the same weights v, every Theta_i satisfies
X_a Theta (X_j - X_l)^T = ln(v_j / v_l) for all tokens j, l: the affine hull of the Theta_i does.
"""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from hardness.upper.staged.agreement import Agreement, smallest
from hardness.upper.staged.data import Array, Data, repeated, rounded
from hardness.upper.staged.stage import Clock, StageFailed, endless

# Beyond it no stage makes a matrix (d*d, d*d), and there are fewer constraints: their number times
# d^2 is the cost of a product.
MATRIX_D = 32
# Below this weight the logarithm of an estimated pattern is too noisy.
LEAST = 0.02
# The residual below which rows count alike is this quantile of the residuals that are taken.
_FLOOR = 0.01
_ROUNDING = 1e-8
_SAME = 1e-9  # relative: tokens nearer than this are one
_BATCH_BYTES = 1 << 23


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

    @property
    def trace(self) -> float:
        """The sum of weights_r^2 ||u_r||^2."""
        squares = (np.einsum("rd,rd->r", side, side) for side in (self.left, self.right))
        return float(np.sum(self.weights**2 * np.prod(list(squares), axis=0)))

    def operator(self, clock: Clock = endless) -> LinearOperator:
        """Return the map from vec(Theta) to weights_r left_r Theta right_r^T, without its matrix.

        Equals the matrix weights[:, None] * u, of R d^2 numbers.
        """
        d = self.left.shape[1]
        batch = max(1, _BATCH_BYTES // (8 * d))
        parts = [slice(start, start + batch) for start in range(0, len(self), batch)]

        def product(flat: Array) -> Array:
            theta, out = flat.reshape(d, d), np.empty(len(self))
            for part in parts:
                clock()
                out[part] = np.einsum("rd,rd->r", self.left[part] @ theta, self.right[part])
            return np.asarray(out * self.weights)

        def adjoint(values: Array) -> Array:
            values, out = values.ravel() * self.weights, np.zeros((d, d))
            for part in parts:
                clock()
                out += self.left[part].T @ (values[part, None] * self.right[part])
            return out.ravel()

        return LinearOperator((len(self), d * d), matvec=product, rmatvec=adjoint, dtype=np.float64)

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


def constraints(found: Agreement, data: Data, rows: int = 0, clock: Clock = endless) -> Constraints:
    """Take the rows of smallest residual whose weights all exceed LEAST; raises StageFailed.

    rows: how many, by default 40 d^2 / k, and 10 d^2 / k beyond d = 32 (a count carries over
    between sizes, a tolerance on the residual does not). Of constraints equal up to sign, which
    boolean tokens have at small d, the one of smallest residual stays.
    """
    n, k, d = data.x.shape
    usable = np.all(found.patterns > LEAST, axis=-1)
    there = int(usable.sum())
    least = -(-3 * d * d // (2 * (k - 1)))
    if there < least:
        needs = -(-len(data) * least // there) if there else None
        why = f"{there} of {n * k} rows of {n} examples attend to all tokens, {least} must"
        raise StageFailed("constraints", why, needs=needs)
    default = (40 if d <= MATRIX_D else 10) * d * d // k
    usable[repeated(data.x)] = False
    e, a = _closest(found, usable, rows or default)
    if not _apart(data.x[e]).all():
        usable[~_apart(data.x)] = False
        if not usable.any():
            raise StageFailed("constraints", "in every row that attends to all tokens two coincide")
        e, a = _closest(found, usable, rows or default)
    order = np.argsort(found.residuals[e, a], kind="stable")
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
    kept = _distinct(left, right, clock)
    return Constraints(
        left=left[kept],
        right=right[kept],
        b=b[kept],
        weights=weights[kept],
        residuals=np.tile(residuals, len(parts))[kept],
        rows=len(e),
    )


def _closest(
    found: Agreement, usable: NDArray[np.bool_], rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the usable rows of smallest residual."""
    count = min(rows, int(usable.sum()))
    return smallest(np.where(usable, found.residuals, np.inf), count)


def _distinct(left: Array, right: Array, clock: Clock) -> NDArray[np.intp]:
    """Indices of the first of each class of constraints equal up to sign."""
    first: dict[bytes, int] = {}
    left, right = rounded(left), rounded(right)  # no negative zeros
    batch = max(1, _BATCH_BYTES // (16 * left.shape[1]))
    for start in range(0, len(left), batch):
        clock()
        part = slice(start, start + batch)
        both = np.hstack([_positive(left[part]), _positive(right[part])]) + 0.0
        for r, row in enumerate(both, start):
            first.setdefault(blake2b(row, digest_size=16).digest(), r)
    return np.array(list(first.values()), np.intp)


def _apart(x: Array) -> NDArray[np.bool_]:
    """Say for which of x (r, k, d) all tokens differ: else the pattern is not determined."""
    pairs = combinations(range(x.shape[1]), 2)
    least = _SAME * float(np.abs(x).max())
    return np.all([(np.abs(x[:, i] - x[:, j]) > least).any(axis=-1) for i, j in pairs], axis=0)


def _positive(rows: Array) -> Array:
    """Flip the rows whose first entry other than zero is negative."""
    leading = np.take_along_axis(rows, np.argmax(rows != 0, axis=-1)[:, None], axis=-1)
    return np.where(leading < 0, -rows, rows)
