"""Fitting a layer: outputs and derivatives, labelled examples, errors, reports, matching of heads.

Layers are evaluated with the examples as the last axis: tokens and labels are (k, d, n), as
`columns` makes them. Then all inner loops are long, which is about twice as fast as (n, k, d) for
few tokens.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from instances.errors import UsageError
from instances.family import Examples
from instances.layer import AttentionLayer

Array = NDArray[np.float64]


def columns(x: NDArray[Any]) -> Array:
    """Turn (n, k, d) tokens or labels into (k, d, n), float64.

    >>> columns(np.zeros((5, 2, 3))).shape
    (2, 3, 5)
    """
    return np.ascontiguousarray(np.moveaxis(x, 0, 2), np.float64)


def scores(theta: Array, x: Array) -> Array:
    """Compute x_a^T Theta_i x_b for all pairs of tokens: (m, d, d), (k, d, n) -> (m, k, k, n)."""
    left = np.matmul(theta.transpose(0, 2, 1)[:, None], x)
    return np.einsum("iadn,bdn->iabn", left, x)


def softmax(logits: Array) -> Array:
    """Softmax over the last axis but one, shifted by the maximum so that nothing overflows.

    >>> softmax(np.full((2, 1), 1000.0)).tolist()
    [[0.5], [0.5]]
    """
    out = np.exp(logits - logits.max(axis=-2, keepdims=True))
    out /= out.sum(axis=-2, keepdims=True)
    return np.asarray(out)


def softmax_slope(p: Array, change: Array) -> Array:
    """Derive the softmax p in the direction of a change of its logits; the map is symmetric."""
    return np.asarray(p * (change - np.sum(p * change, axis=-2, keepdims=True)))


def attend(p: Array, x: Array) -> Array:
    """Mix the tokens by weights: (m, k, k, n), (k, d, n) -> (k, m, d, n)."""
    return np.einsum("iabn,bdn->aidn", p, x)


def heads_sum(attended: Array, w: Array) -> Array:
    """Apply each head's W to what it attends to and add: (k, m, d, n), (m, d, d) -> (k, d, n)."""
    k, m, d, n = attended.shape
    return np.asarray(w.reshape(m * d, d).T @ attended.reshape(k, m * d, n))


def gram_factor(attended: Array) -> Array:
    """Factor the Gram matrix of what heads attend to, (k, m, d, n): lower triangular, (md, md).

    Two heads may attend alike: as much is added to the diagonal as rounding asks for.
    """
    k, m, d, n = attended.shape
    flat = attended.reshape(k, m * d, n)
    gram = np.sum(flat @ flat.transpose(0, 2, 1), axis=0)
    rounding = np.finfo(np.float64)
    gram += (4 * m * d * rounding.eps * np.trace(gram) + rounding.tiny) * np.eye(m * d)
    return np.linalg.cholesky(gram)


@dataclass(frozen=True, kw_only=True, eq=False)
class Linearized:
    """A softmax layer on tokens x with its Jacobian as a linear map and the map's adjoint. [CL24]

    theta, w: (m, d, d); x: (k, d, n); p: (m, k, k, n), the attention; attended: (k, m, d, n),
    what it attends to; value: (k, d, n), the outputs. rows: of how many tokens, the first, outputs
    count, all where it is 0; the others are 0.

    >>> rng = np.random.default_rng(0)
    >>> theta, w, x = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3)), np.ones((2, 3, 1))
    >>> layer = linearize(theta, w, x)
    >>> bool(np.allclose(layer.product(theta, w), layer.value))  # equal tokens: linear in W alone
    True
    """

    theta: Array
    w: Array
    x: Array
    p: Array
    attended: Array
    value: Array
    rows: int = 0

    def product(self, theta: Array, w: Array) -> Array:
        """Derive the outputs in the direction (theta, w), (m, d, d) each: (k, d, n)."""
        moved = attend(softmax_slope(self.p, scores(theta, self.x)), self.x)
        return _first(heads_sum(self.attended, w) + heads_sum(moved, self.w), self.rows)

    def adjoint(self, cotangent: Array) -> tuple[Array, Array]:
        """Apply the adjoint to a (k, d, n) cotangent: its inner products with all derivatives."""
        k, m, d, n = self.attended.shape
        cotangent = _first(cotangent, self.rows)
        back = cotangent.transpose(0, 2, 1)
        w = np.sum(self.attended.reshape(k, m * d, n) @ back, axis=0).reshape(m, d, d)
        pulled = (self.w.reshape(m * d, d) @ cotangent).reshape(k, m, d, n)
        change = np.einsum("aidn,bdn->iabn", pulled, self.x)
        mixed = attend(softmax_slope(self.p, change), self.x)
        theta = np.zeros((m, d, d))
        for token, part in zip(self.x, mixed, strict=True):
            theta += token @ part.transpose(0, 2, 1)
        return theta, w


def _first(values: Array, rows: int) -> Array:
    """Set what is of other tokens than the first to 0: (k, d, n) -> (k, d, n)."""
    return values * (np.arange(len(values)) < rows)[:, None, None] if rows else values


def linearize(theta: Array, w: Array, x: Array, rows: int = 0) -> Linearized:
    """Evaluate a layer with heads theta, w (m, d, d) on tokens x (k, d, n)."""
    p = softmax(scores(theta, x))
    attended = attend(p, x)
    value = _first(heads_sum(attended, w), rows)
    return Linearized(theta=theta, w=w, x=x, p=p, attended=attended, value=value, rows=rows)


_LARGEST = 1e100
_BATCH = 1 << 20  # numbers of a batch's tokens


def pieces(count: int, size: int) -> Iterator[slice]:
    """Cut `count` rows into slices of about `size` rows, at least 1.

    >>> [(part.start, part.stop) for part in pieces(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, count, max(1, size)):
        yield slice(start, min(start + max(1, size), count))


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """Labelled examples of a family: x and y of shape (n, k, d), read-only, k >= 2.

    Raises UsageError for k = 1, and for entries that are not finite or beyond 1e100.

    >>> len(Data(x=np.ones((5, 2, 3)), y=np.zeros((5, 2, 3))))
    5
    """

    x: Array
    y: Array
    rows: int = 0  # how many tokens have labels, the first; 0: all

    def __post_init__(self) -> None:
        for name, what in (("x", "tokens"), ("y", "labels")):
            array = np.ascontiguousarray(getattr(self, name), np.float64).view()
            # No arrays beside: they are large.
            if not max(float(array.max()), -float(array.min())) <= _LARGEST:
                raise UsageError(f"{what} have entries that are not finite, or beyond {_LARGEST:g}")
            array.setflags(write=False)  # of this view: the caller's own array stays writable
            object.__setattr__(self, name, array)
        if self.k < 2:
            raise UsageError(
                "k must be at least 2 tokens, got 1: a single token attends to itself alone, so "
                "the layer is linear and no Theta can be learned"
            )

    def __len__(self) -> int:
        return len(self.x)

    @property
    def k(self) -> int:
        """The number of tokens."""
        return int(self.x.shape[1])

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return int(self.x.shape[2])

    def cut(self, start: int, stop: int) -> "Data":
        """Return examples start .. stop-1."""
        return Data(x=self.x[start:stop], y=self.y[start:stop], rows=self.rows)


def draw(oracle: ExampleOracle, count: int) -> tuple[Array, Array, bool]:
    """Draw tokens and labels (n, k, d), and say whether examples are spent; raises Spent."""
    most = max(1, _BATCH // (oracle.family.k * oracle.family.d))
    batches: list[Examples] = []
    spent = False
    while count > 0 and not spent:
        try:
            batches.append(oracle.draw(min(count, most)))
            count -= len(batches[-1])
        except Spent as stopped:
            if stopped.resource != "examples" or not batches:
                raise
            spent = True
    x, y = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("x", "y"))
    return np.asarray(x, np.float64), np.asarray(y, np.float64), spent


class StageFailed(UsageError):
    """A stage cannot go on; `needs` is the number of examples it asks for, None if more won't do.

    >>> raise StageFailed("moment", "3 examples", needs=32)
    Traceback (most recent call last):
    hardness.learners.fitting.StageFailed: stage moment: 3 examples: at least 32 are needed
    """

    def __init__(self, stage: str, why: str, needs: int | None = None) -> None:
        wanted = f": at least {needs} are needed" if needs else ""
        super().__init__(f"stage {stage}: {why}{wanted}")
        self.needs = needs


@dataclass(frozen=True)
class StageReport:
    """One run of one stage: seconds, examples it read, rows it accepted, its own error measures."""

    name: str
    seconds: float
    examples: int
    rows: int
    measures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """What a stage of a fit returns, beside what is its own.

    rows: of the data that it accepted; measures: of how well it went; figures: numbers to draw;
    theta, w: the layer at which it arrived, if any, (m, d, d) each, or (d, d) of one head; offered:
    whether that is one to keep: else it is what it was made from, or no better.
    """

    rows: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    theta: Array | None = None
    w: Array | None = None
    offered: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class OneHead(Result):
    """A layer of one head, from matrices (d, d)."""

    theta: Array
    w: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit(Result):
    """A layer theta, w (m, d, d), and its relative squared error on the hold-out."""

    theta: Array
    w: Array
    error: float

    @property
    def layer(self) -> AttentionLayer:
        """The layer."""
        return AttentionLayer(theta=self.theta, w=self.w)


def fit_of(theta: Array, w: Array, held_out: Data, **more: Any) -> Fit:
    """Judge a layer theta, w (m, d, d) by held-out examples; more: further fields of the fit."""
    predicted = linearize(theta, w, columns(held_out.x), held_out.rows).value
    return Fit(theta=theta, w=w, error=relative_error(predicted, columns(held_out.y)), **more)


def relative_error(predicted: Array, y: Array) -> float:
    """Return sum ||y - predicted||^2 / sum ||y||^2; infinite where all labels are zero.

    >>> relative_error(np.zeros((2, 2, 2)), np.ones((2, 2, 2)))
    1.0
    """
    scale = float(np.sum(y**2))
    return float(np.sum((y - predicted) ** 2)) / scale if scale else float("inf")


def error_bound(predicted: Array, y: Array) -> float:
    """Return an upper confidence bound of the relative error that n examples (n, k, d) estimate.

    The estimate, three standard errors of the ratio (delta method), and 3/n: a fault of size one on
    fewer than 3/n of all examples goes unseen with probability above 5 %.

    >>> round(error_bound(np.zeros((100, 2, 2)), np.ones((100, 2, 2))), 6)
    1.03
    """
    squares = np.sum(y**2, axis=(1, 2))
    if not squares.any():
        return float("inf")
    n, error = len(y), relative_error(predicted, y)
    apart = np.sum((y - predicted) ** 2, axis=(1, 2)) - error * squares
    return error + (3 * float(np.sqrt(np.mean(apart**2) / n)) / float(squares.mean())) + 3 / n


def gain(before: Array, after: Array, y: Array) -> float:
    """Say by how many standard errors predictions (n, k, d) are better than those before.

    Of the mean over examples of the difference of their squared errors.

    >>> y = np.random.default_rng(0).normal(size=(400, 2, 3))
    >>> round(gain(0.0 * y, 0.5 * y, y)), gain(y, y, y)
    (36, 0.0)
    """
    better = np.sum((before - y) ** 2 - (after - y) ** 2, axis=(1, 2))
    error = float(better.std() / np.sqrt(len(better)))
    return float(better.mean()) / error if error else 0.0


def rounded(values: Array) -> Array:
    """Round to 1e-9 of the largest: equal tokens times a matrix may differ in the last digits."""
    return np.asarray(np.round(values / (np.abs(values).max() or 1.0), 9) + 0.0)


def repeated(x: Array) -> NDArray[np.bool_]:
    """Say which of the examples x (n, k, d) stood there before, but for rounding.

    By a random linear form; two that differ share its value with a chance of about 1e-9.

    >>> repeated(np.array([[[1.0]], [[2.0]], [[1.0]]])).tolist()
    [False, False, True]
    """
    form = np.random.default_rng(0).standard_normal(x.shape[1:])
    values = np.einsum("nkd,kd->n", x, form)
    before = np.ones(len(x), np.bool_)
    before[np.unique(rounded(values), return_index=True)[1]] = False
    return before


OFF = 0.25  # the largest relative error of a head that counts as found


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Found heads beside the true ones.

    heads: for each true head the number of the found one, None where there are too few. theta,
    w: ||found - true||_F / ||true||_F for each true head, None for one without a partner, absolute
    where the true one is 0. spare: the found heads that are left over.
    """

    heads: tuple[int | None, ...]
    theta: tuple[float | None, ...]
    w: tuple[float | None, ...]
    spare: tuple[int, ...]

    @property
    def identified(self) -> bool:
        """Whether every true head was found, with no relative error above a quarter."""
        return all(error is not None and error <= OFF for error in (*self.theta, *self.w))

    def to_dict(self) -> dict[str, Any]:
        """Write the matching as JSON."""
        errors = {"theta_errors": list(self.theta), "w_errors": list(self.w)}
        return {"heads": list(self.heads), **errors, "spare": list(self.spare)}


def match(learned: AttentionLayer, truth: AttentionLayer) -> Matching:
    """Pair the heads so that the sum of their relative errors is least. [Kuh55]

    If the last coordinate of every token is 1, the differences of tokens are 0 there. So no label
    shows the last column of a Theta, nor the last row of a W but in the sum over heads, and these
    are not compared. Raises UsageError for layers of different dimensions.

    >>> truth = AttentionLayer(theta=np.stack([np.eye(2), np.ones((2, 2))]), w=np.ones((2, 2, 2)))
    >>> swapped = AttentionLayer(theta=truth.theta[::-1], w=truth.w)
    >>> match(swapped, truth).heads
    (1, 0)
    """
    if learned.d != truth.d:
        raise UsageError(f"two layers must have one dimension, got {learned.d} and {truth.d}")
    from scipy.optimize import linear_sum_assignment  # which few need

    shown = truth.d - truth.constant
    theta = distances(learned.theta[:, :, :shown], truth.theta[:, :, :shown])
    w = distances(learned.w[:, :shown], truth.w[:, :shown])
    rows, partners = linear_sum_assignment(theta + w)
    pairs = {int(i): int(j) for i, j in zip(rows, partners, strict=True)}
    return Matching(
        heads=tuple(pairs.get(i) for i in range(truth.m)),
        theta=tuple(float(theta[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        w=tuple(float(w[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        spare=tuple(j for j in range(learned.m) if j not in pairs.values()),
    )


def distances(learned: Array, truth: Array) -> Array:
    """Relative Frobenius distances, (f, d, d) and (t, d, d) -> (t, f)."""
    out = np.linalg.norm(learned - truth[:, None], axis=(2, 3))
    norms = np.linalg.norm(truth, axis=(1, 2))
    return np.asarray(out / np.where(norms > 0, norms, 1.0)[:, None])
