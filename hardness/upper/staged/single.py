"""The case of a single head: it always agrees with itself, so that every row gives its pattern.

Patterns given W and W given patterns alternate, sped up by Anderson's mixing; then the logarithms
of the patterns are linear in Theta. Exact on noiseless labels, from 4 d^2 examples.
"""

from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.constraints import MATRIX_D, constraints
from hardness.upper.staged.data import Array, Data, relative_error
from hardness.upper.staged.hull import ACCURACY, hull
from hardness.upper.staged.moment import regress
from hardness.upper.staged.noise import LIKE_NOISE, evenness
from hardness.upper.staged.refine import as_weights
from hardness.upper.staged.stage import Clock, endless
from instances.layer import AttentionLayer, softmax_rows

# Held-out errors below this one are those of rounding.
EXACT = 1e-10
_STEPS = 40
_MEMORY = 8
_PLAIN = 3  # steps before the mixing: the first ones are far from linear
_MOVED = 1e-12
_ROUNDING = 1e-15
_EXAMPLES = 1 << 15  # for W: 2 k of its rows' equations an unknown at d = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Single:
    """The best single head: theta, w (1, d, d) and its relative squared hold-out error.

    noise: the error that label noise alone would make, if it were all that the patterns leave.
    evenness: about 1 where that is like noise; several heads agree closely on some rows, which
    makes it small. r2: of the regression of the logits, on held-out constraints.
    """

    theta: Array
    w: Array
    error: float
    noise: float
    evenness: float
    r2: float
    steps: int

    @property
    def recognised(self) -> bool:
        """Whether a single head explains the data, up to rounding or up to label noise."""
        noisy = self.evenness > LIKE_NOISE and self.error < 2 * self.noise
        return self.error <= EXACT or noisy


def single(w: Array, data: Data, validation: Data, clock: Clock = endless) -> Single:
    """Fit a single head from the crude w (d, d) of stage 1; raises StageFailed.

    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(1, 3, 3)), w=rng.normal(size=(1, 3, 3)))
    >>> x = rng.normal(size=(200, 2, 3))
    >>> data = Data(x=x, y=layer(x))
    >>> single(np.eye(3), data.cut(0, 100), data.cut(100, 200)).recognised
    True
    """
    w, steps = _alternate(w, data.cut(0, _EXAMPLES), clock)
    found = agreement(w, data, clock)
    k, d = data.k, data.d
    times = 24 if d <= MATRIX_D else 8
    rows = constraints(found, data, times * d * d // (k * (k - 1)), clock)
    freedom = max(d - k + 1, 1)
    noise = float(np.mean((found.residuals * found.scale) ** 2) / freedom / np.mean(data.y**2))
    logits = hull(rows, 0.0, ACCURACY if noise > EXACT else _ROUNDING, clock)
    w = _fit_values(logits.centre, data.cut(0, _EXAMPLES))
    layer = AttentionLayer(theta=logits.centre[None], w=w[None])
    return Single(
        theta=layer.theta,
        w=layer.w,
        error=relative_error(layer(validation.x), validation.y),
        noise=noise,
        evenness=evenness(found.residuals, freedom),
        r2=logits.r2,
        steps=steps,
    )


def _alternate(w: Array, data: Data, clock: Clock) -> tuple[Array, int]:
    """Iterate W -> patterns -> W to its fixed point; returns it and the number of steps."""
    shape, step = w.shape, 0
    points: list[Array] = []
    moves: list[Array] = []
    for step in range(1, _STEPS + 1):
        attended = as_weights(agreement(w, data, clock).patterns) @ data.x
        new = regress(attended.reshape(-1, data.d), data.y.reshape(-1, data.d))
        points = [*points, w.ravel()][-_MEMORY:]
        moves = [*moves, (new - w).ravel()][-_MEMORY:]
        if np.linalg.norm(moves[-1]) <= _MOVED * np.linalg.norm(w):
            break
        w = new if step <= _PLAIN else _mixed(points, moves).reshape(shape)
    return w, step


def _mixed(points: list[Array], moves: list[Array]) -> Array:
    """Anderson's step: the combination of past points whose moves nearly cancel, moved once."""
    d_points, d_moves = np.diff(points, axis=0).T, np.diff(moves, axis=0).T
    weights = np.linalg.lstsq(d_moves, moves[-1], rcond=1e-12)[0]
    return np.asarray(points[-1] + moves[-1] - (d_points + d_moves) @ weights)


def _fit_values(theta: Array, data: Data) -> Array:
    """Least squares for W given Theta."""
    attended = softmax_rows((data.x @ theta) @ data.x.swapaxes(1, 2)) @ data.x
    rows = (-1, data.d)
    return regress(attended.reshape(rows), data.y.reshape(rows))
