"""The six stages nearly as the paper states them. [CL24]

The stages are: moment, agreement rows, convex body, its minimum-norm point as a proxy, high-margin
rows, the body again, its long axes by support queries, a net. Variable projection and polish are
omitted, so the error is that of the stages. There are three changes to the paper. Stage 3 drops
70 % of its rows, epsilon is a multiple of the smallest feasible one, and the bound is on entries.
Every stage with a layer reports its error on the hold-out.

Linear and convex programs answer queries to the body
K = {Theta : |<u_r, Theta> - b_r| <= epsilon for all r, |Theta_ab| <= bound}. It contains every head
if epsilon is as large as the disagreement of the heads on the rows. It is long in the directions in
which heads differ. Linear programs can bound entries; a bound on the Frobenius norm would need a
second-order cone. So the body has no such bound, and `minimum_norm` finds its point of smallest
Frobenius norm.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from hardness.learners.fitting import Array, Data, Fit, OneHead, Result, StageFailed
from hardness.learners.staged.agreement import agreement
from hardness.learners.staged.hull import constraints
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import grid
from hardness.learners.staged.progress import Progress
from hardness.learners.staged.refine import refine_by_proxy
from instances.errors import require

LARGEST_D = 16  # here a linear program of d^2 unknowns takes seconds
BOUND = 8.0  # on the entries of all Theta_i; the paper assumes a known bound on their norms
# The paper assumes a known epsilon; here it is a multiple of the smallest one with a nonempty body.
# For small multiples the minimum-norm point is near the hull; beyond twice, the crude body often
# contains 0. To contain all heads, and be long along their differences, epsilon must be far larger.
_TIGHT_EPSILON = 1.25
_LOOSE_EPSILON = 16.0
_ROUNDING = 1e-6
_ROWS = 10  # constraints, at most, as a multiple of d^2
_LEAST_EXAMPLES = 10_000
_MOST_EXAMPLES = 300_000
MOST_HEADS = 4
_ONE_HEAD_RATIO = 2.0  # one head is enough if its error is at most this multiple of that of several
_ROUNDING_SLACK = 1e-9  # relative


@dataclass(frozen=True, kw_only=True, eq=False)
class Body:
    """The body of the constraints u (R, d*d), b (R,), with epsilon >= 0 and bound > 0.

    If rows of u and b are multiplied by weights, the weighted residuals are at most epsilon. A
    support query takes 0.02 s for d = 8, 0.3 s for d = 12 and seconds for d = 16.

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
        """Return whether theta (d, d) satisfies every constraint up to slack."""
        flat = theta.reshape(-1)
        rows = float(np.abs(self.u @ flat - self.b).max()) - self.epsilon
        return max(rows, float(np.abs(flat).max()) - self.bound) <= slack


def least_epsilon(u: Array, b: Array, bound: float) -> tuple[float, Array]:
    """Return the smallest epsilon with a nonempty body, and its point (d, d): a linear program.

    min over |Theta_ab| <= bound of max_r |<u_r, Theta> - b_r|.

    >>> epsilon, theta = least_epsilon(np.array([[1.0], [1.0]]), np.array([0.0, 1.0]), 5.0)
    >>> round(epsilon, 9), round(float(theta[0, 0]), 9)
    (0.5, 0.5)
    """
    size, ones = u.shape[1], np.ones((len(u), 1))
    rows, limits = np.block([[u, -ones], [-u, -ones]]), np.concatenate([b, -b])
    bounds = [(-bound, bound)] * size + [(0.0, None)]
    found = _solve(np.append(np.zeros(size), 1.0), A_ub=rows, b_ub=limits, bounds=bounds)
    return float(found[-1]), found[:-1].reshape(_side(u), -1)


def support(body: Body, direction: Array) -> Array:
    """Return a point (d, d) of the body with the largest <direction, Theta>: a linear program.

    Raises StageFailed if the body is empty.

    >>> body = Body(u=np.array([[1.0]]), b=np.array([1.0]), epsilon=0.25, bound=9.0)
    >>> support(body, np.array([[-1.0]])).item()
    0.75
    """
    rows = np.vstack([body.u, -body.u])
    limits, bounds = np.concatenate([body.b, -body.b]) + body.epsilon, (-body.bound, body.bound)
    theta = _solve(-direction.reshape(-1), body, A_ub=rows, b_ub=limits, bounds=bounds)
    return theta.reshape(body.d, body.d)


def minimum_norm(body: Body) -> Array:
    """Return the point (d, d) of the body of least Frobenius norm; raises StageFailed.

    This is least-distance programming: min |x| subject to G x >= h is, by duality, a nonnegative
    least squares problem [LH74, chapter 23]. An active-set method solves it. Constraints of boolean
    tokens depend on one another, so several become active at once. Rounding then decides which ones
    the method takes, and it may pass the minimum and return useless multipliers. So the limits are
    perturbed to find the active ones, and the result is checked; StageFailed if it is not a
    minimum.

    >>> body = Body(u=np.array([[3.0, 4.0, 0.0, 0.0]]), b=np.array([10.0]), epsilon=5.0, bound=9.0)
    >>> minimum_norm(body).round(12).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    size, tight = body.u.shape[1], body.epsilon
    normals = np.vstack([body.u, -body.u, np.eye(size), -np.eye(size)])
    limits = np.concatenate([body.b - tight, -body.b - tight, np.full(2 * size, -body.bound)])
    apart = limits - _ROUNDING_SLACK * np.random.default_rng(0).random(len(limits))
    target = np.append(np.zeros(size), 1.0)
    system = np.vstack([normals.T, apart])
    try:
        multipliers, _ = nnls(system, target, maxiter=30 * system.shape[1])
    except RuntimeError as error:
        raise StageFailed("body", f"the minimum-norm point was not found ({error})") from error
    # At the minimum the residual is (-x, 1) / (1 + |x|^2), and its last entry is the square of its
    # norm. It is zero exactly if the constraints contradict one another.
    residual = target - system @ multipliers
    if abs(residual[-1] - residual @ residual) < _ROUNDING_SLACK * residual[-1]:
        active = multipliers > 0
        point = np.linalg.lstsq(normals[active], limits[active], rcond=None)[0]
        theta = np.asarray(point.reshape(body.d, body.d))
        if body.contains(theta, _ROUNDING_SLACK * max(1.0, float(np.abs(limits).max()))):
            return theta
    _require_point(body)
    raise StageFailed("body", "the minimum-norm point was not found: rounding hides it")


def extract(
    body: Body, count: int, rng: np.random.Generator, climbs: int = 4
) -> tuple[Array, Array]:
    """Find the `count` longest axes of a body from support queries alone. [CL24]

    Returns orthonormal directions (count, d, d), the longest first, and the widths (count,) along
    them: max <direction, Theta> - min <direction, Theta> over the body.

    Each axis starts at a random direction orthogonal to the previous axes. Then the difference of
    the two support points becomes the next direction, `climbs` times; the chord never gets shorter.
    This takes 2 count (climbs + 2) linear programs. Raises StageFailed, and UsageError for a bad
    count.

    >>> body = Body(u=np.eye(4)[:3], b=np.zeros(3), epsilon=0.1, bound=1.0)
    >>> directions, widths = extract(body, 2, np.random.default_rng(0))
    >>> widths.round(2).tolist()
    [2.02, 0.2]
    """
    size = body.u.shape[1]
    require(
        1 <= count <= size, f"count must be between 1 and {size}, the axes of the body, got {count}"
    )
    chords = np.empty((0, size))
    for _ in range(count):
        _, _, basis = np.linalg.svd(chords, full_matrices=False)
        direction = _orthogonal_part(basis, rng.standard_normal((size,)))
        chord = direction
        for _ in range(climbs + 1):
            chord = _chord(body, direction)
            direction = _orthogonal_part(basis, chord)
        chords = np.vstack([chords, chord])
    _, _, basis = np.linalg.svd(chords, full_matrices=False)
    widths = np.array([_chord(body, axis) @ axis for axis in basis])
    order = np.argsort(-widths)
    return basis[order].reshape(-1, body.d, body.d), widths[order]


def _chord(body: Body, direction: Array) -> Array:
    """Return the difference of the body's extreme points along a direction: (d*d,)."""
    return (support(body, direction) - support(body, -direction)).reshape(-1)


def _orthogonal_part(basis: Array, vector: Array) -> Array:
    """Return the part of a vector orthogonal to the rows of a basis, of norm 1 unless it is 0."""
    rest = vector - basis.T @ (basis @ vector)
    norm = float(np.linalg.norm(rest))
    return rest / norm if norm else rest


def _solve(cost: Array, empty: Body | None = None, **program: Any) -> Array:
    """Minimise cost . x; raises StageFailed if there is no solution."""
    found = linprog(cost, method="highs", **program)
    if found.status == 2 and empty is not None:
        _require_point(empty)
    if found.x is None:
        raise StageFailed("body", f"a linear program was not solved ({found.message})")
    return np.asarray(found.x)


def _require_point(body: Body) -> None:
    """Raise StageFailed with the epsilon needed if no Theta satisfies the constraints."""
    least, _ = least_epsilon(body.u, body.b, body.bound)
    if least > body.epsilon:
        raise StageFailed(
            "body",
            f"epsilon={body.epsilon:.3g}: no Theta meets the {len(body.u)} constraints, with "
            f"epsilon={least:.3g} one does: raise epsilon, or drop the rows with large residuals",
        )


def _side(u: Array) -> int:
    return round(u.shape[1] ** 0.5)


def run_as_published(progress: Progress, rng: np.random.Generator) -> bool:
    """Run the stages once; return whether examples were used up; raises Spent, StageFailed."""
    d, k, heads = progress.family.d, progress.family.k, progress.heads
    progress.draw(progress.examples or examples(heads or 2, k, d))
    data, held_out, stage = progress.data, progress.held_out, progress.stage
    crude = stage("moment", moment, data, held_out)
    proxy = stage("crude body", fit_body, crude.w, data)
    refined = stage("proxy", refine_by_proxy, proxy.theta, data)
    around = stage("refined body", fit_body, refined.w, data)
    axes = stage("span", long_axes, around.body(_LOOSE_EPSILON), heads, rng)
    stage("net", tuples, around.theta, axes.directions, heads, data, held_out)
    return progress.exhausted


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedBody(OneHead):
    """The body for nearly the smallest epsilon, and theta (d, d), its point of least norm."""

    tight: Body
    least: float

    def body(self, slack: float) -> Body:
        """Return the body whose epsilon is this multiple of the smallest."""
        return replace(self.tight, epsilon=slack * self.least)


def fit_body(w: Array, data: Data) -> FittedBody:
    """Stages 2 and 4: the body of the rows where heads agree, for given w; raises StageFailed."""
    agreed = agreement(w, data)
    pairs = data.k * (data.k - 1) // 2
    found = constraints(agreed, data, _ROWS * data.d**2 // pairs)
    u, b = found.u * found.weights[:, None], found.b * found.weights
    least, _ = least_epsilon(u, b, BOUND)
    # Exact constraints give a body of width 0, which solvers in float64 cannot find.
    least = max(least, _ROUNDING * float(np.abs(b).max()), _ROUNDING)
    tight = Body(u=u, b=b, epsilon=_TIGHT_EPSILON * least, bound=BOUND)
    measures, theta = {"constraints": len(found), "epsilon": least}, minimum_norm(tight)
    figures, rows = {"residuals": agreed.histogram(float(found.residuals.max()))}, found.rows
    return FittedBody(
        tight=tight, least=least, theta=theta, w=w, rows=rows, measures=measures, figures=figures
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Axes(Result):
    """Orthonormal directions (heads - 1, d, d) along which the body is longest."""

    directions: Array


def long_axes(body: Body, heads: int, rng: np.random.Generator) -> Axes:
    """Stage 5: the heads - 1 longest axes; heads=0: those before the largest gap of widths."""
    directions, widths = extract(body, heads or MOST_HEADS, rng)
    # Eigenvalues correspond to inverse squares of widths.
    gaps = (widths[:-1] / widths[1:]) ** 2
    heads = heads or int(np.argmax(gaps)) + 2
    measures = {"heads": heads, "width": float(widths[0])}
    if heads > 1:
        measures["gap"] = float(gaps[heads - 2])
    figures = {"widths": widths.tolist()}
    kept = directions[: heads - 1]
    return Axes(directions=kept, rows=len(body.b), measures=measures, figures=figures)


def tuples(centre: Array, directions: Array, heads: int, data: Data, validation: Data) -> Fit:
    """Stage 6: the best tuple of net points; heads=0: or a single head if it is as good."""
    best = grid(centre, directions, data, validation)
    if heads:
        return best
    # The gap gives at least two heads, as a single one has no gap.
    alone = grid(centre, directions[:0], data, validation)
    return alone if alone.error <= _ONE_HEAD_RATIO * best.error else best


def examples(heads: int, k: int, d: int) -> int:
    """Return the number of examples of the stages: rows on which m heads agree are rare.

    >>> examples(2, 2, 8), examples(2, 2, 12), examples(2, 3, 12), examples(4, 3, 12)
    (10000, 21600, 64800, 300000)
    """
    wanted = 150 * d * d * 3 ** (max(heads - 1, 1) * (k - 1) - 1)
    return min(max(wanted, _LEAST_EXAMPLES), _MOST_EXAMPLES)


def refusal(d: int, heads: int) -> str | None:
    """Return why the stages of the paper cannot be run, or None.

    >>> refusal(12, 2), refusal(12, 5)
    (None, 'heads must be between 1 and 4, or 0 for unknown, in mode=paper, got 5')
    """
    if d > LARGEST_D:
        return f"d must be at most {LARGEST_D} in mode=paper, got {d}: take mode=practical"
    if not 0 <= heads <= MOST_HEADS:
        return (
            f"heads must be between 1 and {MOST_HEADS}, or 0 for unknown, in mode=paper, "
            f"got {heads}"
        )
    return None
