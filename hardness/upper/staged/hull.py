"""Stage 4: a point of the affine hull of the Theta_i.

The ridge minimum-norm solution of the constraints: what a minimum-norm query to the convex body
{Theta: |constraints| <= epsilon} would give. [CL24]
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import lsqr

from hardness.upper.staged.constraints import Constraints
from hardness.upper.staged.data import Array
from hardness.upper.staged.stage import Clock, StageFailed, endless

RIDGE = 1e-4
ACCURACY = 1e-4  # what is left is far below the error of the constraints
_STEPS = 1000  # 50 to 300 are the rule


@dataclass(frozen=True, kw_only=True, eq=False)
class Hull:
    """The minimum-norm point centre (d, d).

    r2: weighted share of the variance of b explained on held-out constraints (1 is all).
    """

    centre: Array
    r2: float


def hull(
    found: Constraints, ridge: float = RIDGE, accuracy: float = ACCURACY, clock: Clock = endless
) -> Hull:
    """Solve (U^T D U + ridge I) vec(centre) = U^T D b, D the squared weights; raises StageFailed.

    ridge: relative to the mean eigenvalue; accuracy: of the solution, which takes products with U
    and its adjoint alone. Equals sklearn's Ridge without an intercept. [PS82]
    """
    if len(found) < 4:
        raise StageFailed("hull", f"{len(found)} constraints left after removing repeats")
    even, odd = (found.cut(slice(start, None, 2)) for start in (0, 1))
    return Hull(
        centre=_solve(found, ridge, accuracy, clock),
        r2=_explained(_solve(even, ridge, ACCURACY, clock), odd),
    )


def _solve(found: Constraints, ridge: float, accuracy: float, clock: Clock) -> Array:
    """The ridge solution (d, d)."""
    d = found.left.shape[1]
    theta, *_ = lsqr(
        found.operator(clock), found.weights * found.b, damp=np.sqrt(ridge * found.trace) / d,
        atol=accuracy, btol=accuracy, conlim=0, iter_lim=_STEPS,
    )  # fmt: skip
    return np.asarray(theta.reshape(d, d))


def _explained(theta: Array, found: Constraints) -> float:
    """1 - (weighted error)/(weighted square of b), never below -1."""
    logits = np.einsum("rd,rd->r", found.left @ theta, found.right)
    error = float(np.sum((found.weights * (found.b - logits)) ** 2))
    scale = float(np.sum((found.weights * found.b) ** 2))
    return max(1.0 - error / scale, -1.0) if scale else 0.0
