"""The search for the cheapest parameters of an attack: a coarse grid, then steps from the best."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from hardness.lwe.models import Array, Integers

Cost = Callable[..., Array]  # of arrays of integers: log2 of operations, infinite if impossible

TOYS = (2, 10, 19, 24, 32)  # block sizes to try on small problems
_CLOSE = 1e-9  # bits: a step must lower the cost by more
_ROUNDS = 400
_HOPELESS = 4.0  # bits: points this far above the best are dropped
_BATCH_POINTS = 1 << 16  # points whose costs are computed together
_HASH = np.random.default_rng(1).integers(1 << 62, size=16)  # equal points have equal products


def spread(low: float, high: float, count: int, dense: int = 0) -> Integers:
    """List integers from low to high: all up to `dense`, then about `count` in geometric steps.

    >>> spread(2, 40, 4).tolist()
    [2, 5, 15, 40]
    """
    low, high = int(low), max(int(low), int(high))
    ratio = np.geomspace(max(low, 1), max(high, 1), max(count, 2)).round().astype(np.int64)
    near = np.arange(low, min(high, max(dense, low)) + 1)
    return np.unique(np.concatenate([near, ratio[ratio >= low], [high]]))


def window(value: int, reach: int, low: int, high: int, step: int = 1) -> Integers:
    """List the integers near a value, within a range.

    >>> window(3, 4, 0, 6, 2).tolist()
    [0, 1, 3, 5, 6]
    """
    near = value + step * np.arange(-(reach // step), reach // step + 1)
    return np.unique(np.clip(near, low, high))


def scan(cost: Cost, *axes: ArrayLike, few: int = 8) -> tuple[tuple[int, ...], float]:
    """Find integers of least cost: on the grid of all axes, then near its best points.

    axes: rising values of each parameter; the first and the last bound it. few: how many points are
    refined. They are chosen from the best points at each value of the last axis, so that they
    differ. The first steps are as large as those of the grid, and the last are 1.

    >>> scan(lambda x, y: (x - 37) ** 2 + (y - x) ** 2 + 0.0, spread(1, 99, 5), spread(1, 99, 4))
    ((37, 37), 0.0)
    """
    values = [np.atleast_1d(np.asarray(axis, np.int64)) for axis in axes]
    grid = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(axes))
    groups = evaluate(cost, grid).reshape(-1, len(values[-1]) if len(axes) > 1 else 1)
    each = min(len(groups), -(-few // groups.shape[1]))
    best = np.argpartition(groups, each - 1, axis=0)[:each]
    chosen = (best * groups.shape[1] + np.arange(groups.shape[1])).ravel()
    order = np.argsort(groups.ravel()[chosen], kind="stable")[:few]
    points = grid[chosen[order]]
    steps = np.stack(
        [_gaps(axis)[np.searchsorted(axis, points[:, i])] for i, axis in enumerate(values)], axis=1
    )
    ends = np.array([[axis[0], axis[-1]] for axis in values]).T
    return refine(cost, points, steps, ends)


def refine(
    cost: Cost, points: Integers, steps: Integers, ends: Sequence[Integers] | Integers
) -> tuple[tuple[int, ...], float]:
    """Move points by steps in one or two parameters while that lowers the cost; return the best.

    When no step of a point lowers its cost, its steps are quartered. points, steps: (points,
    parameters). ends: the least and the largest value of each parameter.
    """
    count = points.shape[1]
    moves = _moves(tuple(steps.max(axis=0) > 0))
    best = evaluate(cost, points)
    optimum = points[[best.argmin()]], best.min()
    near: Integers
    for _ in range(_ROUNDS):
        _, at = np.unique(np.hstack([points, steps]) @ _HASH[: 2 * count], return_index=True)
        points, steps, best = points[at], steps[at], best[at]
        near = np.clip(points[:, None] + moves * steps[:, None], ends[0], ends[1])
        costs = evaluate(cost, near.reshape(-1, count)).reshape(len(points), -1)
        place, least = costs.argmin(axis=1), costs.min(axis=1)
        better = least < best - _CLOSE
        points = np.where(better[:, None], near[np.arange(len(points)), place], points)
        best = np.where(better, least, best)
        if best.min() < optimum[1]:
            optimum = points[[best.argmin()]], best.min()
        alive = (better | (steps.max(axis=1) > 1)) & (best < optimum[1] + _HOPELESS)
        steps = np.where(better[:, None], steps, np.maximum(steps // 4, steps > 0))
        if not alive.any():
            break
        points, steps, best = points[alive], steps[alive], best[alive]
    return tuple(int(v) for v in optimum[0][0]), float(optimum[1])


@cache
def _moves(free: tuple[bool, ...]) -> Integers:
    """List moves by 1 or 2 steps in at most two free parameters, beginning with no move."""
    combinations = product(*((-2, -1, 0, 1, 2) if moves else (0,) for moves in free))
    moves = np.array([move for move in combinations if sum(map(bool, move)) <= 2])
    return moves[np.argsort(np.abs(moves).sum(axis=1), kind="stable")]


def evaluate(cost: Cost, points: Integers) -> Array:
    """Compute the costs of points, (N, parameters) -> (N,), in batches."""
    parts = np.array_split(points, -(-len(points) // _BATCH_POINTS))
    return np.concatenate([np.broadcast_to(cost(*part.T), len(part)) for part in parts])


def _gaps(axis: Integers) -> Integers:
    """Return the larger distance of each value of an axis to a neighbour; 0 for a single value."""
    if len(axis) == 1:
        return np.zeros(1, np.int64)
    gaps = np.diff(axis)
    return np.maximum(np.append(gaps[0], gaps), np.append(gaps, gaps[-1]))
