"""Stage 6 as the paper states it: all tuples of points of a net, W_1..W_m by least squares. [CL24]

No local search and no derivatives: the error is that of the net's spacing.
"""

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.data import Array, Data, relative_error
from hardness.upper.staged.net import ball, enough, gram_blocks, on_hull, require_hull
from hardness.upper.staged.stage import Clock, endless
from instances.layer import AttentionLayer

_TUPLES = 30_000
_GRAM_ROWS = 1536  # points times d
_LEADERS = 16  # tuples of least error on the examples, among which the hold-out chooses
_SAMPLE = 4  # times what `enough` asks for
_LEAST_RADIUS = 2.0  # the centre says nothing of heads whose mean vanishes


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """The best tuple of net points.

    theta, w: (m, d, d); error: relative error on the hold-out that chose among the leading tuples;
    points: the net's size; spacing: distance between neighbours, Frobenius; tuples: how many were
    compared.
    """

    theta: Array
    w: Array
    error: float
    points: int
    spacing: float
    tuples: int


def grid(
    centre: Array, directions: Array, data: Data, validation: Data, clock: Clock = endless
) -> Grid:
    """Try all sets of m points on the hull centre + span(directions), and fit W to each. [CL24]

    centre: (d, d); directions: (m-1, d, d), orthonormal. The net's radius is 2 |centre| sqrt(m-1),
    at least 2: orthogonal heads of one norm lie at half of it. Raises UsageError for other shapes.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], size=(400, 2, 3))
    >>> data = Data(x=x, y=np.repeat(x.mean(axis=1, keepdims=True), 2, axis=1))
    >>> found = grid(np.zeros((3, 3)), np.empty((0, 3, 3)), data, data)
    >>> np.allclose(found.w, np.eye(3)), found.tuples
    (True, 1)
    """
    require_hull(centre, directions, data)
    m = len(directions) + 1
    unit = ball(m - 1, size(m, data.d))
    points = unit * max(2 * float(np.linalg.norm(centre)) * math.sqrt(m - 1), _LEAST_RADIUS)
    used = data.cut(0, _SAMPLE * enough(m, data.k, data.d))
    blocks = gram_blocks(centre, directions, points, used, clock)
    leaders: list[tuple[float, tuple[int, ...]]] = []
    tuples = 0
    for fixed in itertools.combinations(range(len(points)), m - 1):
        clock()
        first = fixed[-1] + 1 if fixed else 0
        errors = blocks.beside(list(fixed))[first:]
        tuples += len(errors)
        for j in np.argsort(errors)[:_LEADERS]:
            leaders.append((float(errors[j]), (*fixed, first + int(j))))
        leaders = heapq.nsmallest(_LEADERS, leaders)
    tried = []
    for _, chosen in leaders:
        theta = on_hull(centre, directions, points[list(chosen)])
        w = blocks.solve(list(chosen))
        layer = AttentionLayer(theta=theta, w=w)
        tried.append((relative_error(layer(validation.x), validation.y), layer))
    error, best = min(tried, key=lambda pair: pair[0])
    return Grid(
        theta=best.theta,
        w=best.w,
        error=error,
        points=len(points),
        spacing=_spacing(points),
        tuples=tuples,
    )


def size(m: int, d: int) -> int:
    """Return the largest number of points whose sets of m are not too many to try.

    >>> size(2, 8), size(2, 12), size(3, 12), size(4, 12), size(1, 12)
    (192, 128, 57, 30, 1)
    """
    if m == 1:
        return 1
    points = m
    while math.comb(points + 1, m) <= _TUPLES and (points + 1) * d <= _GRAM_ROWS:
        points += 1
    return points


def _spacing(points: Array) -> float:
    if len(points) < 2:
        return 0.0
    return float(np.linalg.norm(points[1:] - points[0], axis=1).min())
