"""The provable learner as the paper states it, all six stages. [CL24]

Moment, agreement rows, convex body, its minimum-norm point as a proxy, high-margin rows, the body
again, its long axes by support queries, a net. No variable projection and no polish: the error is
what the stages leave. Each stage reports the hold-out error of the best layer known after it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np

from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.body import Body, extract, least_epsilon, minimum_norm
from hardness.upper.staged.constraints import Constraints, constraints
from hardness.upper.staged.data import Array, Data, relative_error
from hardness.upper.staged.grid import grid
from hardness.upper.staged.moment import disagreement, moment
from hardness.upper.staged.proxy import refine_by_proxy
from hardness.upper.staged.stage import StageReport
from instances.errors import UsageError
from instances.layer import AttentionLayer

LARGEST_D = 16  # a linear program over d^2 unknowns takes seconds there
BOUND = 8.0  # on the entries of all Theta_i: the paper takes a bound on their norms as known
# The paper's epsilon is known beforehand; here it is a multiple of the least one that leaves the
# body nonempty. Near that the minimum-norm point is near the hull; beyond twice it the crude body
# tends to hold 0. To hold all heads, and be long along their differences, it must be far larger.
_TIGHT = 1.25
_LOOSE = 16.0
_ROWS = 10  # times d^2: constraints, at most
_LEAST_EXAMPLES = 10_000
_MOST_EXAMPLES = 300_000
_VALIDATION = 4096
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


def ask(found: Constraints) -> Asked:
    """Find the least epsilon of the weighted constraints and the point of least norm near it."""
    u, b = found.u * found.weights[:, None], found.b * found.weights
    least, _ = least_epsilon(u, b, BOUND)
    tight = Asked(u=u, b=b, least=max(least, 1e-9), centre=np.empty(0)).body(_TIGHT)
    return Asked(u=u, b=b, least=tight.epsilon / _TIGHT, centre=minimum_norm(tight))


def paper(
    draw: Callable[[int], Data],
    heads: int,
    rng: np.random.Generator,
    check: Callable[[], None],
) -> tuple[Array, Array, tuple[StageReport, ...]]:
    """Learn theta and w (m, d, d) from what `draw(n)` gives; heads=0: by the gap in the widths.

    `check` is called after each stage and may raise. Raises StageFailed where a stage cannot go
    on, UsageError for d above 16 or more than 4 heads.
    """
    validation = draw(_VALIDATION)
    d, k = validation.d, validation.k
    _require(d, heads)
    data = draw(examples(heads or 2, k, d))
    journal = _Journal(len(data), validation, check)

    crude = moment(data)
    journal.add("moment", len(data), _single(np.zeros((d, d)), crude.w), halves=crude.halves)

    rows, first, outside = _body(crude.w, data)
    layer = _single(first.centre, crude.w)
    journal.add("crude body", rows, layer, epsilon=first.least, outside=outside)

    refined = refine_by_proxy(first.centre, data)
    journal.add(
        "proxy",
        refined.rows,
        _single(first.centre, refined.w),
        margin=refined.margin,
        untrimmed_residual=float(refined.history[0]),
        residual=float(refined.history[-1]),
        spread=refined.spread,
        moved=disagreement(refined.w, crude.w),
    )

    rows, second, outside = _body(refined.w, data)
    layer = _single(second.centre, refined.w)
    journal.add("refined body", rows, layer, epsilon=second.least, outside=outside)

    axes = extract(second.body(_LOOSE), heads or MOST_HEADS, rng)
    ratios = axes.widths[:-1] / axes.widths[1:]
    m = heads or int(np.argmax(ratios)) + 2
    gap = float(ratios[m - 2]) if m > 1 else 1.0
    journal.add("span", rows, layer, heads=m, gap=gap, width=float(axes.widths[0]))

    best = grid(second.centre, axes.directions[: m - 1], data, validation)
    if not heads:  # the gap speaks for two heads at least, but one has no gap
        alone = grid(second.centre, axes.directions[:0], data, validation)
        best = alone if alone.error <= _ALONE * best.error else best
    layer = AttentionLayer(theta=best.theta, w=best.w)
    journal.add("net", len(data), layer, points=best.points, spacing=best.spacing)
    return best.theta, best.w, tuple(journal.reports)


def examples(heads: int, k: int, d: int) -> int:
    """Return how many examples the stages draw: rows on which m heads agree are rare.

    >>> examples(2, 2, 8), examples(2, 2, 12), examples(2, 3, 12), examples(4, 3, 12)
    (10000, 21600, 64800, 300000)
    """
    wanted = 150 * d * d * 3 ** (max(heads - 1, 1) * (k - 1) - 1)
    return min(max(wanted, _LEAST_EXAMPLES), _MOST_EXAMPLES)


class _Journal:
    """The reports of the stages so far; the time of a stage is that since the last entry."""

    def __init__(self, examples: int, validation: Data, check: Callable[[], None]) -> None:
        self.reports: list[StageReport] = []
        self._examples, self._validation, self._check = examples, validation, check
        self._start = monotonic()

    def add(self, name: str, rows: int, layer: AttentionLayer, **measures: float) -> None:
        error = relative_error(layer(self._validation.x), self._validation.y)
        self.reports.append(
            StageReport(
                name=name,
                seconds=monotonic() - self._start,
                examples=self._examples,
                rows=rows,
                measures={"error": error} | measures,
            )
        )
        self._check()
        self._start = monotonic()


def _body(w: Array, data: Data) -> tuple[int, Asked, float]:
    """The constraints of an estimate w of sum_i W_i: rows, what programs say, rows outside."""
    found = agreement(w, data)
    pairs = data.k * (data.k - 1) // 2
    rows = constraints(found, data, _ROWS * data.d**2 // pairs)
    return rows.rows, ask(rows), found.outside


def _single(theta: Array, w: Array) -> AttentionLayer:
    """A layer whose heads all attend by theta, with sum_i W_i = w."""
    return AttentionLayer(theta=theta[None], w=w[None])


def _require(d: int, heads: int) -> None:
    if d > LARGEST_D:
        raise UsageError(
            f"d={d} given: the paper's linear programs are run up to d={LARGEST_D}: "
            "take mode=practical"
        )
    if not 0 <= heads <= MOST_HEADS:
        raise UsageError(
            f"heads={heads} given: the paper's net takes 1 to {MOST_HEADS} heads, 0 for unknown"
        )
