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
    queries = np.matmul(theta.transpose(0, 2, 1)[:, None], x)
    return np.einsum("iadn,bdn->iabn", queries, x)


def softmax(logits: Array) -> Array:
    """Softmax over the last axis but one, shifted by the maximum so that nothing overflows.

    >>> softmax(np.full((2, 1), 1000.0)).tolist()
    [[0.5], [0.5]]
    """
    out = np.exp(logits - logits.max(axis=-2, keepdims=True))
    out /= out.sum(axis=-2, keepdims=True)
    return np.asarray(out)


def softmax_slope(p: Array, change: Array) -> Array:
    """Return the derivative of a softmax p in the direction `change` of its logits."""
    return np.asarray(p * (change - np.sum(p * change, axis=-2, keepdims=True)))


def attend(p: Array, x: Array) -> Array:
    """Average tokens by attention weights: (m, k, k, n), (k, d, n) -> (k, m, d, n)."""
    return np.einsum("iabn,bdn->aidn", p, x)


def heads_sum(attended: Array, w: Array) -> Array:
    """Apply each head's W to its averages, and sum: (k, m, d, n), (m, d, d) -> (k, d, n)."""
    k, m, d, n = attended.shape
    return np.asarray(w.reshape(m * d, d).T @ attended.reshape(k, m * d, n))


def gram_factor(attended: Array) -> Array:
    """Return the Cholesky factor (md, md) of the Gram matrix of attended tokens (k, m, d, n).

    Two heads may attend alike, so a multiple of the rounding error is added to the diagonal.
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

    theta, w: (m, d, d). x: (k, d, n). p: (m, k, k, n), the attention. attended: (k, m, d, n), the
    tokens averaged by it. value: (k, d, n), the outputs. rows: outputs of all but the first `rows`
    tokens are set to 0; 0 keeps all.

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
        """Return the derivative (k, d, n) of outputs in a direction (theta, w), (m, d, d) each."""
        moved = attend(softmax_slope(self.p, scores(theta, self.x)), self.x)
        return _first_rows(heads_sum(self.attended, w) + heads_sum(moved, self.w), self.rows)

    def adjoint(self, cotangent: Array) -> tuple[Array, Array]:
        """Apply the adjoint of `product` to a cotangent (k, d, n): theta and w, (m, d, d) each."""
        k, m, d, n = self.attended.shape
        cotangent = _first_rows(cotangent, self.rows)
        back = cotangent.transpose(0, 2, 1)
        w = np.sum(self.attended.reshape(k, m * d, n) @ back, axis=0).reshape(m, d, d)
        pulled = (self.w.reshape(m * d, d) @ cotangent).reshape(k, m, d, n)
        change = np.einsum("aidn,bdn->iabn", pulled, self.x)
        mixed = attend(softmax_slope(self.p, change), self.x)
        theta = np.zeros((m, d, d))
        for token, part in zip(self.x, mixed, strict=True):
            theta += token @ part.transpose(0, 2, 1)
        return theta, w


def _first_rows(values: Array, rows: int) -> Array:
    """Set the values of all but the first `rows` tokens to 0; rows=0 keeps all: (k, d, n)."""
    return values * (np.arange(len(values)) < rows)[:, None, None] if rows else values


def linearize(theta: Array, w: Array, x: Array, rows: int = 0) -> Linearized:
    """Evaluate a layer with heads theta, w (m, d, d) on tokens x (k, d, n)."""
    p = softmax(scores(theta, x))
    attended = attend(p, x)
    value = _first_rows(heads_sum(attended, w), rows)
    return Linearized(theta=theta, w=w, x=x, p=p, attended=attended, value=value, rows=rows)


_LARGEST_ENTRY = 1e100
_BATCH_NUMBERS = 1 << 20  # numbers of a batch's tokens


def pieces(count: int, size: int) -> Iterator[slice]:
    """Cut `count` rows into slices of `size` rows, at least 1.

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
    rows: int = 0  # only the first `rows` tokens have labels; 0: all

    def __post_init__(self) -> None:
        for name, content in (("x", "tokens"), ("y", "labels")):
            array = np.ascontiguousarray(getattr(self, name), np.float64).view()
            # `max` and `min` make no further large arrays.
            if not max(float(array.max()), -float(array.min())) <= _LARGEST_ENTRY:
                raise UsageError(
                    f"{content} have entries that are not finite, or beyond {_LARGEST_ENTRY:g}"
                )
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
    """Draw tokens and labels (n, k, d); also return whether examples ran out. Raises Spent."""
    at_once = max(1, _BATCH_NUMBERS // (oracle.family.k * oracle.family.d))
    batches: list[Examples] = []
    spent = False
    while count > 0 and not spent:
        try:
            batches.append(oracle.draw(min(count, at_once)))
            count -= len(batches[-1])
        except Spent as stopped:
            if stopped.resource != "examples" or not batches:
                raise
            spent = True
    x, y = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("x", "y"))
    return np.asarray(x, np.float64), np.asarray(y, np.float64), spent


class StageFailed(UsageError):
    """A stage cannot go on; `needs`: the examples it needs, None if more do not help.

    >>> raise StageFailed("moment", "3 examples", needs=32)
    Traceback (most recent call last):
    hardness.learners.fitting.StageFailed: stage moment: 3 examples: at least 32 are needed
    """

    def __init__(self, stage: str, reason: str, needs: int | None = None) -> None:
        cure = f": at least {needs} are needed" if needs else ""
        super().__init__(f"stage {stage}: {reason}{cure}")
        self.needs = needs


@dataclass(frozen=True)
class StageReport:
    """One run of one stage: its seconds, the examples read, the rows accepted, its measures."""

    name: str
    seconds: float
    examples: int
    rows: int
    measures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """The base of what stages of a fit return.

    rows: the rows of the data that it accepted. measures: numbers that say how well it went.
    figures: numbers for charts. theta, w: the layer, if any, (m, d, d) each, or (d, d) for one
    head. offered: whether the layer is new and better, so that it may become the best one.
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
    """A layer theta, w (m, d, d), and its relative squared error on held-out examples."""

    theta: Array
    w: Array
    error: float

    @property
    def layer(self) -> AttentionLayer:
        """The layer."""
        return AttentionLayer(theta=self.theta, w=self.w)


def fit_of(theta: Array, w: Array, held_out: Data, **fields: Any) -> Fit:
    """Judge a layer theta, w (m, d, d) by held-out examples; fields: further fields of the fit."""
    predicted = linearize(theta, w, columns(held_out.x), held_out.rows).value
    return Fit(theta=theta, w=w, error=relative_error(predicted, columns(held_out.y)), **fields)


def relative_error(predicted: Array, y: Array) -> float:
    """Return sum ||y - predicted||^2 / sum ||y||^2; infinite if all labels are zero.

    >>> relative_error(np.zeros((2, 2, 2)), np.ones((2, 2, 2)))
    1.0
    """
    scale = float(np.sum(y**2))
    return float(np.sum((y - predicted) ** 2)) / scale if scale else float("inf")


def error_bound(predicted: Array, y: Array) -> float:
    """Return an upper confidence bound on the relative error, from n examples (n, k, d).

    It is the estimate plus three standard errors of the ratio (delta method) plus 3/n. The last
    term covers errors of size one on fewer than 3/n of all examples, which n examples miss with
    probability above 5 %.

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
    """Return by how many standard errors predictions `after` are better than `before`, (n, k, d).

    The standard error is that of the mean, over examples, of the difference of squared errors.

    >>> y = np.random.default_rng(0).normal(size=(400, 2, 3))
    >>> round(gain(0.0 * y, 0.5 * y, y)), gain(y, y, y)
    (36, 0.0)
    """
    better = np.sum((before - y) ** 2 - (after - y) ** 2, axis=(1, 2))
    error = float(better.std() / np.sqrt(len(better)))
    return float(better.mean()) / error if error else 0.0


def rounded(values: Array) -> Array:
    """Round to 1e-9 of the largest entry, so that values that differ by rounding become equal."""
    return np.asarray(np.round(values / (np.abs(values).max() or 1.0), 9) + 0.0)


def repeated(x: Array) -> NDArray[np.bool_]:
    """Return which examples x (n, k, d) repeat an earlier one, up to rounding: (n,).

    Examples are compared by a random linear form; different ones have equal values with probability
    about 1e-9.

    >>> repeated(np.array([[[1.0]], [[2.0]], [[1.0]]])).tolist()
    [False, False, True]
    """
    form = np.random.default_rng(0).standard_normal(x.shape[1:])
    values = np.einsum("nkd,kd->n", x, form)
    before = np.ones(len(x), np.bool_)
    before[np.unique(rounded(values), return_index=True)[1]] = False
    return before


FOUND_HEAD_ERROR = 0.25  # the largest relative error of a head that counts as found


@dataclass(frozen=True, kw_only=True)
class Matching:
    """A matching of learned heads with the true ones.

    heads: for each true head the index of its learned head, None without a partner. theta, w:
    ||learned - true||_F / ||true||_F for each true head, None without a partner, absolute if the
    true matrix is 0. spare: the learned heads without a partner.
    """

    heads: tuple[int | None, ...]
    theta: tuple[float | None, ...]
    w: tuple[float | None, ...]
    spare: tuple[int, ...]

    @property
    def identified(self) -> bool:
        """Whether every true head has a partner with relative errors of at most a quarter."""
        return all(
            error is not None and error <= FOUND_HEAD_ERROR for error in (*self.theta, *self.w)
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the matching as JSON."""
        errors = {"theta_errors": list(self.theta), "w_errors": list(self.w)}
        return {"heads": list(self.heads), **errors, "spare": list(self.spare)}


def match(learned: AttentionLayer, truth: AttentionLayer) -> Matching:
    """Match heads so that the sum of their relative errors is minimal. [Kuh55]

    If the last coordinate of every token is 1, differences of tokens are 0 there. Labels then do
    not depend on the last column of a Theta, and on last rows of the W only in sum over heads.
    These are not compared. Raises UsageError for layers of different dimensions.

    >>> truth = AttentionLayer(theta=np.stack([np.eye(2), np.ones((2, 2))]), w=np.ones((2, 2, 2)))
    >>> swapped = AttentionLayer(theta=truth.theta[::-1], w=truth.w)
    >>> match(swapped, truth).heads
    (1, 0)
    """
    if learned.d != truth.d:
        raise UsageError(f"two layers must have one dimension, got {learned.d} and {truth.d}")
    from scipy.optimize import linear_sum_assignment  # few runs need it

    compared = truth.d - truth.constant  # coordinates
    theta = distances(learned.theta[:, :, :compared], truth.theta[:, :, :compared])
    w = distances(learned.w[:, :compared], truth.w[:, :compared])
    rows, partners = linear_sum_assignment(theta + w)
    pairs = {int(i): int(j) for i, j in zip(rows, partners, strict=True)}
    return Matching(
        heads=tuple(pairs.get(i) for i in range(truth.m)),
        theta=tuple(float(theta[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        w=tuple(float(w[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        spare=tuple(j for j in range(learned.m) if j not in pairs.values()),
    )


def distances(learned: Array, truth: Array) -> Array:
    """Return relative Frobenius distances of all pairs: (f, d, d), (t, d, d) -> (t, f)."""
    out = np.linalg.norm(learned - truth[:, None], axis=(2, 3))
    norms = np.linalg.norm(truth, axis=(1, 2))
    return np.asarray(out / np.where(norms > 0, norms, 1.0)[:, None])
