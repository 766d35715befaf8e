"""The case of a single head: it agrees with itself, so every row determines its pattern.

Fits of patterns for given W and of W for given patterns alternate, accelerated by Anderson mixing.
Then the logarithms of the patterns are linear in Theta. The result is exact for labels without
noise, from 4 d^2 examples.

Takes examples and the crude sum of stage 1; returns a layer of one head, and whether it explains
the data. This stage is not part of the theorem.
"""

from dataclasses import dataclass

import numpy as np

from hardness.learners.fitting import Array, Data, Fit, OneHead, fit_of
from hardness.learners.staged.agreement import agreement
from hardness.learners.staged.hull import ACCURACY, MATRIX_D, constraints, hull
from hardness.learners.staged.moment import regress
from hardness.learners.staged.refine import as_weights
from instances.layer import softmax_rows

EXACT = 1e-10  # held-out errors below this are rounding errors
_STEPS = 40
_MEMORY = 8
_UNMIXED_STEPS = 3  # steps before the mixing: the first steps are far from linear
_FIXED_POINT_MOVE = 1e-12
_ROUNDING = 1e-15
_EXAMPLES = 1 << 15  # examples for W: 2 k equations for each unknown at d = 256
LIKE_NOISE = 0.75  # two heads fitted as one, with 10 % of label noise, reach 0.56
_LOW_QUANTILE = 0.01
_LEAST_FREEDOM = 6  # below this, the norms of noise vary too much for the test
# With fewer rows the quantile is close to the smallest norm. At d = 6, a head fitted to the labels
# of three looked like noise on 10 of 12 instances with 36 rows, and on none with 1000.
LEAST_ROWS = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Single(Fit):
    """The best single head.

    recognised: whether it explains the data, up to rounding or up to label noise. Measures: noise,
    the error of label noise alone if the residuals of the patterns are noise; evenness, about 1 for
    noise. Several heads agree closely on some rows, which makes the evenness small.
    """

    recognised: bool


def single(first: OneHead, data: Data, validation: Data) -> Single:
    """Fit a single head from the crude estimate of stage 1; raises StageFailed.

    >>> from hardness.learners.staged.moment import moment
    >>> from instances import AttentionLayer
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(1, 3, 3)), w=rng.normal(size=(1, 3, 3)))
    >>> x = rng.normal(size=(200, 2, 3))
    >>> data = Data(x=x, y=layer(x))
    >>> single(moment(data), data.cut(0, 100), data.cut(100, 200)).recognised
    True
    """
    w, steps = _alternate(first.w, data.cut(0, _EXAMPLES))
    found = agreement(w, data)
    k, d = data.k, data.d
    times = 24 if d <= MATRIX_D else 8
    rows = constraints(found, data, times * d * d // (k * (k - 1)))
    freedom = max(d - k + 1, 1)
    noise = float(np.mean((found.residuals * found.scale) ** 2) / freedom / np.mean(data.y**2))
    logits = hull(rows, 0.0, ACCURACY if noise > EXACT else _ROUNDING)
    used = data.cut(0, _EXAMPLES)
    attended = softmax_rows((used.x @ logits.centre) @ used.x.swapaxes(1, 2)) @ used.x
    w = regress(attended.reshape(-1, d), used.y.reshape(-1, d))
    fit = fit_of(logits.centre[None], w[None], validation)
    even = evenness(found.residuals, freedom)
    measures = {"steps": steps, "evenness": even, "noise": noise}
    known, n = fit.error <= EXACT or (even > LIKE_NOISE and fit.error < 2 * noise), k * len(data)
    return Single(
        theta=fit.theta, w=fit.w, error=fit.error, rows=n, measures=measures, recognised=known
    )


def _alternate(w: Array, data: Data) -> tuple[Array, int]:
    """Iterate W -> patterns -> W to its fixed point; return this and the number of steps."""
    shape, step = w.shape, 0
    points: list[Array] = []
    moves: list[Array] = []
    for step in range(1, _STEPS + 1):
        attended = as_weights(agreement(w, data).patterns) @ data.x
        new = regress(attended.reshape(-1, data.d), data.y.reshape(-1, data.d))
        points = [*points, w.ravel()][-_MEMORY:]
        moves = [*moves, (new - w).ravel()][-_MEMORY:]
        if np.linalg.norm(moves[-1]) <= _FIXED_POINT_MOVE * np.linalg.norm(w):
            break
        w = new
        if (
            step > _UNMIXED_STEPS
        ):  # Anderson: average past points so that their moves cancel, then move
            d_points, d_moves = np.diff(points, axis=0).T, np.diff(moves, axis=0).T
            weights = np.linalg.lstsq(d_moves, moves[-1], rcond=1e-12)[0]
            w = (points[-1] + moves[-1] - (d_points + d_moves) @ weights).reshape(shape)
    return w, step


def evenness(norms: Array, freedom: int) -> float:
    """Return how even residual norms are: about 1 for isotropic noise of `freedom` dimensions.

    It is their 1 % quantile divided by their median, relative to the same ratio for noise. Wrong
    fits have small residuals on some rows, and so a smaller value. It is 0 for exact fits, and if
    `freedom` or the number of rows is too small.

    >>> rng = np.random.default_rng(0)
    >>> noise = np.linalg.norm(rng.normal(size=(4000, 15)), axis=1)
    >>> round(evenness(noise, 15), 1), round(evenness(noise * rng.random(4000), 15), 1)
    (1.0, 0.0)
    """
    from scipy.stats import chi2

    if freedom < _LEAST_FREEDOM or norms.size < LEAST_ROWS:
        return 0.0
    low, median = np.quantile(norms, [_LOW_QUANTILE, 0.5])
    expected = np.sqrt(chi2.ppf(_LOW_QUANTILE, freedom) / chi2.ppf(0.5, freedom))
    return float(low / median / expected) if median else 0.0
