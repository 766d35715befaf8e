"""The convex body of stage 2 as the paper states it, asked by linear and convex programs. [CL24]

K = {Theta : |<u_r, Theta> - b_r| <= epsilon for all r, |Theta_ab| <= bound}. It holds every head
when epsilon covers how far the heads disagree on the rows, and it is long along the directions in
which heads differ. Linear programs hold a bound on entries; one on the Frobenius norm would need
a second-order cone, so the body has none: `minimum_norm` finds its point of least Frobenius norm.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from hardness.learners.attention import Array
from hardness.learners.fitting import StageFailed
from instances.errors import UsageError

_ROUNDING = 1e-9  # relative


@dataclass(frozen=True, kw_only=True, eq=False)
class Body:
    """The body of the constraints u (R, d*d), b (R,), with epsilon >= 0 and bound > 0.

    Rows multiplied by weights (both u and b) ask for weighted residuals below epsilon. A support
    query takes .02 s at d = 8, .3 s at 12, seconds at 16.

    >>> body = Body(u=np.eye(4)[:1], b=np.array([1.0]), epsilon=0.1, bound=2.0)
    >>> body.contains(np.array([[1.05, -2.0], [0.0, 2.0]])), body.contains(np.zeros((2, 2)))
    (True, False)
    """

    u: Array
    b: Array
    epsilon: float
    bound: float

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return _side(self.u)

    def contains(self, theta: Array, slack: float = 1e-9) -> bool:
        """Return whether theta (d, d) keeps every bound up to slack."""
        flat = theta.reshape(-1)
        rows = float(np.abs(self.u @ flat - self.b).max()) - self.epsilon
        return max(rows, float(np.abs(flat).max()) - self.bound) <= slack


def least_epsilon(u: Array, b: Array, bound: float) -> tuple[float, Array]:
    """Return the least epsilon whose body is not empty, and its point (d, d): a linear program.

    min over |Theta_ab| <= bound of max_r |<u_r, Theta> - b_r|.

    >>> epsilon, theta = least_epsilon(np.array([[1.0], [1.0]]), np.array([0.0, 1.0]), 5.0)
    >>> round(epsilon, 9), round(float(theta[0, 0]), 9)
    (0.5, 0.5)
    """
    size = u.shape[1]
    ones = np.ones((len(u), 1))
    found = _solve(
        np.append(np.zeros(size), 1.0),
        A_ub=np.block([[u, -ones], [-u, -ones]]),
        b_ub=np.concatenate([b, -b]),
        bounds=[(-bound, bound)] * size + [(0.0, None)],
    )
    return float(found[-1]), found[:-1].reshape(_side(u), -1)


def support(body: Body, direction: Array) -> Array:
    """Return a point (d, d) of the body with the largest <direction, Theta>: a linear program.

    Raises StageFailed where there is no point at all.

    >>> body = Body(u=np.array([[1.0]]), b=np.array([1.0]), epsilon=0.25, bound=9.0)
    >>> support(body, np.array([[-1.0]])).item()
    0.75
    """
    theta = _solve(
        -direction.reshape(-1),
        A_ub=np.vstack([body.u, -body.u]),
        b_ub=np.concatenate([body.b, -body.b]) + body.epsilon,
        bounds=(-body.bound, body.bound),
        empty=body,
    )
    return theta.reshape(body.d, body.d)


def minimum_norm(body: Body) -> Array:
    """Return the point (d, d) of the body of least Frobenius norm; raises StageFailed.

    Least-distance programming: min |x| subject to G x >= h is, by duality, one nonnegative least
    squares problem [LH74, chapter 23], solved by an active-set method. Constraints on boolean
    tokens depend on one another: several become active at once, rounding decides which of them the
    method takes, and it may go on past the minimum to multipliers that solve nothing. So limits
    are moved apart to find the active ones, and what is found is checked: StageFailed where it is
    no minimum all the same.

    >>> body = Body(u=np.array([[3.0, 4.0, 0.0, 0.0]]), b=np.array([10.0]), epsilon=5.0, bound=9.0)
    >>> minimum_norm(body).round(12).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    size = body.u.shape[1]
    eye = np.eye(size)
    normals = np.vstack([body.u, -body.u, eye, -eye])
    limits = np.concatenate(
        [body.b - body.epsilon, -body.b - body.epsilon, np.full(2 * size, -body.bound)]
    )
    apart = limits - _ROUNDING * np.random.default_rng(0).random(len(limits))
    target = np.append(np.zeros(size), 1.0)
    system = np.vstack([normals.T, apart])
    try:
        multipliers, _ = nnls(system, target, maxiter=30 * system.shape[1])
    except RuntimeError as error:
        raise StageFailed("body", f"the minimum-norm point was not found ({error})") from error
    # At the minimum this is (-x, 1) / (1 + |x|^2), whose last entry is the square of its norm; it
    # is zero exactly where the constraints contradict one another.
    residual = target - system @ multipliers
    if abs(residual[-1] - residual @ residual) < _ROUNDING * residual[-1]:
        active = multipliers > 0
        point = np.linalg.lstsq(normals[active], limits[active], rcond=None)[0]
        theta = np.asarray(point.reshape(body.d, body.d))
        if body.contains(theta, _ROUNDING * max(1.0, float(np.abs(limits).max()))):
            return theta
    _require_point(body)
    raise StageFailed("body", "the minimum-norm point was not found: rounding hides it")


def extract(
    body: Body, count: int, rng: np.random.Generator, climbs: int = 4
) -> tuple[Array, Array]:
    """Find the `count` longest axes of a body from support queries alone. [CL24]

    Returns orthonormal directions (count, d, d), longest first, and the widths (count,) along them:
    max <direction, Theta> - min <direction, Theta> over the body.

    Each axis starts at a random direction orthogonal to those before, and climbs: the difference
    of the two support points is the next direction, which never shortens the chord. Takes
    2 count (climbs + 2) linear programs. Raises StageFailed, and UsageError for a bad count.

    >>> body = Body(u=np.eye(4)[:3], b=np.zeros(3), epsilon=0.1, bound=1.0)
    >>> directions, widths = extract(body, 2, np.random.default_rng(0))
    >>> widths.round(2).tolist()
    [2.02, 0.2]
    """
    size = body.u.shape[1]
    if not 1 <= count <= size:
        raise UsageError(f"count must be between 1 and {size}, the axes of the body, got {count}")
    chords = np.empty((0, size))
    for _ in range(count):
        _, _, basis = np.linalg.svd(chords, full_matrices=False)
        direction = _outside(basis, rng.standard_normal((size,)))
        chord = direction
        for _ in range(climbs + 1):
            chord = _chord(body, direction)
            direction = _outside(basis, chord)
        chords = np.vstack([chords, chord])
    _, _, basis = np.linalg.svd(chords, full_matrices=False)
    widths = np.array([_chord(body, axis) @ axis for axis in basis])
    order = np.argsort(-widths)
    return basis[order].reshape(-1, body.d, body.d), widths[order]


def _chord(body: Body, direction: Array) -> Array:
    """The difference of the body's extreme points along a direction, (d*d,)."""
    return (support(body, direction) - support(body, -direction)).reshape(-1)


def _outside(basis: Array, vector: Array) -> Array:
    """The part of a vector orthogonal to the rows of a basis, of norm 1 where there is any."""
    rest = vector - basis.T @ (basis @ vector)
    norm = float(np.linalg.norm(rest))
    return rest / norm if norm else rest


def _solve(cost: Array, empty: Body | None = None, **program: Any) -> Array:
    """Minimise cost . x; raises StageFailed where it has no point."""
    found = linprog(cost, method="highs", **program)
    if found.status == 2 and empty is not None:
        _require_point(empty)
    if found.x is None:
        raise StageFailed("body", f"a linear program was not solved ({found.message})")
    return np.asarray(found.x)


def _require_point(body: Body) -> None:
    """Raise StageFailed, with the epsilon that it takes, where no Theta meets the constraints."""
    least, _ = least_epsilon(body.u, body.b, body.bound)
    if least > body.epsilon:
        raise StageFailed(
            "body",
            f"epsilon={body.epsilon:.3g}: no Theta meets the {len(body.u)} constraints, with "
            f"epsilon={least:.3g} one does: raise epsilon, or drop the rows with large residuals",
        )


def _side(u: Array) -> int:
    return round(u.shape[1] ** 0.5)
