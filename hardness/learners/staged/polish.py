"""After the stages: the polish, the removal of spare heads, and the trial of another head.

A head may contribute nothing, and two heads may be equal or cancel. A head is spare if the others,
fitted again, have the same error on the hold-out. Heads are removed one by one. First W is fitted
to the other heads by least squares. Removals of small error are then polished, and the best is kept
if it is as good, up to rounding or noise.

Takes a layer; returns a layer. The theorem has no such local search.
"""

from dataclasses import replace

import numpy as np

from hardness.learners.fitting import (
    Array,
    Data,
    Fit,
    attend,
    columns,
    fit_of,
    gain,
    gram_factor,
    scores,
    softmax,
)
from hardness.learners.levenberg import polish
from hardness.learners.staged.projection import solve
from hardness.learners.staged.single import evenness
from instances.layer import AttentionLayer

# A removal is not polished if its relative error on the hold-out is larger than the first limit; if
# the layer was exact, than the second.
ROUGH, _ROUGH_IF_EXACT = 0.05, 1e-6
_SLACK = 1e-3  # relative: descents in noise end this far above the minimum
_BRIEF_STEPS = 20  # steps of the polish that chooses among removals
_ROUNDING = 1e-20  # relative errors below this are not compared
# The start of another head relative to the others, and the standard errors it must gain.
_NEW_HEAD, _GAIN = 0.1, 2.0


def polished(theta: Array, w: Array, data: Data, validation: Data, steps: int) -> Fit:
    """Polish theta, w (m, d, d), and measure how even the residuals on the hold-out are."""
    found = polish(theta, w, data, validation, steps)
    even = residual_evenness(found.layer, validation)
    return replace(found, measures={**found.measures, "evenness": even})


def residual_evenness(layer: AttentionLayer, validation: Data) -> float:
    """Measure how even a layer's residuals on the hold-out are: about 1 for noise."""
    left = validation.y - layer(validation.x)
    return evenness(np.linalg.norm(left, axis=-1), validation.d)


def prune(
    theta: Array,
    w: Array,
    data: Data,
    validation: Data,
    steps: int,
    noisy: bool = True,
    rough: float = ROUGH,
) -> Fit:
    """Remove spare heads from theta, w (m, d, d), and polish the others after each removal.

    rough: removals up to this relative error, in addition to that of noise, are tried. A head is
    spare if the hold-out error without it is that of rounding. If labels may have noise, it is also
    spare if the squared error increases by less than the standard error of the difference. The
    result is not offered if no head is spare.

    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(2, 3, 3)), w=rng.normal(size=(2, 3, 3)))
    >>> x = rng.normal(size=(400, 2, 3))
    >>> data = Data(x=x, y=layer(x))
    >>> split = layer.theta[[0, 1, 1]], layer.w[[0, 1, 1]] * [[[1]], [[0.3]], [[0.7]]]
    >>> left = prune(*split, data.cut(0, 300), data.cut(300, 400), steps=10)
    >>> left.theta.shape, left.error < 1e-20
    ((2, 3, 3), True)
    """
    left = fit_of(theta, w, validation)
    while len(left.theta) > 1:
        fewer = _best_removal(left, data, validation, steps, noisy, rough)
        if fewer is None:
            break
        left = fewer
    spare = len(theta) - len(left.theta)
    measures = {"heads": len(left.theta), "spare": spare}
    return replace(left, measures=measures, offered=spare > 0)


def _best_removal(
    before: Fit, data: Data, validation: Data, steps: int, noisy: bool, rough: float
) -> Fit | None:
    """Return the best layer with one head less if it is as good, else None."""
    most = rough + (before.error if noisy else 0.0) if before.error > _ROUNDING else _ROUGH_IF_EXACT
    x, y, removals = columns(data.x), columns(data.y), list[Fit]()
    for i in range(len(before.theta)):  # fit W to the other heads
        theta = np.delete(before.theta, i, axis=0)
        attended = attend(softmax(scores(theta, x)), x)
        left = fit_of(theta, solve(gram_factor(attended), attended, y), validation)
        removals += [left] if left.error <= most else []
    best = min(removals, key=lambda fit: fit.error, default=None)
    if best and best.error > _ROUNDING and steps:
        if len(removals) > 1:
            brief = min(steps, _BRIEF_STEPS)
            tried = [polish(fit.theta, fit.w, data, validation, brief) for fit in removals]
            best = min(tried, key=lambda fit: fit.error)
        if best.error > _ROUNDING:
            best = polish(best.theta, best.w, data, validation, steps)
    if best and best.error <= _ROUNDING:
        return best
    if best is None or not noisy:
        return None
    if best.error <= before.error * (1 + _SLACK):
        return best
    # Not worse on the hold-out than the uncertainty of the difference.
    worse = gain(best.layer(validation.x), before.layer(validation.x), validation.y)
    return best if worse <= 1 else None


def another(
    layer: AttentionLayer, data: Data, validation: Data, steps: int, rng: np.random.Generator
) -> Fit:
    """Add a head and polish all; offered if the hold-out gains over two standard errors."""
    d = data.d
    theta = rng.normal(0.0, float(layer.theta.std()) or 1 / d, (1, d, d))
    w = rng.normal(0.0, _NEW_HEAD * float(layer.w.std()), (1, d, d))
    theta, w = np.concatenate([layer.theta, theta]), np.concatenate([layer.w, w])
    found = polish(theta, w, data, validation, steps)
    gained = gain(layer(validation.x), found.layer(validation.x), validation.y)
    return replace(found, measures={"heads": len(theta), "gain": gained}, offered=gained > _GAIN)
