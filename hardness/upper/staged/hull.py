"""Stage 4: a point of the affine hull of the Theta_i, and the spread of the constraints about it.

The ridge minimum-norm solution of the constraints: what a minimum-norm query to the convex body
{Theta: |constraints| <= epsilon} would give. [CL24]
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from hardness.upper.staged.constraints import Constraints
from hardness.upper.staged.data import Array
from hardness.upper.staged.stage import StageFailed

RIDGE = 1e-4
_BATCH_BYTES = 1 << 25


@dataclass(frozen=True, kw_only=True, eq=False)
class Hull:
    """The minimum-norm point centre (d, d) and the weighted second moment (d*d, d*d) of the u_r.

    r2: weighted share of the variance of b explained on held-out constraints (1 is all).
    """

    centre: Array
    second_moment: Array
    r2: float


def hull(found: Constraints, ridge: float = RIDGE) -> Hull:
    """Solve (U^T D U + ridge I) vec(centre) = U^T D b, D the squared weights; raises StageFailed.

    ridge: relative to the mean eigenvalue. Equals sklearn's Ridge without an intercept.
    """
    if len(found) < 4:
        raise StageFailed("hull", f"{len(found)} constraints left after removing repeats")
    even, odd = (_sums(found.cut(slice(start, None, 2))) for start in (0, 1))
    second, mixed = even[0] + odd[0], even[1] + odd[1]
    weight = float(np.sum(found.weights**2))
    d = found.left.shape[1]
    return Hull(
        centre=_solve(second, mixed, ridge).reshape(d, d),
        second_moment=second / weight,
        r2=_explained(_solve(*even, ridge), found.cut(slice(1, None, 2))),
    )


def _solve(second: Array, mixed: Array, ridge: float) -> Array:
    shift = max(ridge, 1e-14) * float(np.trace(second)) / len(second)
    shifted = second + shift * np.eye(len(second))
    # Without the estimate of the condition number that scipy.linalg.solve warns of: with few
    # constraints it is as large as the shift lets it be.
    return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(shifted), mixed))


def _sums(found: Constraints) -> tuple[Array, Array]:
    """U^T D U and U^T D b, U made in batches."""
    size = found.left.shape[1] ** 2
    second, mixed = np.zeros((size, size)), np.zeros(size)
    batch = max(1, _BATCH_BYTES // (8 * size))
    for start in range(0, len(found), batch):
        part = found.cut(slice(start, start + batch))
        u = part.u * part.weights[:, None]
        second += u.T @ u
        mixed += u.T @ (part.b * part.weights)
    return second, mixed


def _explained(theta: Array, found: Constraints) -> float:
    """1 - (weighted error)/(weighted square of b), never below -1."""
    d = found.left.shape[1]
    predicted = np.einsum(
        "ra,ab,rb->r", found.left, theta.reshape(d, d), found.right, optimize=True
    )
    error = float(np.sum((found.weights * (found.b - predicted)) ** 2))
    scale = float(np.sum((found.weights * found.b) ** 2))
    return max(1.0 - error / scale, -1.0) if scale else 0.0
