"""What fits a layer reads and returns: labelled examples, the layer, its errors, a failed stage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.attention import Array, columns, linearize
from hardness.oracles import ExampleOracle, Spent
from instances.errors import UsageError
from instances.family import Examples
from instances.layer import AttentionLayer

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
    """Labelled examples: x and y of shape (n, k, d), float64, k >= 2.

    Raises UsageError for shapes that disagree, k = 1, no examples, entries that are not finite or
    beyond 1e100.

    >>> len(Data(x=np.ones((5, 2, 3)), y=np.zeros((5, 2, 3))))
    5
    """

    x: Array
    y: Array
    rows: int = 0  # how many tokens have labels, the first; 0: all

    def __post_init__(self) -> None:
        for name, what in (("x", "tokens"), ("y", "labels")):
            given = _real(name, getattr(self, name))
            if given.ndim != 3 or not given.size:
                raise UsageError(f"{name} must have the shape (n, k, d), got {given.shape}")
            # No arrays beside: they are large.
            largest = max(float(given.max()), -float(given.min()))
            if not np.isfinite(largest):
                raise UsageError(f"{what} have entries that are not finite")
            if largest > _LARGEST:
                raise UsageError(
                    f"{what} have entries up to {largest:.1g}: at most {_LARGEST:g} is "
                    "allowed, so that squares stay within float64: scale them"
                )
            given = given.view()  # the caller's own array stays writable
            given.setflags(write=False)
            object.__setattr__(self, name, given)
        if self.x.shape != self.y.shape:
            raise UsageError(f"tokens {self.x.shape} and labels {self.y.shape} differ in shape")
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


def _real(name: str, value: Any) -> Array:
    """Read an array of real numbers; raises UsageError for ragged, complex or other values."""
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise UsageError(f"{name} is ragged: it must be an array (n, k, d)") from error
    if found.dtype.kind not in "biuf":
        raise UsageError(f"{name} must hold real numbers, got {found.dtype}")
    return np.ascontiguousarray(found, np.float64)


def draw(oracle: ExampleOracle, count: int) -> tuple[Array, Array, bool]:
    """Draw tokens and labels (n, k, d) in batches, and say whether the examples are spent.

    Raises Spent if there is none at all, or if another budget is spent.
    """
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
        super().__init__(
            f"stage {stage}: {why}" + (f": at least {needs} are needed" if needs else "")
        )
        self.needs = needs


@dataclass(frozen=True, kw_only=True)
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
