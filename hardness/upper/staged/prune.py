"""Spare heads: those without which the others, fitted again, do as well on the hold-out.

A head may add nothing, two may have merged or cancel. Heads are taken out one by one, each time
that whose loss the W of the others make up for best, by least squares. Of what is left on the way
the fewest heads that do as well after a polish are kept: too many heads descend slowly.
"""

from dataclasses import dataclass

import numpy as np

from hardness.upper.attention import attend, columns, gram_factor, scores, softmax
from hardness.upper.staged.data import Array, Data, gain, relative_error
from hardness.upper.staged.polish import polish
from hardness.upper.staged.projection import solve
from hardness.upper.staged.stage import Clock, endless
from instances.layer import AttentionLayer

# Relative errors on the hold-out without some heads, before the polish, above which none is tried:
# for labels with noise, a multiple of the error with all heads; without, where that error is that
# of rounding, and where the descent has not come so far.
_WORTH, _SMALL, _ROUGH = 2.0, 1e-6, 0.05
_ROUNDING = 1e-20  # relative errors below it are alike


@dataclass(frozen=True, kw_only=True, eq=False)
class Pruned:
    """The heads that are left, theta and w (m, d, d), and their relative error on the hold-out."""

    theta: Array
    w: Array
    error: float


def prune(
    theta: Array,
    w: Array,
    data: Data,
    validation: Data,
    steps: int,
    noisy: bool = True,
    clock: Clock = endless,
) -> Pruned:
    """Take spare heads out of theta, w (m, d, d), each time polishing what is left by some steps.

    A head is spare where the error on the hold-out without it is that of rounding. Of labels that
    may be noisy it is also where the squared error is larger by less than the standard error of the
    difference over examples. Raises Spent.

    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(theta=rng.normal(size=(2, 3, 3)), w=rng.normal(size=(2, 3, 3)))
    >>> x = rng.normal(size=(400, 2, 3))
    >>> data = Data(x=x, y=layer(x))
    >>> split = layer.theta[[0, 1, 1]], layer.w[[0, 1, 1]] * [[[1]], [[0.3]], [[0.7]]]
    >>> found = prune(*split, data.cut(0, 300), data.cut(300, 400), steps=10)
    >>> found.theta.shape, found.error < 1e-20
    ((2, 3, 3), True)
    """
    found = Pruned(theta=theta, w=w, error=_error(theta, w, validation))
    while len(found.theta) > 1:
        for fewer in reversed(_descent(found, data, validation, noisy, clock)):
            if steps and fewer.error > _ROUNDING:
                end = polish(fewer.theta, fewer.w, data, validation, steps, clock)
                clock()  # raises where the polish was stopped
                fewer = Pruned(theta=end.theta, w=end.w, error=end.error)
            if fewer.error <= _ROUNDING or (noisy and _as_good(fewer, found, validation)):
                found = fewer
                break
        else:
            return found
    return found


def _descent(
    found: Pruned, data: Data, validation: Data, noisy: bool, clock: Clock
) -> list[Pruned]:
    """Ever fewer heads, without the polish, as long as their error is not beyond hope."""
    rough = _WORTH * found.error if noisy else _ROUGH
    most = _SMALL if found.error <= _ROUNDING else rough
    path: list[Pruned] = []
    theta = found.theta
    while len(theta) > 1:
        tried = [_without(i, theta, data, validation, clock) for i in range(len(theta))]
        best = min(tried, key=lambda one: one.error)
        if best.error > most:
            break
        path.append(best)
        theta = best.theta
    return path


def _without(i: int, theta: Array, data: Data, validation: Data, clock: Clock) -> Pruned:
    """The others than head i, with the W that fit best."""
    clock()
    left = np.delete(theta, i, axis=0)
    x, y = columns(data.x), columns(data.y)
    attended = attend(softmax(scores(left, x)), x)
    w = solve(gram_factor(attended), attended, y)
    return Pruned(theta=left, w=w, error=_error(left, w, validation))


def _as_good(fewer: Pruned, found: Pruned, validation: Data) -> bool:
    """Whether fewer heads do no worse on the hold-out, beyond the uncertainty of the difference."""
    before, after = (AttentionLayer(theta=one.theta, w=one.w) for one in (fewer, found))
    return gain(before(validation.x), after(validation.x), validation.y) <= 1


def _error(theta: Array, w: Array, data: Data) -> float:
    return relative_error(AttentionLayer(theta=theta, w=w)(data.x), data.y)
