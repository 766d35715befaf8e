"""The provable learner nearly as the paper states it, all six stages. [CL24]

Moment, agreement rows, convex body, its minimum-norm point as a proxy, high-margin rows, the body
again, its long axes by support queries, a net. No variable projection and no polish: the error is
what the stages leave. Not as stated: stage 3 drops 70 % of its rows, epsilon is a multiple of the
least one, and the bound is on entries. Every stage that has a layer reports its error on the
hold-out.
"""

from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.body import Body, EmptyBody, extract, least_epsilon, minimum_norm
from hardness.upper.staged.constraints import Constraints, constraints
from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.diagnosis import moment_measures
from hardness.upper.staged.grid import grid
from hardness.upper.staged.journal import Journal
from hardness.upper.staged.moment import disagreement, moment
from hardness.upper.staged.practical import StagedPlan
from hardness.upper.staged.proxy import refine_by_proxy
from hardness.upper.staged.stage import Clock, StageFailed, endless
from hardness.upper.staged.supply import Supply
from instances.errors import UsageError

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """What linear programs say of the body: the constraints, least epsilon, minimum-norm point."""

    u: Array
    b: Array
    least: float
    centre: Array

    def body(self, slack: float) -> Body:
        """Return the body whose epsilon is a multiple of the least."""
        return Body(
            u=self.u, b=self.b, epsilon=slack * self.least, bound=BOUND, largest_d=LARGEST_D
        )


def ask(found: Constraints, clock: Clock = endless) -> Asked:
    """Find the least epsilon of the weighted constraints and the point of least norm near it.

    Raises StageFailed where the programs are not solved.
    """
    u, b = found.u * found.weights[:, None], found.b * found.weights
    least, _ = least_epsilon(u, b, BOUND, clock)
    # Exact constraints leave a body of no width, which no solver in float64 finds.
    least = max(least, _ROUNDING * float(np.abs(b).max()), _ROUNDING)
    tight = Body(u=u, b=b, epsilon=_TIGHT * least, bound=BOUND, largest_d=LARGEST_D)
    try:
        return Asked(u=u, b=b, least=least, centre=minimum_norm(tight, clock))
    except EmptyBody as error:
        raise StageFailed("body", str(error)) from error


def paper(plan: StagedPlan, supply: Supply, journal: Journal, rng: np.random.Generator) -> bool:
    """Run the stages once, heads=0 by the gap in the widths; returns whether examples ran out.

    What cannot go on is left in `journal.failed`. Raises Spent where there are no examples at all,
    or the time is over, and UsageError for d above 16 or more than 4 heads.
    """
    d, k = supply.family.d, supply.family.k
    refused = refusal(d, plan.heads)
    if refused:
        raise UsageError(refused)
    data, validation = supply.take(plan.examples or examples(plan.heads or 2, k, d))
    run = Run(heads=plan.heads, data=data, validation=validation, journal=journal, rng=rng)
    try:
        run.stages()
    except StageFailed as failed:
        journal.failed = failed
    return supply.exhausted


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One pass through the stages; each writes to the journal, and raises StageFailed."""

    heads: int
    data: Data
    validation: Data
    journal: Journal
    rng: np.random.Generator

    @property
    def clock(self) -> Clock:
        """What every stage asks for the time."""
        return self.journal.meter.left

    def stages(self) -> None:
        """All of them."""
        crude = self.moment()
        first = self.body("crude body", crude)
        refined = self.refine(first.centre, crude)
        second = self.body("refined body", refined)
        self.net(second.centre, self.span(second))

    def moment(self) -> Array:
        """Stage 1; its layer attends uniformly."""
        with self.journal.stage("moment", len(self.data)) as entry:
            found = moment(self.data, self.clock)
            entry.rows = self.data.k * len(self.data)
            error = self.offer("moment", np.zeros_like(found.w), found.w)
            self.clock()
            entry.measures |= moment_measures(found, self.data, self.validation)
            entry.measures["error"] = error
        return found.w

    def body(self, name: str, w: Array) -> Asked:
        """Stages 2 and 4; the layer has one head, at the body's minimum-norm point."""
        with self.journal.stage(name, len(self.data)) as entry:
            found = agreement(w, self.data, self.clock)
            pairs = self.data.k * (self.data.k - 1) // 2
            rows = constraints(found, self.data, _ROWS * self.data.d**2 // pairs, self.clock)
            asked = ask(rows, self.clock)
            entry.rows = rows.rows
            entry.measures |= {"constraints": len(rows), "epsilon": asked.least}
            entry.measures["outside"] = found.outside
            entry.measures["error"] = self.offer(name, asked.centre, w)
        self.journal.draw_residuals(found, float(rows.residuals.max()))
        return asked

    def refine(self, proxy: Array, crude: Array) -> Array:
        """Stage 3."""
        with self.journal.stage("proxy", len(self.data)) as entry:
            refined = refine_by_proxy(proxy, self.data)
            entry.rows = refined.rows
            entry.measures |= {"dropped": refined.dropped, "margin": refined.margin}
            entry.measures["halves"] = refined.spread
            entry.measures["untrimmed_residual"] = float(refined.history[0])
            entry.measures["residual"] = float(refined.history[-1])
            entry.measures["moved"] = disagreement(refined.w, crude)
            entry.measures["error"] = self.offer("proxy", proxy, refined.w)
        return refined.w

    def span(self, asked: Asked) -> Array:
        """Stage 5: the directions, (heads-1, d, d)."""
        with self.journal.stage("span", len(self.data)) as entry:
            axes = extract(asked.body(_LOOSE), self.heads or MOST_HEADS, self.rng, clock=self.clock)
            # Eigenvalues are as the inverse squares of widths.
            gaps = (axes.widths[:-1] / axes.widths[1:]) ** 2
            heads = self.heads or int(np.argmax(gaps)) + 2
            entry.rows = len(asked.b)
            entry.measures |= {"heads": heads, "width": float(axes.widths[0])}
            if heads > 1:
                entry.measures["gap"] = float(gaps[heads - 2])
        self.journal.figures["widths"] = axes.widths.tolist()
        return axes.directions[: heads - 1]

    def net(self, centre: Array, directions: Array) -> None:
        """Stage 6."""
        with self.journal.stage("net", len(self.data)) as entry:
            best = grid(centre, directions, self.data, self.validation, self.clock)
            if not self.heads:  # the gap speaks for two heads at least, but one has no gap
                alone = grid(centre, directions[:0], self.data, self.validation, self.clock)
                best = alone if alone.error <= _ALONE * best.error else best
            entry.measures |= {"heads": len(best.theta), "points": best.points}
            entry.measures |= {"spacing": best.spacing, "tuples": best.tuples}
            entry.measures["error"] = self.offer("net", best.theta, best.w)

    def offer(self, stage: str, theta: Array, w: Array) -> float:
        """Give a stage's layer to the journal; returns its error on the hold-out."""
        theta, w = (a if a.ndim == 3 else a[None] for a in (theta, w))
        return self.journal.offer(stage, theta, w, len(self.data), self.validation)


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
    (None, "heads=5 given: the paper's net takes 1 to 4 heads, 0 for unknown")
    """
    if d > LARGEST_D:
        return (
            f"d={d} given: the paper's linear programs are run up to d={LARGEST_D}: "
            "take mode=practical"
        )
    if not 0 <= heads <= MOST_HEADS:
        return f"heads={heads} given: the paper's net takes 1 to {MOST_HEADS} heads, 0 for unknown"
    return None
