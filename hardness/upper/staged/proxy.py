"""Stage 3 as the paper states it: sum_i W_i refined on the rows where a proxy has a high margin.

The proxy, a point of the crude body of stage 2, stands for all heads at once. Where one of its
logits is far above the others every head should attend to that one token j alone, so that
y_a = x_j^T sum_i W_i: a linear regression. [CL24]
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.stage import StageFailed
from instances.errors import UsageError

_MARGIN = 0.03  # of all rows: those where the proxy's margin is largest
# The margin is the proxy's, not the heads': where they disagree the row is wrong, and without
# dropping such rows the error is five to ten times larger.
_KEPT = (0.8, 0.6, 0.45, 0.35, 0.3, 0.3, 0.3, 0.3)
_ROWS = 4  # kept rows for each of the d unknowns of a column
# Residuals below this one, relative to the labels, are rounding: it must not choose among rows.
_EXACT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class ProxyRefined:
    """The refined sum of the W_i and what was seen on the way.

    w: (d, d); margin: least margin of the accepted rows in the proxy's logits; rows: how many were
    kept in the end; dropped: the share of the accepted that were not; history: (rounds + 1,) root
    mean square residual of the rows in use, relative to their labels, before any were dropped and
    after each round; spread: relative difference between the fits on two halves of the kept rows.
    """

    w: Array
    margin: float
    rows: int
    dropped: float
    history: Array
    spread: float


def refine_by_proxy(theta: Array, data: Data) -> ProxyRefined:
    """Refine sum_i W_i by the proxy theta (d, d): high-margin rows, trimmed least squares. [CL24]

    Takes the 3 % of all rows (n k of them) where the largest two of the proxy's logits differ most,
    and drops those with the largest residuals, step by step to 30 %. Raises StageFailed where too
    few rows are left, UsageError for a proxy of another shape.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], size=(2000, 2, 3))
    >>> found = refine_by_proxy(np.diag([1.0, 0.0, 0.0]), Data(x=x, y=2 * x))
    >>> np.allclose(found.w, 2 * np.eye(3))
    True
    """
    n, k, d = data.x.shape
    if theta.shape != (d, d):
        raise UsageError(f"a proxy of shape {theta.shape} given: ({d}, {d}) is needed")
    needed = int(np.ceil(_ROWS * d / (_MARGIN * _KEPT[-1] * k)))
    if n < needed:
        raise StageFailed("proxy", f"{n} examples given", needs=needed)
    logits = (data.x @ theta) @ np.swapaxes(data.x, 1, 2)
    ordered = np.sort(logits, axis=-1)
    margins = (ordered[..., -1] - ordered[..., -2]).reshape(-1)
    taken = np.sort(np.argsort(-margins, kind="stable")[: round(_MARGIN * n * k)])
    winner = np.argmax(logits, axis=-1).reshape(-1)[taken]
    tokens = data.x[taken // k, winner]
    labels = data.y.reshape(-1, d)[taken]
    kept, w, history = _trim(tokens, labels)
    fits = [_fit(tokens[kept[half::2]], labels[kept[half::2]]) for half in (0, 1)]
    return ProxyRefined(
        w=w,
        margin=float(margins[taken].min()),
        rows=len(kept),
        dropped=1 - len(kept) / len(taken),
        history=history,
        spread=float(np.linalg.norm(fits[0] - fits[1]) / (np.linalg.norm(w) or np.inf)),
    )


def _trim(tokens: Array, labels: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Trimmed least squares: the rows kept (in order), the fit, the residuals on the way."""
    kept = np.arange(len(tokens))
    w = _fit(tokens, labels)
    history = [_relative(tokens, labels, w)]
    for part in _KEPT:
        residuals = np.linalg.norm(labels - tokens @ w, axis=1)
        limit = max(float(np.quantile(residuals, part)), _EXACT * float(np.abs(labels).max()))
        kept = np.flatnonzero(residuals <= limit)
        w = _fit(tokens[kept], labels[kept])
        history.append(_relative(tokens[kept], labels[kept], w))
    return kept, w, np.array(history)


def _fit(tokens: Array, labels: Array) -> Array:
    return np.asarray(np.linalg.lstsq(tokens, labels, rcond=None)[0])


def _relative(tokens: Array, labels: Array, w: Array) -> float:
    scale = float(np.linalg.norm(labels))
    return float(np.linalg.norm(labels - tokens @ w)) / scale if scale else float("inf")
