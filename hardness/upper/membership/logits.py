"""Logits of every head from labels of chosen tokens, once the matrices W_i are known.

On tokens (x_1, x_2, ..., x_2) every head puts a weight p_i on x_1 in each row, so the row is
x_2 sum_i W_i + sum_i p_i (x_1 - x_2) W_i. Where the (x_1 - x_2) W_i are linearly independent that
gives every p_i, and logit p_i + ln(k - 1) is x Theta_i (x_1 - x_2)^T, linear in Theta_i; x is the
token of the row.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.upper.learner import Failed, Outcome

Array = NDArray[np.float64]
Value = Callable[[Array], Array]  # labels of tokens: (n, k, d) -> (n, k, d)

_FIRST, _FLAT = 0.25, 4.0  # length of the first x_1; logits up to there are read to all digits
_LESS = 2.0**-12  # where a weight is 0 or 1 to all digits
_ZERO, _ROUNDING = 1e-10, 1e-12  # what is left of a column: relative, and of a logit
_SHORTEST = 2.0**-200
FITS = 1e-5  # what weights that were read may differ from those of the layer found
UNEXPLAINED = "heads found: {}, which do not explain the answers: others may lie between them"


def pairs(x1: Array, x2: Array, k: int) -> Array:
    """Make the tokens (x_1, x_2, ..., x_2): two (n, d) -> (n, k, d).

    >>> pairs(np.ones((1, 2)), np.zeros((1, 2)), 3)[0].tolist()
    [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    x = np.repeat(x2[:, None], k, axis=1)
    x[:, 0] = x1
    return x


def total(value: Value, k: int, basis: Array) -> Array:
    """Read sum_i W_i (d, d) from tokens that are all equal to a row of an invertible basis."""
    rows = value(np.repeat(basis[:, None], k, axis=1)).mean(axis=1)
    return np.asarray(np.linalg.solve(basis, rows))


def shares(y: Array, x2: Array, v: Array, w: Array) -> tuple[Array, float]:
    """Read the weights p_i on x_1 = x_2 + v off one row of each label, by least squares.

    y, x2: (n, d). v: (d,). w: (m, d, d). Returns p (n, m), and the largest part of a row that no
    weights explain, relative to the outputs v W_i.
    """
    outputs = v @ w  # (m, d)
    target = y - x2 @ w.sum(axis=0)
    p = target @ np.linalg.pinv(outputs)
    size = float(np.abs(outputs).max())
    return p, float(np.abs(target - p @ outputs).max(initial=0.0)) / size if size else math.inf


def logits(p: Array, k: int) -> Array:
    """Turn weights on the first of k tokens, the others equal, into differences of logits.

    Infinite where a weight is 0 or 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p) + math.log(k - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Column:
    """What was asked about one v: u (n, d), lengths of x_1 (n,), v as asked (d,), y (n, 2, d).

    y: rows 1 and 2 of the labels at x_1 = length u and x_2 = x_1 - v.
    """

    u: Array
    lengths: Array
    v: Array
    y: Array

    @property
    def x2(self) -> Array:
        return self.lengths[:, None] * self.u - self.v

    def shares(self, row: int, w: Array) -> tuple[Array, float]:
        return shares(self.y[:, row], self.x2, self.v, w)


class Reader:
    """Reads columns u Theta_i v of all heads, on real tokens.

    w: (m, d, d). length: of v as it is asked, so that noise of labels is small beside them. What
    was answered is kept.
    """

    def __init__(self, value: Value, k: int, w: Array, length: float = 1.0) -> None:
        """Start with nothing asked."""
        self.value, self.k, self.w, self.length = value, k, w, length
        self._size = _FIRST
        self._columns: list[_Column] = []

    def column(self, u: Array, v: Array) -> Array:
        """Read u_j Theta_i v: u (n, d), v (d,) -> (n, m).

        x_1 is u_j, shortened until no logit is above 4: asked again where one was. Raises Failed
        where none is short enough, and where the heads do not explain the answers.
        """
        lengths, y = np.zeros(len(u)), np.zeros((len(u), 2, u.shape[1]))
        rows, step = np.arange(len(u)), self.length * v
        while len(rows):
            lengths[rows] = self._size / self.length
            x1 = lengths[rows, None] * u[rows]
            y[rows] = self.value(pairs(x1, x1 - step, self.k))[:, :2]
            asked = _Column(u=u[rows], lengths=lengths[rows], v=step, y=y[rows])
            p, left = asked.shares(0, self.w)
            if left > FITS:
                raise Failed(Outcome.DEGENERATE, {"failed": UNEXPLAINED.format(len(self.w))})
            found = np.abs(logits(p, self.k)).max(axis=1, initial=0.0)
            rows, largest = rows[~(found <= _FLAT)], float(found.max())
            if len(rows):
                self._size *= _FLAT / 2 / largest if math.isfinite(largest) else _LESS
                if self._size < _SHORTEST:
                    raise Failed(Outcome.DEGENERATE, {"failed": "some logits are beyond 1e60"})
        self._columns.append(_Column(u=u, lengths=lengths, v=step, y=y))
        return self._read(self._columns[-1], self.w)

    def again(self, w: Array) -> Array:
        """Read all columns from the same answers by better W_i (m, d, d): (columns, n, m)."""
        return np.stack([self._read(column, w) for column in self._columns])

    def _read(self, column: _Column, w: Array) -> Array:
        found = logits(column.shares(0, w)[0], self.k)
        return np.asarray(found / (self.length * column.lengths)[:, None])

    @property
    def amplified(self) -> float:
        """How many times the error of a weight that of a logit u Theta_i v may be, at most."""
        return self.k * math.exp(_FLAT) / self._size

    def floor(self, columns: Array) -> float:
        """Return the length below which a column is rounding, beside columns that were read."""
        return _ZERO * float(np.linalg.norm(columns)) + _ROUNDING / self._size

    def misfit(self, theta: Array, w: Array) -> float:
        """Compare all answers with a layer, theta and w (m, d, d): the largest difference.

        Of row 1 and 2 what no weights explain, relative; and of row 2, which Theta was not read
        from, the differences between the weights and those of the layer. Infinite where weights of
        row 1 are nearer to 0 or 1 than x_1 was chosen for: they show no logits.
        """
        worst = 0.0
        for column in self._columns:
            (shown, first), (p, second) = column.shares(0, w), column.shares(1, w)
            if not (np.abs(logits(shown, self.k)) <= 2 * _FLAT).all():
                return math.inf
            with np.errstate(over="ignore"):
                exact = (column.x2 @ theta @ column.v).T  # (n, m)
                expected = 1 / (1 + (self.k - 1) * np.exp(-exact))
            worst = max(worst, first, second, float(np.abs(expected - p).max(initial=0.0)))
        return worst


def orthonormal(rng: np.random.Generator, d: int) -> Array:
    """Draw a random orthonormal basis, its rows: (d, d)."""
    return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0])
