"""After the stages, outside of the theorem: the polish, spare heads taken out, another head tried.

A head may add nothing, two may have merged or cancel: spare are those without which the others,
fitted again, do as well on the hold-out. Heads are taken out one by one, each time that whose loss
the W of the others make up for best, by least squares. Of what is left on the way the fewest heads
that do as well after a polish are kept: too many heads descend slowly.
"""

from dataclasses import replace

import numpy as np

from hardness.learners.attention import Array, attend, columns, gram_factor, scores, softmax
from hardness.learners.fitting import Clock, Data, Fit, endless, gain, relative_error
from hardness.learners.levenberg import polish
from hardness.learners.staged.projection import solve
from hardness.learners.staged.single import evenness
from instances.layer import AttentionLayer

# Relative errors on the hold-out without some heads, before the polish, above which none is tried:
# for labels with noise, a multiple of the error with all heads; without, where that error is that
# of rounding, and where the descent has not come so far.
_WORTH, _SMALL, _ROUGH = 2.0, 1e-6, 0.05
_ROUNDING = 1e-20  # relative errors below it are alike
# Another head starts at a part of the size of the others, and gains by so many standard errors.
_NEW_HEAD, _GAIN = 0.1, 2.0


def polished(
    theta: Array, w: Array, data: Data, validation: Data, steps: int, clock: Clock = endless
) -> Fit:
    """Polish theta, w (m, d, d), and say how even the residuals are on the hold-out."""
    found = polish(theta, w, data, validation, steps, clock)
    even = left_even(AttentionLayer(theta=found.theta, w=found.w), validation)
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
    clock: Clock = endless,
) -> Fit:
    """Take spare heads out of theta, w (m, d, d), each time polishing what is left by some steps.

    A head is spare where the error on the hold-out without it is that of rounding. Of labels that
    may be noisy it is also where the squared error is larger by less than the standard error of the
    difference over examples. Not offered where none is. Raises Spent.

    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(2, 3, 3)), w=rng.normal(size=(2, 3, 3)))
    >>> x = rng.normal(size=(400, 2, 3))
    >>> data = Data(x=x, y=layer(x))
    >>> split = layer.theta[[0, 1, 1]], layer.w[[0, 1, 1]] * [[[1]], [[0.3]], [[0.7]]]
    >>> found = prune(*split, data.cut(0, 300), data.cut(300, 400), steps=10)
    >>> found.theta.shape, found.error < 1e-20
    ((2, 3, 3), True)
    """
    left = _fit(theta, w, validation)
    while fewer := _fewer(left, data, validation, steps, noisy, clock):
        left = fewer
    spare = len(theta) - len(left.theta)
    measures = {"heads": len(left.theta), "spare": spare}
    return replace(left, measures=measures, offered=spare > 0)


def _fewer(
    found: Fit, data: Data, validation: Data, steps: int, noisy: bool, clock: Clock
) -> Fit | None:
    """The fewest heads that do as well as those found, if fewer do."""
    for fewer in reversed(_descent(found, data, validation, noisy, clock)):
        if steps and fewer.error > _ROUNDING:
            fewer = polish(fewer.theta, fewer.w, data, validation, steps, clock)
            clock()  # raises where the polish was stopped
        if fewer.error <= _ROUNDING:
            return fewer
        # No worse on the hold-out, beyond the uncertainty of the difference.
        before, after = (AttentionLayer(theta=one.theta, w=one.w) for one in (fewer, found))
        if noisy and gain(before(validation.x), after(validation.x), validation.y) <= 1:
            return fewer
    return None


def _descent(found: Fit, data: Data, validation: Data, noisy: bool, clock: Clock) -> list[Fit]:
    """Ever fewer heads, without the polish, as long as their error is not beyond hope."""
    rough = _WORTH * found.error if noisy else _ROUGH
    most = _SMALL if found.error <= _ROUNDING else rough
    path: list[Fit] = []
    theta = found.theta
    while len(theta) > 1:
        tried = [_without(i, theta, data, validation, clock) for i in range(len(theta))]
        best = min(tried, key=lambda one: one.error)
        if best.error > most:
            break
        path.append(best)
        theta = best.theta
    return path


def _without(i: int, theta: Array, data: Data, validation: Data, clock: Clock) -> Fit:
    """The others than head i, with the W that fit best."""
    clock()
    left = np.delete(theta, i, axis=0)
    x, y = columns(data.x), columns(data.y)
    attended = attend(softmax(scores(left, x)), x)
    return _fit(left, solve(gram_factor(attended), attended, y), validation)


def _fit(theta: Array, w: Array, validation: Data) -> Fit:
    predicted = AttentionLayer(theta=theta, w=w)(validation.x)
    return Fit(theta=theta, w=w, error=relative_error(predicted, validation.y))


def another(
    layer: AttentionLayer,
    data: Data,
    validation: Data,
    steps: int,
    rng: np.random.Generator,
    clock: Clock = endless,
) -> Fit:
    """Add a head to a layer, from a random start, and polish all; offered where the hold-out gains.

    By more than two standard errors of the difference, that is.
    """
    d = data.d
    theta = rng.normal(0.0, float(layer.theta.std()) or 1 / d, (1, d, d))
    w = rng.normal(0.0, _NEW_HEAD * float(layer.w.std()), (1, d, d))
    theta, w = np.concatenate([layer.theta, theta]), np.concatenate([layer.w, w])
    found = polish(theta, w, data, validation, steps, clock)
    more = AttentionLayer(theta=found.theta, w=found.w)
    gained = gain(layer(validation.x), more(validation.x), validation.y)
    return replace(found, measures={"heads": more.m, "gain": gained}, offered=gained > _GAIN)
