"""After the stages, outside of the theorem: the polish, spare heads taken out, another head tried.

A head may add nothing, two may have merged or cancel: spare are those without which the others,
fitted again, do as well on the hold-out. Heads are taken out one by one: every removal that the W
of the others make up for, by least squares, is polished, and the best is kept if it does as well.

Takes a layer; returns a layer. Not in the theorem, which has no local search.
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

# A removal is hopeless if, before the polish, the relative error on the hold-out is larger than
# this; if the layer was exact, if it is all that is not nearly so.
ROUGH, _SMALL = 0.05, 1e-6
_SLACK = 1e-3  # relative: descents in noise end so far from the floor
_BRIEF = 20  # steps of the polish that chooses among removals
_ROUNDING = 1e-20  # relative errors below it are alike
# Another head starts at a part of the size of the others, and gains by so many standard errors.
_NEW_HEAD, _GAIN = 0.1, 2.0


def polished(theta: Array, w: Array, data: Data, validation: Data, steps: int) -> Fit:
    """Polish theta, w (m, d, d), and say how even the residuals are on the hold-out."""
    found = polish(theta, w, data, validation, steps)
    even = left_even(found.layer, validation)
    return replace(found, measures={**found.measures, "evenness": even})


def left_even(layer: AttentionLayer, validation: Data) -> float:
    """Say how even a layer's residuals on the hold-out are: about 1 for noise."""
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
    """Take spare heads out of theta, w (m, d, d), each time polishing what is left by some steps.

    rough: the relative error, beyond that of noise, up to which a removal is tried.
    A head is spare where the error on the hold-out without it is that of rounding. Of labels that
    may be noisy it is also where the squared error is larger by less than the standard error of the
    difference over examples. Not offered where none is.

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
    """The best layer of one head less, if it does as well."""
    most = rough + (before.error if noisy else 0.0) if before.error > _ROUNDING else _SMALL
    x, y, removals = columns(data.x), columns(data.y), list[Fit]()
    for i in range(len(before.theta)):  # the others, with the W that fit best
        theta = np.delete(before.theta, i, axis=0)
        attended = attend(softmax(scores(theta, x)), x)
        left = fit_of(theta, solve(gram_factor(attended), attended, y), validation)
        removals += [left] if left.error <= most else []
    best = min(removals, key=lambda fit: fit.error, default=None)
    if best and best.error > _ROUNDING and steps:
        if len(removals) > 1:
            brief = min(steps, _BRIEF)
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
    # Not worse on the hold-out, beyond the uncertainty of the difference.
    worse = gain(best.layer(validation.x), before.layer(validation.x), validation.y)
    return best if worse <= 1 else None


def another(
    layer: AttentionLayer, data: Data, validation: Data, steps: int, rng: np.random.Generator
) -> Fit:
    """Add a head and polish all; offered where the hold-out gains by over two standard errors."""
    d = data.d
    theta = rng.normal(0.0, float(layer.theta.std()) or 1 / d, (1, d, d))
    w = rng.normal(0.0, _NEW_HEAD * float(layer.w.std()), (1, d, d))
    theta, w = np.concatenate([layer.theta, theta]), np.concatenate([layer.w, w])
    found = polish(theta, w, data, validation, steps)
    gained = gain(layer(validation.x), found.layer(validation.x), validation.y)
    return replace(found, measures={"heads": len(theta), "gain": gained}, offered=gained > _GAIN)
