"""One head from d^2 + d values, any number of tokens; a Theta of rank r on real tokens from O(r d).

Tokens that are all v give v W in every row: d values. On (x_1, x_2, ..., x_2) the weight on x_1
shows where (x_1 - x_2) W != 0, and its logit is x_1 Theta (x_1 - x_2)^T up to ln(k - 1).

Real tokens: for u of a basis and v of an orthonormal one whose vectors all have the same inner
product with the first left singular vector of W, so |v W| >= |W|_op / sqrt(d), each value gives
u Theta v^T. Columns Theta v are read one after the other. The first that lies in the span Q of
those before it, with v random, shows that Q is the range, but for a chance of 0; then Q^T Theta is
read, r d values.

Tokens of -1 and +1: x_2 is x_1 with one or two entries flipped, so (x_1 - x_2)/2 = x_1j e_j or
x_1j e_j + x_1l e_l. l is the longest row of W. Where row j is at least half as long, single flips
of j show x Theta e_j for every x; else flips of j and l show it beside x Theta e_l, which is known,
and |e_j W + e_l W| and |e_j W - e_l W| are both at least half of |e_l W|.

W != 0 is all that it needs: then Theta is determined, and F by it. [BSHK26]
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.oracles import ValueOracle
from hardness.upper.learner import Failed, Hypothesis, Outcome
from hardness.upper.membership.asking import (
    averaged,
    length,
    no_layer,
    require_confidence,
    times_for_normal,
    too_many,
)
from hardness.upper.membership.logits import (
    FITS,
    UNEXPLAINED,
    Array,
    Reader,
    Value,
    logits,
    orthonormal,
    pairs,
    total,
)
from instances.capabilities import QUESTIONS
from instances.family import Family, require
from instances.layer import AttentionLayer

_TRIES = 20  # matrices of signs, of which the best conditioned is taken
_ROUNDS = 4  # times that a column is read where weights are 0 or 1 in float64
_LEAST = 1e-10  # of what weights show in any direction of a column
_SHARP = 1e4  # times the precision of a weight: what an entry of Theta may be off


@dataclass(frozen=True, kw_only=True)
class OneHead:
    """Reads a head; noisy answers to tokens of -1 and +1 are asked again, and their mean counts.

    accuracy: what every entry of these means is within of the truth, with the confidence. Real
    tokens are so long that noise is rounding beside their labels.
    """

    name: ClassVar[str] = "onehead"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["values"]] = "values"
    about: ClassVar[str] = "one attention head by d^2 + d labels of chosen tokens"

    accuracy: float = 0.01
    confidence: float = 0.99

    def __post_init__(self) -> None:
        require(
            self.accuracy > 0,
            f"accuracy={self.accuracy} given: above 0, in units of an entry of the labels",
        )
        require_confidence(self.confidence)

    def supports(self, family: Family) -> str | None:
        """Return None for softmax layers of one head, or the reason."""
        if reason := no_layer(family):
            return reason
        if family.layer_heads > 1:
            several = "take multihead" if _real(family) else "several are read on real tokens alone"
            return f"its layers have {family.layer_heads} heads: {several}"
        values = self._times(family) * (family.d**2 + family.d)
        return too_many(
            values, f"lower noise={float(family.noise):g} or raise accuracy={self.accuracy:g}"
        )

    def learn(self, oracle: ValueOracle, rng: np.random.Generator) -> Hypothesis:
        """Read W, then Theta; without noise what does not explain the answers is no head."""
        family, times = oracle.family, self._times(oracle.family)
        if _real(family):
            long = length(family)
            read = on_reals(partial(averaged, oracle), family.k, family.d, rng, long)
            known: dict[str, Any] = {"token_length": long}
        else:
            read = on_signs(partial(averaged, oracle, times=times), family.k, family.d, rng)
            known = {"repetitions": times}
            if family.noise:
                known |= {"accuracy": self.accuracy, "confidence": self.confidence}
        known |= {"rank": read.rank, "misfit": read.misfit, "amplified": read.amplified}
        if read.misfit > FITS and (_real(family) or not family.noise):
            raise Failed(Outcome.DEGENERATE, {"failed": UNEXPLAINED.format(1), **known})
        layer = AttentionLayer(theta=read.theta[None], w=read.w[None])
        return Hypothesis(predict=layer, layer=layer, details=known)

    def _times(self, family: Family) -> int:
        """How often each of d^2 + d questions is asked."""
        if _real(family):
            return 1
        numbers = family.k * family.d * (family.d**2 + family.d)
        return times_for_normal(numbers, float(family.noise), self.accuracy, self.confidence)


def _real(family: Family) -> bool:
    return QUESTIONS.need(family).tokens == "real"


@dataclass(frozen=True, kw_only=True, eq=False)
class Head:
    """What was found of a head: theta, w (d, d); rank: of Theta, None where it was not looked for.

    misfit: the largest difference between a weight that was read and that of the layer found.
    amplified: how many times the error of a weight that of an entry of Theta may be.
    """

    theta: Array
    w: Array
    rank: int | None
    misfit: float
    amplified: float


def on_reals(value: Value, k: int, d: int, rng: np.random.Generator, long: float = 1.0) -> Head:
    """Read a head on real tokens; long: their length, so that noise is small beside labels.

    Raises Failed where logits are beyond float64.

    >>> from instances.layer import AttentionLayer
    >>> theta, w = np.diag([1.0, -2.0]), np.ones((2, 2))
    >>> layer = AttentionLayer(theta=theta[None], w=w[None])
    >>> found = on_reals(layer, 3, 2, np.random.default_rng(0))
    >>> bool(np.allclose(found.theta, theta, atol=1e-12))
    True
    """
    w = total(value, k, long * np.eye(d))
    if not np.abs(w).max() > 0:
        return Head(theta=np.zeros((d, d)), w=w, rank=None, misfit=0.0, amplified=1.0)
    reader = Reader(value, k, w[None], long)
    basis = facing(np.linalg.svd(w)[0][:, 0], rng)
    read = np.zeros((d, d))  # Theta v, a column each
    for j, v in enumerate(basis):
        read[:, j] = reader.column(np.eye(d), v)[:, 0]
        explained = np.linalg.svd(read[:, :j], full_matrices=False)[0] if j else np.zeros((d, 0))
        left = read[:, j] - explained @ (explained.T @ read[:, j])
        if d > 2 and 2 * j < d - 1 and np.linalg.norm(left) <= reader.floor(read):
            rows = np.stack([reader.column(explained.T, v)[:, 0] for v in basis], axis=1)
            theta = explained @ rows @ basis
            return _head(reader, theta, rank=j)
    return _head(reader, read @ basis, rank=None)


def _head(reader: Reader, theta: Array, rank: int | None) -> Head:
    misfit = reader.misfit(theta[None], reader.w)
    return Head(theta=theta, w=reader.w[0], rank=rank, misfit=misfit, amplified=reader.amplified)


def facing(direction: Array, rng: np.random.Generator) -> Array:
    """Draw an orthonormal basis (d, d), each row with inner product 1/sqrt(d) with a unit vector.

    >>> rows = facing(np.array([0.6, 0.8, 0.0]), np.random.default_rng(0))
    >>> np.allclose(rows @ [0.6, 0.8, 0.0], 3**-0.5), np.allclose(rows @ rows.T, np.eye(3))
    (True, True)
    """
    d = len(direction)
    basis = orthonormal(rng, d)
    normal = basis @ direction - d**-0.5
    size = float(normal @ normal)
    if size < 1e-20:
        return basis
    return basis - 2 / size * np.outer(normal, normal @ basis)


def on_signs(value: Value, k: int, d: int, rng: np.random.Generator) -> Head:
    """Read a head on tokens of -1 and +1.

    Raises Failed where a column of Theta has logits beyond what float64 shows.

    >>> from instances.layer import AttentionLayer
    >>> theta, w = np.diag([1.0, -2.0]), np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> layer = AttentionLayer(theta=theta[None], w=w[None])
    >>> found = on_signs(layer, 3, 2, np.random.default_rng(0))
    >>> bool(np.allclose(found.theta, theta, atol=1e-12))
    True
    """
    basis = signs(d, rng)
    w = total(value, k, basis)
    theta = np.zeros((d, d))
    lengths = np.linalg.norm(w, axis=1)
    longest = int(lengths.argmax())
    if not lengths[longest] > 0:
        return Head(theta=theta, w=w, rank=None, misfit=0.0, amplified=1.0)
    misfit, amplified = 0.0, 1.0
    for j in sorted(range(d), key=lambda j: j != longest):
        flips = [j] if lengths[j] >= lengths[longest] / 2 else [j, longest]
        beside = theta[:, flips[1:]].sum(axis=1)
        x1, equations = basis, []
        for _ in range(_ROUNDS):
            more, left = _equations(value, k, w, x1, flips, beside)
            misfit = max(misfit, left)
            equations.append(more)
            rows, targets, weights = (np.concatenate(part) for part in zip(*equations, strict=True))
            theta[:, j], _, rank, sizes = np.linalg.lstsq(
                rows * weights[:, None], targets * weights, rcond=None
            )
            if rank == d and sizes[-1] * _SHARP >= 1:
                break
            x1 = signs(d, rng)
        misfit = max(misfit, float(np.abs((rows @ theta[:, j] - targets) * weights).max()))
        if rank < d or sizes[-1] < _LEAST:
            why = f"weights of column {j} of Theta are 0 or 1 in float64: its logits are too large"
            raise Failed(Outcome.DEGENERATE, {"failed": why})
        amplified = max(amplified, float(1 / sizes[-1]))
    return Head(theta=theta, w=w, rank=None, misfit=misfit, amplified=amplified)


def _equations(
    value: Value, k: int, w: Array, x1: Array, flips: list[int], beside: Array
) -> tuple[tuple[Array, Array, Array], float]:
    """Ask about column flips[0] of Theta: rows x, numbers x Theta e_j and their relative weights.

    Also what is left of the rows of labels, relative. beside: the column of the other flip.
    """
    x2 = x1.copy()
    x2[:, flips] *= -1
    y, base, outputs = value(pairs(x1, x2, k)), x2 @ w, (x1 - x2) @ w
    sizes = np.linalg.norm(outputs, axis=1)
    parts, left = [], 0.0
    for row, x in enumerate((x1, x2)):
        p = ((y[:, row] - base) * outputs).sum(axis=1) / sizes**2
        rest = np.linalg.norm(y[:, row] - base - p[:, None] * outputs, axis=1)
        left = max(left, float((rest / sizes).max()))
        seen = (p > 0) & (p < 1)
        number = logits(p[seen], k) / 2 - x1[seen][:, flips[1:]].sum(axis=1) * (x[seen] @ beside)
        weight = sizes * p * (1 - p) / sizes.max()
        parts.append((x[seen], x1[seen, flips[0]] * number, weight[seen]))
    rows, numbers, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return (rows, numbers, weights), left


def signs(d: int, rng: np.random.Generator) -> Array:
    """Draw d tokens of -1 and +1, the best conditioned of twenty draws: (d, d), its rows."""
    drawn = rng.choice([-1.0, 1.0], (_TRIES, d, d))
    smallest = np.linalg.svd(drawn, compute_uv=False)[:, -1]
    if smallest.max() < _LEAST:  # all singular: once in a million at d = 2
        return signs(d, rng)
    return np.asarray(drawn[smallest.argmax()])
