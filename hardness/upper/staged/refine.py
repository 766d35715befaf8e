"""Stage 3: the sum of the W_i refined by trimmed alternation.

Patterns are fitted given W, W is fitted given the patterns on the rows of smallest residual, and
the fraction of rows that are kept shrinks from step to step: on these the heads agree ever better.
The alternative is the paper's own refinement by a proxy of the attention matrices. [CL24]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.agreement import Agreement, agreement
from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.moment import disagreement, moment, regress
from hardness.upper.staged.stage import Clock, StageFailed, endless

QUANTILES = (0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003)
# The halves serve a diagnosis, which does not gain by more examples than these.
_HALF = 1 << 15


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: the fraction of rows kept, its largest residual, and how far W moved, relative."""

    quantile: float
    residual: float
    moved: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Refined:
    """The refined estimate w (d, d) of sum_i W_i, and the agreement of all rows under it.

    halves: disagreement, 0 to 2, of the estimates from two halves of at most 32768 examples each.
    rows: the number of rows that the last step kept.
    """

    w: Array
    agreement: Agreement
    halves: float
    history: tuple[Step, ...]
    rows: int


def refine(
    w: Array, data: Data, quantiles: Sequence[float] = QUANTILES, clock: Clock = endless
) -> Refined:
    """Refine the crude w (d, d) of stage 1; raises StageFailed for fewer than 16 d examples.

    >>> from instances import AttentionLayer
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(2, 6, 6)), w=rng.normal(size=(2, 6, 6)))
    >>> x = rng.normal(size=(2000, 2, 6))
    >>> crude = moment(data := Data(x=x, y=layer(x))).w
    >>> errors = [np.linalg.norm(w - layer.w.sum(axis=0)) for w in (crude, refine(crude, data).w)]
    >>> bool(errors[1] < 0.2 * errors[0])
    True
    """
    if len(data) < 16 * data.d:
        raise StageFailed("refine", f"{len(data)} examples given", needs=16 * data.d)
    middle = len(data) // 2
    parts = (data.cut(0, min(middle, _HALF)), data.cut(middle, min(len(data), middle + _HALF)))
    halves = [_alternate(moment(part).w, part, quantiles, clock)[0] for part in parts]
    w, history = _alternate(w, data, quantiles, clock)
    return Refined(
        w=w,
        agreement=agreement(w, data, clock),
        halves=disagreement(*halves),
        history=tuple(history),
        rows=_kept(data, quantiles[-1]),
    )


def _alternate(
    w: Array, data: Data, quantiles: Sequence[float], clock: Clock
) -> tuple[Array, list[Step]]:
    history = []
    for quantile in quantiles:
        found = agreement(w, data, clock)
        examples, rows = found.closest(_kept(data, quantile))
        new = fit_sum(data.x[examples], found.patterns[examples, rows], data.y[examples, rows])
        history.append(
            Step(
                quantile=quantile,
                residual=float(found.residuals[examples, rows].max()),
                moved=disagreement(new, w),
            )
        )
        w = new
    return w, history


def fit_sum(x: Array, patterns: Array, y: Array) -> Array:
    """Fit W (d, d) to rows y (r, d) = v^T X W, patterns v (r, k) clipped to [0, 1], x (r, k, d)."""
    return regress(np.einsum("rj,rjd->rd", as_weights(patterns), x), y)


def as_weights(patterns: Array) -> Array:
    """Clip patterns (..., k) to [0, 1], and divide each by its sum.

    >>> as_weights(np.array([-0.5, 1.5])).tolist()
    [0.0, 1.0]
    """
    v = np.clip(patterns, 0.0, 1.0)
    v /= v.sum(axis=-1, keepdims=True)
    return np.asarray(v)


def _kept(data: Data, quantile: float) -> int:
    """Enough rows for the d unknowns of each column of W, whatever the quantile says."""
    return min(len(data) * data.k, max(int(quantile * len(data) * data.k), 20 * data.d))
