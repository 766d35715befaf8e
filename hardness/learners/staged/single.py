"""The case of a single head: it always agrees with itself, so that every row gives its pattern.

Patterns given W and W given patterns alternate, sped up by Anderson's mixing; then the logarithms
of the patterns are linear in Theta. Exact on noiseless labels, from 4 d^2 examples.

Takes examples and the crude sum of stage 1; returns a layer of one head, and whether it explains
the data. Not in the theorem.
"""

from dataclasses import dataclass

import numpy as np

from hardness.learners.fitting import Array, Data, Fit, OneHead, fit_of
from hardness.learners.staged.agreement import agreement
from hardness.learners.staged.hull import ACCURACY, MATRIX_D, constraints, hull
from hardness.learners.staged.moment import regress
from hardness.learners.staged.refine import as_weights
from instances.layer import softmax_rows

EXACT = 1e-10  # held-out errors below this one are those of rounding
_STEPS = 40
_MEMORY = 8
_PLAIN = 3  # steps before the mixing: the first ones are far from linear
_MOVED = 1e-12
_ROUNDING = 1e-15
_EXAMPLES = 1 << 15  # for W: 2 k of its rows' equations an unknown at d = 256
LIKE_NOISE = 0.75  # two heads fitted as one, with 10 % of label noise, reach 0.56
_LOW = 0.01
_LEAST_FREEDOM = 6  # below, the norms of noise spread too far to tell
# Of fewer rows the quantile is little else than the least norm: at d = 6, a head fitted to the
# labels of three passed for noise on 10 of 12 instances by 36 rows, and on none by 1000.
LEAST_ROWS = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Single(Fit):
    """The best single head.

    recognised: whether it explains the data, up to rounding or up to label noise. Measures: noise,
    the error that label noise alone would make, if it were all that the patterns leave; evenness,
    about 1 where that is like noise: several heads agree closely on some rows, which makes it
    small.
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
    """Iterate W -> patterns -> W to its fixed point; returns it and the number of steps."""
    shape, step = w.shape, 0
    points: list[Array] = []
    moves: list[Array] = []
    for step in range(1, _STEPS + 1):
        attended = as_weights(agreement(w, data).patterns) @ data.x
        new = regress(attended.reshape(-1, data.d), data.y.reshape(-1, data.d))
        points = [*points, w.ravel()][-_MEMORY:]
        moves = [*moves, (new - w).ravel()][-_MEMORY:]
        if np.linalg.norm(moves[-1]) <= _MOVED * np.linalg.norm(w):
            break
        w = new
        if step > _PLAIN:  # Anderson's step: a mean of past points whose moves nearly cancel, moved
            d_points, d_moves = np.diff(points, axis=0).T, np.diff(moves, axis=0).T
            weights = np.linalg.lstsq(d_moves, moves[-1], rcond=1e-12)[0]
            w = (points[-1] + moves[-1] - (d_points + d_moves) @ weights).reshape(shape)
    return w, step


def evenness(norms: Array, freedom: int) -> float:
    """Return how even residual norms are: about 1 for isotropic noise of `freedom` dimensions.

    It is their 1 % quantile over their median, in units of the same for noise. Misfits are small
    on some rows and so give less. 0 for exact fits, and where `freedom` or the rows are too few.

    >>> rng = np.random.default_rng(0)
    >>> noise = np.linalg.norm(rng.normal(size=(4000, 15)), axis=1)
    >>> round(evenness(noise, 15), 1), round(evenness(noise * rng.random(4000), 15), 1)
    (1.0, 0.0)
    """
    from scipy.stats import chi2

    if freedom < _LEAST_FREEDOM or norms.size < LEAST_ROWS:
        return 0.0
    low, median = np.quantile(norms, [_LOW, 0.5])
    expected = np.sqrt(chi2.ppf(_LOW, freedom) / chi2.ppf(0.5, freedom))
    return float(low / median / expected) if median else 0.0
