"""The six stages nearly as the paper states them. [CL24]

Moment, agreement rows, convex body, its minimum-norm point as a proxy, high-margin rows, the body
again, its long axes by support queries, a net. No variable projection and no polish: the error is
what the stages leave. Not as stated: stage 3 drops 70 % of its rows, epsilon is a multiple of the
least one, and the bound is on entries. Every stage that has a layer reports its error on the
hold-out.
"""

from dataclasses import dataclass, replace

import numpy as np

from hardness.learners.attention import Array
from hardness.learners.fitting import Data, Fit, OneHead, Result
from hardness.learners.staged.agreement import agreement
from hardness.learners.staged.body import Body, extract, least_epsilon, minimum_norm
from hardness.learners.staged.hull import constraints
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import grid
from hardness.learners.staged.practical import Settings
from hardness.learners.staged.progress import Progress
from hardness.learners.staged.refine import refine_by_proxy

LARGEST_D = 16  # a linear program over d^2 unknowns takes seconds there
BOUND = 8.0  # on the entries of all Theta_i: the paper takes a bound on their norms as known
# The paper's epsilon is known beforehand; here it is a multiple of the least one that leaves the
# body nonempty. Near that the minimum-norm point is near the hull; beyond twice it the crude body
# tends to hold 0. To hold all heads, and be long along their differences, it must be far larger.
_TIGHT = 1.25
_LOOSE = 16.0
_ROUNDING = 1e-6
_ROWS = 10  # times d^2: constraints, at most
_LEAST_EXAMPLES = 10_000
_MOST_EXAMPLES = 300_000
MOST_HEADS = 4
_ALONE = 2.0  # a single head that does no worse than this, times the error of several, is all


def run_as_published(settings: Settings, progress: Progress, rng: np.random.Generator) -> bool:
    """Run the stages once, heads=0 by the gap in the widths; returns whether examples ran out.

    Raises Spent if there are no examples, and StageFailed.
    """
    d, k, heads = progress.family.d, progress.family.k, settings.heads
    progress.draw(settings.examples or examples(heads or 2, k, d))
    data, held_out, stage = progress.data, progress.held_out, progress.stage
    crude = stage("moment", moment, data, held_out)
    proxy = stage("crude body", ask, crude.w, data)
    refined = stage("proxy", refine_by_proxy, proxy.theta, data)
    around = stage("refined body", ask, refined.w, data)
    axes = stage("span", long_axes, around.body(_LOOSE), heads, rng)
    stage("net", tuples, around.theta, axes.directions, heads, data, held_out)
    return progress.exhausted


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked(OneHead):
    """What linear programs say of the body of the weighted constraints.

    least: the least epsilon; theta: (d, d), the point of least norm of a body near it.
    """

    tight: Body
    least: float

    def body(self, slack: float) -> Body:
        """Return the body whose epsilon is a multiple of the least."""
        return replace(self.tight, epsilon=slack * self.least)


def ask(w: Array, data: Data) -> Asked:
    """Stages 2 and 4: the body of the rows on which the heads agree, given the sum w (d, d).

    Raises StageFailed, also where the programs are not solved.
    """
    agreed = agreement(w, data)
    pairs = data.k * (data.k - 1) // 2
    found = constraints(agreed, data, _ROWS * data.d**2 // pairs)
    u, b = found.u * found.weights[:, None], found.b * found.weights
    least, _ = least_epsilon(u, b, BOUND)
    # Exact constraints leave a body of no width, which no solver in float64 finds.
    least = max(least, _ROUNDING * float(np.abs(b).max()), _ROUNDING)
    tight = Body(u=u, b=b, epsilon=_TIGHT * least, bound=BOUND)
    return Asked(
        tight=tight,
        least=least,
        theta=minimum_norm(tight),
        w=w,
        rows=found.rows,
        measures={"constraints": len(found), "epsilon": least},
        figures={"residuals": agreed.histogram(float(found.residuals.max()))},
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Axes(Result):
    """Orthonormal directions (heads - 1, d, d) along which the body is longest."""

    directions: Array


def long_axes(body: Body, heads: int, rng: np.random.Generator) -> Axes:
    """Stage 5: the heads - 1 longest axes; heads=0: where the widths fall most."""
    directions, widths = extract(body, heads or MOST_HEADS, rng)
    # Eigenvalues are as the inverse squares of widths.
    gaps = (widths[:-1] / widths[1:]) ** 2
    heads = heads or int(np.argmax(gaps)) + 2
    measures = {"heads": heads, "width": float(widths[0])}
    if heads > 1:
        measures["gap"] = float(gaps[heads - 2])
    figures = {"widths": widths.tolist()}
    kept = directions[: heads - 1]
    return Axes(directions=kept, rows=len(body.b), measures=measures, figures=figures)


def tuples(centre: Array, directions: Array, heads: int, data: Data, validation: Data) -> Fit:
    """Stage 6: the best tuple of net points; heads=0: or a single head, where that does as well."""
    best = grid(centre, directions, data, validation)
    if heads:
        return best
    # The gap speaks for two heads at least, but one has no gap.
    alone = grid(centre, directions[:0], data, validation)
    return alone if alone.error <= _ALONE * best.error else best


def examples(heads: int, k: int, d: int) -> int:
    """Return how many examples the stages draw: rows on which m heads agree are rare.

    >>> examples(2, 2, 8), examples(2, 2, 12), examples(2, 3, 12), examples(4, 3, 12)
    (10000, 21600, 64800, 300000)
    """
    wanted = 150 * d * d * 3 ** (max(heads - 1, 1) * (k - 1) - 1)
    return min(max(wanted, _LEAST_EXAMPLES), _MOST_EXAMPLES)


def refusal(d: int, heads: int) -> str | None:
    """Say why the stages as stated cannot be run, or None.

    >>> refusal(12, 2), refusal(12, 5)
    (None, 'heads must be between 1 and 4, or 0 for unknown, in mode=paper, got 5')
    """
    if d > LARGEST_D:
        return (
            f"d must be at most {LARGEST_D} for the paper's linear programs, got {d}: "
            "take mode=practical"
        )
    if not 0 <= heads <= MOST_HEADS:
        return (
            f"heads must be between 1 and {MOST_HEADS}, or 0 for unknown, in mode=paper, "
            f"got {heads}"
        )
    return None
