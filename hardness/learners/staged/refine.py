"""Stage 3: the sum of the W_i refined, by trimmed alternation or by the paper's proxy. [CL24]

The alternation fits patterns for given W, then W for given patterns, on the rows of smallest
residual. The fraction of rows kept decreases from step to step, so the heads agree more closely on
them.

The paper uses a proxy for all heads, a point of the crude body of stage 2. If one of its logits is
far above the others, every head should attend to that token j alone. Then y_a = x_j^T sum_i W_i,
which is a linear regression.

Takes examples and the crude sum, or the proxy; returns the sum. The theorem uses the proxy on all
of its rows. Alternation and trimming are not part of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.learners.fitting import Array, Data, OneHead, Result, StageFailed
from hardness.learners.staged.agreement import Agreement, agreement, smallest
from hardness.learners.staged.moment import regress

_QUANTILES = (0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003)
_MARGIN = 0.03  # share of all rows: those of the largest margin of the proxy
# The margin belongs to the proxy, not to the heads. Rows where they disagree are wrong; if these
# were kept, the error would be five to ten times larger.
_KEPT = (0.8, 0.6, 0.45, 0.35, 0.3, 0.3, 0.3, 0.3)
_ROWS = 4  # kept rows for each of the d unknowns of a column
# Residuals below this limit, relative to labels, are rounding errors and must not select rows.
_EXACT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Refined(Result):
    """The refined sum w (d, d) of the W_i, and the agreement; rows: the number kept at the end."""

    w: Array
    agreement: Agreement


def refine(w: Array, data: Data) -> Refined:
    """Refine the crude w (d, d) of stage 1; raises StageFailed for fewer than 16 d examples.

    >>> from hardness.learners.staged import moment
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
        raise StageFailed("refine", f"{len(data)} examples are too few", needs=16 * data.d)
    for quantile in _QUANTILES:
        agreed = agreement(w, data)
        # At least enough rows for the d unknowns of each column of W.
        rows = len(data) * data.k
        kept = min(rows, max(int(quantile * rows), 20 * data.d))
        e, a = smallest(agreed.residuals, kept)
        weights = as_weights(agreed.patterns[e, a])
        w = regress(np.einsum("rj,rjd->rd", weights, data.x[e]), data.y[e, a])
    return Refined(w=w, agreement=agreement(w, data), rows=kept)


def as_weights(patterns: Array) -> Array:
    """Clip patterns (..., k) to [0, 1], and divide each by its sum.

    >>> as_weights(np.array([-0.5, 1.5])).tolist()
    [0.0, 1.0]
    """
    v = np.clip(patterns, 0.0, 1.0)
    v /= v.sum(axis=-1, keepdims=True)
    return np.asarray(v)


def refine_by_proxy(proxy: Array, data: Data) -> OneHead:
    """Find the sum w from a proxy, (d, d) each: high-margin rows, trimmed least squares. [CL24]

    Takes the 3 % of all n k rows where the two largest logits of the proxy differ most. Then it
    drops the rows of largest residual, step by step, until 30 % are kept. Raises StageFailed if too
    few rows are left. The layer has one head, the proxy.

    Measures: dropped, the share of the rows that were not kept; margin, the smallest one in the
    proxy's logits; untrimmed_residual and residual, root mean squares relative to the labels,
    before rows were dropped and at the end.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], size=(2000, 2, 3))
    >>> found = refine_by_proxy(np.diag([1.0, 0.0, 0.0]), Data(x=x, y=2 * x))
    >>> np.allclose(found.w, 2 * np.eye(3))
    True
    """
    n, k, d = data.x.shape
    needed = int(np.ceil(_ROWS * d / (_MARGIN * _KEPT[-1] * k)))
    if n < needed:
        raise StageFailed("proxy", f"{n} examples are too few", needs=needed)
    logits = (data.x @ proxy) @ np.swapaxes(data.x, 1, 2)
    ordered = np.sort(logits, axis=-1)
    margins = (ordered[..., -1] - ordered[..., -2]).reshape(-1)
    taken = np.sort(np.argsort(-margins, kind="stable")[: round(_MARGIN * n * k)])
    winner = np.argmax(logits, axis=-1).reshape(-1)[taken]
    tokens = data.x[taken // k, winner]
    labels = data.y.reshape(-1, d)[taken]
    kept, w, residuals = _trim(tokens, labels)
    measures = {"dropped": 1 - len(kept) / len(taken), "margin": float(margins[taken].min())}
    measures |= {"untrimmed_residual": residuals[0], "residual": residuals[1]}
    return OneHead(theta=proxy, w=w, rows=len(kept), measures=measures)


def _trim(tokens: Array, labels: Array) -> tuple[NDArray[np.intp], Array, tuple[float, float]]:
    """Compute trimmed least squares: rows kept (in order), the fit, first and last residual."""
    kept, w = np.arange(len(tokens)), _fit(tokens, labels)
    first = _relative(tokens, labels, w)
    for part in _KEPT:
        residuals = np.linalg.norm(labels - tokens @ w, axis=1)
        limit = max(float(np.quantile(residuals, part)), _EXACT * float(np.abs(labels).max()))
        kept = np.flatnonzero(residuals <= limit)
        w = _fit(tokens[kept], labels[kept])
    return kept, w, (first, _relative(tokens[kept], labels[kept], w))


def _fit(tokens: Array, labels: Array) -> Array:
    return np.asarray(np.linalg.lstsq(tokens, labels, rcond=None)[0])


def _relative(tokens: Array, labels: Array, w: Array) -> float:
    scale = float(np.linalg.norm(labels))
    return float(np.linalg.norm(labels - tokens @ w)) / scale if scale else float("inf")
