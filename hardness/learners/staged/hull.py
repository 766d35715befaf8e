"""Stages 2 and 4: affine constraints on all Theta_i from rows where the heads agree. [CL24]

If every head attends from token a with the same weights v, every Theta_i satisfies
X_a Theta (X_j - X_l)^T = ln(v_j / v_l) for all tokens j, l. So does the affine hull of the Theta_i.

Takes patterns and residuals of all rows; returns constraints and the point of least norm near the
hull. The theorem has the constraints, with a tolerance instead of weights, and a convex body.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, lsqr

from hardness.learners.fitting import Array, Data, Result, StageFailed, pieces, repeated, rounded
from hardness.learners.staged.agreement import Agreement, smallest
from hardness.learners.staged.refine import Refined

# Beyond this dimension no stage makes a matrix (d*d, d*d), and there are fewer constraints: a
# product costs their number times d^2.
MATRIX_D = 32
# Below this weight the logarithm of an estimated pattern is too noisy.
_MIN_WEIGHT = 0.02
# Rows with residuals below this quantile of the residuals used have equal weights.
_FLOOR_QUANTILE = 0.01
_ROUNDING = 1e-8
_SAME_TOKENS = 1e-9  # relative distance below which tokens are the same
_BATCH_BYTES = 1 << 23
_RIDGE = 1e-4
ACCURACY = 1e-4  # far below the error of the constraints
_STEPS = 1000  # usually 50 to 300


@dataclass(frozen=True, kw_only=True, eq=False)
class Constraints:
    """R constraints left_r Theta right_r^T = b_r, from rows of the smallest residuals.

    left, right: (R, d). b, weights, residuals: (R,). The standard deviation of b_r is 1/weights_r
    up to a common factor, so least squares multiplies rows by weights. rows: the number of rows of
    the data that the constraints come from.
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

    def operator(self) -> LinearOperator:
        """Return the map vec(Theta) -> weights_r left_r Theta right_r^T, without a matrix."""
        d = self.left.shape[1]
        size = _BATCH_BYTES // (8 * d)

        def product(flat: Array) -> Array:
            theta, out = flat.reshape(d, d), np.empty(len(self))
            for part in pieces(len(self), size):
                out[part] = np.einsum("rd,rd->r", self.left[part] @ theta, self.right[part])
            return np.asarray(out * self.weights)

        def adjoint(values: Array) -> Array:
            values, out = values.ravel() * self.weights, np.zeros((d, d))
            for part in pieces(len(self), size):
                out += self.left[part].T @ (values[part, None] * self.right[part])
            return out.ravel()

        return LinearOperator((len(self), d * d), matvec=product, rmatvec=adjoint, dtype=np.float64)

    def cut(self, part: slice | NDArray[np.intp]) -> "Constraints":
        """Return the constraints of a slice or of indices."""
        names = ("left", "right", "b", "weights", "residuals")
        return replace(self, **{name: getattr(self, name)[part] for name in names})


def constraints(agreed: Agreement, data: Data, rows: int = 0) -> Constraints:
    """Take the rows of smallest residual whose weights all exceed 0.02; raises StageFailed.

    rows: the number of rows, by default 40 d^2 / k, and 10 d^2 / k beyond d = 32. A number suits
    all sizes, unlike a tolerance on the residual. Among constraints that are equal up to sign,
    which boolean tokens have for small d, the one of smallest residual is kept.
    """
    n, k, d = data.x.shape
    usable = np.all(agreed.patterns > _MIN_WEIGHT, axis=-1)
    there = int(usable.sum())
    least = -(-3 * d * d // (2 * (k - 1)))
    if there < least:
        needs = -(-len(data) * least // there) if there else None
        why = f"{there} of {n * k} rows of {n} examples attend to all tokens, {least} must"
        raise StageFailed("constraints", why, needs=needs)
    # If two tokens are the same, the pattern is not determined.
    gaps = [abs(data.x[:, i] - data.x[:, j]).max(axis=-1) for i, j in combinations(range(k), 2)]
    usable[repeated(data.x) | (np.min(gaps, axis=0) <= _SAME_TOKENS * np.abs(data.x).max())] = False
    if not usable.any():
        raise StageFailed("constraints", "in every row that attends to all tokens two coincide")
    rows = rows or (40 if d <= MATRIX_D else 10) * d * d // k
    residuals = np.where(usable, agreed.residuals, np.inf)
    e, a = smallest(residuals, min(rows, int(usable.sum())))
    order = np.argsort(agreed.residuals[e, a], kind="stable")
    e, a = e[order], a[order]
    x, v, residuals = data.x[e], agreed.patterns[e, a], agreed.residuals[e, a]
    # Rows of partial agreement have less information: the error of b is about residual/weight.
    floor = max(float(np.quantile(residuals, _FLOOR_QUANTILE)), _ROUNDING)
    doubt = np.hypot(residuals, floor) / floor
    parts = [
        (x[:, i] - x[:, j], np.log(v[:, i] / v[:, j]), np.minimum(v[:, i], v[:, j]) / doubt)
        for i, j in combinations(range(k), 2)
    ]
    right, b, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    left, residuals = np.tile(data.x[e, a], (len(parts), 1)), np.tile(residuals, len(parts))
    every = Constraints(
        left=left, right=right, b=b, weights=weights, residuals=residuals, rows=len(e)
    )
    return every.cut(_distinct(left, right))


def _distinct(left: Array, right: Array) -> NDArray[np.intp]:
    """Return the indices of the first of each class of constraints that are equal up to sign."""
    sides = []
    for side in map(
        rounded, (left, right)
    ):  # with signs that make the first nonzero entry positive
        leading = np.take_along_axis(side, np.argmax(side != 0, axis=-1)[:, None], axis=-1)
        sides.append(np.where(leading < 0, -side, side))
    both = np.hstack(sides) + 0.0  # no negative zeros
    rows = both.view(np.dtype((np.void, both[0].nbytes))).ravel()
    return np.sort(np.unique(rows, return_index=True)[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Hull(Result):
    """The minimum-norm point, centre (d, d). Measures: constraints and largest residual."""

    centre: Array
    constraints: Constraints


def hull(system: Constraints, ridge: float = _RIDGE, accuracy: float = ACCURACY) -> Hull:
    """Solve (U^T D U + ridge I) vec(centre) = U^T D b, D the squared weights; raises StageFailed.

    The solution replaces the minimum-norm point of the body {Theta: |constraints| <= epsilon}.
    ridge: relative to the mean eigenvalue. accuracy: that of the solution. The method needs only
    products with U and its adjoint. The result equals sklearn's Ridge without intercept. [PS82]
    """
    if len(system) < 4:
        raise StageFailed("hull", f"{len(system)} constraints left after removing repeats")
    d = system.left.shape[1]
    theta, *_ = lsqr(
        system.operator(), system.weights * system.b, damp=np.sqrt(ridge * system.trace) / d,
        atol=accuracy, btol=accuracy, conlim=0, iter_lim=_STEPS,
    )  # fmt: skip
    measures = {"constraints": len(system), "residual": float(system.residuals.max())}
    centre = np.asarray(theta.reshape(d, d))
    return Hull(centre=centre, constraints=system, rows=system.rows, measures=measures)


def affine_hull(refined: Refined, data: Data) -> Hull:
    """Find the constraints of rows where the heads agree, and a point near the hull."""
    around = hull(constraints(refined.agreement, data))
    drawn = refined.agreement.histogram(around.measures["residual"])
    return replace(around, theta=around.centre, w=refined.w, figures={"residuals": drawn})
