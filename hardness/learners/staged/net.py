"""Stage 6a: a net of points on the affine hull, and the best tuple of them by least squares. [CL24]

For given attention of all heads the layer is linear in W_1..W_m, so a tuple of m net points costs
one (md, md) system. Its blocks are computed once for all pairs of points. The paper tries all
tuples (`grid`), without local search or derivatives, so its error comes from the spacing of the
net. `net` improves several random tuples, one point at a time: to find the best point for m - 1
fixed ones takes one (d, d) Schur complement for each point.

Takes the hull of stage 4 and the directions of stage 5; returns a layer and the best tuples. `grid`
is part of the theorem.
"""

import heapq
import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hardness.learners.fitting import (
    Array,
    Data,
    Fit,
    attend,
    columns,
    fit_of,
    pieces,
    scores,
    softmax,
)

_GRAM_ROWS = 3072  # points times d, at most: then the Gram matrix takes 75 MB and a second or two
_POINTS = 60  # points for each dimension: a finer net does not help the later stages
_STARTS = 12
_LEAST_RADIUS = 2.0  # if the mean of heads vanishes: logits of deviation 2 for unit tokens
_ROWS_A_COLUMN = 30  # labelled tokens for each of the md unknowns of a column of W
_RIDGE = 1e-9  # relative to the mean of the diagonal
# If all tuples are tried: the number of tuples and of points times d, at most; the factor for the
# examples; the number of best tuples among which the hold-out chooses.
_TUPLES, _ALL_GRAM_ROWS, _SAMPLE, _LEADERS = 30_000, 1536, 4, 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Net(Fit):
    """The best tuple found, and other local optima.

    leaders: (t, m, m-1), coefficients along the directions of different tuples, the best first. No
    change of a single point improves them. Measures: points, the size of the net; tuples, the
    number of tuples compared.
    """

    leaders: Array


def net(
    centre: Array, directions: Array, data: Data, validation: Data, rng: np.random.Generator
) -> Net:
    """Find m heads on the hull centre + span(directions) that fit best, W by least squares. [CL24]

    centre: (d, d); directions: (m-1, d, d), orthonormal in the Frobenius inner product.
    """
    m = len(directions) + 1
    used = data.cut(0, enough(m, data.k, data.d))
    most = max(2 * m - 1, min(_POINTS ** min(m - 1, 2), _GRAM_ROWS // data.d))
    points = ball(m - 1, most) * _radius(centre, m)
    blocks = gram_blocks(centre, directions, points, used)
    found: dict[tuple[int, ...], float] = {}
    tuples = 0
    for _ in range(_STARTS):
        start = rng.choice(len(points), m, replace=len(points) < m)
        chosen, loss, compared = _improve(blocks, [int(p) for p in start])
        found[tuple(sorted(chosen))] = loss
        tuples += compared
    leaders = sorted(found, key=lambda chosen: (found[chosen], chosen))
    theta = on_hull(centre, directions, points[list(leaders[0])])
    best = fit_of(theta, blocks.solve(list(leaders[0])), validation)
    starts, measures = points[np.array(leaders)], {"points": len(points), "tuples": tuples}
    return Net(theta=theta, w=best.w, error=best.error, leaders=starts, measures=measures)


def grid(centre: Array, directions: Array, data: Data, validation: Data, points: int = 0) -> Fit:
    """Try all sets of m points on the hull centre + span(directions), and fit W to each. [CL24]

    centre: (d, d). directions: (m-1, d, d), orthonormal. points: their number, at most; 0 for the
    number that `size` returns. Measures: points, the size of the net; spacing, the Frobenius
    distance between neighbours; tuples, the number of tuples compared.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], size=(400, 2, 3))
    >>> data = Data(x=x, y=np.repeat(x.mean(axis=1, keepdims=True), 2, axis=1))
    >>> found = grid(np.zeros((3, 3)), np.empty((0, 3, 3)), data, data)
    >>> np.allclose(found.w, np.eye(3)), found.measures["tuples"]
    (True, 1)
    """
    m = len(directions) + 1
    net = ball(m - 1, points or size(m, data.d)) * _radius(centre, m)
    used = data.cut(0, _SAMPLE * enough(m, data.k, data.d))
    blocks = gram_blocks(centre, directions, net, used)
    leaders: list[tuple[float, tuple[int, ...]]] = []
    tuples = 0
    for fixed in itertools.combinations(range(len(net)), m - 1):
        first = fixed[-1] + 1 if fixed else 0
        errors = blocks.errors_with_each(list(fixed))[first:]
        tuples += len(errors)
        for j in np.argsort(errors)[:_LEADERS]:
            leaders.append((float(errors[j]), (*fixed, first + int(j))))
        leaders = heapq.nsmallest(_LEADERS, leaders)
    fits = (
        fit_of(on_hull(centre, directions, net[[*chosen]]), blocks.solve([*chosen]), validation)
        for _, chosen in leaders
    )
    best = min(fits, key=lambda fit: fit.error)
    spacing = float(np.linalg.norm(net[1:] - net[0], axis=1).min()) if len(net) > 1 else 0.0
    measures = {"heads": m, "points": len(net), "spacing": spacing, "tuples": tuples}
    return replace(best, measures=measures)


def _radius(centre: Array, m: int) -> float:
    """Return the radius: twice the distance of centre and head for orthogonal heads of one norm."""
    return max(2 * float(np.linalg.norm(centre)) * math.sqrt(m - 1), _LEAST_RADIUS)


def enough(m: int, k: int, d: int) -> int:
    """Return the number of examples of stage 6: 30 tokens for each unknown of a column of W.

    >>> enough(2, 2, 16)
    480
    """
    return -(-_ROWS_A_COLUMN * m * d // k)


def on_hull(centre: Array, directions: Array, coefficients: Array) -> Array:
    """Return centre + sum_j c_j directions_j for each row c of the coefficients: (p, d, d)."""
    return np.asarray(centre + np.tensordot(coefficients, directions, axes=1))


def ball(dimension: int, limit: int) -> Array:
    """Return the finest cubic grid of at most `limit` points on the unit ball: (p, dimension).

    >>> ball(1, 5).ravel().tolist(), ball(0, 9).shape
    ([-1.0, -0.5, 0.0, 0.5, 1.0], (1, 0))
    """
    grid = np.zeros((1, dimension))
    for half in itertools.count(1):
        if (2 * half + 1) ** dimension > 64 * limit or dimension == 0:
            return grid
        axis = np.arange(-half, half + 1) / half
        cube = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), -1).reshape(-1, dimension)
        finer = cube[np.sum(cube**2, axis=1) <= 1 + 1e-12]
        if len(finer) > limit:
            return grid
        grid = finer
    raise AssertionError("unreachable")


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """The normal equations of W for all tuples of p points.

    gram: (p, d, p, d), inner products of the attended tokens of all points. right: (p, d, d), their
    inner products with the labels. total: sum ||Y||^2, replaced by 1 if it is 0.
    """

    gram: Array
    right: Array
    total: float

    def errors_with_each(self, fixed: list[int]) -> Array:
        """Return the relative errors of `fixed` with each point in turn added to it: (p,)."""
        p, d = self.right.shape[:2]
        f = len(fixed) * d
        own = self.gram[np.arange(p), :, np.arange(p)]
        inner = self.gram[np.ix_(fixed, range(d), fixed, range(d))].reshape(f, f)
        across = self.gram[fixed].reshape(f, p, d).transpose(1, 2, 0)
        # The blocks of each point after the fixed points are eliminated.
        right = np.concatenate([self.gram[fixed].reshape(f, p * d), self._rows(fixed)], axis=1)
        solved = np.linalg.solve(inner + self.ridge * np.eye(f), right)
        own = own - across @ solved[:, :-d].reshape(f, p, d).transpose(1, 0, 2)
        own += self.ridge * np.eye(d)
        rest = self.right - across @ solved[:, -d:]
        explained = np.sum(rest * np.linalg.solve(own, rest), axis=(1, 2))
        explained += np.sum(self._rows(fixed) * solved[:, -d:])
        return np.asarray(1 - explained / self.total)

    def solve(self, chosen: list[int]) -> Array:
        """Return the best W for a tuple of points: (m, d, d)."""
        m, d = len(chosen), self.right.shape[1]
        gram = self.gram[np.ix_(chosen, range(d), chosen, range(d))].reshape(m * d, m * d)
        w = np.linalg.solve(gram + self.ridge * np.eye(m * d), self._rows(chosen))
        return np.asarray(w.reshape(m, d, d))

    @cached_property
    def ridge(self) -> float:
        """The number added to the diagonal, because two points may have the same attention."""
        p, d = self.right.shape[:2]
        return float(_RIDGE * np.trace(self.gram.reshape(p * d, p * d)) / (p * d))

    def _rows(self, chosen: list[int]) -> Array:
        return self.right[chosen].reshape(-1, self.right.shape[1])


def gram_blocks(centre: Array, directions: Array, points: Array, data: Data) -> Blocks:
    """Compute the normal equations of all points (p, m-1) of a hull, in blocks of examples."""
    p, d = len(points), data.d
    gram, right = np.zeros((p * d, p * d)), np.zeros((p * d, d))
    x, y = columns(data.x), columns(data.y)
    for part in pieces(len(data), 256):
        tokens = np.ascontiguousarray(x[..., part])
        logits = scores(np.concatenate([centre[None], directions]), tokens)
        attended = attend(softmax(on_hull(logits[0], logits[1:], points)), tokens)
        flat = attended.reshape(data.k, p * d, -1)
        for rows, labels in zip(flat, y[..., part], strict=True):
            gram += rows @ rows.T
            right += rows @ labels.T
    total = float(np.sum(y**2)) or 1.0
    return Blocks(gram=gram.reshape(p, d, p, d), right=right.reshape(p, d, d), total=total)


def _improve(blocks: Blocks, chosen: list[int]) -> tuple[list[int], float, int]:
    """Change single points of a tuple while it helps: tuple, error, number of tuples compared."""
    loss, compared, unchanged = np.inf, 0, 0
    for i in itertools.cycle(range(len(chosen))):
        errors = blocks.errors_with_each(chosen[:i] + chosen[i + 1 :])
        compared += len(errors)
        best = int(np.argmin(errors))
        if errors[best] < loss * (1 - 1e-9):
            chosen = [*chosen[:i], best, *chosen[i + 1 :]]
            loss, unchanged = float(errors[best]), 0
        unchanged += 1
        if unchanged == len(chosen):
            return chosen, loss, compared
    raise AssertionError("unreachable")


def size(m: int, d: int) -> int:
    """Return the largest number of points for which all sets of m points can be tried.

    >>> size(2, 8), size(2, 12), size(3, 12), size(4, 12), size(1, 12)
    (192, 128, 57, 30, 1)
    """
    if m == 1:
        return 1
    points = m
    while math.comb(points + 1, m) <= _TUPLES and (points + 1) * d <= _ALL_GRAM_ROWS:
        points += 1
    return points
