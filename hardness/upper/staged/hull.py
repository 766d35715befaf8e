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
    halves = [found.cut(slice(start, None, 2)) for start in (0, 1)]
    even, odd = (_second_moment(half) for half in halves)
    return Hull(
        centre=_solve(even + odd, found, ridge),
        second_moment=(even + odd) / float(np.sum(found.weights**2)),
        r2=_explained(_solve(even, halves[0], ridge), halves[1]),
    )


def _solve(second: Array, found: Constraints, ridge: float) -> Array:
    """The ridge solution (d, d), refined once by the residuals of the constraints themselves.

    Where the constraints determine nothing, the solution of the normal equations alone is off by
    rounding times their condition number, which is its square for the residuals' correction.
    """
    d = found.left.shape[1]
    shift = max(ridge, 1e-14) * float(np.trace(second)) / len(second)
    # Without the estimate of the condition number that scipy.linalg.solve warns of: with few
    # constraints it is as large as the shift lets it be.
    factor = scipy.linalg.cho_factor(second + shift * np.eye(len(second)))
    theta = np.zeros((d, d))
    for _ in range(2):
        weighted = found.weights**2 * (found.b - _logits(theta, found))
        slope = found.left.T @ (weighted[:, None] * found.right) - shift * theta
        theta += scipy.linalg.cho_solve(factor, slope.ravel()).reshape(d, d)
    return theta


def _second_moment(found: Constraints) -> Array:
    """U^T D U, U made in batches."""
    size = found.left.shape[1] ** 2
    second = np.zeros((size, size))
    batch = max(1, _BATCH_BYTES // (8 * size))
    for start in range(0, len(found), batch):
        part = found.cut(slice(start, start + batch))
        u = part.u * part.weights[:, None]
        second += u.T @ u
    return second


def _logits(theta: Array, found: Constraints) -> Array:
    """left_r theta right_r^T for every constraint, (R,)."""
    return np.asarray(np.einsum("rb,rb->r", found.left @ theta, found.right))


def _explained(theta: Array, found: Constraints) -> float:
    """1 - (weighted error)/(weighted square of b), never below -1."""
    error = float(np.sum((found.weights * (found.b - _logits(theta, found))) ** 2))
    scale = float(np.sum((found.weights * found.b) ** 2))
    return max(1.0 - error / scale, -1.0) if scale else 0.0
