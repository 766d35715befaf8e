"""GD++ with scalars: layers P_l = p_l I, Q_l = q_l I that also move the points. [ACDS23, ONRSMZV23]

The loss is a polynomial in the scalars with many local minima. The search goes layer by layer: each
of the best minima for L - 1 layers is given one more layer, at the front or at the back, and all of
these starts descend on a Gauss rule that is exact for the degree of the loss. What is found is the
best of these minima, not a proven minimum; its loss is then evaluated exactly.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from hardness.icl.steps import Array, Objective, degree, descend, exact_loss
from instances.errors import UsageError

MOST_LAYERS = 4
_KEPT, _SAME = 8, 1e-4  # minima kept of each depth; relative distance of losses told apart
_FRONT = [(c, q) for c in (0.15, 0.3) for q in (0.4, 0.8, 1.6, 3.2)]
_SHRINK = 1.8  # what a layer does to the spectrum that enters the next ones, roughly
_BACK = (0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True)
class Scalars:
    """Scalars p, q (L,) of layers of GD++, and their loss, exact for these float64.

    The last p has no influence and is 0. how says what the search did and where the best came from.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    loss: Fraction
    how: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Minimum:
    loss: float
    x: Array  # c_0 .. c_{L-2}, q_0 .. q_{L-1}
    start: str


def best_scalars(n: int, d: int, layers: int, noise: float = 0.0) -> Scalars:
    """Search for the scalars of least loss over n points in dimension d, sigma = task^-1.

    Raises UsageError for layers outside of 1 .. 4.

    >>> found = best_scalars(20, 5, 2)
    >>> round(float(found.loss), 4), [round(v, 2) for v in found.q]
    (0.0575, [0.52, 3.47])
    """
    if not 1 <= layers <= MOST_LAYERS:
        raise UsageError(f"{layers} layers given: GD++ can be solved for 1 to {MOST_LAYERS} layers")
    tried, minima = _search(n, d, layers, noise)
    best = minima[0]
    c, q = best.x[: layers - 1], best.x[layers - 1 :]
    how = f"best of {tried} starts, {len(minima)} minima kept; from {best.start}"
    ps, qs = (*(c / q[:-1]).tolist(), 0.0), tuple(q.tolist())
    loss = exact_loss(n, d, ps, qs, noise)
    return Scalars(p=ps, q=qs, loss=loss, how=how)


@lru_cache(maxsize=64)
def _search(n: int, d: int, layers: int, noise: float) -> tuple[int, list[_Minimum]]:
    """Return the number of starts and the distinct minima that were kept, the best first."""
    if layers == 1:
        starts = [("one step", np.ones(1))]
    else:
        starts = _deeper(_search(n, d, layers - 1, noise)[1])
    objective = Objective(n, d, layers, noise, degree(layers))
    found = []
    for name, start in starts:
        loss, x = descend(objective, start)
        if np.isfinite(loss) and np.abs(x[layers - 1 :]).min() > 1e-6:  # p = c / q is needed
            found.append(_Minimum(loss=loss, x=x, start=name))
    return len(starts), _distinct(found)


def _deeper(minima: list[_Minimum]) -> list[tuple[str, Array]]:
    """Give each minimum one more layer, at the front and at the back."""
    starts = []
    for place, minimum in enumerate(minima, 1):
        layers = (len(minimum.x) + 1) // 2
        c, q = minimum.x[: layers - 1], minimum.x[layers - 1 :]
        of = f"of minimum {place} for {layers} layers"
        starts += [
            (f"a layer in front {of}", np.concatenate([[c0], _SHRINK * c, [q0], _SHRINK * q]))
            for c0, q0 in _FRONT
        ]
        last = c[-1] if len(c) else 0.5
        starts += [
            (f"a layer behind {of}", np.concatenate([c, [f * last], q, [1.5 * f * q[-1]]]))
            for f in _BACK
        ]
    return starts


def _distinct(found: list[_Minimum]) -> list[_Minimum]:
    kept: list[_Minimum] = []
    for minimum in sorted(found, key=lambda m: m.loss):
        if not kept or minimum.loss > kept[-1].loss * (1 + _SAME):
            kept.append(minimum)
    return kept[:_KEPT]
